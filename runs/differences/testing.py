"""Whether two samples of runs differ, by how much, and how sure that is.

Amounts and times are compared by their ratio, so by differences of logarithms. With three runs a side or more the test
is Welch's (1947). With fewer the spread between runs cannot be learnt from them: it is then taken to be what
`RunSpread` says, as 30 runs had shown it, together with what the runs do show (the moderated t-test of Smyth 2004,
Statistical Applications in Genetics and Molecular Biology 3(1), §4, with a prior that is given instead of estimated).
Tests of one comparison are corrected by Holm's method (1979) with weights, so that all of them together err at most in
`ALPHA` of cases. Those that say nearly the same, how long an iteration is and how long it keeps each layer busy, are
one group there, and in it as many as they are in effect (Galwey 2009, Genetic Epidemiology 33(7)).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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

    def limited(self, least: float) -> "Outcome":
        """Return the same with an error so large that the p-value is no less than that."""
        from scipy.special import stdtrit

        if self.p_value >= least:
            return self
        # The lower tail: so close to 1 no number tells the upper one.
        return replace(self, error=abs(self.difference) / -float(stdtrit(self.freedom, least / 2)))

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


def compare_counts(before: tuple[int, int], after: tuple[int, int]) -> float | None:
    """Return the p-value of how many runs of each side have something, (those, all), by Fisher's exact test.

    None where so few runs could never tell (Tarone 1990, Biometrics 46(2)).
    """
    from scipy.stats import fisher_exact

    tables = [(before[0], before[1] - before[0], after[0], after[1] - after[0]), (before[1], 0, 0, after[1])]
    p_value, least = (float(fisher_exact(np.reshape(table, (2, 2))).pvalue) for table in tables)
    return p_value if least < ALPHA else None


@dataclass(frozen=True)
class Group:
    """Tests that are corrected together.

    Attributes
    ----------
    p_values : sequence of float
    weight : float
        Share of the chance to err.
    count : float
        How many tests they are in effect: fewer where one says what another says.
    """

    p_values: Sequence[float]
    weight: float
    count: float = 1.0

    @property
    def factors(self) -> list[float]:
        """By what each p-value grows for the others of the group; after Šidák."""
        return [-math.expm1(self.count * math.log1p(-one)) / one if 0 < one < 1 else 1.0 for one in self.p_values]


def corrected(groups: Sequence[Group]) -> list[list[float]]:
    """Return the p-values of groups, corrected for all there are, by Holm's method with weights (1979)."""
    own = [[p * factor for p, factor in zip(one.p_values, one.factors, strict=True)] for one in groups]
    order = sorted(range(len(groups)), key=lambda place: min(own[place], default=1.0) / groups[place].weight)
    left = math.fsum(one.weight for one in groups)
    reached, found = 0.0, [list[float]() for _ in groups]
    for place in order:
        factor = max(1.0, left / groups[place].weight)
        found[place] = [min(1.0, max(reached, factor * p)) for p in own[place]]
        reached = min(found[place], default=reached)
        left -= groups[place].weight
    return found


def effective_count(columns: Floats) -> float:
    """Return how many tests those of columns, float64 (n, k), are in effect, by how alike the columns are."""
    if columns.shape[1] < 2 or not (columns.std(axis=0) > 0).all():
        return float(columns.shape[1])
    roots = np.sqrt(np.maximum(np.linalg.eigvalsh(np.corrcoef(columns.T)), 0.0))
    return float(roots.sum() ** 2 / columns.shape[1])
