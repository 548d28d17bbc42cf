"""Where within a bin a phase begins, for signals of which only bin averages are known."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

# A start that was found within a bin may lie this share of the bin beside.
WITHIN_BIN = 0.15


def starts_within_bins(
    values: Floats, width: float, origin: float, first: npt.NDArray[np.int64], stop: npt.NDArray[np.int64]
) -> tuple[Floats, Floats, Floats]:
    """Return when phases begin, and the bounds of it.

    A phase that begins within a bin fills it in part: with b the rate before and L the rate of the bins after it, the
    volume in the two bins around its first edge says when: t = t_2 - (x_1 + x_2 - 2 b) w / (L - b), t_2 the end of the
    two. That needs a phase of at least three bins. A shorter one may begin anywhere in its first bin, or in the one
    before where that has any part of it.

    Parameters
    ----------
    values : float64 (n,)
        Bin averages.
    width, origin : float
        Of a bin, and the beginning of the first, in s.
    first, stop : int64 (k,)
        First bin of each phase, and the bin after its last.

    Returns
    -------
    start, earliest, latest : float64 (k,)
        In s.
    """
    n = values.size
    before = values[np.clip(first - 2, 0, n - 1)]
    one = values[np.clip(first - 1, 0, n - 1)]
    two = values[np.clip(first, 0, n - 1)]
    after = values[np.clip(first + 1, 0, n - 1)]
    floor = np.minimum(before, one)
    edge = origin + first * width
    rise = after - floor
    full = (stop - first >= 3) & (first >= 2) & (rise > 0) & (two <= 1.25 * after)
    share = np.where(full, (one + two - 2 * floor) / np.where(rise > 0, rise, 1.0), 1.0)
    share = np.clip(share, 0.0, 2.0)
    start = edge + width - share * width
    begins_before = (first >= 1) & (one > floor)
    earliest = np.where(full, start - WITHIN_BIN * width, edge - np.where(begins_before, width, 0.0))
    latest = np.where(full, start + WITHIN_BIN * width, edge + np.where(begins_before, 0.0, width))
    return np.where(full, start, edge), earliest, latest
