"""Compiled loops over the bins of a grid: adding operations, and making the next coarser level.

The module needs numba; import it inside the function that uses it.
"""

import math

import numpy as np

from ..model.arrays import Floats, Rows
from ..model.kernels import compiled


@compiled
def add_operations(
    start: Floats,
    end: Floats,
    volume: Rows,
    top: int,
    finest: int,
    most: int,
    count: Rows,
    index: Rows,
    moved: Rows,
    first: Floats,
    last: Floats,
) -> int:
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
    count : int64 (levels,)
        Bins of each level; that of an exponent lies in row ``exponent % levels``.
    index, moved : int64 (levels, capacity)
        Number of each bin from time zero on, increasing, and what moved in it. The capacity is at least 2 `most` + 1.
    first, last : float64 (levels, capacity)
        First and last activity in each bin, in s.
    """
    levels = count.size
    coarsest = 2.0**top
    for row in range(start.size):
        while math.floor(end[row] / coarsest) - math.floor(start[row] / coarsest) >= most:
            top = coarsen(top, count, index, moved, first, last)
            coarsest *= 2.0
        width = 2.0 * coarsest
        for exponent in range(top, max(finest, top - levels + 1) - 1, -1):
            width *= 0.5
            low = math.floor(start[row] / width)
            high = max(math.ceil(end[row] / width) - 1, low)
            # Whatever came before so many bins of one operation cannot be among the latest.
            low = max(low, high - most + 1)
            level = exponent % levels
            size = count[level]
            if low == high and size and index[level, size - 1] == high:
                # Most are in the latest bin, and a call costs more than this.
                moved[level, size - 1] += volume[row]
                first[level, size - 1] = min(first[level, size - 1], start[row])
                last[level, size - 1] = max(last[level, size - 1], end[row])
                continue
            if exponent < top and count[level] >= most:
                low = max(low, index[level, count[level] - most])
            before = share(start[row], end[row], volume[row], low * width)
            at = -1
            for place in range(low, high + 1):
                after = volume[row] if place == high else share(start[row], end[row], volume[row], (place + 1) * width)
                at = add_bin(
                    max(at + 1, 0),
                    place,
                    after - before,
                    max(start[row], place * width),
                    min(end[row], (place + 1) * width),
                    level,
                    most if exponent < top else 0,
                    count,
                    index,
                    moved,
                    first,
                    last,
                )
                before = after
        while count[top % levels] > most:
            top = coarsen(top, count, index, moved, first, last)
            coarsest *= 2.0
    return top


@compiled
def share(start: float, end: float, volume: int, edge: float) -> int:
    """Return what of an operation's volume has moved by a time: whole, so that bins of any width add up exactly."""
    if edge <= start:
        return 0
    return min(int(volume * ((edge - start) / (end - start))), volume) if edge < end else volume


@compiled
def add_bin(
    guess: int,
    place: int,
    volume: int,
    begin: float,
    stop: float,
    level: int,
    keep: int,
    count: Rows,
    index: Rows,
    moved: Rows,
    first: Floats,
    last: Floats,
) -> int:
    """Add to one bin of a level, which loses all but the latest `keep` bins where it is full; return the bin's column.

    The first column that is looked at is `guess`.
    """
    size = int(count[level])
    at = size
    if size and place <= index[level, size - 1]:
        at = guess
        if at >= size or index[level, at] != place:
            at = size - 1 if index[level, size - 1] == place else int(np.searchsorted(index[level, :size], place))
        if index[level, at] == place:
            moved[level, at] += volume
            first[level, at] = min(first[level, at], begin)
            last[level, at] = max(last[level, at], stop)
            return at
    if keep and size == index.shape[1]:
        drop = size - keep
        for column in range(keep):
            index[level, column] = index[level, column + drop]
            moved[level, column] = moved[level, column + drop]
            first[level, column] = first[level, column + drop]
            last[level, column] = last[level, column + drop]
        size, at = keep, at - drop
        count[level] = size
        if at < 0:
            return at
    for column in range(size, at, -1):
        index[level, column] = index[level, column - 1]
        moved[level, column] = moved[level, column - 1]
        first[level, column] = first[level, column - 1]
        last[level, column] = last[level, column - 1]
    index[level, at] = place
    moved[level, at] = volume
    first[level, at] = begin
    last[level, at] = stop
    count[level] = size + 1
    return at


@compiled
def coarsen(top: int, count: Rows, index: Rows, moved: Rows, first: Floats, last: Floats) -> int:
    """Make the next coarser level of the coarsest one, in place of the finest; return its exponent."""
    fine, coarse = top % count.size, (top + 1) % count.size
    count[coarse] = 0
    for column in range(count[fine]):
        add_bin(
            max(count[coarse] - 1, 0),
            index[fine, column] >> 1,
            moved[fine, column],
            first[fine, column],
            last[fine, column],
            coarse,
            0,
            count,
            index,
            moved,
            first,
            last,
        )
    return top + 1
