"""The Parquet table of operations against the trace and what otf2-print prints."""

import shutil
import subprocess
import sys
from collections import Counter

import numpy as np
import pytest
from iostrata import OutputError, SelectionError, open_trace, write_parquet

parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def table(fixtures, tmp_path_factory):
    known = {}

    def write(name):
        if name not in known:
            path = tmp_path_factory.mktemp("parquet") / f"{name}.parquet"
            trace = open_trace(fixtures / name)
            written = write_parquet(trace, path)
            known[name] = trace, written, parquet.read_table(path)
        return known[name]

    return write


@pytest.fixture(scope="module")
def fixtures():
    from pathlib import Path

    return Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4"])
def test_rows_are_the_operations(table, fixtures, name):
    trace, written, found = table(name)
    assert written.rows == found.num_rows == len(trace.operations)
    assert written.bytes == written.path.stat().st_size
    rows = found.to_pylist()
    for layer in trace.layers.values():
        for direction in ("read", "write"):
            wanted = (layer.name, direction, True)
            some = [row for row in rows if (row["layer"], row["mode"], row["selected"]) == wanted]
            assert sum(row["bytes_moved"] or 0 for row in some) == layer.statistics(direction).bytes
            own = sum(row["bytes_moved"] or 0 for row in some if row["own"])
            assert own == layer.statistics(direction).own_bytes
    by_number = {row["operation"]: row for row in rows}
    for row in rows:
        if row["parent"] is not None:
            assert by_number[row["parent"]]["layer"] == row["parent_layer"]
            assert by_number[row["parent"]]["begin_s"] <= row["begin_s"]
    if shutil.which("otf2-print"):
        text = subprocess.run(
            ["otf2-print", fixtures / name / "traces.otf2"], capture_output=True, text=True, check=True
        ).stdout
        begins = [line for line in text.splitlines() if line.startswith("IO_OPERATION_BEGIN")]
        assert len(begins) == len(rows)
        assert sum("COLLECTIVE" in line for line in begins) == sum(row["collective"] for row in rows)
        assert sum("NON_BLOCKING" in line for line in begins) == sum(row["non_blocking"] for row in rows)
        assert sum(row["status"] == "complete" for row in rows) == text.count("IO_OPERATION_COMPLETE")


def test_what_is_unknown_is_null(table):
    trace, _, found = table("nonblocking4")
    assert found["end_s"].null_count == 12
    assert found["offset"].null_count == int((trace.operations.offset == 2**64 - 1).sum())
    assert found["bytes_moved"].null_count == int((trace.operations.moved == 2**64 - 1).sum())
    assert found["parent"].null_count == int((trace.attribution.parent < 0).sum())
    assert found.schema.metadata[b"ticks_per_second"] == b"1000000000"


def test_collective_calls_share_a_number(table):
    _, _, found = table("ncckpt4")
    calls = [row["collective_call"] for row in found.to_pylist() if row["layer"] == "netCDF"]
    assert None not in calls
    assert np.unique(calls, return_counts=True)[1].tolist() == [4] * 61


def test_window_and_layers(fixtures, tmp_path):
    trace = open_trace(fixtures / "ncckpt4", window=(1.0, 2.0))
    written = write_parquet(trace, tmp_path / "x.parquet", layers=("POSIX",))
    found = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert written.rows == len(found) > 0
    assert {row["layer"] for row in found} == {"POSIX"}
    assert all(row["begin_s"] < 2.0 and row["end_s"] > 1.0 for row in found)
    with pytest.raises(SelectionError, match="no layer"):
        write_parquet(trace, tmp_path / "y.parquet", layers=("none",))
    assert not (tmp_path / "y.parquet").exists()


def test_a_trace_without_operations(fixtures, tmp_path):
    trace = open_trace(fixtures / "ckpt4", window=(0.0, 1e-9))
    assert write_parquet(trace, tmp_path / "x.parquet").rows == 0
    assert parquet.read_table(tmp_path / "x.parquet").num_rows == 0


def test_without_pyarrow_the_error_says_what_to_install(fixtures, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(OutputError, match=r"iostrata\[parquet\]"):
        write_parquet(open_trace(fixtures / "ckpt4_linktime"), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_calling_functions(table, tmp_path):
    trace, _, found = table("ncckpt4")
    rows = [row for row in found.to_pylist() if row["selected"]]
    assert {row["function"] for row in rows if row["layer"] == "netCDF" and row["mode"] == "write"} == {
        "nc_put_vara_double"
    }
    assert sum(row["function"] == "pwrite" for row in found.to_pylist()) == 122
    assert b"function" not in found.schema.metadata
    for number, options in enumerate(({"engine": "library"}, {"memory": 500 * 10**6})):
        write_parquet(open_trace(trace.path, **options), tmp_path / f"{number}.parquet")
        other = parquet.read_table(tmp_path / f"{number}.parquet")
        assert Counter(other["function"].to_pylist()) == Counter(found["function"].to_pylist())
