"""How objects look in a notebook, and their way into pandas and matplotlib."""

import xml.etree.ElementTree as ElementTree

import matplotlib as mpl
import numpy as np
import pytest
from iostrata import detect_period, open_trace, step_signal
from iostrata.analysis.spectral.spectrum import power_spectrum
from iostrata.model.display import html_curve, html_table
from iostrata.model.quantities import seconds_text

mpl.use("agg")
HOSTILE = "<script>alert('x')</script>"


@pytest.fixture(scope="module")
def trace(fixtures):
    return open_trace(fixtures / "ncckpt4")


@pytest.fixture
def figure():
    import matplotlib.pyplot as plt

    yield plt.figure()
    plt.close("all")


def well_formed(html: str) -> ElementTree.Element:
    return ElementTree.fromstring(f"<div>{html}</div>")


def test_text_is_escaped_and_numbers_are_readable():
    html = html_table([(HOSTILE, 1234567, 0.25, None, HOSTILE)], (HOSTILE,), HOSTILE)
    assert HOSTILE not in html
    cells = ["".join(cell.itertext()) for cell in well_formed(html).iter("td")]
    assert cells == ["1,234,567", "0.25", "", HOSTILE]
    assert HOSTILE not in html_curve(np.ones(3), HOSTILE)


def test_a_curve_is_drawn_up_to_its_largest_value():
    path = well_formed(html_curve(np.array([0.0, 2.0, 1.0]), "x", 30, 10)).find(".//path")
    assert path is not None
    assert path.get("d") == "M0 10V10.0H10.0V0.0H20.0V5.0H30.0V10Z"


def test_traces_layers_and_signals_have_tables(trace):
    for shown in (trace, trace.layers, trace.layers["MPI-IO"], trace.layers["MPI-IO"].bandwidth("write")):
        text = "".join(well_formed(shown._repr_html_()).itertext())
        assert "MPI-IO" in text
    assert "83,886,240" in trace.layers["netCDF"]._repr_html_()
    assert "<svg" in trace.layers["netCDF"].bandwidth("write")._repr_html_()


def test_names_of_a_trace_are_escaped(make_trace):
    html = make_trace([("POSIX", "/a", -1)], paradigms=[HOSTILE, "POSIX"])._repr_html_()
    assert HOSTILE not in html
    well_formed(html)


def test_the_statistics_as_a_table_are_those_of_the_layers(trace):
    table = trace.layers.to_dataframe()
    for name, layer in trace.layers.items():
        for direction in layer.directions:
            found = layer.statistics(direction)
            assert table.loc[(name, direction), "bytes"] == found.bytes
            request = table.loc[(name, direction), "request_max"]
            assert request == found.request_bytes.max or (np.isnan(request) and found.request_bytes.max is None)


def test_a_signal_as_a_table_keeps_its_volume():
    signal = step_signal([0.0, 1.0, 2.0], [1.0, 1.0, 3.0], [10, 5, 20], window=(0.0, 4.0))
    table = signal.to_dataframe()
    assert table["volume"].sum() == signal.volume
    assert table["start_s"].is_monotonic_increasing
    assert table.attrs["unit"] == "byte s-1"
    samples = signal.sample(2.0)
    assert samples.to_dataframe()["value"].to_list() == samples.values.tolist()


def test_phases_as_a_table(trace):
    result = detect_period(trace.layers["netCDF"].bandwidth("write"))
    table = result.to_dataframe()
    assert table["volume"].to_list() == [phase.volume for phase in result.phases]
    assert len(detect_period(trace.layers["netCDF"].bandwidth("read")).to_dataframe().columns) == 3


def test_plots_draw_what_they_say(trace, figure):
    axes = figure.subplots(3)
    signal = trace.layers["netCDF"].bandwidth("write")
    result = detect_period(signal)
    assert signal.plot(axes[0]) is axes[0]
    assert result.plot(axes[0], alpha=0.5) is axes[0]
    assert len(axes[0].patches) == len(result.phases) + 1
    (regime,) = result.regimes
    assert f"from {seconds_text(regime.start)} to {seconds_text(regime.end)}, confidence" in axes[0].get_title()
    distances = np.diff([line.get_xdata()[0] for line in axes[0].lines])
    assert distances == pytest.approx(result.period)
    samples = signal.sample(8.0)
    assert samples.plot(axes[1]) is axes[1]
    np.testing.assert_array_equal(axes[1].patches[0].get_data().values, samples.values)
    spectrum = power_spectrum(samples.values, samples.fs)
    assert spectrum.plot(axes[2]) is axes[2]
    assert axes[2].lines[0].get_ydata().sum() == pytest.approx(1)
    assert axes[2].lines[1].get_ydata()[0] == spectrum.significant_share()


def test_a_plot_without_axes_makes_some(trace, figure):
    assert figure
    signal = trace.layers["netCDF"].bandwidth("read")
    for drawn in (signal, signal.sample(8.0), detect_period(signal), power_spectrum(np.arange(8.0))):
        assert drawn.plot().figure


def test_a_flow_shows_what_became_of_the_bytes(trace, figure):
    flow = trace.flow("netCDF", "POSIX", "write")
    text = "".join(well_formed(flow._repr_html_()).itertext())
    assert f"{flow.hidden_bytes:,}" in text
    ax = flow.plot(figure.subplots())
    widths = [bar.get_width() for bar in ax.patches]
    assert widths == [flow.upper_bytes, flow.lower_bytes - flow.hidden_bytes, flow.hidden_bytes]
    assert ax.yaxis_inverted()
    labels = [text.get_text() for text in ax.get_legend().get_texts()]
    assert labels == ["asked of netCDF", "inside netCDF operations", "outside of them (hidden)"]


def test_signals_spectra_and_handles_have_arrays_and_tables(trace):
    signal = trace.layers["MPI-IO"].bandwidth("write")
    steps = signal.to_xarray()
    assert steps["rate"].attrs["units"] == signal.unit
    assert np.array_equal(steps["rate"].values[:-1], signal.values)
    assert float(steps["volume"][-1]) == pytest.approx(signal.volume)
    spectrum = power_spectrum(signal.sample(fs=50.0).values, 50.0)
    array = spectrum.to_xarray()
    assert float(array.sel(frequency=slice(0.1, None)).idxmax()) == pytest.approx(
        float(spectrum.to_dataframe().query("frequency_hz > 0.1").set_index("frequency_hz")["power"].idxmax())
    )
    table = trace.handles.to_dataframe()
    assert table["operations"].sum() == trace.handles.operations.sum()
    assert table.index.is_unique
