"""Bins are recognised, and bins that are too coarse."""

import numpy as np
import pytest
from iostrata import step_signal
from iostrata.analysis.phases.bins import bin_width, too_coarse
from iostrata.analysis.phases.bursts import vertices


def bins(values: np.ndarray, width: float) -> object:
    edges = width * np.arange(values.size + 1)
    return step_signal(edges[:-1], edges[1:], values * width)


@pytest.mark.parametrize("width", [60.0, 1.0, 1 / 3, 1e-6])
def test_bins_are_recognised(width: float) -> None:
    random = np.random.default_rng(0)
    assert bin_width(bins(random.exponential(size=300), width)) == pytest.approx(width, rel=1e-6)
    # Counts, of which many are 0 and neighbours often alike.
    assert bin_width(bins(random.poisson(0.4, 300).astype(float), width)) == pytest.approx(width, rel=1e-6)


def test_an_exact_signal_has_no_bins() -> None:
    start = np.sort(np.random.default_rng(0).uniform(0, 100, 50))
    assert bin_width(step_signal(start, start + 0.1, np.ones(50))) == 0.0


def test_a_train_whose_pauses_are_as_long_as_its_pulses_is_exact() -> None:
    start = 10.0 * np.arange(30)
    assert bin_width(step_signal(start, start + 5, np.ones(30), window=(-3.0, 300.0))) == 0.0


def test_ticks_of_a_clock_are_no_bins() -> None:
    start = np.sort(np.random.default_rng(0).integers(0, 10**10, 200)) * 1e-9
    assert bin_width(step_signal(start, start + 1e-3, np.ones(200))) == 0.0


@pytest.mark.parametrize(
    ("bins_a_period", "coarse"), [(1.4, True), (1.7, True), (1.9, True), (6.3, False), (20.7, False)]
)
def test_fewer_than_two_bins_a_period_are_too_coarse(bins_a_period: float, coarse: bool) -> None:
    start = 10.0 * np.arange(200)
    exact = step_signal(start, start + 1, np.ones(200))
    width = 10.0 / bins_a_period
    sampled = exact.sample(1 / width)
    assert too_coarse(*vertices(bins(sampled.values, width)), width) == coarse
