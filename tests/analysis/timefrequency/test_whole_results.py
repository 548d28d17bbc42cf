"""Filters, transforms and validity of made signals, as stored and by plain sums."""

import numpy as np
import pytest
from iostrata import SelectionError, step_signal
from iostrata.analysis.phases.bursts import vertices
from iostrata.analysis.timefrequency import filters, transforms, validity, wavelets


def signal(seed):
    rng = np.random.default_rng(seed)
    starts = 3 + np.concatenate([8.0 * np.arange(12), 110 + 3.0 * np.arange(20)]) + rng.uniform(0, 0.3, 32)
    return step_signal(starts, starts + rng.uniform(0.5, 1.5, 32), rng.uniform(1e5, 1e6, 32), window=(0.0, 180.0))


@pytest.mark.parametrize("seed", range(3))
def test_transforms_are_those_stored(held, seed):
    made = signal(seed)
    samples = made.sample(4.0)
    held(
        f"transforms_{seed}",
        {
            "scalogram": transforms.scalogram(samples),
            "at periods": transforms.scalogram(samples, periods=np.array([2.0, 3.0, 8.0])),
            "fourier": transforms.short_time_fourier(samples),
            "narrow": transforms.short_time_fourier(samples, window=20.0, overlap=0.5),
            "discrete": transforms.discrete_scalogram(samples),
            "filtered": [filters.filter_samples(samples, form) for form in ("low:0.5", "high:0.2", "band:0.1:0.5")],
            "signals": [filters.filtered_signal(made, form) for form in ("low:0.5", "band:0.1:0.5")],
            "levels": [wavelets.decomposition_level(period, 4.0, 720) for period in (2.0, 3.0, 8.0, 30.0)],
            "largest": [wavelets.largest_level(count) for count in (15, 16, 17, 720)],
            "approximations": [wavelets.approximation(samples.values, level, "db2") for level in (1, 3)],
        },
        skipped=("source", "signal"),
    )


@pytest.mark.parametrize("seed", range(3))
def test_validity_is_that_stored(held, seed):
    made = signal(seed)
    samples, (times, cumulative) = made.sample(4.0), vertices(made)
    found = {}
    for period in (3.0, 8.0, 5.0):
        for values in (samples.values, samples.values**2):
            found[period, values is samples.values] = validity.validity(values, samples.values, 4.0, period)
        found[period, "share"] = [validity.holding_share(times, cumulative, *ends, period) for ends in ENDS]
    held(f"validity_{seed}", found)


ENDS = ((0.0, 180.0), (0.0, 100.0), (112.0, 172.0), (0.0, 9.0))


@pytest.mark.parametrize("window", [3, 10, 50])
def test_sliding_fits_are_those_of_every_window(window):
    rng = np.random.default_rng(window)
    x, y = rng.normal(size=50), rng.normal(size=50) + 1j * rng.normal(size=50)
    found = validity.sliding_fit(x, y, window)
    for row in range(50 - window + 1):
        one, other = (part[row : row + window] - part[row : row + window].mean() for part in (x, y))
        product, square = (one * other).sum(), (abs(other) ** 2).sum()
        assert found.slope[row] == pytest.approx(product / square)
        assert found.correlation[row] == pytest.approx(product / np.sqrt((one**2).sum() * square))


def test_a_period_that_does_not_fit_twice_is_refused():
    values = np.ones(20)
    with pytest.raises(SelectionError):
        validity.validity(values, values, 1.0, 11.0)
    with pytest.raises(SelectionError):
        validity.validity(values, values, 1.0, 3.4)
    assert validity.validity(values, values, 1.0, 10.0) is not None
