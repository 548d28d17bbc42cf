"""The operations as a table, and the bandwidths as a data set, against the numbers of the layers."""

from pathlib import Path

import iostrata
import numpy as np
import pytest

pandas = pytest.importorskip("pandas")
xarray = pytest.importorskip("xarray")

FIXTURES = Path(__file__).parents[2] / "fixtures"


@pytest.fixture(scope="module", params=["ncckpt4", "nonblocking4"])
def trace(request):
    return iostrata.open_trace(FIXTURES / request.param)


def test_the_table_adds_up_to_the_layers(trace):
    table = trace.to_dataframe()
    assert table.index.name == "operation"
    assert len(table) == len(trace.operations)
    assert str(table.bytes_moved.dtype) == "UInt64"
    chosen = table[table.selected].groupby(["layer", "kind"], observed=True).bytes_moved.sum()
    for name, layer in trace.layers.items():
        for direction in layer.directions:
            assert chosen[name, direction] == layer.statistics(direction).bytes
    parents = table.loc[table.parent.dropna().astype(int)]
    inner = table[table.parent.notna()]
    assert (parents.layer.astype(str).to_numpy() == inner.parent_layer.astype(str).to_numpy()).all()
    assert (parents.begin_s.to_numpy() <= inner.begin_s.to_numpy()).all()


def test_the_table_is_that_of_the_parquet_file(trace, tmp_path):
    parquet = pytest.importorskip("pyarrow.parquet")
    iostrata.write_parquet(trace, tmp_path / "operations.parquet")
    written = parquet.read_table(tmp_path / "operations.parquet")
    # The file has a row for each open, close and call as well, which are no operations.
    written = written.filter(written["operation"].is_valid())
    written = written.drop_columns(["operation", "function", "caller", "callpath"])
    table = trace.to_dataframe(iostrata.find_loops(trace))
    assert written.column_names == list(table.columns)
    for name in table:
        given = [None if pandas.isna(value) else value for value in table[name].to_list()]
        assert given == written[name].to_pylist(), name


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "ior384", "mixed4", "nonblocking4", "threads2"])
def test_rows_of_iterations_add_up_to_them(archive):
    trace = iostrata.open_trace(FIXTURES / archive)
    found = iostrata.find_loops(trace)
    table = trace.to_dataframe(found)
    table = table[table.selected & table.direction.notna()].fillna({"loop": -1, "iteration": -1})
    by = ["loop", "iteration", "layer", "direction"]
    moved = table.groupby(by, observed=True).bytes_moved.agg(["sum", "size"])
    outside = {(-1, -1, layer): part for layer, part in found.outside.items()}
    told = outside | {
        (loop.id, number, layer): part
        for loop in found.outermost
        for number, one in enumerate(loop.iterations, 1)
        for layer, part in one.layers.items()
    }
    for (loop, number, layer), part in told.items():
        of = {way: moved["sum"].get((loop, number, layer, way), 0) for way in ("read", "write")}
        assert (of["read"], of["write"]) == (part.bytes_read, part.bytes_written)
        count = sum(moved["size"].get((loop, number, layer, way), 0) for way in ("read", "write"))
        assert count == part.operations
    assert set(told) >= {key[:3] for key in moved.index}
    for name, layer in trace.layers.items():
        for way in layer.directions:
            assert moved["sum"].xs((name, way), level=("layer", "direction")).sum() == layer.statistics(way).bytes


def test_iterations_too_many_to_be_told_have_numbers(make_trace):
    steps = [
        {"begin": 100 * number + place, "end": 100 * number + place + 1, "moved": size, "requested": size}
        for number in range(5000)
        for place, size in enumerate((3, 5, 7))
    ]
    trace = make_trace([("POSIX", "/data/out", -1)], steps, length=500_000)
    found = iostrata.find_loops(trace)
    table = trace.to_dataframe(found)
    (loop,) = found.outermost
    assert (loop.count, loop.iterations) == (5000, ())
    assert table.iteration.to_list() == [number for number in range(1, 5001) for _ in range(3)]


def test_the_window_cuts_the_table(trace):
    start, end = trace.window
    part = trace.select(window=(start, start + (end - start) / 2)).to_dataframe()
    assert 0 < len(part) < len(trace.operations)
    assert (part.begin_s < start + (end - start) / 2).all()


@pytest.mark.parametrize("memory", [None, 800_000_000])
def test_the_data_set_is_the_root_of_the_written_file(trace, tmp_path, memory):
    shown = trace if memory is None else iostrata.open_trace(trace.path, memory=memory)
    iostrata.write_hdf5(shown, tmp_path / "layers.h5", periods=False, comparison=False)
    with xarray.open_dataset(tmp_path / "layers.h5", engine="h5netcdf", decode_times=False) as written:
        made = shown.to_xarray()
        for name in ("history", "method", "filter"):
            written.attrs.pop(name)
            made.attrs.pop(name, None)
        xarray.testing.assert_identical(made, written.load())


def test_the_data_set_conserves_the_volume_at_any_frequency(trace):
    for fs in (3.0, 1000.0):
        data = trace.to_xarray(fs=fs, traffic="own")
        for name, layer in trace.layers.items():
            for direction in layer.directions:
                moved = float(data.bandwidth.sel(layer=name, direction=direction).sum()) / fs
                np.testing.assert_allclose(moved, layer.bandwidth(direction, "own").volume, rtol=1e-9, atol=1e-6)


def test_what_makes_no_sense_is_refused(trace):
    with pytest.raises(iostrata.SelectionError, match="traffic"):
        trace.to_xarray(traffic="theirs")
    with pytest.raises(iostrata.SelectionError, match="sampling frequency"):
        trace.to_xarray(fs=-1)
    bounded = iostrata.open_trace(trace.path, memory=800_000_000)
    with pytest.raises(iostrata.SelectionError, match="finer than"):
        bounded.to_xarray(fs=10 / bounded.resolution)
