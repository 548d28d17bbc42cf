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
    error : float
        Its standard error; 0 where nothing varies.
    freedom : float
        Degrees of freedom.
    apart : bool
        Whether all values after lie on one side of all before.
    """

    difference: float
    error: float
    freedom: float
    apart: bool

    @property
    def p_value(self) -> float:
        """Two-sided, not corrected."""
        from scipy.special import stdtr

        if self.error == 0:
            return 0.0 if self.difference and self.apart else 1.0
        return float(2 * stdtr(self.freedom, -abs(self.difference) / self.error))

    def interval(self, tests: float = 1.0) -> tuple[float, float]:
        """Return the interval of 95 %, of all tests together where it is one of several."""
        from scipy.special import stdtrit

        half = float(stdtrit(self.freedom, 1 - ALPHA / (2 * tests))) * self.error if self.error else 0.0
        return self.difference - half, self.difference + half


def compare(
    before: Floats, after: Floats, spread: RunSpread, within: float = 0.0, freedom_within: float = math.inf
) -> Outcome:
    """Compare two samples, float64 (n,) and (m,), at least one value each.

    Parameters
    ----------
    within : float
        Variance of the difference that single runs show in themselves, between their phases or iterations.
    freedom_within : float
        Degrees of freedom of that.
    """
    difference = float(after.mean() - before.mean())
    apart = bool(after.min() > before.max() or after.max() < before.min())
    freedom = len(before) + len(after) - 2
    squares = float(((before - before.mean()) ** 2).sum() + ((after - after.mean()) ** 2).sum())
    if min(len(before), len(after)) >= ENOUGH:
        return _welch(before, after, difference, apart)
    known = _PRIOR_RUNS + freedom
    variance = (_PRIOR_RUNS * spread.deviation**2 + squares) / known
    between = variance * (1 / len(before) + 1 / len(after))
    # Satterthwaite's for a sum of variances.
    both = (between + within) ** 2 / (between**2 / known + within**2 / freedom_within) if freedom_within else 0.0
    return Outcome(difference, math.sqrt(between + within), max(1.0, both), apart)


def _welch(before: Floats, after: Floats, difference: float, apart: bool) -> Outcome:
    parts = [float(side.var(ddof=1)) / len(side) for side in (before, after)]
    total = sum(parts)
    # What rounding alone makes of equal values.
    if total <= (1e-9 * max(1.0, abs(difference))) ** 2:
        return Outcome(difference, 0.0, math.inf, apart)
    sizes = (len(before) - 1, len(after) - 1)
    freedom = total**2 / sum(part**2 / size for part, size in zip(parts, sizes, strict=True))
    return Outcome(difference, math.sqrt(total), freedom, apart)


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
