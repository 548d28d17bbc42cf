"""Whether two samples of runs differ, by how much, and how sure that is.

Amounts and times are compared by their ratio, so by differences of logarithms. With three runs a side or more the test
is Welch's (1947). With fewer the spread between runs cannot be learnt from them: it is then taken to be what
`RunSpread` says, as 30 runs had shown it, together with what the runs do show (the moderated t-test of Smyth 2004,
Statistical Applications in Genetics and Molecular Biology 3(1), §4, with a prior that is given instead of estimated).
Tests of one comparison are corrected by Holm's method (1979), so that all of them together err at most in `ALPHA` of
cases.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import numpy as np

from ...model.arrays import Floats

ALPHA: Final = 0.05
ENOUGH: Final = 3
"""Runs a side from which on their own spread counts alone."""
_PRIOR_RUNS: Final = 30


@dataclass(frozen=True)
class RunSpread:
    """How much a quantity differs between runs in which nothing was changed.

    Attributes
    ----------
    deviation : float
        Standard deviation of its logarithm that is assumed where there are too few runs to tell.
    least : float
        Change of the logarithm below which nobody cares.
    """

    deviation: float
    least: float


@dataclass(frozen=True)
class Outcome:
    """What a test says.

    Attributes
    ----------
    difference : float
        Mean after minus mean before.
    low, high : float
        Its interval of 95 %.
    p_value : float
        Two-sided, not corrected.
    apart : bool
        Whether all values after lie on one side of all before.
    """

    difference: float
    low: float
    high: float
    p_value: float
    apart: bool


def compare(before: Floats, after: Floats, spread: RunSpread, within: float = 0.0) -> Outcome:
    """Compare two samples, float64 (n,) and (m,), at least one value each.

    Parameters
    ----------
    within : float
        Variance of the difference that single runs show in themselves, between their phases.
    """
    difference = float(after.mean() - before.mean())
    apart = bool(after.min() > before.max() or after.max() < before.min())
    freedom = len(before) + len(after) - 2
    squares = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
    if min(len(before), len(after)) >= ENOUGH:
        return _welch(before, after, difference, apart)
    variance = (_PRIOR_RUNS * spread.deviation**2 + squares) / (_PRIOR_RUNS + freedom)
    error = math.sqrt(variance * (1 / len(before) + 1 / len(after)) + within)
    return _outcome(difference, error, _PRIOR_RUNS + freedom, apart)


def _welch(before: Floats, after: Floats, difference: float, apart: bool) -> Outcome:
    parts = [float(side.var(ddof=1)) / len(side) for side in (before, after)]
    total = sum(parts)
    # What rounding alone makes of equal values.
    if total <= (1e-9 * max(1.0, abs(difference))) ** 2:
        return Outcome(difference, difference, difference, 0.0 if apart else 1.0, apart)
    sizes = (len(before) - 1, len(after) - 1)
    freedom = total**2 / sum(part**2 / size for part, size in zip(parts, sizes, strict=True))
    return _outcome(difference, math.sqrt(total), freedom, apart)


def _outcome(difference: float, error: float, freedom: float, apart: bool) -> Outcome:
    from scipy.special import stdtr, stdtrit

    half = float(stdtrit(freedom, 1 - ALPHA / 2)) * error
    p_value = float(2 * stdtr(freedom, -abs(difference) / error)) if error > 0 else float(difference == 0)
    return Outcome(difference, difference - half, difference + half, p_value, apart)


def compare_counts(before: tuple[int, int], after: tuple[int, int]) -> float:
    """Return the p-value of how many runs of each side have something, (those, all), by Fisher's exact test."""
    from scipy.stats import fisher_exact

    table = np.array([[before[0], before[1] - before[0]], [after[0], after[1] - after[0]]])
    return float(fisher_exact(table).pvalue)


def holm(p_values: Sequence[float]) -> list[float]:
    """Return p-values that are corrected for their number, in their order (Holm 1979)."""
    order = sorted(range(len(p_values)), key=lambda place: p_values[place])
    corrected = [1.0] * len(p_values)
    reached = 0.0
    for rank, place in enumerate(order):
        reached = max(reached, min(1.0, (len(p_values) - rank) * p_values[place]))
        corrected[place] = reached
    return corrected
