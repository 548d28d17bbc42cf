"""The listed cosines add up to the signal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.spectral.spectrum import power_spectrum, strongest_frequencies


@given(st.integers(0, 2**32 - 1), st.integers(2, 60), st.sampled_from([0.5, 4.0]))
def test_all_frequencies_together_are_the_signal(seed: int, count: int, fs: float) -> None:
    samples = np.random.default_rng(seed).exponential(1.0, count)
    listed = strongest_frequencies(power_spectrum(samples, fs), 1000)
    assert len(listed) == count // 2
    time = np.arange(count) / fs
    rebuilt = samples.mean() + sum(
        row["amplitude"] * np.cos(2 * np.pi * row["frequency_hz"] * time + row["phase_rad"]) for row in listed
    )
    np.testing.assert_allclose(rebuilt, samples, atol=1e-9)
    assert sum(row["power_share"] for row in listed) == pytest.approx(1.0)
    assert [row["power_share"] for row in listed] == sorted((row["power_share"] for row in listed), reverse=True)
    assert strongest_frequencies(power_spectrum(samples, fs), 3) == listed[:3]
    assert strongest_frequencies(power_spectrum(samples, fs), 0) == []


def test_a_cosine_has_its_own_amplitude_and_phase() -> None:
    time = np.arange(200) / 10.0
    wave = 5.0 + 2.0 * np.cos(2 * np.pi * 0.5 * time + 0.7) + np.cos(2 * np.pi * 1.5 * time - 1.0)
    first, second = strongest_frequencies(power_spectrum(wave, 10.0), 2)
    assert first == pytest.approx({"frequency_hz": 0.5, "amplitude": 2.0, "phase_rad": 0.7, "power_share": 0.8})
    assert second == pytest.approx({"frequency_hz": 1.5, "amplitude": 1.0, "phase_rad": -1.0, "power_share": 0.2})


def test_a_constant_has_none() -> None:
    assert strongest_frequencies(power_spectrum(np.full(8, 3.0)), 3) == []
