"""Ranks over time: the bytes of operations spread over a grid of ranks and bins."""

from typing import Any

import numpy as np
import numpy.typing as npt

from ....layers.layer import Layer
from ....layers.trace import Trace
from ....model.codes import IoMode
from ....model.kernels import compiled
from ....model.operations import view
from ..encoding import packed
from ..limits import Limits


@compiled
def spread_volume(
    row: npt.NDArray[np.int64],
    begin: npt.NDArray[np.int64],
    end: npt.NDArray[np.int64],
    amount: npt.NDArray[np.float64],
    rows: int,
    start: int,
    length: int,
    bins: int,
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
        Its sum is that of the amounts, to rounding.
    """
    grid = np.zeros((rows, bins))
    width = length / bins
    for index in range(len(row)):
        line = row[index]
        if line < 0:
            continue
        low = (begin[index] - start) / width
        high = (end[index] - start) / width
        first = min(int(low), bins - 1)
        last = min(int(high), bins - 1)
        if first == last or high <= low:
            grid[line, first] += amount[index]
            continue
        share = amount[index] / (high - low)
        grid[line, first] += share * (first + 1 - low)
        for place in range(first + 1, last):
            grid[line, place] += share
        grid[line, last] += share * (high - last)
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
    0.1 %.
    """
    group, first = rank_groups(trace, limits.heat_rows)
    maps = []
    if len(first):
        for name, direction in curves:
            grid = volume_grid(trace.layers[name], direction, group, len(first), limits.heat_bins)
            maps.append({"layer": name, "direction": direction, **_scaled(grid)})
    return {"first_rank": first.tolist(), "ranks": trace.ranks, "bins": limits.heat_bins, "maps": maps}


def volume_grid(
    layer: Layer, direction: str, row_of_process: npt.NDArray[np.int64], rows: int, bins: int
) -> npt.NDArray[np.float64]:
    """Return the bytes of a layer and direction by row and bin of the window, float64 (rows, bins)."""

    window = layer.tick_window
    operations = layer.operations
    chosen = view(operations, operations.mode == IoMode[direction.upper()])
    begin, end = window.clipped(chosen)
    row = np.where(chosen.process >= 0, row_of_process[chosen.process], -1)
    amount = window.bytes_within(chosen).astype(np.float64)
    grid = spread_volume(row, begin, end, amount, rows, window.start, window.end - window.start, bins)
    return np.asarray(grid, np.float64)


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
