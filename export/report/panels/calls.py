"""Calls as the page holds them: the tree of call paths with time and bytes, and the call stacks of some threads."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....layers.attribution.callers import split_by_calls
from ....layers.attribution.calls.cost import io_seconds
from ....layers.attribution.calls.functions import CALLPATH, caller_text
from ....layers.trace import Trace
from ....model.arrays import Ints, Links, subtree_sums
from ....model.stream.calls import OF_THE_PROGRAM
from ...encoding import Names, packed
from ...timeline.stacks import call_stacks
from .limits import Limits


def _activity(trace: Trace) -> dict[str, Any] | None:
    """Return how many ranks were in I/O and in MPI over the window, and whether non-blocking I/O overlaps computing."""
    overlap = trace.calls.overlap
    if overlap is None:
        return None
    return {
        "io": packed(overlap.io, "f4"),
        "mpi": packed(overlap.mpi, "f4"),
        "under_way_s": float(overlap.under_way.sum()),
        "computing_s": float(overlap.computing.sum()),
    }


def call_tree(trace: Trace, names: Names, limits: Limits) -> dict[str, Any] | None:
    """Return the call paths on which I/O was done, and what I/O costs the run; None where the trace does not tell.

    Of more paths than the limit those with the most time in I/O are kept; a path always comes behind the one above it.
    Times are in s, summed over all threads; ``io_s`` of a path is the time in calls of I/O on it or below.
    """
    cost = trace.calls.cost
    if cost is None:
        return None
    calls, table = split_by_calls(trace.calls, CALLPATH, np.ndarray.tolist)
    if calls is None:
        return None
    functions = calls.functions
    paths = calls.paths
    count, second = len(paths.parent), calls.scope.window.ticks_per_second
    does_io = functions.does_io[paths.region]
    io = subtree_sums(paths.parent, np.where(does_io, calls.counted[:, 2], 0))
    moved = np.zeros((2, count))
    rows = np.array([-1 if key is None else int(key) for key in table.key], np.int64)
    for column, name in zip(moved, ("bytes_read", "bytes_written"), strict=True):
        np.add.at(column, rows[rows >= 0], table.columns[name][rows >= 0])
    shown = np.flatnonzero(subtree_sums(paths.parent, (does_io & (calls.counted[:, 0] > 0)).astype(np.int64)) > 0)
    # What is above has at least as much time as what is below, and comes before it.
    kept = np.sort(shown[np.lexsort((shown, -io[shown]))[: limits.call_paths]])
    place = np.full(count + 1, -1, np.int64)
    place[kept] = np.arange(len(kept))
    regions = functions.regions
    # The file of a library's function is the library's name, which its group tells.
    library = functions.does_io | ~np.isin(regions.paradigm, OF_THE_PROGRAM)
    called = paths.region[kept].tolist()
    return {
        "total": len(shown),
        "ranks": len(cost.io),
        "io_s": float(cost.io.sum()),
        "mpi_s": float(cost.mpi.sum()),
        "set_aside_s": float(cost.set_aside.sum()),
        "other_s": float(cost.other.sum()),
        "most_io_s": float(cost.io.max(initial=0.0)),
        "most_saved_s": cost.most_saved,
        "length_s": cost.length,
        "activity": _activity(trace),
        "groups": list(functions.names),
        "paths": {
            "parent": place[paths.parent[kept]].tolist(),
            "name": names.numbers(regions.name[row] for row in called),
            "where": names.numbers(regions.name[row] if library[row] else caller_text(regions, row) for row in called),
            "group": functions.group[paths.region[kept]].tolist(),
            "does_io": does_io[kept].tolist(),
            "calls": calls.counted[kept, 0].tolist(),
            "whole_s": (calls.counted[kept, 1] / second).tolist(),
            "own_s": (calls.counted[kept, 2] / second).tolist(),
            "io_s": (io[kept] / second).tolist(),
            "read": moved[0, kept].tolist(),
            "written": moved[1, kept].tolist(),
        },
    }


_SCALE = 2**32 - 1
_DEEPEST = 255


def thread_stacks(trace: Trace, names: Names, limits: Limits) -> dict[str, Any] | None:
    """Return the calls of the threads with the most and the least time in I/O; None where the trace does not tell.

    Handles are in the order of their tree, each with its depth in it; only those on selected files.
    """
    calls, definitions = trace.calls.totals, trace.definitions
    if calls is None:
        return None
    seconds = io_seconds(calls)
    order = np.argsort(-seconds, kind="stable")
    with_io = order[seconds[order] > 0]
    half = limits.stack_threads // 2
    shown = with_io if len(with_io) <= 2 * half else np.append(with_io[:half], with_io[-half:])
    if not len(shown):
        return None
    bars, gap = call_stacks(trace, shown.tolist(), limits.stack_bars)
    bars = bars.take(np.flatnonzero(bars.depth <= _DEEPEST)[: 4 * limits.stack_bars])
    functions, window = calls.functions, trace.scope.window
    regions, function = np.unique(bars.region, return_inverse=True)
    selected = np.append(trace.scope.selection.selected, False)
    handles = np.unique(bars.handle[selected[bars.handle]])
    tree = _preorder(trace.handles.parent, handles)
    place = np.zeros(len(trace.handles) + 1, np.int64)
    place[tree] = np.arange(1, len(tree) + 1)
    depth = trace.handles.depth
    thread = np.zeros(len(seconds), np.int64)
    thread[shown] = np.arange(len(shown))
    share = (np.stack((bars.begin, bars.end)) - window.start) / max(1, window.end - window.start)
    start, end = np.rint(share * _SCALE).astype(np.int64)
    locations, ranks = definitions.locations, np.append(definitions.groups.rank, -1)
    layers = trace.handles.layer
    return {
        "total_threads": len(with_io),
        "gap_s": gap / window.ticks_per_second,
        "threads": {
            "rank": ranks[locations.group[shown]].tolist(),
            "name": names.numbers(locations.name[row] for row in shown.tolist()),
            "io_s": seconds[shown].tolist(),
        },
        "functions": {
            "name": names.numbers(functions.regions.name[row] for row in regions.tolist()),
            "group": names.numbers(functions.names[functions.group[row]] for row in regions.tolist()),
            "does_io": functions.does_io[regions].tolist(),
        },
        "handles": {
            "layer": names.numbers(layers[row] or "?" for row in tree.tolist()),
            "file": names.numbers(trace.handles.file[row] or trace.handles.name[row] for row in tree.tolist()),
            "depth": depth[tree].tolist(),
        },
        "bars": {
            "thread": packed(thread[bars.location], "u1"),
            "depth": packed(bars.depth, "u1"),
            "function": packed(function.ravel(), "u2"),
            "handle": packed(place[bars.handle], "u2"),
            "kind": packed(bars.kind, "u1"),
            "start": packed(start, "u4"),
            "end": packed(end, "u4"),
            "count": packed(bars.count, "u4"),
        },
    }


def _preorder(parent: Links, rows: npt.NDArray[np.integer[Any]]) -> Ints:
    """Return handles and all that are above them, each behind its parent and before what does not hang below it."""
    wanted: set[int] = set()
    for row in rows.tolist():
        while row >= 0 and row not in wanted:
            wanted.add(row)
            row = int(parent[row])
    below: dict[int, list[int]] = {}
    for row in sorted(wanted, reverse=True):
        below.setdefault(int(parent[row]), []).append(row)
    found, stack = [], below.get(-1, [])[:]
    while stack:
        row = stack.pop()
        found.append(row)
        stack += below.get(row, [])
    return np.array(found, np.int64)
