"""The autocorrelation as a method, from NumPy's own correlation and SciPy's peaks."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from iostrata import detect_period, detect_period_samples, step_signal
from scipy.signal import find_peaks


@given(seed=st.integers(0, 2**32 - 1), period=st.integers(5, 40), jitter=st.integers(0, 3))
def test_period_and_confidence_are_those_of_the_paper(seed: int, period: int, jitter: int) -> None:
    rng = np.random.default_rng(seed)
    samples = rng.exponential(0.02, 400)
    for start in range(0, 390, period):
        at = start + int(rng.integers(0, jitter + 1))
        samples[at : at + 2] += 1.0
    deviation = samples - samples.mean()
    correlation = np.correlate(deviation, deviation, "full")[399:] / np.sum(deviation**2)
    assume((np.abs(correlation - 0.15) > 1e-9).all())
    peaks, _ = find_peaks(correlation, height=0.15)
    result = detect_period_samples(samples, 4.0, method="autocorrelation")
    assert result.periodic == (peaks.size > 0)
    if peaks.size == 0:
        assert result.period is None
        assert result.confidence == 0.0
        assert result.reason.startswith("The autocorrelation has no peak")
        return
    distances = np.diff(np.concatenate(([0], peaks))) / 4.0
    weights = correlation[peaks]
    mean = (distances * weights).sum() / weights.sum()
    spread = np.sqrt((weights * (distances - mean) ** 2).sum() / weights.sum())
    assume((np.abs(np.abs(distances - mean) - spread) > 1e-7).all() or spread < 1e-9)
    kept = distances[np.abs(distances - mean) <= spread * (1 + 1e-8)]
    assert result.period == pytest.approx(kept.mean())
    assert result.frequency == pytest.approx(1 / kept.mean())
    assert result.confidence == pytest.approx(max(0.0, 1 - kept.std() / kept.mean()))
    assert result.period_interval == pytest.approx((kept.min() - 0.125, kept.max() + 0.125))
    assert (result.evidence.candidates, result.evidence.dropped) == (kept.size, distances.size - kept.size)
    # Sixteen are listed.
    assert result.evidence.candidates_s == pytest.approx(kept[:16])
    assert result.method == "autocorrelation"


def test_a_signal_of_bursts_has_its_period_and_its_phases() -> None:
    start = 3.0 + 10.0 * np.arange(12)
    signal = step_signal(start, start + 2.0, np.full(12, 100.0), window=(0.0, 125.0))
    for fs in ("auto", 5.0):
        result = detect_period(signal, method="autocorrelation", fs=fs)
        assert result.period == pytest.approx(10.0, rel=0.02)
        assert len(result.phases) == 12
        low, high = result.period_interval or (0.0, 0.0)
        assert low <= 10.0 <= high


def test_automatic_bins_are_eight_to_the_spectrums_one() -> None:
    start = 3.0 + 10.0 * np.arange(12)
    signal = step_signal(start, start + 2.0, np.full(12, 100.0), window=(0.0, 125.0))
    ours, other = (detect_period(signal, method=method).sampling.fs for method in ("autocorrelation", "ftio"))
    assert ours == pytest.approx(8 * other)


def test_options_of_the_spectrum_are_not_taken() -> None:
    with pytest.raises(ValueError, match="skip_first_phase"):
        detect_period_samples(np.arange(30.0), 1.0, method="autocorrelation", tolerance=0.5)
