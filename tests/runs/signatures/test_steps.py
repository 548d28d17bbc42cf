"""Steps B and C against slow oracles: bursts, correlations, matches in order, warping."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.runs.signatures.bursts import Burst, bursts_of, smoothed
from iostrata.runs.signatures.clusters import correlations, stacked
from iostrata.runs.signatures.kernels import matched_bursts, warping_path
from iostrata.runs.signatures.sample import Sample

SKIP, STIFFNESS = 0.5, 0.5


def pulses(length, *places, height=10.0, width=12):
    values = np.zeros(length)
    for place in places:
        values[place : place + width] = height
    return values


def test_bursts_are_found_where_they_are_with_all_their_volume():
    found = [one for one in bursts_of(Sample("", pulses(400, 50, 150, 300), 1.0), 0, 2) if one.counts]
    assert [one.extent for one in found] == [(50, 62), (150, 162), (300, 312)]
    assert [one.volume for one in found] == [120.0] * 3


def test_a_long_low_burst_counts_by_its_volume():
    values = pulses(600, 50, 150, 300)
    values[450:550] = 1.2
    assert 500 in [pytest.approx(one.centre, abs=3) for one in bursts_of(Sample("", values, 1.0), 0, 2) if one.counts]


def test_a_sample_without_traffic_has_no_burst():
    assert bursts_of(Sample("", np.zeros(100), 1.0), 0, 2) == []


def test_a_sample_shorter_than_the_wavelet_is_refused_and_one_of_its_length_is_not():
    with pytest.raises(SelectionError, match="too short"):
        smoothed(np.zeros(61), 2)
    assert len(smoothed(np.arange(62.0), 3)) == 62


BURSTS = st.lists(
    st.lists(st.floats(0.1, 100), min_size=1, max_size=12).map(np.array), min_size=2, max_size=6
)  # fmt: skip


@given(BURSTS)
def test_correlations_are_those_of_the_bursts_with_zeros_around(parts):
    bursts = [Burst(place, 0, len(values), values) for place, values in enumerate(parts)]
    rows, _ = stacked(bursts)
    reference = rows.mean(axis=0)
    assert rows.sum() == pytest.approx(sum(values.sum() for values in parts))
    for row, found in zip(rows, correlations(bursts), strict=True):
        if row.std() > 1e-9 and reference.std() > 1e-9:
            assert found == pytest.approx(np.clip(np.corrcoef(row, reference)[0, 1], 0, 1), abs=1e-6)


def worth(first, second, volumes, others, pairs, distance):
    total = -SKIP * (len(first) + len(second) - 2 * len(pairs))
    for place, (one, other) in enumerate(pairs):
        total += min(volumes[one], others[other]) / max(volumes[one], others[other])
        if place:
            before, after = pairs[place - 1]
            total -= STIFFNESS * abs((second[other] - first[one]) - (second[after] - first[before])) / distance
    return total


TIMES = st.lists(st.floats(0.5, 20), min_size=1, max_size=5).map(np.cumsum)


@given(TIMES, TIMES, st.floats(5, 40), st.randoms(use_true_random=False))
def test_the_match_in_order_is_the_best_of_all(first, second, farthest, random):
    volumes = np.array([random.uniform(1, 5) for _ in first])
    others = np.array([random.uniform(1, 5) for _ in second])
    found = matched_bursts(first, second, volumes, others, farthest, 7.0)
    pairs = [tuple(pair) for pair in found.tolist()]
    every = [
        list(zip(ones, twos, strict=True))
        for count in range(1, min(len(first), len(second)) + 1)
        for ones in combinations(range(len(first)), count)
        for twos in combinations(range(len(second)), count)
        if all(abs(first[one] - second[two]) <= farthest for one, two in zip(ones, twos, strict=True))
    ]
    if not every:
        assert pairs == []
        return
    best = max(worth(first, second, volumes, others, one, 7.0) for one in every)
    assert worth(first, second, volumes, others, pairs, 7.0) == pytest.approx(best)


@given(st.lists(st.floats(0, 9), min_size=1, max_size=7), st.lists(st.floats(0, 9), min_size=1, max_size=7))
def test_the_warping_path_costs_as_little_as_the_recursion_says(first, second):
    first, second = np.array(first), np.array(second)
    cost = np.full((len(first) + 1, len(second) + 1), np.inf)
    cost[0, 0] = 0
    for row in range(len(first)):
        for column in range(len(second)):
            least = min(cost[row, column], cost[row, column + 1], cost[row + 1, column])
            cost[row + 1, column + 1] = least + abs(first[row] - second[column])
    path = warping_path(first, second)
    assert np.abs(first[path[:, 0]] - second[path[:, 1]]).sum() == pytest.approx(cost[-1, -1])
    assert path[0].tolist() == [0, 0]
    assert path[-1].tolist() == [len(first) - 1, len(second) - 1]
    assert set(map(tuple, np.diff(path, axis=0).tolist())) <= {(0, 1), (1, 0), (1, 1)}
