"""Step signals against a slow exact oracle in rational numbers."""

from fractions import Fraction
from random import Random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.signals.construction import StepSignal, event_signal, level_signal, step_signal

WINDOW = (0.0, 10.0)
Interval = tuple[float, float, float]


def exact_volume(intervals: list[Interval], window: tuple[float, float], t: float) -> Fraction:
    """Volume within the window up to and including `t`, in rational numbers."""
    low, high = (Fraction(edge) for edge in window)
    until = min(max(Fraction(t), low), high)
    total = Fraction(0)
    for start, end, volume in intervals:
        first, last = Fraction(start), Fraction(end)
        if first == last:
            if low <= first <= min(high, Fraction(t)):
                total += Fraction(volume)
        else:
            inside = min(max(last, low), until) - min(max(first, low), until)
            total += Fraction(volume) * inside / (last - first)
    return total


def exact_rate(intervals: list[Interval], t: Fraction) -> Fraction:
    """Rate at `t`, which is no edge of an interval."""
    return sum(
        (
            Fraction(volume) / (Fraction(end) - Fraction(start))
            for start, end, volume in intervals
            if Fraction(start) < t < Fraction(end)
        ),
        Fraction(0),
    )


def signal_of(intervals: list[Interval], window: tuple[float, float] | None = WINDOW) -> StepSignal:
    columns = np.array(intervals, dtype=np.float64).reshape(-1, 3)
    return step_signal(columns[:, 0], columns[:, 1], columns[:, 2], window=window)


def bits(signal: StepSignal) -> list[bytes]:
    arrays = (signal.times, signal.values, signal.impulse_times, signal.impulse_volumes, signal.cumulative)
    return [array.tobytes() for array in arrays]


@st.composite
def interval_lists(draw: st.DrawFn) -> list[Interval]:
    """Intervals in and around the window, of durations from nothing to 10 s and volumes from nothing to 1 PB."""
    intervals = []
    for _ in range(draw(st.integers(0, 12))):
        start = draw(st.one_of(st.floats(-3, 12), st.integers(-12, 48).map(lambda quarter: quarter / 4)))
        duration = draw(st.sampled_from([0.0, 0.0, 1e-12, 1e-9, 1e-3, 0.25, 0.3, 1.0, 7.0, 10.0]))
        volume = draw(st.one_of(st.integers(0, 100), st.integers(0, 10**15), st.floats(0, 1e3)))
        end = max(start, start + duration)
        # Below 1e-200 products of a volume and a share leave the normal range of float64.
        intervals.append((start, end, float(volume) if volume > 1e-200 else 0.0))
    return intervals


@given(interval_lists())
def test_agrees_with_rational_arithmetic(intervals: list[Interval]) -> None:
    signal = signal_of(intervals)
    assert signal.window == WINDOW
    assert np.all(np.diff(signal.times) > 0)
    for time, volume in zip(signal.times, signal.cumulative, strict=True):
        assert volume == pytest.approx(float(exact_volume(intervals, WINDOW, time)), rel=4e-15, abs=1e-300)
    for start, end, value in zip(signal.times[:-1], signal.times[1:], signal.values, strict=True):
        middle = (Fraction(start) + Fraction(end)) / 2
        assert value == pytest.approx(float(exact_rate(intervals, middle)), rel=2e-15, abs=0)
    points: dict[float, Fraction] = {}
    for start, end, volume in intervals:
        if start == end and volume > 0 and WINDOW[0] <= start <= WINDOW[1]:
            points[start] = points.get(start, Fraction(0)) + Fraction(volume)
    assert signal.impulse_times.tolist() == sorted(points)
    assert signal.impulse_volumes.tolist() == [float(points[time]) for time in sorted(points)]
    assert set(points) <= set(signal.times.tolist())


@given(interval_lists(), st.lists(st.floats(-5, 15), max_size=20))
def test_volume_until_agrees_with_rational_arithmetic_and_never_decreases(
    intervals: list[Interval], times: list[float]
) -> None:
    signal = signal_of(intervals)
    times = sorted([*times, *(edge for interval in intervals for edge in interval[:2])])
    volumes = signal.volume_until(times)
    assert np.all(np.diff(volumes) >= 0)
    for time, volume in zip(times, volumes, strict=True):
        assert volume == pytest.approx(float(exact_volume(intervals, WINDOW, time)), rel=1e-14, abs=1e-300)


@given(interval_lists())
def test_is_monotone_and_never_negative(intervals: list[Interval]) -> None:
    signal = signal_of(intervals)
    assert np.all(signal.values >= 0)
    assert np.all(np.diff(signal.cumulative) >= 0)
    assert np.all(signal.impulse_volumes > 0)


@given(interval_lists(), st.randoms(use_true_random=False))
def test_order_does_not_matter_in_any_bit(intervals: list[Interval], random: Random) -> None:
    shuffled = list(intervals)
    random.shuffle(shuffled)
    assert bits(signal_of(shuffled)) == bits(signal_of(intervals))


def test_order_of_ties_does_not_matter_in_any_bit() -> None:
    rng = np.random.default_rng(4)
    start = rng.integers(0, 8, 3000).astype(float)
    end = start + rng.integers(0, 3, 3000)
    volume = 10.0 ** rng.uniform(-8, 16, 3000)
    first = step_signal(start, end, volume, window=WINDOW)
    for _ in range(3):
        order = rng.permutation(3000)
        assert bits(step_signal(start[order], end[order], volume[order], window=WINDOW)) == bits(first)


@given(interval_lists(), st.lists(st.floats(0.01, 0.99), min_size=12, max_size=12))
def test_splitting_intervals_does_not_change_the_signal(intervals: list[Interval], shares: list[float]) -> None:
    parts: list[Interval] = []
    for (start, end, volume), share in zip(intervals, shares, strict=False):
        cut = min(max(start + share * (end - start), start), end)
        if start < cut < end:
            first = volume * ((cut - start) / (end - start))
            parts += [(start, cut, first), (cut, end, volume * ((end - cut) / (end - start)))]
        else:
            parts.append((start, end, volume))
    whole, split = signal_of(intervals), signal_of(parts)
    times = np.union1d(whole.times, split.times)
    np.testing.assert_allclose(split.volume_until(times), whole.volume_until(times), rtol=1e-13)
    middles = (times[:-1] + times[1:]) / 2
    rates = [s.values[np.searchsorted(s.times, middles, side="right") - 1] for s in (whole, split)]
    np.testing.assert_allclose(rates[1], rates[0], rtol=1e-13)


@given(interval_lists(), st.floats(0, 10), st.floats(0, 10), st.floats(0, 10))
def test_volumes_of_adjoining_clips_add_up(intervals: list[Interval], a: float, b: float, c: float) -> None:
    signal = signal_of(intervals)
    a, b, c = sorted((a, b, c))
    if not a < b < c:
        return
    left, right, both = signal.clip(a, b), signal.clip(b, c), signal.clip(a, c)
    assert left.window == (a, b)
    assert left.volume + right.volume == pytest.approx(both.volume, rel=1e-14, abs=0)
    assert left.clip(a, b) is left


@given(interval_lists(), st.floats(0, 9), st.floats(0.01, 1))
def test_clip_equals_a_signal_built_in_the_window(intervals: list[Interval], start: float, length: float) -> None:
    window = (start, start + length)
    clipped = signal_of(intervals).clip(*window)
    off_edge = [interval for interval in intervals if not interval[0] == interval[1] == window[1]]
    built = signal_of(off_edge, window)
    assert clipped.times.tolist() == built.times.tolist()
    np.testing.assert_allclose(clipped.values, built.values, rtol=1e-14)
    np.testing.assert_allclose(clipped.cumulative, built.cumulative, rtol=1e-14)
    assert clipped.impulse_times.tolist() == built.impulse_times.tolist()


def test_order_does_not_matter_for_the_sign_of_zero() -> None:
    start, end, window = np.array([0.0, -0.0]), np.array([1.0, 2.0]), (-1.0, 3.0)
    assert bits(step_signal(start, end, [1, 1], window=window)) == bits(
        step_signal(start[::-1], end[::-1], [1, 1], window=window)
    )
    assert bits(step_signal([0.5], [1.0], [1.0], window=(-0.0, 3.0))) == bits(
        step_signal([0.5], [1.0], [1.0], window=(0.0, 3.0))
    )


def test_intervals_across_the_window_count_in_proportion() -> None:
    signal = step_signal([-2.0, 9.0, -5.0], [2.0, 13.0, 15.0], [8.0, 40.0, 200.0], window=WINDOW)
    assert signal.times.tolist() == [0.0, 2.0, 9.0, 10.0]
    assert signal.values.tolist() == [12.0, 10.0, 20.0]
    assert signal.volume == 4.0 + 10.0 + 100.0


def test_zero_duration_is_kept_at_both_edges_of_the_window_and_not_beyond() -> None:
    at = [np.nextafter(0.0, -1), 0.0, 10.0, np.nextafter(10.0, 11)]
    signal = step_signal(at, at, [1.0, 2.0, 4.0, 8.0], window=WINDOW)
    assert signal.impulse_times.tolist() == [0.0, 10.0]
    assert signal.cumulative.tolist() == [2.0, 6.0]
    assert signal.volume_until([-1.0, 0.0, 9.9, 10.0, 11.0]).tolist() == [0.0, 2.0, 2.0, 6.0, 6.0]


def test_neighbouring_steps_of_one_rate_are_one() -> None:
    signal = step_signal([0.0, 1.0, 3.0], [1.0, 3.0, 4.0], [2.0, 4.0, 2.0], window=(0.0, 5.0))
    assert signal.times.tolist() == [0.0, 4.0, 5.0]
    assert signal.values.tolist() == [2.0, 0.0]


def test_window_is_that_of_the_intervals_where_none_is_given() -> None:
    assert step_signal([3.0, 1.0], [4.0, 2.0], [1.0, 1.0]).window == (1.0, 4.0)


def test_no_interval_gives_an_idle_signal() -> None:
    signal = step_signal([], [], [], window=WINDOW)
    assert signal.times.tolist() == [0.0, 10.0]
    assert signal.values.tolist() == [0.0]
    assert signal.volume == 0.0


@given(st.lists(interval_lists(), min_size=1, max_size=4))
def test_sum_equals_the_signal_of_all_intervals(lists: list[list[Interval]]) -> None:
    signals = [signal_of(intervals) for intervals in lists]
    added = StepSignal.sum(signals)
    together = signal_of([interval for intervals in lists for interval in intervals])
    times = np.union1d(added.times, together.times)
    np.testing.assert_allclose(added.volume_until(times), together.volume_until(times), rtol=1e-13)
    assert added.impulse_times.tolist() == together.impulse_times.tolist()
    assert bits(StepSignal.sum(signals[::-1])) == bits(added)


@given(interval_lists())
def test_level_counts_open_intervals(intervals: list[Interval]) -> None:
    columns = np.array(intervals).reshape(-1, 3)
    signal = level_signal(columns[:, 0], columns[:, 1], window=WINDOW)
    assert signal.unit == "1"
    assert len(signal.impulse_times) == 0
    for start, end, value in zip(signal.times[:-1], signal.times[1:], signal.values, strict=True):
        # Steps of one level are one, so an interval may end in the middle of a step, but at no such odd fraction of it.
        inside = Fraction(start) + (Fraction(end) - Fraction(start)) * Fraction(997, 2011)
        assert value == sum(1 for first, last, _ in intervals if Fraction(first) < inside < Fraction(last))


@given(st.lists(st.integers(-8, 48).map(lambda quarter: quarter / 4), max_size=30))
def test_events_sampled_are_a_histogram(times: list[float]) -> None:
    signal = event_signal(times, window=WINDOW)
    counts, _ = np.histogram(times, bins=20, range=WINDOW)
    assert signal.unit == "s-1"
    assert (signal.sample(2.0).values / 2).tolist() == counts.tolist()
