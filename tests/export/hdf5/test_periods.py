"""The groups ``regimes`` and ``components`` against the results they are made of."""

from pathlib import Path

import h5py
import iostrata
import numpy as np
import pytest
from iostrata import SelectionError, Trace, open_trace, write_hdf5
from iostrata.analysis.comparison.layer_periods import DIRECTIONS
from iostrata.analysis.fitting.signal_fit import fit_signal

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def trace() -> Trace:
    """Four layers, of which one only reads its own metadata."""
    return open_trace(FIXTURES / "ncckpt4")


def test_regimes_and_cosines_are_those_of_the_signals(trace: Trace, tmp_path: Path) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", components=3, comparison=False).path
    with h5py.File(path) as file:
        regimes = {name: data[()] for name, data in file["regimes"].items()}
        cosines = {name: data[()] for name, data in file["components"].items()}
    seen = 0
    for row, layer in enumerate(trace.layers):
        for column, way in enumerate(DIRECTIONS):
            signal = trace.layers[layer].bandwidth(way)
            mine = (regimes["regime_layer"] == row) & (regimes["regime_direction"] == column)
            own = (cosines["component_layer"] == row) & (cosines["component_direction"] == column)
            if signal.volume == 0:
                assert not mine.any()
                assert not own.any()
                continue
            expected = iostrata.detect_period(signal).regimes
            assert regimes["period"][mine].tolist() == [one.period for one in expected]
            assert regimes["start"][mine].tolist() == [one.start for one in expected]
            assert regimes["phases"][mine].tolist() == [one.phases for one in expected]
            assert regimes["valid_share"][mine].tolist() == [one.valid_share for one in expected]
            fit = fit_signal(signal, 3).fit
            np.testing.assert_array_equal(cosines["frequency"][own], fit.components.frequency)
            np.testing.assert_array_equal(cosines["line_amplitude"][own], fit.lines.amplitude)
            assert np.all(cosines["fit_error"][own] <= cosines["line_error"][own])
            seen += int(own.sum())
    assert seen
    xarray = pytest.importorskip("xarray")
    with xarray.open_dataset(path, group="regimes") as opened:
        assert opened["period"].attrs["units"] == "s"


@pytest.mark.parametrize("components", [0, 101, True, 2.5])
def test_a_number_of_cosines_that_makes_no_sense_is_refused(trace: Trace, tmp_path: Path, components: int) -> None:
    with pytest.raises(SelectionError):
        write_hdf5(trace, tmp_path / "out.nc", components=components)
    assert not (tmp_path / "out.nc").exists()


def test_a_filter_is_put_before_periods_and_cosines_and_nothing_else(trace: Trace, tmp_path: Path) -> None:
    plain = write_hdf5(trace, tmp_path / "plain.nc", layers="POSIX", components=3, fs=200.0, comparison=False).path
    path = write_hdf5(
        trace, tmp_path / "out.nc", layers="POSIX", components=3, fs=200.0, comparison=False, filter="low:3"
    ).path
    signal = trace.layers["POSIX"].bandwidth("write")
    expected = iostrata.detect_period(signal, fs=200.0, filter="low:3")
    with h5py.File(path) as file, h5py.File(plain) as before:
        assert file.attrs["filter"] == "low:3"
        assert before.attrs["filter"] == "none"
        np.testing.assert_array_equal(file["bandwidth"][()], before["bandwidth"][()])
        assert file["periods"]["period_s"][0, 1] == expected.period
        mine = file["components"]["component_direction"][()] == 1
        # Nothing above the cutoff is left that a fit could find.
        assert file["components"]["frequency"][mine].max() < 4
        unfiltered = before["components"]["component_direction"][()] == 1
        assert before["components"]["frequency"][unfiltered].max() > 4


def test_a_filter_that_makes_no_sense_leaves_no_file(trace: Trace, tmp_path: Path) -> None:
    with pytest.raises(SelectionError):
        write_hdf5(trace, tmp_path / "out.nc", filter="low:none")
    with pytest.raises(SelectionError):
        write_hdf5(trace, tmp_path / "out.nc", filter="low:500", fs=20.0)
    assert not list(tmp_path.iterdir())
