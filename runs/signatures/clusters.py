"""Step C of IOSI: the bursts that the samples have in common, by an adapted CLIQUE."""

import math
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from typing import Final

import numpy as np
from scipy.special import bdtrc

from ...model.arrays import Floats, Frozen, Ints, Rows, median
from .bursts import Burst
from .coincidence import BusyStretch, coincidences
from .sample import Sample

HEIGHTS: Final = (0.05, 0.25)
"""Heights of a unit, on the axis of correlation (IOSI, section 5.3)."""
ANY_SHAPE: Final = 1.0
"""And this one: beside other traffic the same burst has many shapes."""
SETTINGS: Final = 5
"""Widths and heights of a unit that are tried."""
FALSE_ALARM_RATE: Final = 0.05
"""Signatures with a burst in which samples agree by chance."""
COVER_SHARE: Final = 0.5
"""Share of a burst's mean level that a sample has where the burst may hide in other traffic."""
TESTS: Final = 2
"""Chance has this many ways to a common burst: points that are near, and samples that are busy."""
MOST_PASSES: Final = 4
"""Each common burst that is known makes what is left over rarer, and so others less probable by chance."""
MOST_PEERS: Final = 64
"""With how many points of a neighbourhood each is compared at most."""


class Points(Frozen):
    """Bursts as points, columns of shape (n,).

    Attributes
    ----------
    time : float64
        Of the crest, in s.
    correlation : float64
        With the reference burst, 0 to 1.
    sample : int64
        Place of the sample.
    """

    time: Floats
    correlation: Floats
    sample: Ints


@dataclass(frozen=True)
class UnitGrid:
    """Width in s and height of a unit."""

    width: float
    height: float


class Found(Frozen):
    """A common burst.

    Attributes
    ----------
    rows : intp (k,)
        Its points, of each sample at most one.
    bursts : tuple of Burst
        Those of the points, then stretches of samples in which other traffic covers it.
    evidence : float
        −log10 of the probability that samples agree so well by chance anywhere.
    grid : UnitGrid
        That showed it, the finest where several did.
    """

    rows: Rows
    bursts: tuple[Burst, ...]
    evidence: float
    grid: UnitGrid


def stacked(bursts: Sequence[Burst]) -> tuple[Floats, int]:
    """Return bursts below each other, float64 (n, m), their centres in one column, zeros around; and that column."""
    before, after = _reach(bursts)
    rows = np.zeros((len(bursts), before + after))
    for row, one in zip(rows, bursts, strict=True):
        low = before - (one.centre - one.start)
        row[low : low + len(one.values)] = one.values
    return rows, before


def _reach(bursts: Sequence[Burst]) -> tuple[int, int]:
    """Return how many values bursts have at most before their centres, and from these on."""
    return max(one.centre - one.start for one in bursts), max(one.end - one.centre for one in bursts)


def correlations(bursts: Sequence[Burst]) -> Floats:
    """Return the correlation coefficient of each burst with the average one, float64 (n,), clipped to 0 … 1."""
    # Of very many bursts `stacked` would not fit into memory.
    centre, after = _reach(bursts)
    reference = np.zeros(centre + after)
    for one in bursts:
        low = centre - (one.centre - one.start)
        reference[low : low + len(one.values)] += one.values
    reference /= len(bursts)
    count, mean, deviation = len(reference), reference.mean(), reference.std()
    found = np.zeros(len(bursts))
    for place, one in enumerate(bursts):
        low = centre - (one.centre - one.start)
        # The zeros around a burst add nothing to these sums.
        covariance = one.values @ reference[low : low + len(one.values)] / count - one.values.sum() / count * mean
        spread = math.sqrt(max(0.0, one.values @ one.values / count - (one.values.sum() / count) ** 2))
        found[place] = covariance / (spread * deviation) if spread > 0 and deviation > 0 else 1.0
    return np.clip(found, 0.0, 1.0)


def grids(durations: Floats, times: Sequence[Floats]) -> list[UnitGrid]:
    """Return the grids to try: widths from the mean duration of bursts to their mean distance, and all heights.

    Parameters
    ----------
    durations : float64 (n,)
        Of all bursts, in s.
    times : sequence of float64
        Times of the bursts of each sample, ascending.
    """
    gaps = np.concatenate([np.diff(own) for own in times]) if times else np.zeros(0)
    narrow = float(durations.mean())
    wide = max(narrow, float(gaps.mean())) if len(gaps) else narrow
    widths = dict.fromkeys(np.linspace(narrow, wide, SETTINGS).tolist())
    heights = [*np.linspace(*HEIGHTS, SETTINGS).tolist(), ANY_SHAPE]
    return [UnitGrid(*sides) for sides in product(widths, heights)]


class Clusters:
    """The bursts of all samples as points on the plane of time and shape, and what clusters of them are worth.

    Parameters
    ----------
    bursts : sequence of Burst
        Of all samples, those that count.
    prepared : sequence of Sample
        The samples.
    dense : int
        Distinct samples that make a unit a dense one.
    supported : int
        Distinct samples that make the neighbourhood of a dense unit, with the 8 units around it, a common burst.

    Attributes
    ----------
    points : Points
    """

    def __init__(self, bursts: Sequence[Burst], prepared: Sequence[Sample], dense: int, supported: int) -> None:
        self._bursts = bursts
        self._prepared = prepared
        self._dense = dense
        self._supported = supported
        self._interval = prepared[0].interval
        times = np.array([(one.centre + 0.5) * self._interval for one in bursts])
        sample = np.array([one.sample for one in bursts])
        self.points = Points(times, correlations(bursts), sample)
        self._durations = np.array([one.duration for one in prepared])
        # What is asked for again and again, of each burst and of each sample.
        self._centre = np.array([one.centre for one in bursts])
        self._before = np.array([one.centre - one.start for one in bursts])
        self._after = np.array([one.end - one.centre for one in bursts])
        self._level = np.array([one.values.mean() for one in bursts])
        self._lengths = np.array([len(one.values) for one in prepared])
        self._totals = np.zeros((len(prepared), int(self._lengths.max()) + 1))
        for row, one in zip(self._totals, prepared, strict=True):
            np.cumsum(one.values, out=row[1 : len(one.values) + 1])
        self._known: dict[bytes, tuple[tuple[Burst, ...], float]] = {}

    def common(self) -> tuple[Found, ...]:
        """Return the common bursts in the order of time.

        The neighbourhoods of all grids are candidates, and those with most evidence are taken. IOSI takes one grid for
        all, the one that puts most points into common bursts: a wide one then gathers points that have nothing to do
        with each other, while a narrow one loses bursts that drift. A candidate is common where its points agree too
        well for chance, or, once the first are known and can be left out of what is usual, where its samples are too
        busy at that time.
        """
        sample, time = self.points.sample, self.points.time
        own = [np.sort(time[sample == place]) for place in range(len(self._prepared))]
        durations = np.array([len(one.values) * self._interval for one in self._bursts])
        candidates: dict[bytes, tuple[Rows, UnitGrid]] = {}
        for grid in grids(durations, own):
            for rows in self.neighbourhoods(grid):
                candidates.setdefault(rows.tobytes(), (rows, grid))
        found: tuple[Found, ...] = ()
        for number in range(MOST_PASSES):
            # Bursts that are common do not come by chance.
            other = np.ones(len(sample), np.bool_)
            other[[row for one in found for row in one.rows.tolist()]] = False
            rates = np.unique(
                (np.bincount(sample[other], minlength=len(self._prepared)) + 1) / self._durations, return_counts=True
            )
            shapes = np.sort(self.points.correlation[other])
            judged = [self._judged(rows, grid, rates, shapes) for rows, grid in candidates.values()]
            if number:
                judged += self._busy(list(candidates.values()), found)
            before, found = found, self._apart([one for one in judged if one is not None])
            if number and [one.rows.tolist() for one in before] == [one.rows.tolist() for one in found]:
                break
        return found

    def neighbourhoods(self, grid: UnitGrid) -> list[Rows]:
        """Return for each dense unit of a grid the points that its neighbourhood votes for."""
        samples = len(self._prepared)
        column = np.floor(self.points.time / grid.width).astype(np.int64)
        levels = max(1, math.ceil(1 / grid.height - 1e-9))
        line = np.minimum(np.floor(self.points.correlation / grid.height).astype(np.int64), levels - 1)
        # A line that no point is in parts the columns, so that the one beside the last is none of the next column.
        unit = column * (levels + 1) + line
        order = np.argsort(unit, kind="stable")
        units, first, counts = np.unique(unit[order], return_index=True, return_counts=True)
        distinct = np.unique(unit * samples + self.points.sample) // samples
        dense = np.flatnonzero(np.unique(distinct, return_counts=True)[1] >= self._dense)
        around = [step * (levels + 1) + beside for step in (-1, 0, 1) for beside in (-1, 0, 1)]
        voted: list[Rows] = []
        for place in dense[np.argsort(order[first[dense]])].tolist():
            beside = np.searchsorted(units, wanted := units[place] + around)
            placed = zip(beside.tolist(), wanted.tolist(), strict=True)
            there = [row for row, one in placed if row < len(units) and units[row] == one]
            near = np.concatenate([order[first[row] : first[row] + counts[row]] for row in there])
            voted.append(_voted(self.points, near, grid))
        return voted

    def _judged(self, rows: Rows, grid: UnitGrid, rates: tuple[Floats, Ints], shapes: Floats) -> Found | None:
        """Return the common burst of the points that a neighbourhood voted for; None where it is none.

        Of the points the nearest to their median time are taken, as many as make chance the least probable: that so
        many samples have a burst that near (binomial), of a shape between those taken, anywhere in the plane. Where
        these are too few samples for a common burst it is the least probable number that is enough.

        Parameters
        ----------
        rows : intp (k,)
            Of each sample at most one.
        rates : float64 (r,), int64 (r,)
            How often samples have a burst by chance, in 1/s, and how many have it so often.
        shapes : float64 (n,)
            Correlations of such bursts, ascending.
        """
        time = self.points.time[rows]
        distance = np.abs(time - median(time))
        order = np.argsort(distance, kind="stable")
        samples = len(self._prepared)
        least = max(self._dense, min(2, samples))
        if len(rows) < least:
            return None
        numbers = np.arange(least, len(rows) + 1)
        width = np.maximum(distance[order[numbers - 1]], self._interval)
        correlation = self.points.correlation[rows][order]
        lowest = np.minimum.accumulate(correlation)[numbers - 1] - HEIGHTS[0] / 2
        highest = np.maximum.accumulate(correlation)[numbers - 1] + HEIGHTS[0] / 2
        alike = np.searchsorted(shapes, highest, side="right") - np.searchsorted(shapes, lowest)
        share = (alike + 1) / (len(shapes) + 1)
        near = 1 - np.exp(-2 * width[:, None] * share[:, None] * rates[0]) @ rates[1] / samples
        places = np.maximum(1.0, self._durations.max() / (2 * width)) / share
        chance = TESTS * bdtrc(numbers - 1, samples, near) * places * len(numbers)
        for best in np.argsort(chance, kind="stable").tolist():
            if chance[best] > FALSE_ALARM_RATE:
                break
            core = rows[np.sort(order[: numbers[best]])]
            members, probability = self._covered(core)
            probability = max(float(chance[best]) * probability, 1e-300)
            # A short burst that comes late in one sample lies beside the others, none of which covers it.
            if len(members) >= self._supported and probability <= FALSE_ALARM_RATE:
                return Found(core, members, -math.log10(probability), grid)
        return None

    def _busy(self, candidates: Sequence[tuple[Rows, UnitGrid]], known: Sequence[Found]) -> list[Found]:
        """Return those candidates at whose time too many samples are too busy for chance.

        Their points are those within half a burst of the median time.

        Parameters
        ----------
        candidates : sequence of (intp (k,), UnitGrid)
            What neighbourhoods voted for.
        known : sequence of Found
            Common bursts, which do not count as what samples usually have.
        """
        cores, stretches = [], []
        for rows, grid in candidates:
            time = self.points.time[rows]
            distance = np.abs(time - median(time))
            half = median(self._before[rows] + self._after[rows]) * self._interval / 2
            core = rows[distance <= half]
            if len(core) < max(self._dense, min(2, len(self._prepared))):
                continue
            start, end = self._window(core)
            lag = max(1, round(float(distance[distance <= half].max()) / self._interval))
            cores.append((core, grid))
            stretches.append(BusyStretch(max(0, start), end, lag))
        taken = [self._window(one.rows) for one in known]
        chance = TESTS * coincidences(self._prepared, stretches, taken, self._supported)
        found = []
        for (core, grid), probability in zip(cores, chance.tolist(), strict=True):
            if probability <= FALSE_ALARM_RATE:
                members, _ = self._covered(core)
                if len(members) >= self._supported:
                    found.append(Found(core, members, -math.log10(max(probability, 1e-300)), grid))
        return found

    def _covered(self, core: Rows) -> tuple[tuple[Burst, ...], float]:
        """Return the bursts of `core` and the stretches of other samples in which as much goes on at that time.

        Noise only adds: a sample speaks against a burst only where its throughput is lower. The second result is the
        probability that these samples are so busy at any time.
        """
        key = core.tobytes()
        if key not in self._known:
            self._known[key] = self._covering(core)
        return self._known[key]

    def _covering(self, core: Rows) -> tuple[tuple[Burst, ...], float]:
        start, end = self._window(core)
        level = COVER_SHARE * median(self._level[core])
        low, beyond = max(0, start), np.minimum(self._lengths, end)
        counts = beyond - low
        before = self._totals[:, min(low, self._lengths.max())]
        moved = self._totals[np.arange(len(beyond)), np.maximum(beyond, 0)] - before
        covering = (counts > 0) & (moved >= level * counts)
        covering[self.points.sample[core]] = False
        members, probability = [self._bursts[row] for row in core.tolist()], 1.0
        for place in np.flatnonzero(covering).tolist():
            last = int(beyond[place])
            members.append(Burst(place, low, last, self._prepared[place].values[low:last], False))
            ordered = self._ordered[place]
            # For so much of its time the sample has at least this level.
            probability *= 1.0 - float(np.searchsorted(ordered, level)) / len(ordered)
        return tuple(members), probability

    @cached_property
    def _ordered(self) -> list[Floats]:
        """The values of each sample, ascending."""
        return [np.sort(one.values) for one in self._prepared]

    def _window(self, rows: Rows) -> tuple[int, int]:
        """Return where a burst about the mean centre of the bursts of some points usually starts and ends."""
        centre = round(float(self._centre[rows].sum()) / len(rows))
        return centre - round(median(self._before[rows])), centre + round(median(self._after[rows]))

    def _apart(self, found: Sequence[Found]) -> tuple[Found, ...]:
        """Return the bursts with most evidence, without those that share a point or a time with a better one."""
        used: set[int] = set()
        taken: list[tuple[int, int, Found]] = []
        for one in sorted(found, key=lambda one: (-one.evidence, int(one.rows[0]))):
            low, high = self._window(one.rows)
            rows = set(one.rows.tolist())
            place = bisect_left(taken, low, key=lambda other: other[0])
            before = place and taken[place - 1][1] > low
            after = place < len(taken) and taken[place][0] < high
            if not (before or after or used & rows):
                used |= rows
                taken.insert(place, (low, high, one))
        return tuple(one for _, _, one in taken)


def _voted(points: Points, near: Rows, grid: UnitGrid) -> Rows:
    """Return of each sample the point of a neighbourhood with the least distance to those of the other samples."""
    time, correlation = points.time[near] / grid.width, points.correlation[near] / grid.height
    sample = points.sample[near]
    peers = np.arange(0, len(near), max(1, -(-len(near) // MOST_PEERS)))
    distance = np.hypot(time[:, None] - time[peers], correlation[:, None] - correlation[peers])
    total = (distance * (sample[:, None] != sample[peers])).sum(axis=1)
    order = np.lexsort((near, total, sample))
    first = np.append(True, np.diff(sample[order]) > 0)
    chosen: Rows = near[order[first]]
    return chosen
