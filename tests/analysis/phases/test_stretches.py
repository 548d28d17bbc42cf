"""The partition against a search of all partitions, and what is recognised in intervals."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases import stretches as phases
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.kernels import DELAYED, DRIFTING, FREE, MISSING, STEADY, moving_order
from iostrata.analysis.phases.stretches import PulseTrain, chance_off, spans_of, stretches


def divided(intervals: np.ndarray) -> list[tuple[int, int, int]]:
    return [part[:3] for part in stretches(intervals, *spans_of(intervals))]


def trains_of(bursts: Bursts) -> list[PulseTrain]:
    return phases.divided(bursts)[0]


def bursts_of(intervals: np.ndarray) -> Bursts:
    start = np.append(0.0, np.cumsum(intervals))
    return Bursts(start, start + 0.1 * intervals.min(), np.ones(start.size))


@given(st.data(), st.lists(st.integers(1, 6), min_size=1, max_size=40))
def test_the_moving_order_is_that_of_each_window_sorted(data: st.DataObject, values: list[int]) -> None:
    width = data.draw(st.integers(1, len(values)))
    place = data.draw(st.integers(0, width - 1))
    slow = [sorted(values[row : row + width])[place] for row in range(len(values) - width + 1)]
    assert moving_order(np.array(values, np.float64), width, place).tolist() == slow


def test_two_periods_with_a_pause_between() -> None:
    random = np.random.default_rng(0)
    intervals = np.concatenate((np.full(10, 5.0), [33.0], np.full(12, 2.0))) * (1 + 0.01 * random.normal(size=23))
    assert divided(intervals) == [(0, 10, STEADY), (10, 11, FREE), (11, 23, STEADY)]


def test_missing_phases_and_drift_are_told() -> None:
    random = np.random.default_rng(0)
    times = np.delete(10.0 * np.arange(30) + 0.1 * random.normal(size=30), [5, 11, 12, 20])
    assert [law for _, _, law in divided(np.diff(times))] == [MISSING]
    assert [law for _, _, law in divided(10.0 * np.exp(np.linspace(0, 0.4, 30)))] == [DRIFTING]


def test_delays_leave_the_period_and_are_counted() -> None:
    random = np.random.default_rng(0)
    late = random.random(60) < 0.3
    intervals = 10 * (1 + 0.01 * random.normal(size=60)) + np.where(late, random.uniform(2, 15, 60), 0.0)
    assert [law for _, _, law in divided(intervals)] == [DELAYED]
    (train,) = trains_of(bursts_of(intervals)) or []
    assert train.period == pytest.approx(10.0, rel=0.01)
    assert train.spans.size - train.intervals.size == late.sum()


def test_intervals_that_swing_slowly_are_one_period() -> None:
    random = np.random.default_rng(1)
    intervals = 10 * (1 + 0.25 * np.sin(np.arange(60) / 8)) * (1 + 0.02 * random.normal(size=60))
    (train,) = trains_of(bursts_of(intervals)) or []
    assert train.period == pytest.approx(intervals.mean())
    # Neighbours are alike, so that they tell less of the mean than as many independent ones.
    assert train.error > 3 * 2 * train.jitter / math.sqrt(60)


def test_the_last_burst_of_a_short_stretch_may_be_the_first_of_the_next() -> None:
    trains = trains_of(bursts_of(np.array([1.1] * 3 + [0.5] * 8))) or []
    assert [(train.period, len(train.bursts)) for train in trains] == [(pytest.approx(1.1), 4), (pytest.approx(0.5), 8)]


def test_random_intervals_are_free() -> None:
    periodic = 0
    for seed in range(100):
        intervals = np.random.default_rng(seed).gamma(2.0, 1.0, 40)
        parts = stretches(intervals, *spans_of(intervals))
        periodic += any(gain > math.log(100) + 2 * math.log(40) for *_, law, gain in parts if law != FREE)
    assert periodic <= 1


def test_intervals_that_wander_have_no_period() -> None:
    without, against = 0, 0
    for seed in range(20):
        found = bursts_of(np.exp(np.cumsum(np.random.default_rng(seed).normal(0, 0.15, 100))))
        trains, wandering = phases.divided(found)
        without += not any(len(one.bursts) > 50 for one in trains)
        against += wandering > 10
    assert without >= 18
    assert against >= 18
    assert trains_of(bursts_of(10 + 0.3 * np.random.default_rng(0).normal(size=100)))


def test_intervals_that_remember_half_of_the_one_before_are_one_period() -> None:
    random, off = np.random.default_rng(5), np.zeros(60)
    for row in range(1, 60):
        off[row] = 0.5 * off[row - 1] + 0.13 * random.normal()
    (train,) = trains_of(bursts_of(10 * np.exp(off)))
    assert len(train.bursts) == 61
    assert train.error > 2.5 * train.jitter / math.sqrt(60)


def test_one_short_interval_among_even_ones_is_no_evidence_against_a_period() -> None:
    # As a normal law of intervals has it now and then, and one of their logarithms never.
    (train,) = trains_of(bursts_of(np.array([1.25, 0.91, 0.45, 1.26, 1.04, 1.0, 1.0, 1.06, 0.9, 0.62])))
    assert train.gain > 3


def test_intervals_of_all_lengths_are_free() -> None:
    for seed in range(30):
        intervals = np.random.default_rng(seed).exponential(1.0, 30)
        parts = stretches(intervals, *spans_of(intervals))
        assert not any(law == STEADY and stop - first > 15 for first, stop, law, _ in parts)


@pytest.mark.parametrize("count", [8, 30, 100])
@pytest.mark.parametrize("memory", [0.0, 0.5, 0.8])
def test_the_interval_holds_the_mean_of_intervals_with_a_memory(count: int, memory: float) -> None:
    random, within, widths = np.random.default_rng(count), 0, []
    for _ in range(400):
        off = random.normal(size=count + 100)
        for row in range(1, off.size):
            off[row] = memory * off[row - 1] + math.sqrt(1 - memory**2) * off[row]
        train = PulseTrain(bursts_of(1 + 0.1 * off[100:]), np.ones(count), 0.0)
        low, high = train.interval()
        within += low <= 1 <= high
        widths.append(high - low)
    # Eight intervals do not tell that each is like the one before.
    assert within / 400 >= (0.9 if count >= 30 or memory == 0 else 0.87 if memory == 0.5 else 0.7)
    assert count < 30 or within / 400 <= 0.985
    assert np.quantile(widths, 0.98) < 1.2


@pytest.mark.parametrize("size", [0.2, 0.6])
@pytest.mark.parametrize("count", [20, 60])
def test_the_interval_holds_the_mean_of_intervals_that_drift(count: int, size: float) -> None:
    random, within = np.random.default_rng(count), 0
    drifting = np.exp(np.linspace(-size / 2, size / 2, count))
    for _ in range(200):
        train = PulseTrain(bursts_of(drifting * (1 + 0.05 * random.normal(size=count))), np.ones(count), 0.0)
        low, high = train.interval()
        within += low <= drifting.mean() <= high
    assert 0.9 <= within / 200 <= 0.99


@pytest.mark.parametrize("times", [2, 3])
def test_where_intervals_come_again_is_told(times: int) -> None:
    random = np.random.default_rng(4)
    for count in (4, 7, 20):
        first = 10 * (1 + 0.2 * random.normal(size=count))
        train = PulseTrain(bursts_of(np.tile(first, times)), np.ones(times * count), 0.0)
        assert train.again(4.6) == pytest.approx(first.sum())
        assert PulseTrain(bursts_of(first), np.ones(count), 0.0).again(4.6) == math.inf


@pytest.mark.parametrize("pattern", [[1.0], [1.0, 2.0], [1.0, 1.2, 0.7]])
def test_what_repeats_all_along_is_a_period_and_does_not_come_again(pattern: list[float]) -> None:
    intervals = np.tile(pattern, 5)
    assert PulseTrain(bursts_of(intervals), np.ones(intervals.size), 0.0).again(4.6) == math.inf


def test_scale_does_not_matter() -> None:
    intervals = np.random.default_rng(3).lognormal(0, 0.2, 50)
    assert divided(intervals) == divided(intervals * 1e-7)


@pytest.mark.parametrize("count", [700, 3000])
def test_boundaries_are_found_among_many_intervals(count: int) -> None:
    random = np.random.default_rng(0)
    cut = count // 3 + 7
    intervals = np.where(np.arange(count) < cut, 1.0, 2.0) * (1 + 0.02 * random.normal(size=count))
    assert [(first, stop) for first, stop, _ in divided(intervals)] == [(0, cut), (cut, count)]


def test_no_other_division_is_more_probable() -> None:
    # Each of two periods alone gains less than both, over all cuts of a short sequence.
    intervals = np.array([1.0, 1.02, 0.99, 1.01, 3.0, 3.03, 2.98, 3.01])
    best = divided(intervals)
    assert best == [(0, 4, STEADY), (4, 8, STEADY)]
    gains = {}
    for cut in range(3, 6):
        parts = [stretches(part, *spans_of(part)) for part in (intervals[:cut], intervals[cut:])]
        gains[cut] = sum(gain for *_, gain in itertools.chain(*parts))
    assert max(gains, key=lambda cut: gains[cut]) == 4


@pytest.mark.parametrize("jitter", [0.0, 1e-13, 0.02, 0.4])
def test_half_of_the_interval_is_that_of_a_look_at_every_distance(jitter: float) -> None:
    random = np.random.default_rng(33)
    for count in (4, 5, 9, 60, 400):
        start = np.cumsum(random.normal(10.0, 10.0 * jitter, count).clip(1.0))
        train = PulseTrain(Bursts(start, start + 1, np.ones(count)), np.ones(count - 1), 1.0)
        off = train.steady / train.steady.mean() - 1
        far = np.geomspace(1, 1000, 200) * max(float(np.sqrt((off * off).mean() / off.size)), 1e-12)
        assert train.error == float(np.interp(-0.05, -chance_off(off)(far), far))
