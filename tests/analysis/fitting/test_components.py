"""The sum of cosines against the inverse transform, and against every other choice of lines."""

import itertools
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from iostrata import Samples, SelectionError, detect_period, step_signal
from iostrata.analysis.fitting import fit_signal, reconstruct

signals = arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e9))


@given(signals, st.floats(0.1, 100), st.floats(-1e3, 1e3))
def test_all_lines_give_the_samples_back(values: np.ndarray, fs: float, start: float) -> None:
    found = reconstruct(Samples(values, fs, start), values.size)
    np.testing.assert_allclose(found.values, values, atol=1e-6 * (1 + np.abs(values).max()))
    assert found.mean_square_error == pytest.approx(0, abs=1e-12 * (1 + np.abs(values).max()) ** 2)


@given(signals, st.integers(1, 10))
def test_the_error_is_that_of_the_sum_and_falls_with_every_component(values: np.ndarray, count: int) -> None:
    found = reconstruct(Samples(values, 2.0, 5.0), count)
    scale = 1 + np.abs(values).max()
    direct = np.mean(((values - found.values) / scale) ** 2)
    assert found.mean_square_error / scale**2 == pytest.approx(direct, abs=1e-12)
    more = reconstruct(Samples(values, 2.0, 5.0), count + 1)
    assert more.mean_square_error <= found.mean_square_error + 1e-12 * scale**2
    assert len(found) == min(count, values.size // 2)


@pytest.mark.parametrize("size", [9, 10])
def test_no_other_choice_of_lines_is_better(size: int) -> None:
    values = np.random.default_rng(size).normal(size=size)
    transform = np.fft.rfft(values)
    best = np.inf
    for chosen in itertools.combinations(range(1, size // 2 + 1), 2):
        kept = np.zeros_like(transform)
        kept[[0, *chosen]] = transform[[0, *chosen]]
        best = min(best, float(np.mean((values - np.fft.irfft(kept, size)) ** 2)))
    assert reconstruct(Samples(values, 1.0, 0.0), 2).mean_square_error == pytest.approx(best)


def test_a_cosine_on_the_grid_is_named() -> None:
    times = (np.arange(200) + 0.5) / 4.0
    found = reconstruct(Samples(10 + 3 * np.cos(2 * np.pi * 0.2 * times + 0.5), 4.0, 100.0), 1)
    assert found.frequency[0] == pytest.approx(0.2)
    assert found.amplitude[0] == pytest.approx(3)
    assert found.phase[0] == pytest.approx(0.5)
    assert found.mean == pytest.approx(10)
    assert found.at(np.array([100.0]))[0] == pytest.approx(10 + 3 * np.cos(0.5))


@pytest.mark.parametrize("fs", [0.9, 2.0, 30.0])
def test_a_cosine_that_peaks_at_the_start_has_phase_0(fs: float) -> None:
    edges = np.linspace(0.0, 40.0, 40_001)
    rate = 1 + np.cos(2 * np.pi * 0.25 * (edges[:-1] + 5e-4))
    signal = step_signal(edges[:-1], edges[1:], rate * 1e-3, window=(0.0, 40.0))
    for found in (reconstruct(signal.sample(fs), 1), fit_signal(signal, 1, fs=fs).fit.components):
        assert found.frequency[0] == pytest.approx(0.25, abs=1e-3)
        assert found.phase[0] == pytest.approx(0.0, abs=0.02)
    (listed,) = detect_period(signal, "ftio", fs, frequencies=1).evidence.frequencies
    assert listed["phase_rad"] == pytest.approx(0.0, abs=0.02)


@pytest.mark.parametrize("components", [0, -1, 1.5, True, "3"])
def test_a_number_that_makes_no_sense_is_refused(components: object) -> None:
    with pytest.raises(SelectionError):
        reconstruct(Samples(np.ones(10), 1.0, 0.0), components)  # type: ignore[arg-type]


def test_data_and_plot() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    found = reconstruct(Samples(np.random.default_rng(1).random(50), 1.0, 0.0), 3)
    assert json.loads(json.dumps(found.to_dict()))["frequency_hz"] == found.frequency.tolist()
    assert found.to_xarray()["amplitude"].size == 3
    import matplotlib.pyplot as plt

    plt.close(found.plot().figure)
