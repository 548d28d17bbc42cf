"""The pace of phases: the mean of their intervals, and which of these are of the pace that holds now."""

import math
from typing import Final, NamedTuple, Self

import numpy as np

from ..analysis.results.result import is_certain
from ..model.arrays import Floats, Mask
from ..model.quantities import percent_text, seconds_text

PRIOR_INTERVALS, PRIOR_JITTER = 0.5, 0.0002
"""How many intervals' worth is thought beforehand of the jitter, and what; it keeps equal intervals from being sure."""

SAME: Final = 0.1
"""Share by which a period may be off to count as right, as of the confidence of the method `auto`."""
COMPARED: Final = 40
"""Intervals, the latest ones, in which the pace may have changed: those of a look, and what comes until the next."""
CHANGES: Final = 0.06
"""Probability that the pace changes after an interval."""
RATIO: Final = 0.5
"""Standard deviation of the logarithm of what it changes by."""
SURER: Final = 0.3
"""By how much more likely the mean since a change has to be right than that of all, for the change to be told: with
less more than one update in a hundred is wrong by a change where there is none, at jitters of 2 to 20 %."""
RATHER: Final = 0.5
"""Probability of being right from which on a period is told."""
AS_SURE: Final = 0.05
"""By how much less likely a longer run may be right and still be taken."""
USUAL: Final = 9
"""Intervals before a change, at least, whose median is what was usual."""
CLUMPS: Final = 0.05
"""Share by which that is off the mean since then at most where bursts come in clumps: their pace is no other one."""
STRAYS: Final = 1 / 6
"""Share of the intervals that may be delays, which tell nothing of the pace."""
FAR, NEAR = 8.0, 0.1
"""Standard deviations, by the median of what others are off, and share of the usual interval, both of which a delay is
off by."""
NORMAL: Final = 0.6745
"""Median of the absolute value of a normal deviate."""
FIRST: Final = 3
"""Intervals by which another pace is told."""
DEVIATIONS: Final = np.geomspace(0.005, 0.5, 8)
"""Standard deviations of the logarithms of intervals, or of starts as shares of one, each as likely as the others."""


class Pace(NamedTuple):
    """The mean of intervals in s, its standard error and the degrees of freedom of that."""

    mean: float
    error: float
    freedom: float

    @classmethod
    def of(cls, intervals: Floats, grain: float = 0.0) -> Self:
        """Return what some intervals tell, whose ends are known to `grain` s."""
        n, mean = intervals.size, float(intervals.mean())
        squares = float(((intervals - mean) ** 2).sum()) + PRIOR_INTERVALS * (PRIOR_JITTER * mean) ** 2
        freedom = n - 1 + PRIOR_INTERVALS
        return cls(mean, math.hypot(math.sqrt(squares / freedom / n), of_grain(grain) / n), freedom)

    @property
    def confidence(self) -> float:
        """Probability that the mean interval is that of the program within 10 %."""
        from scipy.special import stdtr

        return float(2 * stdtr(self.freedom, SAME * self.mean / self.error) - 1)

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of the mean interval in s."""
        from scipy.special import stdtrit

        off = self.error * float(stdtrit(self.freedom, 0.975))
        return max(self.mean - off, 0.0), self.mean + off

    @property
    def is_certain(self) -> bool:
        """Whether the mean interval is certain, as a period is."""
        low, high = self.interval
        return is_certain(self.confidence, 0.5 * (high - low) / self.mean)


def of_grain(grain: float) -> float:
    """Return the standard deviation in s of an interval that bins of a width in s alone make."""
    return grain / math.sqrt(6)


def jitter_text(jitter: float, period: float, grain: float) -> str:
    """Say how much intervals vary, as a share of a period in s, which bins of a width in s may hide."""
    if jitter * period >= of_grain(grain):
        return f"jitter {percent_text(jitter)}"
    return f"jitter below {percent_text(grain / period)}, as bins are {seconds_text(grain)} wide"


def delayed(intervals: Floats) -> Mask:
    """Return which intervals are delays: a few that are far longer than all others vary, once these are known.

    The latest ones may as well be the first of another pace.
    """
    usual = float(np.median(intervals)) if intervals.size else 0.0
    off = intervals - usual
    far = off > max(FAR * float(np.median(np.abs(off))) / NORMAL, NEAR * usual) if off.size else off > 0
    far[-FIRST:] = False
    return far if far.sum() <= STRAYS * intervals.size else np.zeros(intervals.size, np.bool_)


class LatestPace(NamedTuple):
    """How many of the latest intervals are of the pace that holds, and how likely their mean is within 10 % of it."""

    latest: int
    confidence: float


def latest_pace(intervals: Floats, fewest: int) -> LatestPace:
    """Return which intervals are of the pace that holds now: all of them where no change is likely.

    Parameters
    ----------
    intervals : float64 (n,)
        In s, the latest last.
    fewest : int
        Intervals that tell a new pace at least.

    Notes
    -----
    The pace may change after any interval (Bayesian online detection of changes, Adams & MacKay 2007): each run of one
    pace has a mean of its own, and all have one deviation, of intervals or of starts that keep to a clock. Of all runs
    that may be the one of now, that is taken whose mean is most probably right, by all others, too.
    """
    own = intervals[-COMPARED:]
    if own.size <= fewest or own.min() <= 0:
        return LatestPace(intervals.size, 1.0)
    from .kernels import right_since

    chances = right_since(own, DEVIATIONS, CHANGES, RATIO, SAME)
    later = chances[1 : own.size - fewest + 1]
    # The longest of those that are as good: another one each time would tell a change each time.
    best = 1 + int(np.argmax(later >= later.max() - AS_SURE))
    usual = float(np.median(own[max(best - max(2 * (own.size - best), USUAL), 0) : best]))
    surer = max(chances[0] + SURER, RATHER)
    if chances[best] <= surer or abs(float(own[best:].mean()) / usual - 1) <= CLUMPS:
        return LatestPace(intervals.size, float(chances[0]))
    return LatestPace(own.size - best, float(chances[best]))
