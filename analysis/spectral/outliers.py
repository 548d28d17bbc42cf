"""Outliers among the lines of a spectrum, and the criterion for them as a parameter."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...model.arrays import Floats, Mask
from ...model.errors import SelectionError
from ...model.quantities import is_number


def z_scores(power: Floats) -> Floats:
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
    scores: Floats = deviation / spread
    return scores


def is_outlier(scores: Floats, threshold: float) -> Mask:
    """Mark I1 of §II-C: the lines whose z-score reaches ``threshold``."""
    return scores >= threshold


def is_near_largest(scores: Floats, tolerance: float) -> Mask:
    """Mark I2 of §II-C: the lines whose z-score is at least the share ``tolerance`` of the largest."""
    largest = scores.max(initial=0.0)
    if largest <= 0.0:
        return np.zeros(scores.size, dtype=np.bool_)
    near: Mask = scores / largest >= tolerance
    return near


def fewest_samples(threshold: float) -> int:
    """Count the samples below which no line can reach ``threshold``.

    Among n numbers the largest possible z-score is sqrt(n - 1), and N samples have N // 2 lines.
    """
    return 2 * int(np.ceil(threshold**2 + 1))


@dataclass(frozen=True)
class OutlierCriterion:
    """A rule that picks the outliers I1 among the lines of a spectrum (FTIO, IPDPS'24, §II-B2 and §II-C).

    Only the rule differs between the methods of the paper. Whether an outlier is a candidate (eq. 3), how candidates
    are weighed and the confidence c_k are the same for all, on z-scores.

    Attributes
    ----------
    words : str
        What is compared with the threshold, for the reason of a verdict.
    marks : callable
        From the z-scores of the lines, float64 (n,) (eq. 2), and a threshold to bool (n,).
    fewest_samples : callable
        From a threshold to the number of samples below which no line can be distinguished from the others.
    threshold : float
        The default.
    limits : (float, float)
        Thresholds lie between these, both excluded.
    most_lines : int or None
        Number of lines, from the lowest frequency on, that are searched at most; None for all.
    """

    words: str
    marks: Callable[[Floats, float], Mask]
    fewest_samples: Callable[[float], int]
    threshold: float
    limits: tuple[float, float] = (0.0, np.inf)
    most_lines: int | None = None

    def limit(self, threshold: float | None) -> float:
        """Return a threshold, the default where it is None; raises SelectionError if it is out of the limits."""
        low, high = self.limits
        if threshold is None:
            return self.threshold
        if not (is_number(threshold) and low < threshold < high):
            upper = f" and below {high:g}" if high < float("inf") else ""
            raise SelectionError(f"threshold {threshold!r}: give a {self.words} above {low:g}{upper}")
        return threshold


Z_SCORE = OutlierCriterion("z-score", is_outlier, fewest_samples, threshold=3.0)
"""A line of three standard deviations above the mean of all (§II-B2)."""
