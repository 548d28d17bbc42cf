"""Scalogram and short-time transform: amplitudes that are known, PyWavelets and SciPy as oracles."""

import numpy as np
import pytest
import pywt
from iostrata import Samples, SelectionError
from iostrata.analysis.timefrequency.transforms import scalogram, short_time_fourier
from scipy.signal import stft


@pytest.mark.parametrize("period", [3.0, 12.3, 40.0])
def test_a_cosine_has_its_amplitude_at_its_period(period: float) -> None:
    times = np.arange(4096) / 10.0
    samples = Samples(100 + 7 * np.cos(2 * np.pi * times / period), 10.0, 50.0)
    periods = period * 2.0 ** (np.arange(-6, 7) / 6)
    found = scalogram(samples, periods=periods)
    middle = found.amplitude[:, 2048]
    best = int(np.argmax(middle))
    assert 1 / found.frequencies[best] == pytest.approx(period, rel=0.03)
    assert middle[best] == pytest.approx(7, rel=0.01)
    assert np.all(np.diff(found.frequencies) > 0)
    assert found.times[0] == samples.times[0]


def test_a_chirp_is_where_it_is_at_each_time() -> None:
    times = np.arange(8192) / 10.0
    phase = 2 * np.pi * (0.05 * times + 0.5 * (0.25 / times[-1]) * times**2)
    found = scalogram(Samples(np.cos(phase), 10.0, 0.0), voices=24)
    for at in (2000, 4000, 6000):
        expected = 0.05 + 0.25 * times[at] / times[-1]
        assert found.frequencies[np.argmax(found.amplitude[:, at])] == pytest.approx(expected, rel=0.05)


def test_pywavelets_finds_the_same_shape() -> None:
    rng = np.random.default_rng(1)
    values = np.convolve(rng.normal(size=2000), np.ones(5), "same")
    periods = np.array([20.0, 40.0, 80.0])
    ours = scalogram(Samples(values, 1.0, 0.0), periods=periods)
    # ψ(t) = exp(2πi C t - t²/B) with ω₀ = 6 for one standard deviation: B = 2, C = 6 / 2π.
    wavelet = pywt.ContinuousWavelet(f"cmor2.0-{6 / (2 * np.pi):.10f}")
    scales = periods * 6 / (2 * np.pi)
    peer, _ = pywt.cwt(values - values.mean(), scales, wavelet, method="fft")
    for row in range(3):
        inner = slice(300, -300)
        one, other = ours.amplitude[::-1][row][inner], np.abs(peer[row])[inner]
        assert np.corrcoef(one, other)[0, 1] > 0.99


def test_scipy_finds_the_same_short_time_transform() -> None:
    rng = np.random.default_rng(2)
    values = rng.random(1000)
    found = short_time_fourier(Samples(values, 2.0, 10.0), window=64.0, overlap=0.5)
    window = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(128) + 0.5) / 128)
    _, times, peer = stft(values, 2.0, window, nperseg=128, noverlap=64, boundary=None, padded=False)
    np.testing.assert_allclose(found.times, 10.0 + times)
    # Only the piece's weighted mean is taken off before, which is in the lowest lines.
    np.testing.assert_allclose(found.amplitude[3:], 2 * np.abs(peer)[4:65], atol=1e-9)


def test_a_change_of_period_is_seen_in_pieces() -> None:
    times = np.arange(4000) / 10.0
    values = np.where(times < 200, np.cos(2 * np.pi * times / 5), 2 * np.cos(2 * np.pi * times / 12.5))
    found = short_time_fourier(Samples(values, 10.0, 0.0), window=50.0)
    early, late = found.amplitude[:, 2], found.amplitude[:, -3]
    assert found.frequencies[early.argmax()] == pytest.approx(0.2)
    assert early.max() == pytest.approx(1, rel=0.01)
    assert found.frequencies[late.argmax()] == pytest.approx(0.08)
    assert late.max() == pytest.approx(2, rel=0.01)


def test_constants_are_nothing() -> None:
    for transform in (scalogram, short_time_fourier):
        assert transform(Samples(np.full(200, 1e9), 1.0, 0.0)).amplitude.max() < 1


@pytest.mark.parametrize("periods", [[1.0], [1000.0], [np.nan], []])
def test_periods_out_of_range_are_refused(periods: list[float]) -> None:
    with pytest.raises(SelectionError):
        scalogram(Samples(np.ones(100), 1.0, 0.0), periods=np.array(periods))


def test_what_does_not_fit_is_refused() -> None:
    with pytest.raises(SelectionError):
        scalogram(Samples(np.ones(5), 1.0, 0.0))
    with pytest.raises(SelectionError, match="too large"):
        scalogram(Samples(np.ones(2**20), 1.0, 0.0), voices=12)
    with pytest.raises(SelectionError):
        short_time_fourier(Samples(np.ones(100), 1.0, 0.0), window=101.0)
    with pytest.raises(SelectionError):
        short_time_fourier(Samples(np.ones(100), 1.0, 0.0), overlap=1.0)


def test_data_and_plots() -> None:
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    for transform in (scalogram, short_time_fourier):
        found = transform(Samples(np.random.default_rng(1).random(300), 1.0, 0.0))
        data = found.to_xarray()
        assert data.dims == ("frequency", "time")
        assert data.shape == found.amplitude.shape
        plt.close(found.plot().figure)
