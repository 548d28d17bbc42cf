"""Regimes of a run: stretches of phases with one period each, also where no single set of phases shows them all."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from .significance import regularity_p_value, search_trials
from .trains import PhaseTrain, candidate_trains

Floats = npt.NDArray[np.float64]

FEWEST_INTERVALS = 3
USUAL_JITTER = 0.03
"""Usual deviation of the logarithm of intervals within a regime: what the phases of a regular run show."""
USUAL_REACH = 1.0
"""Usual deviation of the logarithm of the periods of a run's regimes: a factor of e."""
SMALLEST_CHANGE = 1.1
"""Factor by which the periods of neighbouring regimes differ at least."""
MOST_JITTER = 0.3
EXTENT_WEIGHT = 4.0
"""Weight of the logarithm of the share of the window that a set of phases fills."""
NEIGHBOURS, MOST_MISSING, MULTIPLE_WITHIN = 7, 3, 0.15
LONGEST_GAP = 3.0
"""Periods between the phases of two stretches of one period that are still one regime."""
DEVIATIONS = 3.5
"""Standard deviations of the jitter by which the periods of neighbouring regimes differ at least."""
DEEPEST = 3
"""How often a stretch in which the phases tell nothing is looked into by itself."""


@dataclass(frozen=True, eq=False)
class RegimePhases:
    """Phases of one regime, in the order of time.

    Attributes
    ----------
    train : PhaseTrain
        The phases; the last one is the first of the next regime where that follows at once.
    p_value : float
        That intervals without a clock are as much alike, corrected for the search.
    """

    train: PhaseTrain
    p_value: float

    @property
    def intervals(self) -> Floats:
        """Times between starts in s; where phases are missing between two, divided by their number."""
        return without_missing(self.train.intervals)

    @property
    def period(self) -> float:
        """Mean interval in s."""
        return float(self.intervals.mean())

    @property
    def jitter(self) -> float:
        """Coefficient of variation of the intervals."""
        return float(self.intervals.std()) / self.period


def divide(intervals: Floats) -> list[tuple[int, int]]:
    """Divide the intervals of a train into stretches of one period.

    Parameters
    ----------
    intervals : float64 (n,)
        Times between starts of phases in s, above 0.

    Returns
    -------
    list of (int, int)
        First interval of each stretch and the one after its last, in the order of time.

    Notes
    -----
    The most probable partition of the logarithms (`iostrata.analysis.phases.change_points`), so that a factor counts
    the same for short periods and for long ones. Neighbouring stretches whose mean periods differ by less than a tenth
    are one regime with a changing jitter: the closest two are joined until none are left. Intervals in which a phase is
    missing count as that many intervals (`without_missing`).
    """
    intervals = without_missing(intervals)
    if intervals.size < 2 * FEWEST_INTERVALS:
        return [(0, intervals.size)]
    from .change_points import partition

    cuts = partition(np.log(intervals), USUAL_JITTER, USUAL_REACH, FEWEST_INTERVALS)
    edges = [0, *cuts.tolist(), intervals.size]
    total = np.concatenate(([0.0], np.cumsum(intervals)))
    while len(edges) > 2:
        at = np.array(edges)
        means = np.log(np.diff(total[at]) / np.diff(at))
        change = np.abs(np.diff(means))
        closest = int(np.argmin(change))
        if change[closest] >= np.log(SMALLEST_CHANGE):
            break
        del edges[closest + 1]
    return list(pairwise(edges))


def without_missing(intervals: Floats) -> Floats:
    """Divide intervals that are a small multiple of those around them, because phases between them are missing.

    Parameters
    ----------
    intervals : float64 (n,)
        Times between starts of phases in s, above 0.

    Returns
    -------
    float64 (n,)
        An interval within 15 % of two, three or four times the median of the seven around it, over that number.
    """
    if intervals.size < NEIGHBOURS:
        return intervals
    from numpy.lib.stride_tricks import sliding_window_view

    usual = np.median(sliding_window_view(intervals, NEIGHBOURS), axis=1)
    side = NEIGHBOURS // 2
    usual = np.concatenate((np.full(side, usual[0]), usual, np.full(side, usual[-1])))
    times = np.maximum(np.rint(intervals / usual), 1.0)
    near = np.abs(intervals / (usual * times) - 1) <= MULTIPLE_WITHIN
    return np.where(near & (times <= MOST_MISSING + 1), intervals / times, intervals)


def wide_apart(parts: Sequence[Floats]) -> bool:
    """Tell whether the mean intervals of neighbouring stretches differ by more than jitter makes them wander.

    Parameters
    ----------
    parts : sequence of float64 arrays
        Intervals in s, phases that are missing counted, of one stretch after the other.
    """
    for before, after in pairwise(parts):
        means = float(before.mean()), float(after.mean())
        jitter = float(np.hypot(before.std() / means[0], after.std() / means[1])) / np.sqrt(2)
        if abs(np.log(means[1] / means[0])) < DEVIATIONS * jitter:
            return False
    return True


def regime_alikeness(train: PhaseTrain, window: float) -> float:
    """Return how well a set of phases describes a signal that may have regimes; the largest is to be taken.

    As `iostrata.analysis.phases.trains.alikeness`, with every variation taken about the mean of the regime and not of
    the run, and with the logarithm of the share of the window that the phases fill: a set that shows the first regime
    alone is more alike than one that shows them all.

    Parameters
    ----------
    train : PhaseTrain
        At least four phases.
    window : float
        Length of the signal in s.
    """
    parts = divide(train.intervals)
    spread = _pooled(without_missing(train.intervals), parts)
    least = min(spread, _pooled(train.bytes[:-1], parts), _pooled(train.cycle_bytes[:-1], parts))
    # Every cut costs a place, a mean and a variance.
    free = max(len(train) - 1 - 3 * (len(parts) - 1), 1)
    luck = 0.05 + 0.3 / free
    margins = float(train.intervals[: parts[0][1]].mean() + train.intervals[parts[-1][0] :].mean()) / 2
    extent = min(1.0, (float(train.start[-1] - train.start[0]) + margins) / window)
    value = min(np.log(train.contrast), np.log(20.0)) + EXTENT_WEIGHT * np.log(extent)
    return float(value - 2 * np.log(least + luck) - 0.5 * np.log(spread + luck))


def find_regimes(times: Floats, cumulative: Floats, alpha: float = 0.01) -> list[RegimePhases]:
    """Find the regimes of a signal.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume; a time may occur twice.
    alpha : float
        Largest p-value of a regime, after correction for the search.

    Returns
    -------
    list of RegimePhases
        In the order of time; disjoint but for the phase at which one regime goes over to the next. Stretches without
        a period, of which every change of regimes may have one, are in none.

    Notes
    -----
    The set of phases that is most alike within its regimes is divided. Phases over one level need not show all
    regimes: bursts that follow each other fast are one long phase beside slow ones. So the stretches beside
    and between regimes are looked into by themselves, where there was room for more.
    """
    found = _found(times, cumulative, alpha, DEEPEST)
    regimes: list[RegimePhases] = []
    for regime in sorted(found, key=lambda regime: (float(regime.train.start[0]), float(regime.train.start[-1]))):
        if regimes and regime.train.start[0] < regimes[-1].train.start[-1]:
            # Its first phase is the regime before it, which was found by looking into that phase.
            later = int(np.searchsorted(regime.train.start, regimes[-1].train.start[-1]))
            regime = RegimePhases(regime.train[later:], regime.p_value)
            if len(regime.train) <= FEWEST_INTERVALS:
                continue
        if regimes and _goes_on(regimes[-1], regime):
            regimes[-1] = _joined(regimes[-1], regime)
        else:
            regimes.append(regime)
    return regimes


def _found(times: Floats, cumulative: Floats, alpha: float, depth: int) -> list[RegimePhases]:
    trains = candidate_trains(times, cumulative)
    if not trains:
        return []
    window = float(times[-1] - times[0])
    best = max(trains, key=lambda train: regime_alikeness(train, window))
    trials = search_trials(best.contrast, len(trains))
    parts = divide(best.intervals)
    # Each cut could have been anywhere, and intervals may have been divided or not.
    cuts = len(best) if len(parts) > 1 else 1
    regimes = []
    for first, stop in parts:
        train = best[first : stop + 1]
        regime = RegimePhases(train, regularity_p_value(without_missing(train.intervals), 2 * trials * cuts))
        if regime.p_value <= alpha and regime.jitter <= MOST_JITTER:
            regimes.append(regime)
    if depth == 0:
        return regimes
    found = list(regimes)
    for low, high in _unexplained(best, regimes, float(times[0]), float(times[-1])):
        found += _found(*_clipped(times, cumulative, low, high), alpha / 2, depth - 1)
    return found


def _goes_on(before: RegimePhases, after: RegimePhases) -> bool:
    """Tell whether two regimes found apart are one: of one period, and nothing long between them."""
    gap = float(after.train.start[0] - before.train.start[-1])
    same = abs(np.log(after.period / before.period)) < np.log(SMALLEST_CHANGE)
    return bool(same and gap <= LONGEST_GAP * max(before.period, after.period))


def _joined(before: RegimePhases, after: RegimePhases) -> RegimePhases:
    one, other = before.train, after.train
    later = other.start > one.start[-1]
    train = PhaseTrain(
        np.concatenate((one.start, other.start[later])),
        np.concatenate((one.end, other.end[later])),
        np.concatenate((one.bytes, other.bytes[later])),
        np.concatenate((one.cycle_bytes, other.cycle_bytes[later])),
        min(one.contrast, other.contrast),
    )
    return RegimePhases(train, min(before.p_value, after.p_value))


def _unexplained(train: PhaseTrain, regimes: list[RegimePhases], start: float, end: float) -> list[tuple[float, float]]:
    """Return the stretches beside and between regimes in which there would have been room for another phase."""
    if not regimes:
        return []
    first, last = regimes[0], regimes[-1]
    stretches = []
    # A phase longer than the period around it is many.
    long_one = float(train.end[0] - train.start[0]) > first.period and first.train.start[0] == train.start[0]
    head = float(train.end[0]) if long_one else float(first.train.start[0])
    if head - start > first.period:
        stretches.append((start, head))
    for before, after in pairwise(regimes):
        low, high = float(before.train.start[-1]), float(after.train.start[0])
        if high - low > 2 * before.period:
            stretches.append((low, high))
    tail = float(last.train.start[-1])
    if end - tail > 2 * last.period:
        stretches.append((tail, end))
    return stretches


def _clipped(times: Floats, cumulative: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Cut the cumulative volume to a stretch; volume that moves in no time at an end is left out."""
    inside = slice(int(np.searchsorted(times, low, side="right")), int(np.searchsorted(times, high, side="left")))
    ends = np.interp([low, high], times, cumulative)
    at = np.concatenate(([low], times[inside], [high]))
    return at, np.concatenate(([ends[0]], cumulative[inside], [ends[1]])) - ends[0]


def _pooled(values: Floats, parts: list[tuple[int, int]]) -> float:
    """Return the coefficient of variation within stretches, over all of them."""
    squares = 0.0
    for first, stop in parts:
        own = values[first:stop]
        mean = float(own.mean())
        if not mean > 0:
            return float("inf")
        squares += float(own.var()) / mean**2 * own.size
    return float(np.sqrt(squares / max(values.size - len(parts) + 1, 1)))
