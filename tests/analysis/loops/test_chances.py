"""Chances in closed form beside those of SciPy."""

import numpy as np
import pytest
from iostrata.analysis.loops.chances import (
    apart_by_chance,
    chi_square_beyond,
    factorial_bits,
    student_beyond,
    trend_by_chance,
)
from scipy import special, stats


def test_factorials():
    number = np.append(np.arange(300), 1 << 17)
    np.testing.assert_allclose(factorial_bits(number), special.gammaln(number + 1) / np.log(2), rtol=1e-12, atol=1e-12)
    assert factorial_bits(4) == pytest.approx(np.log2(24))


@pytest.mark.parametrize("freedom", [1, 2, 3, 4, 7, 10, 101, 4096, 100_000])
def test_tails(freedom):
    for share in (0, 0.01, 0.5, 0.9, 1, 1.1, 2, 30):
        expected = special.chdtrc(freedom, share * freedom)
        assert chi_square_beyond(freedom, share * freedom) == pytest.approx(expected, abs=1e-8)
        assert student_beyond(freedom, share) == pytest.approx(special.stdtr(freedom, -share), abs=1e-12)


def samples(seed):
    """Give numbers of two distributions and of a trend, every third time some of them equal."""
    rng = np.random.default_rng(seed)
    for turn in range(200):
        few, many = rng.integers(5, 40, 2)
        one, other = rng.normal(size=few), rng.normal(size=many) + rng.uniform(0, 4)
        trend = rng.normal(size=10 + few) + np.linspace(0, rng.uniform(-4, 4), 10 + few)
        yield tuple(values.round(1) if turn % 3 == 0 else values for values in (one, other, trend))


def test_ranks():
    seen = set()
    for one, other, trend in samples(7):
        expected = stats.mannwhitneyu(one, other).pvalue, stats.kendalltau(np.arange(len(trend)), trend).pvalue
        assert (apart_by_chance(one, other), trend_by_chance(trend)) == pytest.approx(expected, rel=1e-9)
        seen |= {(place, value < 1e-3) for place, value in enumerate(expected)}
    assert len(seen) == 4


def test_what_is_all_the_same_is_no_trend_and_not_apart():
    assert (apart_by_chance(np.ones(9), np.ones(9)), trend_by_chance(np.ones(20))) == (1.0, 1.0)


def test_few_beside_many():
    rng = np.random.default_rng(3)
    one, other = rng.normal(size=7), rng.normal(size=9000) + 2.5
    assert apart_by_chance(one, other) == pytest.approx(stats.mannwhitneyu(one, other).pvalue, rel=1e-9)
