"""z-scores against the standard library, and the bound on the largest."""

import statistics

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.analysis.spectral.outliers import (
    Z_SCORE,
    OutlierCriterion,
    fewest_samples,
    is_near_largest,
    is_outlier,
    z_scores,
)

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


def test_thresholds_lie_between_the_limits_and_not_on_them() -> None:
    share = OutlierCriterion("share", is_outlier, fewest_samples, threshold=0.5, limits=(0.25, 1.0))
    assert [share.limit(given) for given in (None, 0.26, 0.99)] == [0.5, 0.26, 0.99]
    for wrong in (0.25, 1.0, 0.1, 1.5, float("nan"), "0.5", True):
        with pytest.raises(SelectionError, match=r"give a share above 0\.25 and below 1$"):
            share.limit(wrong)  # type: ignore[arg-type]
    assert Z_SCORE.limit(None) == 3.0
    for wrong in (0.0, float("inf")):
        with pytest.raises(SelectionError, match=r"give a z-score above 0$"):
            Z_SCORE.limit(wrong)
