"""Single outcomes, against the t distribution of SciPy."""

import math

import numpy as np
import pytest
from iostrata.runs.differences.testing import Outcome, RunSpread, compare
from scipy.stats import t


@pytest.mark.parametrize(
    ("difference", "apart", "expected"), [(1.0, True, 0.0), (-1.0, True, 0.0), (1.0, False, 1.0), (0.0, True, 1.0)]
)
def test_without_variation_all_or_nothing_is_sure(difference, apart, expected):
    found = Outcome(difference, 0.0, math.inf, apart)
    assert found.p_value == expected
    assert found.interval() == (difference, difference)


@pytest.mark.parametrize(("difference", "error", "freedom"), [(1.0, 0.5, 4.0), (-0.3, 0.1, 30.5)])
@pytest.mark.parametrize("tests", [1, 8])
def test_a_p_value_and_the_interval_are_those_of_students_distribution(difference, error, freedom, tests):
    found = Outcome(difference, error, freedom, True)
    assert found.p_value == pytest.approx(2 * t.sf(abs(difference) / error, freedom))
    half = t.ppf(1 - 0.05 / (2 * tests), freedom) * error
    assert found.interval(tests) == pytest.approx((difference - half, difference + half))


def test_a_p_value_can_be_kept_from_being_less():
    found = Outcome(1.0, 0.1, 10.0, True)
    assert found.limited(0.01).p_value == pytest.approx(0.01)
    assert found.limited(found.p_value) is found
    # As few iterations of many on both sides are apart by chance.
    sure = Outcome(-2.5, 0.01, 100.0, True).limited(1e-35)
    low, high = sure.interval()
    assert sure.p_value == pytest.approx(1e-35)
    assert high - low > 0.2
    assert found.limited(found.p_value / 2) is found


def test_few_runs_vary_as_30_others_and_as_they_do():
    """One and two runs, which differ by 0.2: 30 · 0.3² + 0.02 in 31 degrees of freedom, times 1 + 1 / 2."""
    found = compare(np.array([1.0]), np.array([2.0, 2.2]), RunSpread(deviation=0.3, least=0.1))
    assert found.difference == pytest.approx(1.1)
    assert found.error == pytest.approx(math.sqrt((30 * 0.09 + 0.02) / 31 * 1.5))
    assert found.freedom == pytest.approx(31)
    assert found.apart
    assert not compare(np.array([1.0]), np.array([1.0, 2.0]), RunSpread(0.3, 0.1)).apart
    assert not compare(np.array([2.0]), np.array([1.0, 2.0]), RunSpread(0.3, 0.1)).apart
    # Variances of two kinds, after Satterthwaite: each in its own degrees of freedom.
    both = compare(np.array([1.0]), np.array([2.0]), RunSpread(0.3, 0.1), within=0.1, freedom_within=5.0)
    assert both.error == pytest.approx(math.sqrt(2 * 0.09 + 0.1))
    assert both.freedom == pytest.approx(0.28**2 / (0.18**2 / 30 + 0.1**2 / 5))
