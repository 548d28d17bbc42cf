"""Sizes that repeat, and bursts in turn."""

import numpy as np
import pytest
from iostrata import detect_period, step_signal
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.cycles import cycle_length, in_whole_periods
from iostrata.analysis.phases.stretches import PulseTrain


@pytest.mark.parametrize("length", range(2, 13))
def test_the_cycle_is_found_and_none_of_its_multiples(length: int) -> None:
    random = np.random.default_rng(length)
    sizes = np.where(np.arange(12 * length) % length == 0, 1.6, 1.0) * random.normal(1.0, 0.05, 12 * length)
    assert cycle_length(sizes, 1e-4) == length


@pytest.mark.parametrize("pattern", [[1, 2, 1, 3], [1, 2, 3, 4, 5, 6], [3, 1, 1, 2, 1, 1]])
def test_exact_sizes_have_the_whole_cycle(pattern: list[float]) -> None:
    assert cycle_length(np.array(pattern * 8, dtype=float), 1e-4) == len(pattern)


def test_one_in_ten_a_quarter_larger_is_found_beneath_as_much_spread() -> None:
    random = np.random.default_rng(0)
    sizes = np.where(np.arange(120) % 10 == 3, 1.25, 1.0) * np.exp(0.06 * random.normal(size=120))
    assert cycle_length(sizes, 1e-4) == 10


def test_random_sizes_and_trends_repeat_as_often_as_said() -> None:
    random = np.random.default_rng(1)
    kinds = (lambda n: random.lognormal(0, 1, n), lambda n: np.exp(np.cumsum(0.1 * random.normal(size=n))))
    found = [cycle_length(kind(int(random.integers(8, 200))), 1e-2) for kind in kinds for _ in range(200)]
    # At a rate of 1 %, more than 13 of 400 happen less than once in 10,000.
    assert sum(one is not None for one in found) <= 13


def test_equal_sizes_have_no_cycle() -> None:
    assert cycle_length(np.full(40, 3.0), 0.01) is None
    assert cycle_length(np.array([1.0, 2.0] * 3), 0.01) is None


@pytest.mark.parametrize("first", [0, 1])
def test_bursts_in_turn_keep_all_their_volume_from_the_first_period_on(first: int) -> None:
    start = np.sort(np.concatenate((10.0 * np.arange(12), 10.0 * np.arange(12) + 3.0)))[first:]
    volume = np.arange(1.0, start.size + 1)
    train = PulseTrain(Bursts(start, start + 1, volume), np.ones(start.size - 1), 20.0)
    whole = in_whole_periods(train)
    assert len(whole.bursts) == 12 - first
    assert whole.period == pytest.approx(10.0)
    assert whole.bursts.start[0] == (0.0 if first == 0 else 10.0)
    assert whole.bursts.volume.sum() == volume[first:].sum()


@pytest.mark.parametrize("places", [[0.0, 0.2, 0.6], [0.0, 0.1, 0.3, 0.7], [0.0, 0.3, 0.4, 0.5, 0.9]])
@pytest.mark.parametrize("seed", range(3))
def test_several_bursts_in_turn_are_one_period(places: list[float], seed: int) -> None:
    random = np.random.default_rng(seed)
    start = np.add.outer(50.0 * np.arange(16), 50 * np.array(places)).ravel() + 0.3 * random.normal(
        size=16 * len(places)
    )
    result = detect_period(step_signal(start, start + 1.5, np.ones(start.size)))
    assert result.period == pytest.approx(50, rel=0.01)
    assert result.confidence > 0.9


def test_of_nearly_even_bursts_in_turn_each_is_a_period() -> None:
    start = np.add.outer(30.0 * np.arange(16), [0.0, 10.3, 20.1]).ravel()
    train = PulseTrain(Bursts(start, start + 1, np.ones(start.size)), np.ones(start.size - 1), 20.0)
    assert in_whole_periods(train) is train


@pytest.mark.parametrize("jitter", [1.0, 2.5])
def test_jitter_alone_makes_no_pairs(jitter: float) -> None:
    random = np.random.default_rng(2)
    for _ in range(200):
        start = np.cumsum(np.maximum(random.normal(10.0, jitter, int(random.integers(9, 60))), 0.5))
        train = PulseTrain(Bursts(start, start + 1, np.ones(start.size)), np.ones(start.size - 1), 20.0)
        assert in_whole_periods(train) is train


def test_a_train_that_touches_every_second_burst_of_another_hides_neither() -> None:
    """Every second burst begins early, with the other's, but ends as the others do: both periods are told."""
    fast = 10.0 * np.arange(24)
    slow = fast[::2] - 0.8
    start, end = np.append(fast, slow), np.append(fast + 1.5, slow + 1.0)
    result = detect_period(step_signal(start, end, np.append(np.full(24, 1.5), np.full(12, 3.0))))
    assert sorted(one.period for one in result.periods) == pytest.approx([10, 20], rel=0.02)
