"""The compiled union of intervals. The module needs numba; import it inside the function that uses it."""

import numpy as np

from .arrays import Ints
from .kernels import compiled


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
        if end[row] <= begin[row]:
            continue
        if count > 0 and group[row] == groups[count - 1] and begin[row] <= ends[count - 1]:
            ends[count - 1] = max(ends[count - 1], end[row])
            continue
        groups[count], begins[count], ends[count] = group[row], begin[row], end[row]
        count += 1
    return groups[:count].copy(), begins[:count].copy(), ends[:count].copy()
