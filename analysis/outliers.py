"""Lines that stand out of a power spectrum (FTIO, IPDPS'24, §II-B2)."""

import numpy as np
from numpy.typing import NDArray


def z_scores(power: NDArray[np.float64]) -> NDArray[np.float64]:
    """Say how many standard deviations each power is from the mean of all (eq. 2).

    Parameters
    ----------
    power : float64 (n,)
        Powers of the lines k >= 1.

    Returns
    -------
    float64 (n,)
        z-scores with the standard deviation of the whole population; zeros where all powers are equal.
    """
    largest = power.max(initial=0.0)
    if largest <= 0.0:
        return np.zeros(power.size)
    # Scaled to at most 1, so that no square underflows or overflows.
    scaled = power / largest
    deviation = scaled - scaled.mean()
    spread = float(np.sqrt(np.mean(deviation**2)))
    if spread == 0.0:
        return np.zeros(power.size)
    scores: NDArray[np.float64] = deviation / spread
    return scores


def is_outlier(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Mark I1 of §II-C: the lines whose z-score reaches ``threshold``."""
    return scores >= threshold


def is_near_largest(scores: NDArray[np.float64], tolerance: float) -> NDArray[np.bool_]:
    """Mark I2 of §II-C: the lines whose z-score is at least the share ``tolerance`` of the largest."""
    largest = scores.max(initial=0.0)
    if largest <= 0.0:
        return np.zeros(scores.size, dtype=np.bool_)
    near: NDArray[np.bool_] = scores / largest >= tolerance
    return near


def fewest_samples(threshold: float) -> int:
    """Count the samples below which no line can reach ``threshold``.

    Among n numbers the largest possible z-score is sqrt(n - 1), and N samples have N // 2 lines.
    """
    return 2 * int(np.ceil(threshold**2 + 1))
