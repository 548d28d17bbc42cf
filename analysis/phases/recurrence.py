"""How phases recur: the time between their starts, phases that are missing, start-up and shut-down I/O."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .trains import FEWEST_PHASES, PhaseTrain, variation

Floats = npt.NDArray[np.float64]

# Start-up or shut-down I/O: everything between is this regular, and the edge this far from it.
REGULAR_WITHIN = 0.1
EDGE_DEVIATION = 0.1
EDGE_DEVIATIONS = 5.0
EDGE_BYTES = 1.5
# A clock with phases left out: at most this share, and what is left as regular as this.
MOST_MISSING = 0.25
CLOCK_JITTER = 0.1
LONG_DEVIATION = 0.15
# Starts are compared in pairs up to this many of them.
MOST_PAIRED = 512


@dataclass(frozen=True)
class PeriodEstimate:
    """A period and its uncertainty in s."""

    period: float
    interval: tuple[float, float]


@dataclass(frozen=True, eq=False)
class TrimmedTrain:
    """A train of phases, of which `at_start` and `at_end` (0 or 1) are start-up and shut-down I/O."""

    train: PhaseTrain
    at_start: int
    at_end: int

    @property
    def core(self) -> PhaseTrain:
        """The phases without start-up and shut-down I/O."""
        return self.train[self.at_start : len(self.train) - self.at_end]


def set_edges_apart(train: PhaseTrain) -> TrimmedTrain:
    """Set a first and a last phase apart that do not belong to an otherwise regular train.

    Reading the input, fill values, or closing files is I/O too, but it follows no clock. A phase at an edge is set
    apart when the intervals without it vary by at most 10 %, its own interval differs from their median by more than
    10 % and by more than five standard deviations, and its bytes by more than a factor of 1.5 from the median.
    """
    first, last = 0, len(train)
    for at_start in (True, False):
        if last - first <= FEWEST_PHASES + 1:
            break
        intervals = np.diff(train.start[first:last])
        rest, edge = (intervals[1:], intervals[0]) if at_start else (intervals[:-1], intervals[-1])
        # The other edge may be out of step too; the median does not mind.
        middle = float(np.median(rest))
        inner = rest[:-1] if at_start else rest
        spread = min(float(rest.std()), float(inner.std()))
        if spread > REGULAR_WITHIN * middle:
            continue
        usual = float(np.median(train.bytes[first:last]))
        own = float(train.bytes[first if at_start else last - 1])
        if usual / EDGE_BYTES <= own <= usual * EDGE_BYTES:
            continue
        if abs(edge - middle) > max(EDGE_DEVIATION * middle, EDGE_DEVIATIONS * spread):
            first, last = (first + 1, last) if at_start else (first, last - 1)
    return TrimmedTrain(train, first, len(train) - last)


def missing_phases(intervals: Floats) -> npt.NDArray[np.int64] | None:
    """Return how many periods each interval spans, where that explains the long ones; else None.

    Parameters
    ----------
    intervals : float64 (n,)
        Times between starts in s.

    Returns
    -------
    int64 (n,) or None
        1 for an interval without a missing phase. None if none is missing, if more than a quarter would be, or if
        the intervals per period vary by more than 10 %, or a long one by more than 15 % from the typical.
    """
    if intervals.size < FEWEST_PHASES - 1:
        return None
    spans = np.maximum(np.rint(intervals / np.median(intervals)), 1).astype(np.int64)
    missing = int(spans.sum()) - intervals.size
    if missing == 0 or missing > max(1, int(MOST_MISSING * intervals.size)):
        return None
    each = intervals / spans
    typical = float(np.median(each))
    if variation(each) > CLOCK_JITTER or bool(np.any(np.abs(each - typical)[spans > 1] > LONG_DEVIATION * typical)):
        return None
    return spans


def mean_period(intervals: Floats, spans: npt.NDArray[np.int64] | None = None) -> PeriodEstimate:
    """Return the mean time between starts, with its 95 % confidence interval.

    T = Σ d / Σ s, and the interval T ± t_{0.975, n-1} · std(d / s) / √n of Student's t, for intervals d of s periods.
    """
    from scipy.special import stdtrit

    counted = np.ones(intervals.size) if spans is None else spans.astype(np.float64)
    period = float(intervals.sum() / counted.sum())
    if intervals.size < 2:
        return PeriodEstimate(period, (period, period))
    each = intervals / counted
    half = float(stdtrit(each.size - 1, 0.975)) * float(each.std(ddof=1)) / float(np.sqrt(each.size))
    return PeriodEstimate(period, (max(period - half, 0.0), period + half))


def clock_period(earliest: Floats, latest: Floats) -> PeriodEstimate | None:
    """Return the period of a clock whose ticks are known only to lie between bounds, as those of samples are.

    Ticks a + k T, k = 0 … n-1, meet all bounds exactly for the T between the largest (earliest_j - latest_i) / (j - i)
    and the smallest (latest_j - earliest_i) / (j - i), over i < j.

    Parameters
    ----------
    earliest, latest : float64 (n,)
        Bounds of each start in s.

    Returns
    -------
    PeriodEstimate or None
        The middle of these T and their range; None where no clock meets the bounds or there are over 512 starts.
    """
    n = earliest.size
    if not 2 <= n <= MOST_PAIRED:
        return None
    later, earlier = np.tril_indices(n, -1)
    steps = later - earlier
    low = float(((earliest[later] - latest[earlier]) / steps).max())
    high = float(((latest[later] - earliest[earlier]) / steps).min())
    if not 0 < low <= high:
        return None
    return PeriodEstimate((low + high) / 2, (low, high))
