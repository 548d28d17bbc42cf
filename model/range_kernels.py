"""The compiled union of intervals. Numba may have to compile it: import it inside the function that uses it."""

from typing import Any

import numpy as np

from .arrays import Ints
from .kernels import compiled, inlined


@compiled
def union_in_order(group: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the stretches that intervals of each group cover, touching ones as one, by group and begin.

    Parameters
    ----------
    group, begin, end : int64 (n,)
        Ordered by group, then begin.

    Returns
    -------
    group, begin, end : int64 (stretches,)
    """
    groups, begins, ends = np.empty_like(group), np.empty_like(begin), np.empty_like(begin)
    count = 0
    for row in range(begin.size):
        count = _added(groups, begins, ends, count, group[row], begin[row], end[row])
    return groups[:count].copy(), begins[:count].copy(), ends[:count].copy()


@compiled
def union_of_two(
    group: Ints, begin: Ints, end: Ints, more_group: Ints, more_begin: Ints, more_end: Ints
) -> tuple[Ints, Ints, Ints]:
    """Return the stretches that two kinds of intervals cover together; both are ordered as in `union_in_order`."""
    size = group.size + more_group.size
    groups, begins, ends = np.empty(size, np.int64), np.empty(size, np.int64), np.empty(size, np.int64)
    count, row, more = 0, 0, 0
    while row + more < size:
        known = more == more_group.size
        if not known and row < group.size:
            same = group[row] == more_group[more]
            known = begin[row] <= more_begin[more] if same else group[row] < more_group[more]
        if known:
            count = _added(groups, begins, ends, count, group[row], begin[row], end[row])
            row += 1
        else:
            count = _added(groups, begins, ends, count, more_group[more], more_begin[more], more_end[more])
            more += 1
    return groups[:count].copy(), begins[:count].copy(), ends[:count].copy()


@inlined
def _added(groups: Ints, begins: Ints, ends: Ints, count: int, group: int, begin: int, end: int) -> Any:
    """Put an interval behind stretches, or join it to the last one; return how many there are."""
    if end <= begin:
        return count
    if count > 0 and group == groups[count - 1] and begin <= ends[count - 1]:
        ends[count - 1] = max(ends[count - 1], end)
        return count
    groups[count], begins[count], ends[count] = group, begin, end
    return count + 1
