"""The compiled sweep from intervals to a step function, free of cancellation.

A sweep adds a rate where an interval begins and takes it away where the interval ends. In floating point that leaves
residues: beside an operation of 1e18 byte/s, one of 8 byte/s vanishes. So the sums here are kept as expansions, sums of
doubles that do not overlap and lose nothing (J. R. Shewchuk, "Adaptive Precision Floating-Point Arithmetic and Fast
Robust Geometric Predicates", 1997, GROW-EXPANSION), and are rounded once where a number is read off. From this follow
the properties that the signals promise: the rate is zero exactly where nothing is open, no rate is negative, and ties
and the order of the intervals do not matter in a single bit.

Numba may have to compile it: import it inside the function that uses it.
"""

import numpy as np

from ..model.arrays import Floats, Rows
from ..model.kernels import compiled, inlined
from .intervals import ClippedIntervals

# Components of an expansion do not overlap and are not adjacent, so no more than half of the 2098 bit positions of
# the doubles can each start one.
_MOST_PARTS = 1100


@compiled
def _add_exactly(parts: Floats, count: int, term: float) -> int:
    """Add `term` to the expansion ``parts[:count]`` without error; return its new number of components."""
    kept = 0
    for row in range(count):
        part = parts[row]
        if abs(term) < abs(part):
            term, part = part, term
        total = term + part
        error = part - (total - term)
        if error != 0.0:
            parts[kept] = error
            kept += 1
        term = total
    if term != 0.0:
        parts[kept] = term
        kept += 1
    return kept


@compiled
def _rounded(parts: Floats, count: int) -> float:
    """Return the double nearest to the expansion ``parts[:count]``, ties to even."""
    if count == 0:
        return 0.0
    row = count - 1
    total = float(parts[row])
    error = 0.0
    while row > 0 and error == 0.0:
        row -= 1
        before = total
        total = before + parts[row]
        error = parts[row] - (total - before)
    # Half a unit in the last place was rounded to even without a look at the components below it; they decide.
    if row > 0 and error * np.sign(parts[row - 1]) > 0.0:
        step = 2.0 * error
        neighbour = total + step
        if neighbour - total == step:
            total = neighbour
    return total


@compiled
def add_compensated(total: float, error: float, term: float) -> tuple[float, float]:
    """Add `term` to the running sum ``total + error``, whose `error` collects what rounding takes from `total`."""
    after = total + term
    rest = after - total
    return after, error + ((total - (after - rest)) + (term - rest))


@inlined
def _earliest(now: float, at: Floats, rows: Rows, done: int) -> float:
    """Return the earlier of a time and that of the first row that is not done."""
    return min(now, at[rows[done]]) if done < rows.size else now


@inlined
def _add_all(
    now: float, at: Floats, rows: Rows, done: int, sign: float, terms: Floats, parts: Floats, count: int
) -> tuple[int, int]:
    """Add the terms of all rows of one time to an expansion; return how many rows are done, and its components."""
    while done < rows.size and at[rows[done]] == now:
        count = _add_exactly(parts, count, sign * terms[rows[done]])
        done += 1
    return done, count


@inlined
def _lower(cumulative: Floats, row: int, most: float) -> None:
    """Set a cumulative volume, and lower those before it that are larger by rounding."""
    cumulative[row] = most
    while row > 0 and cumulative[row - 1] > most:
        row -= 1
        cumulative[row] = most


@compiled
def sweep(
    spread: ClippedIntervals, by_start: Rows, by_end: Rows, low: float, high: float
) -> tuple[Floats, Floats, Floats, Floats, Floats]:
    """Sweep over intervals and points in time and return the step function of their summed rate.

    Parameters
    ----------
    spread : ClippedIntervals
        Within the window from `low` to `high`.
    by_start, by_end : intp (n,)
        Rows of its intervals ordered by start and by end.

    Returns
    -------
    times (k+1,), values (k,), cumulative (k+1,), impulse_times (i,), impulse_volumes (i,)
        As in `StepSignal`; neighbouring steps of the same rate are one, and so are impulses at the same time.
    """
    start, end, rate, volume, point, point_volume = spread
    points, in_order = point.size, np.arange(point.size)
    most = 2 * start.size + points + 2
    times, values, cumulative = np.empty(most), np.empty(most), np.empty(most)
    impulse_times, impulse_volumes = np.empty(points), np.empty(points)
    flow, settled, at_once = np.empty(_MOST_PARTS), np.empty(_MOST_PARTS), np.empty(_MOST_PARTS)
    flows = settles = impulses = opened = closed = passed = last = 0
    times[0], cumulative[0] = low, 0.0
    # Volume since the sweep was last idle, as an unevaluated sum of two doubles, on top of the volume settled then.
    level = base = since = since_error = 0.0
    impulse_here, now = False, -np.inf
    while now < high:
        now = _earliest(_earliest(high, start, by_start, opened), end, by_end, closed)
        now = _earliest(now, point, in_order, passed)
        if now > times[last]:
            since, since_error = add_compensated(since, since_error, level * (now - times[last]))
            if last == 0 or impulse_here or level != values[last - 1]:
                values[last] = level
                last += 1
            times[last], impulse_here = now, False
        opened, flows = _add_all(now, start, by_start, opened, 1.0, rate, flow, flows)
        _, settles = _add_all(now, end, by_end, closed, 1.0, volume, settled, settles)
        closed, flows = _add_all(now, end, by_end, closed, -1.0, rate, flow, flows)
        if passed < points and point[passed] == now:
            _, settles = _add_all(now, point, in_order, passed, 1.0, point_volume, settled, settles)
            passed, parts = _add_all(now, point, in_order, passed, 1.0, point_volume, at_once, 0)
            impulse_times[impulses], impulse_volumes[impulses] = now, _rounded(at_once, parts)
            since, since_error = add_compensated(since, since_error, impulse_volumes[impulses])
            impulses, impulse_here = impulses + 1, True
        level = _rounded(flow, flows)
        if opened == closed:
            base, since, since_error = _rounded(settled, settles), 0.0, 0.0
            _lower(cumulative, last, base)
        else:
            cumulative[last] = max(base + (since + since_error), cumulative[max(last - 1, 0)] if last > 0 else 0.0)
    steps = times[: last + 1].copy(), values[:last].copy(), cumulative[: last + 1].copy()
    return *steps, impulse_times[:impulses].copy(), impulse_volumes[:impulses].copy()


@compiled
def accumulate(times: Floats, values: Floats, impulse_times: Floats, impulse_volumes: Floats) -> Floats:
    """Return the volume (n+1,) up to and including each breakpoint; each impulse lies at a breakpoint."""
    cumulative = np.empty(times.size)
    total = error = 0.0
    passed = 0
    for row in range(times.size):
        if row > 0:
            total, error = add_compensated(total, error, values[row - 1] * (times[row] - times[row - 1]))
        while passed < impulse_times.size and impulse_times[passed] <= times[row]:
            total, error = add_compensated(total, error, impulse_volumes[passed])
            passed += 1
        cumulative[row] = total + error
        if row > 0:
            cumulative[row] = max(cumulative[row], cumulative[row - 1])
    return cumulative
