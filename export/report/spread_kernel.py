"""Compiled: bytes of operations spread over a grid of rows and bins of time."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
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
    rows, bins : int
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
