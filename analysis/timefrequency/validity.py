"""When a period holds: the sliding correlation of a signal with the period's cosine (Frontiers'25, §5.3)."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ...model.arrays import Complexes, Floats, Frozen, Mask
from ...model.errors import SelectionError
from ...model.kernels import compiled


class SlidingFit(Frozen):
    """How one signal follows another in every window, arrays of (n - m + 1,); 0 where one of them is constant.

    Attributes
    ----------
    correlation : complex128
        Pearson's: Σ (x - x̄) (y - ȳ) / √(Σ (x - x̄)² Σ |y - ȳ|²), of magnitude up to 1.
    slope : complex128
        Σ (x - x̄) (y - ȳ) / Σ |y - ȳ|²: the least-squares factor by which x follows y, in the units of x and y.
    """

    correlation: Complexes
    slope: Complexes


def sliding_fit(x: Floats, y: NDArray[Any], window: int) -> SlidingFit:
    """Fit a signal by another one in every window of consecutive samples.

    Raises SelectionError if the signals differ in length, are not finite, or the window has no place in them.

    Parameters
    ----------
    x : float64 (n,)
        A signal.
    y : complex128 or float64 (n,)
        Another one; a complex one correlates with its real and its imaginary part at once.
    window : int
        Samples m in a window, 2 to n.

    Notes
    -----
    The signals are cut into blocks of m samples, so that a window is the end of one block and the beginning of the
    next. The sums of the two parts are of values from which the block's mean is taken; the parts are joined by the
    formula for the moments of a union (Chan, Golub, LeVeque 1983). Nothing outside the two blocks enters, unlike with
    the difference of cumulative sums over the whole signal, where a large burst costs the digits of all that comes
    after. O(n) time and memory.
    """
    a, b = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.complex128)
    if a.ndim != 1 or a.shape != b.shape or not (np.isfinite(a).all() and np.isfinite(b).all()):
        raise SelectionError(
            f"a correlation needs two rows of finite samples alike, not of shapes {a.shape}, {b.shape}"
        )
    n, m = a.size, int(window)
    if not 2 <= m <= n:
        raise SelectionError(f"a window of {window!r} samples in a signal of {n}: give 2 up to that")
    # Scaled, so that no square overflows or vanishes.
    scale_x, scale_y = _scale(a), _scale(b)
    one, two = _blocks(a / scale_x, m), _blocks(b / scale_y, m)
    centre_x, centre_y = one.mean(axis=1), two.mean(axis=1)
    one, two = one - centre_x[:, None], two - centre_y[:, None]
    noise_x = _rounding(one**2, centre_x)
    noise_y = _rounding(two.real**2 + two.imag**2, centre_y)
    correlation, slope = _fit_windows(one, two, centre_x, centre_y, noise_x, noise_y, n - m + 1)
    correlation /= np.maximum(np.abs(correlation), 1.0)
    return SlidingFit(correlation, slope * (scale_x / scale_y))


def _scale(values: NDArray[Any]) -> float:
    # Powers of two, so that scaling rounds nothing.
    largest = float(np.abs(values).max())
    return 2.0 ** math.frexp(largest)[1] if largest > 0 else 1.0


def _blocks(values: NDArray[Any], m: int) -> NDArray[Any]:
    """Cut into rows of ``m``; the last row is filled with its last sample, which is in no window."""
    blocks = -(-values.size // m)
    filled = np.concatenate((values, np.full(blocks * m - values.size, values[-1])))
    return filled.reshape(blocks, m)


def _rounding(squares: Floats, centre: NDArray[Any]) -> Floats:
    """Bound what rounding leaves, for each sample, of a variance of zero in each block and the one after it."""
    eps = np.finfo(np.float64).eps
    scaled = 4 * eps**0.5 * centre
    bound = 16 * eps * (squares.max(axis=1) + (scaled.real**2 + scaled.imag**2) * eps)
    return np.asarray(np.maximum(bound, np.append(bound[1:], bound[-1])))


@compiled
def _fit_windows(
    x: Floats, y: Complexes, centre_x: Floats, centre_y: Complexes, noise_x: Floats, noise_y: Floats, windows: int
) -> tuple[Complexes, Complexes]:
    """Return correlation and slope of the first `windows` windows, complex128.

    `x` and `y` (blocks, m) are deviations from the blocks' means, `centre_x` and `centre_y`; `noise_x` and `noise_y`
    what rounding leaves, for each sample, of a variance of zero in the windows that begin in each block.
    """
    m = x.shape[1]
    correlation = np.zeros(windows, np.complex128)
    slope = np.zeros(windows, np.complex128)
    tail_x, tail_y = np.empty(m), np.empty(m, np.complex128)
    tail_xx, tail_yy, tail_xy = np.empty(m), np.empty(m), np.empty(m, np.complex128)
    for block in range((windows - 1) // m + 1):
        following = min(block + 1, len(x) - 1)
        sum_x = sum_xx = sum_yy = 0.0
        sum_y = sum_xy = 0j
        for place in range(m - 1, -1, -1):
            a, b, count = x[block, place], y[block, place], m - place
            sum_x, sum_y, sum_xy = sum_x + a, sum_y + b, sum_xy + a * b
            sum_xx, sum_yy = sum_xx + a * a, sum_yy + (b.real * b.real + b.imag * b.imag)
            tail_x[place], tail_y[place] = centre_x[block] + sum_x / count, centre_y[block] + sum_y * (1 / count)
            tail_xx[place] = max(sum_xx - sum_x * sum_x / count, 0.0)
            tail_yy[place] = max(sum_yy - (sum_y.real**2 + sum_y.imag**2) / count, 0.0)
            tail_xy[place] = sum_xy - sum_x * sum_y * (1 / count)
        sum_x = sum_xx = sum_yy = 0.0
        sum_y = sum_xy = 0j
        for place in range(min(m, windows - block * m)):
            xx, yy, xy = tail_xx[place], tail_yy[place], tail_xy[place]
            if place > 0:
                a, b = x[following, place - 1], y[following, place - 1]
                sum_x, sum_y, sum_xy = sum_x + a, sum_y + b, sum_xy + a * b
                sum_xx, sum_yy = sum_xx + a * a, sum_yy + (b.real * b.real + b.imag * b.imag)
                step_x = centre_x[following] + sum_x / place - tail_x[place]
                step_y = centre_y[following] + sum_y * (1 / place) - tail_y[place]
                weight = (m - place) * place / m
                xx = xx + max(sum_xx - sum_x * sum_x / place, 0.0) + step_x * step_x * weight
                square = step_y.real**2 + step_y.imag**2
                yy = yy + max(sum_yy - (sum_y.real**2 + sum_y.imag**2) / place, 0.0) + square * weight
                xy = xy + (sum_xy - sum_x * sum_y * (1 / place)) + step_x * step_y * weight
            if xx > m * noise_x[block] and yy > m * noise_y[block]:
                correlation[block * m + place] = xy * (1 / (np.sqrt(xx) * np.sqrt(yy)))
                slope[block * m + place] = xy * (1 / yy)
    return correlation, slope


SMALLEST_AMPLITUDE, LARGEST_AMPLITUDE = 0.4, 0.75
"""Bounds of the share of the usual amplitude below which a window does not show the period."""
LEAST_SHOWN = 0.25
"""Least share of a window's variance that the period explains, relative to that of one burst as short as can be.

A window with several bursts alike shows less, which only rounding makes alike from one window to the next.
"""
LARGEST_STEP, SMALLEST_STEP = np.pi / 3, np.pi / 9
"""Bounds of the change of phase from one period to the next that is tolerated, in rad.

Cosines that differ in phase by the larger one correlate by a half. The smaller one is an 18th of the period.
"""
FEWEST_PERIODS = 1.6
"""Shortest distance of the first burst of a stretch from its last, in periods: three bursts, imprecisely placed."""
SMALLEST_CHANGE = 0.1
"""Change of phase in rad below which two windows are in step whatever their number: what sampling alone makes."""
CHANCE = 0.3
"""Expected number of stretches without a period that are as long as those taken for valid."""
REFINEMENTS = 6
CORRECTIONS = 3
"""How often the frequency is corrected by the windows that were found valid."""
FURTHEST = 0.2
"""Share by which it may then differ from the one that was given."""


class Validity(Frozen):
    """Where one period holds.

    Attributes
    ----------
    period : float
        In s; refined, unless it was given as fixed.
    window : int
        Samples in the sliding window: a period.
    times : float64 (w,)
        Middles of the windows in s.
    correlation : float64 (w,)
        Pearson's correlation of the signal with the cosine that fits it best over all valid windows.
    local_correlation : float64 (w,)
        The same with the cosine of the phase that fits the window best, in [0, 1].
    phase : float64 (w,)
        That phase in rad.
    intervals : tuple of (float, float)
        Start and end in s of the stretches in which the period holds, in the order of time.
    periods : tuple of float
        Period in s within each of them.
    chances : tuple of float
        How many such intervals, up to 1, a signal of this length without a period has at one given period.
    """

    period: float
    window: int
    times: Floats
    correlation: Floats
    local_correlation: Floats
    phase: Floats
    intervals: tuple[tuple[float, float], ...]
    periods: tuple[float, ...]
    chances: tuple[float, ...]

    @property
    def share(self) -> float:
        """Share of the time from the first window's start to the last window's end that is valid."""
        if self.times.size == 0:
            return 0.0
        covered = self.times[-1] - self.times[0] + self.period
        return float(min(1.0, sum(end - start for start, end in self.intervals) / covered))


def validity(signal: Floats, samples: Floats, fs: float, period: float, start: float = 0.0) -> Validity:
    """Find the intervals in which a period holds.

    Raises SelectionError if the period has less than four samples or does not fit twice into the signal.

    Parameters
    ----------
    signal : float64 (n,)
        What is correlated: the approximation of the samples.
    samples : float64 (n,)
        The samples themselves, in which the first burst of an interval is measured.
    fs : float
        Sampling frequency in Hz.
    period : float
        In s, known to within a few percent; at least four samples and at most half the signal.
    start : float
        Time of the beginning of the first sample in s.

    Notes
    -----
    The paper correlates with one cosine for the whole run and takes windows of positive correlation. Such a cosine
    runs out of step where its frequency is off by half a line of the spectrum, where the bursts take up again after a
    pause, or where each of them is a little late. Here each window is correlated with the cosine and the sine, in one
    pass, which gives the cosine that fits it best: amplitude and phase. The period holds at a time when the window
    before and the window after it show it with at least 0.4 of the usual amplitude, and the cosine of one correlates
    with that of the other by at least a half. That makes stretches from one burst to another; those within a period
    of each other and in step are joined, as in the paper; of at least three bursts, and longer than chance would have
    them, they are valid. A valid interval begins with its first burst, and ends half a period, the cosine's trough,
    after the middle of its last burst.
    """
    frequency, window, fit, runs = _tracked(signal, fs, period)
    middles: Floats = np.asarray((np.arange(fit.slope.size) + 0.5 * window) / fs, dtype=np.float64)
    phase = np.angle(fit.slope)
    held: list[_Interval] = []
    inside = np.zeros(middles.size, dtype=np.bool_)
    for first, last in runs:
        one = _interval(samples, fs, phase, frequency, window, first, last)
        if one is not None:
            # None begins before the last one ends.
            held.append(one._replace(low=max(one.low, held[-1].high if held else 0.0)))
            inside |= (middles >= held[-1].low) & (middles <= one.high)
    total = complex(fit.slope[inside].sum()) if inside.any() else complex(fit.slope.sum())
    reference = np.conj(total) / abs(total) if abs(total) > 0 else 1.0
    correlation = np.sqrt(2) * fit.correlation
    periods = [one.period for one in held]
    mean = float(np.average(periods, weights=[one.high - one.low for one in held])) if held else 1.0 / frequency
    return Validity(
        period=mean,
        window=window,
        times=start + middles,
        correlation=np.clip((correlation * reference).real, -1.0, 1.0),
        local_correlation=np.minimum(np.abs(correlation), 1.0),
        phase=phase,
        intervals=tuple((float(start + one.low), float(start + one.high)) for one in held),
        periods=tuple(periods),
        chances=tuple(one.chance for one in held),
    )


class _Interval(NamedTuple):
    """Where a period holds: start and end in s from the first sample on, period, and expected number by chance."""

    low: float
    high: float
    period: float
    chance: float


def _tracked(signal: Floats, fs: float, period: float) -> tuple[float, int, SlidingFit, list[tuple[int, int]]]:
    """Correct the frequency of a period by the windows that show it.

    Return it, within `FURTHEST` of what it was, the windows' length, their fits, and first and last pairs.
    """
    window = round(period * fs) if np.isfinite(period) else 0
    if not (window >= 4 and 2 * window <= signal.size):
        raise SelectionError(
            f"no sliding window for a period of {period:.6g} s: it needs at least four samples at {fs:.6g} Hz, "
            f"and to fit twice into {signal.size} samples"
        )
    frequency = _refined_frequency(signal, fs, window, 1.0 / period)
    centres = (np.arange(signal.size) + 0.5) / fs
    for correction in range(CORRECTIONS + 1):
        # A window of another length than the period now and then holds two bursts, or none.
        window = int(np.clip(round(fs / frequency), 4, signal.size // 2))
        fit = sliding_fit(signal, np.exp(2j * np.pi * frequency * centres), window)
        valid, tolerated = _valid_pairs(fit, window)
        change = _mean_change(valid, fit.slope, window)
        if abs(change) <= 0.05 * tolerated or correction == CORRECTIONS:
            break
        corrected = frequency - change * fs / (2 * np.pi * window)
        frequency = float(np.clip(corrected, (1 - FURTHEST) / period, (1 + FURTHEST) / period))
    return frequency, window, fit, _joined(valid, fit.slope, window, tolerated)


def _refined_frequency(signal: Floats, fs: float, window: int, frequency: float) -> float:
    """Correct a frequency by the mean change of phase from one period to the next.

    A signal of frequency f + d has its phase change by -2π d w/fs over w samples. Changes are averaged as numbers on
    the circle, weighed by amplitude, so stretches without the period, whose phase goes anywhere, cancel.
    """
    cycles = signal.size // window
    rows = signal[: cycles * window].reshape(cycles, window)
    rows = rows - rows.mean(axis=1, keepdims=True)
    times = (np.arange(cycles * window) / fs).reshape(cycles, window)
    length = window / fs
    first, limit = frequency, 0.1 * frequency
    for _ in range(REFINEMENTS):
        shown = (rows * np.exp(2j * np.pi * frequency * times)).sum(axis=1)
        steps = shown[1:] * np.conj(shown[:-1])
        size = np.abs(steps)
        total = complex((steps / np.sqrt(np.where(size > 0, size, 1.0))).sum())
        if total == 0:
            break
        change = -float(np.angle(total)) / (2 * np.pi * length)
        frequency = float(np.clip(frequency + change, first - limit, first + limit))
        if abs(change) < 1e-9 * frequency:
            break
    return frequency


def _valid_pairs(fit: SlidingFit, window: int) -> tuple[Mask, float]:
    """Return for each sample i whether the window starting there and the next one show the same cosine.

    Returns
    -------
    bool (p,), float
        And the largest change of phase that was tolerated, in rad.
    """
    slope = fit.slope
    before, after = slope[:-window], slope[window:]
    amplitude = np.minimum(np.abs(before), np.abs(after))
    change = np.abs(np.angle(after * np.conj(before)))
    # Twice the square is the share of the window's variance that the cosine explains: 2 / (m - 1) for one sample of m.
    shown = 2 * np.abs(fit.correlation) ** 2 >= LEAST_SHOWN * 2 / (window - 1)
    in_step = (change <= LARGEST_STEP) & (amplitude > 0) & shown[:-window] & shown[window:]
    if not in_step.any():
        return in_step, LARGEST_STEP
    usual = float(np.median(amplitude[in_step]))
    # Of n normal deviates the largest is near √(2 ln n) standard deviations.
    deviations = 2.0 + float(np.sqrt(2 * np.log(max(slope.size / window, 2.0))))
    strong = in_step & (amplitude >= SMALLEST_AMPLITUDE * usual)
    spread = _spread(np.abs(np.log(amplitude[strong] / usual)))
    least = float(np.clip(np.exp(-deviations * spread), SMALLEST_AMPLITUDE, LARGEST_AMPLITUDE))
    tolerated = float(np.clip(deviations * _spread(change[strong]), SMALLEST_STEP, LARGEST_STEP))
    return in_step & (amplitude >= least * usual) & (change <= tolerated), tolerated


def _mean_change(valid: Mask, slope: Complexes, window: int) -> float:
    """Give the mean change of phase from one period to the next, in rad, where the period holds.

    The mean and not the median: an approximation places short bursts at its own coefficients, so that changes come in
    steps, and their median is always one of these.
    """
    if not valid.any():
        return 0.0
    return float(np.mean(np.angle(slope[window:][valid] * np.conj(slope[:-window][valid]))))


def _spread(deviations: Floats) -> float:
    """Estimate a standard deviation from magnitudes: the median of those of a normal variate is 0.6745 of it."""
    return float(np.median(deviations)) / 0.6745


def _joined(valid: Mask, slope: Complexes, window: int, tolerated: float) -> list[tuple[int, int]]:
    """Give the first and last pair of every stretch; stretches within a window of each other and in step are one."""
    edges = np.diff(np.concatenate(([False], valid, [False])).astype(np.int8))
    firsts, lasts = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1) - 1
    if firsts.size == 0:
        return []
    change = np.abs(np.angle(slope[firsts[1:]] * np.conj(slope[lasts[:-1] + window])))
    near = firsts[1:] - lasts[:-1] <= window
    parted = np.flatnonzero(~(near & (change <= tolerated)))
    firsts = firsts[np.concatenate(([0], parted + 1))]
    lasts = lasts[np.concatenate((parted, [lasts.size - 1]))]
    long_enough = lasts - firsts >= window // 2
    return list(zip(firsts[long_enough].tolist(), lasts[long_enough].tolist(), strict=True))


def _interval(
    samples: Floats, fs: float, phase: Floats, frequency: float, window: int, first: int, last: int
) -> _Interval | None:
    """Measure interval, period and expected number by chance of a stretch of pairs; times from the first sample on."""
    inset = min(window // 4, (last - first) // 2)
    # At the signal's own start, the first window shows the first burst wherever it lies in it.
    early = first + (inset if first > 0 else 0)
    late = last + window - (inset if last + 2 * window < samples.size else 0)
    own = _own_period(phase[early : late + 1 : window], window / fs, frequency)
    peaks = []
    for at in (early, late):
        peak = phase[at] / (2 * np.pi * frequency)
        turns = np.ceil((at / fs - peak) * frequency - 1e-9)
        peaks.append(peak + turns / frequency)
    one, other = peaks
    changes = np.abs(np.angle(np.exp(1j * np.diff(phase[early : late + 1 : window]))))
    expected = samples.size / window * _chance(changes, round((other - one) / own))
    if (other - one) / own < FEWEST_PERIODS or expected > CHANCE:
        return None
    end = min(other + 0.5 * own, samples.size / fs)
    return _Interval(max(one - _rise(samples, fs, one, other, own), 0.0), end, own, min(expected, 1.0))


def _chance(changes: Floats, count: int) -> float:
    """Return the probability that so many changes of phase, in rad, are as small as these without a period.

    Without one the phase of the next window is anywhere on the circle. All of n changes are within the largest with
    probability (largest / π)^n. The root of their sum of squares is at most r with that of the ball of radius r in
    the cube of side 2π; there one window with two bursts or with none does not outweigh all others.
    """
    if changes.size == 0 or count < 1:
        return 1.0
    changes = np.maximum(changes, SMALLEST_CHANGE)
    largest = count * math.log(float(changes.max()) / np.pi)
    square = count * float(np.mean(changes**2))
    ball = 0.5 * count * math.log(square / (4 * np.pi)) - math.lgamma(0.5 * count + 1)
    return math.exp(min(largest, ball, 0.0))


def _own_period(phase: Floats, step: float, frequency: float) -> float:
    """Fit the period to phases of windows that adjoin each other."""
    if phase.size < 3:
        return 1.0 / frequency
    turned = np.unwrap(phase)
    at = np.arange(phase.size) - 0.5 * (phase.size - 1)
    slope = float(np.dot(at, turned - turned.mean()) / np.dot(at, at)) / step
    return float(1.0 / (frequency - slope / (2 * np.pi)))


def _rise(samples: Floats, fs: float, first: float, last: float, period: float) -> float:
    """Measure how long before its middle a burst begins, on the mean of all bursts from ``first`` to ``last``."""
    low, high = max(0, int((first - 0.5 * period) * fs)), min(samples.size, int((last + 0.5 * period) * fs) + 1)
    width = int(np.clip(round(period * fs), 4, 64))
    turn = ((np.arange(low, high) + 0.5) / fs - first) / period
    place = ((turn - np.floor(turn)) * width + 0.5 * width).astype(np.int64) % width
    count = np.bincount(place, minlength=width)
    profile = np.bincount(place, samples[low:high], minlength=width) / np.maximum(count, 1)
    middle = width // 2
    below = np.flatnonzero(profile[: middle + 1] <= 0.5 * (profile.mean() + np.median(profile)))
    return float(middle - 1 - below[-1] if below.size else middle) / width * period


BINS_PER_PERIOD = 24
"""So that a short burst which jitter moves into the next bin stays within the tolerated change of phase, an 18th. Such
bins are the approximation by Haar's wavelet at the level that shows the period: no transform is needed."""
SHORTEST_STRETCH = 2.5
"""Shortest stretch, in periods: below it, there are not three bursts."""
SAME = 0.1
"""Share by which the period that holds may differ from the one asked for."""
MOST_PERIODS = 4096
"""Longest stretch, in periods, that is looked at as a whole."""
PIECES, PERIODS_IN_PIECE = 16, 256
"""Of a longer one, evenly spread parts."""


def holding_share(times: Floats, cumulative: Floats, start: float, end: float, period: float) -> float | None:
    """Measure for which share of a stretch its period holds: evidence for a regime that was found by other means.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume of a signal, times in s; a time may occur twice.
    start, end : float
        The stretch, within the signal's window, in s.
    period : float
        In s, known to within a few percent.

    Returns
    -------
    float or None
        In [0, 1]; None for a stretch of less than 2.5 periods. Of more than 4096 periods, 16 parts of 256 periods
        each are looked at.

    Notes
    -----
    See `iostrata.analysis.timefrequency.validity`. O(p log n) for n vertices and p periods, of which no more than 4096
    count.
    """
    count = (end - start) / period
    if not SHORTEST_STRETCH <= count < np.inf:
        return None
    if count <= MOST_PERIODS:
        return _share(times, cumulative, start, end, period)
    length = PERIODS_IN_PIECE * period
    starts = np.linspace(start, end - length, PIECES).tolist()
    return float(np.mean([_share(times, cumulative, low, low + length, period) for low in starts]))


def _share(times: Floats, cumulative: Floats, start: float, end: float, period: float) -> float:
    # Half a period more on either side, so that the first and the last burst have their windows.
    found = _holding(times, cumulative, start - 0.5 * period, end + 0.5 * period, period)
    inside = sum(max(0.0, min(high, end) - max(low, start)) for low, high in found)
    return float(min(1.0, inside / (end - start)))


def _holding(
    times: Floats, cumulative: Floats, start: float, end: float, period: float
) -> tuple[tuple[float, float], ...]:

    fs = BINS_PER_PERIOD / period
    bins = int(np.ceil((end - start) * fs))
    # Volume that moves in no time is at both vertices of its time; either bin may have it.
    volume = np.interp(start + np.arange(bins + 1) / fs, times, cumulative)
    values: Floats = np.asarray(np.maximum(np.diff(volume), 0.0) * fs, dtype=np.float64)
    try:
        found = validity(values, values, fs, period, start)
    except SelectionError:
        return ()
    return found.intervals if abs(found.period / period - 1) <= SAME else ()
