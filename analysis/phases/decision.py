"""What the bursts of a signal say: regimes with a period each, trains at the same time, a line, or no period."""

import math
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from .bins import FEWEST_BINS, too_coarse
from .bursts import Bursts, busy_extent, few_bursts, sets_of_bursts
from .concurrent import concurrent_trains, distinct_trains, same_period
from .line import spectral_line
from .stretches import PulseTrain, trains_of, wanders

Floats = npt.NDArray[np.float64]

BIN_ROUNDING = 0.01
"""Starts within bins are moved, so that a period of just four bins may seem to be hardly less."""
SMALLEST_STRETCH = 0.08
"""Share of the busy time below which a stretch that is left free is not looked into."""
SMALLEST_SHARE = 0.35
"""Share of the busy time that periods cover at least: fewer bursts are the parts of one."""
SMALLEST_VOLUME = 0.01
"""Share of the volume that bursts with a period move at least, were they all as the median."""
ALIKE_COVERAGE = 0.9
"""Of sets of bursts whose trains cover as much time as the best, to this share, the clearest is taken."""
MOST_GAIN = 60.0
"""A larger gain says no more: many short intervals have more of it than the few long ones that they make up."""
GAIN_WEIGHT = 6.0
"""Weight of the logarithm of a set's gain, and of the share that it explains, beside that of its thresholds."""
DEEPEST = 2
"""How often a stretch that is left free is looked into by itself."""
MARGIN = 1.0
"""Trains at the same time are more to be told than regimes; they must be that much clearer, as a logarithm."""
MOST_CHAIN_SETS = 3
CHAIN_SHARE, CHAIN_COVERAGE = 0.6, 0.6
"""Share of bursts that concurrent trains explain, and of the busy time that each lasts."""
MOST_BESIDE = 0.5
"""Share of the volume beside the bursts of a set, beyond which no signal without a period is told by it."""
MOST_PHASES = 100_000
"""Bursts that are listed where they have no period."""
PAUSE_WEIGHT = -2.5
"""Smallest logarithm of the weight of a set whose pauses are looked at."""
PAUSE_JITTER = 0.1
"""Largest coefficient of variation of pauses: those that a threshold cuts out of noise are longer than it, so alike."""
MARKOV = 4.0
"""By Markov's inequality w B exceeds 1 / alpha in at most a share alpha of signals; measured, it is a quarter."""
PARTIAL_GAIN = math.log(1000)
"""Logarithm of the Bayes factor that anything but one period of all phases needs."""
LINE_SHARE = 0.05
"""Share of the false-alarm rate of the spectral line, which is looked for last."""
SAME_PERIOD = 0.1
"""Sets of bursts whose main periods differ by less, as a logarithm, tell the same."""


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
    def coverage(self) -> float:
        """Share of the busy time in which a train holds."""
        length, at = 0.0, -math.inf
        for train in sorted(self.trains, key=lambda train: train.start):
            end = float(train.bursts.start[-1]) + train.period
            length += max(0.0, end - max(at, train.start))
            at = max(at, end)
        return min(length / self.busy, 1.0)

    @property
    def explained(self) -> float:
        """Share of the bursts that are in trains, times that of the time, times that of phases that are there."""
        starts = np.unique(np.concatenate([train.bursts.start for train in self.trains]))
        spans = np.concatenate([train.spans for train in self.trains])
        return min(starts.size / len(self.bursts), 1.0) * self.coverage * spans.size / float(spans.sum())

    @property
    def clearness(self) -> float:
        """How well this tells of a signal: by the weight of the thresholds, the gain, and what is explained."""
        # Of bursts that are not alike, fewer count.
        gain = sum(train.gain * _alike(train.bursts.volume) for train in self.trains) + self.bursts.log_weight
        told = math.log1p(min(max(gain, 0.0), MOST_GAIN)) + math.log(self.explained)
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
    bursts : Bursts or None
        The set of bursts that the decision was made on; None where no set has four.
    rest : Bursts or None
        The bursts that moved most, to be listed beside those with a period.
    line : (float, float) or None
        Period in s and p-value of a spectral line.
    explained : float
        Share of the bursts and of the busy time that trains explain.
    sets : int
        Number of sets of bursts.
    """

    kind: str
    trains: tuple[PulseTrain, ...] = ()
    bursts: Bursts | None = None
    rest: Bursts | None = None
    line: tuple[float, float] | None = None
    explained: float = 0.0
    sets: int = 0

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
    sets = sets_of_bursts(times, cumulative, bin_width)
    if not sets or (bin_width > 0 and too_coarse(times, cumulative, bin_width)):
        return Decision("few", (), few_bursts(times, cumulative))
    rest = max(sets, key=lambda one: float(one.volume.sum()))
    smallest = SMALLEST_VOLUME * float(cumulative[-1])
    shortest = FEWEST_BINS * bin_width * (1 - BIN_ROUNDING)
    found = _regimes(times, cumulative, sets, MARKOV * alpha, bin_width, smallest, DEEPEST)
    together = _concurrent(times, cumulative, sets, alpha, shortest, smallest)
    if together is not None:
        distinct = distinct_trains(together.trains)
        known = found is not None and all(any(same_period(one, other) for other in distinct) for one in found.trains)
        # Trains beside those that are known are added to them; the same with more bursts in a period is not news.
        if len(distinct) > 1 if known else found is None or together.clearness > found.clearness + MARGIN:
            kind = "concurrent" if len(distinct) > 1 else "one period"
            return Decision(kind, distinct, together.bursts, rest, None, together.explained, len(sets))
    if found is None:
        # What has no period may have regular pauses between phases of any length.
        clear = [one for one in sets if one.log_weight >= PAUSE_WEIGHT]
        found = _regimes(times, cumulative, clear, alpha, bin_width, smallest, 0, True)
    if found is not None:
        first = found.trains[0]
        # A period of some of the phases, or of phases of which some are missing, is easily found in few of them.
        whole = len(found.trains) == 1 and first.missing == 0 and len(first.bursts) == len(found.bursts)
        if whole or found.gain >= PARTIAL_GAIN:
            kind = "regimes" if len(found.trains) > 1 else "drift" if first.drift else "one period"
            return Decision(kind, found.trains, found.bursts, rest, None, found.explained, len(sets))
    line = spectral_line(times, cumulative, bin_width)
    if line is not None and line[1] <= alpha * LINE_SHARE:
        return Decision("line", (), None, None, line, 0.0, len(sets))
    most = MOST_BESIDE * float(rest.volume.sum())
    few = [one for one in sets if len(one) <= MOST_PHASES and one.volume.sum() >= most] or sets
    clearest = max(few, key=lambda one: one.log_weight + GAIN_WEIGHT * math.log(_alike(one.volume)))
    return Decision("irregular", (), clearest, None, None, 0.0, len(sets))


def _regimes(
    times: Floats,
    cumulative: Floats,
    sets: list[Bursts],
    alpha: float,
    bin_width: float,
    smallest: float,
    depth: int,
    pauses: bool = False,
) -> Explanation | None:
    """Return the trains of the set of bursts that tells most, and those of stretches that it leaves free."""
    low, high = busy_extent(times, cumulative)
    shortest = FEWEST_BINS * bin_width * (1 - BIN_ROUNDING)
    if sets and not pauses and wanders(sets[0]):
        return None
    told: list[Explanation] = []
    for one in sets:
        trains = [train for train in trains_of(one, pauses) if (train.pause or train.period) >= shortest]
        if pauses:
            trains = [train for train in trains if train.jitter <= PAUSE_JITTER]
        explained = Explanation(tuple(trains), one, high - low)
        if trains and explained.explained > SMALLEST_SHARE and sum(train.usual_volume for train in trains) > smallest:
            told.append(explained)
    # A period of a part of the run could have been in any other: that part counts as its weight.
    gains = np.array([one.gain + math.log(one.coverage) for one in told])
    # Sets that tell the same period share its weight.
    periods = np.log([max(one.trains, key=lambda train: train.volume).period for one in told])
    sure = [
        np.logaddexp.reduce(gains[np.abs(periods - period) < SAME_PERIOD]) >= -math.log(alpha) for period in periods
    ]
    told = [one for one, enough in zip(told, sure, strict=True) if enough]
    most = max((one.coverage for one in told), default=0.0)
    best = max(
        (one for one in told if one.coverage >= ALIKE_COVERAGE * most), key=lambda one: one.clearness, default=None
    )
    if best is None or depth == 0:
        return best
    trains = list(best.trains)
    edges = [low, *(edge for train in trains for edge in (train.start, float(train.bursts.end[-1]))), high]
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        if end - begin > SMALLEST_STRETCH * (high - low):
            part = clipped(times, cumulative, begin, end)
            if part[1][-1] > smallest:
                inner = sets_of_bursts(*part, bin_width)
                more = _regimes(*part, inner, alpha / 4, bin_width, smallest, depth - 1)
                trains += more.trains if more is not None else ()
    return replace(best, trains=tuple(sorted(trains, key=lambda train: train.start)))


def _alike(volumes: Floats) -> float:
    """Return how alike volumes are: 1 where they are equal, 1 / √n where all is in one of n."""
    scaled = volumes / volumes.max()
    return float(scaled.sum()) / math.sqrt(scaled.size * float(scaled @ scaled))


def _concurrent(
    times: Floats, cumulative: Floats, sets: list[Bursts], alpha: float, shortest: float, smallest: float
) -> Explanation | None:
    low, high = busy_extent(times, cumulative)
    told = []
    for one in sets[:MOST_CHAIN_SETS]:
        trains = tuple(
            train
            for train in concurrent_trains(one, alpha)
            if train.bursts.start[-1] - train.start > CHAIN_COVERAGE * (high - low)
            and train.period >= shortest
            and train.usual_volume > smallest
        )
        explained = Explanation(trains, one, high - low)
        if trains and explained.explained >= CHAIN_SHARE:
            told.append(explained)
    return max(told, key=lambda one: one.clearness, default=None)


def clipped(times: Floats, cumulative: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Cut the cumulative volume to a stretch; what moves in no time at an end is left out."""
    inside = (times > low) & (times < high)
    ends = np.interp([low, high], times, cumulative)
    moved = np.concatenate(([ends[0]], cumulative[inside], [ends[1]])) - ends[0]
    return np.concatenate(([low], times[inside], [high])), moved
