"""A spectral line over coloured noise: the period of an oscillation whose phases are lost in the noise."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Floats

FEWEST_CYCLES = 8
# Half-width of the background's window in ln f, and the fewest lines in it.
BACKGROUND_WIDTH = 0.35
FEWEST_LINES = 8
MOST_SAMPLES = 2**20


@dataclass(frozen=True)
class Line:
    """A line of the spectrum.

    Attributes
    ----------
    period : float
        In s.
    interval : (float, float)
        95 % confidence interval of the period, in s.
    p_value : float
        Against the noise around the line, corrected for the number of frequencies.
    """

    period: float
    interval: tuple[float, float]
    p_value: float


def strongest_line(values: Floats, fs: float) -> Line | None:
    """Return the line of a sampled signal that stands out most over the noise beside it.

    The periodogram of the samples (mean removed, Hann window) is divided by its background b(f), the median of the
    lines within ± 0.35 in ln f, divided by ln 2. Under noise with a spectrum that is smooth over this range the ratio r
    has P(r > z) = (1 + z / m)^-m, m half the number of lines that the median is taken of, as a median is worth about
    half as many lines as a mean. That is corrected for the number of frequencies searched, from eight cycles in the
    window to the Nyquist frequency. The period is refined by a parabola through the logarithms of a line and its
    neighbours in a spectrum of four times the resolution; its standard error is √6 / (π T √r) in frequency (Rife and
    Boorstyn 1974), T the window.

    Parameters
    ----------
    values : float64 (n,)
        Samples.
    fs : float
        Sampling frequency in Hz.

    Returns
    -------
    Line or None
        None where there are fewer than eight cycles to be seen, nothing varies, or over 2^20 samples.
    """
    from scipy.fft import next_fast_len, rfft

    n = values.size
    if not 4 * FEWEST_CYCLES <= n <= MOST_SAMPLES:
        return None
    windowed = (values - values.mean()) * np.hanning(n + 2)[1:-1]
    power = np.abs(rfft(windowed)) ** 2
    lines = np.arange(FEWEST_CYCLES, power.size - 1)
    if lines.size < 2 * FEWEST_LINES or not float(power[lines].max()) > 1e-20 * float(np.sum(values * values)) * n:
        return None
    background, worth = _background(power)
    ratio = power[lines] / np.maximum(background[lines], 1e-300)
    single = np.exp(-worth[lines] * np.log1p(ratio / worth[lines]))
    best = int(np.argmin(single))
    line = int(lines[best])
    # A line beside the largest can stand out more where its background is taken to be lower.
    line += int(np.argmax(power[line - 2 : line + 3])) - 2
    p_value = min(1.0, float(single[best]) * lines.size)
    length = next_fast_len(4 * n, real=True)
    fine = np.abs(rfft(windowed, length)) ** 2
    near = np.arange(max(int((line - 1) * length / n), 1), min(int((line + 1) * length / n) + 2, fine.size - 1))
    top = int(near[np.argmax(fine[near])])
    left, middle, right = np.log(np.maximum(fine[top - 1 : top + 2], 1e-300))
    curve = left - 2 * middle + right
    shift = 0.5 * (left - right) / curve if curve < 0 else 0.0
    frequency = (top + float(np.clip(shift, -1, 1))) * fs / length
    error = 1.96 * float(np.sqrt(6.0 / ratio[best])) / (np.pi * n / fs)
    return Line(1 / frequency, (1 / (frequency + error), 1 / max(frequency - error, frequency / 2)), p_value)


def _background(power: Floats) -> tuple[Floats, Floats]:
    """Return the background of each line, and how many lines it is worth; in octave-like blocks, so linear."""
    size = power.size
    background = np.full(size, np.inf)
    worth = np.ones(size)
    start = FEWEST_CYCLES
    while start < size:
        # Lines from start to stop share one background; the range is short in ln f beside the window.
        stop = max(start + 1, int(start * 1.1))
        centre = np.sqrt(start * (stop - 1))
        low = max(int(centre * np.exp(-BACKGROUND_WIDTH)), 2)
        high = min(int(centre * np.exp(BACKGROUND_WIDTH)) + 1, size)
        if high - low < FEWEST_LINES:
            low = max(2, min(low, int(centre) - FEWEST_LINES // 2))
            high = min(size, low + FEWEST_LINES)
        # A median sees a line and its window's side lobes as a few entries of many.
        background[start:stop] = np.median(power[low:high]) / np.log(2.0)
        worth[start:stop] = max((high - low) / 2.0 - 1.0, 1.0)
        start = stop
    return background, worth
