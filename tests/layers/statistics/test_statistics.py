"""Statistics against a slow count: operations one by one, time tick by tick."""

import math
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.codes import MOST_BYTES, IoMode, Status

# MPI-IO handle 0 with POSIX children 1 (same file) and 2 (other file); POSIX handles 3, 4 of the program; stdout.
HANDLES = [
    ("MPI-IO", "/s/a", -1),
    ("POSIX", "/s/a", 0),
    ("POSIX", "/s/b", 0),
    ("POSIX", "/s/b", -1),
    ("POSIX", "/s/c", 3),
    ("POSIX", None, -1),
    ("POSIX", "/proc/stat", -1),
]
OWN = {0, 3, 4}
LENGTH = 60

operations = st.lists(
    st.fixed_dictionaries(
        {
            "handle": st.integers(0, 6) | st.just(None),
            "begin": st.integers(0, LENGTH),
            "length": st.none() | st.integers(0, 25),
            "moved": st.none() | st.integers(0, 10**9),
            "requested": st.none() | st.integers(0, 100),
            "mode": st.sampled_from(list(IoMode)),
            "status": st.sampled_from([Status.COMPLETE, Status.COMPLETE, Status.CANCELLED]),
            "process": st.integers(0, 2),
        }
    ),
    max_size=25,
)


def placed(rows, length=LENGTH):
    """Give rows an end within the trace."""
    ends = [None if row["length"] is None else min(row["begin"] + row["length"], length) for row in rows]
    return [{**row, "end": end} for row, end in zip(rows, ends, strict=True)]


def slow(rows, layer, mode, low, high):
    """The statistics by definition, tick by tick, for the window [low, high) (with its end where the trace ends)."""
    chosen, busy, summed, moved, own_moved = [], set(), 0, 0.0, 0.0
    for row in rows:
        if row["handle"] is None or row["mode"] != mode or row["handle"] > 4:
            continue
        if (HANDLES[row["handle"]][0] == "MPI-IO") != (layer == "MPI-IO"):
            continue
        end = max(high, row["begin"]) if row["end"] is None else row["end"]
        ticks = [tick for tick in range(row["begin"], end) if low <= tick < high]
        instant = end == row["begin"] and (low <= end < high or end == high == LENGTH)
        if not (ticks or instant):
            continue
        chosen.append(row)
        if row["end"] is not None:
            busy.update(ticks)
            summed += len(ticks)
        if row["end"] is not None and row["status"] == Status.COMPLETE and row["moved"] is not None:
            share = len(ticks) / (end - row["begin"]) if ticks else 1
            moved += row["moved"] * share
            own_moved += row["moved"] * share if row["handle"] in OWN else 0
    known = [row["end"] is not None and row["status"] == Status.COMPLETE and row["moved"] is not None for row in chosen]
    ended = any(row["end"] is not None and row["status"] != Status.CANCELLED for row in chosen)
    if not moved and not any(known) and ended:
        # What nobody knows is not nothing.
        moved = own_moved = None
    sizes = sorted(row["requested"] for row in chosen if row["requested"] is not None)
    quantile = {share: sizes[math.ceil(share * len(sizes) / 100) - 1] if sizes else None for share in (50, 90)}
    return {
        "layer": layer,
        "direction": mode.name.lower(),
        "operations": len(chosen),
        "bandwidth_bytes_per_s": moved / len(busy) * 100 if busy and moved is not None else None,
        "bytes": moved,
        "busy_s": len(busy) / 100,
        "summed_s": summed / 100,
        "files": len({HANDLES[row["handle"]][1] for row in chosen}),
        "handles": len({row["handle"] for row in chosen}),
        "ranks": len({row["process"] for row in chosen}),
        "own_operations": sum(row["handle"] in OWN for row in chosen),
        "own_bytes": own_moved,
        "undefined_bytes_operations": len(chosen) - sum(known),
        "cancelled_operations": sum(row["end"] is not None and row["status"] == Status.CANCELLED for row in chosen),
        "never_completed_operations": sum(row["end"] is None for row in chosen),
        "request_bytes": {
            "min": sizes[0] if sizes else None,
            "p50": quantile[50],
            "p90": quantile[90],
            "max": sizes[-1] if sizes else None,
        },
        "busy_step_s": 0,
    }


@given(operations, st.tuples(st.integers(0, LENGTH), st.integers(0, LENGTH)).filter(lambda w: w[0] != w[1]))
def test_statistics_equal_the_slow_count(make_trace, rows, window):
    low, high = sorted(window)
    rows = placed(rows)
    trace = make_trace(HANDLES, rows, length=LENGTH).select(window=(low / 100, high / 100))
    for layer in ("MPI-IO", "POSIX"):
        for mode in (IoMode.READ, IoMode.WRITE):
            found = trace.layers[layer].statistics(mode.name.lower()).to_dict()
            expected = slow(rows, layer, mode, low, high)
            for key in ("bytes", "own_bytes", "busy_s", "summed_s", "bandwidth_bytes_per_s"):
                value = expected.pop(key)
                assert found[key] == (None if value is None else pytest.approx(value, rel=1e-12))
            # A new column has a test of its own.
            assert expected.items() <= found.items()


@given(operations, st.integers(0, 10**6))
def test_the_order_of_rows_does_not_matter(make_trace, make_operations, rows, seed):
    columns = make_operations(placed(rows))
    order = list(range(len(columns)))
    Random(seed).shuffle(order)
    shuffled = columns.take(np.array(order, np.intp))
    first, second = (make_trace(HANDLES, part, length=LENGTH) for part in (columns, shuffled))
    assert first.set_aside == second.set_aside
    assert first.handles.to_dict() == second.handles.to_dict()
    for name, layer in first.layers.items():
        for direction in ("read", "write", "total"):
            assert layer.statistics(direction) == second.layers[name].statistics(direction)


@given(operations)
def test_selected_and_set_aside_are_everything(make_trace, rows):
    trace = make_trace(HANDLES, placed(rows), length=LENGTH)
    layers = list(trace.layers.values())
    assert sum(len(layer.operations) for layer in layers) + trace.set_aside.operations == len(rows)
    moved = sum(layer.statistics("total").bytes for layer in layers) + trace.set_aside.bytes
    everything = trace.operations.mode != IoMode.FLUSH
    flushed = trace.operations.take(~everything).bytes_moved.sum()
    in_layers = sum(layer.operations.take(layer.operations.mode == IoMode.FLUSH).bytes_moved.sum() for layer in layers)
    assert moved + in_layers == trace.operations.bytes_moved.sum()
    assert in_layers <= flushed
    assert sum(trace.set_aside.reasons.values()) == trace.set_aside.operations


def test_what_is_set_aside_is_told_by_reason(make_trace):
    rows = [
        {"handle": 5, "begin": 0, "end": 1, "moved": 7},
        {"handle": 6, "begin": 0, "end": 1, "moved": 30, "mode": IoMode.READ},
        {"handle": 6, "begin": 2, "end": 3},
        {"handle": None, "begin": 2, "end": 3, "moved": 2},
        {"handle": 0, "begin": 2, "end": 3, "moved": 1000},
    ]
    aside = make_trace(HANDLES, rows).set_aside
    assert (aside.operations, aside.bytes, aside.files) == (4, 39, 1)
    assert sorted(aside.reasons.values()) == [1, 1, 2]
    assert aside.reasons["/proc: process information of the kernel"] == 2
    assert aside.to_dict()["reasons"] == dict(aside.reasons)
    everything = make_trace(HANDLES, rows, files="all").set_aside
    assert (everything.operations, everything.bytes) == (1, 2)


@pytest.mark.parametrize(
    ("sizes", "quantiles"),
    [
        ([5], (5, 5)),
        ([1, 2], (1, 2)),
        (range(1, 11), (5, 9)),
        (range(1, 12), (6, 10)),
        ([MOST_BYTES, 0], (0, MOST_BYTES)),
    ],
)
def test_quantiles_are_sizes_that_occur(make_trace, sizes, quantiles):
    rows = [{"handle": 0, "begin": 0, "end": 1, "requested": size} for size in sizes]
    request = make_trace(HANDLES, rows).layers["MPI-IO"].statistics("write").request_bytes
    assert (request.min, request.p50, request.p90, request.max) == (min(sizes), *quantiles, max(sizes))
