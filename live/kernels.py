"""Compiled loops over the bins of a grid: adding operations, and making the next coarser level.

Numba may have to compile it: import it inside the function that uses it.
"""

import math
from typing import NamedTuple

import numpy as np

from ..model.arrays import Floats, Rows
from ..model.kernels import compiled


class GridBins(NamedTuple):
    """The bins of all levels of a grid; that of an exponent lies in row ``exponent % levels``."""

    sizes: Rows
    """(levels,), bins of each level"""
    numbers: Rows
    """(levels, capacity), number of each bin from time zero on, increasing"""
    moved: Rows
    """(levels, capacity), what moved in it"""
    first: Floats
    """(levels, capacity), first activity in it, in s"""
    last: Floats
    """(levels, capacity), last activity in it, in s"""
    operations: Rows
    """(levels, capacity), operations that began in it"""


@compiled
def add_operations(start: Floats, end: Floats, volume: Rows, top: int, finest: int, most: int, bins: GridBins) -> int:
    """Add operations to all levels of a grid; return the exponent of the coarsest, which holds the whole run.

    Parameters
    ----------
    start, end : float64 (n,)
        In s.
    volume : int64 (n,)
        Above 0.
    top, finest : int
        Exponents of the coarsest level so far, and of the finest that there may be: bins are 2^exponent s wide.
    most : int
        Bins of a level that are kept, the latest ones, and all of the coarsest.
    bins : GridBins
        With room for at least 2 `most` + 1 bins of each level.
    """
    sizes, numbers, moved, first, last, operations = bins
    levels = sizes.size
    coarsest = 2.0**top
    for row in range(start.size):
        while math.floor(end[row] / coarsest) - math.floor(start[row] / coarsest) >= most:
            top = coarsen(top, bins)
            coarsest *= 2.0
        width = 2.0 * coarsest
        for exponent in range(top, max(finest, top - levels + 1) - 1, -1):
            width *= 0.5
            low = math.floor(start[row] / width)
            high = max(math.ceil(end[row] / width) - 1, low)
            level = exponent % levels
            at = sizes[level] - 1
            if low == high and at >= 0 and numbers[level, at] == high:
                # Most are in the latest bin, and a call costs more than this.
                moved[level, at] += volume[row]
                first[level, at] = min(first[level, at], start[row])
                last[level, at] = max(last[level, at], end[row])
                operations[level, at] += 1
            else:
                keep = most if exponent < top else 0
                # Whatever came before so many bins of one operation cannot be among the latest.
                low = max(low, high - most + 1)
                add_interval(start[row], end[row], volume[row], low, high, width, level, keep, bins)
        while sizes[top % levels] > most:
            top = coarsen(top, bins)
            coarsest *= 2.0
    return top


@compiled
def add_interval(
    start: float, end: float, volume: int, low: int, high: int, width: float, level: int, keep: int, bins: GridBins
) -> None:
    """Add an operation to those bins of a level from `low` to `high` that may be among the latest `keep`, 0 for all."""
    if keep and bins.sizes[level] >= keep:
        low = max(low, bins.numbers[level, bins.sizes[level] - keep])
    before = share(start, end, volume, low * width)
    at = -1
    numbers, moved, operations = bins.numbers[level], bins.moved[level], bins.operations[level]
    first, last = bins.first[level], bins.last[level]
    for place in range(low, high + 1):
        after = volume if place == high else share(start, end, volume, (place + 1) * width)
        begin, stop = max(start, place * width), min(end, (place + 1) * width)
        begun = 1 if begin == start else 0
        size = bins.sizes[level]
        # Most follow the one before, or are new ones at the end, and a call costs more than this.
        if 0 <= at < size - 1 and numbers[at + 1] == place:
            at += 1
            moved[at] += after - before
            operations[at] += begun
            first[at], last[at] = min(first[at], begin), max(last[at], stop)
        elif size < numbers.size and (not size or numbers[size - 1] < place):
            at = size
            numbers[at], moved[at], operations[at] = place, after - before, begun
            first[at], last[at] = begin, stop
            bins.sizes[level] = size + 1
        else:
            at = add_bin(max(at + 1, 0), place, after - before, begun, begin, stop, level, keep, bins)
        before = after


@compiled
def share(start: float, end: float, volume: int, edge: float) -> int:
    """Return what of an operation's volume has moved by a time: whole, so that bins of any width add up exactly."""
    if edge <= start:
        return 0
    return min(int(volume * ((edge - start) / (end - start))), volume) if edge < end else volume


@compiled
def add_bin(
    guess: int, place: int, volume: int, begun: int, begin: float, stop: float, level: int, keep: int, bins: GridBins
) -> int:
    """Add to one bin of a level, which loses all but the latest `keep` bins where it is full; return the bin's column.

    The first column that is looked at is `guess`.
    """
    numbers = bins.numbers[level]
    size = int(bins.sizes[level])
    at = size
    if size and place <= numbers[size - 1]:
        at = guess
        if at >= size or numbers[at] != place:
            at = size - 1 if numbers[size - 1] == place else int(np.searchsorted(numbers[:size], place))
        if numbers[at] == place:
            bins.moved[level, at] += volume
            bins.operations[level, at] += begun
            bins.first[level, at] = min(bins.first[level, at], begin)
            bins.last[level, at] = max(bins.last[level, at], stop)
            return at
    if keep and size == numbers.size:
        drop = size - keep
        for column in range(keep):
            copy_bin(level, column + drop, column, bins)
        size, at = keep, at - drop
        bins.sizes[level] = size
        if at < 0:
            return at
    for column in range(size, at, -1):
        copy_bin(level, column - 1, column, bins)
    numbers[at] = place
    bins.moved[level, at] = volume
    bins.operations[level, at] = begun
    bins.first[level, at] = begin
    bins.last[level, at] = stop
    bins.sizes[level] = size + 1
    return at


@compiled
def copy_bin(level: int, source: int, target: int, bins: GridBins) -> None:
    """Copy a bin of a level from one column to another."""
    bins.numbers[level, target] = bins.numbers[level, source]
    bins.moved[level, target] = bins.moved[level, source]
    bins.first[level, target] = bins.first[level, source]
    bins.last[level, target] = bins.last[level, source]
    bins.operations[level, target] = bins.operations[level, source]


@compiled
def coarsen(top: int, bins: GridBins) -> int:
    """Make the next coarser level of the coarsest one, in place of the finest; return its exponent."""
    fine, coarse = top % bins.sizes.size, (top + 1) % bins.sizes.size
    bins.sizes[coarse] = 0
    for column in range(bins.sizes[fine]):
        guess, place = max(bins.sizes[coarse] - 1, 0), bins.numbers[fine, column] >> 1
        begin, stop = bins.first[fine, column], bins.last[fine, column]
        moved, begun = bins.moved[fine, column], bins.operations[fine, column]
        add_bin(guess, place, moved, begun, begin, stop, coarse, 0, bins)
    return top + 1
