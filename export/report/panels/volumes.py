"""Who moved what: the bytes of ranks over time, of the tree of handles, and of the nodes of the machine."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ....layers.handles.forest import HandleForest
from ....layers.handles.scope import ScopedBlock
from ....layers.selection.directions import LayerDirection
from ....layers.selection.window import TickWindow, sums_by
from ....layers.trace import Trace
from ....model.arrays import Floats, Ints, Mask
from ....model.codes import PROCESS, IoMode
from ....model.kernels import compiled
from ....model.metrics import metrics_of
from ....model.operations import Operations
from ....model.sums import Sums, added
from ...encoding import Names, packed
from .limits import Limits

_QUANTUM: Final = 2.0**16
"""Amounts are multiples of 1/2^16, whose sums do not depend on their order up to 2^37 in a cell."""

RowOf = Callable[[Operations], Ints]


@compiled
def spread_volume(
    row: Ints, begin: Ints, end: Ints, amount: Floats, rows: int, bins: int, start: int, length: int
) -> Floats:
    """Return the amount in each cell, each operation spread evenly from its begin to its end.

    Parameters
    ----------
    row : int64 (n,)
        Row of each operation, −1 for one that does not count.
    begin, end : int64 (n,)
        Ticks, within [start, start + length].
    amount : float64 (n,)
    start, length : int
        Where the first bin starts and how long all of them are, in ticks.

    Returns
    -------
    float64 (rows, bins)
        Its sum is that of the amounts, each rounded to 1/2^16.
    """
    grid = np.zeros((rows, bins))
    width = length / bins
    for index in range(len(row)):
        line = row[index]
        if line < 0:
            continue
        volume = np.rint(amount[index] * _QUANTUM) / _QUANTUM
        low = (begin[index] - start) / width
        high = (end[index] - start) / width
        first = min(int(low), bins - 1)
        last = min(int(high), bins - 1)
        if first == last or high <= low:
            grid[line, first] += volume
            continue
        share = np.floor(volume / (high - low) * _QUANTUM) / _QUANTUM
        begun = np.floor(share * (first + 1 - low) * _QUANTUM) / _QUANTUM
        grid[line, first] += begun
        for place in range(first + 1, last):
            grid[line, place] += share
        grid[line, last] += volume - begun - share * (last - first - 1)
    return grid


STEPS = 65534
"""Steps of the logarithmic scale between the smallest and the largest cell that are not 0."""


def rank_groups(trace: Trace, most: int) -> tuple[Ints, Ints]:
    """Return ranks in their order, put together so that there are at most `most` groups of them.

    Returns
    -------
    group : int64 (processes,)
        Group of each row of ``Definitions.groups``, −1 for one that is no rank.
    first : int64 (groups,)
        Lowest rank of each group.
    """
    rank = trace.definitions.groups.rank
    known = np.unique(rank[rank >= 0])
    if not len(known):
        return np.full(len(rank), -1, np.int64), np.zeros(0, np.int64)
    size = -(-len(known) // most)
    group = np.searchsorted(known, rank) // size
    return np.where(rank >= 0, group, -1).astype(np.int64), known[::size].astype(np.int64)


def heat_maps(trace: Trace, curves: list[LayerDirection], limits: Limits) -> dict[str, Any]:
    """Return the heat maps of (layer, direction) pairs as the page holds them.

    Cells hold bytes; 0 is 0, else 1 to 65,535 on a logarithmic scale from `smallest` to `largest`, which is right to
    0.1 %. There are none where it is not recorded which rank did what.
    """
    group, first = rank_groups(trace, limits.heat_rows)
    maps = []
    if len(first) and curves and trace.definitions.recording.knows("ranks"):
        place = np.full((len(trace.order) + 1, len(IoMode)), -1, np.int64)
        for row, (name, direction) in enumerate(curves):
            place[trace.order.index(name), IoMode[direction.upper()]] = row
        layer = np.where(trace.scope.selection.selected, trace.handles.layer_row, -1)
        known_group = np.append(group, -1)

        def row_of(operations: Operations) -> Ints:
            mode = np.minimum(operations.mode, len(IoMode) - 1)
            curve = place[np.append(layer, -1)[operations.handle], mode]
            of_rank = known_group[operations.process]
            return np.where((curve >= 0) & (of_rank >= 0), curve * len(first) + of_rank, -1)

        grid = volume_grid(trace, row_of, len(curves) * len(first), limits.heat_bins)
        for (name, direction), part in zip(curves, np.split(grid, len(curves)), strict=True):
            maps.append({"layer": name, "direction": direction, **_scaled(part)})
    return {"first_rank": first.tolist(), "ranks": trace.ranks, "bins": limits.heat_bins, "maps": maps}


class _VolumeGrid(Sums):
    """Bytes by row and bin of the window, float64 (rows, bins), summed over blocks."""

    window: TickWindow
    row_of: RowOf
    shape: tuple[int, int]
    grid: Floats = added(lambda sums: np.zeros(sums.shape))

    def add(self, block: ScopedBlock) -> None:
        window, chosen = self.window, self.window.part(block.operations)
        begin, end = window.clipped(chosen)
        amount = window.bytes_within(chosen).astype(np.float64)
        length = window.end - window.start
        self.grid += spread_volume(self.row_of(chosen), begin, end, amount, *self.shape, window.start, length)


def volume_grid(trace: Trace, row_of: RowOf, rows: int, bins: int) -> Floats:
    """Return the bytes of a trace by row and bin of the window, float64 (rows, bins).

    Parameters
    ----------
    row_of : callable
        From operations (n,) to the row of each, int64 (n,), −1 for none.
    """
    return trace.stream.summed(lambda: _VolumeGrid(trace.scope.window, row_of, (rows, bins))).grid


def _scaled(grid: Floats) -> dict[str, Any]:
    filled = grid > 0
    if not filled.any():
        return {"smallest": 0.0, "largest": 0.0, "cells": packed(np.zeros(grid.size), "u2")}
    smallest, largest = float(grid[filled].min()), float(grid.max())
    steps = np.zeros(grid.shape)
    spread = np.log(largest) - np.log(smallest)
    places = (np.log(grid[filled]) - np.log(smallest)) / spread if spread > 0 else np.ones(int(filled.sum()))
    steps[filled] = 1 + np.rint(np.clip(places, 0, 1) * STEPS)
    return {"smallest": smallest, "largest": largest, "cells": packed(steps.ravel(), "u2")}


_LEVELS = 15

_TEXTS = ("file", "name", "scope", "flags", "set_aside")
_NUMBERS = tuple(one.name for one in metrics_of(HandleForest) if one.adds != "none")


def handle_tree(trace: Trace, names: Names, limits: Limits) -> dict[str, Any]:
    """Return the selected handles and the handles above them.

    Where there are more than the limit, those whose subtree moved the most bytes are kept; a handle above another one
    always comes before it. Small curves are the bytes of the handle's own operations over the window, from 0 to 15.
    """
    forest = trace.handles
    parent = forest.parent.astype(np.int64)
    shown = _with_those_above(trace.scope.selection.selected, parent)
    rows = np.flatnonzero(shown)
    volume = forest.subtree_bytes_read.astype(np.float64) + forest.subtree_bytes_written.astype(np.float64)
    order = np.lexsort((rows, forest.depth[rows], -forest.subtree_operations[rows], -volume[rows]))
    rows = rows[order[: limits.handles]]
    place = np.full(len(forest) + 1, -1, np.int64)
    place[rows] = np.arange(len(rows))
    texts = {name: getattr(forest, name) for name in _TEXTS}
    return {
        "total": len(forest),
        "shown_total": int(shown.sum()),
        "bins": limits.sparkline,
        "handles": {
            "id": forest.id[rows].tolist(),
            "parent": place[parent[rows]].tolist(),
            "layer": names.numbers(forest.layer[row] or "?" for row in rows.tolist()),
            **{name: names.numbers(column[row] for row in rows.tolist()) for name, column in texts.items()},
            **{name: getattr(forest, name)[rows].tolist() for name in _NUMBERS},
        },
        "curves": packed(_sparklines(trace, place[:-1], len(rows), limits.sparkline).ravel(), "u1"),
    }


def _with_those_above(selected: Mask, parent: Ints) -> Mask:
    """Return which handles are selected or above one that is."""
    shown = selected.copy()
    for row in np.flatnonzero(shown).tolist():
        while (row := int(parent[row])) >= 0 and not shown[row]:
            shown[row] = True
    return shown


def _sparklines(trace: Trace, place: Ints, rows: int, bins: int) -> Any:
    row = np.append(place, -1)
    grid = volume_grid(trace, lambda operations: row[operations.handle], max(rows, 1), bins)[:rows]
    top = grid.max(axis=1, keepdims=True)
    share = np.divide(grid, top, out=np.zeros_like(grid), where=top > 0)
    # What is there at all is seen, however little it is beside the largest.
    return np.where(grid > 0, np.maximum(1, np.rint(share * _LEVELS)), 0)


def system_nodes(trace: Trace, curves: list[LayerDirection], names: Names, most: int) -> dict[str, Any]:
    """Return the nodes of the system tree that have processes, with the bytes of each (layer, direction) pair.

    Bytes are those of the layer's statistics, split by the node of the process that began an operation; those of
    processes without a node are in no row. Nodes are in the order of the trace, at most `most` of them.
    """
    definitions = trace.definitions
    tree, groups = definitions.system_tree, definitions.groups
    ranks = np.bincount(groups.node[(groups.kind == PROCESS) & (groups.node >= 0)], minlength=len(tree.id))
    used = np.flatnonzero(ranks)
    shown = used[:most]
    columns = []
    for name, direction in curves:
        chosen = trace.relations.cells.of(name, direction)
        node = np.append(groups.node, -1)[trace.relations.cells.process[chosen]]
        totals = sums_by(node[node >= 0], trace.relations.cells.moved[chosen][node >= 0], len(tree.id))
        columns.append({"layer": name, "direction": direction, "bytes": totals[shown].tolist()})
    return {
        "calls": _calls_within(trace, shown),
        "total": len(used),
        "nodes": [
            {
                "name": names.number(tree.name[row]),
                "class": names.number(tree.class_name[row]),
                "path": [names.number(tree.name[above]) for above in _ancestors(tree.parent.tolist(), row)],
                "ranks": int(ranks[row]),
            }
            for row in shown.tolist()
        ],
        "columns": columns,
    }


def _calls_within(trace: Trace, shown: Any) -> list[dict[str, Any]]:
    """Return for each two layers how many calls of the lower one ran inside calls of the upper one, by node."""
    if trace.calls.totals is None:
        return []
    process, layer, around = trace.calls.totals.counted_within.keys
    node = np.append(trace.definitions.groups.node, -1)[process]
    known, found = node >= 0, []
    for low in range(1, len(trace.order)):
        for high in range(low):
            counts = trace.calls.totals.counted_within["calls"] * ((layer == low) & (around >> high & 1 > 0) & known)
            if counts.any():
                totals = np.bincount(node[known], counts[known], minlength=len(trace.definitions.system_tree.id))
                pair = {"upper": trace.order[high], "lower": trace.order[low]}
                found.append({**pair, "calls": totals[shown].astype(np.int64).tolist()})
    return found


def _ancestors(parent: list[int], row: int) -> list[int]:
    """Return the rows above `row`, the root first; a circle, which only a broken trace has, ends it."""
    found: list[int] = []
    while (row := parent[row]) >= 0 and row not in found and len(found) < 32:
        found.append(row)
    return found[::-1]
