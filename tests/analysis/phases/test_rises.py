"""Rises over a threshold against a slow simplification of the path, a ladder of thresholds, and its steps."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.kernels import largest_thresholds, rises_above

# Few values, so that rises and falls are often just as large as the threshold.
paths = st.lists(st.integers(-8, 8), min_size=1, max_size=40).map(lambda values: np.array(values, np.float64))


def slowly_simplified(path: np.ndarray, threshold: float) -> list[float]:
    """Return feet and tops in turn, of a path between two deep feet, by removing the smallest step between turns."""
    distinct = [value for row, value in enumerate(path) if row == 0 or value != path[row - 1]]
    turns = [
        value
        for row, value in enumerate(distinct)
        if row in (0, len(distinct) - 1) or (value - distinct[row - 1]) * (distinct[row + 1] - value) < 0
    ]
    while len(turns) > 3 and (steps := np.abs(np.diff(turns))[1:-1]).min() < threshold:
        smallest = 1 + int(np.argmin(steps))
        del turns[smallest : smallest + 2]
    return turns[:-1]


@given(paths, st.integers(1, 10))
def test_as_slowly_simplified(path: np.ndarray, threshold: int) -> None:
    whole = np.concatenate(([-200.0], path, [-200.0]))
    assert whole[rises_above(whole, threshold)].tolist() == slowly_simplified(whole, threshold)


@given(paths, st.integers(1, 8), st.integers(1, 8))
def test_what_is_left_at_a_threshold_suffices_for_a_larger_one(path: np.ndarray, first: int, more: int) -> None:
    rows = rises_above(path, first)
    assert rows[rises_above(path[rows], first + more)].tolist() == rises_above(path, first + more).tolist()


@pytest.mark.parametrize("path", [[0.0], [0.0, 0.0, 0.0], [3.0, 2.0, 1.0]])
def test_no_rise(path: list[float]) -> None:
    assert rises_above(np.array(path), 0.5).size == 0


@given(paths)
def test_largest_thresholds_are_those_up_to_which_rises_remain(path: np.ndarray) -> None:
    found = largest_thresholds(path)
    for threshold in np.arange(0.5, float(np.ptp(path)) + 2, 0.5):
        assert 2 * np.count_nonzero(found >= threshold) == rises_above(path, threshold).size
