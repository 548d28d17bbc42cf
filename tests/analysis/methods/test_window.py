"""Windows without their first phase, and warnings where bins are too coarse."""

import numpy as np
import pytest
from iostrata import SelectionError, StepSignal, detect_period, detect_period_samples, step_signal
from iostrata.analysis.methods.window import aliasing_warning, analysed_window
from iostrata.analysis.results.result import SamplingInfo

METHODS = ["ftio", "ftio-peaks", "ftio-merged", "autocorrelation"]


def bursts(first_length: float = 2.0) -> StepSignal:
    """Eleven bursts of 2 s, the first of another length and volume, from 30 s on every 10 s."""
    start = np.concatenate(([3.0], 30.0 + 10.0 * np.arange(10)))
    length = np.full(11, 2.0)
    length[0] = first_length
    volume = np.full(11, 100.0)
    volume[0] = 900.0
    return step_signal(start, start + length, volume, window=(0.0, 128.0))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("fs", ["auto", 3.0])
def test_without_the_first_phase_the_window_starts_at_the_second(method: str, fs: float | str) -> None:
    signal = bursts(first_length=15.0)
    whole = detect_period(signal, method=method, fs=fs)
    skipped = detect_period(signal, method=method, fs=fs, skip_first_phase=True)
    by_hand = detect_period(signal.clip(30.0, 128.0), method=method, fs=fs)
    assert "starts at the second, at 30 s" in skipped.reason
    assert "first phase" not in whole.reason
    assert len(skipped.phases) == len(whole.phases) - 1
    assert skipped.phases == by_hand.phases
    assert skipped.period == by_hand.period == pytest.approx(10.0, rel=0.05)
    assert skipped.confidence == by_hand.confidence
    assert skipped.sampling == by_hand.sampling
    assert skipped.metrics == by_hand.metrics
    assert skipped.regimes[0].start == 30.0


def test_a_single_phase_is_not_left_out() -> None:
    signal = step_signal([40.0], [41.0], [1e9], window=(0.0, 100.0))
    window = analysed_window(signal, "auto", skip_first_phase=True)
    assert window.signal is signal
    assert window.notes == ("There are no two phases, so that none was left out at the start.",)


@pytest.mark.parametrize("value", [1, "yes", None])
def test_skipping_is_a_yes_or_a_no(value: object) -> None:
    with pytest.raises(SelectionError, match="skip_first_phase"):
        detect_period(bursts(), "ftio", skip_first_phase=value)


def square(period: float) -> StepSignal:
    """A square wave, half of each period on, for 100 s."""
    start = np.arange(0.0, 100.0, period)
    return step_signal(start, start + period / 2, np.full(start.size, 100.0), window=(0.0, 100.0))


@pytest.mark.parametrize("method", METHODS)
def test_bins_too_coarse_for_the_signal_are_named(method: str) -> None:
    """Bursts every 2.5 s in bins of 2 s: what is seen is a beat, not the period."""
    result = detect_period(square(2.5), method, fs=0.5)
    assert result.sampling.abstraction_error is not None
    assert result.sampling.abstraction_error > 0.25
    warning = result.evidence.aliasing
    assert isinstance(warning, str)
    assert f"{result.sampling.abstraction_error:.0%} of the volume" in warning
    assert warning in result.reason
    assert "bins of 2 s" in warning
    assert "less than 4 s" in warning


@pytest.mark.parametrize("method", METHODS)
def test_fine_or_automatic_bins_raise_no_warning(method: str) -> None:
    for fs in (10.0, "auto"):
        result = detect_period(square(2.5), method, fs=fs)
        assert result.evidence.aliasing is None
        assert "Aliasing" not in result.reason
    assert detect_period_samples(square(2.5).sample(0.5).values, 0.5, method=method).evidence.aliasing is None


def test_the_limit_is_half_of_what_one_bin_loses() -> None:
    """A square wave is off its mean by half of its volume, one bin's error; the limit is half of that."""
    signal = square(10.0)

    def warning(error: float, automatic: bool = False) -> str | None:
        return aliasing_warning(signal, SamplingInfo(1.0, 100, automatic, error))

    assert warning(0.249) is None
    assert warning(0.251) is not None
    assert warning(0.251, automatic=True) is None
    assert aliasing_warning(signal, SamplingInfo(1.0, 100, False, None)) is None


def test_a_signal_that_hardly_changes_has_nothing_to_lose() -> None:
    start = np.arange(0.0, 100.0, 0.5)
    ripple = step_signal(
        np.concatenate(([0.0], start)),
        np.concatenate(([100.0], start + 0.25)),
        np.concatenate(([1e6], np.full(200, 10.0))),
        window=(0.0, 100.0),
    )
    result = detect_period(ripple, "ftio", fs=0.5)
    assert result.evidence.aliasing is None
