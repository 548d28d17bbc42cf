"""Compiled ordering of the operations of a block by their begin."""

from typing import Final

import numpy as np

from ...model.arrays import Ints, Ticks
from ...model.kernels import compiled

_DIGIT: Final = np.uint64(11)
"""Bits that a pass looks at."""


@compiled
def rows_by_begin(begin: Ticks, rows: Ints) -> Ints:
    """Return `rows` by their begin, those of one tick in the order given, which may be changed; intp (n,).

    By their digits, the lowest first (Knuth, *The Art of Computer Programming* 3, §5.2.5): as many passes as the time
    from the first begin to the last has digits, whatever the number of locations.
    """
    if not len(rows):
        return rows
    least = most = latest = begin[rows[0]]
    ascending = True
    for row in rows:
        ascending &= begin[row] >= latest
        latest = begin[row]
        least, most = min(least, latest), max(most, latest)
    if ascending:
        return rows
    span = np.uint64(most) - np.uint64(least)
    digits = np.uint64(1) << _DIGIT
    keys, moved = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64)
    for place in range(len(rows)):
        keys[place] = np.uint64(begin[rows[place]]) - np.uint64(least)
    target = np.empty_like(rows)
    start = np.empty(digits, np.int64)
    shift = np.uint64(0)
    while shift < np.uint64(64) and span >> shift > 0:
        start[:] = 0
        for key in keys:
            start[(key >> shift) & (digits - np.uint64(1))] += 1
        before = 0
        for digit in range(len(start)):
            start[digit], before = before, before + start[digit]
        for place in range(len(rows)):
            digit = (keys[place] >> shift) & (digits - np.uint64(1))
            target[start[digit]] = rows[place]
            moved[start[digit]] = keys[place]
            start[digit] += 1
        rows, target = target, rows
        keys, moved = moved, keys
        shift += _DIGIT
    return rows
