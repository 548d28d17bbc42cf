"""The compiled walk over steps. The module needs numba; import it inside the function that uses it."""

import numpy as np

from ...model.arrays import Ints, Ticks
from ...model.kernels import compiled


@compiled
def gaps_before(start: Ints, begin: Ticks, end: Ticks, latest: Ticks) -> Ticks:
    """Return how long nothing of its own segment was under way before each row, int64 (n,), 0 at least.

    Parameters
    ----------
    start : int64 (segments+1,)
        Where each segment begins; within one rows stand by their begins.
    latest : int64 (segments,)
        The latest end of each segment so far, which is brought up to date; the least number where there is none.
    """
    gaps = np.zeros(begin.size, np.int64)
    none = np.iinfo(np.int64).min
    for segment in range(start.size - 1):
        last = latest[segment]
        for row in range(start[segment], start[segment + 1]):
            if last != none and begin[row] > last:
                gaps[row] = begin[row] - last
            last = max(last, end[row])
        latest[segment] = last
    return gaps
