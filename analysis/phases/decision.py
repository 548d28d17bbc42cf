"""What the bursts of a signal say: regimes with a period each, trains at the same time, a line, or no period."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .bins import FEWEST_BINS, too_coarse
from .bursts import Bursts, busy_extent, few_bursts, sets_of_bursts
from .concurrent import concurrent_trains
from .line import spectral_line
from .stretches import wanders
from .trains import PulseTrain, trains_of

Floats = npt.NDArray[np.float64]

BIN_ROUNDING = 0.01
"""Starts within bins are moved, so that a period of just four bins may seem to be hardly less."""
SMALLEST_STRETCH = 0.08
"""Share of the busy time below which a stretch that is left free is not looked into."""
SMALLEST_SHARE = 0.3
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
SAME, IN_STEP, WHOLE = 0.02, 0.1, 0.8
"""Periods of concurrent trains that differ by less are one, and so are trains of which so many bursts are in step."""
MOST_CHAIN_SETS = 3
CHAIN_SHARE, CHAIN_COVERAGE = 0.6, 0.6
"""Share of bursts that concurrent trains explain, and of the busy time that each lasts."""
MOST_OUTSIDE = 0.5
"""Share of the volume beside the bursts of a set, from which on those that moved most are listed as well."""
MOST_PHASES = 100_000
"""Bursts that are listed where they have no period."""
PAUSE_WEIGHT = -2.5
"""Smallest logarithm of the weight of a set whose pauses are looked at."""
MARKOV = 4.0
"""By Markov's inequality w B exceeds 1 / alpha in at most a share alpha of signals; measured, it is a quarter."""
PARTIAL_GAIN = math.log(1000)
"""Logarithm of the Bayes factor that a single train of a part of the phases needs."""
LINE_SHARE = 0.5
"""Share of the false-alarm rate of the spectral line, which is looked for last."""


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
        The bursts that moved most.
    line : (float, float) or None
        Period in s and p-value of a spectral line.
    coverage : float
        Share of the busy time that trains last.
    sets : int
        Number of sets of bursts.
    """

    kind: str
    trains: tuple[PulseTrain, ...] = ()
    bursts: Bursts | None = None
    rest: Bursts | None = None
    line: tuple[float, float] | None = None
    coverage: float = 0.0
    sets: int = 0

    @property
    def main(self) -> PulseTrain | None:
        """The regime that moved most, or the first train."""
        if self.kind == "concurrent" or not self.trains:
            return self.trains[0] if self.trains else None
        return max(self.trains, key=lambda train: train.volume)


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
    """
    sets = sets_of_bursts(times, cumulative, bin_width)
    if not sets or (bin_width > 0 and too_coarse(times, cumulative, bin_width)):
        return Decision("few", (), few_bursts(times, cumulative))
    low, high = busy_extent(times, cumulative)
    busy = high - low
    shortest = FEWEST_BINS * bin_width * (1 - BIN_ROUNDING)
    rest = max(sets, key=lambda one: float(one.volume.sum()))
    smallest = SMALLEST_VOLUME * float(cumulative[-1])
    trains, bursts = _regimes(times, cumulative, sets, MARKOV * alpha, bin_width, smallest, DEEPEST)
    together, of = _concurrent(sets, busy, alpha, shortest, smallest)
    distinct = _distinct(together)
    known = len(trains) == 1 and any(_same(trains[0], one) for one in distinct)
    # Trains beside the one that is known are added to it; the same with more bursts in a period is not news.
    clearer = _clearness(together, of, busy) > _clearness(trains, bursts, busy) + MARGIN
    if of is not None and (len(distinct) > 1 if known else clearer):
        kind = "concurrent" if len(distinct) > 1 else "one period"
        return Decision(kind, distinct, of, rest, None, _explained(together, of, busy), len(sets))
    if not trains:
        # What has no period may have regular pauses between phases of any length.
        clear = [one for one in sets if one.log_weight >= PAUSE_WEIGHT]
        trains, bursts = _regimes(times, cumulative, clear, alpha, bin_width, smallest, 0, True)
    coverage = _covered(trains) / busy
    if len(trains) == 1 and bursts is not None:
        # A period of some of the phases, or of phases of which some are missing, is easily found in few of them.
        partial = trains[0].missing > 0 or len(trains[0].bursts) < len(bursts)
        if partial and trains[0].gain < PARTIAL_GAIN:
            trains = []
    if trains:
        kind = "regimes" if len(trains) > 1 else "drift" if trains[0].drift else "one period"
        return Decision(kind, tuple(trains), bursts, rest, None, coverage, len(sets))
    line = spectral_line(times, cumulative, bin_width, FEWEST_BINS)
    if line is not None and line[1] <= alpha * LINE_SHARE:
        return Decision("line", (), None, None, line, 0.0, len(sets))
    most = MOST_OUTSIDE * float(rest.volume.sum())
    few = [one for one in sets if len(one) <= MOST_PHASES and one.volume.sum() >= most] or sets
    clearest = max(few, key=lambda one: one.log_weight + GAIN_WEIGHT * math.log(_alike(one.volume)))
    return Decision("irregular", (), clearest, rest if rest in few else None, None, 0.0, len(sets))


def _covered(trains: list[PulseTrain]) -> float:
    return sum(float(train.bursts.start[-1]) - train.start + train.period for train in trains)


def _regimes(
    times: Floats,
    cumulative: Floats,
    sets: list[Bursts],
    alpha: float,
    bin_width: float,
    smallest: float,
    depth: int,
    pauses: bool = False,
) -> tuple[list[PulseTrain], Bursts | None]:
    """Return the trains of the set of bursts that tells most, and those of stretches that it leaves free."""
    low, high = busy_extent(times, cumulative)
    busy = high - low
    told: list[tuple[list[PulseTrain], Bursts]] = []
    if sets and not pauses and wanders(np.diff(sets[0].start)):
        return [], None
    for one in sets:
        trains = [
            train
            for train in trains_of(one, alpha, pauses)
            if (train.pause if pauses else train.period) >= FEWEST_BINS * bin_width * (1 - BIN_ROUNDING)
        ]
        share = min(_covered(trains) / busy, 1.0)
        gain = sum(train.gain for train in trains)
        # A period of a part of the run could have been in any other: that part counts as its weight.
        moved = sum(train.usual_volume for train in trains)
        if share > SMALLEST_SHARE and moved > smallest and gain + math.log(share) >= -math.log(alpha):
            told.append((trains, one))
    if not told:
        return [], None
    most = max(min(_covered(trains), busy) for trains, _ in told)
    trains, bursts = max(
        (one for one in told if _covered(one[0]) >= ALIKE_COVERAGE * most),
        key=lambda one: _clearness(one[0], one[1], busy),
    )
    if depth == 0:
        return trains, bursts
    found = list(trains)
    edges = [low, *(edge for train in trains for edge in (train.start, float(train.bursts.start[-1]))), high]
    for begin, end in zip(edges[::2], edges[1::2], strict=True):
        inside = [float(train.bursts.end[-1]) for train in trains if train.bursts.start[-1] == begin]
        begin = max([begin, *inside])
        if end - begin > SMALLEST_STRETCH * busy:
            part = clipped(times, cumulative, begin, end)
            if part[1][-1] > smallest:
                inner = sets_of_bursts(*part, bin_width)
                found += _regimes(*part, inner, alpha / 4, bin_width, smallest, depth - 1)[0]
    return sorted(found, key=lambda train: train.start), bursts


def _clearness(trains: list[PulseTrain], bursts: Bursts | None, busy: float) -> float:
    """Return how well trains tell of a signal: by the weight of the thresholds, their gain, and what they explain."""
    if bursts is None or not trains:
        return -math.inf
    gain = 0.0
    for train in trains:
        # Of bursts that are not alike, fewer count.
        gain += train.gain * _alike(train.bursts.volume)
    explained = math.log(_explained(trains, bursts, busy))
    return bursts.log_weight + GAIN_WEIGHT * (math.log1p(min(max(gain, 0.0), MOST_GAIN)) + explained)


def _alike(volumes: Floats) -> float:
    """Return how alike volumes are: 1 where they are equal, 1 / √n where all is in one of n."""
    scaled = volumes / volumes.max()
    return float(scaled.sum()) / math.sqrt(scaled.size * float(scaled @ scaled))


def _explained(trains: list[PulseTrain], bursts: Bursts | None, busy: float) -> float:
    """Return the share of bursts that trains explain, times the share of the busy time in which one of them holds."""
    if bursts is None or not trains:
        return 0.0
    starts = np.unique(np.concatenate([train.bursts.start for train in trains]))
    at = covered = -math.inf
    length = 0.0
    for train in sorted(trains, key=lambda train: train.start):
        covered = float(train.bursts.start[-1]) + train.period
        length += max(0.0, covered - max(at, train.start))
        at = max(at, covered)
    return min(starts.size / len(bursts), 1.0) * min(length / busy, 1.0)


def _concurrent(
    sets: list[Bursts], busy: float, alpha: float, shortest: float, smallest: float
) -> tuple[list[PulseTrain], Bursts | None]:
    best: tuple[float, list[PulseTrain], Bursts | None] = (-math.inf, [], None)
    for one in sets[:MOST_CHAIN_SETS]:
        trains = [
            train
            for train in concurrent_trains(one, alpha)
            if train.bursts.start[-1] - train.start > CHAIN_COVERAGE * busy
            and train.period >= shortest
            and train.usual_volume > smallest
        ]
        if not trains:
            continue
        clear = _clearness(trains, one, busy)
        if _explained(trains, one, busy) >= CHAIN_SHARE and clear > best[0]:
            best = (clear, trains, one)
    return best[1], best[2]


def _distinct(trains: list[PulseTrain]) -> tuple[PulseTrain, ...]:
    """Return trains of different periods, that of most volume first; the volumes of one period add up."""
    found: list[PulseTrain] = []
    for train in sorted(trains, key=lambda train: train.period):
        if not any(_same(train, other) or _in_step(train, other) for other in found):
            found.append(train)
    # A phase that is missing touches one of another train.
    return tuple(sorted(found, key=lambda train: -train.volume * float(train.spans.sum()) / train.spans.size))


def _same(one: PulseTrain, other: PulseTrain) -> bool:
    return abs(one.period / other.period - 1) <= SAME


def _in_step(slow: PulseTrain, fast: PulseTrain) -> bool:
    """Tell whether most bursts of one train would be missing ones of another."""
    at = np.clip(np.searchsorted(fast.bursts.start, slow.bursts.start), 1, len(fast.bursts) - 1)
    turns = (slow.bursts.start - fast.bursts.start[at - 1]) / fast.period
    return bool(np.mean(np.abs(turns - np.rint(turns)) < IN_STEP) > WHOLE)


def clipped(times: Floats, cumulative: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Cut the cumulative volume to a stretch; what moves in no time at an end is left out."""
    inside = (times > low) & (times < high)
    ends = np.interp([low, high], times, cumulative)
    moved = np.concatenate(([ends[0]], cumulative[inside], [ends[1]])) - ends[0]
    return np.concatenate(([low], times[inside], [high])), moved
