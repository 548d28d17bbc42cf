"""The approximation against PyWavelets' own inverse transform with all details zero."""

import sys

import numpy as np
import pytest
import pywt
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import MissingLibraryError, SelectionError
from iostrata.analysis.timefrequency.wavelets import approximation, decomposition_level, largest_level

WAVELETS = ["db1", "db4", "sym5", "coif2", "bior2.2"]


@pytest.mark.parametrize("wavelet", WAVELETS)
@pytest.mark.parametrize("count", [64, 101, 127, 1000])
def test_it_is_the_inverse_transform_without_details(wavelet: str, count: int) -> None:
    samples = np.random.default_rng(count).normal(size=count)
    for level in range(1, largest_level(count, wavelet) + 1):
        coefficients = pywt.wavedec(samples, wavelet, level=level)
        coefficients[1:] = [np.zeros_like(detail) for detail in coefficients[1:]]
        expected = pywt.waverec(coefficients, wavelet)[:count]
        np.testing.assert_allclose(approximation(samples, level, wavelet), expected, atol=1e-12)


@given(st.integers(0, 6), st.integers(64, 200))
@settings(max_examples=30)
def test_haars_approximation_is_the_means_of_blocks(level: int, count: int) -> None:
    samples = np.random.default_rng(count).normal(size=count)
    size = 2**level
    found = approximation(samples, level)
    whole = count // size * size
    means = samples[:whole].reshape(-1, size).mean(axis=1)
    np.testing.assert_allclose(found[:whole], np.repeat(means, size), atol=1e-12)
    assert found.size == count


@pytest.mark.parametrize("wavelet", WAVELETS)
def test_a_slow_wave_comes_back_where_it_was(wavelet: str) -> None:
    wave = np.cos(2 * np.pi * np.arange(4096) / 512)
    found = approximation(wave, 3, wavelet)
    lags = range(-8, 9)
    inner = slice(64, -64)
    errors = [np.mean((np.roll(found, lag)[inner] - wave[inner]) ** 2) for lag in lags]
    assert list(lags)[int(np.argmin(errors))] == 0


def test_the_level_follows_the_period_in_samples() -> None:
    assert decomposition_level(18.01, 1.0, 181, bands_per_period=4) == 2
    assert decomposition_level(18.01, 1.0, 181) == 1
    assert decomposition_level(27.65, 10.0, 4000) == 5
    for doubling in range(4):
        assert decomposition_level(27.65, 10.0 * 2**doubling, 4000 * 2**doubling) == 5 + doubling
    assert decomposition_level(0.005, 1000.0, 10**6) == 0
    assert decomposition_level(1e6, 1.0, 100) == largest_level(100)
    with pytest.raises(SelectionError):
        decomposition_level(0.0, 1.0, 100)
    with pytest.raises(SelectionError):
        decomposition_level(10.0, 1.0, 100, bands_per_period=1)


@pytest.mark.parametrize(("level", "wavelet"), [(-1, "db1"), (99, "db1"), (1.5, "db1"), (True, "db1"), (1, "morl")])
def test_what_does_not_exist_is_refused_in_one_line(level: int, wavelet: str) -> None:
    with pytest.raises(SelectionError) as caught:
        approximation(np.zeros(64), level, wavelet)
    assert "\n" not in str(caught.value)


def test_without_pywavelets_the_message_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pywt", None)
    with pytest.raises(MissingLibraryError, match=r"iostrata\[wavelet\]"):
        approximation(np.zeros(64), 1)
