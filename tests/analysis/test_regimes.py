"""Regimes of trains that have them, and of those that have none."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.regimes import Stretch, stretches


@settings(deadline=None)
@given(st.integers(4, 40), st.integers(4, 40), st.floats(1.0, 100.0), st.floats(1.5, 10.0), st.booleans())
def test_a_change_of_the_period_is_found(one: int, two: int, period: float, factor: float, slower: bool) -> None:
    second = period * factor if slower else period / factor
    intervals = np.concatenate((np.full(one, period), np.full(two, second)))
    assert stretches(intervals) == [Stretch(0, one), Stretch(one, one + two)]


@pytest.mark.parametrize("jitter", [0.0, 0.05, 0.2])
def test_one_period_is_one_stretch(jitter: float) -> None:
    split = 0
    for seed in range(100):
        rng = np.random.default_rng(seed)
        split += len(stretches(np.maximum(rng.normal(20.0, 20.0 * jitter, 30), 1.0))) > 1
    assert split <= 2


def test_three_regimes_with_jitter() -> None:
    rng = np.random.default_rng(5)
    intervals = np.concatenate([rng.normal(mean, 0.05 * mean, 15) for mean in (20.0, 50.0, 30.0)])
    assert stretches(intervals) == [Stretch(0, 15), Stretch(15, 30), Stretch(30, 45)]


@settings(deadline=None)
@given(st.lists(st.floats(0.01, 1e4), min_size=1, max_size=60))
def test_stretches_cover_all_intervals_once(intervals: list[float]) -> None:
    found = stretches(np.array(intervals))
    assert found[0].first == 0
    assert found[-1].stop == len(intervals)
    assert all(before.stop == after.first for before, after in pairwise(found))
