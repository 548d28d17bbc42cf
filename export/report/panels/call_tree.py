"""The tree of call paths as the page holds it: who calls the functions that do I/O, with their time and bytes."""

from typing import Any

import numpy as np

from ....layers.attribution.callers import split_by_calls
from ....layers.attribution.calls.functions import CALLPATH, caller_text
from ....layers.trace import Trace
from ....model.arrays import subtree_sums
from ....model.stream.calls import OF_THE_PROGRAM
from ...encoding import Names, packed
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
            "name": names.numbers(regions.name[row] for row in paths.region[kept].tolist()),
            "where": names.numbers(
                regions.name[row] if library[row] else caller_text(regions, row) for row in paths.region[kept].tolist()
            ),
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
