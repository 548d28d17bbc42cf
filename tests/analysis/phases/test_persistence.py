"""Persistence and rises against their definitions, on short paths."""

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.persistence import lowest_rows, persistences, rises_above, turning_points

paths = st.lists(st.integers(-20, 20), min_size=1, max_size=14).map(lambda steps: np.array(steps, dtype=np.float64))


def most_rises(path: list[float], threshold: float) -> int:
    """The largest number of rises of at least the threshold, with falls of at least it between them."""
    best = 0
    for count in range(1, len(path) // 2 + 1):
        for rows in itertools.combinations(range(len(path)), 2 * count):
            values = [path[row] for row in rows]
            legs = [after - before for before, after in itertools.pairwise(values)]
            if all(leg >= threshold if n % 2 == 0 else -leg >= threshold for n, leg in enumerate(legs)):
                best = count
                break
        if best < count:
            break
    return best


@given(st.lists(st.integers(-20, 20), min_size=1, max_size=9), st.integers(1, 25))
def test_there_are_as_many_rises_as_can_be_chosen(steps: list[int], threshold: int) -> None:
    path = np.array(steps, dtype=np.float64)
    feet, tops = rises_above(path, float(threshold))
    assert feet.size == most_rises(path.tolist(), threshold)
    assert np.all(path[tops] - path[feet] >= threshold)
    assert np.all(path[tops[:-1]] - path[feet[1:]] >= threshold)


@given(paths, st.integers(1, 25))
def test_persistence_counts_the_rises_of_every_threshold(path: np.ndarray, threshold: int) -> None:
    assert np.count_nonzero(persistences(path) >= threshold) == rises_above(path, float(threshold))[0].size


@given(paths)
def test_turning_points_say_all_about_a_path(path: np.ndarray) -> None:
    rows = turning_points(path)
    assert rows[0] == 0
    assert np.all(np.diff(rows) > 0)
    assert np.all(np.diff(np.sign(np.diff(path[rows]))) != 0)
    np.testing.assert_array_equal(persistences(path[rows]), persistences(path))


@given(paths, st.floats(-3, 3))
def test_the_lowest_row_of_a_tilted_path(path: np.ndarray, level: float) -> None:
    times = np.arange(path.size, dtype=np.float64)
    found = lowest_rows(times, path, np.array([0]), np.array([path.size]), np.array([level]))
    excess = path - level * times
    assert found[0] == np.flatnonzero(excess == excess.min())[-1]
