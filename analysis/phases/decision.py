"""What the bursts of a signal say: regimes with a period each, trains at the same time, a line, or no period."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ...model.arrays import Floats
from .bins import FEWEST_BINS, bin_width, in_units, too_coarse
from .bursts import ALIKE, MOST, MOST_SETS, NEARLY, Bursts, busy_extent, clipped, few_bursts, sets_of_bursts
from .concurrent import concurrent_trains
from .cycles import cycle_length, in_whole_periods
from .line import spectral_line
from .stretches import MOST_JITTER, SAME_PERIOD, PulseTrain, joined, trains_of

SMALLEST_VOLUME = 0.01
"""Share of the volume that bursts with a period move at least, were they all as the median, and of that beside them
from which on the bursts that moved most are listed as well."""
MOST_GAIN = 70.0
"""A larger gain says no more: many short intervals have more of it than the few long ones that they make up."""
GAIN_WEIGHT = 6.0
"""Weight of the logarithm of a set's gain, and of the share that it explains, beside that of its thresholds."""


@dataclass(frozen=True, eq=False)
class Decision:
    """What is said of a signal, or could be.

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
    """

    kind: str
    trains: tuple[PulseTrain, ...]
    bursts: Bursts
    busy: float = math.inf
    line: tuple[float, float] | None = None
    sets: tuple[Bursts, ...] = ()
    cycle: int | None = None

    @property
    def main(self) -> PulseTrain:
        """The regime that moved most, or the first train; there must be one."""
        return self.trains[0] if self.kind == "concurrent" else max(self.trains, key=lambda train: train.volume)

    @property
    def gain(self) -> float:
        """Logarithm of the Bayes factor of all trains times the weight of the thresholds."""
        return sum(train.gain for train in self.trains) + self.bursts.log_weight

    @property
    def explained(self) -> float:
        """Share of the bursts that are in trains, times that of the time, times that of phases that are there."""
        spans = np.concatenate([train.spans for train in self.trains])
        starts = np.unique(np.concatenate([train.bursts.start for train in self.trains]))
        # Trains at the same time are there but once.
        extent = max(train.start + train.length for train in self.trains) - min(train.start for train in self.trains)
        coverage = min(sum(train.length for train in self.trains), extent, self.busy) / self.busy
        # Of these a few phases are missing, where one touches that of the other.
        there = spans.size / float(spans.sum())
        there = 1.0 if self.kind == "concurrent" and there > NEARLY else there
        return min(starts.size / len(self.bursts), 1.0) * coverage * there

    @property
    def clearness(self) -> float:
        """How well this tells of a signal: by the weight of the thresholds, the gain, and what is explained."""
        told = math.log1p(min(max(self.gain, 0.0), MOST_GAIN)) + math.log(self.explained)
        return self.bursts.log_weight + GAIN_WEIGHT * told


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
    low, high = busy_extent(times, cumulative)
    most = ALIKE if in_units(times, cumulative) else MOST_JITTER
    busy, shortest, least = high - low, FEWEST_BINS * width, SMALLEST_VOLUME * float(cumulative[-1])

    def told(kind: str, own: Bursts, trains: list[PulseTrain], share: float) -> list[Decision]:
        good = tuple(one for one in trains if one.period >= shortest and one.jitter <= most)
        kind = kind if len(good) > 1 else "drift" if good and good[0].drift else "one period"
        found = Decision(kind, good, own, busy)
        # As if all were as the median: small bursts that touch a larger one count as small.
        moved = sum(float(np.median(one.bursts.volume)) * len(one.bursts) for one in good)
        return [found] if moved > least and found.explained > share and found.gain >= -math.log(alpha) else []

    regimes = [trains_of(own) for own in sets]
    # Where the clearest bursts wander, others have a period by chance.
    some = zip(sets, regimes, strict=True) if regimes[0] is not None else ()
    sure = [one for own, trains in some for one in told("regimes", own, trains or [], 1 - MOST)]
    several = [(own, concurrent_trains(own, MOST * busy, alpha)) for own in sets[:MOST_SETS]]
    chains = [one for own, trains in several for one in told("concurrent", own, trains, MOST)]
    best = max((*sure, *chains), key=lambda one: one.clearness, default=None)
    best = best or _resting(sets[0], alpha, busy)
    loose = best is None or (len(best.trains) == 1 and best.main.jitter > ALIKE)
    line = spectral_line(times, cumulative, width) if loose else None
    if best is not None and (line is None or not _is_clearer(line, best, alpha)):
        first = best.trains[0]
        # Anything but one period of all bursts, none missing, is easily found in few intervals.
        whole = first.missing == 0 and len(first.bursts) == len(best.bursts)
        if whole or best.gain >= -2 * math.log(alpha):
            if best.kind != "concurrent":
                others = _beside(best.trains, times, cumulative, alpha, width)
                trains = (*map(in_whole_periods, best.trains), *others)
                own = tuple(joined(sorted(trains, key=lambda one: one.start)))
                best = replace(best, trains=own, kind="regimes" if len(own) > 1 else best.kind)
            cycle = cycle_length(best.trains[0].bursts.volume, alpha**2) if len(best.trains) == 1 else None
            return replace(best, sets=sets, cycle=cycle)
    line = line or spectral_line(times, cumulative, width)
    if line is not None and line[1] <= alpha:
        return Decision("line", (), sets[0], busy, line, sets)
    return Decision("irregular", (), max(sets, key=_evenness), busy, None, sets)


def _beside(
    trains: tuple[PulseTrain, ...], times: Floats, cumulative: Floats, alpha: float, width: float
) -> list[PulseTrain]:
    """Return the trains in what lies before, between and after others, where each part is looked at by itself."""
    low, high = busy_extent(times, cumulative)
    begins = [low, *(float(one.bursts.start[-1]) for one in trains)]
    ends = [*(one.start for one in trains), high]
    found: list[PulseTrain] = []
    for begin, end, near in zip(begins, ends, (trains[0], *trains), strict=True):
        part = clipped(times, cumulative, begin, end)
        first, last = busy_extent(*part)
        # What is shorter may be the inside of one phase.
        if last - first > 2 * near.period:
            inner = decide(*part, alpha, width or bin_width(*part))
            found += inner.trains if inner.kind != "concurrent" else ()
    return found


def _is_clearer(line: tuple[float, float], known: Decision, alpha: float) -> bool:
    """Tell whether a line says more clearly what the period is of bursts of which some were miscounted."""
    near = SAME_PERIOD < abs(math.log(line[0] / known.main.period)) < MOST_JITTER
    return near and line[1] < alpha * math.exp(-max(known.gain, 0.0))


def _resting(bursts: Bursts, alpha: float, busy: float) -> Decision | None:
    """Return all bursts as one train where, whatever their lengths are, the pauses between them are regular."""
    pauses = bursts.start[1:] - bursts.end[:-1]
    if pauses.min() <= 0:
        return None
    for train in trains_of(replace(bursts, start=np.append(0.0, np.cumsum(pauses)))) or []:
        regular = len(train.bursts) == len(bursts) and train.jitter <= ALIKE
        if regular and train.gain + bursts.log_weight >= -math.log(alpha):
            return Decision("one period", (replace(train, bursts=bursts),), bursts, busy)
    return None


def _evenness(bursts: Bursts) -> float:
    """Return how well bursts stand for a signal without a period: by their weight, like volumes and like intervals."""
    scaled = [x / x.max() for x in (bursts.volume, np.diff(bursts.start))]
    return bursts.log_weight + GAIN_WEIGHT * sum(math.log(x.mean() / math.sqrt(np.mean(x * x))) for x in scaled)
