"""Signals from ticks against the same intervals in rational numbers."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.model.codes import UNDEFINED_TIME
from iostrata.signals.construction import step_signal, step_signal_from_ticks

RESOLUTION = 1_000_000_000
DAY = 86_400 * RESOLUTION


@st.composite
def operations(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Short and long operations late in a long trace, many sharing their edges; seconds still tell ticks apart."""
    count = draw(st.integers(1, 12))
    begin = np.array(draw(st.lists(st.integers(0, 40), min_size=count, max_size=count)), dtype=np.int64) + DAY
    lengths = st.sampled_from([0, 1, 2, 17, 1000, RESOLUTION])
    end = begin + np.array(draw(st.lists(lengths, min_size=count, max_size=count)), dtype=np.int64)
    volume = np.array(draw(st.lists(st.integers(0, 10**12), min_size=count, max_size=count)), dtype=np.uint64)
    return begin, end, volume


def exact_volume(begin: np.ndarray, end: np.ndarray, volume: np.ndarray, tick: int) -> Fraction:
    total = Fraction(0)
    for first, last, moved in zip(begin.tolist(), end.tolist(), volume.tolist(), strict=True):
        if first == last:
            total += moved if first <= tick else 0
        else:
            total += Fraction(moved) * (min(max(tick, first), last) - first) / (last - first)
    return total


@given(operations(), st.sampled_from([RESOLUTION, 10**12, 3 * 10**9]))
def test_volumes_are_exact_where_seconds_are_not(
    columns: tuple[np.ndarray, np.ndarray, np.ndarray], resolution: int
) -> None:
    begin, end, volume = columns
    window = (0.0, 2 * DAY / resolution)
    signal = step_signal_from_ticks(begin, end, volume, resolution, window)
    assert signal.window == window
    assert np.all(np.diff(signal.times) > 0)
    assert np.all(signal.values >= 0)
    assert signal.volume == sum(volume.tolist())
    moving = volume > 0
    edges = {tick / resolution: tick for tick in (*begin[moving].tolist(), *end[moving].tolist())}
    assert set(signal.times[1:-1].tolist()) <= set(edges)
    for time, until in zip(signal.times[1:-1].tolist(), signal.cumulative[1:-1], strict=True):
        assert until == pytest.approx(float(exact_volume(begin, end, volume, edges[time])), rel=4e-15, abs=0)
    stepped = math.fsum(signal.values * np.diff(signal.times)) + math.fsum(signal.impulse_volumes)
    assert stepped == pytest.approx(signal.volume, rel=1e-14)
    assert signal.sample(7.0).volume == pytest.approx(signal.volume, rel=1e-13)
    assert set(signal.impulse_times.tolist()) <= set(signal.times.tolist())


def test_agrees_with_seconds_where_these_are_exact() -> None:
    begin, end = np.array([0, 256, 512]), np.array([512, 768, 512])
    ticks = step_signal_from_ticks(begin, end, [64, 32, 5], 1024, (0.125, 1.0), unit="1", name="x")
    seconds = step_signal(begin / 1024, end / 1024, [64, 32, 5], window=(0.125, 1.0))
    for field in ("times", "values", "cumulative", "impulse_times", "impulse_volumes"):
        assert getattr(ticks, field).tolist() == getattr(seconds, field).tolist()
    assert (ticks.unit, ticks.name) == ("1", "x")


def test_a_nanosecond_late_in_the_trace_keeps_its_volume() -> None:
    begin = np.array([10 * DAY], dtype=np.int64)
    signal = step_signal_from_ticks(begin, begin + 1, [10**9], RESOLUTION, (0.0, 11 * 86_400.0))
    assert signal.volume == 1e9
    assert math.fsum(signal.values * np.diff(signal.times)) == pytest.approx(1e9, rel=1e-15)


def test_what_seconds_cannot_tell_apart_becomes_one_impulse() -> None:
    begin = np.array([1000 * DAY, 1000 * DAY + 1], dtype=np.int64)
    signal = step_signal_from_ticks(begin, begin + 1, [300, 700], RESOLUTION, (0.0, 1001 * 86_400.0))
    assert signal.volume == 1000.0
    assert signal.impulse_volumes.sum() == pytest.approx(1000.0 - (signal.values * np.diff(signal.times)).sum())
    assert len(signal.impulse_times) >= 1


def test_window_at_the_last_tick_keeps_an_operation_that_ends_there() -> None:
    rng = np.random.default_rng(5)
    for last in rng.integers(1, 2**50, 200).tolist():
        for resolution in (RESOLUTION, 3_193_981_000, 1_000_003):
            window = (0.0, last / resolution)
            signal = step_signal_from_ticks([last // 3, last], [last, last], [7, 2], resolution, window)
            assert signal.volume == 9.0
            assert signal.impulse_times.tolist() == [window[1]]


def test_window_is_that_of_the_operations_where_none_is_given() -> None:
    signal = step_signal_from_ticks([500, 100], [700, 300], [1, 1], 1000)
    assert signal.window == (0.1, 0.7)
    assert signal.volume == 2.0


@pytest.mark.parametrize("resolution", [0, -1, math.nan, math.inf])
def test_refuses_a_clock_without_resolution(resolution: float) -> None:
    with pytest.raises(SelectionError, match="clock resolution"):
        step_signal_from_ticks([0], [1], [1], resolution)


def test_refuses_undefined_times() -> None:
    undefined = np.array([UNDEFINED_TIME])
    with pytest.raises(SelectionError, match="interval 0 has no end"):
        step_signal_from_ticks([0], undefined, [1], RESOLUTION)
