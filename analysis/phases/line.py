"""A spectral line over coloured noise: the period of an oscillation whose single phases are lost in noise."""

import numpy as np
import numpy.typing as npt

from .bursts import busy_extent

Floats = npt.NDArray[np.float64]

FEWEST_CYCLES = 8
"""Cycles of the slowest line: the background beside a slower one cannot be told."""
MOST_BINS = 8192
"""Bins of a signal that is none of samples."""
FINER, HARMONICS = 4, 6
"""Steps between two lines of the spectrum, and the highest harmonic that a line is taken for."""
MULTIPLE_LEVEL = 0.002
"""Probability of the other harmonics under noise, at which a line is one of them."""
DENSE = 0.5
"""Share of the busy time with activity from which on bursts may be lost in noise."""
BACKGROUND_WIDTH = 0.35
"""Half-width of the background's window, in the logarithm of the frequency."""


def spectral_line(times: Floats, cumulative: Floats, width: float, fewest_bins: int) -> tuple[float, float] | None:
    """Return the period in s whose lines stand out most over the noise beside them, and its p-value.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.
    width : float
        In s, of the bins that the signal is made of; 0 where it is exact, which is then put into 8192.
    fewest_bins : int
        Bins of the shortest period.

    Notes
    -----
    The periodogram of bin volumes (mean removed, Hann window, four times the resolution) is divided by its background,
    the median of the lines within ± 0.35 in ln f divided by ln 2. Under noise with a spectrum that is smooth over this
    range the ratio r has P(r > z) = (1 + z / m)^-m, m half the number of lines that the median is taken of, so that
    m ln(1 + r / m) is exponential, and a sum of those has a gamma law. The p-value is corrected for the number of
    frequencies searched, from eight cycles in the signal to twice the length of a typical burst: the shape of bursts of
    one length has lobes in the spectrum. None where the signal is at rest for most of the time: what has no period in
    its bursts has none.
    """
    from scipy.special import gammaincc

    low, high = busy_extent(times, cumulative)
    step = width * max(1, round((high - low) / MOST_BINS / width)) if width > 0 else (high - low) / MOST_BINS
    n = int((high - low) / step * (1 + 1e-9)) if step > 0 else 0
    active = float(np.diff(times)[np.diff(cumulative) > 0].sum())
    if n < 4 * FEWEST_CYCLES or active < DENSE * (high - low):
        return None
    values = np.diff(np.interp(low + step * np.arange(n + 1), times, cumulative))
    shortest = max(fewest_bins * step, 2 * _typical_length(times, cumulative))
    fastest = min(int(n * step / shortest), n // 2 - 1)
    if fastest < 2 * FEWEST_CYCLES:
        return None
    power = np.abs(np.fft.rfft((values - values.mean()) * np.hanning(n + 2)[1:-1], FINER * n)) ** 2
    rows = np.arange(FINER * FEWEST_CYCLES, FINER * fastest + 1)
    level = np.zeros(power.size)
    level[rows[0] :] = _levels(power, rows[0])
    single = level[rows]
    top = int(rows[np.argmax(single)])
    p_value = float(np.exp(-single.max())) * (fastest - FEWEST_CYCLES)
    # Where it is the m-th harmonic of a period, the others are there as well.
    best, parts = MULTIPLE_LEVEL, 1
    for m in range(2, HARMONICS + 1):
        others = np.array([h for h in range(1, 2 * m) if h % m])
        at = np.rint(others * top / m).astype(np.int64)
        at = at[(at >= rows[0]) & (at < power.size)]
        chance = float(gammaincc(at.size, level[at].sum())) if at.size else 1.0
        if chance < best:
            best, parts = chance, m
    return FINER * n * step / top * parts, min(1.0, p_value)


def _levels(power: Floats, first: int) -> Floats:
    """Return -ln of the probability of each line from `first` on under the noise beside it, in blocks of a tenth."""
    found = np.zeros(power.size - first)
    start = first
    while start < power.size:
        stop = max(start + FINER, int(1.1 * start))
        centre = np.sqrt(start * stop)
        beside = power[int(centre * np.exp(-BACKGROUND_WIDTH)) : int(centre * np.exp(BACKGROUND_WIDTH)) + 1]
        worth = max(beside.size / FINER / 2 - 1, 1.0)
        ratio = power[start:stop] * np.log(2.0) / max(float(np.median(beside)), 1e-300)
        found[start - first : stop - first] = worth * np.log1p(ratio / worth)
        start = stop
    return found


def _typical_length(times: Floats, cumulative: Floats) -> float:
    """Return the length in s of the activity over the mean rate in which the median byte moves."""
    mean = cumulative[-1] / (times[-1] - times[0])
    above = np.diff(cumulative) > mean * np.diff(times)
    change = np.flatnonzero(np.diff(np.concatenate(([0], above.view(np.int8), [0]))))
    lengths = times[change[1::2]] - times[change[::2]]
    volumes = cumulative[change[1::2]] - cumulative[change[::2]]
    if lengths.size == 0:
        return 0.0
    order = np.argsort(lengths, kind="stable")
    moved = np.cumsum(volumes[order])
    return float(lengths[order][np.searchsorted(moved, 0.5 * moved[-1])])
