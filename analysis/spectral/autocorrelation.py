"""The autocorrelation of a sampled signal and the period of its peaks (FTIO, IPDPS'24, §II-C)."""

import numpy as np

from ...model.arrays import Floats, Frozen, Ints, Mask
from .dominant import coefficient_of_variation

PEAK_HEIGHT = 0.15
"""Lowest correlation of a peak that counts, as in the paper."""


class AutocorrelationPeriod(Frozen):
    """The period that the peaks of an autocorrelation show.

    Attributes
    ----------
    period : float
        Mean of the candidates that were kept, in s.
    candidates : float64 (n,)
        Distances of consecutive peaks that were kept, in s; n >= 1.
    dropped : int
        Number of distances dropped as outliers.
    confidence : float
        c_a: 1 minus the coefficient of variation of the candidates, in [0, 1].
    """

    period: float
    candidates: Floats
    dropped: int
    confidence: float


def autocorrelation(samples: Floats) -> Floats:
    """Correlate a signal with itself at every lag.

    Parameters
    ----------
    samples : float64 (N,)
        The signal; its mean is taken off.

    Returns
    -------
    float64 (N,)
        Linear (not circular) autocorrelation at the lags 0 … N - 1, 1 at lag 0; zeros for a constant signal.

    Notes
    -----
    By the Fourier transform, padded with zeros to twice the length: O(N log N).
    """
    count = samples.size
    if count == 0:
        return np.zeros(0)
    deviation = samples - samples.mean()
    # A mean over a bin is a difference of two sums over all before it: its rounding grows with their number.
    if np.ptp(samples) <= np.finfo(np.float64).resolution * count * np.abs(samples).max():
        return np.zeros(count)
    # Scaled to at most 1, so that no square overflows.
    deviation /= np.abs(deviation).max()
    padded = 1 << (2 * count - 1).bit_length()
    transform = np.fft.rfft(deviation, padded)
    power = transform.real**2 + transform.imag**2
    correlation: Floats = np.fft.irfft(power, padded)[:count]
    correlation /= correlation[0]
    return correlation


def find_peaks(values: Floats, height: float) -> Ints:
    """Find local maxima of at least ``height``.

    Parameters
    ----------
    values : float64 (n,)
        A curve.
    height : float
        Lowest value of a peak that counts.

    Returns
    -------
    int64 (p,)
        Indices of the maxima, ascending; the middle one (rounded down) of a level top. Ends are no maxima.

    Notes
    -----
    The same peaks as those of SciPy's function of this name, whose module takes longer to import than this to run.
    """
    if values.size < 3:
        return np.zeros(0, dtype=np.int64)
    starts = np.concatenate(([0], np.flatnonzero(np.diff(values) != 0.0) + 1))
    ends = np.append(starts[1:], values.size) - 1
    levels = values[starts]
    inner = np.zeros(levels.size, dtype=np.bool_)
    falls = np.signbit(np.diff(levels))
    inner[1:-1] = ~falls[:-1] & falls[1:]
    top = inner & (levels >= height)
    middle: Ints = (starts[top] + ends[top]) // 2
    return middle


def weighted_outliers(values: Floats, weights: Floats) -> Mask:
    """Mark values further from their weighted mean than one weighted standard deviation.

    Parameters
    ----------
    values, weights : float64 (n,)
        Numbers and their positive weights.

    Returns
    -------
    bool (n,)
        True for outliers; never for all values.

    Notes
    -----
    The paper does not name the bound. It drops 12 of 17 values, and by Chebyshev's inequality a bound of s standard
    deviations drops at most a share 1 / s² of the weight, so the bound was near one.
    """
    mean = np.average(values, weights=weights)
    deviation = np.abs(values - mean)
    spread = np.sqrt(np.average(deviation**2, weights=weights))
    beyond: Mask = deviation > spread * (1 + 1e-9)
    return beyond


def autocorrelation_period(samples: Floats, fs: float, height: float = PEAK_HEIGHT) -> AutocorrelationPeriod | None:
    """Find the period of a signal from the peaks of its autocorrelation.

    Parameters
    ----------
    samples : float64 (N,)
        The signal at equal distances.
    fs : float
        Sampling frequency in Hz.
    height : float
        Lowest correlation of a peak that counts.

    Returns
    -------
    AutocorrelationPeriod or None
        None where the autocorrelation has no peak.

    Notes
    -----
    Lag 0 counts as the first peak: there the correlation is 1 by definition, and the paper draws a period from "only
    a single peak" (LAMMPS), which needs it. A distance weighs as much as the correlation at the peak that ends it.
    """
    correlation = autocorrelation(samples)
    peaks = find_peaks(correlation, height)
    if peaks.size == 0:
        return None
    distances = np.diff(peaks, prepend=0) / fs
    outlier = weighted_outliers(distances, correlation[peaks])
    kept = distances[~outlier]
    return AutocorrelationPeriod(
        period=float(kept.mean()),
        candidates=kept,
        dropped=int(outlier.sum()),
        confidence=float(np.clip(1.0 - coefficient_of_variation(kept), 0.0, 1.0)),
    )
