"""The decision on a signal's bursts: regimes with a period each, trains at the same time, a line, or no period."""

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import pairwise

import numpy as np

from ...model.arrays import Floats, Frozen, differences, median
from .bins import FEWEST_BINS, bin_width, in_units, too_coarse
from .bursts import ALIKE, FEWEST_BURSTS, MOST, MOST_SETS, NEARLY, Bursts, clipped, extent, few_bursts, sets_of_bursts
from .concurrent import concurrent_trains
from .cycles import cycle_length, in_whole_periods
from .kernels import LOOSE_SHAPES
from .line import spectral_line
from .stretches import INSIDE, MOST_JITTER, SAME_PERIOD, PulseTrain, divided, joined, resting_train

SMALLEST = 0.01
"""Share of the volume that bursts with a period move at least, were they all as the median, and of that beside them
from which on the bursts that moved most are listed as well; of the run, that the main period lasts at least."""
PROBABLE = math.log(5)
"""What one period of all bursts may fall short of the logarithm of 1 / alpha: it is probable then, and not certain."""
MOST_GAIN = 70.0
"""A larger gain adds nothing: many short intervals have more of it than the few long ones that they make up."""
GAIN_WEIGHT = 6.0
"""Weight of the logarithm of a set's gain, and of the share that it explains, beside that of its thresholds."""


class Decision(Frozen):
    """What a signal is decided to be, or could be.

    Attributes
    ----------
    kind : str
        "one period", "drift", "regimes", "concurrent", "line", "irregular" or "few".
    trains : tuple of PulseTrain
        Regimes in the order of time, or concurrent trains, that of most volume first.
    bursts : Bursts
        The set of bursts that the decision was made on, of fewer than four where no set has so many.
    busy : float
        Time in s from the first activity to the last.
    line : (float, float) or None
        Period in s and p-value of a spectral line.
    sets : tuple of Bursts
        All sets of bursts, the heaviest first.
    cycle : int or None
        Number of phases of the only train after which their sizes repeat.
    enough : float
        Logarithm of the Bayes factor from which on a regime can be the main one.
    silent : float
        Time in s of pauses between trains in which nothing moves: there is nothing to explain in them.
    """

    kind: str
    trains: tuple[PulseTrain, ...]
    bursts: Bursts
    busy: float = math.inf
    line: tuple[float, float] | None = None
    sets: tuple[Bursts, ...] = ()
    cycle: int | None = None
    enough: float = 0.0
    silent: float = 0.0

    @cached_property
    def main(self) -> PulseTrain:
        """The regime that moved most of those with evidence of their own, or the first train; there must be one."""
        if self.kind == "concurrent":
            return self.trains[0]
        long = [one for one in self.trains if one.length >= SMALLEST * self.busy] or self.trains
        clear = [one for one in long if one.gain + one.bursts.log_weight >= self.enough] or long
        most = max(one.volume for one in clear)
        # Of those that moved nearly as much the longest: which came first, or moved a little more, tells nothing.
        return max((one for one in clear if one.volume >= NEARLY * most), key=lambda one: one.length)

    @property
    def gain(self) -> float:
        """Logarithm of the Bayes factor of all trains times the weight of the thresholds."""
        return sum(train.gain for train in self.trains) + self.bursts.log_weight

    @property
    def whole(self) -> bool:
        """Whether there is one period of all bursts, none of them missing or late."""
        return any(len(one.bursts) == len(self.bursts) and bool((one.spans == 1).all()) for one in self.trains[:1])

    @cached_property
    def explained(self) -> float:
        """Share of the bursts that are in trains, times that of the time, times that of phases that are there."""
        spans = np.concatenate([train.spans for train in self.trains])
        starts = np.unique(np.concatenate([train.bursts.start for train in self.trains]))
        # Trains at the same time are there but once.
        length = max(train.start + train.length for train in self.trains) - min(train.start for train in self.trains)
        busy = self.busy - self.silent
        coverage = min(sum(train.length for train in self.trains), length, busy) / busy
        # Of these a few phases are missing, where one touches that of the other.
        there = spans.size / float(spans.sum())
        there = 1.0 if self.kind == "concurrent" and there > NEARLY else there
        return min(starts.size / len(self.bursts), 1.0) * coverage * there

    @property
    def clearness(self) -> float:
        """How well this describes a signal: by the weight of the thresholds, the gain, and what is explained."""
        worth = math.log1p(min(max(self.gain, 0.0), MOST_GAIN)) + math.log(self.explained)
        return self.bursts.log_weight + GAIN_WEIGHT * worth


def decide(times: Floats, cumulative: Floats, alpha: float, width: float = 0.0) -> Decision:
    """Decide on the periods of a signal.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.
    alpha : float
        False-alarm rate.
    width : float
        Of the bins in s, of a signal that is made of bins; else 0.

    Notes
    -----
    The Bayes factor B of the stretches with a period against free ones has a mean of at most 1 where all are free (it
    is an e-value), and so has the sum of w B over all sets of bursts with weights w. By Markov's inequality it exceeds
    1 / alpha in at most a share alpha of such signals; no count of sets or frequencies is needed.
    """
    sets = tuple(sets_of_bursts(times, cumulative, width))
    if not sets or (width > 0 and too_coarse(times, cumulative, width)):
        return Decision("few", (), few_bursts(times, cumulative))
    low, high = extent(times, cumulative)
    most_jitter = ALIKE if in_units(times, cumulative) else MOST_JITTER
    search = _Search(times, cumulative, alpha, width, sets, high - low, most_jitter)
    best = search.clearest()
    loose = best is None or (len(best.trains) == 1 and best.main.jitter > ALIKE)
    line = spectral_line(times, cumulative, width) if loose else None
    if loose and (rest := resting_train(sets[0], -math.log(alpha))):
        best = Decision("one period", (rest,), sets[0], search.busy)
    if best is not None and not (line and _clearer(line, best, alpha)):
        return search.completed(best)
    if line is not None and line[1] <= alpha and high - low >= SMALLEST * (times[-1] - times[0]):
        return Decision("line", (), sets[0], search.busy, line, sets)
    return Decision("irregular", (), max(sets, key=_evenness), search.busy, None, sets)


class _Search(Frozen):
    """A signal whose sets of bursts are looked through for trains; fields as the parameters of `decide`.

    `busy` is the time in s from the first activity to the last, `most_jitter` the largest jitter of a train.
    """

    times: Floats
    cumulative: Floats
    alpha: float
    width: float
    sets: tuple[Bursts, ...]
    busy: float
    most_jitter: float

    def silent(self, trains: list[PulseTrain]) -> float:
        """Return the time in s of silent pauses between trains; many, or dense ones, are the parts of bursts."""
        dense = max((float((one.bursts.end - one.bursts.start).sum()) / one.length for one in trains), default=1.0)
        if len(trains) >= FEWEST_BURSTS or dense > MOST:
            return 0.0
        pauses = [(one.start + one.length, other.start) for one, other in pairwise(trains)]
        moved = [differences(np.interp(pause, self.times, self.cumulative)) for pause in pauses]
        return sum(max(end - begin, 0.0) for (begin, end), some in zip(pauses, moved, strict=True) if some == 0)

    def accepted(self, kind: str, own: Bursts, trains: list[PulseTrain], share: float, null: float) -> list[Decision]:
        """Return the decision for trains that may be stated, if they explain more than a share of a set of bursts.

        `null` is the logarithm of the Bayes factor of having no period against free intervals.
        """
        shortest, least = FEWEST_BINS * self.width, SMALLEST * (self.times[-1] - self.times[0])
        # What is over in a hundredth of the run is the inside of a burst.
        there = [one for one in trains if one.period >= shortest and one.length >= least]
        good = _lasting([one for one in there if one.jitter <= self.most_jitter])
        if not good:
            return []
        needed = -math.log(self.alpha)
        found = Decision(_kind(kind, good), tuple(good), own, self.busy, enough=needed, silent=self.silent(good))
        clearest = own is self.sets[0]
        loose = found.main.jitter**2 * LOOSE_SHAPES[0 if clearest else 1] > 1
        # Where there is no choice among sets less will do.
        needed -= PROBABLE if found.whole and clearest and found.main.jitter <= 3 * ALIKE else 0.0
        # Anything but one period of all bursts, none missing, is easily found in few intervals, and so are loose ones,
        # the more so where neighbours were merged, which makes any intervals more even.
        needed += found.enough * ((not found.whole) + loose)
        # As if all were as the median: small bursts that touch a larger one count as small.
        moved = sum(median(one.bursts.volume) * len(one.bursts) for one in good)
        enough = moved > SMALLEST * float(self.cumulative[-1]) and found.gain - null >= needed
        return [found] if enough and found.explained > share else []

    def clearest(self) -> Decision | None:
        """Return the clearest of all decisions on regimes and on trains at the same time."""
        parted = [(own, *divided(own)) for own in self.sets]
        # Without a period the intervals of any set may be free, or wander: others then have a period by chance.
        null = max(0.0, *(own.log_weight + wandering for own, _, wandering in parted))
        found = []
        for own, trains, wandering in parted:
            several = self.accepted("regimes", own, trains, 1 - MOST, null - wandering)
            # Some of few intervals often are more alike: then all of them still may be one period.
            whole = trains and not several
            found += self.accepted("regimes", own, divided(own, True)[0], 1 - MOST, null) if whole else several
        for own in self.sets[:MOST_SETS]:
            found += self.accepted("concurrent", own, concurrent_trains(own, MOST * self.busy, self.alpha), MOST, null)
        return max(found, key=lambda one: (one.gain >= one.enough, one.clearness), default=None)

    def completed(self, best: Decision) -> Decision:
        """Return a decision with what lies beside its trains, whole cycles of intervals, and the cycle of sizes."""
        if best.kind != "concurrent":
            trains = [*map(in_whole_periods, best.trains), *self._beside(best.trains)]
            own = tuple(joined(_lasting(sorted(trains, key=lambda one: one.start))))
            best = replace(best, trains=own, kind=_kind("regimes", own))
        cycle = cycle_length(best.trains[0].bursts.volume, self.alpha**2) if len(best.trains) == 1 else None
        return replace(best, sets=self.sets, cycle=cycle)

    def _beside(self, trains: tuple[PulseTrain, ...]) -> list[PulseTrain]:
        """Return the trains in what lies before, between and after others, each part a signal of its own."""
        low, high = extent(self.times, self.cumulative)
        begins = [low, *(float(one.bursts.start[-1]) for one in trains)]
        ends = [*(one.start for one in trains), high]
        found: list[PulseTrain] = []
        for begin, end, near in zip(begins, ends, (trains[0], *trains), strict=True):
            part = clipped(self.times, self.cumulative, begin, end)
            first, last = extent(*part)
            # What is shorter may be the inside of one phase.
            if last - first > 2 * near.period:
                inner = decide(*part, self.alpha, self.width or bin_width(*part))
                found += inner.trains if inner.kind != "concurrent" else ()
        return found


def _clearer(line: tuple[float, float], best: Decision, alpha: float) -> bool:
    """Tell whether a line says more clearly what the period is, as of bursts of which some were miscounted."""
    near = SAME_PERIOD < abs(math.log(line[0] / best.main.period)) < MOST_JITTER
    return near and line[1] < alpha * math.exp(-max(best.gain, 0.0))


def _lasting(trains: list[PulseTrain]) -> list[PulseTrain]:
    """Return regimes but those inside of a burst of a far slower neighbour, over in one period of it."""
    beside = [0.0, *(one.period for one in trains), 0.0]
    slower = map(max, beside, beside[2:])
    return [one for one, period in zip(trains, slower, strict=False) if period <= max(one.length, INSIDE * one.period)]


def _kind(several: str, trains: Sequence[PulseTrain]) -> str:
    """Return what trains are: several of a kind, or one."""
    return several if len(trains) > 1 else "irregular" if not trains else "drift" if trains[0].drift else "one period"


def without(decision: Decision, some: Sequence[PulseTrain]) -> Decision:
    """Return a decision without some of its trains."""
    rest, several = [one for one in decision.trains if one not in some], decision.kind == "concurrent"
    own = tuple(rest if several else joined(rest))
    return replace(decision, trains=own, cycle=None, kind=_kind("concurrent" if several else "regimes", own))


def _evenness(bursts: Bursts) -> float:
    """Return how well bursts stand for a signal without a period: by their weight, like volumes and like intervals."""
    scaled = [x / x.max() for x in (bursts.volume, differences(bursts.start))]
    means = ((x.sum() / x.size, (x * x).sum() / x.size) for x in scaled)
    return bursts.log_weight + GAIN_WEIGHT * sum(math.log(mean / math.sqrt(square)) for mean, square in means)
