"""What the bursts of a signal say: regimes with a period each, trains at the same time, a line, or no period."""

import math
from dataclasses import dataclass, replace

import numpy as np

from ...model.arrays import Floats
from .bins import FEWEST_BINS, too_coarse
from .bursts import ALIKE, MOST, Bursts, busy_extent, few_bursts, sets_of_bursts
from .concurrent import concurrent_trains, same_period
from .cycles import cycle_length, in_whole_periods
from .line import spectral_line
from .stretches import PulseTrain, trains_of

SMALLEST_VOLUME = 0.01
"""Share of the volume that bursts with a period move at least, were they all as the median, and of that beside them
from which on the bursts that moved most are listed as well."""
MOST_GAIN = 60.0
"""A larger gain says no more: many short intervals have more of it than the few long ones that they make up."""
GAIN_WEIGHT = 6.0
"""Weight of the logarithm of a set's gain, and of the share that it explains, beside that of its thresholds."""
MOST_CHAIN_SETS = 3
"""Sets in which trains at the same time are looked for."""
MARKOV = 4.0
"""By Markov's inequality w B exceeds 1 / alpha in at most a share alpha of signals; measured, it is a quarter."""


@dataclass(frozen=True, eq=False)
class Explanation:
    """Trains in a set of bursts: regimes in the order of time, or concurrent ones; `busy` is the busy time in s."""

    trains: tuple[PulseTrain, ...]
    bursts: Bursts
    busy: float

    @property
    def gain(self) -> float:
        """Logarithm of the Bayes factor of all trains times the weight of the thresholds."""
        return sum(train.gain for train in self.trains) + self.bursts.log_weight

    @property
    def main(self) -> PulseTrain:
        """The train that moved most."""
        return max(self.trains, key=lambda train: train.volume)

    @property
    def coverage(self) -> float:
        """Share of the busy time in which a train holds."""
        return min(sum(train.length for train in self.trains) / self.busy, 1.0)

    @property
    def is_whole(self) -> bool:
        """Whether it is one train of all bursts, none missing: others are easily found in few intervals."""
        train = self.trains[0]
        return len(self.trains) == 1 and train.missing == 0 and len(train.bursts) == len(self.bursts)

    @property
    def explained(self) -> float:
        """Share of the bursts that are in trains, times that of the time, times that of phases that are there."""
        spans = np.concatenate([train.spans for train in self.trains])
        starts = np.unique(np.concatenate([train.bursts.start for train in self.trains]))
        return starts.size / len(self.bursts) * self.coverage * spans.size / float(spans.sum())

    @property
    def clearness(self) -> float:
        """How well this tells of a signal: by the weight of the thresholds, the gain, and what is explained."""
        told = math.log1p(min(max(self.gain, 0.0), MOST_GAIN)) + math.log(self.explained)
        return self.bursts.log_weight + GAIN_WEIGHT * told


@dataclass(frozen=True, eq=False)
class Decision:
    """What is said of a signal.

    Attributes
    ----------
    kind : str
        "one period", "drift", "regimes", "concurrent", "line", "irregular" or "few".
    trains : tuple of PulseTrain
        Regimes in the order of time, or concurrent trains, that of most volume first.
    bursts : Bursts
        The set of bursts that the decision was made on, of fewer than four where no set has so many.
    line : (float, float) or None
        Period in s and p-value of a spectral line.
    explained : float
        Share of the bursts and of the busy time that trains explain.
    sets : tuple of Bursts
        All sets of bursts, the heaviest first.
    cycle : int or None
        Number of phases of the only train after which their sizes repeat.
    """

    kind: str
    trains: tuple[PulseTrain, ...]
    bursts: Bursts
    line: tuple[float, float] | None = None
    explained: float = 0.0
    sets: tuple[Bursts, ...] = ()
    cycle: int | None = None

    @property
    def main(self) -> PulseTrain | None:
        """The regime that moved most, or the first train."""
        if self.kind == "concurrent":
            return self.trains[0]
        return max(self.trains, key=lambda train: train.volume, default=None)


def decide(times: Floats, cumulative: Floats, alpha: float, bin_width: float = 0.0) -> Decision:
    """Decide on the periods of a signal.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.
    alpha : float
        False-alarm rate.
    bin_width : float
        In s, of a signal that is made of bins; else 0.

    Notes
    -----
    The Bayes factor B of the stretches with a period against free ones has a mean of at most 1 where all are free (it
    is an e-value), and so has the sum of w B over all sets of bursts with weights w. By Markov's inequality it exceeds
    1 / alpha in at most a share alpha of such signals; no count of sets or frequencies is needed.
    """
    sets = tuple(sets_of_bursts(times, cumulative, bin_width))
    if not sets or (bin_width > 0 and too_coarse(times, cumulative, bin_width)):
        return Decision("few", (), few_bursts(times, cumulative))
    low, high = busy_extent(times, cumulative)
    busy, shortest, least = high - low, FEWEST_BINS * bin_width, SMALLEST_VOLUME * float(cumulative[-1])

    def told(bursts: Bursts, trains: list[PulseTrain], longest: float, share: float) -> list[Explanation]:
        good = tuple(one for one in trains if one.period >= shortest and one.length > longest * busy)
        found = Explanation(good, bursts, busy)
        # As if all were as the median: small bursts that touch a larger one count as small.
        moved = sum(float(np.median(one.bursts.volume)) * len(one.bursts) for one in good)
        return [found] if moved > least and found.explained > share else []

    regimes = [trains_of(one) for one in sets]
    # Where the clearest bursts wander, others have a period by chance.
    some = zip(sets, regimes, strict=True) if regimes[0] is not None else ()
    sure = _sure([one for own, trains in some for one in told(own, trains or [], 0.0, 1 - MOST)], MARKOV * alpha)
    best, kind = max(sure, key=lambda one: one.clearness, default=None), "regimes"
    several = [(one, concurrent_trains(one, alpha)) for one in sets[:MOST_CHAIN_SETS]]
    chains = [one for own, trains in several for one in told(own, trains, MOST, MOST)]
    together = max(chains, key=lambda one: one.clearness, default=None)
    if together is not None and _is_news(together, best):
        best, kind = together, "concurrent"
    best = best or _resting(sets[0], alpha, busy)
    if best is not None and (best.is_whole or best.gain >= -2 * math.log(alpha)):
        kind = kind if len(best.trains) > 1 else "drift" if best.trains[0].drift else "one period"
        trains = best.trains if kind == "concurrent" else tuple(in_whole_periods(one) for one in best.trains)
        cycle = cycle_length(trains[0].bursts.volume, alpha**2) if len(trains) == 1 else None
        return Decision(kind, trains, best.bursts, None, best.explained, sets, cycle)
    line = spectral_line(times, cumulative, bin_width)
    if line is not None and line[1] <= alpha:
        return Decision("line", (), sets[0], line, 0.0, sets)
    even = [alike(one.volume) * alike(np.diff(one.start)) for one in sets]
    weights = [one.log_weight + GAIN_WEIGHT * math.log(share) for one, share in zip(sets, even, strict=True)]
    clearest = sets[int(np.argmax(weights))]
    return Decision("irregular", (), clearest, None, 0.0, sets)


def _is_news(together: Explanation, known: Explanation | None) -> bool:
    """Tell whether trains at the same time say more than regimes: others beside the same ones, or all more clearly."""
    if known is None:
        return True
    if all(any(same_period(one, other) for other in together.trains) for one in known.trains):
        return len(together.trains) > 1
    return together.clearness > known.clearness


def _resting(bursts: Bursts, alpha: float, busy: float) -> Explanation | None:
    """Return all bursts as one train where, whatever their lengths are, the pauses between them are regular."""
    pauses = bursts.start[1:] - bursts.end[:-1]
    if pauses.min() <= 0:
        return None
    for train in trains_of(replace(bursts, start=np.append(0.0, np.cumsum(pauses)))) or []:
        regular = len(train.bursts) == len(bursts) and train.jitter <= ALIKE
        if regular and train.gain + bursts.log_weight >= -math.log(alpha):
            return Explanation((replace(train, bursts=bursts),), bursts, busy)
    return None


def _sure(told: list[Explanation], alpha: float) -> list[Explanation]:
    """Return what is more than chance; sets that tell the same main period share its weight."""
    # A period of a part of the run could have been in any other: that part counts as its weight.
    gains = np.array([one.gain + math.log(one.coverage) for one in told])
    periods = np.log([one.main.period for one in told])
    pooled = [np.logaddexp.reduce(gains[np.abs(periods - period) < ALIKE]) for period in periods]
    return [one for one, gain in zip(told, pooled, strict=True) if gain >= -math.log(alpha)]


def alike(volumes: Floats) -> float:
    """Return how alike volumes are: 1 where they are equal, 1 / √n where all is in one of n."""
    scaled = volumes / volumes.max()
    return float(scaled.sum()) / math.sqrt(scaled.size * float(scaled @ scaled))
