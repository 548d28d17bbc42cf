"""The transform against its definition, and what counts as flat."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.analysis.spectral.spectrum import power_spectrum, strongest_frequencies

numbers = st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60)


@given(samples=numbers, fs=st.floats(0.01, 1e3))
def test_lines_are_the_sums_of_the_definition(samples: list[float], fs: float) -> None:
    spectrum = power_spectrum(np.array(samples), fs)
    count = len(samples)
    n = np.arange(count)
    scale = max(1.0, np.abs(samples).max()) * count
    assert spectrum.coefficients.size == count // 2 + 1
    for k, (coefficient, frequency) in enumerate(zip(spectrum.coefficients, spectrum.frequencies, strict=True)):
        expected = np.sum(np.array(samples) * np.exp(-2j * np.pi * k * n / count))
        assert abs(coefficient - expected) <= 1e-12 * scale
        assert frequency == pytest.approx(k * fs / count)
        assert spectrum.amplitude[k] == pytest.approx(abs(coefficient))
        assert spectrum.power[k] == pytest.approx(abs(coefficient) ** 2 / count)


@given(samples=numbers)
def test_lines_give_the_signal_back(samples: list[float]) -> None:
    # Eq. 1 of the paper, with the line at half the sampling frequency counted once.
    spectrum = power_spectrum(np.array(samples))
    count = len(samples)
    n = np.arange(count)
    total = np.full(count, spectrum.coefficients[0].real)
    for k in range(1, count // 2 + 1):
        weight = 1 if 2 * k == count else 2
        total += weight * spectrum.amplitude[k] * np.cos(2 * np.pi * k * n / count + spectrum.phase[k])
    np.testing.assert_allclose(total / count, samples, atol=1e-12 * max(1.0, np.abs(samples).max()) * count)


@given(samples=numbers)
def test_power_is_conserved(samples: list[float]) -> None:
    power = power_spectrum(np.array(samples)).power
    both_sides = 2 * power.sum() - power[0] - (power[-1] if len(samples) % 2 == 0 else 0.0)
    assert both_sides == pytest.approx(np.square(samples).sum(), rel=1e-9, abs=1e-9)


@pytest.mark.parametrize("count", [1, 2, 3, 64, 1000, 99991])
def test_constant_signals_and_single_bins_are_flat(count: int) -> None:
    assert power_spectrum(np.full(count, 0.1)).flat
    assert power_spectrum(np.zeros(count)).flat
    single = np.zeros(count)
    single[count // 2] = 7.0
    assert power_spectrum(single).flat
    # Equal bins cut from a running sum, which are equal only to rounding.
    assert power_spectrum(np.diff(np.cumsum(np.full(count + 1, 0.1)))).flat


@pytest.mark.parametrize("count", [64, 1000, 99991])
def test_a_faint_wave_is_not_flat(count: int) -> None:
    n = np.arange(count)
    spectrum = power_spectrum(1.0 + 1e-6 * np.cos(2 * np.pi * 5 * n / count))
    assert not spectrum.flat
    assert np.argmax(spectrum.power[1:]) + 1 == 5


@pytest.mark.parametrize(
    ("samples", "fs"),
    [([], 1.0), ([[1.0, 2.0]], 1.0), ([np.nan], 1.0), ([np.inf], 1.0), ([1.0], 0.0), ([1.0], np.nan), ([1.0], -2.0)],
)
def test_what_is_no_sampled_signal_is_refused(samples: list[float], fs: float) -> None:
    with pytest.raises(SelectionError):
        power_spectrum(np.array(samples), fs)


def test_the_strongest_line_of_noise_rarely_reaches_the_significant_share():
    random = np.random.default_rng(7)
    above = 0
    for _ in range(2000):
        power = power_spectrum(random.normal(size=129)).power[1:]
        above += power.max() / power.sum() > power_spectrum(np.arange(129.0)).significant_share(0.05)
    # The first term of Fisher's sum is a bound that is nearly reached.
    assert 0.03 < above / 2000 < 0.065


@pytest.mark.parametrize("rate", [0, 1, -0.1, float("nan")])
def test_a_false_alarm_rate_is_a_share(rate):
    with pytest.raises(SelectionError, match="between 0 and 1"):
        power_spectrum(np.arange(9.0)).significant_share(rate)


def test_one_line_alone_is_never_significant():
    assert power_spectrum(np.array([1.0, 2.0])).significant_share() == 1.0


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.sampled_from([0.5, 4.0]))
def test_all_frequencies_together_are_the_signal(seed: int, count: int, fs: float) -> None:
    samples = np.random.default_rng(seed).exponential(1.0, count)
    listed = strongest_frequencies(power_spectrum(samples, fs), 1000)
    assert len(listed) == count // 2
    time = (np.arange(count) + 0.5) / fs
    rebuilt = samples.mean() + sum(
        row["amplitude"] * np.cos(2 * np.pi * row["frequency_hz"] * time + row["phase_rad"]) for row in listed
    )
    np.testing.assert_allclose(rebuilt, samples, atol=1e-9)
    assert sum(row["power_share"] for row in listed) == pytest.approx(1.0)
    assert [row["power_share"] for row in listed] == sorted((row["power_share"] for row in listed), reverse=True)
    assert strongest_frequencies(power_spectrum(samples, fs), 3) == listed[:3]
    assert strongest_frequencies(power_spectrum(samples, fs), 0) == []


def test_a_cosine_has_its_own_amplitude_and_phase() -> None:
    time = (np.arange(200) + 0.5) / 10.0
    wave = 5.0 + 2.0 * np.cos(2 * np.pi * 0.5 * time + 0.7) + np.cos(2 * np.pi * 1.5 * time - 1.0)
    first, second = strongest_frequencies(power_spectrum(wave, 10.0), 2)
    assert first == pytest.approx({"frequency_hz": 0.5, "amplitude": 2.0, "phase_rad": 0.7, "power_share": 0.8})
    assert second == pytest.approx({"frequency_hz": 1.5, "amplitude": 1.0, "phase_rad": -1.0, "power_share": 0.2})


def test_a_constant_has_none() -> None:
    assert strongest_frequencies(power_spectrum(np.full(8, 3.0)), 3) == []
