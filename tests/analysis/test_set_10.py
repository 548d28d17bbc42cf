"""Sets and priorities by period, as Set-10 has them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.set_10 import LONGEST, SHORTEST, set_numbers, set_priorities

PERIODS = st.floats(SHORTEST, LONGEST)


@pytest.mark.parametrize(
    ("period", "number"),
    [(1.0, 0), (3.1, 0), (3.2, 1), (19.2, 1), (31.6, 1), (31.7, 2), (384.0, 3), (0.41, 0), (0.1, -1)],
)
def test_a_period_belongs_to_the_power_of_ten_next_to_it(period, number):
    assert set_numbers(np.array([period]))[0] == number


@given(PERIODS)
def test_ten_times_the_period_is_the_next_set_with_a_tenth_of_the_priority(period):
    low, high = set_numbers(np.array([period, 10 * period]))
    # At the edge between two sets the product may round to the other side.
    assert high - low in (0, 1, 2)
    edge = abs(np.log10(period) % 1 - 0.5) < 1e-9
    assert edge or high - low == 1
    first, second = set_priorities(np.array([low, low + 1]))
    assert first / second == pytest.approx(10)


def test_the_priority_of_a_set_is_what_its_authors_say():
    assert set_priorities(np.array([-1.0, 0.0, 1.0, 3.0])) == pytest.approx([10, 1, 0.1, 0.001])


def test_periods_that_can_be_given_reach_from_a_nanosecond_to_a_million_million_seconds():
    assert np.log10([SHORTEST, LONGEST]).tolist() == [-9, 12]
