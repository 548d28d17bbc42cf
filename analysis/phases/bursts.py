"""Sets of bursts of a signal, each with the weight that its thresholds have before anything is known of their times.

Where one burst ends and the next begins depends on two thresholds: the rate above which there is activity, and the size
of a gap that parts bursts. Nobody knows them, so the second is taken to be drawn log-uniformly: the sets of bursts
that it gives are a staircase, and the weight of a set is the share of the logarithmic axis on which it is *the* set. A
set that stands out keeps its number of bursts over a wide range of thresholds and has a large weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from ...signals.construction import StepSignal

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

FEWEST_BURSTS = 4
"""Three bursts have two intervals, of which any two may be alike."""
THRESHOLD_RANGE = 1e3
"""Ratio of the largest to the smallest threshold: what is a thousand times smaller is no burst beside the others."""
MOST_SETS = 6
"""Sets of bursts of one family, the heaviest ones."""
LOWER_LEVELS = 2
"""Levels below the mean rate, for small bursts beside a giant one."""
SMALL_BURST = 0.05
"""Share of the largest burst below which others do not count, where there are few."""
RELATIVE_ROUNDING = 1e-9
"""Differences below this share are rounding."""


@dataclass(frozen=True, eq=False)
class Bursts:
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
        return replace(self, start=self.start[rows], end=self.end[rows], volume=self.volume[rows])


def vertices(signal: StepSignal) -> tuple[Floats, Floats]:
    """Return times in s and cumulative volume, float64 (k,) each; a time comes twice where there is an impulse."""
    times, cumulative = signal.times, signal.cumulative
    if signal.impulse_times.size == 0:
        return times, cumulative
    at, inverse = np.unique(np.searchsorted(times, signal.impulse_times), return_inverse=True)
    volumes = np.bincount(inverse, signal.impulse_volumes)
    before = np.maximum(cumulative[at] - volumes, np.where(at > 0, cumulative[np.maximum(at - 1, 0)], 0.0))
    return np.insert(times, at, times[at]), np.insert(cumulative, at, before)


def busy_extent(times: Floats, cumulative: Floats) -> tuple[float, float]:
    """Return when the first activity begins and the last ends, in s: lengths are relative to this one."""
    moving = np.flatnonzero(np.diff(cumulative) > 0)
    return (float(times[moving[0]]), float(times[moving[-1] + 1])) if moving.size else (0.0, 0.0)


def levels(times: Floats, cumulative: Floats) -> list[float]:
    """Return the rates over which bursts are looked for: hardly any, the mean while there is I/O, and two lower ones.

    A few large bursts can lift the mean over all others; each lower level is the mean of the signal clipped at the
    level before, θ' = 1/T ∫ min(x, θ) dt.
    """
    moving = np.flatnonzero(np.diff(cumulative) > 0)
    extent = slice(moving[0], moving[-1] + 1)
    steps, volumes = np.diff(times)[extent], np.diff(cumulative)[extent]
    duration = float(steps.sum())
    if duration <= 0:
        return [0.0]
    mean = float(volumes.sum()) / duration
    found = [RELATIVE_ROUNDING * mean, mean]
    for _ in range(LOWER_LEVELS):
        lower = float(np.minimum(volumes, found[-1] * steps).sum()) / duration
        # What moved in no time is gone after the first clipping.
        if lower < found[1] / THRESHOLD_RANGE**2:
            break
        found.append(lower)
    return found


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
    Two families for each level θ: activity above θ, parted by gaps longer than a threshold; and, but for the lowest,
    the rises of V(t) - θ t that are larger than a threshold, of which each needs a fall as large beside it
    (persistence). The latter does not depend on a floor under the signal. O(n log n).
    """
    found: list[Bursts] = []
    rates = levels(times, cumulative) if cumulative[-1] > 0 else []
    for row, level in enumerate(rates):
        log_weight = -math.log(2 * len(rates) - 1)
        found += _parted_by_gaps(times, cumulative, level, log_weight)
        if row > 0:
            found += _parted_by_falls(times, cumulative, level, log_weight)
    distinct: dict[bytes, Bursts] = {}
    for one in found:
        if len(one) < FEWEST_BURSTS or not bool(np.all(np.diff(one.start) > 0)):
            continue
        key = one.start.tobytes()
        known = distinct.get(key)
        # The same starts over several levels: their thresholds add up, and the lowest level has the whole bursts.
        total = one.log_weight if known is None else float(np.logaddexp(known.log_weight, one.log_weight))
        distinct[key] = replace(known or one, log_weight=total)
    found = sorted(distinct.values(), key=lambda one: -one.log_weight)
    if bin_width > 0:
        random = np.random.default_rng(0)
        moved = [np.sort(one.start + bin_width * random.uniform(-0.5, 0.5, len(one))) for one in found]
        found = [replace(one, start=start) for one, start in zip(found, moved, strict=True)]
    return found


def few_bursts(times: Floats, cumulative: Floats) -> Bursts | None:
    """Return the bursts over the mean rate that reach a twentieth of the largest; there may be fewer than four."""
    from .persistence import persistences, rises_above

    if cumulative.size < 2 or not cumulative[-1] > 0:
        return None
    # The mean of the whole window, so that idle time at its edges tells a burst from a constant.
    path = cumulative - cumulative[-1] / (times[-1] - times[0]) * (times - times[0])
    sizes = persistences(path)
    if sizes.size == 0 or sizes[0] <= RELATIVE_ROUNDING * cumulative[-1]:
        return None
    first, stop = rises_above(path, SMALL_BURST * float(sizes[0]))
    return Bursts(times[first], times[stop], cumulative[stop] - cumulative[first])


def _parted_by_gaps(times: Floats, cumulative: Floats, level: float, log_weight: float) -> list[Bursts]:
    above = np.diff(cumulative) > level * np.diff(times) * (1 + RELATIVE_ROUNDING)
    change = np.flatnonzero(np.diff(np.concatenate(([0], above.view(np.int8), [0]))))
    first, stop = change[::2], change[1::2]
    gaps = times[first[1:]] - times[stop[:-1]]

    def bursts(threshold: float) -> tuple[Rows, Rows]:
        cut = np.flatnonzero(gaps > threshold)
        return first[np.append(0, cut + 1)], stop[np.append(cut, stop.size - 1)]

    return _heaviest(gaps, bursts, times, cumulative, log_weight)


def _parted_by_falls(times: Floats, cumulative: Floats, level: float, log_weight: float) -> list[Bursts]:
    from .persistence import persistences, rises_above, turning_points

    path = cumulative - level * (times - times[0])
    rows = turning_points(path)
    turns = path[rows]
    sizes = persistences(turns)

    def bursts(threshold: float) -> tuple[Rows, Rows]:
        feet, tops = rises_above(turns, threshold)
        return rows[feet], rows[tops]

    # Rounding makes a path that is flat wander a little.
    sizes = sizes[sizes > RELATIVE_ROUNDING * (float(np.ptp(turns)) + cumulative[-1] / THRESHOLD_RANGE)]
    return _heaviest(sizes, bursts, times, cumulative, log_weight)


def _heaviest(
    sizes: Floats, bursts: Callable[[float], tuple[Rows, Rows]], times: Floats, cumulative: Floats, log_weight: float
) -> list[Bursts]:
    """Return the sets with most of the logarithmic axis between neighbouring sizes of what parts bursts."""
    sizes = np.sort(sizes)[::-1]
    if sizes.size < FEWEST_BURSTS:
        return []
    smallest = sizes[FEWEST_BURSTS - 1] / THRESHOLD_RANGE
    sizes = np.append(sizes[sizes > smallest], smallest)
    shares = np.log(sizes[:-1] / sizes[1:])
    # Fewer than four bursts say nothing, so that their thresholds count for nobody.
    shares[: FEWEST_BURSTS - 1] = 0.0
    shares /= max(float(shares.sum()), RELATIVE_ROUNDING)
    found = []
    most = np.argpartition(-shares, min(MOST_SETS, shares.size) - 1)[:MOST_SETS]
    for row in np.sort(most):
        if shares[row] > 0:
            first, stop = bursts(float(np.sqrt(sizes[row] * sizes[row + 1])))
            volume = cumulative[stop] - cumulative[first]
            found.append(Bursts(times[first], times[stop], volume, log_weight + math.log(shares[row])))
    return found
