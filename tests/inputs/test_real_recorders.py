"""Real logs: numbers against the recorders' own counters and their own libraries."""

import collections
import gzip
import json

import iostrata
import numpy as np
import pytest
from iostrata.cli import main
from iostrata.layers.selection.source import open_source

pytestmark = pytest.mark.recordings
DXT = {"DXT_POSIX": ("POSIX", "POSIX"), "DXT_MPIIO": ("MPI-IO", "MPI-IO")}
COUNTED = {
    "POSIX": (["POSIX_READS"], ["POSIX_WRITES"], "POSIX"),
    "MPI-IO": (
        ["MPIIO_INDEP_READS", "MPIIO_COLL_READS", "MPIIO_SPLIT_READS", "MPIIO_NB_READS"],
        ["MPIIO_INDEP_WRITES", "MPIIO_COLL_WRITES", "MPIIO_SPLIT_WRITES", "MPIIO_NB_WRITES"],
        "MPIIO",
    ),
    "H5D": (["H5D_READS"], ["H5D_WRITES"], "H5D"),
    "STDIO": (["STDIO_READS"], ["STDIO_WRITES"], "STDIO"),
    "DFS": (["DFS_READS", "DFS_READXS", "DFS_NB_READS"], ["DFS_WRITES", "DFS_WRITEXS", "DFS_NB_WRITES"], "DFS"),
}


def darshan_records(path):
    """Yield (module, record) of a log as libdarshan-util reads it."""
    pytest.importorskip("darshan", reason="libdarshan-util comes with the package darshan")
    from darshan.backend import cffi_backend as library

    log = library.log_open(str(path))
    for module, facts in library.log_get_modules(log).items():
        if module in DXT or module in COUNTED:
            while True:
                buffer = library.ffi.new("void **")
                if library.libdutil.darshan_log_get_record(log["handle"], facts["idx"], buffer) < 1:
                    break
                record = library.ffi.cast(library._structdefs[module], buffer)
                if module in DXT:
                    head = record[0]
                    count = head.write_count + head.read_count
                    raw = library.ffi.buffer(buffer[0], library.ffi.sizeof("struct dxt_file_record") + 32 * count)
                    form = [("offset", "<i8"), ("length", "<i8"), ("start", "<f8"), ("end", "<f8")]
                    rows = np.frombuffer(raw, form, offset=library.ffi.sizeof("struct dxt_file_record")).copy()
                    yield module, (head.base_rec.rank, head.write_count, rows)
                else:
                    yield module, library._make_generic_record(record, module, "dict")["counters"]
                library.libdutil.darshan_free(buffer[0])
    library.log_close(log)


def logs():
    """Return the names of the real logs."""
    return [
        "drishti_8a_optimised", "dxt", "dxtexp_8_benchmark_parallel", "e3sm_io_heatmap_only", "empty_log",
        "hdf5_diagonal_write_bytes_range_dxt", "hdf5_diagonal_write_half_flush_dxt", "ior_dfs", "ior_hdf5_example",
        "ior_pnetcdf", "nonmpi_dxt_anonymized", "noposix", "partial_data_dxt", "partial_data_stdio",
        "sample-dxt-simple", "sample",
    ]  # fmt: skip


@pytest.mark.parametrize("name", logs())
def test_segments_and_counters_are_those_of_darshans_own_library(recorders, name):
    path = recorders / "darshan" / f"{name}.darshan"
    counted, traced = collections.Counter(), collections.Counter()
    for module, record in darshan_records(path):
        if module in DXT:
            rank, writes, rows = record
            layer = DXT[module][1]
            for direction, part in (("write", rows[:writes]), ("read", rows[writes:])):
                traced[layer, direction, "operations"] += len(part)
                traced[layer, direction, "bytes"] += int(part["length"].sum())
                ticks = np.rint(part["end"] * 1e9).astype(int) - np.rint(part["start"] * 1e9).astype(int)
                traced[layer, direction, "ticks"] += int(ticks.sum())
                if len(part):
                    traced[layer, direction, "ranks", rank] = 1
        else:
            reads, writes, prefix = COUNTED[module]
            for direction, names, moved in (("read", reads, "BYTES_READ"), ("write", writes, "BYTES_WRITTEN")):
                counted[module, direction, "operations"] += sum(max(int(record[one]), 0) for one in names)
                counted[module, direction, "bytes"] += int(record[f"{prefix}_{moved}"])
    source = open_source(path)
    recording = source.definitions.recording
    totals = () if recording.counters is None else recording.counters.totals()
    found = {
        (one.module, one.direction, what): getattr(one, what)
        for one in totals
        if one.module in COUNTED
        for what in ("operations", "bytes")
    }
    assert {key: value for key, value in found.items() if value} == {
        key: value for key, value in counted.items() if value
    }
    if recording.rows != "operations":
        assert not traced or name == "partial_data_dxt"
        return
    trace = iostrata.open_trace(path, files="all")
    for layer in trace.layers.values():
        for direction in ("read", "write"):
            statistics = layer.statistics(direction)
            expected = {what: traced[layer.name, direction, what] for what in ("operations", "bytes", "ticks")}
            assert (statistics.operations, statistics.bytes) == (expected["operations"], expected["bytes"])
            assert statistics.summed_s == pytest.approx(expected["ticks"] / 1e9, rel=1e-12)
            assert statistics.ranks == sum(key[:3] == (layer.name, direction, "ranks") for key in traced)
            assert (statistics.operations, statistics.bytes) == tuple(
                counted[layer.name, direction, what] for what in ("operations", "bytes")
            )


def test_modules_that_ran_full_are_damage(recorders):
    trace = iostrata.open_trace(recorders / "darshan" / "partial_data_dxt.darshan")
    assert {one.reason.partition("; ")[0].partition(" ran full")[2] for one in trace.damage.locations} == {
        f" and does not hold all transfers of {layer} that were counted: {kept} of 1,000,000"
        for layer, kept in (("POSIX", "65,536"), ("MPI-IO", "65,529"))
    }
    for layer in ("MPI-IO", "POSIX"):
        statistics = trace.layers[layer].statistics("read")
        assert (statistics.operations, statistics.bytes) == (1_000_000, 1_000_000)
    (full,) = open_source(recorders / "darshan" / "partial_data_stdio.darshan").damage
    assert full.reason.startswith("STDIO ran full")


def test_odd_segments_are_counted(recorders):
    trace = iostrata.open_trace(recorders / "darshan" / "dxtexp_8_benchmark_parallel.darshan")
    assert trace.damage.irregular["transfers of no bytes"] == 28_400
    assert trace.damage.irregular["operations of no duration"] >= 1_564


def test_data_sieving_is_found(recorders):
    trace = iostrata.open_trace(recorders / "darshan" / "dxtexp_8_benchmark_parallel.darshan")
    flow = trace.flow("MPI-IO", "POSIX", "read")
    assert (flow.upper_bytes, flow.lower_bytes) == (860_997_336, 2_671_080_664)
    assert "data-sieving" in {one.id for one in iostrata.compare_layers(trace, periods=False).findings}


def test_384_ranks_write_through_64(recorders):
    trace = iostrata.open_trace(recorders / "darshan" / "drishti_8a_optimised.darshan")
    flow = trace.flow("MPI-IO", "POSIX", "write")
    assert (trace.layers["MPI-IO"].statistics("write").ranks, trace.layers["POSIX"].statistics("write").ranks) == (
        384,
        64,
    )
    assert len(flow.lower_ranks.ranks.moving) == 64


def test_the_heatmap_holds_what_the_counters_count(recorders):
    path = recorders / "darshan" / "e3sm_io_heatmap_only.darshan"
    trace = iostrata.open_trace(path, files="all")
    totals = trace.definitions.recording.counters.totals()
    counted = {(one.layer, one.direction): one.bytes for one in totals if one.module in ("POSIX", "MPI-IO", "STDIO")}
    for (layer, direction), expected in counted.items():
        # Darshan rounds what falls into each of the intervals of a rank.
        assert trace.layers[layer].bandwidth(direction).volume == pytest.approx(expected, rel=1e-6)


def test_tmios_own_totals(recorders):
    msgpack = pytest.importorskip("msgpack")
    path = recorders / "tmio" / "384.msgpack"
    with path.open("rb") as file:
        records = [record for record in msgpack.Unpacker(file, raw=False) if record[0] != "io_time"]
    trace = iostrata.open_trace(path)
    for direction in ("read", "write"):
        mine = [record for record in records if record[0].startswith(direction)]
        statistics = trace.layers["MPI-IO"].statistics(direction)
        assert statistics.bytes == sum(record[3] for record in mine)
        assert statistics.operations == sum(record[10] for record in mine)


def test_the_period_of_ior_on_384_ranks(recorders):
    pytest.importorskip("msgpack")
    trace = iostrata.open_trace(recorders / "tmio" / "384.msgpack")
    result = iostrata.detect_period(trace.layers["MPI-IO"].bandwidth("write"))
    assert result.periodic
    assert result.period == pytest.approx(10.14, rel=0.01)


@pytest.mark.parametrize("name", ["test", "test-trace", "cm1-3537780", "cm1-3537781", "cm1-3537782"])
def test_dftracers_lines_added_up_by_python(recorders, name):
    path = recorders / "dftracer" / f"{name}.pfw.gz"
    expected = collections.Counter()
    for line in gzip.decompress(path.read_bytes()).decode().splitlines():
        line = line.strip().rstrip(",")
        event = json.loads(line) if line.startswith("{") else {"ph": None}
        if event["ph"] == "X" and event["cat"] in ("POSIX", "STDIO"):
            direction = {"read": "read", "fread": "read", "write": "write"}.get(event["name"])
            if direction is not None:
                layer = {"POSIX": "POSIX", "STDIO": "ISOC"}[event["cat"]]
                expected[layer, direction, "operations"] += 1
                expected[layer, direction, "bytes"] += max(int(event["args"]["ret"]), 0)
    trace = iostrata.open_trace(path, files="all")
    found = collections.Counter()
    for layer in (one for one in trace.layers.values() if one.name in ("POSIX", "ISOC")):
        for direction in layer.directions:
            statistics = layer.statistics(direction)
            found[layer.name, direction, "operations"] = statistics.operations
            found[layer.name, direction, "bytes"] = statistics.bytes
    assert found == expected
    # Hashes of 16 bits, of which two files may have the same.
    assert all("on files whose hashes another file has" in one.reason for one in trace.damage.locations)


def test_a_table_of_another_kind_says_what_it_lacks(recorders):
    with pytest.raises(iostrata.TraceError, match="no column layer or start or end or bytes or mode"):
        iostrata.open_trace(recorders / "recorder" / "part.1.parquet")


def test_tmios_json_counts_megabytes(recorders):
    for name, total in (("ior_collective_test.json", None), ("8_first_half.jsonl", 2632)):
        trace = iostrata.open_trace(recorders / "tmio" / name)
        rows = collections.Counter()
        text = (recorders / "tmio" / name).read_text()
        for line in text.split("\n") if total else [text]:
            for kind, record in json.loads(line or "{}").items():
                if kind == "read_sync":
                    moved = record["bandwidth"]
                    columns = [np.array(moved[one]) for one in ("b_rank_avr", "t_rank_s", "t_rank_e")]
                    rows["bytes"] += int(np.rint(columns[0] * (columns[2] - columns[1]) * 1e6).sum())
                    rows["total"] += record["total_bytes"]
        moved = trace.layers["MPI-IO"].statistics("read").bytes
        assert moved == rows["bytes"]
        assert total is None or moved / 1e6 == pytest.approx(rows["total"], rel=1e-3)


def test_calls_that_begin_with_one_reading_of_the_clock_belong_together(recorders):
    trace = iostrata.open_trace(recorders / "darshan" / "ior_hdf5_example.darshan")
    for direction in ("read", "write"):
        flow = trace.flow("MPI-IO", "POSIX", direction)
        assert (flow.attributed_bytes, flow.hidden_bytes) == (flow.lower_bytes, 0)


@pytest.mark.parametrize("name", ["dxt", "nonmpi_dxt_anonymized"])
def test_what_takes_next_to_nothing_of_the_run_is_no_warning(recorders, name):
    trace = iostrata.open_trace(recorders / "darshan" / f"{name}.darshan")
    findings = iostrata.compare_layers(trace, periods=False).findings
    assert all(one.severity == "info" or one.cost_share >= 0.01 for one in findings)


@pytest.mark.parametrize(
    ("command", "log", "told"),
    [
        ("compare", "darshan/dxtexp_8_benchmark_parallel.darshan", "MPI-IO → POSIX read 861 MB 2.67 GB 3.10"),
        ("compare", "darshan/drishti_8a_optimised.darshan", "258 GB 266 GB 1.03 384 → 64"),
        ("periods", "tmio/384.msgpack", "MPI-IO write 64.4 GB 1.65 GB/s 8 × 10.1 ±0.7 s"),
    ],
)
def test_the_first_screen_of_a_command_tells_it(recorders, capsys, monkeypatch, command, log, told):
    monkeypatch.setenv("COLUMNS", "120")
    assert main([command, str(recorders / log)]) == 0
    assert told in " ".join(" ".join(capsys.readouterr().out.splitlines()[:24]).split())


@pytest.mark.parametrize(
    "log",
    [
        "darshan/ior_pnetcdf.darshan",
        "darshan/sample-dxt-simple.darshan",
        "darshan/partial_data_dxt.darshan",
        "dftracer/cm1-3537781.pfw.gz",
        "tmio/8_first_half.jsonl",
    ],
)
def test_copies_have_the_same_layers(recorders, capsys, tmp_path, log):
    found = []
    paths = [recorders / log, tmp_path / "copy.otf2", tmp_path / "copy.parquet"]
    for path in paths[1:]:
        assert main(["convert", str(paths[0]), str(path)]) == 0
    for path in paths:
        capsys.readouterr()
        assert main(["layers", str(path), "--files", "all", "--json"]) == 0
        found.append(json.loads(capsys.readouterr().out)["layers"])
    assert found[0]
    assert found[1] == found[2] == found[0]


def test_a_log_without_io_says_so(recorders, capsys):
    log = str(recorders / "darshan" / "empty_log.darshan")
    assert main(["layers", log]) == 0
    assert "no I/O was recorded" in capsys.readouterr().out
    assert main(["periods", log]) == 1
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    assert "Darshan recorded no I/O at all" in err
