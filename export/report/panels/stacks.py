"""Call stacks of some threads over time as the page holds them, with the handles that their calls worked on."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....layers.trace import Trace
from ...encoding import Names, packed
from ...timeline.stacks import call_stacks, io_threads
from .limits import Limits

_SCALE = 2**32 - 1
_DEEPEST = 255


def thread_stacks(trace: Trace, names: Names, limits: Limits) -> dict[str, Any] | None:
    """Return the calls of the threads with the most and the least time in I/O; None where the trace does not tell.

    Handles are in the order of their tree, each with its depth in it; only those on selected files.
    """
    calls, definitions = trace.calls.totals, trace.definitions
    if calls is None:
        return None
    seconds = io_threads(calls, len(definitions.locations.id))
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


def _preorder(parent: npt.NDArray[np.int32], rows: npt.NDArray[np.integer[Any]]) -> npt.NDArray[np.int64]:
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
