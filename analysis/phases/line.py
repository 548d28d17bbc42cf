"""Spectral lines over coloured noise: the period of what recurs beneath irregular I/O, with no burst of its own."""

import numpy as np

from ...model.arrays import Floats
from .bins import FEWEST_BINS
from .bursts import ALIKE, FEWEST_BURSTS, MOST, MOST_PERIODS, busy_extent

FEWEST_CYCLES = 2 * FEWEST_BURSTS
"""Cycles of the slowest line: the background beside a slower one cannot be told."""
MOST_BINS, FINER = 8192, 16
"""Bins at most, and steps between two lines of the spectrum."""
BACKGROUND_WIDTH = 0.35
"""Half-width of the background's window, in the logarithm of the frequency."""


def spectral_line(times: Floats, cumulative: Floats, bin_width: float) -> tuple[float, float] | None:
    """Return the period in s whose harmonics stand out most over the noise beside them, and its p-value.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.
    bin_width : float
        In s, of the bins that the signal is made of; 0 where it is exact.

    Notes
    -----
    The periodogram of bin volumes (mean removed, Hann window, resolution × 16) is divided by its background,
    the median of the lines within ± 0.35 in ln f divided by ln 2. Under noise with a spectrum that is smooth over this
    range the ratio r has P(r > z) = (1 + z / m)^-m, m half the number of lines that the median is taken of, so that
    m ln(1 + r / m) is exponential, and the sum of k harmonics has a gamma law of shape k. The p-value is corrected for
    all frequencies and numbers of harmonics tried, from eight cycles in the signal to twice the length of a typical
    burst: the shape of bursts of one length has lobes in the spectrum. None where the signal is at rest for most of the
    time: what has no period in its bursts has none.
    """
    from scipy.special import gammaln

    low, high = busy_extent(times, cumulative)
    step = max((high - low) / MOST_BINS, bin_width)
    active = float(np.diff(times)[np.diff(cumulative) > 0].sum())
    if step <= 0 or active < MOST * (high - low):
        return None
    step = bin_width * np.ceil(step / bin_width) if bin_width > 0 else step
    n = int((high - low) / step * (1 + 1e-9))
    fastest = int(FINER * n * step / max(FEWEST_BINS * step, 2 * _typical_length(times, cumulative)))
    first = FINER * FEWEST_CYCLES
    if fastest < 2 * first:
        return None
    values = np.diff(np.interp(low + step * np.arange(n + 1), times, cumulative))
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(n + 2)[1:-1], FINER * n)) ** 2
    level = _levels(power, first)
    sums, best, log_p = np.zeros(fastest + 1 - first), first, 0.0
    for harmonic in range(1, MOST_PERIODS + 1):
        sums = sums[: max(min(power.size - 1, 3 * fastest) // harmonic + 1 - first, 0)]
        sums += level[harmonic * np.arange(first, first + sums.size)]
        top = float(sums.max(initial=0.0))
        # ln of the gamma law's upper tail, which itself may be too small a number.
        orders = np.arange(harmonic)
        chance = np.logaddexp.reduce(orders * np.log(max(top, 1e-9)) - gammaln(orders + 1)) - top
        if chance < log_p:
            best, log_p = first + int(np.argmax(sums)), float(chance)
    return FINER * n * step / best, float(np.exp(min(log_p + np.log(MOST_PERIODS * (fastest - first)), 0.0)))


def _levels(power: Floats, first: int) -> Floats:
    """Return -ln of the probability of each line from `first` on under the noise beside it, in blocks of a tenth."""
    found = np.zeros(power.size)
    start = first
    while start < power.size:
        stop = max(start + FINER, int((1 + ALIKE) * start))
        centre = np.sqrt(start * stop)
        beside = power[int(centre * np.exp(-BACKGROUND_WIDTH)) : int(centre * np.exp(BACKGROUND_WIDTH)) + 1]
        worth = max(beside.size / FINER / 2 - 1, 1.0)
        ratio = power[start:stop] * np.log(2.0) / max(float(np.median(beside)), 1e-300)
        found[start:stop] = worth * np.log1p(ratio / worth)
        start = stop
    return found


def _typical_length(times: Floats, cumulative: Floats) -> float:
    """Return the length in s of the activity over the mean rate in which the median byte moves."""
    above = np.diff(cumulative) > cumulative[-1] / (times[-1] - times[0]) * np.diff(times)
    change = np.flatnonzero(np.diff(np.concatenate(([0], above.view(np.int8), [0]))))
    lengths = times[change[1::2]] - times[change[::2]]
    order = np.argsort(lengths, kind="stable")
    moved = np.cumsum((cumulative[change[1::2]] - cumulative[change[::2]])[order])
    return float(lengths[order][np.searchsorted(moved, 0.5 * moved[-1])]) if moved.size else 0.0
