"""Compiled loops: the best order-preserving match of two runs' bursts, and dynamic time warping.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Final

import numpy as np

from ...analysis.phases.kernels import path_to
from ...model.arrays import Floats, Ints, Links
from ...model.kernels import compiled

_STIFFNESS: Final = 0.5
"""A drift by two typical distances between one pair and the next costs as much as the pair is worth."""
_SKIP: Final = 0.5
MOST_SKIPPED: Final = 4
"""As many bursts of either run are left out between two pairs at most."""


@compiled
def matched_bursts(
    first: Floats, second: Floats, volumes: Floats, other_volumes: Floats, farthest: float, distance: float
) -> Ints:
    """Return the pairs of bursts of two runs that belong together, int64 (k, 2), in the order of both.

    They have the largest sum of likeness, the smaller volume of a pair over the larger, less `_STIFFNESS` for each
    `distance` by which the second run drifts against the first between two pairs, less `_SKIP` for each burst left out.

    Parameters
    ----------
    first, second : float64 (n,), float64 (m,)
        Times of the bursts, ascending.
    volumes, other_volumes : float64 (n,), float64 (m,)
        Above 0.
    farthest : float
        Two bursts farther apart than this are none of a pair.
    distance : float
        Typical distance between bursts.
    """
    low = np.searchsorted(second, first - farthest)
    beyond = np.searchsorted(second, first + farthest, side="right")
    offset = np.append(0, np.cumsum(beyond - low))
    score = np.zeros(offset[-1])
    before = np.full(offset[-1], -1, np.int64)
    best, last = -np.inf, -1
    for one in range(len(first)):
        for other in range(low[one], beyond[one]):
            place = offset[one] + other - low[one]
            drift = second[other] - first[one]
            likeness = min(volumes[one], other_volumes[other]) / max(volumes[one], other_volumes[other])
            score[place] = likeness - _SKIP * (one + other)
            for earlier in range(max(0, one - 1 - MOST_SKIPPED), one):
                start = max(low[earlier], other - 1 - MOST_SKIPPED)
                for partner in range(start, min(beyond[earlier], other)):
                    known = offset[earlier] + partner - low[earlier]
                    change = abs(drift - second[partner] + first[earlier]) / distance
                    left_out = one - earlier - 1 + other - partner - 1
                    found = score[known] + likeness - _STIFFNESS * change - _SKIP * left_out
                    if found > score[place]:
                        score[place] = found
                        before[place] = known
            final = score[place] - _SKIP * (len(first) - 1 - one + len(second) - 1 - other)
            if final > best:
                best, last = final, place
    if last < 0:
        return np.zeros((0, 2), np.int64)
    places = path_to(last, before)
    ones = np.searchsorted(offset, places, side="right") - 1
    return np.column_stack((ones, places - offset[ones] + low[ones]))


@compiled
def warping_path(first: Floats, second: Floats) -> Links:
    """Return the path of dynamic time warping of two sequences, int32 (k, 2), first to last; O(n m) time and memory.

    Its cost is the sum of absolute differences (Sakoe and Chiba, 1978, symmetric steps without weights).
    """
    rows, columns = len(first), len(second)
    step = np.zeros((rows, columns), np.uint8)
    previous = np.full(columns + 1, np.inf)
    previous[0] = 0.0
    current = np.empty(columns + 1)
    for row in range(rows):
        current[0] = np.inf
        for column in range(columns):
            best, way = previous[column], 0
            if previous[column + 1] < best:
                best, way = previous[column + 1], 1
            if current[column] < best:
                best, way = current[column], 2
            current[column + 1] = best + abs(first[row] - second[column])
            step[row, column] = way
        previous, current = current, previous
    path = np.empty((rows + columns - 1, 2), np.int32)
    row, column, count = rows - 1, columns - 1, 0
    while True:
        path[count, 0], path[count, 1] = row, column
        count += 1
        if row == 0 and column == 0:
            break
        way = step[row, column]
        if way != 2:
            row -= 1
        if way != 1:
            column -= 1
    return path[:count][::-1].copy()
