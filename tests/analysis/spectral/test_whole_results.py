"""Spectra and what is read from them, by plain sums and as stored."""

import numpy as np
import pytest
from iostrata import step_signal
from iostrata.analysis.spectral import autocorrelation, dominant, metrics, outliers, sampling_rate, spectrum


def samples(seed, period=16, count=400, noise=0.3):
    rng = np.random.default_rng(seed)
    return np.maximum(0, np.sign(np.sin(2 * np.pi * np.arange(count) / period)) + noise * rng.normal(size=count))


def signal(seed):
    values = samples(seed)
    edges = np.arange(values.size + 1) / 4.0
    return step_signal(edges[:-1], edges[1:], values / 4.0, window=(0.0, edges[-1]))


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("count", [40, 399, 400])
def test_results_are_those_stored(held, seed, count):
    values = samples(seed, period=(16, 12.5, 7, 33)[seed], count=count)
    power = spectrum.power_spectrum(values, 4.0)
    scores = np.abs(values - values.mean()) / values.std()
    held(
        f"{seed}_{count}",
        {
            "power": power,
            "strongest": spectrum.strongest_frequencies(power, 5),
            "autocorrelation": autocorrelation.autocorrelation(values),
            "period": autocorrelation.autocorrelation_period(values, 4.0),
            "peaks": autocorrelation.find_peaks(values, 0.9),
            "weighted": autocorrelation.weighted_outliers(values, 1 + np.arange(count) / count),
            "outlier": [outliers.is_outlier(scores, limit) for limit in (1.0, 2.0, 3.0)],
            "near": [outliers.is_near_largest(scores, within) for within in (0.1, 0.5, 1.0)],
            "fewest": [outliers.fewest_samples(limit) for limit in (1.0, 2.0, 3.0)],
            "variation": dominant.coefficient_of_variation(values),
            "similar": dominant.similarity(4.0, np.array([3.5, 4.0, 4.25])),
            "refined": [dominant.refined_confidence(a, b, c) for a in (0.2, 0.9) for b in (0.1, 0.8) for c in (0, 0.5)],
            "harmonics": dominant.separate_harmonics(np.array([3, 6, 9, 11, 22, 25])),
            "runs": sampling_rate.runs_above_mean(values),
        },
    )


@pytest.mark.parametrize("seed", range(3))
def test_metrics_are_those_stored(held, seed):
    made = signal(seed)
    held(
        f"metrics_{seed}",
        [metrics.characterise(made, period) for period in (None, 4.0, 7.3)] + [sampling_rate.phase_frequency(made)],
    )


@pytest.mark.parametrize("count", [7, 8, 64, 101])
def test_power_is_that_of_the_sums_of_fourier(count):
    values = samples(count, count=count)
    found, places = spectrum.power_spectrum(values, 2.0), np.arange(count)
    assert found.frequencies == pytest.approx(2.0 * np.arange(count // 2 + 1) / count)
    for frequency, power, phase in zip(found.frequencies, found.power, found.phase_at_start, strict=True):
        term = np.sum(values * np.exp(-2j * np.pi * frequency / 2.0 * places))
        assert power == pytest.approx(abs(term) ** 2 / count)
        if abs(term) > 1e-6:
            half = np.angle(term * np.exp(-1j * np.pi * frequency / 2.0))
            assert np.cos(phase - half) == pytest.approx(1)


@pytest.mark.parametrize("count", [9, 32])
def test_autocorrelation_is_that_of_the_sum_of_products(count):
    values = samples(count, period=5, count=count)
    centred = values - values.mean()
    products = np.array([np.dot(centred[: count - lag], centred[lag:]) for lag in range(count)])
    found = autocorrelation.autocorrelation(values)
    assert found == pytest.approx(products / products[0])
