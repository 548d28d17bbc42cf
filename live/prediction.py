"""When the next phase begins: an interval of time, and the probability that it begins in it.

Constants were chosen on made runs with seeds below 1,000; figures in `benchmarks/RESULTS.md` are of others.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Final

import numpy as np

from ..analysis.phases.stretches import PulseTrain
from ..model.arrays import Floats, Frozen, Rows
from .pace import PRIOR_INTERVALS, PRIOR_JITTER, delayed

LATEST: Final = 32
"""Intervals that the next one is predicted from, the latest ones."""
PRIOR_STEP: Final = 0.05
"""Share by which the step of another run is thought to be off, as if one more run had shown that."""
FIRST: Final = 3
"""Intervals after which the train's own next starts are predicted to see how well that goes."""
TRUSTED: Final = 4.0
"""Such predictions after which what became of them counts as much as the law that they follow from."""
COVERED: Final = 0.9
"""Share of the starts that lie between earliest and latest, while the regime goes on and no phase is missing."""
ENDING: Final = (0.7, 8.0)
"""Beta law of the probability that a regime ends after a phase: of so many ends among so many phases."""
STRAY: Final = 0.01
"""Share of the starts that no law of their regime tells, and after which it goes on."""
ANYWHERE: Final = 10.0
"""Times the usual interval up to which, and as a share of it down to which, an interval of another regime is thought to
be, with a uniform law of its logarithm."""
MISSING: Final = 0.02
"""Phases that are missing, as thought beforehand, of one phase."""
MOST_TURNS: Final = 5
"""Periods up to which a phase may be late."""
LEAST: Final = 0.05
"""Probability below which nothing is said."""
NEVER: Final = 1e-6
"""Probability of an earlier start below which it is taken as none, so that until then nothing changes."""
MOST_STEPS, SAME_TIME = 60, 1e-7
"""Steps in which a start is found, and the change of its probability up to which it is found."""
_MOST_SURE: Final = 1 - 1e-12
"""Share of the starts beyond which digits end."""


@dataclass(frozen=True)
class NextPhase:
    """The next phase begins between `earliest` and `latest`, in s, with a `probability`."""

    earliest: float
    latest: float
    probability: float


class TrackRecord:
    """Whether phases began when they were said to: what parts them is chosen anew in each look, which no law knows."""

    def __init__(self) -> None:
        self._due: tuple[NextPhase, float] | None = None
        self._stated = self._true = TRUSTED

    def said(self, following: NextPhase, now: float) -> None:
        """Keep what is said first of a phase, at a time in s."""
        self._due = self._due or (following, now)

    def came(self, start: Floats) -> None:
        """Compare it with the first operation after that."""
        if self._due is not None and (later := start[start > self._due[1]]).size:
            following, self._due = self._due[0], None
            kept = 1 - 1 / LATEST
            self._stated = kept * self._stated + following.probability
            self._true = kept * self._true + (following.earliest <= float(later.min()) <= following.latest)

    def corrected(self, following: NextPhase) -> NextPhase:
        """Return it with the probability that such have had, where that is less."""
        return replace(following, probability=following.probability * min(self._true / self._stated, 1.0))


class StartLaw(Frozen):
    """When the burst after a train begins, if the train goes on: a mixture of Student t, corrected by its own record.

    Attributes
    ----------
    weight, mean, scale : float64 (2,)
        Of starts that keep to a clock, and of those that follow one another; in s.
    freedom : float
        Degrees of freedom of both.
    period : float
        In s.
    record : float64 (k,)
        Probability, by the law as it was then, of the smallest interval about the median that had each earlier start;
        increasing.
    missing, ending : float
        Probability that a phase is missing, and that the regime has ended.
    changed : float
        Probability that the latest starts are of another regime already, by how they came.
    after : StartLaw or None
        The law if so, by the latest interval alone; None where that is too improbable to be said.
    """

    weight: Floats
    mean: Floats
    scale: Floats
    freedom: float
    period: float
    record: Floats
    missing: float
    ending: float
    changed: float = 0.0
    after: "StartLaw | None" = None
    _times: dict[tuple[float, float, int], tuple[float, float]] = field(default_factory=dict, init=False)
    """What `times` has found: until a phase could begin, the same is asked for after every update."""

    def passed(self, time: float, turn: int = 0) -> float:
        """Return the probability that the start lies before a time in s, of a phase `turn` periods later than usual."""
        level = self._mixture(time, self._later(turn))
        if level < NEVER:
            return 0.0
        # What a probability of the mixture is worth.
        return 0.5 + math.copysign(0.5 * float(np.interp(abs(2 * level - 1), *self._knots)), level - 0.5)

    def times(self, low: float, high: float, turn: int = 0) -> tuple[float, float]:
        """Return the times in s before which the start lies with two probabilities, above 0 and below 1."""
        known = self._times.get((low, high, turn))
        if known is None:
            known = self._times[low, high, turn] = self._time(low, turn), self._time(high, turn)
        return known

    def _time(self, probability: float, turn: int) -> float:
        from scipy.special import stdtrit

        share, own = self._knots
        within = float(np.interp(abs(2 * probability - 1), own, share))
        # A start far beyond what the law thought likely has a share of 1, of which no time is the end.
        level = 0.5 + math.copysign(0.5 * min(within, _MOST_SURE), probability - 0.5)
        parts, off = self._later(turn), float(stdtrit(self.freedom, level))
        times = [mean + scale * off for _, mean, scale in parts]
        # Between those of its parts, and a little beyond what their rounding is.
        room = 1e-6 * max(scale for *_, scale in parts)
        return _root(lambda time: self._mixture(time, parts) - level, min(times) - room, max(times) + room)

    def _later(self, turn: int) -> list[tuple[float, float, float]]:
        """Return weight, mean and scale of each part for a phase so many periods later."""
        wider, later = math.sqrt(1 + turn), turn * self.period
        return [(weight, mean + later, scale * wider) for weight, mean, scale in self._parts]

    @cached_property
    def _parts(self) -> list[tuple[float, float, float]]:
        # As numbers of Python's: arrays of two take longer than what is done with them.
        return list(zip(self.weight.tolist(), self.mean.tolist(), self.scale.tolist(), strict=True))

    def _mixture(self, time: float, parts: list[tuple[float, float, float]]) -> float:
        """Return the probability that the start lies before a time in s, by both parts."""
        from scipy.special import stdtr

        return sum(weight * float(stdtr(self.freedom, (time - mean) / scale)) for weight, mean, scale in parts)

    @cached_property
    def _knots(self) -> tuple[Floats, Floats]:
        """Return shares about the median, and what they have turned out to be, shrunk to what they should be."""
        n = self.record.size
        share = np.concatenate(([0.0], self.record, [1.0]))
        found = np.linspace(0.0, 1.0, n + 2)
        return share, (TRUSTED * share + n * found) / (TRUSTED + n)


def law_of_steps(last: float, usual: float, steps: Floats) -> StartLaw:
    """Return the law of the burst after one that began at a time in s, from that step in other runs.

    Parameters
    ----------
    last : float
        In s.
    usual : float
        The step in s.
    steps : float64 (n,)
        Of single runs, maybe none.
    """
    squares = float(((steps - steps.mean()) ** 2).sum()) if steps.size > 1 else 0.0
    freedom = max(steps.size - 1, 0) + 1.0
    scale = math.sqrt((squares + (PRIOR_STEP * usual) ** 2) / freedom * (1 + 1 / max(steps.size, 1)))
    both = np.array([last + usual, last + usual])
    return StartLaw(
        weight=np.array([1.0, 0.0]), mean=both, scale=np.array([scale, scale]), freedom=freedom, period=usual,
        record=np.zeros(0), missing=MISSING, ending=ENDING[0] / ENDING[1],
    )  # fmt: skip


def _root(rises: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function that rises is 0, between two points (Illinois).

    Loading SciPy's solvers takes 0.14 s of processor time, all that following may take in seven.
    """
    below, above, kept = rises(low), rises(high), 0
    for _ in range(MOST_STEPS):
        if not below < 0.0 < above:
            break
        at = (low * above - high * below) / (above - below)
        value = rises(at)
        if abs(value) <= SAME_TIME:
            return at
        if value < 0:
            low, below, above, kept = at, value, above * (0.5 if kept < 0 else 1.0), -1
        else:
            high, above, below, kept = at, value, below * (0.5 if kept > 0 else 1.0), 1
    return low if abs(below) < abs(above) else high


def first_of(several: list[NextPhase]) -> NextPhase | None:
    """Return when the first of several phases begins, each of a period of its own; None of none."""
    first = min(several, key=lambda one: one.latest, default=None)
    return first and replace(first, earliest=min(one.earliest for one in several))


def next_phase(law: StartLaw, now: float, lead: float = 0.0, grain: float = 0.0) -> NextPhase | None:
    """Return when the next phase begins, known that none has by a time; None where the regime is rather over.

    Parameters
    ----------
    law : StartLaw
        Of the next burst.
    now : float
        In s.
    lead : float
        Time in s by which phases begin before their bursts.
    grain : float
        Width in s of the bins by whose begins starts are known: what begins in a bin does so until its end.

    Notes
    -----
    Where phases are missing the next start is that of a period later. What has passed is cut off, and what is left
    weighs against the regime's having ended.
    """
    whole, best = 0.0 if law.after else law.changed, (0.0, 0, 0.0, law)
    for one, share in [(law, 1 - law.changed)] + ([] if law.after is None else [(law.after, law.changed)]):
        weight, passed = share * (1 - one.ending), 1.0
        whole += share * one.ending
        for turn in range(MOST_TURNS):
            # What cannot have begun yet cannot have a period later.
            passed = passed and one.passed(now + lead, turn)
            here = weight * (1 - one.missing) * (1 - passed)
            best = max(best, (here, turn, passed, one), key=lambda found: found[0])
            whole += here
            weight *= one.missing
    here, turn, passed, law = best
    probability = COVERED * here / whole
    if probability < LEAST:
        return None
    outside = 0.5 * (1 - COVERED) * (1 - passed)
    low, high = law.times(passed + outside, 1 - outside, turn)
    return NextPhase(max(low - lead, now), max(high - lead + grain, now), probability)


def start_law(train: PulseTrain) -> StartLaw:
    """Return the law of the start of the next burst of a train that goes on.

    Notes
    -----
    Starts may keep to a clock, and vary about a line, or follow one another, each an interval after the last. Of both,
    with uniform laws of line, period and logarithm of the deviation, the start that comes next is a Student t; the
    marginal likelihoods of the starts so far decide how much each weighs. With a drift each follows the last.

    Intervals need not be normal, nor independent. So what this law would have said of each of the latest starts, by
    those before it, is compared with when they came. Each of them also tells, by Bayes' rule, how likely it is that
    the regime had ended before it, as its intervals may then be any; a start may also be astray. Intervals that are far
    longer than the others are delays, which come as missing phases do, and say nothing of those that are none.
    """
    spans = train.spans[-LATEST:]
    n = spans.size
    start = train.bursts.start[-n - 1 :]
    intervals = np.diff(start)
    late = delayed(intervals / spans)
    if late.any():
        intervals = np.where(late, np.median(intervals[~late] / spans[~late]) * spans, intervals)
    if train.drift != 0:
        intervals = intervals * np.exp(-train.drift / train.spans.size * (np.arange(n) - n))
    place = np.append(0.0, np.cumsum(spans))
    period = float(intervals.sum() / place[-1])
    # Seen from a line most of the digits are those that vary.
    steps = intervals - period * spans
    off = np.append(0.0, np.cumsum(steps))

    # Everything for the first k intervals, k = 2 … n.
    k = np.arange(2, n + 1)
    prior, freedom = PRIOR_INTERVALS * (PRIOR_JITTER * period) ** 2, np.asarray(PRIOR_INTERVALS + k - 1, np.float64)
    follows = np.maximum(np.cumsum(steps**2 / spans)[k - 1] - off[k] ** 2 / place[k], 0.0) + prior
    follows_mean = off[k] + off[k] / place[k]
    follows_scale = np.sqrt(follows / freedom * (1 + 1 / place[k]))
    place_sum, off_sum = np.cumsum(place)[k], np.cumsum(off)[k]
    lever = np.cumsum(place**2)[k] - place_sum**2 / (k + 1)
    slope = (np.cumsum(place * off)[k] - place_sum * off_sum / (k + 1)) / lever
    clock = np.maximum(np.cumsum(off**2)[k] - off_sum**2 / (k + 1) - slope**2 * lever, 0.0) + prior
    ahead = place[k] + 1 - place_sum / (k + 1)
    clock_mean = off_sum / (k + 1) + slope * ahead
    clock_scale = np.sqrt(clock / freedom * (1 + 1 / (k + 1) + ahead**2 / lever))
    more_likely = 0.5 * (
        freedom * np.log(clock / follows) + np.log((k + 1) * lever / place[k]) - np.cumsum(np.log(spans))[k - 1]
    )
    weight = np.zeros(k.size) if train.drift != 0 else 1 / (1 + np.exp(np.minimum(more_likely, 700.0)))

    tried = np.flatnonzero((k >= FIRST) & (np.append(spans, 0.0)[k] == 1))
    weights, means = np.array([weight, 1 - weight]), np.array([clock_mean, follows_mean])
    scales = np.array([clock_scale, follows_scale])
    level, density = _mixed(off[k[tried] + 1], weights[:, tried], means[:, tried], scales[:, tried], freedom[tried])
    changed = _changed(density, intervals[k[tried]], k[tried])
    return StartLaw(
        weight=weights[:, -1],
        mean=float(start[-1]) + period - float(off[-1]) + means[:, -1],
        scale=scales[:, -1],
        freedom=float(freedom[-1]),
        period=train.period,
        record=np.sort(np.abs(2 * level - 1)),
        missing=(train.missing + int(late.sum()) + MISSING) / (float(train.spans.sum()) + 1),
        ending=ENDING[0] / (ENDING[1] + len(train.bursts)),
        changed=changed,
        after=law_of_steps(float(start[-1]), float(start[-1] - start[-2]), np.zeros(0)) if changed >= LEAST else None,
    )


def _mixed(came: Floats, weight: Floats, mean: Floats, scale: Floats, freedom: Floats) -> tuple[Floats, Floats]:
    """Return probability up to each start, and its density, by mixtures of Student's t; parameters are (2, n)."""
    from scipy.special import gammaln, stdtr

    off, half = (came - mean) / scale, 0.5 * freedom
    height = gammaln(half + 0.5) - gammaln(half) - 0.5 * np.log(2 * np.pi * half)
    density = np.exp(height - (half + 0.5) * np.log1p(off**2 / freedom)) / scale
    return (weight * stdtr(freedom, off)).sum(axis=0), (weight * density).sum(axis=0)


def _changed(density: Floats, intervals: Floats, count: Rows) -> float:
    """Return how likely the regime has ended, by the density of each start, its interval and those before it."""
    anywhere = 1 / (2 * math.log(ANYWHERE) * intervals)
    changed = 0.0
    for here, other, before in zip(density.tolist(), anywhere.tolist(), count.tolist(), strict=True):
        changed += (1 - changed) * ENDING[0] / (ENDING[1] + before)
        changed = changed * other / (changed * other + (1 - changed) * ((1 - STRAY) * here + STRAY * other))
    return float(changed)
