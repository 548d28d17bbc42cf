"""Sets of bursts of a signal, each with the weight that its thresholds have before anything is known of their times.

A burst is a rise of V(t) - θt, the cumulative volume with a level θ taken off, that is larger than a threshold and
parted from the next by a fall as large. Nobody knows the threshold, so it is taken to be drawn log-uniformly: the sets
of bursts that it gives are a staircase, and the weight of a set is the share of the logarithmic axis on which it is
*the* set. A set that stands out keeps its number of bursts over a wide range of thresholds and has a large weight.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from ...model.arrays import Floats, Frozen, Rows, differences
from ...signals.construction import StepSignal
from .kernels import largest_thresholds, rises_above

FEWEST_BURSTS = 4
"""Three bursts have two intervals, of which any two may be alike."""
NEGLIGIBLE = 1e-3
"""The smallest threshold over the largest: what is a thousand times smaller is no burst beside the others."""
MOST_PERIODS = 12
"""Bursts after which sizes repeat at most; periods and lags that are tried, and harmonics that are added up."""
MOST, NEARLY = 0.6, 0.9
"""Shares from which on a part stands for the whole, and from which on it is nearly all of it."""
ALIKE = 0.1
"""Share of themselves by which times differ at most that are taken for one."""
MOST_SETS = 6
"""Sets of bursts of one level, the heaviest ones; and of all levels, in which trains at the same time are sought."""
LEVELS = 4
"""A level of hardly any rate, the mean rate, and two lower ones, for small bursts beside a giant one."""
RELATIVE_ROUNDING = 1e-12
"""Differences below this share are rounding."""


class Bursts(Frozen):
    """Bursts in the order of time.

    Attributes
    ----------
    start, end : float64 (n,)
        In s.
    volume : float64 (n,)
        Moved from start to end.
    log_weight : float
        Logarithm of the share of thresholds that give this set.
    """

    start: Floats
    end: Floats
    volume: Floats
    log_weight: float = 0.0

    def __len__(self) -> int:
        return int(self.start.size)

    def __getitem__(self, rows: slice | Rows) -> Bursts:
        return Bursts(self.start[rows], self.end[rows], self.volume[rows], self.log_weight)

    def joined(self, other: Bursts) -> Bursts:
        """Return the bursts of both in the order of time, with the weight of this set."""
        end, volume = np.append(self.end, other.end), np.append(self.volume, other.volume)
        both = Bursts(np.append(self.start, other.start), end, volume, self.log_weight)
        return both[np.argsort(both.start, kind="stable")]


def vertices(signal: StepSignal) -> tuple[Floats, Floats]:
    """Return times in s and cumulative volume, float64 (k,) each; a time comes twice where there is an impulse.

    One between two steps of one rate, but for rounding, is left out: pieces of an operation are one.
    """
    change = np.abs(differences(signal.values)) > NEGLIGIBLE**3 * np.abs(signal.values[1:])
    real = np.concatenate(([True], change, [True]))
    real[np.searchsorted(signal.times, signal.impulse_times)] = True
    times, cumulative = signal.times[real], signal.cumulative[real]
    at, inverse = np.unique(np.searchsorted(times, signal.impulse_times), return_inverse=True)
    volumes = np.bincount(inverse, signal.impulse_volumes)
    before = np.maximum(cumulative[at] - volumes, np.where(at > 0, cumulative[np.maximum(at - 1, 0)], 0.0))
    return np.insert(times, at, times[at]), np.insert(cumulative, at, before)


def extent(times: Floats, cumulative: Floats) -> tuple[float, float]:
    """Return when the first activity begins and the last ends, in s: lengths are relative to this one."""
    moving = np.flatnonzero(differences(cumulative) > 0)
    return (float(times[moving[0]]), float(times[moving[-1] + 1])) if moving.size else (0.0, 0.0)


def clipped(times: Floats, cumulative: Floats, low: float, high: float) -> tuple[Floats, Floats]:
    """Cut the cumulative volume to a stretch of time in s; what moves in no time at its ends is left out."""
    inside = (times > low) & (times < high)
    ends = np.interp([low, high], times, cumulative)
    moved = np.concatenate(([ends[0]], cumulative[inside], [ends[1]])) - ends[0]
    return np.concatenate(([low], times[inside], [high])), moved


def levels(times: Floats, cumulative: Floats) -> list[float]:
    """Return the rates over which bursts are looked for: hardly any, the mean while there is I/O, and two lower ones.

    A few large bursts can lift the mean over all others; each lower level is the mean of the signal clipped at the
    level before, θ' = 1/T ∫ min(x, θ) dt.
    """
    steps, volumes = differences(times), differences(cumulative)
    low, high = extent(times, cumulative)
    if high <= low:
        return [0.0]
    mean = float(cumulative[-1]) / (high - low)
    found = [NEGLIGIBLE**2 * mean, mean]
    while len(found) < LEVELS:
        found.append(float(np.minimum(volumes, found[-1] * steps).sum()) / (high - low))
    # What moved in no time is gone after the first clipping.
    return [level for level in found if level >= found[0]]


def sets_of_bursts(times: Floats, cumulative: Floats, bin_width: float = 0.0) -> list[Bursts]:
    """Return the sets of at least four bursts that a signal shows at some thresholds, the heaviest first.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume V, times in s; a time may occur twice.
    bin_width : float
        Width in s of the bins that the signal is made of; 0 where it is exact. Starts are then moved by up to half a
        bin at random (always the same for a signal), as equal intervals between bins are no evidence.

    Notes
    -----
    The rises and falls that remain at a threshold are those of the ones that remain at a lower one, so that one pass
    over each level finds up to where each remains; only sets with most of the axis are then made: O(n ln n).
    """
    rates = levels(times, cumulative) if cumulative[-1] > 0 else []
    distinct: dict[int, Bursts] = {}
    for level in rates:
        for one in _rungs(times, cumulative, level, -math.log(len(rates))):
            # The same starts over several levels: their thresholds add up, and the lowest level has the whole bursts.
            # There may be a million: their hash stands for them.
            key = hash(one.start.tobytes())
            known = distinct.setdefault(key, replace(one, log_weight=-math.inf))
            distinct[key] = replace(known, log_weight=float(np.logaddexp(known.log_weight, one.log_weight)))
    found = sorted(distinct.values(), key=lambda one: -one.log_weight)
    if not (bin_width and found):
        return found
    random = np.random.default_rng(0)
    return [replace(o, start=np.sort(o.start + bin_width * random.uniform(-0.5, 0.5, len(o)))) for o in found]


def _rungs(times: Floats, cumulative: Floats, level: float, log_weight: float) -> Iterator[Bursts]:
    """Yield the sets over one level with most of the logarithmic axis of thresholds."""
    path = cumulative - level * (times - times[0])
    thresholds = np.sort(largest_thresholds(path))
    # Rounding makes a path that is flat wander a little.
    above = float(np.ptp(path))
    lowest = RELATIVE_ROUNDING * (above + cumulative[-1] * NEGLIGIBLE)
    # Until there are four.
    enough = float(thresholds[-FEWEST_BURSTS]) if thresholds.size >= FEWEST_BURSTS else 0.0
    while above > max(lowest, enough):
        above *= 0.5
    highest = max((upper for _, upper in _climb(thresholds, max(above, lowest))), default=0.0)
    lowest = max(NEGLIGIBLE * highest, lowest)
    largest = sorted(_climb(thresholds, lowest), key=lambda rung: rung[1] / rung[0], reverse=True)[:MOST_SETS]
    rows = np.arange(path.size)
    for lower, upper in sorted(largest):
        # Those that remain are of the ones that remained before.
        rows = rows[rises_above(path[rows], lower)]
        foot, top = rows.reshape(-1, 2).T
        share = math.log(math.log(upper / lower) / math.log(highest / lowest))
        yield Bursts(times[foot], times[top], cumulative[top] - cumulative[foot], log_weight + share)


def _climb(thresholds: Floats, lower: float) -> Iterator[tuple[float, float]]:
    """Yield ranges of thresholds with the same rises, given the largest of each in order, while there are four."""
    while (at := int(thresholds.searchsorted(lower))) <= thresholds.size - FEWEST_BURSTS:
        # Nothing changes up to the smallest rise or fall that is left.
        upper = max(float(thresholds[at]) * (1 + RELATIVE_ROUNDING), lower * (1 + ALIKE))
        yield lower, upper
        lower = upper


def few_bursts(times: Floats, cumulative: Floats) -> Bursts:
    """Return the bursts over the mean rate that are not negligible; there may be fewer than four."""
    # The mean of the whole window, so that idle time at its edges distinguishes a burst from a constant.
    path = cumulative - cumulative[-1] / (times[-1] - times[0]) * (times - times[0])
    rows = rises_above(path, max(NEGLIGIBLE * float(np.ptp(path)), RELATIVE_ROUNDING * float(cumulative[-1])))
    foot, top = rows.reshape(-1, 2).T
    return Bursts(times[foot], times[top], cumulative[top] - cumulative[foot])
