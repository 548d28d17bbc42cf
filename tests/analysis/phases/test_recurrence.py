"""Recurrence: means with their intervals, missing phases, start-up I/O, and clocks seen through bins."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.recurrence import clock_period, mean_period, missing_phases, set_edges_apart
from iostrata.analysis.phases.trains import PhaseTrain


def train(start: np.ndarray, volume: np.ndarray) -> PhaseTrain:
    return PhaseTrain(start, start + 1.0, volume, volume, 10.0)


def test_the_interval_covers_the_period_as_often_as_it_says() -> None:
    rng = np.random.default_rng(1)
    hits = 0
    for _ in range(2000):
        found = mean_period(rng.normal(20.0, 2.0, 12))
        hits += found.interval[0] <= 20.0 <= found.interval[1]
    assert hits / 2000 == pytest.approx(0.95, abs=0.015)


@given(st.integers(5, 60), st.floats(0.5, 500.0), st.data())
def test_left_out_phases_are_counted(count: int, period: float, data: st.DataObject) -> None:
    most = max(1, count // 8)
    inner = st.integers(1, count - 2)
    left_out = data.draw(st.lists(inner, min_size=1, max_size=most, unique=True))
    start = period * np.delete(np.arange(float(count)), left_out)
    intervals = np.diff(start)
    spans = missing_phases(intervals)
    if np.median(intervals) > 1.5 * period or len(left_out) > max(1, int(0.25 * intervals.size)) or start.size < 4:
        return
    assert spans is not None
    assert spans.sum() == count - 1
    assert mean_period(intervals, spans).period == pytest.approx(period)


def test_irregular_intervals_are_no_missing_phases() -> None:
    assert missing_phases(np.array([10.0, 10.0, 10.0, 10.0])) is None
    assert missing_phases(np.array([10.0, 16.0, 10.0, 10.0, 10.0])) is None
    assert missing_phases(np.array([10.0, 20.0, 30.0, 20.0, 10.0])) is None
    assert missing_phases(np.random.default_rng(0).exponential(10.0, 20)) is None


def test_start_up_and_shut_down_are_set_apart() -> None:
    start = np.concatenate(([0.0], 7.0 + 20.0 * np.arange(10), [192.0]))
    volume = np.concatenate(([50.0], np.full(10, 2.0), [9.0]))
    found = set_edges_apart(train(start, volume))
    assert (found.at_start, found.at_end) == (1, 1)
    np.testing.assert_array_equal(found.core.start, start[1:-1])


def test_what_is_like_the_others_stays() -> None:
    start = np.concatenate(([0.0], 7.0 + 20.0 * np.arange(10)))
    found = set_edges_apart(train(start, np.full(11, 2.0)))
    assert (found.at_start, found.at_end) == (0, 0)
    irregular = np.cumsum(np.random.default_rng(2).exponential(10.0, 12))
    assert set_edges_apart(train(irregular, np.arange(1.0, 13.0))).core.start.size == 12


@given(st.floats(5.0, 60.0), st.floats(0.0, 5.0), st.integers(4, 100))
def test_a_clock_seen_through_bins(period: float, origin: float, count: int) -> None:
    ticks = origin + period * np.arange(count)
    earliest = np.floor(ticks)
    found = clock_period(earliest, earliest + 1.0)
    assert found is not None
    assert found.interval[0] <= period * (1 + 1e-12)
    assert found.interval[1] >= period * (1 - 1e-12)
    assert abs(found.period - period) <= 1.0 / (count - 1)


def test_no_clock_meets_contradicting_bounds() -> None:
    earliest = np.array([0.0, 10.0, 25.0, 30.0])
    assert clock_period(earliest, earliest + 1.0) is None
