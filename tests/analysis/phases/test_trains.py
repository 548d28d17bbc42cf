"""Phases of signals whose phases are known."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.trains import (
    alikeness,
    candidate_trains,
    few_phases,
    level_trains,
    levels,
    sharpened,
    variation,
)


def rectangles(starts: np.ndarray, width: float, rate: float, end: float) -> tuple[np.ndarray, np.ndarray]:
    """Vertices of the cumulative volume of equal bursts."""
    times = np.concatenate(([0.0], np.column_stack((starts, starts + width)).ravel(), [end]))
    steps = np.concatenate(([0.0], np.tile([0.0, width * rate], starts.size), [0.0]))
    return times, np.cumsum(steps)


@given(st.integers(4, 40), st.floats(0.001, 0.9), st.floats(0.0, 0.99), st.floats(0.01, 1.5))
def test_bursts_are_found_at_every_duty_cycle(count: int, duty: float, lead: float, tail: float) -> None:
    starts = 10.0 * (np.arange(count) + lead + 0.01)
    times, cumulative = rectangles(starts, 10 * duty, 5.0, starts[-1] + 10 * duty + 10 * tail)
    train = max(candidate_trains(times, cumulative), key=alikeness)
    np.testing.assert_allclose(train.start, starts)
    np.testing.assert_allclose(train.end, starts + 10 * duty)
    np.testing.assert_allclose(train.bytes, 50 * duty)


@given(st.lists(st.floats(1.0, 30.0), min_size=5, max_size=30), st.floats(0.0, 100.0), st.floats(0.1, 1e6))
def test_a_floor_and_the_unit_change_nothing(gaps: list[float], floor: float, scale: float) -> None:
    starts = np.cumsum(gaps) + 2.0 * np.arange(len(gaps))
    times, cumulative = rectangles(starts, 2.0, 5.0, starts[-1] + 3.0)
    level = cumulative[-1] / times[-1]
    plain = level_trains(times, cumulative, level)
    lifted = level_trains(times, scale * (cumulative + floor * times), scale * (level + floor))
    best = [max(trains, key=lambda train: train.contrast) for trains in (plain, lifted)]
    np.testing.assert_allclose(best[0].start, best[1].start)
    np.testing.assert_allclose(scale * (best[0].bytes + floor * 2.0), best[1].bytes, rtol=1e-6)


def test_small_phases_are_seen_beside_a_giant_one() -> None:
    starts = np.concatenate(([0.0], 200.0 + 20.0 * np.arange(10)))
    widths = np.concatenate(([180.0], np.full(10, 10.0)))
    rates = np.concatenate(([25.0], np.full(10, 5.0)))
    times = np.concatenate((np.column_stack((starts, starts + widths)).ravel(), [420.0]))
    steps = np.concatenate((np.column_stack((np.zeros(11), widths * rates)).ravel(), [0.0]))
    cumulative = np.cumsum(steps)
    found = levels(times, cumulative)
    assert found[0] > 5.0 > found[-1]
    assert any(len(train) == 11 for train in candidate_trains(times, cumulative))


def test_parts_of_one_burst_are_not_phases() -> None:
    starts = 100.0 + np.arange(8.0)
    times, cumulative = rectangles(starts, 0.5, 1.0, 1000.0)
    assert candidate_trains(times, cumulative) == []
    assert len(candidate_trains(times[1:-1], cumulative[1:-1])) > 0


@pytest.mark.parametrize("count", [1, 2, 3])
def test_few_bursts_are_listed(count: int) -> None:
    starts = 10.0 + 30.0 * np.arange(count)
    times, cumulative = rectangles(starts, 3.0, 2.0, 120.0)
    assert candidate_trains(times, cumulative) == []
    train = few_phases(times, cumulative)
    assert train is not None
    np.testing.assert_allclose(train.start, starts)
    np.testing.assert_allclose(train.bytes, 6.0)


def test_a_constant_has_no_phase() -> None:
    times = np.linspace(0.0, 10.0, 1001)
    assert few_phases(times, times * 0.1) is None
    assert few_phases(times, np.zeros(1001)) is None


def test_noise_beside_a_phase_does_not_move_it() -> None:
    rng = np.random.default_rng(3)
    x = rng.exponential(size=970)
    x[np.arange(970) % 97 < 5] += 10
    cumulative = np.concatenate(([0.0], np.cumsum(x)))
    times = np.arange(971.0)
    train = max(candidate_trains(times, cumulative), key=alikeness)
    true = 97.0 * np.arange(10)
    moved = sharpened(train, times, cumulative)
    assert np.abs(moved.start - true).mean() <= np.abs(train.start - true).mean()
    np.testing.assert_allclose(moved.start, true, atol=2.0)


@given(st.lists(st.floats(0.1, 10.0), min_size=2, max_size=20))
def test_variation(values: list[float]) -> None:
    mean = sum(values) / len(values)
    deviation = (sum((value - mean) ** 2 for value in values) / len(values)) ** 0.5
    assert variation(np.array(values)) == pytest.approx(deviation / mean, abs=1e-9)
