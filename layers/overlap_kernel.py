"""Compiled sums over operations in groups: the time their union takes, and how many were under way at once.

The module needs numba; import it inside the function that uses it.
"""

from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from .intervals import compiled

Ticks: TypeAlias = npt.NDArray[np.int64]


@compiled
def union_by_group(start: Ticks, begin: Ticks, end: Ticks) -> Ticks:
    """Return the length of the union of the intervals of each group.

    Parameters
    ----------
    start : int64 (groups+1,)
        Where the intervals of each group begin; within one they stand by their begins.
    begin, end : int64 (n,)

    Returns
    -------
    int64 (groups,)
    """
    length = np.zeros(start.size - 1, np.int64)
    for group in range(start.size - 1):
        if start[group] == start[group + 1]:
            continue
        reached = begin[start[group]]
        for row in range(start[group], start[group + 1]):
            if end[row] > reached:
                length[group] += end[row] - max(begin[row], reached)
                reached = end[row]
    return length


@compiled
def count_distinct(start: Ticks, order: Ticks, value: npt.NDArray[np.integer], values: int) -> Ticks:
    """Return the number of distinct values of each group.

    Parameters
    ----------
    start : int64 (groups+1,)
        Where the rows of each group begin in `order`.
    order : int64 (n,)
        Rows in `value`.
    value : integer (n,)
        From −1 to ``values - 2``.
    values : int

    Returns
    -------
    int64 (groups,)
    """
    counts = np.zeros(start.size - 1, np.int64)
    seen_in = np.full(values, -1, np.int64)
    for group in range(start.size - 1):
        for place in range(start[group], start[group + 1]):
            found = value[order[place]] + 1
            if seen_in[found] != group:
                seen_in[found] = group
                counts[group] += 1
    return counts


@compiled
def most_at_once(start: Ticks, begin: Ticks, end: Ticks) -> Ticks:
    """Return the largest number of intervals of each group that are open at one time.

    Parameters
    ----------
    start : int64 (groups+1,)
        Where the intervals of each group begin.
    begin, end : int64 (n,)
        The begins of each group in their order, and its ends in theirs; one that ends when another begins counts no
        more. An interval of no duration is open for itself.

    Returns
    -------
    int64 (groups,)
    """
    most = np.zeros(start.size - 1, np.int64)
    for group in range(start.size - 1):
        ended = start[group]
        for row in range(start[group], start[group + 1]):
            while end[ended] <= begin[row] and ended < row:
                ended += 1
            most[group] = max(most[group], row + 1 - ended)
    return most
