"""The autocorrelation against NumPy's, the peaks against SciPy's, and the period of signals that have one."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.spectral.autocorrelation import (
    autocorrelation,
    autocorrelation_period,
    find_peaks,
    weighted_outliers,
)
from scipy import signal as scipy_signal

numbers = st.lists(st.floats(-1e3, 1e3).map(lambda value: round(value, 3)), min_size=2, max_size=80)


@given(numbers)
def test_it_is_the_linear_correlation_of_the_deviations(samples: list[float]) -> None:
    values = np.array(samples)
    if np.ptp(values) == 0.0:
        assert autocorrelation(values).tolist() == [0.0] * values.size
        return
    deviation = values - values.mean()
    expected = np.correlate(deviation, deviation, mode="full")[values.size - 1 :]
    np.testing.assert_allclose(autocorrelation(values), expected / expected[0], atol=1e-9)


def test_no_value_is_too_large_or_too_small_for_its_square() -> None:
    wave = np.sin(np.arange(100) / 5)
    for scale in (1e-200, 1e200):
        np.testing.assert_allclose(autocorrelation(wave * scale), autocorrelation(wave), atol=1e-12)


@given(st.lists(st.integers(0, 4), max_size=60), st.floats(-1, 5))
def test_peaks_are_those_of_scipy(levels: list[int], height: float) -> None:
    # Few levels make many level tops.
    values = np.array(levels, dtype=np.float64)
    expected, _ = scipy_signal.find_peaks(values, height=height)
    assert find_peaks(values, height).tolist() == expected.tolist()


def test_three_values_can_have_a_peak_which_may_be_as_high_as_the_least() -> None:
    assert find_peaks(np.array([0.0, 2.0, 1.0]), 2.0).tolist() == [1]
    assert find_peaks(np.array([0.0, 2.0, 1.0]), 2.1).size == 0
    for ends in ([], [1.0], [1.0, 2.0], [2.0, 1.0]):
        assert find_peaks(np.array(ends), 0.0).size == 0


@pytest.mark.parametrize("level", [1e-9, 1.0, 1e9])
def test_differences_of_a_rounding_are_no_signal_at_any_level(level: float) -> None:
    values = np.full(64, level)
    values[::7] = np.nextafter(level, np.inf)
    assert not autocorrelation(values).any()
    values[::7] = level * (1 + 1e-12)
    assert autocorrelation(values)[0] == 1.0


def test_a_peak_counts_from_the_least_correlation_of_the_paper_on() -> None:
    # Two bursts 40 samples apart, one of `small`: their correlation is about small / (1 + small²).
    for small, counts in ((0.2, True), (0.12, False)):
        samples = np.zeros(4000)
        samples[[100, 140]] = 1.0, small
        assert (autocorrelation_period(samples, fs=1.0) is not None) == counts


@given(st.lists(st.tuples(st.floats(0.1, 100), st.floats(0.15, 1)), min_size=1, max_size=30))
def test_not_every_value_is_an_outlier(pairs: list[tuple[float, float]]) -> None:
    values, weights = np.array(pairs).T
    assert not weighted_outliers(values, weights).all()


def test_outliers_are_beyond_one_weighted_standard_deviation() -> None:
    # Weighted mean (3 · 10 + 14) / 4 = 11, weighted variance (3 · 1 + 9) / 4 = 3.
    values = np.array([10.0, 14.0])
    weights = np.array([3.0, 1.0])
    assert weighted_outliers(values, weights).tolist() == [False, True]
    assert not weighted_outliers(np.array([5.0, 5.0, 5.0]), np.ones(3)).any()
    assert not weighted_outliers(np.array([4.0, 6.0]), np.ones(2)).any()


def test_a_train_of_bursts_has_its_distance_as_period() -> None:
    train = np.zeros(1000)
    train[::25] = 1.0
    found = autocorrelation_period(train, fs=5.0)
    assert found is not None
    assert found.period == pytest.approx(5.0)
    assert found.confidence == 1.0
    assert found.dropped == 0
    assert (found.candidates == 5.0).all()


def test_lag_zero_counts_as_the_first_peak() -> None:
    two = np.zeros(100)
    two[[10, 50]] = 1.0
    found = autocorrelation_period(two, fs=2.0)
    assert found is not None
    assert found.candidates.tolist() == [20.0]


def test_a_distance_of_another_length_is_dropped() -> None:
    train = np.zeros(1200)
    train[np.arange(10) * 40] = 1.0
    train[1000] = 0.9
    found = autocorrelation_period(train, fs=1.0)
    assert found is not None
    assert found.period == pytest.approx(40.0)


@pytest.mark.parametrize("samples", [np.zeros(50), np.full(50, 0.1), np.array([1.0]), np.zeros(0)])
def test_without_a_peak_there_is_no_period(samples: np.ndarray) -> None:
    assert autocorrelation_period(samples, fs=1.0) is None


def test_long_signals_take_no_quadratic_time() -> None:
    samples = np.random.default_rng(0).exponential(size=2**20)
    # Sums by the definition would take 2^40 multiplications, which no test outlasts.
    assert autocorrelation(samples)[0] == 1.0
