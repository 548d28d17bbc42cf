"""Compiled loops: rises of a path, the most probable stretches, the best chain of bursts, the longest quiet stretch.

Numba may have to compile it.
"""

import math

import numpy as np

from ...model.arrays import Floats, Mask, Rows
from ...model.kernels import compiled, inner


@compiled
def rises_above(path: Floats, threshold: float) -> Rows:
    """Return the rows of foot and top, in turn, of every rise of at least `threshold`, parted by falls of as much.

    These are the rises whose persistence reaches the threshold (Edelsbrunner, Letscher, Zomorodian 2002, for one
    dimension). A rise begins where the path last lay at its foot and ends where it first reached its top.

    Parameters
    ----------
    path : float64 (n,)
        Any path.
    threshold : float
        Above 0.
    """
    rows = np.empty(path.size + 1, np.int64)
    count = at = 0
    sign = 1.0
    for row in range(path.size):
        step = sign * (path[row] - path[at])
        if step < 0 or (step == 0 and sign > 0):
            at = row
        elif step >= threshold:
            rows[count] = at
            count, at, sign = count + 1, row, -sign
    rows[count] = at
    return rows[: count + (sign < 0)].copy()


@compiled
def largest_thresholds(path: Floats) -> Floats:
    """Return the largest threshold at which `rises_above` still has each rise of a path, of all that it ever has."""
    ends, found = np.empty(path.size + 1), np.empty(path.size // 2 + 1)
    count = depth = 0
    # Behind all it falls, which ends them.
    for value in np.append(path, -math.inf):
        # Feet and tops in turn: one that goes on is none yet.
        if depth > 0 and (value <= ends[depth - 1]) == (depth % 2 > 0):
            depth -= 1
        # What goes back by as much as the rise or fall before leaves nothing of it, and of what that went back.
        while depth > 1 and abs(value - ends[depth - 1]) >= abs(ends[depth - 1] - ends[depth - 2]):
            found[count], count, depth = abs(ends[depth - 1] - ends[depth - 2]), count + 1, depth - 2
        ends[depth], depth = value, depth + 1
    return found[:count].copy()


@compiled
def moving_order(values: Floats, width: int, place: int) -> Floats:
    """Return of each `width` values that follow one another the one at a place among them in order."""
    ordered, found = np.sort(values[:width]), np.empty(values.size - width + 1)
    for row in range(found.size):
        found[row] = ordered[place]
        # The one that is over gives way to the next.
        at, new = np.searchsorted(ordered, values[row]), values[min(row + width, values.size - 1)]
        while at > 0 and ordered[at - 1] > new:
            ordered[at], at = ordered[at - 1], at - 1
        while at < width - 1 and ordered[at + 1] < new:
            ordered[at], at = ordered[at + 1], at + 1
        ordered[at] = new
    return found


@compiled
def path_to(last: int, before: Rows) -> Rows:
    """Return the rows of the path that ends with a row, given the one before each; -1 is before the first."""
    rows = [last]
    while before[rows[-1]] >= 0:
        rows.append(before[rows[-1]])
    return np.array(rows[::-1])


@compiled
def best_chain(
    start: Floats, used: Mask, period: float, deviation: float, rate: float, missing: float, most: int
) -> tuple[float, Rows, Floats]:
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
    n, there, gone = start.size, math.log(1 - missing), math.log(missing)
    gain, before, spans = np.zeros(n), np.full(n, -1), np.zeros(n)
    expected = math.log(deviation * math.sqrt(2 * math.pi) * rate)
    for row in range(n):
        for span in range(1, most + 1):
            middle, reach = start[row] - span * period, 3 * deviation
            at = int(np.searchsorted(start[:row], middle - reach))
            while at < row and start[at] <= middle + reach:
                z = (start[at] - middle) / deviation
                own = -0.5 * z * z + there + (span - 1) * gone
                own -= 0.5 * expected if used[row] else expected
                if gain[at] + own > gain[row]:
                    gain[row], before[row], spans[row] = gain[at] + own, at, span
                at += 1
    rows = path_to(int(np.argmax(gain)), before)
    return gain[rows[-1]], rows, spans[rows[1:]]


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
        ends = np.arange(first[k], last[k] + 1)
        begins = np.maximum(np.searchsorted(cumulative, cumulative[ends] - most[k]), first[k])
        longest = np.argmax(times[ends] - times[begins])
        low[k], high[k] = begins[longest], ends[longest]
    return low, high


FREE_SHAPE, LOOSE_SHAPES = 2.0, (8.0, 16.0)
"""Shapes of gamma laws of intervals d: of free ones, as those that are cut out of noise (jitter 0.7), and of periods
that hardly are such (0.35 and 0.25)."""
STEADY_LAW, WANDERING_LAW, WILD_LAW = (0.5, 0.03), (FREE_SHAPE, 0.2), (4.0, 1.0)
"""Inverse-gamma laws (shape, size) of the deviation of ln d: of a period, of the change from one interval to the next
where intervals wander, and of free ones of all lengths."""
RANGE = 4.0
"""Range before anything is known of the mean of ln d, relative to its median, and of its drift over a stretch."""
PRESENT_LAW = (12.0, 1.0)
"""Beta law of the share of phases that are there, or not late."""
FREE, STEADY, DRIFTING, MISSING, DELAYED, WANDERING = 0, 1, 2, 3, 4, 5
"""Laws of a stretch: any intervals, one period, one that drifts, one with phases missing, one with some delayed, and no
period, each interval a random factor from the one before."""
_LOG_2_PI, _LOG_RANGE, _FURTHER = map(math.log, (math.tau, RANGE, DELAYED))
"""What compiled loops would find anew each time; the last is what a law costs beside those of FREE and STEADY."""


@inner
def log_marginal(freedom: int, within: float, law: tuple[float, float], known: Floats) -> float:
    """Return ln p of normal values about a mean, with a variance from an inverse-gamma law (Murphy 2007).

    Parameters
    ----------
    freedom : int
        Number of values less that of parameters fitted to them.
    within : float
        Sum of their squared deviations.
    law : (float, float)
        Shape, and size of a deviation.
    known : float64 (m,)
        What `ln_gamma` has found.
    """
    shape, scale = law[0], law[0] * law[1] ** 2
    found = ln_gamma(shape + 0.5 * freedom, known) - ln_gamma(shape, known) + shape * math.log(scale)
    return found - (shape + 0.5 * freedom) * math.log(scale + 0.5 * within) - 0.5 * freedom * _LOG_2_PI


@inner
def log_renewal(n: int, logs: float, total: float, shape: float, known: Floats) -> float:
    """Return ln p of the logarithms of n intervals of a gamma law of a shape, given their sums, whatever their mean.

    `total` is the logarithm of that of the intervals, `known` as of `log_marginal`.
    """
    return ln_gamma(n * shape, known) - n * ln_gamma(shape, known) + shape * logs - n * shape * total


@inner
def ln_gamma(value: float, known: Floats) -> float:
    """Return ln Γ of half a whole number; of those that `known` has room for it is kept there, 0 is not known yet."""
    row = min(int(2 * value), known.size - 1)
    if known[row] == 0 or row == known.size - 1:
        known[row] = math.lgamma(value)
    return float(known[row])


@inner
def _fill_laws(values: Floats, first: int, stop: int, part: Floats, step: float, known: Floats) -> None:
    """Write how probable the intervals of rows first to stop are under each law, given their sums.

    `part` are these as of `most_probable`, `step` the squared step to the first of them, `known` is as of
    `log_marginal`. The factor 1 / sqrt n of a mean that is anywhere is left out of all.
    """
    n, total, steps = stop - first, part[0], part[13] - step
    (here, lost), further, anywhere, duration = PRESENT_LAW, _FURTHER, 0.5 * math.log(n), math.log(part[14])
    within = max(part[1] - total * total / n, 0.0)
    values[:] = -np.inf
    wild = log_marginal(n - 1, within, WILD_LAW, known)
    values[FREE] = max(anywhere + log_renewal(n, total, duration, FREE_SHAPE, known), wild)
    if n >= 3:
        values[STEADY] = log_marginal(n - 1, within, STEADY_LAW, known)
        for shape in LOOSE_SHAPES:
            values[STEADY] = max(values[STEADY], anywhere + log_renewal(n, total, duration, shape, known))
    if n >= 6:
        # The first of intervals that wander is anywhere, and each of the others a random factor away.
        values[WANDERING] = log_marginal(n - 1, steps, WANDERING_LAW, known) + anywhere - further
        slow = log_marginal(n - 1, steps, STEADY_LAW, known) + anywhere - further
        # Those that remember half of the deviation before: the rest, but for the ends, varies by so much.
        rest = log_marginal(n - 1, 0.25 * within * (1 + 2 / n) + 0.5 * steps, STEADY_LAW, known)
        values[STEADY] = max(values[STEADY], slow, rest + 0.5 * math.log(3.0) - 2 * further)
        lever = (n * n - 1.0) / (12.0 * n)
        slope = (part[2] - 0.5 * (first + stop - 1) * total) / n
        drifting = log_marginal(n - 2, max(within - slope * slope / lever, 0.0), STEADY_LAW, known)
        values[DRIFTING] = drifting - 0.5 * math.log(lever) - _LOG_RANGE - further
    for law in (MISSING, DELAYED):
        told, own, squares, long, ways = part[5 * (law - MISSING) + 3 : 5 * (law - MISSING) + 8]
        if long > 0 and n > 2.2 * long and told >= 3:
            share = ln_gamma(here + lost, known) - ln_gamma(here, known) - ln_gamma(lost, known)
            share += ln_gamma(here + n - long, known) + ln_gamma(lost + long, known) - ln_gamma(here + lost + n, known)
            alike = log_marginal(int(told) - 1, max(squares - own * own / told, 0.0), STEADY_LAW, known)
            values[law] = alike + 0.5 * math.log(n / told) + share - ways - further


@compiled
def sums_until(positions: Rows, logs: Floats, spans: Floats, late: Mask) -> Floats:
    """Return the sums up to each position that `most_probable` takes, given the columns of `stretches`."""
    # A delay is as likely to be of any length, on a logarithmic axis.
    sums, run, at, ways = np.zeros((positions.size, 16)), np.zeros(16), 0, math.log(math.log(RANGE))
    for row in range(logs.size):
        x, step, span = logs[row], (logs[row] - logs[max(row - 1, 0)]) ** 2, spans[row]
        if row == positions[at]:
            sums[at], sums[at, 15] = run, step
            at += 1
        # One by one, as most of them are seldom anything.
        single = x - math.log(span) if span > 1 else x
        run[0], run[1], run[2], run[3] = run[0] + x, run[1] + x * x, run[2] + x * row, run[3] + 1
        run[4], run[5], run[13], run[14] = run[4] + single, run[5] + single**2, run[13] + step, run[14] + math.exp(x)
        if span > 1:
            run[6], run[7] = run[6] + 1, run[7] + (span - 1) * math.log(2.0)
        if late[row]:
            run[11], run[12] = run[11] + 1, run[12] + ways
        else:
            run[8], run[9], run[10] = run[8] + 1, run[9] + x, run[10] + x * x
    sums[at] = run
    return sums


@compiled
def most_probable(positions: Rows, sums: Floats) -> tuple[Rows, Rows, Floats]:
    """Return the best division, as rows of positions, and the law and the gain over free of the stretch up to each.

    Parameters
    ----------
    positions : int64 (m,)
        Where stretches may begin and end, from 0 to the number n of intervals.
    sums : float64 (m, 16)
        Sums up to each position: of the logarithms x of intervals, their squares, row times x; then for phases missing
        and for delayed ones the number of intervals that tell the period, of the logarithms of these over their spans,
        their squares, of long intervals, and of what these could have been; of squared steps from one x to the next;
        of the intervals, over their median; and the squared step to the row of the position.
    """
    size = positions.size
    best, before = np.full(size, -np.inf), np.full(size, -1)
    best[0] = 0.0
    law, gain, values, part = np.zeros(size, np.int64), np.zeros(size), np.zeros(WANDERING + 1), np.zeros(sums.shape[1])
    # That of more than a hundred intervals is found anew each time.
    known = np.zeros(int(2 * LOOSE_SHAPES[1] * 128))
    # A cut could be anywhere; a cut before a single interval, a pause, costs less.
    cut, pause = math.log(positions[-1]), _FURTHER
    for to in range(1, size):
        for at in range(to):
            n = positions[to] - positions[at]
            base = best[at] - (0.0 if at == 0 else pause if n == 1 else cut) - 0.5 * math.log(n) - _LOG_RANGE
            np.subtract(sums[to], sums[at], part)
            _fill_laws(values, positions[at], positions[to], part, sums[at, 15], known)
            kind = np.argmax(values)
            if base + values[kind] > best[to]:
                best[to], before[to], law[to], gain[to] = base + values[kind], at, kind, values[kind] - values[FREE]
    rows = path_to(size - 1, before)
    return rows, law[rows], gain[rows]
