"""The groups ``regimes`` and ``components`` against the results they are made of."""

from pathlib import Path
from typing import Any

import h5py
import iostrata
import numpy as np
import pytest
from iostrata import SelectionError, Trace, open_trace, write_hdf5
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.analysis.comparison.layer_periods import layer_periods
from iostrata.analysis.fitting import fit_signal
from iostrata.layers.selection.directions import DIRECTIONS

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
            (found,) = layer_periods([trace.layers[layer]], [way], loops=loops_of(trace))
            expected = found.result.regimes
            assert regimes["period"][mine].tolist() == [one.period for one in expected]
            assert regimes["start"][mine].tolist() == [one.start for one in expected]
            assert regimes["phases"][mine].tolist() == [one.phases for one in expected]
            shares = np.array([one.valid_share for one in expected], float)
            np.testing.assert_array_equal(regimes["valid_share"][mine], shares)
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


@pytest.mark.parametrize("fs", ["auto", 50.0])
def test_periods_are_those_of_the_command(trace: Trace, tmp_path: Path, fs: Any) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=fs).path
    with h5py.File(path) as file:
        group = {name: item[()] for name, item in file["periods"].items()}
    plain = ("period_s", "frequency_hz", "confidence", "recurrence_s", "jitter")
    for row, layer in enumerate(trace.layers):
        for column, way in enumerate(DIRECTIONS):
            place = row, column
            signal = trace.layers[layer].bandwidth(way)
            if signal.volume == 0:
                assert not group["periodic"][place]
                assert all(np.isnan(group[name][place]) for name in plain)
                assert group["reason"][place] == b"The signal moved no bytes."
                continue
            (found,) = layer_periods([trace.layers[layer]], [way], fs=fs, loops=loops_of(trace))
            expected = found.result.to_dict()
            assert bool(group["periodic"][place]) == expected["periodic"]
            assert group["reason"][place].decode() == expected["reason"]
            assert group["method"][place].decode() == expected["method"]
            assert group["samples"][place] == expected["sampling"]["samples"]
            numbers = {name: expected[name] for name in plain} | expected["metrics"]
            numbers |= {"fs_hz": expected["sampling"]["fs_hz"]}
            for name, value in numbers.items():
                assert group[name][place] == value or (value is None and np.isnan(group[name][place])), name
            interval = expected["period_interval_s"] or [None, None]
            np.testing.assert_array_equal(group["period_interval_s"][place], np.array(interval, float))
            tables = {
                "phase": ("phases", ("start_s", "end_s", "bytes")),
                "regime": ("regimes", ("start_s", "end_s", "period_s")),
                "concurrent_period": ("periods", ("period_s", "confidence", "bytes")),
            }
            for table, (key, columns) in tables.items():
                rows = (group[f"{table}_layer"] == row) & (group[f"{table}_direction"] == column)
                for name in columns:
                    found = group[f"{table}_{name}"][rows]
                    np.testing.assert_array_equal(found, np.array([one[name] for one in expected[key]], float))


def test_no_periods_on_request(trace: Trace, tmp_path: Path) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=5.0, periods=False).path
    with h5py.File(path) as file:
        assert "periods" not in file
        assert file.attrs["method"] == "none"


def test_groups_opened_alone_have_their_coordinates(fixtures: Path, tmp_path: Path) -> None:
    xarray = pytest.importorskip("xarray")
    path = write_hdf5(open_trace(fixtures / "ckpt4"), tmp_path / "a.h5", fs=10, comparison=False).path
    for group in ("periods", "statistics"):
        with xarray.open_dataset(path, group=group) as opened:
            assert opened.layer.values.tolist() == ["MPI-IO", "ISOC", "POSIX"]
            assert opened.direction.values.tolist() == ["read", "write"]
    with xarray.open_dataset(path, group="periods") as opened:
        assert opened.period_s.sel(layer="MPI-IO", direction="write").item() == pytest.approx(0.4, rel=0.02)
    groups = xarray.open_groups(path)
    assert {"/periods", "/story"} <= set(groups)
