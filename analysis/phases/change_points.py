"""Where the mean of a sequence changes: the most probable partition into stretches of one mean and one variance each.

A Bayesian change-point model. Within a stretch values are normal with a mean and a variance of the stretch's own, of
which a normal-inverse-gamma law is known beforehand: m values with mean x̄ and squared deviations S have the marginal
likelihood (for instance Murphy 2007, eq. 95, with the prior mean at 0)

    ln p = ln Γ(a + m/2) − ln Γ(a) + a ln b − (a + m/2) ln b' + ½ ln(κ / (κ + m)) − m/2 ln 2π,
    b' = b + S/2 + κ m x̄² / (2 (κ + m)).

A cut costs ln n besides: it could have been anywhere. Nothing else is to be chosen; how many cuts there are follows,
and a short stretch that is alike by chance is weighed as what it is, unlike with a likelihood at its maximum and a
penalty.

The module needs numba; import it inside the function that uses it.
"""

import math

import numpy as np
import numpy.typing as npt

from ...model.kernels import compiled

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

#: Up to this many values every position may be a cut; beyond, those that a search in nested windows brings up.
MOST_EXACT = 2048
SHAPE = 1.0


def partition(values: Floats, deviation: float, reach: float, fewest: int = 3) -> Rows:
    """Return the cuts of the most probable partition of a sequence.

    Parameters
    ----------
    values : float64 (n,)
        The sequence, of order one.
    deviation : float
        Usual standard deviation within a stretch.
    reach : float
        Usual standard deviation of the means of stretches.
    fewest : int
        Least number of values in a stretch, at least 2.

    Returns
    -------
    int64 (c,)
        Row of the first value of each stretch but the first, increasing.

    Notes
    -----
    Exact by dynamic programming (optimal partitioning, Jackson et al. 2005), O(n²), for up to 2048 values. Beyond, cuts
    are taken from the best split of each of O(n) nested windows (seeded binary segmentation, Kovács et al. 2023), at
    most 2048 of them, those that gain most: O(n log n).
    """
    count = values.size
    if count < 2 * fewest:
        return np.zeros(0, np.int64)
    centred = values - np.median(values)
    sums = np.concatenate(([0.0], np.cumsum(centred)))
    squares = np.concatenate(([0.0], np.cumsum(centred * centred)))
    kappa = (deviation / reach) ** 2
    rate = SHAPE * deviation**2
    constants = _constants(count, kappa, rate)
    if count <= MOST_EXACT:
        positions = np.arange(count + 1)
    else:
        gains = split_gains(sums, squares, constants, kappa, rate, fewest)
        at = np.flatnonzero(gains > 0)
        at = at[np.argsort(-gains[at], kind="stable")[:MOST_EXACT]]
        positions = np.concatenate(([0], np.sort(at), [count]))
    return best_cuts(sums, squares, constants, kappa, rate, fewest, math.log(count), positions)


def _constants(count: int, kappa: float, rate: float) -> Floats:
    """Return all of ln p but the term in b', for stretches of 0 … ``count`` values."""
    from scipy.special import gammaln

    m = np.arange(count + 1)
    return np.asarray(
        gammaln(SHAPE + 0.5 * m)
        - gammaln(SHAPE)
        + SHAPE * np.log(rate)
        + 0.5 * np.log(kappa / (kappa + m))
        - 0.5 * m * np.log(2 * np.pi)
    )


@compiled
def _evidence(
    sums: Floats, squares: Floats, constants: Floats, kappa: float, rate: float, first: int, stop: int
) -> float:
    m = stop - first
    total = sums[stop] - sums[first]
    within = max(squares[stop] - squares[first] - total * total / m, 0.0)
    posterior = rate + 0.5 * within + 0.5 * kappa * total * total / (m * (kappa + m))
    return float(constants[m] - (SHAPE + 0.5 * m) * math.log(posterior))


@compiled
def best_cuts(
    sums: Floats,
    squares: Floats,
    constants: Floats,
    kappa: float,
    rate: float,
    fewest: int,
    penalty: float,
    positions: Rows,
) -> Rows:
    """Return the cuts among ``positions`` (int64, increasing, from 0 to n) with the largest sum of evidence."""
    count = positions.size
    best = np.full(count, -np.inf)
    best[0] = 0.0
    before = np.zeros(count, np.int64)
    for end in range(1, count):
        for begin in range(end):
            if positions[end] - positions[begin] < fewest:
                break
            if best[begin] == -np.inf:
                continue
            value = best[begin] + _evidence(sums, squares, constants, kappa, rate, positions[begin], positions[end])
            if begin > 0:
                value -= penalty
            if value > best[end]:
                best[end] = value
                before[end] = begin
    cuts = np.empty(count, np.int64)
    found = 0
    at = before[count - 1]
    while at > 0:
        cuts[found] = positions[at]
        found += 1
        at = before[at]
    return cuts[:found][::-1].copy()


@compiled
def split_gains(sums: Floats, squares: Floats, constants: Floats, kappa: float, rate: float, fewest: int) -> Floats:
    """Return, for each row, the largest gain in evidence of a split there, where it is the best split of a window.

    Windows are of lengths n, n/√2, n/2, … and each overlaps half of the next of its length.
    """
    count = sums.size - 1
    gains = np.zeros(count + 1)
    length = float(count)
    while length >= 2 * fewest:
        size = math.ceil(length)
        steps = max(1, math.ceil(2.0 * (count - size) / length) + 1)
        for step in range(steps):
            first = 0 if steps == 1 else round(step * (count - size) / (steps - 1))
            stop = first + size
            whole = _evidence(sums, squares, constants, kappa, rate, first, stop)
            at, most = 0, 0.0
            for cut in range(first + fewest, stop - fewest + 1):
                gain = (
                    _evidence(sums, squares, constants, kappa, rate, first, cut)
                    + _evidence(sums, squares, constants, kappa, rate, cut, stop)
                    - whole
                )
                if gain > most:
                    at, most = cut, gain
            if most > gains[at]:
                gains[at] = most
        length /= math.sqrt(2.0)
    return gains
