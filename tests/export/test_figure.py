"""Pictures of signals: what is in them, and that none is left behind half written."""

import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from iostrata import MissingLibraryError, OutputError, SelectionError, detect_period, step_signal
from iostrata.analysis.comparison.layer_periods import LayerPeriod, fitted
from iostrata.analysis.spectral.autocorrelation import autocorrelation
from iostrata.analysis.spectral.spectrum import power_spectrum
from iostrata.analysis.timefrequency.transforms import discrete_scalogram, scalogram

matplotlib = pytest.importorskip("matplotlib")
from iostrata.export.figure import MOST_SIGNALS, draw_periods, write_period_figure  # noqa: E402


def two_regimes(method: str = "auto", name: str = "POSIX") -> LayerPeriod:
    start = np.concatenate((5.0 + 10.0 * np.arange(12), 125.0 + 4.0 * np.arange(25)))
    signal = step_signal(start, start + 1.0, np.full(start.size, 1e9), window=(0.0, 230.0))
    return LayerPeriod(name, "write", "all", signal, detect_period(signal, method))


def test_one_time_axis_holds_signal_regimes_fit_and_transforms() -> None:
    period = two_regimes()
    period = replace(period, fit=fitted(period.signal, 5))
    figure = draw_periods([period])
    top, wavelet, fourier, discrete, sliding, spectrum, *_ = figure.axes
    (part,) = figure.subfigs
    title = " ".join(part.get_suptitle().split())
    assert "every 10 s from " in title
    assert ", then every 4 s from " in title
    for axes in (top, wavelet, fourier, discrete, sliding):
        assert axes.get_xlim() == period.signal.window
    texts = [text.get_text() for text in top.texts]
    assert [text.splitlines()[0] for text in texts] == ["every 10 s", "every 4 s"]
    (line,) = (line for line in top.lines if str(line.get_label()).startswith("fit of 5"))
    np.testing.assert_allclose(line.get_ydata(), period.fit.fit.components.values)
    (mesh,) = wavelet.collections[:1]
    np.testing.assert_allclose(np.ravel(mesh.get_array()), np.ravel(scalogram(period.fit.samples).amplitude))
    assert fourier.get_ylim() == wavelet.get_ylim() == discrete.get_ylim() == spectrum.get_ylim()
    (mesh,) = discrete.collections[:1]
    details = discrete_scalogram(period.fit.samples)
    np.testing.assert_allclose(np.ravel(mesh.get_array()), np.ravel(details.amplitude))
    # A window of one period correlates where it holds, in each of both regimes.
    assert len(sliding.lines) == 2
    assert all(np.median(line.get_ydata()) > 0.2 for line in sliding.lines)


def test_what_came_is_drawn_against_what_was_foretold() -> None:
    start = np.array([0.0, 10, 20, 30, 41, 50, 60, 70])
    signal = step_signal(start, start + 1.0, np.full(start.size, 1e9), window=(0.0, 80.0))
    result = detect_period(signal)
    figure = draw_periods([LayerPeriod("POSIX", "write", "all", signal, result)])
    forecasts = figure.axes[7]
    assert forecasts.get_title(loc="left") == "late against the forecast"
    line = forecasts.lines[0]
    np.testing.assert_allclose(line.get_xdata(), start[3:])
    # The mean of the intervals before: 10, 10, 10.33 …; the fourth is 11 s, the next one 9 s.
    np.testing.assert_allclose(line.get_ydata()[:3], [0, 10, 100 * (9 / 10.25 - 1)], atol=1e-9)


def test_a_filter_draws_the_signal_before_and_after_it() -> None:
    period = two_regimes()
    period = replace(period, result=detect_period(period.signal, filter="low:0.2"))
    figure = draw_periods([period], filter="low:0.2")
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert any(label.startswith("signal, means") for label in labels)
    assert any("low:0.2" in label for label in labels)
    (part,) = figure.subfigs
    assert "after the filter low:0.2 Hz" in " ".join(part.get_suptitle().split())


def test_the_hybrid_names_its_intervals() -> None:
    pytest.importorskip("pywt")
    figure = draw_periods([two_regimes("hybrid")])
    (legend,) = (axes.get_legend() for axes in figure.axes if axes.get_legend())
    assert any("holds" in text.get_text() for text in legend.get_texts())


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_a_file_of_each_kind_and_twice_the_same(tmp_path: Path, suffix: str) -> None:
    heads = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}
    period = two_regimes(name="a $layer_1$ & more")
    written = write_period_figure([period], tmp_path / f"one{suffix}")
    content = written.path.read_bytes()
    assert content.startswith(heads[suffix])
    assert (written.bytes, written.signals) == (len(content), 1)
    assert write_period_figure([period], tmp_path / f"two{suffix}").path.read_bytes() == content
    if suffix == ".svg":
        ElementTree.fromstring(content)
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"one{suffix}", f"two{suffix}"]


def test_a_signal_that_is_one_impulse_can_be_drawn(tmp_path: Path) -> None:
    signal = step_signal([1.0], [1.0], [5.0], window=(0.0, 3.0))
    period = LayerPeriod("POSIX", "read", "all", signal, detect_period(signal))
    assert write_period_figure([replace(period, fit=fitted(period.signal, 3))], tmp_path / "one.png").bytes > 0


@pytest.mark.parametrize(("count", "name"), [(0, "a.png"), (MOST_SIGNALS + 1, "a.png"), (1, "a.jpg"), (1, "a")])
def test_what_cannot_be_drawn_is_refused_and_leaves_nothing(tmp_path: Path, count: int, name: str) -> None:
    with pytest.raises(SelectionError):
        write_period_figure([two_regimes()] * count, tmp_path / name)
    assert not list(tmp_path.iterdir())


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(OutputError):
        write_period_figure([two_regimes()], tmp_path / "none" / "a.png")


def test_without_matplotlib_it_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'iostrata\[plot\]'"):
        write_period_figure([two_regimes()], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("length", [3.0, 80.0, 2000.0, 1e5])
def test_the_labels_of_a_spectrum_do_not_touch(length: float) -> None:
    signal = step_signal([0.01 * length], [0.012 * length], [5e9], window=(0.0, length))
    figure = draw_periods([LayerPeriod("POSIX", "read", "all", signal, detect_period(signal))])
    figure.draw_without_rendering()
    spectrum = figure.axes[5]
    low, high = spectrum.get_xlim()
    shown = [tick for tick in spectrum.xaxis.get_major_ticks() if low <= tick.get_loc() <= high]
    boxes = [tick.label1.get_window_extent() for tick in shown]
    assert len(boxes) >= 2
    assert all(left.x1 + 2 < right.x0 for left, right in pairwise(boxes))


def test_the_spectrum_and_the_autocorrelation_are_those_that_the_method_looked_at() -> None:
    start = 10.0 * np.arange(30)
    signal = step_signal(start, start + 2.0, np.full(start.size, 1e9), window=(0.0, 300.0))
    result = detect_period(signal, "ftio", fs=1.0)
    figure = draw_periods([LayerPeriod("POSIX", "write", "all", signal, result)], fs=4.0)
    top, _, _, _, _, spectrum, correlation, *_ = figure.axes
    analysed = signal.sample(1.0)
    power = power_spectrum(analysed.values, 1.0).power[1:]
    np.testing.assert_allclose(spectrum.lines[0].get_xdata(), power / power.sum())
    np.testing.assert_allclose(correlation.lines[0].get_ydata(), autocorrelation(analysed.values))
    assert result.evidence.spectral_confidence is not None
    assert any(f"c_d {result.evidence.spectral_confidence:.2f}" in text.get_text() for text in spectrum.texts)
    labels = top.get_legend_handles_labels()[1]
    assert "as analysed, means over 1 s" in labels
    assert "mean rate, V/L" in labels
    assert "peaks 10 s apart" in correlation.get_title(loc="left")
