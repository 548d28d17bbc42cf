"""What makes a line of a spectrum an outlier, as a parameter of the search for a dominant frequency."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .outliers import fewest_samples, is_outlier


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
        From a threshold to the number of samples below which no line can be told from the others.
    threshold : float
        The default.
    limits : (float, float)
        Thresholds lie between these, both excluded.
    most_lines : int or None
        Number of lines, from the lowest frequency on, that are searched at most; None for all.
    """

    words: str
    marks: Callable[[NDArray[np.float64], float], NDArray[np.bool_]]
    fewest_samples: Callable[[float], int]
    threshold: float
    limits: tuple[float, float] = (0.0, np.inf)
    most_lines: int | None = None


Z_SCORE = OutlierCriterion("z-score", is_outlier, fewest_samples, threshold=3.0)
"""A line of three standard deviations above the mean of all (§II-B2)."""
