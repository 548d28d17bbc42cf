"""When a period holds: intervals that are known because the signal was made with them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError, step_signal
from iostrata.analysis.methods.hybrid_search import analyse_hybrid
from iostrata.analysis.timefrequency.validity import validity


def bursts(starts: np.ndarray, length: float, end: float, fs: float) -> np.ndarray:
    """Samples of equal bursts."""
    return step_signal(starts, starts + length, np.ones(starts.size), window=(0.0, end)).sample(fs).values


@given(
    first=st.floats(0, 60),
    count=st.integers(4, 30),
    period=st.floats(8, 30),
    duty=st.floats(0.1, 0.5),
    after=st.floats(0, 100),
    off=st.floats(-0.01, 0.01),
)
def test_a_train_holds_from_its_first_burst_to_the_trough_after_its_last(
    first: float, count: int, period: float, duty: float, after: float, off: float
) -> None:
    starts = first + period * np.arange(count)
    end = starts[-1] + period + after
    samples = bursts(starts, duty * period, end, 4.0)
    found = validity(samples, samples, 4.0, period * (1 + off))
    assert len(found.intervals) == 1
    low, high = found.intervals[0]
    assert low == pytest.approx(starts[0], abs=0.15 * period)
    assert high == pytest.approx(min(starts[-1] + (0.5 * duty + 0.5) * period, end), abs=0.15 * period)
    assert found.period == pytest.approx(period, rel=0.01)


@pytest.mark.parametrize("shift", [0.0, 0.3, 0.5, 0.8])
def test_a_pause_of_any_length_does_not_take_the_cosine_out_of_step(shift: float) -> None:
    period = 20.0
    first = 10 + period * np.arange(8)
    second = first[-1] + (4 + shift) * period + period * np.arange(8)
    samples = bursts(np.concatenate((first, second)), 5.0, second[-1] + 30, 2.0)
    found = validity(samples, samples, 2.0, period)
    assert len(found.intervals) == 2
    for (low, high), starts in zip(found.intervals, (first, second), strict=True):
        assert low == pytest.approx(starts[0], abs=2)
        assert high == pytest.approx(starts[-1] + 12.5, abs=2)


def test_lateness_that_adds_up_is_followed() -> None:
    # At most 3 % from one burst to the next, and eleven seconds halfway through.
    starts = 5 + np.cumsum(20 * (1 + 0.03 * np.sin(2 * np.pi * np.arange(60) / 60)))
    samples = bursts(starts, 4.0, starts[-1] + 20, 2.0)
    found = validity(samples, samples, 2.0, 20.0)
    assert len(found.intervals) == 1
    assert found.period == pytest.approx(np.diff(starts).mean(), rel=0.01)
    # One cosine is out of step by then.
    inner = found.times > 40
    assert found.correlation[inner].min() < 0 < found.local_correlation[inner].min()


def test_the_last_period_of_the_run_is_covered() -> None:
    starts = 3 + 20 * np.arange(10)
    samples = bursts(starts, 4.0, starts[-1] + 8.0, 2.0)
    found = validity(samples, samples, 2.0, 20.0)
    assert found.intervals[-1][1] == pytest.approx(starts[-1] + 8.0, abs=0.6)


def test_noise_alone_holds_no_period_for_long() -> None:
    shares = []
    for seed in range(20):
        samples = np.random.default_rng(seed).exponential(size=2000)
        shares.append(validity(samples, samples, 1.0, 25.0).share)
    assert np.mean(shares) < 0.2


def test_times_count_from_the_start_and_constants_and_scale_do_not_matter() -> None:
    samples = bursts(10 + 20.0 * np.arange(12), 4.0, 260.0, 2.0)
    plain = validity(samples, samples, 2.0, 20.0)
    moved = validity(1e9 * samples + 5e9, 1e9 * samples + 5e9, 2.0, 20.0, start=1000.0)
    np.testing.assert_allclose(np.array(moved.intervals), np.array(plain.intervals) + 1000, atol=1e-3)
    np.testing.assert_allclose(moved.times, plain.times + 1000)


@pytest.mark.parametrize("samples", [np.zeros(100), np.full(100, 7.0), np.eye(1, 100)[0]])
def test_without_two_bursts_nothing_holds(samples: np.ndarray) -> None:
    assert validity(samples, samples, 1.0, 10.0).intervals == ()


@pytest.mark.parametrize("period", [0.0, 3.0, 51.0, np.inf, np.nan])
def test_a_period_without_a_window_is_refused(period: float) -> None:
    with pytest.raises(SelectionError, match="sliding window"):
        validity(np.zeros(100), np.zeros(100), 1.0, period)


def test_a_known_period_can_be_given() -> None:
    samples = bursts(10 + 20.0 * np.arange(12), 4.0, 260.0, 2.0)
    found = analyse_hybrid(samples, 2.0, period=20.0, wavelet="sym5")
    assert found.dominant is None
    assert found.period == pytest.approx(20.0, rel=1e-3)
    assert found.approximation.size == samples.size
    impossible = analyse_hybrid(samples, 2.0, period=1000.0)
    assert impossible.period is None
    assert "sliding window" in impossible.reason
