"""The groups ``handles``, ``statistics`` and ``damage`` of the HDF5 export, and what names may be in them."""

from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest
import xarray
from iostrata import Trace, find_loops, open_trace, write_hdf5
from iostrata.analysis.loops.loops import LayerPart
from iostrata.export.hdf5.variables import storable
from iostrata.export.written import Written
from iostrata.layers.attribution.stream import KeptEvents, Stream
from iostrata.layers.trace import trace_of
from iostrata.model.metrics import metrics_of
from iostrata.model.stream.source import Tally

Check = Callable[[Path], None]
Texts = Callable[[h5py.Dataset], list[str]]
FIXTURES = Path(__file__).parents[3] / "fixtures"
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


def test_handles_are_the_forest(trace: Trace, written: Written, texts: Texts) -> None:
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


def test_times_of_calls_are_those_of_the_trace(trace: Trace, written: Written) -> None:
    calls = trace.calls.totals
    assert calls is not None
    with xarray.open_dataset(written.path, engine="netcdf4", group="statistics") as group:
        kinds = group["call_kind"].values.tolist()
        expected = {(one.layer, one.kind): one for one in calls.call_times}
        assert group["metadata_calls"].sum() == sum(one.calls for one in expected.values()) > 0
        for row, layer in enumerate(trace.layers):
            for column, kind in enumerate(kinds):
                one = expected.get((layer, kind))
                for name in ("summed_s", "busy_s"):
                    assert group[f"metadata_{name}"].values[row, column] == (0 if one is None else getattr(one, name))
    with h5py.File(written.path) as file:
        np.testing.assert_array_equal(file["handles"]["metadata_s"], calls.handle_seconds(len(trace.handles)))


def test_loops_and_what_is_outside_are_all_that_layers_do(trace: Trace, written: Written, texts: Texts) -> None:
    with h5py.File(written.path) as file:
        loops, names = file["loops"], texts(file["layer"])
        outermost = [one.count for one in find_loops(trace).outermost]
        assert loops["count"][()][loops["parent"][()] < 0].tolist() == outermost
        iterations = loops["iterations"]
        assert len(iterations["number"]) == sum(outermost)
        for name, way in (("bytes_read", "read"), ("bytes_written", "write")):
            inside = loops[name][()].sum(axis=0)
            np.testing.assert_array_equal(iterations[name][()].sum(axis=0), inside)
            moved = [trace.layers[layer].statistics(way).bytes for layer in names]
            assert (inside + loops[f"outside_{name}"][()]).tolist() == moved


def test_all_that_is_known_of_an_iteration_is_there(trace: Trace, written: Written) -> None:
    names = list(trace.layers)
    told = [one.layers.get(name) for loop in find_loops(trace).outermost for one in loop.iterations for name in names]
    with h5py.File(written.path) as file:
        iterations = file["loops"]["iterations"]
        for one in metrics_of(LayerPart):
            values = [None if part is None else one.value(part) for part in told]
            found = iterations[one.key][()].ravel()
            for value, there in zip(values, found, strict=True):
                nothing = there == -1 if one.name.endswith("_rank") else np.isnan(there) or there == 0
                assert nothing if value is None else there == value, one.key
        assert iterations["metadata_operations"][()].any()
        assert "outside_metadata_operations" in file["loops"]


def test_statistics_are_those_of_the_layers(trace: Trace, written: Written) -> None:
    with xarray.open_dataset(written.path, engine="netcdf4", group="statistics") as group:
        for row, layer in enumerate(trace.layers):
            for column, way in enumerate(DIRECTIONS):
                expected = trace.layers[layer].statistics(way).to_dict()
                requests = expected.pop("request_bytes")
                for name, value in expected.items():
                    if name not in ("layer", "direction"):
                        found = group[name].values[row, column]
                        assert np.isnan(found) if value is None else found == value, name
                for name, value in requests.items():
                    found = group[f"request_bytes_{name}"].values[row, column]
                    assert np.isnan(found) if value is None else found == value
        assert group.attrs["set_aside_bytes"] == trace.set_aside.bytes


def test_damage_is_written(tmp_path: Path, opens_everywhere: Check, texts: Texts) -> None:
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
    opens_everywhere(path)


def test_window_without_operations(trace: Trace, tmp_path: Path, opens_everywhere: Check) -> None:
    begin = trace.layers["MPI-IO"].operations.begin.min() / trace.definitions.clock.ticks_per_second
    idle = trace.select(window=(begin - 2e-6, begin - 1e-6))
    assert not any(layer.directions for layer in idle.layers.values())
    result = write_hdf5(idle, tmp_path / "out.nc")
    assert result.layers == ()
    opens_everywhere(result.path, h5netcdf=False)
    with xarray.open_dataset(result.path, engine="netcdf4") as root:
        assert dict(root.sizes) == {"layer": 0, "direction": 2, "time": 64, "bnds": 2}


def test_trace_without_handles(trace: Trace, tmp_path: Path, opens_everywhere: Check) -> None:
    definitions = trace.definitions
    handles = type(definitions.handles)(
        **{f.name: getattr(definitions.handles, f.name)[:0] for f in fields(definitions.handles)}
    )
    nothing = np.zeros(0, np.intp)
    selection = replace(trace.scope.selection, handle_reason=trace.scope.selection.handle_reason[:0])
    scope = replace(trace.scope, definitions=replace(definitions, handles=handles), selection=selection)
    kept = KeptEvents(trace.operations.take(nothing), trace.stream.kept.other_events.take(nothing))
    bare = trace_of(Stream(trace.path, trace.stream.engine, scope, None, kept), Tally())
    result = write_hdf5(bare, tmp_path / "out.nc")
    assert result.layers == ()
    opens_everywhere(result.path, h5netcdf=False)
    with h5py.File(result.path) as file:
        assert file["handles/parent"].shape == (0,)


def test_names_of_any_kind(trace: Trace, tmp_path: Path, opens_everywhere: Check, texts: Texts) -> None:
    handles = trace.definitions.handles
    names = tuple(NASTY[row % len(NASTY)] for row in range(len(handles.name)))
    files = replace(
        trace.definitions.files,
        name=tuple(f"/{NASTY[row % len(NASTY)]}" for row in range(len(trace.definitions.files.name))),
    )
    definitions = replace(trace.definitions, handles=replace(handles, name=names), files=files)
    scope = replace(trace.scope, definitions=definitions)
    renamed = trace_of(replace(trace.stream, path=Path("traces\n\udcff.otf2"), scope=scope), trace.tally)
    path = write_hdf5(renamed, tmp_path / "out.nc", fs=5.0, periods=False).path
    opens_everywhere(path)
    with h5py.File(path) as file:
        assert texts(file["handles/name"]) == [storable(name) for name in names]
        assert "traces\n\\udcff.otf2" in file.attrs["source"]


@pytest.mark.parametrize("chosen", [None, ["POSIX", "MPI-IO"]], ids=["all", "some"])
@pytest.mark.parametrize("engine", ["h5netcdf", "netcdf4"])
def test_a_tree_of_xarray_still_tells_the_layer_of_a_handle(
    trace: Trace, tmp_path: Path, engine: Any, chosen: list[str] | None
) -> None:
    """It shows the root's coordinate ``layer`` in place of the variable of that name."""
    path = write_hdf5(trace, tmp_path / "out.nc", fs=1.0, layers=chosen, periods=False).path
    with xarray.open_datatree(path, engine=engine) as tree:
        rows = tree["handles/layer_row"]
        assert rows.dtype == np.int32
        assert rows.dims == ("handle",)
        assert "row of the handle's layer" in rows.attrs["long_name"]
        layers = [str(name) for name in tree["layer"].values]
        found = [layers[row] if row >= 0 else None for row in rows.values.tolist()]
    assert found == [name if name in layers else None for name in trace.handles.layer]
    assert set(found) - {None} == set(chosen or trace.layers)
    assert (None in found) == (chosen is not None)


def test_a_handle_of_no_known_layer_has_no_row(trace: Trace, tmp_path: Path) -> None:
    handles = trace.definitions.handles
    paradigm = handles.paradigm.copy()
    paradigm[3] = -1
    definitions = replace(trace.definitions, handles=replace(handles, paradigm=paradigm))
    odd = trace_of(replace(trace.stream, scope=replace(trace.scope, definitions=definitions)), trace.tally)
    assert odd.handles.layer[3] is None
    path = write_hdf5(odd, tmp_path / "out.nc", fs=1.0, periods=False).path
    with h5py.File(path) as file:
        assert file["handles/layer_row"][3] == -1
        assert file["handles/layer"][3] == b""
        assert (file["handles/layer_row"][()] == -1).sum() == 1
