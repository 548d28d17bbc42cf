"""Step signals at scales where plain sums in floating point fail."""

import math

import numpy as np
import pytest
from iostrata import step_signal

WINDOW = (0.0, 10.0)


def test_cumulative_volume_never_passes_the_exact_sum_at_the_next_idle_time() -> None:
    rng = np.random.default_rng(13)
    first = 2.0 * np.arange(2000)
    second = first + rng.uniform(0.1, 1.0, 2000)
    volume = rng.uniform(1, 1e9, 2000)
    tiny = np.full(2000, 1e-30)
    start, end = np.concatenate((first, second)), np.concatenate((second, second + 1e-3))
    signal = step_signal(start, end, np.concatenate((volume, tiny)), window=(0.0, 4000.0))
    assert np.all(np.diff(signal.cumulative) >= 0)
    idle = signal.volume_until(first[1:])
    assert idle.tolist() == [math.fsum(volume[:count]) for count in range(1, 2000)]


def test_a_fast_operation_leaves_no_residue_in_a_slow_neighbour() -> None:
    """1e9 bytes in 1 ns beside 80 bytes in 10 s: the rates differ by 17 orders of magnitude."""
    signal = step_signal([0.0, 5.0], [10.0, 5.0 + 1e-9], [80.0, 1e9], window=(0.0, 12.0))
    assert signal.values.tolist() == [8.0, 8.0 + 1e9 / ((5.0 + 1e-9) - 5.0), 8.0, 0.0]
    assert signal.volume == 1e9 + 80
    assert signal.volume_until([4.0]).tolist() == [32.0]
    assert (signal.volume - signal.volume_until([9.0])).tolist() == pytest.approx([8.0], abs=1e-6)


@pytest.mark.parametrize(
    "volumes",
    [
        [1.0, 2.0**-53, 2.0**-120],
        [1.0 + 2.0**-52, 2.0**-53],
        [2.0**53, 1.0, 2.0**-60, 2.0**-60],
        [2.0**53 + 2, 1.0],
        [2.0**200, 2.0**147, 2.0**94, 2.0**-900],
    ],
)
def test_volumes_at_one_time_are_summed_with_one_rounding(volumes: list[float]) -> None:
    at = np.ones(len(volumes))
    for order in (volumes, volumes[::-1]):
        signal = step_signal(at, at, order, window=WINDOW)
        assert signal.impulse_volumes.tolist() == [math.fsum(volumes)]
        assert signal.volume == math.fsum(volumes)
        assert step_signal(at, at + 1, order, window=WINDOW).values.tolist() == [0.0, math.fsum(volumes), 0.0]


def test_idle_time_is_exactly_zero_after_many_overlapping_operations() -> None:
    rng = np.random.default_rng(7)
    start = rng.uniform(0, 4, 20_000)
    end = start + 10.0 ** rng.uniform(-9, 0, 20_000)
    volume = 10.0 ** rng.uniform(0, 12, 20_000)
    signal = step_signal(start, end, volume, window=(0.0, 9.0))
    assert signal.values[-1] == 0.0
    assert signal.times[-2] == end.max()
    assert signal.volume == math.fsum(volume)


def test_volume_is_the_exact_sum_of_whole_bytes() -> None:
    rng = np.random.default_rng(3)
    start = np.sort(rng.uniform(0, 100, 5000))
    volume = rng.integers(0, 2**32, 5000)
    signal = step_signal(start, start + rng.exponential(1e-3, 5000), volume, window=(0.0, 200.0))
    assert signal.volume == int(volume.sum())


def test_rates_beyond_float64_become_impulses() -> None:
    signal = step_signal([1.0], [np.nextafter(1.0, 2.0)], [1e300], window=WINDOW)
    assert signal.impulse_volumes.tolist() == [1e300]
    assert np.all(np.isfinite(signal.values))


def test_a_million_intervals() -> None:
    count = 1_000_000
    rng = np.random.default_rng(11)
    start = rng.uniform(-1, 400, count)
    length = rng.exponential(1e-3, count) * (rng.random(count) > 0.1)
    volume = rng.integers(0, 2**24, count).astype(np.float64)
    window = (0.0, 399.0)
    signal = step_signal(start, start + length, volume, window=window)
    length = (start + length) - start
    for time in rng.uniform(*window, 10):
        with np.errstate(divide="ignore", invalid="ignore"):
            before = np.clip((np.array([[0.0], [time]]) - start) / length, 0, 1)
        share = np.where(length > 0, before[1] - before[0], (start >= 0) & (start <= time))
        assert float(signal.volume_until(time)) == pytest.approx(math.fsum(volume * share), rel=1e-12)


def test_small_impulses_beside_a_large_one_of_the_same_bin_are_not_lost() -> None:
    volumes = np.concatenate(([2.0**53], np.ones(1000), [1.0]))
    times = np.concatenate((np.zeros(1001), [1.5]))
    signal = step_signal(times, times, volumes, window=(0.0, 2.0))
    assert signal.sample(1.0).values.tolist() == [2.0**53 + 1000, 1.0]
