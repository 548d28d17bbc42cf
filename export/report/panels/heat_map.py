"""Ranks over time: the bytes of operations spread over a grid of ranks and bins."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....layers.handles.scope import ScopedBlock
from ....layers.selection.window import TickWindow
from ....layers.trace import Trace
from ....model.codes import IoMode
from ....model.kernels import compiled
from ....model.operations import Operations
from ...encoding import packed
from .limits import Limits

_QUANTUM: Final = 2.0**16
"""Amounts are multiples of 1/2^16, whose sums do not depend on their order up to 2^37 in a cell."""

RowOf = Callable[[Operations], npt.NDArray[np.int64]]


@compiled
def spread_volume(
    row: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    amount: npt.NDArray[np.float64],
    rows: int,
    bins: int,
    start: int,
    length: int,
) -> npt.NDArray[np.float64]:
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


def rank_groups(trace: Trace, most: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
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


def heat_maps(trace: Trace, curves: list[tuple[str, str]], limits: Limits) -> dict[str, Any]:
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

        def row_of(operations: Operations) -> npt.NDArray[np.int64]:
            mode = np.minimum(operations.mode, len(IoMode) - 1)
            curve = place[np.append(layer, -1)[operations.handle], mode]
            of_rank = known_group[operations.process]
            return np.where((curve >= 0) & (of_rank >= 0), curve * len(first) + of_rank, -1)

        grid = volume_grid(trace, row_of, len(curves) * len(first), limits.heat_bins)
        for (name, direction), part in zip(curves, np.split(grid, len(curves)), strict=True):
            maps.append({"layer": name, "direction": direction, **_scaled(part)})
    return {"first_rank": first.tolist(), "ranks": trace.ranks, "bins": limits.heat_bins, "maps": maps}


class _VolumeGrid:
    """Bytes by row and bin of the window, float64 (rows, bins), summed over blocks."""

    def __init__(self, window: TickWindow, row_of: RowOf, rows: int, bins: int) -> None:
        self._window, self._row_of = window, row_of
        self.grid = np.zeros((rows, bins))

    def add(self, block: ScopedBlock) -> None:
        window, chosen = self._window, self._window.part(block.operations)
        begin, end = window.clipped(chosen)
        amount = window.bytes_within(chosen).astype(np.float64)
        length = window.end - window.start
        self.grid += spread_volume(self._row_of(chosen), begin, end, amount, *self.grid.shape, window.start, length)

    def merge(self, other: "_VolumeGrid") -> None:
        self.grid += other.grid


def volume_grid(trace: Trace, row_of: RowOf, rows: int, bins: int) -> npt.NDArray[np.float64]:
    """Return the bytes of a trace by row and bin of the window, float64 (rows, bins).

    Parameters
    ----------
    row_of : callable
        From operations (n,) to the row of each, int64 (n,), −1 for none.
    """
    return trace.stream.summed(lambda: _VolumeGrid(trace.scope.window, row_of, rows, bins)).grid


def _scaled(grid: npt.NDArray[np.float64]) -> dict[str, Any]:
    filled = grid > 0
    if not filled.any():
        return {"smallest": 0.0, "largest": 0.0, "cells": packed(np.zeros(grid.size), "u2")}
    smallest, largest = float(grid[filled].min()), float(grid.max())
    steps = np.zeros(grid.shape)
    spread = np.log(largest) - np.log(smallest)
    places = (np.log(grid[filled]) - np.log(smallest)) / spread if spread > 0 else np.ones(int(filled.sum()))
    steps[filled] = 1 + np.rint(np.clip(places, 0, 1) * STEPS)
    return {"smallest": smallest, "largest": largest, "cells": packed(steps.ravel(), "u2")}
