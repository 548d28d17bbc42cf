"""Calling functions against a walk over what the official reader gives, and Enter and Leave made by hand."""

from collections import Counter, defaultdict
from dataclasses import replace

import numpy as np
import otf2
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError, TraceError, open_trace
from iostrata.layers.attribution.functions import read_calling_functions
from iostrata.otf2io.definitions.regions import IoRegions
from iostrata.otf2io.direct.functions import event_functions
from iostrata.otf2io.direct.walk import RegionEvents

NAMES = ["ckpt4_linktime", "serial1", "nonblocking4", "ckpt4_compiler", "ncckpt4"]
ROLES = (otf2.RegionRole.FILE_IO, otf2.RegionRole.FILE_IO_METADATA)


def leave(stack, region):
    """Take the last entry of `region` off a stack, wherever it stands."""
    for place in reversed(range(len(stack))):
        if stack[place] == region:
            del stack[place]
            return


def walked(anchor):
    """Return the functions of the other I/O events of each location in their order, and those of begins."""
    stacks, events, begins = defaultdict(list), defaultdict(list), defaultdict(list)
    with otf2.reader.open(str(anchor)) as trace:
        rows = {location: row for row, location in enumerate(trace.definitions.locations)}
        for location, event in trace.events:
            row = rows[location]
            if isinstance(event, otf2.events.Enter):
                stacks[row].append(event.region)
            elif isinstance(event, otf2.events.Leave):
                leave(stacks[row], event.region)
            elif type(event).__name__.startswith("Io"):
                inside = [region.name for region in stacks[row] if region.region_role in ROLES]
                if not type(event).__name__.startswith("IoOperation"):
                    events[row].append(inside[-1] if inside else None)
                if isinstance(event, otf2.events.IoOperationBegin):
                    # The innermost function of all is the one that does the I/O.
                    assert stacks[row][-1].name == inside[-1]
                    begins[row].append(((event.time, event.handle._ref, event.matching_id), inside[-1]))
    return events, begins


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("workers", [1, 2])
def test_functions_as_the_official_reader_tells(fixtures, name, workers):
    trace = open_trace(fixtures / name, workers=workers)
    found = trace.calling_functions
    events, begins = walked(trace.path)
    named = [found.names[row] if row >= 0 else None for row in found.event.tolist()]
    by_location = defaultdict(list)
    for location, function in zip(trace.other_events.location.tolist(), named, strict=True):
        by_location[location].append(function)
    assert by_location == events
    operations, start = trace.operations, trace.definitions.clock.start
    keys = zip(
        (operations.begin + start).tolist(),
        np.append(trace.definitions.handles.id, 0)[operations.handle].tolist(),
        operations.matching.tolist(),
        strict=True,
    )
    of_operations = defaultdict(list)
    for location, key, row in zip(operations.location.tolist(), keys, found.operation.tolist(), strict=True):
        of_operations[location].append((key, found.names[row]))
    assert {row: sorted(some) for row, some in of_operations.items()} == {
        row: sorted(some) for row, some in begins.items()
    }
    assert len({function for some in events.values() for function in some}) > 3


REGIONS = IoRegions(np.array([4, 7, 9], np.uint32), ("read", "write", "open"))


def functions_of(steps):
    """Return the function at each event, for steps (location, region id or None for an event, enter)."""
    ordered = sorted(steps, key=lambda step: step[0])
    rows, event_location = [], []
    for location, region, enter in ordered:
        if region is None:
            event_location.append(location)
        else:
            rows.append((location, 0, region, enter, len(event_location)))
    dtypes = (np.int32, np.int64, np.uint32, np.bool_, np.int64)
    columns = zip(*rows, strict=True) if rows else [()] * 5
    entered = RegionEvents(*(np.array(column, dtype) for column, dtype in zip(columns, dtypes, strict=True)))
    return event_functions(np.array(event_location, np.int32), entered, REGIONS).tolist()


def test_a_leave_closes_the_latest_enter_of_its_region():
    event = (0, None, True)
    steps = [(0, 4, True), event, (0, 7, True), (0, 4, True), event, (0, 7, False), event, (0, 4, False), event]
    assert functions_of([*steps, (0, 4, False), event, (0, 9, False), event]) == [0, 0, 0, 0, -1, -1]
    crossed = [(0, 4, True), (0, 7, True), (0, 4, False), event, (0, 7, False), event]
    assert functions_of(crossed) == [1, -1]


def test_locations_do_not_mix():
    steps = [(0, 4, True), (1, None, True), (1, 7, True), (1, None, True), (2, None, True), (2, 4, False)]
    assert functions_of(steps) == [-1, 1, -1]
    # What the first location left open is not what the second one closes.
    assert functions_of([(0, 4, True), (0, 7, True), (1, 9, True), (1, 7, False), (1, None, True)]) == [2]


STEP = st.tuples(st.integers(0, 2), st.sampled_from([None, None, 4, 7, 9]), st.booleans())


@given(st.lists(STEP, max_size=60))
def test_any_order_of_enter_and_leave(steps):
    stacks, expected = defaultdict(list), []
    for location, region, enter in sorted(steps, key=lambda step: step[0]):
        stack = stacks[location]
        if region is None:
            expected.append([4, 7, 9].index(stack[-1]) if stack else -1)
        elif enter:
            stack.append(region)
        else:
            leave(stack, region)
    assert functions_of(steps) == expected


def test_breakdown_by_function_counts_operations_and_metadata(fixtures):
    trace = open_trace(fixtures / "ncckpt4", files="all")
    events, begins = walked(trace.path)
    rows = trace.breakdown("function").to_dict()
    counts = Counter()
    for row in rows:
        counts[row["function"]] += row["reads"] + row["writes"] + row["flushes"]
    assert +counts == Counter(function for some in begins.values() for _, function in some)
    by_key = {(row["layer"], row["function"]): row for row in rows}
    put = by_key["netCDF", "nc_put_vara_double"]
    assert (put["writes"], put["bytes_written"]) == (160, trace.layers["netCDF"].statistics("write").bytes)
    assert put["summed_s"] == pytest.approx(trace.layers["netCDF"].statistics("write").summed_s)
    opens = Counter(function for some in events.values() for function in some)
    assert by_key["POSIX", "openat"]["opens"] == opens["openat"] == 452


def test_a_trace_without_functions_has_none(fixtures):
    trace = open_trace(fixtures / "ior384")
    assert trace.calling_functions.names == ()
    assert (trace.calling_functions.operation == -1).all()
    assert {row["function"] for row in trace.breakdown("function").to_dict()} == {None}


def test_selections_share_them(fixtures):
    trace = open_trace(fixtures / "ckpt4_linktime")
    known = trace.calling_functions
    assert trace.select(files="all", window=(0.1, 0.2)).calling_functions is known


def test_the_other_engine_does_not_know(fixtures):
    trace = open_trace(fixtures / "ckpt4_linktime", engine="library")
    with pytest.raises(SelectionError, match="engine 'direct'"):
        trace.breakdown("function")


def test_a_trace_that_changed_is_refused(fixtures):
    trace = open_trace(fixtures / "ckpt4_linktime")
    events = replace(trace.other_events, time=trace.other_events.time + 1)
    with pytest.raises(TraceError, match="has changed"):
        read_calling_functions(trace.reading.source, trace.operations, events)
    operations = replace(trace.operations, begin=trace.operations.begin + 1)
    with pytest.raises(TraceError, match="has changed"):
        read_calling_functions(trace.reading.source, operations, trace.other_events)
