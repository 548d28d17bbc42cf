"""Attribution against a slow oracle that looks at every pair of operations and walks the trees of handles."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.layers.attribution.attribution import attribute_operations
from iostrata.layers.handles.stack import layer_order
from iostrata.model.codes import UNDEFINED_TIME, IoFlag, IoMode

MOST_PROCESSES = 16
ARCHIVES = sorted(anchor.parent.name for anchor in (Path(__file__).parents[3] / "fixtures").glob("*/traces.otf2"))


def oracle(operations, definitions, order):
    """Apply the three rules to one operation after the other, with plain loops."""
    handles = definitions.handles
    layers = []
    for paradigm in handles.paradigm.tolist():
        name = definitions.paradigms[paradigm].identification if paradigm >= 0 else None
        layers.append(order.index(name) if name is not None else len(order))
    parents = handles.parent.tolist()

    def higher_ancestors(handle):
        found, at, seen = [], parents[handle], {handle}
        while at >= 0 and at not in seen:
            seen.add(at)
            if layers[at] < layers[handle]:
                found.append(at)
            at = parents[at]
        return found

    rows = [
        dict(
            zip(
                ("location", "process", "handle", "flags", "begin", "issued", "end"),
                values,
                strict=True,
            )
        )
        for values in zip(
            *(
                getattr(operations, name).tolist()
                for name in ("location", "process", "handle", "flags", "begin", "issued", "end")
            ),
            strict=True,
        )
    ]
    for row in rows:
        if row["end"] == UNDEFINED_TIME:
            row["end"] = None

    def in_flight(other, row):
        if other["end"] is None or other["end"] > row["begin"]:
            return True
        return other["end"] == row["begin"] == row["end"]

    def call_end(row):
        if row["flags"] & IoFlag.NON_BLOCKING:
            return None if row["issued"] == UNDEFINED_TIME else row["issued"]
        return row["end"]

    by_location, by_process = {}, {}
    result = []
    for number, row in enumerate(rows):
        earlier_here = by_location.setdefault(row["location"], [])
        earlier_in_process = by_process.setdefault(row["process"], [])
        parent, inferred = -1, False
        if row["handle"] >= 0:
            above = set(higher_ancestors(row["handle"]))
            if above:
                for other in earlier_here:
                    if rows[other]["handle"] in above and in_flight(rows[other], row):
                        parent = other
                if parent < 0 and row["process"] >= 0:
                    for other in earlier_in_process:
                        if rows[other]["handle"] in above and in_flight(rows[other], row):
                            parent, inferred = other, True
            elif layers[row["handle"]] < len(order):
                stop = max(call_end(row) if call_end(row) is not None else row["begin"], row["begin"])
                for other in earlier_here:
                    handle, until = rows[other]["handle"], call_end(rows[other])
                    if handle >= 0 and until is not None and until >= stop and layers[handle] < layers[row["handle"]]:
                        parent, inferred = other, True
        result.append((parent, inferred))
        earlier_here.append(number)
        earlier_in_process.append(number)
    return result


@pytest.mark.parametrize("name", ARCHIVES)
def test_real_archives_equal_the_oracle(fixtures, name):
    trace = open_trace(fixtures / name)
    order = layer_order(trace.definitions)
    # The oracle looks at pairs of operations. Attribution stays within a process, so of many alike some are enough.
    some = trace.operations.take(trace.operations.process < MOST_PROCESSES)
    assert len(some) > 0
    found = attribute_operations(some, trace.definitions, trace.scope.stack)
    expected = oracle(some, trace.definitions, order)
    assert list(zip(found.parent.tolist(), found.inferred.tolist(), strict=True)) == expected
    whole = trace.stream.whole.attribution.parent
    assert (whole >= 0).sum() >= (found.parent >= 0).sum()
    assert (trace.operations.process[whole[whole >= 0]] == trace.operations.process[whole >= 0]).all()


HANDLES = st.lists(
    st.tuples(st.sampled_from(["netCDF", "HDF5", "MPI-IO", "ISOC", "POSIX", None]), st.integers(-1, 11)),
    min_size=1,
    max_size=12,
)
OPERATION = st.fixed_dictionaries(
    {
        "handle": st.integers(-1, 11),
        "location": st.integers(0, 2),
        "begin": st.integers(0, 12),
        "duration": st.integers(0, 6),
        "ended": st.sampled_from([True] * 7 + [False]),
        "issued": st.none() | st.integers(0, 6),
        "non_blocking": st.sampled_from([False, False, True]),
    }
)


@given(HANDLES, st.lists(OPERATION, max_size=24))
def test_generated_traces_equal_the_oracle(make_trace, handles, rows):
    count = len(handles)
    table = [(paradigm, "/f", parent if parent < row else -1) for row, (paradigm, parent) in enumerate(handles)]
    rows = sorted(rows, key=lambda row: (row["begin"], row["location"]))
    trace = make_trace(
        table,
        [
            {
                "handle": row["handle"] if row["handle"] < count else -1,
                "begin": row["begin"],
                "end": row["begin"] + row["duration"] if row["ended"] else None,
                "moved": 1,
            }
            for row in rows
        ],
    )
    location = np.array([row["location"] for row in rows], np.int32)
    operations = replace(
        trace.operations,
        location=location,
        process=np.array([0, 0, 1], np.int32)[location],
        flags=np.array([int(row["non_blocking"]) for row in rows], np.uint32),
        issued=np.array(
            [UNDEFINED_TIME if row["issued"] is None else row["begin"] + row["issued"] for row in rows], np.int64
        ),
    )
    order = layer_order(trace.definitions)
    found = attribute_operations(operations, trace.definitions, trace.scope.stack)
    expected = oracle(operations, trace.definitions, order)
    assert list(zip(found.parent.tolist(), found.inferred.tolist(), strict=True)) == expected


STACK = [("netCDF", "/o", -1), ("HDF5", "/o", 0), ("MPI-IO", "/o", 1), ("POSIX", "/o", 2), ("POSIX", "/own", -1)]


def test_chains_skip_layers_without_an_operation(make_trace):
    trace = make_trace(
        STACK,
        [
            {"handle": 0, "begin": 0, "end": 100, "moved": 1},
            {"handle": 2, "begin": 10, "end": 50, "moved": 1},
            {"handle": 3, "begin": 20, "end": 30, "moved": 1},
            {"handle": 4, "begin": 60, "end": 70, "moved": 1},
            {"handle": 3, "begin": 110, "end": 120, "moved": 1},
        ],
    )
    found = trace.stream.whole.attribution
    assert found.parent.tolist() == [-1, 0, 1, 0, -1]
    assert found.inferred.tolist() == [False, False, False, True, False]
    ancestor, inferred = found.ancestor_in(0)
    assert ancestor.tolist() == [-1, 0, 0, 0, -1]
    assert inferred.tolist() == [False, False, False, True, False]
    assert found.ancestor_in(1)[0].tolist() == [-1, -1, -1, -1, -1]


def test_a_tick_that_two_operations_share(make_trace):
    rows = [
        {"handle": 2, "begin": 0, "end": 10, "moved": 1},
        {"handle": 3, "begin": 10, "end": 10, "moved": 1},
        {"handle": 3, "begin": 10, "end": 12, "moved": 1},
        {"handle": 2, "begin": 20, "end": 20, "moved": 1},
        {"handle": 3, "begin": 20, "end": 20, "moved": 1},
    ]
    assert make_trace(STACK, rows).stream.whole.attribution.parent.tolist() == [-1, 0, -1, -1, 3]


def test_bogus_parents_give_no_parent_operation(make_trace):
    # fcntl(F_DUPFD) makes a POSIX handle the parent of what comes later; it causes nothing.
    handles = [("POSIX", "/px", -1), ("POSIX", "/aio", 0), ("ISOC", "/st", 0)]
    rows = [
        {"handle": 0, "begin": 0, "end": 100, "moved": 1, "mode": IoMode.READ},
        {"handle": 1, "begin": 10, "end": 20, "moved": 1},
        {"handle": 2, "begin": 30, "end": 40, "moved": 1},
    ]
    found = make_trace(handles, rows).stream.whole.attribution
    assert found.parent.tolist() == [-1, -1, -1]
    assert found.layer.tolist() == [1, 1, 0]


def test_many_operations_in_flight_stay_linear(make_trace):
    # 20,000 overlapping calls on one handle, each with a child: quadratic work would be noticed.
    count = 20_000
    rows = [{"handle": 2, "begin": place, "end": 10**6, "moved": 1} for place in range(count)]
    rows += [{"handle": 3, "begin": place, "end": place + 1, "moved": 1} for place in range(count)]
    trace = make_trace(STACK, sorted(rows, key=lambda row: (row["begin"], row["handle"])), length=10**6)
    found = trace.stream.whole.attribution
    children = np.flatnonzero(trace.operations.handle == 3)
    assert (found.parent[children] == children - 1).all()
