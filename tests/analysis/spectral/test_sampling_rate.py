"""The frequency that shows phases: three bins to a distance, whatever is inside a phase."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import StepSignal, detect_period, step_signal
from iostrata.analysis.spectral.sampling_rate import phase_frequency, runs_above_mean
from iostrata.signals.step import automatic_frequency


def train(count: int, duty: float, window: float, requests: int = 4, first: float = 0.1) -> StepSignal:
    """Bursts one second apart, each of some requests back to back."""
    starts = first + np.arange(count)[:, None] + duty * np.arange(requests) / requests
    return step_signal(starts.ravel(), starts.ravel() + duty / requests, np.ones(starts.size), window=(0.0, window))


@given(
    count=st.integers(11, 200),
    duty=st.sampled_from([1e-5, 1e-3, 0.02, 0.1, 0.3]),
    rest=st.floats(0.0, 0.2),
    requests=st.integers(1, 20),
)
def test_bursts_get_three_bins_and_their_fundamental(count: int, duty: float, rest: float, requests: int) -> None:
    window = count * (1 + rest)
    signal = train(count, duty, window, requests)
    fs = phase_frequency(signal)
    assert fs == pytest.approx(3 * (1 + rest), rel=0.1)
    assert fs * window == pytest.approx(round(fs * window))
    result = detect_period(signal, method="ftio", fs=fs)
    # The paper's method may leave it open between two lines; it must not take a harmonic for the period.
    assert result.frequency is None or abs(result.frequency - 1.0) <= 1.0 / window
    # Where bursts fill the window, their period is a line of it and found.
    full = detect_period(train(count, duty, float(count), requests), method="ftio", fs=3.0)
    assert full.period == pytest.approx(1.0)


def test_bins_that_follow_the_bursts_let_harmonics_win() -> None:
    # A fundamental between two lines (20.66 of the window) and its third harmonic on one, as in a real trace.
    signal = train(20, 0.01, 20.66, first=0.5)
    fine = detect_period(signal, method="ftio", fs=automatic_frequency(signal))
    assert not fine.periodic or fine.period == pytest.approx(1 / 3, rel=0.02)
    coarse = detect_period(signal, method="ftio")
    assert coarse.frequency is not None
    assert round(coarse.frequency * 20.66) == 21


def test_phases_in_a_part_of_the_window_get_finer_bins() -> None:
    fs = phase_frequency(train(12, 0.01, 40.0))
    assert fs == pytest.approx(3 * 40 / 12, rel=0.1)


def test_a_lone_burst_is_not_followed() -> None:
    signal = step_signal([30.0, 30.01], [30.005, 30.02], [1.0, 1.0], window=(0.0, 100.0))
    assert phase_frequency(signal) == pytest.approx(0.32)


def test_close_bursts_in_a_part_of_the_window_are_not_one_phase() -> None:
    signal = train(200, 1e-4, 900.0)
    assert phase_frequency(signal) == pytest.approx(3 * 900 / 200, rel=0.1)


@pytest.mark.parametrize("count", [125, 127, 128, 129, 192, 250, 511, 513, 1000])
def test_bins_that_count_bursts_do_not_pass_for_phases(count: int) -> None:
    # With bins nearly as many as bursts, or a whole part of them, the numbers in bins beat.
    signal = train(count, 1e-4, float(count))
    assert phase_frequency(signal) == pytest.approx(3.0, rel=0.05)


def test_runs_are_parted_by_bins_below_half_the_mean() -> None:
    # Mean 3: the single 2 does not part, 1 and 0 do.
    runs = runs_above_mean(np.array([4.0, 2.0, 5.0, 1.0, 6.0, 0.0, 4.0, 2.0]))
    assert runs.first.tolist() == [0, 4, 6]
    assert runs.after.tolist() == [3, 5, 7]
    assert runs_above_mean(np.full(10, 0.1)).first.size == 0


@pytest.mark.parametrize("volume", [0.0, 5.0])
def test_without_phases_the_shape_decides(volume: float) -> None:
    signal = step_signal([0.0], [10.0], [volume], window=(0.0, 10.0))
    assert phase_frequency(signal) == automatic_frequency(signal)


def test_bins_stay_below_their_limit() -> None:
    rng = np.random.default_rng(1)
    starts = np.sort(rng.uniform(0, 100, 5000))
    signal = step_signal(starts, starts + 1e-6, np.ones(5000), window=(0.0, 100.0))
    for most in (64, 1000, 4096):
        assert 32 <= phase_frequency(signal, most) * 100 <= most
