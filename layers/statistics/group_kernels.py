"""Compiled sums over operations in groups: distinct pairs, and how many were under way at once.

The module needs numba; import it inside the function that uses it.
"""

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Ticks
from ...model.kernels import compiled


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


@compiled
def number_pairs(
    order: Ints, start: Ints, second: npt.NDArray[np.integer], seconds: int, rows: int
) -> tuple[Ints, Ints, Ints]:
    """Number the distinct pairs of two columns from 0.

    Parameters
    ----------
    order : int64 (m,)
        Rows by the first number of their pair, as `rows_by_key` gives them.
    start : int64 (firsts+1,)
        Where the rows of each first number begin in `order`.
    second : integer (n,)
        From 0 to ``seconds - 1``.
    seconds, rows : int
        `rows` is n.

    Returns
    -------
    number : int64 (n,)
        Of the pair of each row; −1 for a row that is not in `order`.
    first_of, second_of : int64 (pairs,)
        The pairs, in the order of their first number.
    """
    number = np.full(rows, -1, np.int64)
    # Numbers within one group lie above all earlier ones, so what a group left behind is told by its size.
    latest = np.full(seconds, -1, np.int64)
    first_of = np.empty(order.size, np.int64)
    second_of = np.empty(order.size, np.int64)
    pairs = 0
    for group in range(start.size - 1):
        begun = pairs
        for place in range(start[group], start[group + 1]):
            row = order[place]
            value = second[row]
            if latest[value] < begun:
                latest[value] = pairs
                first_of[pairs] = group
                second_of[pairs] = value
                pairs += 1
            number[row] = latest[value]
    return number, first_of[:pairs].copy(), second_of[:pairs].copy()
