"""The HDF5 export as its readers see it: h5py, xarray with either engine, netCDF4, ncdump."""

import json
import math
import re
import shutil
import subprocess
import sys
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import h5py
import iostrata
import numpy as np
import pytest
import xarray
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from iostrata.export.hdf5 import WrittenFile, write_hdf5
from iostrata.export.hdf5_variables import storable
from iostrata.layers.trace import Trace, open_trace
from iostrata.otf2io.errors import OutputError, SelectionError

FIXTURES = Path(__file__).parents[2] / "fixtures"
ENGINES = ("h5netcdf", "netcdf4")
DIRECTIONS = ("read", "write")
NASTY = (
    "nul\0inside",
    "half \udcff pair",
    "two\nlines\r\n",
    "x" * 10_000,
    "\u202eright to left",
    "\x1b[31mred",
    'quote" and \\ backslash',
    "",
    "💾" * 50,
    "ends with nul\0",
)


@pytest.fixture(scope="module")
def trace() -> Trace:
    return open_trace(FIXTURES / "ckpt4")


@pytest.fixture(scope="module")
def written(trace: Trace, tmp_path_factory: pytest.TempPathFactory) -> WrittenFile:
    return write_hdf5(trace, tmp_path_factory.mktemp("hdf5") / "ckpt4.h5")


def ncdump(path: Path, *options: str) -> str:
    if shutil.which("ncdump") is None:
        pytest.skip("needs ncdump")
    done = subprocess.run(["ncdump", *options, str(path)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout


def texts(dataset: h5py.Dataset) -> list[str]:
    return [text.decode() for text in dataset[()].ravel()]


def assert_opens_everywhere(path: Path) -> None:
    header = ncdump(path, "-h")
    for name in ("layer", "direction", "bandwidth", "group: handles", "group: statistics", "group: damage"):
        assert name in header
    ncdump(path)
    for engine in ENGINES:
        with xarray.open_dataset(path, engine=engine) as root:
            root.load()
        for group in xarray.open_groups(path, engine=engine).values():
            group.load()
            group.close()
        with xarray.open_datatree(path, engine=engine) as tree:
            tree.load()


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


def test_opens_in_every_reader(written: WrittenFile) -> None:
    assert_opens_everywhere(written.path)


@pytest.mark.parametrize("engine", ENGINES)
def test_root_is_a_cf_dataset_on_named_axes(trace: Trace, written: WrittenFile, engine: Any) -> None:
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


def test_every_number_has_units_and_a_name_and_floats_a_fill_value(written: WrittenFile) -> None:
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


def test_bandwidth_is_compressed_in_chunks(written: WrittenFile) -> None:
    with h5py.File(written.path) as file:
        bandwidth = file["bandwidth"]
        assert bandwidth.chunks is not None
        assert bandwidth.compression == "gzip"
        assert bandwidth.shuffle
        assert written.bytes < bandwidth.size * 8 / 4


def test_report_of_what_was_written(trace: Trace, written: WrittenFile) -> None:
    assert written.bytes == written.path.stat().st_size
    assert written.layers == tuple(trace.layers)
    assert written.bins == math.ceil(trace.duration * written.fs - 1e-6)
    with h5py.File(written.path) as file:
        assert len(file["time"]) == written.bins


def test_automatic_frequency_is_the_largest_of_the_signals(trace: Trace, written: WrittenFile) -> None:
    from iostrata.layers.sampling import automatic_frequency

    asked = [automatic_frequency(layer.bandwidth(way)) for layer in trace.layers.values() for way in DIRECTIONS]
    assert written.fs == max(asked)
    assert written.bins <= 2**17


@given(fs=st.floats(0.01, 3000.0))
@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_volume_is_conserved_at_any_frequency(trace: Trace, tmp_path: Path, fs: float) -> None:
    path = write_hdf5(trace, tmp_path / "out.nc", fs=fs, periods=False).path
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


def test_handles_are_the_forest(trace: Trace, written: WrittenFile) -> None:
    forest = trace.handles
    with h5py.File(written.path) as file:
        group = file["handles"]
        assert group["parent"].dtype == np.int32
        for name in ("parent", "id", "depth", "operations", "bytes_read", "bytes_written", "metadata_events", "ranks"):
            np.testing.assert_array_equal(group[name], getattr(forest, name), err_msg=name)
        for name in ("subtree_operations", "subtree_bytes_read", "subtree_bytes_written"):
            np.testing.assert_array_equal(group[name], getattr(forest, name), err_msg=name)
        entries = forest.to_dict()
        assert texts(group["name"]) == [entry["name"] for entry in entries]
        assert texts(group["layer"]) == [entry["layer"] or "" for entry in entries]
        assert texts(group["file"]) == [entry["file"] or "" for entry in entries]
        assert texts(group["set_aside_reason"]) == [entry["set_aside"] or "" for entry in entries]
        assert group["set_aside"][()].tolist() == [int(entry["set_aside"] is not None) for entry in entries]
        ids, parents = group["id"][()], group["parent"][()]
        assert [int(ids[row]) if row >= 0 else None for row in parents] == [entry["parent"] for entry in entries]


def test_statistics_are_those_of_the_layers(trace: Trace, written: WrittenFile) -> None:
    with xarray.open_dataset(written.path, engine="netcdf4", group="statistics") as group:
        for row, layer in enumerate(trace.layers):
            for column, way in enumerate(DIRECTIONS):
                expected = trace.layers[layer].statistics(way).to_dict()
                requests = expected.pop("request_bytes")
                for name, value in expected.items():
                    if name not in ("layer", "direction"):
                        assert group[name].values[row, column] == value, name
                for name, value in requests.items():
                    found = group[f"request_bytes_{name}"].values[row, column]
                    assert np.isnan(found) if value is None else found == value
        assert group.attrs["set_aside_bytes"] == trace.set_aside.bytes


@pytest.mark.parametrize("fs", ["auto", 50.0])
def test_periods_are_those_of_detect_period(trace: Trace, tmp_path: Path, fs: Any) -> None:
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
            expected = iostrata.detect_period(signal, fs=fs).to_dict()
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
                "component": ("periods", ("period_s", "confidence", "bytes")),
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


def test_damage_is_written(tmp_path: Path) -> None:
    broken = open_trace(FIXTURES / "broken_race_corruption")
    assert broken.damage.damaged
    path = write_hdf5(broken, tmp_path / "out.nc", fs=20.0, periods=False).path
    with h5py.File(path) as file:
        group = file["damage"]
        assert group.attrs["damaged"] == 1
        assert group.attrs["events_read"] == broken.damage.events_read
        lost = broken.damage.locations
        assert group["location"][()].tolist() == [one.location for one in lost]
        assert group["events_expected"][()].tolist() == [one.events_expected for one in lost]
        assert group["events_read"][()].tolist() == [one.events_read for one in lost]
        assert texts(group["reason"]) == [one.reason for one in lost]
    assert_opens_everywhere(path)


def test_window_without_operations(trace: Trace, tmp_path: Path) -> None:
    begin = trace.layers["MPI-IO"].operations.begin.min() / trace.definitions.clock.ticks_per_second
    idle = trace.select(window=(begin - 2e-6, begin - 1e-6))
    assert not any(layer.directions for layer in idle.layers.values())
    result = write_hdf5(idle, tmp_path / "out.nc")
    assert result.layers == ()
    assert_opens_everywhere(result.path)
    with xarray.open_dataset(result.path, engine="netcdf4") as root:
        assert dict(root.sizes) == {"layer": 0, "direction": 2, "time": 64, "bnds": 2}


def test_trace_without_handles(trace: Trace, tmp_path: Path) -> None:
    definitions = trace.definitions
    handles = type(definitions.handles)(
        **{f.name: getattr(definitions.handles, f.name)[:0] for f in fields(definitions.handles)}
    )
    bare = Trace(
        path=trace.path,
        definitions=replace(definitions, handles=handles),
        events=trace.events.take(np.zeros(0, np.intp)),
        operations=trace.operations.take(np.zeros(0, np.intp)),
        damage=trace.damage,
        engine=trace.engine,
        events_total=0,
        tick_window=trace.tick_window,
        rules=trace.rules,
        selection=replace(trace.selection, handle_reason=trace.selection.handle_reason[:0]),
    )
    result = write_hdf5(bare, tmp_path / "out.nc")
    assert result.layers == ()
    assert_opens_everywhere(result.path)
    with h5py.File(result.path) as file:
        assert file["handles/parent"].shape == (0,)


def test_names_of_any_kind(trace: Trace, tmp_path: Path) -> None:
    handles = trace.definitions.handles
    names = tuple(NASTY[row % len(NASTY)] for row in range(len(handles.name)))
    files = replace(
        trace.definitions.files,
        name=tuple(f"/{NASTY[row % len(NASTY)]}" for row in range(len(trace.definitions.files.name))),
    )
    renamed = replace(
        trace,
        path=Path("traces\n\udcff.otf2"),
        definitions=replace(trace.definitions, handles=replace(handles, name=names), files=files),
    )
    path = write_hdf5(renamed, tmp_path / "out.nc", fs=5.0, periods=False).path
    assert_opens_everywhere(path)
    with h5py.File(path) as file:
        assert texts(file["handles/name"]) == [storable(name) for name in names]
        assert "traces\n\\udcff.otf2" in file.attrs["source"]


@given(st.text(alphabet=st.characters(), max_size=30))
def test_storable_text_changes_only_what_cannot_be_stored(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert "\0" not in stored
    if "\0" not in text and not re.search("[\ud800-\udfff]", text):
        assert stored == text
    kept = re.sub("[\0\ud800-\udfff]", "", text)
    assert re.sub(r"\\x00|\\ud[89a-f][0-9a-f]{2}", "", stored) == re.sub(r"\\x00|\\ud[89a-f][0-9a-f]{2}", "", kept)


def test_start_beyond_int64_is_kept(trace: Trace, tmp_path: Path) -> None:
    clock = replace(trace.definitions.clock, start=2**64 - 2)
    late = replace(trace, definitions=replace(trace.definitions, clock=clock))
    path = write_hdf5(late, tmp_path / "out.nc", fs=1.0, periods=False).path
    with xarray.open_dataset(path, engine="netcdf4") as root:
        assert int(root.attrs["trace_start_ticks"]) == 2**64 - 2


def test_two_runs_differ_in_their_history_only(trace: Trace, tmp_path: Path) -> None:
    contents = []
    for name in ("one.nc", "two.nc"):
        path = write_hdf5(trace, tmp_path / name, fs=50.0).path
        contents.append(re.sub(rb"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", b"", path.read_bytes()))
    assert contents[0] == contents[1]


@pytest.mark.parametrize(
    "options",
    [
        {"layers": ["MPI-IO", "netCDF"]},
        {"traffic": "some"},
        {"method": "no such method"},
        {"fs": 0.0},
        {"fs": math.inf},
        {"fs": 1e12},
        {"fs": "fast"},
    ],
)
def test_impossible_selection_writes_nothing(trace: Trace, tmp_path: Path, options: dict[str, Any]) -> None:
    with pytest.raises(SelectionError) as caught:
        write_hdf5(trace, tmp_path / "out.nc", **options)
    assert "\n" not in str(caught.value)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("target", ["missing/out.nc", "file/out.nc", "folder"])
def test_impossible_target_leaves_nothing(trace: Trace, tmp_path: Path, target: str) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "folder").mkdir()
    with pytest.raises(OutputError, match="cannot write"):
        write_hdf5(trace, tmp_path / target, fs=1.0, periods=False)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["file", "folder"]
    assert list((tmp_path / "folder").iterdir()) == []


FILL_UP = """
import json, resource, sys
from pathlib import Path
import iostrata

archive, folder = sys.argv[1], Path(sys.argv[2])
trace = iostrata.open_trace(archive)
target = folder / "out.nc"
size = iostrata.write_hdf5(trace, target, fs=2000.0, periods=False).bytes
target.write_text("old")
messages = []
for limit in [0, 100, 2048, 5000, *range(20000, size, 20000), size - 1]:
    resource.setrlimit(resource.RLIMIT_FSIZE, (limit, resource.RLIM_INFINITY))
    try:
        iostrata.write_hdf5(trace, target, fs=2000.0, periods=False)
        messages.append("written")
    except iostrata.OutputError as error:
        messages.append(str(error))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    assert [entry.name for entry in folder.iterdir()] == ["out.nc"], limit
    assert target.read_text() == "old", limit
iostrata.write_hdf5(trace, target, fs=2000.0, periods=False)
print(json.dumps([messages, size, target.stat().st_size]))
"""


def test_full_disk_at_any_point_is_one_line_and_the_process_lives(tmp_path: Path) -> None:
    """The HDF5 library crashes at the end of a process in which it could not close a file."""
    command = [sys.executable, "-c", FILL_UP, str(FIXTURES / "ckpt4"), str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    messages, size, again = json.loads(done.stdout)
    assert len(messages) > 5
    assert all(re.fullmatch(r"cannot write '.*out\.nc': file too large; raise the limit .*", line) for line in messages)
    assert again == size
