"""Confidence in a line of a power spectrum, and its refinement by the autocorrelation (FTIO, IPDPS'24, §II-C)."""

import numpy as np
from numpy.typing import NDArray

from .outliers import is_near_largest


def line_confidence(
    scores: NDArray[np.float64],
    outlier: NDArray[np.bool_],
    position: int,
    harmonics: NDArray[np.int64],
    tolerance: float,
) -> float:
    """Give c_k, the confidence that a line is the dominant frequency.

    c_k is the mean of two shares of z_k: in the z-scores of all outliers (I1), and in those of all lines near the
    largest (I2). Candidates dropped as harmonics count in neither sum, which is how the example of the paper rises
    from 60.5 % to 62.5 % when the second line is recognised as a harmonic.

    Parameters
    ----------
    scores : float64 (n,)
        z-scores of the lines.
    outlier : bool (n,)
        I1: the lines that are outliers, all of a z-score above 0.
    position : int
        Position in ``scores`` of the line asked for; it must belong to I1 and I2.
    harmonics : int64 (h,)
        Positions in ``scores`` of the candidates dropped as harmonics.
    tolerance : float
        Bound of I2.

    Returns
    -------
    float
        In (0, 1].
    """
    counted = np.ones(scores.size, dtype=np.bool_)
    counted[harmonics] = False
    score = float(scores[position])
    outliers = float(scores[counted & outlier].sum())
    near = float(scores[counted & is_near_largest(scores, tolerance)].sum())
    return 0.5 * (score / outliers + score / near)


def coefficient_of_variation(values: NDArray[np.float64]) -> float:
    """Give the population's standard deviation over its mean (values > 0)."""
    return float(values.std() / values.mean())


def similarity(period: float, candidates: NDArray[np.float64]) -> float:
    """Give c_s: how far a period from the spectrum agrees with those from the autocorrelation.

    Parameters
    ----------
    period : float
        Period from the spectrum, in s.
    candidates : float64 (n,)
        Periods from the autocorrelation, in s; n >= 1.

    Returns
    -------
    float
        1 minus the coefficient of variation of all n + 1 periods together, clipped to [0, 1]. This reading gives
        the numbers of the paper's examples: 97.6 % for IOR (111.67 s against five candidates around 104.8 s) and
        the refined 84.9 % for LAMMPS (25.73 s against one of 25.6 s).
    """
    return float(np.clip(1.0 - coefficient_of_variation(np.append(candidates, period)), 0.0, 1.0))


def refined_confidence(spectral: float, autocorrelation: float, agreement: float) -> float:
    """Average c_d, c_a and c_s."""
    return (spectral + autocorrelation + agreement) / 3.0
