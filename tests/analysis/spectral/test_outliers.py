"""z-scores against the standard library, and the bound on the largest."""

import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from iostrata.analysis.spectral.outliers import fewest_samples, is_near_largest, is_outlier, z_scores

powers = st.lists(st.floats(0, 1e6), min_size=2, max_size=50)


@given(powers)
def test_scores_are_deviations_in_population_standard_deviations(values: list[float]) -> None:
    sigma = statistics.pstdev(values)
    assume(sigma > 1e-3 * max(values))
    mean = statistics.fmean(values)
    expected = [(value - mean) / sigma for value in values]
    np.testing.assert_allclose(z_scores(np.array(values)), expected, rtol=1e-6, atol=1e-6)


def test_equal_or_no_powers_have_no_scores() -> None:
    assert z_scores(np.full(5, 3.0)).tolist() == [0.0] * 5
    assert z_scores(np.zeros(0)).size == 0
    assert not is_near_largest(np.zeros(5), 0.8).any()
    assert is_near_largest(np.zeros(0), 0.8).size == 0


def test_both_bounds_are_included() -> None:
    assert is_outlier(np.array([2.999, 3.0, 3.1]), 3.0).tolist() == [False, True, True]
    assert is_near_largest(np.array([7.9, 8.0, 10.0]), 0.8).tolist() == [False, True, True]


@pytest.mark.parametrize("threshold", [1.0, 2.0, 3.0, 4.5])
def test_no_fewer_samples_can_have_an_outlier(threshold: float) -> None:
    fewest = fewest_samples(threshold)

    def largest_score(samples: int) -> float:
        single = np.zeros(samples // 2)
        single[0] = 1.0
        return float(z_scores(single).max()) + 1e-12

    assert largest_score(fewest) >= threshold
    assert largest_score(fewest - 1) < threshold
