"""The approximation of a sampled signal by the discrete wavelet transform (Frontiers'25, §5.2)."""

from typing import Any

import numpy as np

from ...model.arrays import Floats
from ...model.errors import SelectionError, import_library

EXTENSION = "symmetric"
"""How the signal goes on beyond its ends: mirrored, so that an end makes no jump."""


def discrete_wavelet(name: str) -> Any:
    """Look a discrete wavelet up by its name in PyWavelets.

    Raises SelectionError if there is none of this name, or PyWavelets is not installed.
    """
    pywt = import_library("pywt")
    if not isinstance(name, str) or name not in pywt.wavelist(kind="discrete"):
        families = ", ".join(pywt.families(short=True)[:7])
        raise SelectionError(f"unknown discrete wavelet {name!r}: take one of PyWavelets, of the families {families}")
    return pywt.Wavelet(name)


def largest_level(samples: int, wavelet: str = "db1") -> int:
    """Return the deepest decomposition in which a coefficient is not made of extended samples only."""
    return int(import_library("pywt").dwt_max_level(samples, discrete_wavelet(wavelet).dec_len))


def decomposition_level(
    period: float, fs: float, samples: int, wavelet: str = "db1", bands_per_period: float = 8.0
) -> int:
    """Choose the level whose approximation still shows a period.

    The approximation of level j holds the frequencies up to fs / 2^(j + 1) (§5.2). It is to reach
    ``bands_per_period / 2`` times the frequency of the period, so that there are at least ``bands_per_period``
    coefficients for each period: j = ⌊log2(period · fs / bands_per_period)⌋.

    Parameters
    ----------
    period : float
        In s.
    fs : float
        Sampling frequency in Hz.
    samples : int
        Number of samples, which bounds the level.
    wavelet : str
        Discrete wavelet.
    bands_per_period : float
        Coefficients for a period, at least 2 (Nyquist).

    Returns
    -------
    int
        At least 0, where the approximation is the signal itself.

    Notes
    -----
    The level depends on the period in samples, not in seconds: the same run sampled twice as fast takes one level
    more. The paper sets it by hand, to 2 (caption of Fig. 3) or 3 (§6.3) for 18 s at 1 Hz; here it is 1, which
    loses no more of the periods than 2 and places their intervals better (benchmarks/accuracy/papers).
    """
    cycle = period * fs
    if not (np.isfinite(cycle) and cycle > 0):
        raise SelectionError(f"no decomposition level for a period of {period!r} s at {fs!r} Hz: give positive numbers")
    if not bands_per_period >= 2:
        raise SelectionError(f"bands_per_period {bands_per_period!r}: a period needs at least two")
    if cycle < 2 * bands_per_period:
        return 0
    return min(int(np.floor(np.log2(cycle / bands_per_period) + 1e-9)), largest_level(samples, wavelet))


def approximation(samples: Floats, level: int, wavelet: str = "db1") -> Floats:
    """Return the approximation of a signal at its own sampling: what is left when all details are zero.

    Raises SelectionError if the wavelet does not exist, the level is out of range, or PyWavelets is not installed.

    Parameters
    ----------
    samples : float64 (n,)
        The signal at equal distances.
    level : int
        Number of decompositions, from 0 to `largest_level`.
    wavelet : str
        Discrete wavelet of PyWavelets; "db1" is Haar's, whose approximation is the means of 2^level samples.

    Returns
    -------
    float64 (n,)
        Aligned with the signal, in its unit: a smooth signal is its own approximation, without delay or gain.

    Notes
    -----
    Details are zeros and not left out: their lengths give the inverse transform the length of each level on the way
    down. Without them the approximation would be delayed for all wavelets but Haar's. O(n).
    """
    if level == 0:
        return samples.astype(np.float64)
    deepest = largest_level(samples.size, wavelet)
    if isinstance(level, bool) or not isinstance(level, int | np.integer) or not 0 <= level <= deepest:
        raise SelectionError(
            f"decomposition level {level!r}: {samples.size} samples and wavelet {wavelet!r} allow 0 to {deepest}"
        )
    pywt = import_library("pywt")
    kernel = discrete_wavelet(wavelet)
    coarse, *details = pywt.wavedec(samples.astype(np.float64), kernel, EXTENSION, level)
    whole = pywt.waverec([coarse, *map(np.zeros_like, details)], kernel, EXTENSION)
    result: Floats = whole[: samples.size]
    return result
