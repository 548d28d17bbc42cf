"""Spectral lines over coloured noise: the period of what recurs beneath irregular I/O, with no burst of its own."""

import math

import numpy as np

from ...model.arrays import Floats, differences, median
from .bins import FEWEST_BINS
from .bursts import ALIKE, FEWEST_BURSTS, MOST_PERIODS, NEARLY, clipped, extent, few_bursts

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
    The square roots of bin volumes, in which a few giant bursts do not drown all others, have a periodogram (mean
    removed, sine window, resolution × 16). It is divided by its background, the median of the lines within ± 0.35 in
    ln f divided by ln 2. Under noise with a spectrum that is smooth over this range the ratio r has
    P(r > z) = (1 + z / m)^-m, m half the number of lines that the median is taken of, so that m ln(1 + r / m) is
    exponential, and the mean x > 1 of k of them is exceeded with a probability of at most (x e^(1 - x))^k (Chernoff
    1952). All periods are as likely beforehand on a logarithmic axis, from four cycles in the signal to half again the
    length of a typical burst: line number f, of k harmonics, has a share 1 / (k f ln(fastest / slowest)) of the false
    alarms. That the bound is some twenty times too large makes up for numbers of harmonics and steps between lines.
    Frequencies end at three times the fastest, as the shape of bursts of one length has lobes in the spectrum. None
    where the signal is at rest, or at its lowest rate, for most of the time: what has no period in its bursts has none.
    """
    low, high = extent(times, cumulative)
    times, cumulative = clipped(times, cumulative, low, high)
    own = few_bursts(times, cumulative)
    steps, volumes = np.diff(np.stack((times, cumulative))[:, np.append(True, differences(times) > 0)])
    if steps[volumes > 0].sum() <= 0.5 * (high - low):
        return None
    # A constant floor, or rate, is no activity: at most so much moves in a quarter of the time.
    order = np.argsort(volumes / steps)
    floor = (volumes / steps)[order][np.searchsorted(np.cumsum(steps[order]), 0.25 * (high - low))]
    active = float(steps[volumes > (1 + ALIKE**2) * floor * steps].sum())
    if not len(own) or active <= 0.5 * (high - low):
        return None
    own = own[np.argsort(own.end - own.start)]
    # The median byte moves in a burst of this length.
    typical = float((own.end - own.start)[np.searchsorted(np.cumsum(own.volume), 0.5 * own.volume.sum())])
    step = (high - low) / MOST_BINS
    step = bin_width * math.ceil(step / bin_width) if bin_width > 0 else step
    n = int((high - low) / step * (1 + 1e-9))
    roots = np.sqrt(np.maximum(differences(np.interp(low + step * np.arange(n + 1), times, cumulative)), 0.0))
    # Of what comes twice, as of two runs, every other line of the spectrum is empty, and all others stand out.
    products = np.fft.irfft(np.abs(np.fft.rfft(roots - roots.mean(), 2 * n)) ** 2)
    again = n // 2 + int(np.argmax(products[n // 2 : 2 * n // 3 + 1]))
    if n > FINER and np.corrcoef(roots[again:], roots[:-again])[0, 1] > NEARLY:
        n, roots = again, roots[:again]
    slowest, fastest = FINER * FEWEST_BURSTS, int(FINER * n * step / max(FEWEST_BINS * step, 1.5 * typical))
    if fastest < 2 * slowest:
        return None
    window = np.sin(np.pi * (np.arange(n) + 0.5) / n)
    power = np.abs(np.fft.rfft((roots - roots.mean()) * window, FINER * n)) ** 2
    level = np.append(_levels(power[: 3 * fastest], slowest), 0.0)
    lines, harmonics = np.arange(slowest, fastest + 1), np.arange(1, MOST_PERIODS + 1)[:, np.newaxis]
    mean = np.maximum(np.cumsum(level[np.minimum(harmonics * lines, level.size - 1)], axis=0) / harmonics, 1.0)
    log_p = np.min(harmonics * (1 + np.log(mean) - mean) + np.log(harmonics * lines / FINER), axis=0)
    best = int(np.argmin(log_p))
    log_p += math.log(math.log(fastest / slowest))
    return FINER * n * step / float(lines[best]), math.exp(min(float(log_p[best]), 0.0))


def _levels(power: Floats, first: int) -> Floats:
    """Return -ln of the probability of each line under the noise beside it, whose level is taken each tenth in ln f."""
    centres = np.exp(np.arange(math.log(first), math.log(power.size), ALIKE))
    low, high = (centres * math.exp(sign * BACKGROUND_WIDTH) for sign in (-1, 1))
    beside = [median(power[int(one) : int(other) + 1]) for one, other in zip(low, high, strict=True)]
    rows = np.arange(power.size)
    ratio = power * math.log(2) / np.interp(rows, centres, np.maximum(beside, 1e-300))
    worth = np.maximum(math.sinh(BACKGROUND_WIDTH) * rows / FINER - 1, 1.0)
    return np.asarray(worth * np.log1p(ratio / worth))
