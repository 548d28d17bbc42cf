"""Compiled loops over the bins of a grid: adding operations, and making the next coarser level.

Numba may have to compile it: import it inside the function that uses it.
"""

import math
from typing import NamedTuple

import numpy as np

from ..model.arrays import Floats, Rows
from ..model.kernels import compiled


class GridBins(NamedTuple):
    """The bins of all levels of a grid; that of an exponent lies in row ``exponent % levels``."""

    sizes: Rows
    """(levels,), bins of each level"""
    numbers: Rows
    """(levels, capacity), number of each bin from time zero on, increasing"""
    moved: Rows
    """(levels, capacity), what moved in it"""
    first: Floats
    """(levels, capacity), first activity in it, in s"""
    last: Floats
    """(levels, capacity), last activity in it, in s"""
    operations: Rows
    """(levels, capacity), operations that began in it"""


@compiled
def add_operations(
    start: Floats, end: Floats, volume: Rows, counts: Rows, top: int, finest: int, most: int, bins: GridBins
) -> int:
    """Add operations, or bins of some each, to all levels of a grid; return the exponent of the coarsest.

    That one holds the whole run.

    Parameters
    ----------
    start, end : float64 (n,)
        In s.
    volume : int64 (n,)
        Above 0.
    counts : int64 (n,)
        Operations in each.
    top, finest : int
        Exponents of the coarsest level so far, and of the finest that there may be: bins are 2^exponent s wide.
    most : int
        Bins of a level that are kept, the latest ones, and all of the coarsest.
    bins : GridBins
        With room for at least 2 `most` + 1 bins of each level.
    """
    sizes, numbers, moved, first, last, operations = bins
    levels = sizes.size
    coarsest = 2.0**top
    for row in range(start.size):
        while math.floor(end[row] / coarsest) - math.floor(start[row] / coarsest) >= most:
            top = coarsen(top, bins)
            coarsest *= 2.0
        width = 2.0 * coarsest
        for exponent in range(top, max(finest, top - levels + 1) - 1, -1):
            width *= 0.5
            low = math.floor(start[row] / width)
            high = max(math.ceil(end[row] / width) - 1, low)
            level = exponent % levels
            at = sizes[level] - 1
            if low == high and at >= 0 and numbers[level, at] == high:
                # Most are in the latest bin, and a call costs more than this.
                moved[level, at] += volume[row]
                first[level, at] = min(first[level, at], start[row])
                last[level, at] = max(last[level, at], end[row])
                operations[level, at] += counts[row]
            else:
                keep = most if exponent < top else 0
                # Whatever came before so many bins of one operation cannot be among the latest.
                low = max(low, high - most + 1)
                add_interval(start[row], end[row], volume[row], counts[row], low, high, width, level, keep, bins)
        while sizes[top % levels] > most:
            top = coarsen(top, bins)
            coarsest *= 2.0
    return top


@compiled
def add_interval(
    start: float, end: float, volume: int, count: int, low: int, high: int, width: float, level: int, keep: int,
    bins: GridBins,
) -> None:  # fmt: skip
    """Add some operations to those bins of a level from `low` to `high` among the latest `keep`, 0 for all."""
    if keep and bins.sizes[level] >= keep:
        low = max(low, bins.numbers[level, bins.sizes[level] - keep])
    before = share(start, end, volume, low * width)
    at = -1
    numbers, moved, operations = bins.numbers[level], bins.moved[level], bins.operations[level]
    first, last = bins.first[level], bins.last[level]
    for place in range(low, high + 1):
        after = volume if place == high else share(start, end, volume, (place + 1) * width)
        begin, stop = max(start, place * width), min(end, (place + 1) * width)
        begun = count if begin == start else 0
        size = bins.sizes[level]
        # Most follow the one before, or are new ones at the end, and a call costs more than this.
        if 0 <= at < size - 1 and numbers[at + 1] == place:
            at += 1
            moved[at] += after - before
            operations[at] += begun
            first[at], last[at] = min(first[at], begin), max(last[at], stop)
        elif size < numbers.size and (not size or numbers[size - 1] < place):
            at = size
            numbers[at], moved[at], operations[at] = place, after - before, begun
            first[at], last[at] = begin, stop
            bins.sizes[level] = size + 1
        else:
            at = add_bin(max(at + 1, 0), place, after - before, begun, begin, stop, level, keep, bins)
        before = after


@compiled
def share(start: float, end: float, volume: int, edge: float) -> int:
    """Return what of an operation's volume has moved by a time: whole, so that bins of any width add up exactly."""
    if edge <= start:
        return 0
    return min(int(volume * ((edge - start) / (end - start))), volume) if edge < end else volume


@compiled
def add_bin(
    guess: int, place: int, volume: int, begun: int, begin: float, stop: float, level: int, keep: int, bins: GridBins
) -> int:
    """Add to one bin of a level, which loses all but the latest `keep` bins where it is full; return the bin's column.

    The first column that is looked at is `guess`.
    """
    numbers = bins.numbers[level]
    size = int(bins.sizes[level])
    at = size
    if size and place <= numbers[size - 1]:
        at = guess
        if at >= size or numbers[at] != place:
            at = size - 1 if numbers[size - 1] == place else int(np.searchsorted(numbers[:size], place))
        if numbers[at] == place:
            bins.moved[level, at] += volume
            bins.operations[level, at] += begun
            bins.first[level, at] = min(bins.first[level, at], begin)
            bins.last[level, at] = max(bins.last[level, at], stop)
            return at
    if keep and size == numbers.size:
        drop = size - keep
        for column in range(keep):
            copy_bin(level, column + drop, column, bins)
        size, at = keep, at - drop
        bins.sizes[level] = size
        if at < 0:
            return at
    for column in range(size, at, -1):
        copy_bin(level, column - 1, column, bins)
    numbers[at] = place
    bins.moved[level, at] = volume
    bins.operations[level, at] = begun
    bins.first[level, at] = begin
    bins.last[level, at] = stop
    bins.sizes[level] = size + 1
    return at


@compiled
def copy_bin(level: int, source: int, target: int, bins: GridBins) -> None:
    """Copy a bin of a level from one column to another."""
    bins.numbers[level, target] = bins.numbers[level, source]
    bins.moved[level, target] = bins.moved[level, source]
    bins.first[level, target] = bins.first[level, source]
    bins.last[level, target] = bins.last[level, source]
    bins.operations[level, target] = bins.operations[level, source]


@compiled
def coarsen(top: int, bins: GridBins) -> int:
    """Make the next coarser level of the coarsest one, in place of the finest; return its exponent."""
    fine, coarse = top % bins.sizes.size, (top + 1) % bins.sizes.size
    bins.sizes[coarse] = 0
    for column in range(bins.sizes[fine]):
        guess, place = max(bins.sizes[coarse] - 1, 0), bins.numbers[fine, column] >> 1
        begin, stop = bins.first[fine, column], bins.last[fine, column]
        moved, begun = bins.moved[fine, column], bins.operations[fine, column]
        add_bin(guess, place, moved, begun, begin, stop, coarse, 0, bins)
    return top + 1


UNLIKELY, SMALL = 0.01, 1e-6
"""Probability of a change below which what its run would tell is not looked at, and below which it tells nothing."""
FIRST_RATIO = 9.0
"""Variance of the logarithm of the first pace about the usual one."""


@compiled
def right_since(intervals: Floats, deviations: Floats, changes: float, ratio: float, within: float) -> Floats:
    """Return for each interval how likely the mean of it and all later ones is that of the pace of now.

    It is that of all runs that the last one may be, each with its probability; 0 where it is improbable that a run
    begins with the interval, except with the first one.

    Parameters
    ----------
    intervals : float64 (n,)
        Above 0.
    deviations : float64 (m,)
        Of their logarithms, or of starts about a clock as a share of an interval.
    changes : float
        Probability that a run ends with an interval.
    ratio : float
        Standard deviation of the logarithm of a pace beside the usual one.
    within : float
        Share by which a mean may be off.
    """
    n, usual = intervals.size, math.log(np.median(intervals))
    logs = np.log(intervals) - usual
    place = np.append(0.0, np.cumsum(logs))
    likely, mean, spread = np.empty((3, 2 * deviations.size, n))
    for row in range(2 * deviations.size):
        run_lengths(
            logs, place, deviations[row // 2] ** 2, row % 2 == 1, changes, ratio**2, likely[row], mean[row], spread[row]
        )
    likely = np.exp(likely - likely.max())
    likely /= likely.sum()
    chances = np.zeros(n)
    for first in range(n):
        if first == 0 or likely[:, first].sum() >= UNLIKELY:
            told = math.log(intervals[first:].mean()) - usual
            low, high = told - math.log(1 + within), told - math.log(1 - within)
            for row in range(2 * deviations.size):
                for other in range(n):
                    if likely[row, other] > SMALL:
                        off = math.sqrt(2.0) * spread[row, other]
                        inside = math.erf((high - mean[row, other]) / off) - math.erf((low - mean[row, other]) / off)
                        chances[first] += 0.5 * likely[row, other] * inside
    return chances


@compiled
def run_lengths(
    logs: Floats,
    place: Floats,
    variance: float,
    by_clock: bool,
    changes: float,
    ratio: float,
    likely: Floats,
    mean: Floats,
    spread: Floats,
) -> None:
    """Put down how likely the run of now begins with each interval, and what its mean is.

    Parameters
    ----------
    logs, place : float64 (n,), (n+1,)
        Logarithms of intervals, and their sums.
    variance, ratio : float
        Of the logarithms in a run, or of starts about their clock, and of the means of runs.
    likely, mean, spread : float64 (n,)
        Logarithm of the probability, mean and its standard deviation.
    """
    n = logs.size
    until, levers, alone = np.zeros(n + 1), np.zeros(n + 1), np.zeros(n + 1)
    for count in range(1, n + 1):
        # Starts about a line have its slope as their pace.
        levers[count] = count * (count + 1) * (count + 2) / 12.0 if by_clock else count
        alone[count] = -0.5 * (count * math.log(2 * math.pi * variance) + by_clock * math.log(count + 1.0))
        alone[count] += (count - 1) * math.log(1 - changes)
    again = alone + math.log(changes) - 0.5 * np.log(1 + ratio * levers / variance)
    for stop in range(1, n + 1):
        squares, total, total_squares, moments, highest = 0.0, 0.0, 0.0, 0.0, -math.inf
        for first in range(stop - 1, -1, -1):
            count = stop - first
            squares += logs[first] ** 2
            back = place[first] - place[stop]
            total, total_squares, moments = total + back, total_squares + back * back, moments - count * back
            slope = moments + 0.5 * count * total if by_clock else -back
            rest = total_squares - total * total / (count + 1) if by_clock else squares
            # The first pace may be any; only how far others are off it tells of a change.
            wide = FIRST_RATIO if first == 0 else ratio
            share = wide / (variance + wide * levers[count])
            value = until[first] + again[count]
            if first == 0:
                value = alone[count] - 0.5 * math.log(1 + wide * levers[count] / variance)
            likely[first] = value - 0.5 * (rest - share * slope * slope) / variance
            highest = max(highest, likely[first])
            if stop == n:
                mean[first], spread[first] = share * slope, math.sqrt(share * variance)
        total = 0.0
        for first in range(stop):
            total += math.exp(likely[first] - highest)
        until[stop] = highest + math.log(total)
