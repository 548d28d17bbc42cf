"""Coherence and lag of signals of which both are known."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import step_signal
from iostrata.analysis.comparison.coherence import coherence_at


def bursts(period, count, delay=0.0, length=0.1, volume=1000.0, window=None):
    start = np.arange(count) * period + delay
    return step_signal(start, start + length, np.full(count, volume), window=window or (0.0, period * count))


@settings(max_examples=40)
@given(st.floats(0.5, 20.0), st.integers(6, 40), st.floats(0.0, 0.45), st.floats(1e-3, 1e9))
def test_a_delayed_copy_follows_by_its_delay(period, count, share, scale):
    delay = share * period
    window = (0.0, period * (count + 1))
    first = bursts(period, count, 0.0, 0.1 * period, window=window)
    second = bursts(period, count, delay, 0.1 * period, volume=scale, window=window)
    found = coherence_at(first, second, period)
    # The last bursts of one of them are cut by the last segment, which costs a little.
    assert found.coherence > 0.9
    assert found.lag == pytest.approx(delay, abs=0.01 * period)
    back = coherence_at(second, first, period)
    assert back.lag == pytest.approx(-delay, abs=0.01 * period)


def test_unrelated_signals_do_not_go_together():
    rng = np.random.default_rng(7)
    window = (0.0, 200.0)
    first = bursts(1.0, 200, window=window)
    start = np.sort(rng.uniform(0, 199, 200))
    second = step_signal(start, start + 0.1, np.full(200, 1000.0), window=window)
    assert coherence_at(first, second, 1.0).coherence < 0.1


def test_short_windows_tell_nothing():
    first = bursts(1.0, 3)
    found = coherence_at(first, first, 1.0)
    assert found.coherence is None
    assert found.lag is None
    assert found.segments == 2


def test_a_flat_signal_has_no_coherence():
    window = (0.0, 20.0)
    flat = step_signal([0.0], [20.0], [100.0], window=window)
    found = coherence_at(bursts(1.0, 20, window=window), flat, 1.0)
    assert found.coherence is None
    assert found.second_modulation == pytest.approx(0.0, abs=1e-9)
    # Bursts of a tenth of the period: the first Fourier coefficient of a pulse of that width, over the mean.
    assert found.first_modulation == pytest.approx(2 * np.sinc(0.1), rel=0.01)


def test_the_definition_sum_by_sum():
    rng = np.random.default_rng(3)
    start = np.sort(rng.uniform(0, 39, 60))
    first = step_signal(start, start + 0.2, rng.uniform(1, 5, 60), window=(0.0, 40.0))
    second = step_signal(start + 0.3, start + 0.6, rng.uniform(1, 5, 60), window=(0.0, 40.0))
    x, y = first.sample(16.0).values, second.sample(16.0).values
    cross = power_x = power_y = 0.0
    for segment in range(19):
        sums = []
        for values in (x, y):
            part = values[32 * segment : 32 * segment + 64]
            weight = [0.5 - 0.5 * np.cos(2 * np.pi * (k + 0.5) / 64) for k in range(64)]
            level = sum(w * v for w, v in zip(weight, part, strict=True)) / sum(weight)
            sums.append(
                sum(
                    w * (v - level) * np.exp(-2j * np.pi * k / 32)
                    for k, (w, v) in enumerate(zip(weight, part, strict=True))
                )
            )
        cross += np.conj(sums[0]) * sums[1]
        power_x += abs(sums[0]) ** 2
        power_y += abs(sums[1]) ** 2
    found = coherence_at(first, second, 2.0)
    assert found.segments == 19
    assert found.coherence == pytest.approx(abs(cross) ** 2 / (power_x * power_y))
    assert found.lag == pytest.approx(-np.angle(cross) / np.pi)
