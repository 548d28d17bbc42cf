"""Persistence and rises against their definitions, on short paths."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.phases.persistence import persistences, rises_above, turning_points

paths = st.lists(st.integers(-20, 20), min_size=1, max_size=14).map(lambda steps: np.array(steps, dtype=np.float64))


@settings(deadline=None)
@given(paths, st.integers(1, 25))
def test_persistence_counts_the_rises_of_every_threshold(path: np.ndarray, threshold: int) -> None:
    feet, tops = rises_above(path, float(threshold))
    assert feet.size == np.count_nonzero(persistences(path) >= threshold)
    assert np.all(path[tops] - path[feet] >= threshold)


@settings(deadline=None)
@given(paths)
def test_turning_points_keep_the_persistence(path: np.ndarray) -> None:
    rows = turning_points(path)
    assert np.array_equal(persistences(path[rows]), persistences(path))
