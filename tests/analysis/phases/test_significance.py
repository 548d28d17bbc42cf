"""The test of regularity against its null hypothesis, by simulation."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.significance import NULL_SHAPE, regularity_p_value, search_trials


@pytest.mark.parametrize("count", [3, 8, 30])
def test_p_values_are_uniform_under_the_null(count: int) -> None:
    rng = np.random.default_rng(count)
    p = np.array([regularity_p_value(rng.gamma(NULL_SHAPE, 7.0, count)) for _ in range(4000)])
    for level in (0.01, 0.05, 0.3):
        assert np.mean(p < level) == pytest.approx(level, abs=4 * np.sqrt(level / 4000) + 0.1 * level)


def test_a_clock_is_significant_from_four_bursts_on() -> None:
    assert regularity_p_value(np.full(3, 2.5), 40) < 1e-6
    assert regularity_p_value(np.full(1, 2.5)) == 1.0


@given(st.lists(st.floats(0.1, 100.0), min_size=2, max_size=20), st.floats(1e-3, 1e3), st.randoms())
def test_unit_and_order_do_not_matter(intervals: list[float], scale: float, random: object) -> None:
    p = regularity_p_value(np.array(intervals))
    assert 0 <= p <= 1
    assert regularity_p_value(scale * np.array(intervals)) == pytest.approx(p, rel=1e-6, abs=1e-9)
    random.shuffle(intervals)  # type: ignore[attr-defined]
    assert regularity_p_value(np.array(intervals)) == pytest.approx(p, rel=1e-6, abs=1e-9)


def test_more_spread_is_less_significant() -> None:
    p = [regularity_p_value(np.array([10 - d, 10.0, 10 + d, 10.0])) for d in (0.1, 1.0, 3.0, 6.0)]
    assert p == sorted(p)


def test_faint_sets_pay_more_for_the_search() -> None:
    assert search_trials(1.5, 3) > search_trials(2.5, 36) > search_trials(2.5, 3)
