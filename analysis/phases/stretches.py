"""Intervals between bursts, divided into stretches that are free or have a period."""

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

FEWEST_INTERVALS = 3
FREE_DEVIATION, WILD_DEVIATION, STEADY_DEVIATION = (60.0, 0.55), (2.0, 1.2), (0.5, 0.03)
"""Inverse-gamma laws (shape, size) of the deviation of ln d: of free intervals, as those that are cut out of noise, of
free ones of any variation, and of a period."""
WANDERING = (2.0, 0.2)
"""Inverse-gamma law of the change of ln d from one interval to the next, where intervals wander."""
WANDERING_COST = 3.0
"""Logarithm of how much less is thought of wandering beforehand."""
MEAN_RANGE, DRIFT_RANGE = 4.0, 1.2
"""Range before anything is known of the mean of ln d, relative to its median, and of its drift over a stretch."""
PRESENT_PRIOR = (12.0, 1.0)
"""Beta law of the share of phases that are there."""
LAW_COST, CUT_SHARE = math.log(3.0), math.log(2.0)
"""Each stretch is free or not; one with a period may drift or have phases missing."""
USUAL_CUTS = 3.0
"""Number of cuts that is expected beforehand."""
MOST_SPANS, SPAN_WITHIN, NEIGHBOURS = 5, 0.12, 9
"""Intervals within an eighth of up to five times the usual of nine around them have phases missing."""
MOST_POSITIONS = 600
"""Intervals up to which each may be a boundary; of more the positions that differ most from what follows."""


@dataclass(frozen=True, eq=False)
class Stretch:
    """Intervals `first` to `stop` (excluded) with one law of `partition`, and its logarithmic gain over a free one."""

    first: int
    stop: int
    law: int
    gain: float


def spans_of(intervals: Floats) -> Floats:
    """Return how many periods each interval spans: 1, or more where phases are missing; float64 (n,)."""
    width = min(NEIGHBOURS, intervals.size)
    windows = np.lib.stride_tricks.sliding_window_view(intervals, width)
    # Where a third of the phases is missing, the median of the intervals still is a single one, but hardly so.
    usual = np.sort(windows, axis=1)[:, int(0.4 * width)]
    side = width // 2
    usual = np.concatenate((np.full(side, usual[0]), usual, np.full(intervals.size - usual.size - side, usual[-1])))
    spans = np.maximum(np.rint(intervals / usual), 1.0)
    return np.where((np.abs(intervals / (spans * usual) - 1) < SPAN_WITHIN) & (spans <= MOST_SPANS), spans, 1.0)


def stretches(intervals: Floats, spans: Floats) -> list[Stretch]:
    """Divide intervals into the most probable stretches.

    Parameters
    ----------
    intervals : float64 (n,)
        In s, above 0.
    spans : float64 (n,)
        How many periods each spans, where phases are missing.

    Returns
    -------
    list of Stretch
        In the order of time; they have a period where their gain is above 0.

    Notes
    -----
    The logarithms x of intervals are normal in each stretch, with a mean that is uniform over `MEAN_RANGE` and a
    variance from an inverse-gamma law of shape a and scale b; m values with squared deviations S have the marginal
    likelihood (Murphy 2007, flat mean)

        ln p = ln Γ(a + (m-1)/2) - ln Γ(a) + a ln b - (a + (m-1)/2) ln(b + S/2) - (m-1)/2 ln 2π - ½ ln m - ln range.

    With a drift S is that about a line, and one degree of freedom less; with phases missing x is of intervals over
    their spans, with a Beta-binomial law of the long ones. A cut costs ln n / 3: it could be anywhere, and three are
    expected. Dynamic
    programming (Jackson et al. 2005) over at most 600 positions: O(n) for many intervals.
    """
    from .kernels import most_probable

    n = intervals.size
    logs = np.log(intervals) - np.log(np.median(intervals))
    single = logs - np.log(spans)
    shapes = np.array([FREE_DEVIATION[0], WILD_DEVIATION[0], STEADY_DEVIATION[0]])
    scales = shapes * np.array([FREE_DEVIATION[1], WILD_DEVIATION[1], STEADY_DEVIATION[1]]) ** 2
    costs = np.array([math.log(max(n / USUAL_CUTS, 1.0)), CUT_SHARE, CUT_SHARE, LAW_COST])
    positions = _positions(logs)
    before, law, gain, evidence = most_probable(
        positions,
        np.stack((_sums(logs), _sums(single))),
        np.stack((_sums(logs**2), _sums(single**2))),
        _sums(logs * np.arange(n)),
        _sums(spans > 1).astype(np.int64),
        _sums((spans - 1) * math.log(2.0)),
        _tables(n, shapes, scales),
        _beta_terms(n),
        shapes,
        scales,
        costs,
        FEWEST_INTERVALS,
    )
    if evidence + WANDERING_COST < _evidence_of_wandering(logs):
        return []
    found = []
    at = positions.size - 1
    while at > 0:
        first = int(before[at])
        found.append(Stretch(int(positions[first]), int(positions[at]), int(law[at]), float(gain[at])))
        at = first
    return found[::-1]


def wanders(intervals: Floats) -> bool:
    """Tell whether intervals rather wander, each by a random factor from the one before, than have periods."""
    return intervals.size > 2 * NEIGHBOURS and not stretches(intervals, spans_of(intervals))


def _evidence_of_wandering(logs: Floats) -> float:
    """Return ln p of all intervals where each differs from the one before by a random factor: no period lasts then."""
    from scipy.special import gammaln

    half = (logs.size - 1) / 2
    shape, scale = WANDERING[0], WANDERING[0] * WANDERING[1] ** 2
    rest = 0.5 * float(np.sum(np.diff(logs) ** 2))
    constant = shape * math.log(scale) - gammaln(shape) + gammaln(shape + half) - half * math.log(2 * math.pi)
    return float(constant - (shape + half) * math.log(scale + rest) - math.log(MEAN_RANGE))


def _sums(values: npt.NDArray[np.generic]) -> Floats:
    return np.concatenate(([0.0], np.cumsum(values, dtype=np.float64)))


def _positions(logs: Floats) -> npt.NDArray[np.int64]:
    """Return where stretches may be parted: anywhere, or where the means of the next and the last five differ most."""
    n = logs.size
    if n <= MOST_POSITIONS:
        return np.arange(n + 1)
    side = NEIGHBOURS // 2 + 1
    means = np.convolve(logs, np.full(side, 1 / side), "valid")
    change = np.abs(means[side:] - means[:-side])
    most = np.argsort(-change, kind="stable")[: MOST_POSITIONS // 2] + side
    evenly = np.linspace(0, n, MOST_POSITIONS // 2).astype(np.int64)
    return np.unique(np.concatenate((most, evenly)))


def _tables(n: int, shapes: Floats, scales: Floats) -> Floats:
    from scipy.special import gammaln

    m = np.maximum(np.arange(n + 1), 1).astype(np.float64)
    rows = []
    for shape, scale, slopes in zip((*shapes, shapes[2]), (*scales, scales[2]), (0, 0, 0, 1), strict=True):
        freedom = np.maximum(m - 1 - slopes, 0) / 2
        row = shape * math.log(scale) - gammaln(shape) + gammaln(shape + freedom) - freedom * math.log(2 * math.pi)
        row -= 0.5 * np.log(m) + math.log(MEAN_RANGE)
        if slopes:
            row -= 0.5 * np.log(np.maximum(m * m - 1, 1) / (12 * m)) + math.log(DRIFT_RANGE)
        rows.append(row)
    return np.stack(rows)


def _beta_terms(n: int) -> Floats:
    from scipy.special import gammaln

    m, (here, lost) = np.arange(n + 1), PRESENT_PRIOR
    return np.stack(
        (
            gammaln(here + m) - gammaln(here) + gammaln(here + lost),
            gammaln(lost + m) - gammaln(lost),
            gammaln(here + lost + m),
        )
    )
