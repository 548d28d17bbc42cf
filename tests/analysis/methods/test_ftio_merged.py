"""The refined confidence as the confidence, from the definitions of the paper."""

import statistics

import numpy as np
import pytest
from iostrata import detect_period_samples


def bursts(seed: int) -> np.ndarray:
    """Twenty bursts, about one in 30 samples, in weak noise."""
    rng = np.random.default_rng(seed)
    samples = rng.exponential(0.02, 600)
    for start in 30 * np.arange(20) + rng.integers(-2, 3, 20) + 5:
        samples[start : start + 10] += 1.0
    return samples


@pytest.mark.parametrize("seed", range(6))
def test_the_confidence_is_the_mean_of_three(seed: int) -> None:
    samples = bursts(seed)
    plain = detect_period_samples(samples, 2.0, method="ftio")
    alone = detect_period_samples(samples, 2.0, method="autocorrelation")
    merged = detect_period_samples(samples, 2.0, method="ftio-merged")
    assert merged.method == "ftio-merged"
    assert plain.period is not None
    assert merged.period == plain.period
    assert merged.period_interval == plain.period_interval
    periods = [*np.asarray(alone.evidence.candidates_s).tolist(), plain.period]
    assert len(periods) == alone.evidence.candidates + 1
    agreement = 1 - statistics.pstdev(periods) / statistics.fmean(periods)
    assert merged.confidence == pytest.approx((plain.confidence + alone.confidence + agreement) / 3)
    assert merged.periods[0].confidence == merged.confidence
    assert merged.evidence.refined_confidence == merged.confidence
    assert merged.evidence.spectral_confidence == plain.confidence


def test_an_autocorrelation_without_a_peak_counts_against_the_period() -> None:
    ramp = np.arange(30.0)
    plain = detect_period_samples(ramp, 1.0, method="ftio")
    merged = detect_period_samples(ramp, 1.0, method="ftio-merged")
    assert merged.period == plain.period == pytest.approx(30.0)
    assert merged.confidence == pytest.approx(plain.confidence / 3)
    assert "counts against it" in merged.reason
    assert merged.evidence.refined_confidence is None


def test_without_a_line_there_is_no_period_whatever_the_autocorrelation_says() -> None:
    n = np.arange(400)
    waves = 4 + sum(np.cos(2 * np.pi * k * n / 400) for k in (21, 50, 77))
    merged = detect_period_samples(waves, 1.0, method="ftio-merged")
    assert not merged.periodic
    assert merged.confidence == 0.0
