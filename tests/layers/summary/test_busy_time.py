"""Busy time summed up while operations come, against sets of ticks and the union of all intervals at once."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.summary import busy_points, busy_time
from iostrata.layers.summary.busy_time import BusyTime

Intervals = list[tuple[int, int]]
lists = st.lists(st.tuples(st.integers(-100, 500), st.integers(0, 60)), max_size=40)


def busy(some: Intervals, window: tuple[int, int] = (0, 500), piece: int = 3) -> BusyTime:
    found = BusyTime(*window)
    for first in range(0, len(some), piece):
        begin = np.array([begin for begin, _ in some[first : first + piece]], np.int64)
        found.add(begin, begin + np.array([length for _, length in some[first : first + piece]], np.int64))
    return found


def merged(first: BusyTime, second: BusyTime) -> BusyTime:
    both = copy.deepcopy(first)
    both.merge(second)
    return both


def ticks(some: Intervals) -> int:
    return len({tick for begin, length in some for tick in range(begin, begin + length)})


@given(some=lists, other=lists, waiting=st.integers(1, 20))
def test_equals_the_ticks_that_are_covered(some: Intervals, other: Intervals, waiting: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(busy_time, "_WAITING", waiting)
        first, second = busy(some), busy(other, piece=1)
        assert (first.length, first.step) == (ticks(some), 0)
        assert merged(first, second).length == merged(second, first).length == ticks(some + other)
        assert (second.length, second.step) == (ticks(other), 0)


@given(some=lists, other=lists, stretches=st.integers(0, 6))
def test_exact_with_points_a_tick_apart(some: Intervals, other: Intervals, stretches: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(busy_time, "_WAITING", 4)
        patch.setattr(busy_time, "MOST_STRETCHES", stretches)
        patch.setattr(busy_points, "MOST_POINTS", 1024)
        first, second = busy(some, (-100, 600)), busy(other, (-100, 600))
        assert (first.length, first.step) == (ticks(some), 0)
        union = merged(first, second)
        assert (union.length, union.step) == (ticks(some + other), 0)
        # What is added to it stays out of what was merged.
        union.add(np.array([-100]), np.array([600]))
        assert union.length == 700
        assert (first.length, second.length) == (ticks(some), ticks(other))


def stretches(count: int, distance: int = 10) -> tuple[np.ndarray, np.ndarray]:
    begin = np.random.default_rng(1).permutation(count).astype(np.int64) * distance
    return begin, begin + distance // 2


def test_exact_up_to_the_limit_and_stated_beyond(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_points, "MOST_POINTS", 1 << 20)
    most = busy_time.MOST_STRETCHES
    exact = BusyTime(0, 100 * most)
    exact.add(*stretches(most, 100))
    assert (exact.length, exact.step) == (50 * most, 0)
    # Intervals without duration, or that touch others, are no further stretches.
    exact.add(np.array([77, 50], np.int64), np.array([77, 60], np.int64))
    assert (exact.length, exact.step) == (50 * most + 10, 0)
    exact.add(np.array([75], np.int64), np.array([80], np.int64))
    assert exact.step == 13
    assert exact.length == pytest.approx(50 * most + 15, rel=0.01)


def test_extreme_ticks() -> None:
    found = BusyTime(0, 1)
    found.add(np.array([-(2**62), 2**61]), np.array([-(2**61), 2**62]))
    assert found.length == 2**62
    assert BusyTime(0, 10).length == 0


@pytest.mark.parametrize("mean", [3, 40, 700])
def test_the_error_is_of_the_order_stated(mean: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Stretches of random length and distance: the errors of the count of points have mean 0 and spread n^1/2 steps.
    monkeypatch.setattr(busy_time, "MOST_STRETCHES", 100)
    monkeypatch.setattr(busy_points, "MOST_POINTS", 1 << 14)
    chance = np.random.default_rng(mean)
    errors = []
    for _ in range(60):
        lengths = chance.geometric(1 / mean, (2, 3000)).astype(np.int64)
        edges = np.cumsum(lengths.T.ravel())
        begin, end = edges[::2], edges[1::2]
        found = BusyTime(0, 1 << 22)
        found.add(begin, end)
        assert found.step in (256, 512)
        errors.append((found.length - (end - begin).sum()) / found.step / len(begin) ** 0.5)
    assert abs(np.mean(errors)) < 4 * np.std(errors) / len(errors) ** 0.5 + 1e-12
    assert np.abs(errors).max() < 3


@given(some=lists, low=st.integers(0, 500), high=st.integers(0, 500))
def test_the_time_between_two_times_is_that_of_the_ticks_there(some: Intervals, low: int, high: int) -> None:
    low, high = sorted((low, high))
    within = {tick for begin, length in some for tick in range(begin, begin + length) if low <= tick < high}
    assert busy(some).within(low, high) == len(within)
