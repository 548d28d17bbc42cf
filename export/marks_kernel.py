"""Compiled: the end reached so far within each group of marks."""

import numpy as np
import numpy.typing as npt
from numba import njit


@njit(cache=True, nogil=True)  # type: ignore[untyped-decorator]
def gaps_before(
    first: npt.NDArray[np.bool_], start: npt.NDArray[np.int64], end: npt.NDArray[np.int64]
) -> npt.NDArray[np.int64]:
    """Return the time between each mark's start and the latest end before it in its group, int64 (n,).

    Parameters
    ----------
    first : bool (n,)
        Whether a mark is the first of its group.
    start, end : int64 (n,)
        In the order of the starts within each group.

    Returns
    -------
    int64 (n,)
        Negative where a mark overlaps an earlier one; for the first of a group the largest number there is.
    """
    gaps = np.empty(len(start), np.int64)
    reached = np.int64(0)
    for place in range(len(start)):
        if first[place]:
            gaps[place] = np.iinfo(np.int64).max
            reached = end[place]
        else:
            gaps[place] = start[place] - reached
            reached = max(reached, end[place])
    return gaps
