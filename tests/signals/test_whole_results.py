"""Signals of random intervals against plain sums, and as stored."""

import numpy as np
import pytest
from iostrata import event_signal, level_signal, step_signal
from iostrata.signals import step
from iostrata.signals.samples import bin_count


def intervals(seed, count=60):
    rng = np.random.default_rng(seed)
    start = np.sort(np.round(rng.uniform(0, 50, count), seed % 3))
    length = np.where(rng.uniform(size=count) < 0.1, 0.0, np.round(rng.uniform(0, 4, count), seed % 3))
    return start, start + length, rng.integers(0, 10**6, count).astype(float)


@pytest.mark.parametrize("seed", range(6))
def test_signals_are_those_stored(held, seed):
    start, end, volume = intervals(seed)
    made = step_signal(start, end, volume, window=(0.0, 60.0))
    levels, events = level_signal(start, end, window=(1.0, 55.0)), event_signal(start, window=(0.5, 50.0))
    found = {}
    for name, one in (("rate", made), ("levels", levels), ("events", events)):
        found[name] = {
            "signal": one,
            "samples": [one.sample(fs) for fs in (0.5, 2.0, 7.0)],
            "automatic": step.automatic_frequency(one),
            "error": [step.abstraction_error(one, fs) for fs in (0.5, 2.0)],
            "envelope": [step.envelope(one, *most) for most in ((1000, 1000), (10, 8))],
        }
    held(str(seed), found)


@pytest.mark.parametrize("seed", range(6))
def test_bins_hold_what_every_interval_moves_in_them(seed):
    start, end, volume = intervals(seed)
    made, fs = step_signal(start, end, volume, window=(0.0, 60.0)), 2.0
    found = made.sample(fs).values / fs
    expected = np.zeros(120)
    for low, high, moved in zip(start, end, volume, strict=True):
        for row in range(120):
            left, right = row / fs, (row + 1) / fs
            if low == high:
                expected[row] += moved * (left <= low < right)
            else:
                expected[row] += moved * max(0.0, min(high, right) - max(low, left)) / (high - low)
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-3)


def test_bins_are_as_many_as_begin_in_the_time():
    assert [bin_count(10.0, fs) for fs in (1.0, 0.95, 1.05)] == [10, 10, 11]
