"""Calls made by hand: any order of Enter and Leave, garbage, recursion, batches, sums that merge."""

import itertools
from collections import defaultdict
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.layers.attribution.calls import kernel
from iostrata.layers.attribution.calls.calls import Calls
from iostrata.layers.attribution.calls.functions import function_groups
from iostrata.layers.selection.files import select_files
from iostrata.layers.selection.window import TickWindow
from iostrata.model import kernels
from iostrata.model.events import IoEvents
from iostrata.model.stream.calls import RegionEvents, Regions

REGIONS = Regions.of_functions(("read", "write", "open"))


@pytest.fixture(scope="module")
def make(request):
    """Return what makes empty sums, over the definitions of a real trace with regions of our own."""
    root = request.config.rootpath / "fixtures" / "serial1"
    trace = open_trace(root)
    selection = select_files(trace.definitions, "all")
    functions = function_groups(REGIONS, trace.order)

    def sums(start=0, end=10**6):
        window = TickWindow(start, end, True, 1)
        return Calls(replace(trace.scope, selection=selection, window=window), functions)

    return sums


def batch(rows):
    """Return I/O events and crossings of rows (location, time, region or None for an event, enter)."""
    events = [(location, time) for location, time, region, _ in rows if region is None]
    count = len(events)
    io = IoEvents(
        np.array([one[0] for one in events], np.int32),
        np.full(count, 72, np.uint8),
        np.array([one[1] for one in events], np.int64),
        *(np.zeros(count, dtype) for dtype in (np.uint32, np.uint8, np.uint32, np.uint64, np.uint64, np.uint64)),
    )
    position, crossings = 0, []
    for location, time, region, enter in rows:
        if region is None:
            position += 1
        else:
            crossings.append((location, time, region, enter, position))
    columns = zip(*crossings, strict=True) if crossings else [()] * 5
    dtypes = (np.int32, np.int64, np.uint32, np.bool_, np.int64)
    return io, RegionEvents(*(np.array(one, dtype) for one, dtype in zip(columns, dtypes, strict=True)))


def slow(rows):
    """Return the path of each event, and calls, ticks and ticks as the innermost call by path, at each location."""
    sums, found = defaultdict(lambda: [0, 0, 0]), []
    for location in sorted({row[0] for row in rows}):
        stack, last = [], None
        steps = [row[1:] for row in rows if row[0] == location]
        end = steps[-1][0]

        def leave(place, time, stack=stack):
            path, begin = stack.pop(place)
            sums[path][0] += 1
            sums[path][1] += time - begin

        for time, region, enter in steps:
            if stack:
                sums[stack[-1][0]][2] += time - last
            last = time
            if region is None:
                found.append(stack[-1][0] if stack else None)
            elif enter:
                stack.append(((*(stack[-1][0] if stack else ()), region), time))
            else:
                places = [place for place, (path, _) in enumerate(stack) if path[-1] == region]
                if places:
                    leave(places[-1], time)
        while stack:
            leave(-1, end)
    return found, {path: tuple(values) for path, values in sums.items()}


def whole_paths(sums):
    parent, region, _, times = sums.tree.columns
    paths = []
    for row, above in enumerate(parent.tolist()):
        paths.append((*(paths[above] if above >= 0 else ()), int(region[row])))
    return paths, times.sum(axis=1)


def result(sums):
    paths, times = whole_paths(sums)
    return {path: tuple(values) for path, values in zip(paths, times.tolist(), strict=True) if values[0]}


ROW = st.tuples(st.integers(0, 0), st.integers(0, 5), st.sampled_from([None, 0, 1, 2]), st.booleans())


@given(st.lists(ROW, max_size=60), st.lists(st.integers(0, 60), max_size=3))
def test_any_order_of_enter_and_leave_in_any_batches(make, rows, cuts):
    times = np.cumsum([row[1] for row in rows]).tolist()
    rows = [(row[0], time, *row[2:]) for row, time in zip(rows, times, strict=True)]
    expected_events, expected = slow(rows) if rows else ([], {})
    sums, found = make(), []
    edges = sorted({0, len(rows), *(min(cut, len(rows)) for cut in cuts)})
    for start, stop in itertools.pairwise(edges):
        found += sums.add(*batch(rows[start:stop])).tolist()
    sums.finish()
    assert result(sums) == expected
    paths, _ = whole_paths(sums)
    assert [paths[row] if row >= 0 else None for row in found] == expected_events


def test_recursion_does_not_count_twice(make):
    sums = make()
    sums.add(*batch([(0, 0, 0, True), (0, 2, 0, True), (0, 5, 0, False), (0, 9, 0, False)]))
    sums.finish()
    assert sums.by_function.tolist() == [[2, 9, 9], [0, 0, 0], [0, 0, 0]]


def test_calls_that_cross_share_no_own_time(make):
    sums = make()
    sums.add(*batch([(0, 0, 2, True), (0, 10, 0, True), (0, 20, 1, True), (0, 50, 0, False), (0, 60, 1, False),
                     (0, 70, 2, False)]))  # fmt: skip
    sums.finish()
    assert result(sums) == {(2,): (1, 70, 20), (2, 0): (1, 40, 10), (2, 0, 1): (1, 40, 40)}


def test_sums_of_processes_merge_in_any_order(make):
    one = [(0, 0, 0, True), (0, 4, 1, True), (0, 6, 1, False), (0, 9, 0, False)]
    other = [(0, 3, 1, True), (0, 8, 2, True), (0, 9, 2, False), (0, 11, 1, False)]
    expected = {(0,): (1, 9, 7), (0, 1): (1, 2, 2), (1,): (1, 8, 7), (1, 2): (1, 1, 1)}
    for first, second in ((one, other), (other, one)):
        left, right = make(), make()
        left.add(*batch(first))
        right.add(*batch(second))
        left.merge(right)
        assert result(left) == expected


def test_the_window_cuts_calls(make):
    rows = [(0, 0, 0, True), (0, 4, 1, True), (0, 6, 1, False), (0, 9, 0, False)]
    for start, end in ((0, 5), (5, 20)):
        sums = make(start, end)
        sums.add(*batch(rows))
        sums.finish()
        expected = {(0, 5): {(0,): (1, 5, 4), (0, 1): (1, 1, 1)}, (5, 20): {(0,): (1, 4, 3), (0, 1): (1, 1, 1)}}
        assert result(sums) == expected[start, end]


def test_times_that_cannot_be_do_no_harm(make):
    sums = make()
    low, high = -(2**63), 2**63 - 1
    sums.add(*batch([(0, high, 0, True), (0, low, 1, True), (0, high, 1, False), (0, low, 0, False)]))
    sums.finish()
    assert all(0 <= value <= 10**6 for values in result(sums).values() for value in values)


def test_paths_and_depth_are_bounded(make, monkeypatch):
    deep = [(0, time, time % 3, True) for time in range(2000)]
    sums = make()
    sums.add(*batch(deep))
    sums.finish()
    assert len(sums.tree.columns[0]) == 2000
    assert not sums.tree.left_out
    for name in ("MOST_PATHS", "DEEPEST"):
        monkeypatch.setattr(kernel, name, 500)
    # Compiled loops keep the bounds that they were compiled with; without compiling the walk takes those above.
    monkeypatch.setattr(kernels, "_mixed", kernels.mixed)
    for name in (name for name, one in vars(kernel).items() if hasattr(one, "py_func")):
        monkeypatch.setattr(kernel, name, getattr(kernel, name).py_func)
    bounded = make()
    with np.errstate(over="ignore"):
        bounded.add(*batch(deep))
        bounded.finish()
    assert len(bounded.tree.columns[0]) == 500
    assert bounded.tree.left_out == 1500


def test_calls_inside_calls_of_their_layer_are_not_added_twice(make):
    sums = make()
    sums.functions = SimpleNamespace(**{**vars(sums.functions), "layer": np.zeros(3, np.int32)})
    sums.add(*batch([(0, 0, 0, True), (0, 2, 1, True), (0, 5, 1, False), (0, 9, 0, False)]))
    sums.finish()
    assert sums.counted.tolist() == [[1, 9, 6], [1, 3, 3]]
    assert sums.outermost.tolist() == [[1, 9, 6], [1, 0, 3]]
