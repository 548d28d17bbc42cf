"""Compiled sums over segments of time.

Numba may have to compile it: import it inside the function that uses it.
"""

import numpy as np

from ...model.arrays import Floats, Ints
from ...model.kernels import compiled


@compiled
def spread_over_segments(
    row: Ints, begin: Ints, end: Ints, length: Floats, volume: Floats, start: int, width: float, sums: Floats
) -> None:
    """Add volumes, each spread evenly over its `length` of which [begin, end] lies in the window.

    Parameters
    ----------
    row : int64 (n,)
        Of `sums`.
    begin, end : int64 (n,)
        In ticks, as are `start`, where segments begin, and their `width`.
    length, volume : float64 (n,)
    sums : float64 (rows, segments)
        Of zeros.
    """
    rows, count = sums.shape
    later, steps_up, steps_down = np.zeros((rows, count)), np.zeros((rows, count)), np.zeros((rows, count))
    for one in range(len(row)):
        place = row[one]
        first = min(max(np.int64((begin[one] - start) / width), 0), count - 1)
        last = min(max(np.int64((end[one] - start) / width), 0), count - 1)
        rate = volume[one] / length[one] if length[one] > 0 else 0.0
        if last <= first:
            sums[place, first] += rate * (end[one] - begin[one]) if length[one] > 0 else volume[one]
            continue
        sums[place, first] += rate * (start + (first + 1) * width - begin[one])
        later[place, last] += rate * (end[one] - start - last * width)
        if last - first > 1:
            # Segments that an operation fills: a step up behind its first, a step down at its last.
            steps_up[place, first + 1] += rate
            steps_down[place, last] += rate
    for place in range(rows):
        rate = 0.0
        for segment in range(count):
            rate += steps_up[place, segment] - steps_down[place, segment]
            sums[place, segment] += later[place, segment]
            sums[place, segment] += max(rate, 0.0) * width
