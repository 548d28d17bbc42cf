"""Coherence and phase lag of two signals at one frequency."""

from dataclasses import dataclass
from math import atan2, floor, pi
from typing import Final

import numpy as np

from ...model.arrays import Complexes, Floats
from ...signals.construction import StepSignal

SAMPLES_PER_PERIOD: Final = 32
PERIODS_PER_SEGMENT: Final = 2
FEWEST_SEGMENTS: Final = 3
MOST_BINS: Final = 2**20


@dataclass(frozen=True)
class Coherence:
    """How two signals go together at one frequency.

    Attributes
    ----------
    coherence : float or None
        Magnitude-squared coherence in [0, 1]: 1 where amplitude ratio and phase are the same in all segments. None
        with fewer than three segments, which show nothing, and where a signal has nothing there.
    lag : float or None
        By how much the second signal follows the first, in s, within half a period of 0; None as above.
    segments : int
        Segments of two periods, overlapping by half.
    first_modulation, second_modulation : float
        Amplitude at the frequency over the mean, for the whole window: 0 is flat, 2 all volume in instants.
    """

    coherence: float | None
    lag: float | None
    segments: int
    first_modulation: float
    second_modulation: float


def coherence_at(first: StepSignal, second: StepSignal, period: float) -> Coherence:
    """Return the coherence of two signals over the same window at the frequency 1/`period`.

    The signals are averaged over bins of 1/32 period and cut into segments of two periods under Hann's window, each
    next one a period later; the cross-spectrum and the two power spectra are averages over them.

    Parameters
    ----------
    first, second : StepSignal
        With the same window.
    period : float
        In s.

    References
    ----------
    P. D. Welch, *The use of fast Fourier transform for the estimation of power spectra*, IEEE Trans. Audio
    Electroacoust. 15, 1967; G. C. Carter, *Coherence and time delay estimation*, Proc. IEEE 75, 1987.
    """
    duration = first.duration
    per_period = SAMPLES_PER_PERIOD
    if duration / period * per_period > MOST_BINS:
        per_period = max(8, floor(MOST_BINS * period / duration))
    fs = per_period / period
    x, y = (signal.sample(fs).values for signal in (first, second))
    modulations = [_modulation(values, per_period) for values in (x, y)]
    length = PERIODS_PER_SEGMENT * per_period
    segments = max(0, (len(x) - length) // per_period + 1)
    if segments < FEWEST_SEGMENTS:
        return Coherence(None, None, segments, *modulations)
    cross, power_x, power_y = _spectra(x, y, per_period, length, segments)
    if power_x <= 0 or power_y <= 0:
        return Coherence(None, None, segments, *modulations)
    strength = abs(cross) ** 2 / (power_x * power_y)
    phase = atan2(cross.imag, cross.real)
    return Coherence(min(1.0, strength), -phase / (2 * pi) * period, segments, *modulations)


def _spectra(x: Floats, y: Floats, per_period: int, length: int, segments: int) -> tuple[complex, float, float]:
    """Return the averages of conj(X)·Y, |X|² and |Y|² over the segments at one cycle in `per_period` bins."""
    place = np.arange(length)
    taper = 0.5 - 0.5 * np.cos(2 * pi * (place + 0.5) / length)
    wave = taper * np.exp(-2j * pi * place / per_period)
    starts = np.arange(segments) * per_period

    def transform(values: Floats) -> Complexes:
        parts = np.lib.stride_tricks.sliding_window_view(values, length)[starts]
        level = (parts @ taper) / taper.sum()
        return np.asarray(parts @ wave - level * wave.sum(), np.complex128)

    # Scaled so that bytes per second squared stay within float64.
    scale_x, scale_y = (float(np.abs(values).max()) or 1.0 for values in (x, y))
    spectrum_x, spectrum_y = transform(x / scale_x), transform(y / scale_y)
    cross = complex((np.conj(spectrum_x) * spectrum_y).mean())
    tiny = (1e-12 * length) ** 2
    power = [float((np.abs(spectrum) ** 2).mean()) for spectrum in (spectrum_x, spectrum_y)]
    return cross, power[0] if power[0] > tiny else 0.0, power[1] if power[1] > tiny else 0.0


def _modulation(values: Floats, per_period: int) -> float:
    """Return the amplitude at one cycle in `per_period` bins over the mean, over whole periods."""
    whole = len(values) // per_period * per_period
    total = float(values[:whole].sum())
    if total <= 0:
        return 0.0
    wave = np.exp(-2j * pi * np.arange(whole) / per_period)
    return float(2 * abs(values[:whole] @ wave) / total)
