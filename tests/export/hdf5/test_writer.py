"""The HDF5 export as its readers see it: its axes, its bandwidth, and what describes them."""

import math
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import Layer, StepSignal, Trace, open_trace, write_hdf5
from iostrata.export.json.documents import handles_document, layers_document
from iostrata.export.written import Written
from iostrata.layers.trace import trace_of

Check = Callable[[Path], None]
FIXTURES = Path(__file__).parents[3] / "fixtures"
ENGINES = ("h5netcdf", "netcdf4")
DIRECTIONS = ("read", "write")


def volumes(path: Path) -> dict[tuple[str, str], float]:
    """Sum of bandwidth times bin width, by the bins that the file itself gives."""
    with xarray.open_dataset(path, engine="h5netcdf") as root:
        widths = root.time_bnds[:, 1] - root.time_bnds[:, 0]
        sums = (root.bandwidth * widths).sum("time")
        return {
            (str(layer), str(direction)): float(sums.sel(layer=layer, direction=direction))
            for layer in root.layer.values
            for direction in root.direction.values
        }


def test_opens_in_every_reader(written: Written, opens_everywhere: Check) -> None:
    opens_everywhere(written.path)


@pytest.mark.parametrize("engine", ENGINES)
def test_root_is_a_cf_dataset_on_named_axes(trace: Trace, written: Written, engine: Any) -> None:
    with xarray.open_dataset(written.path, engine=engine) as root:
        assert root.bandwidth.dims == ("layer", "direction", "time")
        assert root.bandwidth.dtype == np.float64
        assert root.bandwidth.attrs["units"] == "byte s-1"
        assert root.bandwidth.attrs["cell_methods"] == "time: mean"
        assert list(root.layer.values) == list(trace.layers)
        assert list(root.direction.values) == ["read", "write"]
        assert root.time.dtype == np.float64
        assert root.time.attrs["units"] == "s"
        assert root.time.attrs["bounds"] == "time_bnds"
        assert root.attrs["Conventions"].startswith("CF-1.")
        assert root.attrs["trace_start_ticks"] == trace.definitions.clock.start
        assert root.attrs["ticks_per_second"] == trace.definitions.clock.ticks_per_second
        assert root.attrs["fs_hz"] == written.fs
        assert root.attrs["fs_automatic"] == 1
        assert (root.attrs["window_start_s"], root.attrs["window_end_s"]) == trace.window
        assert {"title", "history", "source", "schema_version", "traffic", "files", "method"} <= set(root.attrs)


def test_every_number_has_units_and_a_name_and_floats_a_fill_value(written: Written) -> None:
    seen = []

    def check(name: str, item: Any) -> None:
        if isinstance(item, h5py.Dataset) and not item.attrs.get("NAME", b"").startswith(b"This is a netCDF dim"):
            seen.append(name)
            assert item.attrs["long_name"], name
            if item.dtype.kind != "O":
                assert item.attrs.get("units") or item.attrs.get("flag_meanings"), name
            if item.dtype.kind == "f" and name not in ("time", "time_bnds"):
                assert np.isnan(item.attrs["_FillValue"]), name

    with h5py.File(written.path) as file:
        file.visititems(check)
    assert {"bandwidth", "handles/parent", "periods/period_s", "statistics/bytes", "damage/reason"} <= set(seen)


def test_bandwidth_is_compressed_in_chunks(written: Written) -> None:
    with h5py.File(written.path) as file:
        bandwidth = file["bandwidth"]
        assert bandwidth.chunks is not None
        assert bandwidth.compression == "gzip"
        assert bandwidth.shuffle
        assert written.bytes < bandwidth.size * 8 / 4


def test_report_of_what_was_written(trace: Trace, written: Written) -> None:
    assert written.bytes == written.path.stat().st_size
    assert written.layers == tuple(trace.layers)
    assert written.bins == math.ceil(trace.duration * written.fs - 1e-6)
    with h5py.File(written.path) as file:
        assert len(file["time"]) == written.bins


def test_automatic_frequency_is_the_largest_of_the_signals(trace: Trace, written: Written) -> None:
    from iostrata.signals.step import automatic_frequency

    asked = [automatic_frequency(layer.bandwidth(way)) for layer in trace.layers.values() for way in DIRECTIONS]
    assert written.fs == max(asked)
    assert written.bins <= 2**17


@given(fs=st.floats(0.01, 3000.0))
@settings(max_examples=10)
def test_volume_is_conserved_at_any_frequency(trace: Trace, tmp_path: Path, fs: float) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=fs, periods=False, comparison=False).path
    for (layer, direction), volume in volumes(path).items():
        moved = trace.layers[layer].statistics(direction).bytes
        assert volume == pytest.approx(moved, rel=1e-9)


@pytest.mark.parametrize("name", ["ncckpt4", "ior384", "nonblocking4", "mixed4"])
def test_volume_of_other_traces(tmp_path: Path, name: str) -> None:
    other = open_trace(FIXTURES / name)
    path = write_hdf5(other, tmp_path / "out.nc", periods=False).path
    found = volumes(path)
    assert found
    for (layer, direction), volume in found.items():
        assert volume == pytest.approx(other.layers[layer].statistics(direction).bytes, rel=1e-9)


def test_bins_start_at_the_window_and_the_last_may_reach_past_it(trace: Trace, tmp_path: Path) -> None:
    part = trace.select(window=(1.3, 4.9))
    result = write_hdf5(part, tmp_path / "out.nc", fs=3.0, periods=False)
    with xarray.open_dataset(result.path, engine="h5netcdf") as root:
        bounds = root.time_bnds.values
        assert bounds.shape == (11, 2)
        assert bounds[0, 0] == pytest.approx(1.3, abs=1e-9)
        np.testing.assert_array_equal(bounds[1:, 0], bounds[:-1, 1])
        np.testing.assert_allclose(np.diff(bounds, axis=1), 1 / 3)
        np.testing.assert_allclose(root.time.values, bounds.mean(axis=1))
        assert bounds[-1, 0] < 4.9 < bounds[-1, 1]
        assert (root.attrs["window_start_s"], root.attrs["window_end_s"]) == part.window
    for (layer, direction), volume in volumes(result.path).items():
        assert volume == pytest.approx(part.layers[layer].statistics(direction).bytes, rel=1e-9)


@pytest.mark.parametrize("traffic", ["all", "own", "inherited"])
def test_bandwidth_and_its_error_are_those_of_the_signals(trace: Trace, tmp_path: Path, traffic: str) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=700.0, traffic=traffic, periods=False).path
    with xarray.open_dataset(path, engine="h5netcdf") as root:
        assert root.attrs["traffic"] == traffic
        for layer in trace.layers:
            for way in DIRECTIONS:
                samples = trace.layers[layer].bandwidth(way, traffic).sample(700.0, abstraction_error=True)
                row = root.sel(layer=layer, direction=way)
                np.testing.assert_array_equal(row.bandwidth, samples.values)
                assert float(row.abstraction_error) == samples.abstraction_error


def test_chosen_layers_keep_their_order(trace: Trace, tmp_path: Path) -> None:
    result = write_hdf5(trace, tmp_path / "out.nc", fs=10.0, layers=["POSIX", "MPI-IO"])
    assert result.layers == ("MPI-IO", "POSIX")
    with xarray.open_dataset(result.path, engine="h5netcdf") as root:
        assert list(root.layer.values) == ["MPI-IO", "POSIX"]
        total = float(root.bandwidth.sel(layer="MPI-IO", direction="write").sum()) / 10.0
        assert total == pytest.approx(trace.layers["MPI-IO"].statistics("write").bytes)
    assert write_hdf5(trace, tmp_path / "out.nc", fs=10.0, layers="POSIX").layers == ("POSIX",)


def test_start_beyond_int64_is_kept(trace: Trace, tmp_path: Path) -> None:
    clock = replace(trace.definitions.clock, start=2**64 - 2)
    scope = replace(trace.scope, definitions=replace(trace.definitions, clock=clock))
    late = trace_of(replace(trace.stream, scope=scope), trace.tally)
    path = write_hdf5(late, tmp_path / "out.nc", fs=1.0, periods=False).path
    with xarray.open_dataset(path, engine="netcdf4") as root:
        assert int(root.attrs["trace_start_ticks"]) == 2**64 - 2


def test_two_runs_differ_in_their_history_only(trace: Trace, tmp_path: Path) -> None:
    contents = []
    for name in ("one.nc", "two.nc"):
        path = write_hdf5(trace, tmp_path / name, fs=50.0).path
        contents.append(re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"", path.read_bytes()))
    assert contents[0] == contents[1]


@pytest.mark.parametrize("fs", ["auto", 20.0])
def test_no_bandwidth_is_made_twice(trace: Trace, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fs: Any) -> None:
    made = []
    bandwidth = Layer.bandwidth

    def counted(layer: Layer, direction: str, traffic: str = "all", below: str | None = None) -> StepSignal:
        made.append((layer.name, direction))
        return bandwidth(layer, direction, traffic, below)

    monkeypatch.setattr(Layer, "bandwidth", counted)
    write_hdf5(trace, tmp_path / "out.nc", fs=fs, comparison=False)
    assert made == [(layer, way) for layer in trace.layers for way in DIRECTIONS]


def test_the_schema_is_that_of_the_documents(trace: Trace, written: Written) -> None:
    (document,) = {layers_document(trace, ())["schema_version"], handles_document(trace)["schema_version"]}
    with h5py.File(written.path) as file:
        assert file.attrs["schema_version"] == document
