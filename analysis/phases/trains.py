"""Pulse trains: bursts of a stretch that come with one period, and the test that says so."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .bursts import Bursts
from .kernels import DRIFTING, FREE, MISSING, STEADY
from .stretches import FEWEST_INTERVALS, MOST_SPANS, spans_of, stretches

Floats = npt.NDArray[np.float64]

MOST_DRIFT = math.log(2.5)
"""Logarithm of the last interval over the first beyond which intervals grow or shrink and no period drifts."""
MOST_JITTER = 0.3
"""Above this coefficient of variation bursts recur, but the next one cannot be told to a third of a period."""
PAUSE_JITTER = 0.1
"""Largest coefficient of variation of pauses: those that a threshold cuts out of noise are longer than it, so alike."""
PAUSE_DEVIATIONS = 4.0
"""Standard deviations of the others by which an interval at the end of a stretch is a pause."""
BESIDE = 0.2
"""Exponent of the false-alarm rate for a stretch beside others."""
FEW_SLOW = 8
"""Bursts up to which a train at a multiple of its neighbour's period is one with phases missing."""
SAME_PERIOD = 0.1
"""Trains on either side of a short gap whose periods differ by less are one."""


@dataclass(frozen=True, eq=False)
class PulseTrain:
    """Bursts with one period.

    Attributes
    ----------
    bursts : Bursts
        At least four.
    spans : float64 (n-1,)
        How many periods lie between each burst and the next.
    law : int
        `STEADY`, `DRIFTING` or `MISSING` of `partition`.
    gain : float
        Logarithm of the Bayes factor against free intervals times the weight of the thresholds and cuts.
    next_start : float
        Start of what follows the train, or infinity, in s.
    pause : float
        Mean time in s from one end to the next start, where that is what is regular; else 0.
    """

    bursts: Bursts
    spans: Floats
    law: int
    gain: float
    next_start: float = math.inf
    pause: float = 0.0

    @property
    def intervals(self) -> Floats:
        """Times between bursts in s, over the periods that they span."""
        return np.asarray(np.diff(self.bursts.start) / self.spans)

    @property
    def period(self) -> float:
        """Mean time in s from one phase to the next, missing ones included."""
        return float((self.bursts.start[-1] - self.bursts.start[0]) / self.spans.sum())

    @property
    def start(self) -> float:
        """Start of the first burst in s."""
        return float(self.bursts.start[0])

    @property
    def end(self) -> float:
        """One period after the last start in s, or where the next train begins or the last burst ends."""
        return float(min(self.bursts.start[-1] + self.period, max(self.next_start, self.bursts.end[-1])))

    @property
    def missing(self) -> int:
        """Number of phases that are missing."""
        return int(self.spans.sum()) - self.spans.size

    @property
    def drift(self) -> float:
        """Logarithm of the last interval over the first, of a line through them; 0 where the period does not drift."""
        if self.law != DRIFTING:
            return 0.0
        rows = np.arange(self.spans.size) - 0.5 * (self.spans.size - 1)
        return float(rows @ np.log(self.intervals) / (rows @ rows)) * self.spans.size

    @property
    def jitter(self) -> float:
        """Coefficient of variation of the intervals, about the drift; of the pauses where these are regular."""
        if self.pause > 0:
            return float((self.bursts.start[1:] - self.bursts.end[:-1]).std() / self.pause)
        rows = np.arange(self.spans.size) - 0.5 * (self.spans.size - 1)
        steady = self.intervals * np.exp(-self.drift / self.spans.size * rows)
        return float(steady.std() / steady.mean())

    @property
    def volume(self) -> float:
        """What the bursts moved."""
        return float(self.bursts.volume.sum())

    @property
    def usual_volume(self) -> float:
        """What the bursts moved, if each had moved as much as half of them do at most."""
        return float(np.median(self.bursts.volume)) * len(self.bursts)

    def interval(self) -> tuple[float, float]:
        """Return the 95 % confidence interval of the period in s: T ± t_{0.975} · deviation / √n."""
        from scipy.special import stdtrit

        n, period = self.spans.size, self.period
        spread = float(self.intervals.std()) if self.pause > 0 else self.jitter * period
        half = float(stdtrit(n - 1, 0.975)) * spread / math.sqrt(max(n - 1, 1))
        return max(period - half, 0.0), period + half


def trains_of(bursts: Bursts, alpha: float, pauses: bool = False) -> list[PulseTrain]:
    """Return the pulse trains in a set of bursts, in the order of time.

    Parameters
    ----------
    bursts : Bursts
        At least four.
    alpha : float
        False-alarm rate.
    pauses : bool
        Whether the time from each end to the next start is looked at, instead of that from start to start.

    Notes
    -----
    The Bayes factor B of a stretch's law against free intervals has a mean of at most 1 where they are free (it is an
    e-value), and so has the sum of w B over all sets of bursts with weights w. By Markov's inequality w B exceeds
    1 / alpha in at most a share alpha of such signals; no count of sets or frequencies is needed.
    """
    if len(bursts) <= FEWEST_INTERVALS:
        return []
    intervals = bursts.start[1:] - bursts.end[:-1] if pauses else np.diff(bursts.start)
    return _of_intervals(bursts, intervals, alpha, pauses) if bool(np.all(intervals > 0)) else []


def _of_intervals(bursts: Bursts, intervals: Floats, alpha: float, pauses: bool) -> list[PulseTrain]:
    spans = np.ones(intervals.size) if pauses else spans_of(intervals)
    found = []
    for part in stretches(intervals, spans):
        if part.law == FREE:
            continue
        cuts = (part.first > 0) + (part.stop < intervals.size)
        gain = part.gain - cuts * math.log(intervals.size) + bursts.log_weight
        own = spans[part.first : part.stop] if part.law == MISSING else np.ones(part.stop - part.first)
        later = float(bursts.start[part.stop + 1]) if part.stop + 1 < len(bursts) else math.inf
        pause = float(intervals[part.first : part.stop].mean()) if pauses else 0.0
        law = STEADY if pauses else part.law
        train = PulseTrain(bursts[part.first : part.stop + 1], own, law, gain, later, pause)
        train = train if pauses or law == DRIFTING else _trimmed(train)
        most = PAUSE_JITTER if pauses else MOST_JITTER
        # The cuts have been paid for in the division; half of their cost guards against chance.
        own_gain = part.gain - 0.5 * cuts * math.log(intervals.size)
        if own_gain >= -BESIDE * math.log(alpha) and train.jitter <= most and abs(train.drift) <= MOST_DRIFT:
            found.append(train)
    # Where the set as a whole is beyond chance, a single stretch of it need not be so by itself.
    if sum(train.gain - bursts.log_weight for train in found) + bursts.log_weight < -math.log(alpha):
        return []
    return joined(found)


def _trimmed(train: PulseTrain) -> PulseTrain:
    """Leave out a first or last interval unlike the others: a pause beside the stretch, cheaper than a cut."""
    for edge, rest in ((0, slice(1, None)), (-1, slice(None, -1))):
        intervals = train.intervals
        others = intervals[rest]
        if others.size <= FEWEST_INTERVALS:
            break
        least = max(PAUSE_DEVIATIONS * float(others.std()), SAME_PERIOD * float(others.mean()))
        if abs(float(intervals[edge] - others.mean())) > least:
            later = train.next_start if edge == 0 else float(train.bursts.start[-1])
            train = replace(train, bursts=train.bursts[rest], spans=train.spans[rest], next_start=later)
    return train


def joined(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Join neighbours of one period with a gap of few periods, and give a burst that two share to the later one."""
    found: list[PulseTrain] = []
    for train in trains:
        if found and (one := _as_one(found[-1], train)) is not None:
            found[-1] = one
            continue
        if found and found[-1].bursts.start[-1] >= train.start:
            before = found[-1]
            kept = int(np.searchsorted(before.bursts.start, train.start))
            if kept >= FEWEST_INTERVALS:
                bursts = before.bursts[:kept]
                found[-1] = replace(before, bursts=bursts, spans=before.spans[: kept - 1], next_start=train.start)
        found.append(train)
    return found


def _as_one(before: PulseTrain, after: PulseTrain) -> PulseTrain | None:
    """Return two trains as one, where the period is the same and the gap is of a few periods that have no phase."""
    slow, fast = sorted((before, after), key=lambda train: -train.period)
    times = max(round(slow.period / fast.period), 1)
    if 1 < times < MOST_SPANS and len(slow.bursts) <= FEW_SLOW and abs(slow.period / fast.period / times - 1) < 0.02:
        # Every second phase or more is missing for a while.
        each = replace(slow, spans=times * slow.spans)
        before, after = (each, after) if slow is before else (before, each)
    mean = 0.5 * (before.period + after.period)
    gap = float(after.start - before.bursts.start[-1])
    jitter = max(before.jitter, after.jitter)
    fewer = min(before.spans.size, after.spans.size)
    # Jitter makes the means of few intervals differ.
    tolerance = min(SAME_PERIOD, 0.02 + 2 * jitter / math.sqrt(fewer))
    if DRIFTING in (before.law, after.law) or before.pause or after.pause:
        return None
    if abs(before.period - after.period) > tolerance * mean:
        return None
    lost = max(round(gap / mean), 1)
    if gap <= 0:
        between = np.zeros(0)
        later = after.bursts[1:]
    elif lost <= MOST_SPANS and abs(gap - lost * mean) <= max(0.2, jitter) * mean:
        between = np.array([float(lost)])
        later = after.bursts
    else:
        return None
    bursts = Bursts(
        np.append(before.bursts.start, later.start),
        np.append(before.bursts.end, later.end),
        np.append(before.bursts.volume, later.volume),
        before.bursts.log_weight,
    )
    spans = np.concatenate((before.spans, between, after.spans))
    law = MISSING if bool(np.any(spans > 1)) else STEADY
    return PulseTrain(bursts, spans, law, before.gain + after.gain, after.next_start)
