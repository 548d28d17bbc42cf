"""Stretches of a run with one period each, from the times between phases."""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST_INTERVALS = 3
# Means of neighbouring stretches differ by at least this factor.
SMALLEST_CHANGE = 1.25
# Below this, variation of the logarithm of intervals is that of a clock.
LEAST_SPREAD = 0.02
PENALTY = 4.0


@dataclass(frozen=True)
class Stretch:
    """Intervals `first` to `stop` (not included) of a train of phases; phases `first` to `stop` included."""

    first: int
    stop: int


def stretches(intervals: Floats) -> list[Stretch]:
    """Split intervals where their mean changes.

    The logarithms of the intervals are taken as normal with a mean and a variance of each stretch. A stretch is split
    at the interval that lowers Σ n ln(σ² + s²) most, as long as that gains more than a penalty of 4 ln n and the means
    differ by at least a quarter; s = 0.02 keeps two equal intervals from having no variance. Splits that a later one
    has made superfluous are taken back. Binary segmentation (Scott and Knott 1974), O(n log n) but for trains that
    are split at their very ends only.

    Parameters
    ----------
    intervals : float64 (n,)
        Times between starts in s, above 0.

    Returns
    -------
    list of Stretch
        In the order of time; one that covers everything where nothing changes.
    """
    logs = np.log(intervals)
    sums = np.concatenate(([0.0], np.cumsum(logs)))
    squares = np.concatenate(([0.0], np.cumsum(logs * logs)))

    def cost(first: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]) -> Floats:
        count = stop - first
        mean = (sums[stop] - sums[first]) / count
        variance = np.maximum((squares[stop] - squares[first]) / count - mean * mean, 0.0)
        return np.asarray(count * np.log(variance + LEAST_SPREAD**2), dtype=np.float64)

    penalty = PENALTY * float(np.log(max(intervals.size, 2)))
    cuts: list[int] = []
    open_parts = [(0, intervals.size)]
    while open_parts:
        first, stop = open_parts.pop()
        if stop - first < 2 * FEWEST_INTERVALS:
            continue
        at = np.arange(first + FEWEST_INTERVALS, stop - FEWEST_INTERVALS + 1)
        one, end = np.full(at.size, first), np.full(at.size, stop)
        gain = cost(one[:1], end[:1])[0] - cost(one, at) - cost(at, end)
        best = int(np.argmax(gain))
        if gain[best] <= penalty:
            continue
        cuts.append(int(at[best]))
        open_parts += [(first, int(at[best])), (int(at[best]), stop)]

    edges = [0, *sorted(cuts), intervals.size]
    kept = [0]
    for left, cut, right in zip(edges[:-2], edges[1:-1], edges[2:], strict=True):
        left = kept[-1]
        change = abs((sums[right] - sums[cut]) / (right - cut) - (sums[cut] - sums[left]) / (cut - left))
        if change >= np.log(SMALLEST_CHANGE):
            kept.append(cut)
    kept.append(intervals.size)
    return [Stretch(first, stop) for first, stop in pairwise(kept)]
