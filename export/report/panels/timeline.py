"""The I/O timeline of the page: what each rank did with each file of a layer."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import replace
from typing import Any, Final

import numpy as np

from ....layers.flow.flow import Flow
from ....layers.selection.window import TickWindow
from ....layers.statistics.distribution import distribution
from ....layers.trace import Trace
from ....model.arrays import Ticks
from ...encoding import Names, packed
from ...timeline.marks import KINDS, marks_of_files, merged_marks
from .limits import Limits

_OPERATIONS: Final = tuple(KINDS.index(name) for name in ("read", "write", "flush"))
_SCALE: Final = 2**32 - 1
"""The window's end in the unit of the marks on the page; its start is 0."""


def timeline(trace: Trace, layers: tuple[str, ...], names: Names, limits: Limits) -> dict[str, Any]:
    """Return the timeline of the layers' selected files as the page holds it.

    A row is a layer, file and rank. Where that makes more rows than the limit, a row is a layer and rank over all its
    files, and where that is too many, too, a layer and some ranks that follow each other. Marks of one row and kind
    are merged where the gap between them is below a share of the window, the smallest that meets the limit on marks.
    """
    marks, of_file, process, files, finest = marks_of_files(trace, layers)
    rank = np.append(trace.definitions.groups.rank, -1)[process].astype(np.int64)
    ranks = np.unique(rank)
    most_of_a_layer = max(1, limits.rows // max(1, len(layers)))
    together = 1
    key = of_file * len(ranks) + np.searchsorted(ranks, rank)
    by_file = len(np.unique(key)) <= limits.rows
    if not by_file:
        together = -(-len(ranks) // most_of_a_layer)
        key = of_file // files * files * len(ranks) + np.searchsorted(ranks, rank) // together
    keys, row_of = np.unique(key, return_inverse=True)
    marks = replace(marks, row=row_of.astype(np.int32)[marks.row])
    volume = np.bincount(marks.row, weights=marks.bytes, minlength=len(keys))
    transfers = np.zeros(len(KINDS), np.bool_)
    transfers[list(_OPERATIONS)] = True
    transferring = transfers[marks.kind]
    counts = marks.count[transferring]
    operations = np.bincount(marks.row[transferring], weights=counts, minlength=len(keys))
    merged, gap = merged_marks(marks, limits.marks)

    labels = file_labels(trace)
    key_of_file, first = np.divmod(keys, len(ranks))
    which, file_row = np.divmod(key_of_file, files)
    first = first * together
    last = np.minimum(first + together, len(ranks)) - 1
    return {
        "kinds": KINDS,
        "by_file": by_file,
        "ranks_a_row": together,
        "marks_total": int(marks.count.sum()),
        "gap_s": max(gap, finest) / trace.scope.window.ticks_per_second,
        "rows": {
            "layer": [names.number(layers[number]) for number in which.tolist()],
            "file": [names.number(labels[number - 1]) if number > 0 else -1 for number in file_row.tolist()],
            "rank": ranks[first].tolist(),
            "last_rank": ranks[last].tolist(),
            "operations": operations.astype(np.int64).tolist(),
            "bytes": volume.tolist(),
        },
        "marks": {
            "row": packed(merged.row, "u2"),
            "kind": packed(merged.kind, "u1"),
            "start": packed(_scaled(merged.start, trace.scope.window), "u4"),
            "end": packed(_scaled(merged.end, trace.scope.window), "u4"),
            "count": packed(merged.count, "u4"),
            "bytes": packed(merged.bytes, "f4"),
        },
    }


def file_labels(trace: Trace) -> list[str]:
    """Return the name of each file, with its node where files of several nodes have the same name."""
    files, nodes = trace.definitions.files, trace.definitions.system_tree.name
    common = {name for name, count in Counter(files.name).items() if count > 1}
    placed = zip(files.name, files.scope.tolist(), strict=True)
    return [f"{name} on {nodes[scope]}" if name in common and scope >= 0 else name for name, scope in placed]


def _scaled(time: Ticks, window: TickWindow) -> Ticks:
    share = (time - window.start) / (window.end - window.start)
    return np.rint(share * _SCALE).astype(np.int64)


def collective_calls(flows: Iterable[Flow], limits: Limits) -> list[dict[str, Any]]:
    """Return the collective calls of each pair of neighbouring layers and direction as the page holds them.

    Of more calls than the limit, those that begin one after the other are put together: from the first begin to the
    last end, with the fewest and the most ranks. `start` and `end` are seconds from the trace's start.
    """
    found = [flow for flow in flows if flow.adjacent and len(flow.collectives)]
    return [_of_flow(flow, limits.calls) for flow in found[: limits.curves]]


def _of_flow(flow: Flow, most: int) -> dict[str, Any]:
    calls, second = flow.collectives, flow.cells.window.ticks_per_second
    together = -(-len(calls) // most)
    first = np.arange(0, len(calls), together)
    return {
        "upper": flow.upper,
        "lower": flow.lower,
        "direction": flow.direction,
        "calls": len(calls),
        "alone_calls": int((calls.movers == 1).sum()),
        "participants": distribution(calls.participants).to_dict(),
        "movers": distribution(calls.movers).to_dict(),
        "bytes": float(calls.bytes.sum()),
        "together": together,
        "start": packed(calls.begin[first] / second, "f8"),
        "end": packed(np.maximum.reduceat(calls.end, first) / second, "f8"),
        "participants_most": packed(np.maximum.reduceat(calls.participants, first), "u4"),
        "movers_least": packed(np.minimum.reduceat(calls.movers, first), "u4"),
        "movers_most": packed(np.maximum.reduceat(calls.movers, first), "u4"),
        "call_bytes": packed(np.add.reduceat(calls.bytes, first), "f4"),
    }
