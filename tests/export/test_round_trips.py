"""What goes from one recorder's files through Parquet and OTF2 comes back as it was, operation by operation."""

import csv
import importlib.util
import subprocess
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import iostrata
import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from iostrata.cli import main
from iostrata.export.json.documents import handles_document, info_document, layers_document
from iostrata.layers.selection.source import open_source
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT64
from iostrata.model.stream.summary import summarise

pyarrow = pytest.importorskip("pyarrow")
pytest.importorskip("pyarrow.parquet")

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[1] / "archives" / "recorders.py"
)
recorders = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(recorders)

FIXTURES = Path(__file__).parents[2] / "fixtures"
ARCHIVES = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
FEW = 50_000
"""Operations of a real log that are soon compared."""
MEMORY = ((), ("--memory", "400M"))
IDS = ("full", "memory")


def lineage(definitions):
    """Return, of each handle and for none, the layers and files of it and of all handles above it."""
    handles, files = definitions.handles, definitions.files.name
    found = []
    for row in range(len(handles.id)):
        chain = []
        while row >= 0:
            file, paradigm = int(handles.file[row]), int(handles.paradigm[row])
            chain.append((definitions.paradigms[paradigm].identification, files[file] if file >= 0 else None))
            row = int(handles.parent[row])
        found.append(tuple(chain))
    return [*found, ()]


def operations_of(path):
    """Return how often there is each operation, by all of it that is no number of a row."""
    trace = iostrata.open_trace(path, files="all")
    assert not trace.damage.damaged
    return rows_of(trace)


def rows_of(trace):
    """Return them of a trace, which may be damaged."""
    definitions, operations = trace.definitions, trace.operations
    chains, groups, locations = lineage(definitions), definitions.groups, definitions.locations
    tree = definitions.system_tree.name
    columns = (
        [chains[row] for row in operations.handle.tolist()],
        [int(groups.rank[row]) for row in operations.process.tolist()],
        [tree[groups.node[row]] for row in operations.process.tolist()],
        [locations.name[row] for row in operations.location.tolist()],
        operations.begin.tolist(),
        np.where(operations.end == UNDEFINED_TIME, -1, operations.end).tolist(),
        *(getattr(operations, name).tolist() for name in ("mode", "flags", "requested", "moved", "offset", "status")),
    )
    return Counter(zip(*columns, strict=True))


WITHOUT = {"path", "events", "io_events", "engine", "kept_in", "format", "otf2_version", "trace_format"}
"""Keys of documents that are of the file or of its records, not of the run."""


def answers(path, calls=True):
    """Return what commands say of a run, whatever file it is in; without `calls` what does not follow from these."""
    trace = iostrata.open_trace(path, files="all")
    found = {
        "info": info_document(summarise(open_source(path))),
        "layers": layers_document(trace, trace.layers.values()),
    }
    # Without its events an archive does not know what is lost; a log is read as a whole.
    found["info"].pop("damage", None)
    if trace.definitions.recording.rows == "operations":
        found["compare"] = iostrata.compare_layers(trace, periods=False).to_dict()
        if trace.definitions.recording.handles != "absent":
            handles = [one | {"metadata_s": None} for one in handles_document(trace)["handles"]]
            names = {one["id"]: (one["layer"], one["file"]) for one in handles}
            found["handles"] = sorted(
                [repr({**one, "id": names[one["id"]], "parent": names.get(one["parent"])}) for one in handles]
            )
    if not calls:
        found.pop("compare", None)
        for name in ("metadata_calls", "cost", "exclusive_s", "overlap", "chain"):
            found["layers"].pop(name, None)
    for document in (found[name] for name in ("layers", "compare") if name in found):
        # Of a file with two records for a row the totals differ; what is lost does not.
        if damage := document.get("damage"):
            damage["events_expected"] -= damage.pop("events_read")
    return _without(found)


def _without(document):
    if isinstance(document, dict):
        return {key: _without(value) for key, value in document.items() if key not in WITHOUT}
    return [_without(one) for one in document] if isinstance(document, list | tuple) else document


def convert(source, target, *options):
    assert main(["convert", str(source), str(target), *options]) == 0
    return target


def silent(anchor):
    """Let otf2-print read all of an archive."""
    done = subprocess.run(["otf2-print", anchor], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=True)
    assert done.stderr == b""
    return anchor


@pytest.mark.parametrize("options", MEMORY, ids=IDS)
@pytest.mark.parametrize("name", ARCHIVES)
def test_otf2_to_parquet_to_otf2(tmp_path, name, options):
    table = convert(FIXTURES / name, tmp_path / "x.parquet", *options)
    again = silent(convert(table, tmp_path / "x.otf2", *options))
    trace = iostrata.open_trace(FIXTURES / name, files="all")
    if trace.damage.damaged:
        pytest.skip("operations of damaged archives are compared elsewhere")
    assert operations_of(again) == operations_of(table) == operations_of(FIXTURES / name)
    assert metadata_of(again) == metadata_of(table) == metadata_of(FIXTURES / name)


def metadata_of(path):
    """Return how often there is each metadata event, by all of it that is no number of a row."""
    trace = iostrata.open_trace(path, files="all")
    events, definitions = trace.stream.whole.metadata, trace.definitions
    chains, files = lineage(definitions), (*definitions.files.name, None)
    columns = (
        [definitions.locations.name[row] for row in events.location.tolist()],
        events.kind.tolist(),
        events.time.tolist(),
        [chains[row] for row in events.handle.tolist()],
        [chains[row] for row in events.new_handle.tolist()],
        [files[row] for row in events.file.tolist()],
        events.creates_file.tolist(),
    )
    return Counter(zip(*columns, strict=True))


COLUMNS = (
    "layer", "rank", "node", "thread", "mode", "start_ns", "end_ns", "bytes", "bytes_requested", "offset", "file",
    "status", "collective", "non_blocking",
)  # fmt: skip
names = st.sampled_from(["/a", "/data/b c", "/\u00e9/\u4e2d", 'odd "name", with; commas', "/dev/null"]) | st.text(
    st.characters(codec="utf-8", exclude_categories=["C", "Z"]), min_size=1, max_size=12
).map("/{}".format)
threads = st.sampled_from(["main", "t1", "t2"]) | st.integers(0, 60).map("worker {}".format)
sizes = st.none() | st.integers(0, 2**47)
operations = st.lists(
    st.tuples(
        st.sampled_from(["netCDF", "HDF5", "MPI-IO", "POSIX", "my own"]),
        st.integers(0, 3),
        st.just("n0") | st.just("n1"),
        threads,
        st.sampled_from(["read", "write", "flush"]),
        st.integers(0, 20) | st.integers(0, 2**50),
        st.just(0) | st.integers(0, 9) | st.integers(0, 2**50),
        sizes,
        sizes,
        st.none() | st.integers(0, 2**62) | st.just(2**63 - 1),
        names,
        st.sampled_from(["complete", "complete", "cancelled", "never completed"]),
        st.booleans(),
        st.booleans(),
    ),
    min_size=1,
    max_size=40,
)


def write_table(path, rows, kind):
    """Write rows, whose seventh column is a duration, and return what must be found of them."""
    rows = [(*row[:2], f"n{row[1] % 2}", *row[3:6], row[5] + row[6], *row[7:]) for row in rows]
    if kind == "parquet":
        columns = dict(zip(COLUMNS, map(list, zip(*rows, strict=True)), strict=True))
        pyarrow.parquet.write_table(pyarrow.table(columns), path)
    else:
        with path.open("w", newline="") as file:
            csv.writer(file).writerows([COLUMNS, *rows])
    return Counter(
        (
            row[0],
            row[1],
            ("read", "write", "flush").index(row[4]),
            row[5],
            row[6] if row[11] != "never completed" else -1,
            row[7] if row[11] == "complete" and row[7] is not None else UNDEFINED_UINT64,
            row[8] if row[8] is not None else UNDEFINED_UINT64,
            row[9] if row[9] is not None else UNDEFINED_UINT64,
            row[10],
        )
        for row in rows
    )


def told(found):
    """Return what a table's columns tell of operations."""
    return Counter(
        (chain[0][0], rank, mode, begin, end, moved, requested, offset, chain[0][1])
        for chain, rank, _, _, begin, end, mode, _, requested, moved, offset, _ in found.elements()
    )


@pytest.mark.parametrize("options", MEMORY, ids=IDS)
@pytest.mark.parametrize("kind", ["csv", "parquet"])
@settings(max_examples=10)
@given(rows=operations)
def test_any_table_to_otf2_to_parquet_to_otf2(tmp_path, kind, options, rows):
    with TemporaryDirectory(dir=tmp_path) as name:
        folder = Path(name)
        expected = write_table(folder / "any", rows, kind)
        first = silent(convert(folder / "any", folder / "first.otf2", *options))
        table = convert(first, folder / "x.parquet", *options)
        again = silent(convert(table, folder / "again.otf2", *options))
        found = operations_of(folder / "any")
        assert told(found) == expected
        assert operations_of(first) == found
        assert operations_of(table) == found
        assert operations_of(again) == found


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@given(rows=operations)
def test_any_table_is_read_as_it_is(tmp_path, kind, rows):
    with TemporaryDirectory(dir=tmp_path) as name:
        path = Path(name) / "any"
        expected = write_table(path, rows, kind)
        assert told(operations_of(path)) == expected


IMPOSSIBLE = {
    "layer": [""],
    "rank": ["-1", "first", "0.5", str(2**40)],
    "mode": ["", "append"],
    "start_ns": ["", "nan", "-1", "now", "1e300"],
    "end_ns": ["inf", "-5"],
    "bytes": ["-1", "0.5", "many", str(2**49)],
    "bytes_requested": ["-7"],
    "offset": ["-1", "0x10"],
    "status": ["lost"],
}


# Shrinking takes minutes, as the archive is written anew each time.
@settings(max_examples=12, phases=[Phase.explicit, Phase.generate])
@given(
    rows=operations,
    wrong=st.lists(
        st.sampled_from([(name, value) for name, values in IMPOSSIBLE.items() for value in values]), max_size=12
    ),
)
def test_rows_that_cannot_be_are_counted_and_stay_counted(tmp_path, rows, wrong):
    with TemporaryDirectory(dir=tmp_path) as name:
        folder = Path(name)
        expected = write_table(folder / "any", rows, "csv")
        with (folder / "any").open("a", newline="") as file:
            for column, value in wrong:
                sound = dict(zip(COLUMNS, (*rows[0][:5], 10, 20, *rows[0][7:11], "complete", True, True), strict=True))
                csv.writer(file).writerow({**sound, column: value}.values())
        archive = silent(convert(folder / "any", folder / "x.otf2"))
        table = convert(archive, folder / "x.parquet")
        for path in (folder / "any", archive, table):
            trace = iostrata.open_trace(path, files="all")
            assert told(rows_of(trace)) == expected
            assert trace.damage.events_expected - trace.damage.events_read == len(wrong)


def test_a_file_of_one_name_on_two_nodes_stays_one_file_of_two_ranks(tmp_path):
    (tmp_path / "any").write_text(
        "layer,rank,node,mode,start,end,bytes,file\n"
        "POSIX,0,n0,write,0,1,5,/tmp/x\nPOSIX,1,n1,write,0,0,7,/tmp/x\nPOSIX,1,n1,write,0.5,2,1,/tmp/x\n"
    )
    archive = silent(convert(tmp_path / "any", tmp_path / "x.otf2"))
    for path in (tmp_path / "any", archive, convert(archive, tmp_path / "x.parquet")):
        statistics = iostrata.open_trace(path).layers["POSIX"].statistics("write")
        assert (statistics.files, statistics.ranks, statistics.bytes, statistics.busy_s) == (1, 2, 13, 2.0)
        assert operations_of(path) == operations_of(tmp_path / "any")


segments = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 2),
        st.booleans(),
        st.booleans(),
        st.integers(0, 2**40),
        st.integers(0, 10**9),
        st.floats(0, 100),
        st.just(0.0) | st.floats(0, 10),
    ),
    min_size=1,
    max_size=40,
)


@pytest.mark.parametrize("options", MEMORY, ids=IDS)
@settings(max_examples=20)
@given(
    rows=segments,
    counts=st.lists(st.tuples(st.integers(100, 105), st.integers(-1, 3), st.integers(0, 40), st.integers(0, 2**40))),
    partial=st.lists(st.sampled_from(["POSIX", "DXT_POSIX", "DXT_MPIIO"])),
    log_version=st.sampled_from(["3.21", "3.41"]),
)
def test_darshan_to_otf2(tmp_path, options, rows, counts, partial, log_version):
    modules = {}
    for module, version, high in (("DXT_POSIX", 1, False), ("DXT_MPIIO", 2, True)):
        parts = []
        for rank, file in sorted({row[:2] for row in rows if row[2] == high}):
            mine = [row for row in rows if row[:3] == (rank, file, high)]
            parts.append(
                recorders.dxt(
                    100 + file,
                    rank,
                    *([(*row[4:6], row[6], row[6] + row[7]) for row in mine if row[3] == way] for way in (True, False)),
                )
            )
        if parts:
            modules[module] = (version, parts)
    with TemporaryDirectory(dir=tmp_path) as name:
        folder = Path(name)
        log = folder / "job"
        known = {100: "/scratch/a", 101: "/b", 102: "/c"}
        if counts:
            modules["POSIX"] = (4, [recorders.posix(one, rank, n, n, moved, moved) for one, rank, n, moved in counts])
        run = recorders.DarshanLog(modules, known, log_version, processes=4, length=200.0, partial=partial)
        log.write_bytes(bytes(run))
        archive = silent(convert(log, folder / "x.otf2", *options))
        found = rows_of(iostrata.open_trace(archive, files="all"))
        assert found == rows_of(iostrata.open_trace(log, files="all"))
        assert answers(archive) == answers(log)
        assert Counter(
            (chain[0], rank, mode, offset, moved)
            for chain, rank, _, _, _, _, mode, _, _, moved, offset, _ in found.elements()
        ) == Counter(
            ((("POSIX", "MPI-IO")[row[2]], known[100 + row[1]]), row[0], int(row[3]), *row[4:6]) for row in rows
        )


def test_intervals_that_go_on_when_the_run_has_ended_are_no_damage(tmp_path):
    bins = [recorders.heatmap(1, rank, 0.5, [8, 0, 8], [0, 0, 0]) for rank in range(2)]
    log = recorders.DarshanLog({"HEATMAP": (1, bins)}, {1: "heatmap:POSIX"}, "3.41", processes=2, length=1.1)
    (tmp_path / "log").write_bytes(bytes(log))
    archive = convert(tmp_path / "log", tmp_path / "x.otf2")
    for path in (tmp_path / "log", archive):
        trace = iostrata.open_trace(path)
        assert (trace.layers["POSIX"].statistics("write").bytes, trace.damage.damaged) == (32, False)


@pytest.mark.recordings
@pytest.mark.parametrize("options", MEMORY, ids=IDS)
@pytest.mark.parametrize("pattern", ["darshan/*.darshan", "dftracer/*.gz", "tmio/384.msgpack", "tmio/*.json*"])
def test_real_logs_to_otf2_and_parquet(tmp_path, capsys, recordings, pattern, options):
    for path in sorted((recordings / "recorders").glob(pattern)):
        folder = tmp_path / path.name
        folder.mkdir()
        _there_and_back(path, folder, capsys, options)


def _there_and_back(path, tmp_path, capsys, options):
    capsys.readouterr()
    definitions = open_source(path).definitions
    if definitions.recording.rows == "none":
        assert main(["convert", str(path), str(tmp_path / "x.otf2"), *options]) == 1
        assert capsys.readouterr().err.count("\n") == 1
        assert list(tmp_path.iterdir()) == []
        return
    expected = rows_of(iostrata.open_trace(path, files="all"))
    archive = silent(convert(path, tmp_path / "x.otf2", *options))
    assert rows_of(iostrata.open_trace(archive, files="all")) == expected
    if not options and sum(expected.values()) < FEW:
        # An archive that is made of a log holds its I/O, and not the calls of functions.
        calls = not open_source(path).tells_calls
        assert answers(archive, calls) == answers(path, calls)
    table = convert(archive, tmp_path / "x.parquet", *options)
    again = silent(convert(table, tmp_path / "y.otf2", *options))
    assert rows_of(iostrata.open_trace(again, files="all")) == expected
