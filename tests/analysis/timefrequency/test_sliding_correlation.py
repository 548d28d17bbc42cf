"""The sliding correlation against the definition, window by window, in exact or doubled precision."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from iostrata import SelectionError
from iostrata.analysis.timefrequency.validity import sliding_fit


def sliding_correlation(x: np.ndarray, y: np.ndarray, window: int) -> np.ndarray:
    fit = sliding_fit(x, y, window)
    assert not fit.correlation.imag.any()
    return fit.correlation.real


def slowly(x: np.ndarray, y: np.ndarray, window: int) -> np.ndarray:
    """Pearson's correlation by its definition in extended precision; 0 where a part is constant."""
    found = []
    for first in range(x.size - window + 1):
        a = x[first : first + window].astype(np.longdouble)
        b = y[first : first + window].astype(np.longdouble)
        a, b = a - a.mean(), b - b.mean()
        scale = np.sqrt((a * a).sum() * (b * b).sum())
        constant = np.ptp(x[first : first + window]) == 0 or np.ptp(y[first : first + window]) == 0
        found.append(0.0 if constant else float((a * b).sum() / scale))
    return np.array(found)


@given(
    arrays(np.int64, st.integers(2, 60), elements=st.integers(-1000, 1000)),
    st.data(),
    st.integers(-6, 6),
    st.sampled_from([0.0, 1e3, 1e6]),
)
def test_it_is_pearsons_correlation_of_every_window(
    values: np.ndarray, data: st.DataObject, power: int, offset: float
) -> None:
    window = data.draw(st.integers(2, values.size))
    x = values * 10.0**power + offset * 10.0**power
    y = np.random.default_rng(values.size).normal(size=values.size)
    np.testing.assert_allclose(sliding_correlation(x, y, window), slowly(x, y, window), atol=1e-7)


@pytest.mark.parametrize("window", [2, 3, 7, 50, 64, 100])
def test_a_huge_burst_costs_later_windows_nothing(window: int) -> None:
    rng = np.random.default_rng(1)
    x = np.concatenate((rng.normal(size=200), 1e13 * rng.random(10), rng.normal(size=300)))
    y = np.cos(0.3 * np.arange(x.size))
    found, expected = sliding_correlation(x, y, window), slowly(x, y, window)
    # Two blocks after the burst nothing of it is left.
    after = slice(210 + 2 * window, None)
    np.testing.assert_allclose(found[after], expected[after], atol=1e-12)
    np.testing.assert_allclose(
        found[: 200 - 2 * window or None][: max(0, 200 - 2 * window)], expected[: max(0, 200 - 2 * window)], atol=1e-12
    )
    assert np.abs(found).max() <= 1


@pytest.mark.parametrize("level", [0.0, 0.1, 3e9, 1e300, 1e-300])
def test_a_constant_correlates_with_nothing(level: float) -> None:
    assert not sliding_correlation(np.full(500, level), np.cos(np.arange(500.0)), 33).any()


@pytest.mark.parametrize("scale", [1e-300, 1e-9, 1e9, 1e300])
def test_scale_and_sign_change_nothing_else(scale: float) -> None:
    rng = np.random.default_rng(2)
    x, y = rng.normal(size=300), rng.normal(size=300)
    plain = sliding_correlation(x, y, 40)
    np.testing.assert_allclose(sliding_correlation(x * scale, y, 40), plain, atol=1e-9)
    np.testing.assert_allclose(sliding_correlation(-x, y, 40), -plain, atol=1e-12)
    np.testing.assert_allclose(sliding_correlation(y, x, 40), plain, atol=1e-12)
    np.testing.assert_allclose(sliding_correlation(x, x, 40), 1.0, atol=1e-12)


def test_a_complex_wave_is_its_two_parts_and_gives_amplitude_and_phase() -> None:
    count, period = 400, 25
    wave = np.exp(2j * np.pi * np.arange(count) / period)
    x = 7 + 3 * np.cos(2 * np.pi * np.arange(count) / period - 0.7)
    fit = sliding_fit(x, wave, period)
    np.testing.assert_allclose(np.abs(fit.slope) * 2, 3, atol=1e-9)
    np.testing.assert_allclose(np.angle(fit.slope), 0.7, atol=1e-9)
    np.testing.assert_allclose(np.abs(fit.correlation), np.sqrt(0.5), atol=1e-9)


def test_the_slope_is_that_of_least_squares() -> None:
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=120), rng.normal(size=120)
    slope = sliding_fit(x, y, 30).slope
    for first in range(0, 90, 13):
        part = slice(first, first + 30)
        assert slope[first] == pytest.approx(np.polyfit(y[part], x[part], 1)[0])


@pytest.mark.parametrize("window", [0, 1, 11, -3])
def test_a_window_without_a_place_is_refused(window: int) -> None:
    with pytest.raises(SelectionError):
        sliding_correlation(np.arange(10.0), np.arange(10.0), window)


def test_what_is_not_two_rows_of_finite_numbers_is_refused() -> None:
    for x, y in ((np.zeros(5), np.zeros(6)), (np.full(5, np.nan), np.zeros(5)), (np.zeros((2, 5)), np.zeros((2, 5)))):
        with pytest.raises(SelectionError):
            sliding_correlation(x, y, 3)
