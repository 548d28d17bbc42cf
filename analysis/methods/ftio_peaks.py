"""FTIO with peaks of the spectrum as outliers (Tarraf et al., IPDPS'24, §II-B2: ``find_peaks``)."""

import numpy as np
from numpy.typing import NDArray

from ..autocorrelation import find_peaks
from ..criterion import OutlierCriterion
from ..outliers import fewest_samples
from ..spectral_method import SpectralMethod


def is_peak(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Mark lines stronger than both beside them, and of a z-score of at least ``threshold``.

    Notes
    -----
    The paper names the algorithm, not the height. With the height of the z-score's own method this one differs from
    it by what a peak is: a frequency between two lines lifts both, and only one of them counts. The first line is no
    peak, so the window itself is never a period. Beyond the last line the spectrum is its own mirror image, so that
    line is one where it is stronger than the line before.
    """
    marked = np.zeros(scores.size, dtype=np.bool_)
    marked[find_peaks(np.append(scores, -np.inf), threshold)] = True
    return marked


detect_peaks = SpectralMethod("ftio-peaks", OutlierCriterion("peak z-score", is_peak, fewest_samples, threshold=3.0))
