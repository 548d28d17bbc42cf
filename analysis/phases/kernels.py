"""Compiled loops: the most probable partition of intervals, the best chain of bursts, the longest quiet stretch.

The module needs numba; import it inside the function that uses it.
"""

import math

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled

Floats = npt.NDArray[np.float64]

Rows = npt.NDArray[np.int64]

Flags = npt.NDArray[np.bool_]


@compiled
def best_chain(
    start: Floats, used: Flags, period: float, deviation: float, rate: float, missing: float, most: int
) -> tuple[float, Rows, Rows]:
    """Return the gain of the best chain over bursts at random, its rows, and the periods from each to the next.

    Parameters
    ----------
    start : float64 (n,)
        In s, increasing.
    used : bool (n,)
        Bursts of another chain: they may belong to both, and count half.
    period : float
        In s.
    deviation : float
        Of an interval from its number of periods, in s.
    rate : float
        Of bursts at random, in 1/s.
    missing : float
        Probability that a phase is missing.
    most : int
        Largest number of periods from one burst to the next.
    """
    n = start.size
    gain = np.zeros(n)
    before = np.full(n, -1)
    spans = np.zeros(n, np.int64)
    expected = math.log(deviation * math.sqrt(2 * math.pi) * rate)
    for row in range(n):
        for span in range(1, most + 1):
            middle = start[row] - span * period
            reach = 3 * deviation
            at = int(np.searchsorted(start[:row], middle - reach))
            while at < row and start[at] <= middle + reach:
                z = (start[at] - middle) / deviation
                own = -0.5 * z * z + math.log(1 - missing) + (span - 1) * math.log(missing)
                own -= 0.5 * expected if used[row] else expected
                if gain[at] + own > gain[row]:
                    gain[row] = gain[at] + own
                    before[row] = at
                    spans[row] = span
                at += 1
    last = int(np.argmax(gain))
    count = 1
    row = last
    while before[row] >= 0:
        row = int(before[row])
        count += 1
    rows = np.zeros(count, np.int64)
    between = np.zeros(count - 1, np.int64)
    row = last
    for place in range(count - 1, -1, -1):
        rows[place] = row
        if place:
            between[place - 1] = spans[row]
        row = int(before[row])
    return gain[last], rows, between


@compiled
def longest_quiet(times: Floats, cumulative: Floats, first: Rows, last: Rows, most: Floats) -> tuple[Rows, Rows]:
    """Return in each range of rows the ends of the longest stretch of time in which at most so much moves.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.
    first, last : int64 (k,)
        Ranges of rows, both included.
    most : float64 (k,)
        Largest volume of a quiet stretch.
    """
    low, high = first.copy(), first.copy()
    for k in range(first.size):
        begin = first[k]
        longest = -1.0
        for end in range(first[k], last[k] + 1):
            while cumulative[end] - cumulative[begin] > most[k]:
                begin += 1
            if times[end] - times[begin] > longest:
                longest = times[end] - times[begin]
                low[k], high[k] = begin, end
    return low, high


FREE, STEADY, DRIFTING, MISSING = 0, 1, 2, 3
"""Laws of a stretch: any intervals, one period, a period that drifts, and one with phases missing."""


@compiled
def most_probable(
    positions: Rows,
    sums: Floats,
    squares: Floats,
    moments: Floats,
    long_ones: Rows,
    log_spans: Floats,
    tables: Floats,
    counts: Floats,
    shapes: Floats,
    scales: Floats,
    costs: Floats,
    fewest: int,
) -> tuple[Rows, Rows, Floats, float]:
    """Return for each position the one before it in the best partition, the law between them, and its gain over free.

    And the logarithm of the evidence of the whole.

    Parameters
    ----------
    positions : int64 (m,)
        Where stretches may begin and end, from 0 to the number n of intervals.
    sums, squares : float64 (2, n+1)
        Cumulative sums and sums of squares of the logarithms of intervals, and of intervals over their spans.
    moments : float64 (n+1,)
        Cumulative sum of row times logarithm.
    long_ones, log_spans : (n+1,)
        Cumulative number of intervals in which phases are missing, and cumulative logarithms of what they could be.
    tables : float64 (4, n+1)
        What does not depend on the values in the marginal likelihood of as many: two free laws, steady, drifting.
    counts : float64 (3, n+1)
        Logarithms of the terms of the Beta function for whole, for long, and for all intervals.
    shapes, scales : float64 (3,)
        Inverse-gamma laws of the variance.
    costs : float64 (4,)
        Of a cut, of a stretch that is free, of one with a period, and of a further law of it.
    fewest : int
        Least number of intervals with a period.
    """
    size = positions.size
    best = np.full(size, -np.inf)
    best[0] = 0.0
    before = np.zeros(size, np.int64)
    law = np.zeros(size, np.int64)
    gain = np.zeros(size)
    for to in range(1, size):
        for at in range(to):
            a, b = positions[at], positions[to]
            n = b - a
            base = best[at] - (costs[0] if at else 0.0)
            total = sums[0, b] - sums[0, a]
            within = max(squares[0, b] - squares[0, a] - total * total / n, 0.0)
            half = 0.5 * n - 0.5
            free = (
                max(
                    tables[0, n] - (shapes[0] + half) * math.log(scales[0] + 0.5 * within),
                    tables[1, n] - (shapes[1] + half) * math.log(scales[1] + 0.5 * within),
                )
                - costs[1]
            )
            value, kind = free, FREE
            if n >= fewest:
                one = tables[2, n] - (shapes[2] + half) * math.log(scales[2] + 0.5 * within) - costs[2]
                if one > value:
                    value, kind = one, STEADY
                if n > 2 * fewest - 1:
                    lever = (n * n - 1.0) / (12.0 * n)
                    slope = (moments[b] - moments[a] - 0.5 * (a + b - 1) * total) / n
                    rest = max(within - slope * slope / lever, 0.0)
                    one = tables[3, n] - (shapes[2] + half - 0.5) * math.log(scales[2] + 0.5 * rest)
                    one -= costs[2] + costs[3]
                    if one > value:
                        value, kind = one, DRIFTING
                lost = long_ones[b] - long_ones[a]
                ends = long_ones[a + 1] - long_ones[a] + long_ones[b] - long_ones[b - 1]
                # A long interval at an end is a pause beside the stretch.
                if lost > 0 and n > 2.2 * lost and ends == 0:
                    total = sums[1, b] - sums[1, a]
                    within = max(squares[1, b] - squares[1, a] - total * total / n, 0.0)
                    one = tables[2, n] - (shapes[2] + half) * math.log(scales[2] + 0.5 * within)
                    one += counts[0, n - lost] + counts[1, lost] - counts[2, n] - (log_spans[b] - log_spans[a])
                    one -= costs[2] + costs[3]
                    if one > value:
                        value, kind = one, MISSING
            if base + value > best[to]:
                best[to] = base + value
                before[to] = at
                law[to] = kind
                gain[to] = value - free
    return before, law, gain, best[size - 1]
