"""The Parquet table of operations against the trace and what otf2-print prints."""

import re
import shutil
import subprocess
import sys
from collections import Counter, defaultdict

import numpy as np
import pytest
from iostrata import MissingLibraryError, SelectionError, open_trace, write_parquet

pyarrow = pytest.importorskip("pyarrow")
parquet = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def table(fixtures, tmp_path_factory):
    known = {}

    def write(name):
        if name not in known:
            path = tmp_path_factory.mktemp("parquet") / f"{name}.parquet"
            trace = open_trace(fixtures / name)
            written = write_parquet(trace, path)
            found = parquet.read_table(path)
            known[name] = trace, written, found.filter(found["operation"].is_valid()), found
        return known[name]

    return write


@pytest.fixture(scope="module")
def fixtures():
    from pathlib import Path

    return Path(__file__).parents[2] / "fixtures"


@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4"])
def test_rows_are_the_operations(table, fixtures, name):
    trace, written, found, every = table(name)
    assert found.num_rows == len(trace.operations)
    assert written.rows == every.num_rows
    assert written.bytes == written.path.stat().st_size
    rows = found.to_pylist()
    for layer in trace.layers.values():
        for direction in ("read", "write"):
            wanted = (layer.name, direction, True)
            some = [row for row in rows if (row["layer"], row["kind"], row["selected"]) == wanted]
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
    trace, _, found, _ = table("nonblocking4")
    assert found["end_s"].null_count == 12
    assert found["offset"].null_count == int((trace.operations.offset == 2**64 - 1).sum())
    assert found["bytes_moved"].null_count == int((trace.operations.moved == 2**64 - 1).sum())
    assert found["parent"].null_count == int((trace.stream.whole.attribution.parent < 0).sum())
    assert found.schema.metadata[b"ticks_per_second"] == b"1000000000"


def test_collective_calls_share_a_number(table):
    _, _, found, _ = table("ncckpt4")
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
    with pytest.raises(MissingLibraryError, match=r"iostrata\[parquet\]"):
        write_parquet(open_trace(fixtures / "ckpt4_linktime"), tmp_path / "x.parquet")
    assert not list(tmp_path.iterdir())


def test_calling_functions(table, tmp_path):
    trace, _, found, every = table("ncckpt4")
    rows = [row for row in found.to_pylist() if row["selected"]]
    assert {row["function"] for row in rows if row["layer"] == "netCDF" and row["kind"] == "write"} == {
        "nc_put_vara_double"
    }
    assert sum(row["function"] == "pwrite" for row in found.to_pylist()) == 122
    assert b"function" not in found.schema.metadata
    for number, options in enumerate(({"engine": "library"}, {"memory": 500 * 10**6})):
        write_parquet(open_trace(trace.path, **options), tmp_path / f"{number}.parquet")
        other = parquet.read_table(tmp_path / f"{number}.parquet")
        assert Counter(other["function"].to_pylist()) == Counter(every["function"].to_pylist())
        assert Counter(map(repr, without_numbers(other))) == Counter(map(repr, without_numbers(every)))


def without_numbers(found):
    """Return the rows without what counts blocks, and so depends on how a trace was read."""
    numbered = ("operation", "parent", "collective_call")
    return [{key: value for key, value in row.items() if key not in numbered} for row in found.to_pylist()]


RECORDS = {
    "open": "IO_CREATE_HANDLE",
    "close": "IO_DESTROY_HANDLE",
    "duplication": "IO_DUPLICATE_HANDLE",
    "seek": "IO_SEEK",
    "deletion": "IO_DELETE_FILE",
    "lock": "IO_ACQUIRE_LOCK",
    "unlock": "IO_RELEASE_LOCK",
    "attempt to lock": "IO_TRY_LOCK",
}


@pytest.mark.skipif(shutil.which("otf2-print") is None, reason="needs otf2-print of the OTF2 library")
@pytest.mark.parametrize("name", ["ncckpt4", "nonblocking4"])
def test_rows_of_metadata_events_are_those_printed(table, fixtures, name):
    _, _, _, every = table(name)
    text = subprocess.run(
        ["otf2-print", fixtures / name / "traces.otf2"], capture_output=True, text=True, check=True
    ).stdout
    printed = Counter()
    for line in text.splitlines():
        if found := re.match(r"(IO_\w+) +(\d+) +(\d+)  ", line):
            printed[found[1], int(found[2]), int(found[3])] += 1
    first = int(every.schema.metadata[b"trace_start_ticks"])
    told = Counter(
        (RECORDS[row["kind"]], row["location"], first + row["event_ticks"])
        for row in every.to_pylist()
        if row["kind"] in RECORDS
    )
    assert told == Counter({key: count for key, count in printed.items() if key[0] in RECORDS.values()})


@pytest.mark.parametrize(
    ("name", "kinds"),
    [("ncckpt4", {"opens": "open", "closes": "close", "seeks": "seek"}), ("nonblocking4", {"opens": "open"})],
)
def test_metadata_lasts_as_long_as_its_calls(table, name, kinds):
    trace, _, _, every = table(name)
    took, calls = defaultdict(float), Counter()
    for row in every.to_pylist():
        if row["operation"] is None and row["function"] and (row["selected"] or row["kind"] == "other call"):
            # Opens that fail leave no event, so they are calls of a function and not of a kind.
            key = row["layer"], row["kind"], row["function"] if row["kind"] == "other call" else None
            took[key] += row["end_s"] - row["begin_s"]
            calls[key] += 1
    # A stream that is opened anew (freopen) is closed by the same call, which is told once there.
    times = [
        one
        for one in trace.calls.totals.call_times
        if one.kind in kinds and (name, one.layer) != ("nonblocking4", "ISOC")
    ]
    assert len(times) >= 2
    for one in times:
        assert took[one.layer, kinds[one.kind], None] == pytest.approx(one.summed_s, rel=1e-6)
    functions = [of for one in trace.calls.totals.call_times for of in one.functions]
    wanted = {"nc_enddef": "netCDF", "MPI_File_sync": "MPI-IO", "MPI_File_preallocate": "MPI-IO"}
    some = [of for of in functions if of.function in wanted]
    assert some
    for of in some:
        assert calls[wanted[of.function], "other call", of.function] == of.calls
        assert took[wanted[of.function], "other call", of.function] == pytest.approx(of.summed_s, rel=1e-6)


@pytest.mark.parametrize("memory", [None, 5 * 10**8])
def test_metadata_is_read_back(fixtures, tmp_path, memory):
    trace = open_trace(fixtures / "nonblocking4")
    write_parquet(open_trace(fixtures / "nonblocking4", memory=memory), tmp_path / "x.parquet")
    again = open_trace(tmp_path / "x.parquet")
    assert not again.damage.damaged
    assert again.definitions.recording.metadata
    columns = ("location", "kind", "time", "handle", "mode", "flags", "value", "offset")
    events = [
        list(zip(*(getattr(one.stream.kept.other_events, name).tolist() for name in columns), strict=True))
        for one in (trace, again)
    ]
    assert sorted(events[0]) == sorted(events[1])


def test_metadata_rows_without_their_numbers_are_damage(fixtures, tmp_path):
    write_parquet(open_trace(fixtures / "ckpt4_linktime"), tmp_path / "x.parquet")
    found = parquet.read_table(tmp_path / "x.parquet")
    events = found["event_ticks"].is_valid().to_pylist()
    place = events.index(True)
    for name, value in (("event_ticks", 2**62), ("event_mode", None), ("location", 10**6)):
        column = found[name].to_pylist()
        column[place] = value
        broken = found.set_column(
            found.schema.get_field_index(name),
            found.schema.field(name),
            [pyarrow.array(column, found.schema.field(name).type)],
        )
        parquet.write_table(broken, tmp_path / "y.parquet")
        again = open_trace(tmp_path / "y.parquet")
        assert len(again.stream.kept.other_events) == sum(events) - 1
        assert again.damage.damaged
        assert "1 metadata event" in again.damage.locations[0].reason


def test_pandas_is_not_imported_to_write(fixtures, tmp_path):
    """It takes 50 MB of what ``--memory`` allows."""
    program = "import sys; from iostrata.cli import main; sys.exit(main(sys.argv[1:]) or 9 * ('pandas' in sys.modules))"
    words = [sys.executable, "-c", program, "convert", str(fixtures / "ckpt4"), str(tmp_path / "a.parquet")]
    assert subprocess.run([*words, "--memory", "300M"], check=False, capture_output=True).returncode == 0


@pytest.mark.parametrize(("name", "memory"), [("small_files2", None), ("ncckpt4", None), ("ncckpt4", 2**29)])
def test_access_of_each_operation_adds_up_to_that_of_files(fixtures, tmp_path, name, memory):
    trace = open_trace(fixtures / name, memory=memory)
    write_parquet(trace, tmp_path / "all.parquet")
    rows = [one for one in parquet.read_table(tmp_path / "all.parquet").to_pylist() if one["access"]]
    keys = ("layer", "file", "access", "direction")
    counted = Counter(tuple(row[key] for key in keys) for row in rows if row["selected"])
    assert counted
    found = Counter()
    for one in trace.breakdown("file").to_dict():
        for how in ("consecutive", "strided", "random"):
            for way in ("read", "write"):
                found[one["layer"], one["file"], how, way] = one[f"{how}_{way}s"] or 0
    assert +found == counted
    assert {row["kind"] for row in rows} <= {"read", "write"}
