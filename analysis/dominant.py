"""The dominant frequency of a spectrum (FTIO, IPDPS'24, §II-B)."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from .confidence import line_confidence
from .harmonics import separate_harmonics
from .outliers import fewest_samples, is_near_largest, is_outlier, z_scores
from .spectrum import Spectrum


@dataclass(frozen=True, eq=False)
class DominantFrequency:
    """What the spectrum says about a period.

    Attributes
    ----------
    line : int or None
        Index k of the dominant frequency; None without one.
    candidates, harmonics : int64 arrays
        Indices of the candidates (eq. 3) that were kept, and of those dropped as harmonics.
    scores : float64 (N // 2,)
        z-scores of the lines 1 … N // 2 (eq. 2).
    confidence : float
        c_d; 0 without a dominant frequency.
    reason : str
        Why.
    """

    line: int | None
    candidates: NDArray[np.int64]
    harmonics: NDArray[np.int64]
    scores: NDArray[np.float64]
    confidence: float
    reason: str


def dominant_frequency(spectrum: Spectrum, tolerance: float = 0.8, threshold: float = 3.0) -> DominantFrequency:
    """Find the dominant frequency of a spectrum.

    Parameters
    ----------
    spectrum : Spectrum
        Of the sampled signal.
    tolerance : float
        Share of the largest z-score that a candidate reaches, in (0, 1].
    threshold : float
        z-score that a candidate reaches.

    Returns
    -------
    DominantFrequency
        With a line where one or two candidates are left after harmonics are dropped; of two, the one with the
        higher power (the lower one, if both are equal).
    """
    nothing = np.zeros(0, dtype=np.int64)
    if spectrum.samples < fewest_samples(threshold) or spectrum.flat:
        reason = (
            "The sampled signal is constant or a single burst: no frequency stands out."
            if spectrum.samples >= fewest_samples(threshold)
            else f"Too few samples ({spectrum.samples}): a frequency can reach a z-score of {threshold:g} only from "
            f"{fewest_samples(threshold)} samples on."
        )
        scores = np.zeros(spectrum.samples // 2)
        return DominantFrequency(None, nothing, nothing, scores, 0.0, reason)

    scores = z_scores(spectrum.power[1:])
    outliers = is_outlier(scores, threshold)
    found = np.flatnonzero(outliers & is_near_largest(scores, tolerance)) + 1
    kept, harmonics = separate_harmonics(found)
    if kept.size == 0:
        reason = f"No frequency is an outlier: the largest z-score is {scores.max():.3g}, below {threshold:g}."
        return DominantFrequency(None, kept, harmonics, scores, 0.0, reason)
    if kept.size > 2:
        reason = f"{kept.size} frequencies that are no harmonics of each other stand out alike: none is dominant."
        return DominantFrequency(None, kept, harmonics, scores, 0.0, reason)

    line = int(kept[np.argmax(spectrum.power[kept])])
    confidence = line_confidence(scores, line - 1, harmonics - 1, tolerance, threshold)
    if kept.size == 1:
        reason = "One frequency stands out of the spectrum"
    else:
        other = int(kept[kept != line][0]) * spectrum.resolution
        reason = f"Two frequencies stand out of the spectrum, this one more than {other:.4g} Hz"
    if harmonics.size:
        reason += f"; set aside as harmonics: {harmonics.size}"
    if line == 1:
        reason += "; its period is the window itself, in which it is seen once"
    reason += "."
    return DominantFrequency(line, kept, harmonics, scores, confidence, reason)
