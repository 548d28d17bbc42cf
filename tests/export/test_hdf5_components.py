"""The groups ``regimes`` and ``components`` against the results they are made of."""

from pathlib import Path

import h5py
import iostrata
import numpy as np
import pytest
from iostrata.export.hdf5 import write_hdf5
from iostrata.export.hdf5_components import fit_components
from iostrata.export.layer_periods import DIRECTIONS
from iostrata.layers.opening import open_trace
from iostrata.layers.trace import Trace
from iostrata.otf2io.errors import SelectionError

FIXTURES = Path(__file__).parents[2] / "fixtures"


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
            fit = fit_components(signal, 3)
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
