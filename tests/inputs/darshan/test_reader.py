"""Darshan logs made on the spot, whose content is known, sound and damaged."""

import importlib.util
import json
import math
import random
import struct
from pathlib import Path

import iostrata
import numpy as np
import pyarrow.parquet
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.comparison.headline import headline_of
from iostrata.cli import main
from iostrata.inputs.darshan.log import read_log
from iostrata.layers.selection.source import NoTimesError, open_source
from iostrata.model.budget import memory_given

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
DarshanLog, dxt, heatmap, posix = made.DarshanLog, made.dxt, made.heatmap, made.posix


def test_segments_are_operations_with_inferred_handles(traced_log):
    trace = iostrata.open_trace(traced_log)
    assert trace.order == ("MPI-IO", "POSIX")
    assert trace.duration == 10
    written = trace.layers["MPI-IO"].statistics("write")
    assert (written.operations, written.bytes, written.ranks, written.summed_s) == (2, 200, 2, 2.0)
    below = trace.layers["POSIX"]
    assert (below.statistics("write").bytes, below.statistics("write").own_bytes) == (200, 0)
    assert (below.statistics("read").bytes, below.statistics("read").own_bytes) == (7, 7)
    flow = trace.flow("MPI-IO", "POSIX", "write")
    assert (len(flow.upper_ranks.ranks.moving), len(flow.lower_ranks.ranks.moving)) == (2, 1)
    assert flow.amplification == 1.0
    recording = trace.definitions.recording
    assert (recording.recorder, recording.handles, recording.threads, recording.metadata) == (
        "Darshan",
        "inferred",
        False,
        False,
    )
    assert trace.damage.irregular == {"transfers of no bytes": 1, "operations of no duration": 1}
    assert not trace.damage.damaged
    assert trace.definitions.node_count == 2


def test_of_segments_that_begin_at_once_mpi_called_posix(darshan_log):
    # Darshan's clock is that of the machine: two calls in a microsecond may begin with the same reading.
    modules = {
        "DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 1.0, 1.5), (9, 9, 2.0, 2.5)])]),
        "DXT_MPIIO": (2, [dxt(5, 0, [(0, 9, 1.0, 1.75), (9, 9, 2.0, 2.5)])]),
    }
    flow = iostrata.open_trace(darshan_log(modules=modules, names={5: "/f"})).flow("MPI-IO", "POSIX", "write")
    assert (flow.attributed_bytes, flow.hidden_bytes) == (18, 0)


@pytest.mark.parametrize(("version", "most"), [("3.21", "at most "), ("3.41", "")])
def test_the_end_of_a_run_that_is_known_to_whole_seconds_is_a_bound(darshan_log, tmp_path, capsys, version, most):
    modules = {"DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 1.0, 1.5)])])}
    log = darshan_log(version=version, modules=modules, names={5: "/f"})
    copies = [log, tmp_path / "copy.parquet", tmp_path / "copy.otf2"]
    for copy in copies[1:]:
        assert main(["convert", str(log), str(copy)]) == 0
    for path in copies:
        capsys.readouterr()
        assert main([str(path)]) == 0
        shown = capsys.readouterr().out
        assert f"\n{most}10 s, 2 ranks" in shown
        assert f"no I/O until the end, {most}8.5 s" in shown
    assert main(["info", str(log)]) == 0
    facts = capsys.readouterr().out
    assert "1 I/O event in the file" in facts
    assert "communicators" not in facts


@pytest.mark.parametrize(("took", "silent"), [(0.9, True), (4.5, False)])
def test_a_rank_that_waits_for_the_storage_is_not_silent(darshan_log, capsys, took, silent):
    # The last bytes are taken within the first second; a flush behind them has no time of its own.
    counted = made.counters(("POSIX", 4), 5, 0, writes=10, bytes_written=80, fsyncs=10, write_time=took)
    modules = {"POSIX": (4, [counted]), "HEATMAP": (1, [heatmap(1, 0, 0.5, [40, 40, 0, 0], [0] * 4)])}
    assert main([str(darshan_log(modules=modules, names={5: "/f", 1: "heatmap:POSIX"}))]) == 0
    assert ("no I/O until the end" in capsys.readouterr().out) == silent


def test_files_are_on_the_longest_mount_point_that_fits(traced_log):
    files = open_source(traced_log).definitions.files
    known = dict(zip(files.name, files.properties, strict=True))
    assert known["/scratch/out.h5"] == {"Mount Point": "/scratch", "File system": "lustre"}
    assert known["/home/in.txt"] == {"Mount Point": "/", "File system": "ext4"}


@pytest.mark.parametrize("version", ["3.10", "3.21", "3.41"])
def test_each_format_of_the_header_is_read(darshan_log, version):
    path = darshan_log(
        version=version,
        modules={"DXT_POSIX": (1, [dxt(5, 1, [(0, 9, 0.0, 1.0)])])},
        names={5: "/f"},
        partial=["DXT_POSIX"],
        length=4,
    )
    log = read_log(path)
    assert list(log.modules) == ["DXT_POSIX"]
    assert log.modules["DXT_POSIX"].partial
    assert (log.job.processes, log.job.length_ns, log.job.library) == (2, 4 * 10**9, "3.4.1")
    assert log.job.mounts == (("lustre", "/scratch"), ("ext4", "/"))
    assert log.names == {5: "/f"}


def test_a_log_of_a_later_version_that_cannot_be_read_is_not_called_broken(darshan_log):
    long = random.Random(1).randbytes(2000).hex()
    path = darshan_log(modules={"POSIX": (4, [posix(5, 0, 1, 0, 9, 0)])}, names={5: f"/{long}"})
    path.write_bytes(b"3.99" + path.read_bytes()[4:])
    with pytest.raises(iostrata.TraceError, match=r"cannot be read .*; its version, 3.99, may be none of 3.00 to 3.4x"):
        read_log(path)


def test_newer_segments_tell_their_thread(darshan_log):
    segments = [(0, 5, 0.0, 1.0, 70), (5, 6, 1.0, 2.0, 71), (11, 7, 2.0, 3.0, 70)]
    source = open_source(darshan_log(modules={"DXT_POSIX": (2, [dxt(5, 1, segments)])}))
    assert source.definitions.recording.threads
    assert source.operations.moved.tolist() == [5, 6, 7]
    first, second, third = source.operations.location.tolist()
    assert first == third != second
    assert source.operations.process.tolist() == [1, 1, 1]


def test_versions_that_nobody_knows_are_left_out_and_told(darshan_log):
    path = darshan_log(modules={"DXT_POSIX": (9, [b"?" * 200]), "POSIX": (77, [b"?" * 704])})
    source = open_source(path)
    reasons = " ".join(one.reason for one in source.damage)
    assert "DXT_POSIX in version 9" in reasons
    assert "POSIX in version 77" in reasons


@pytest.mark.parametrize("partial", [True, False])
def test_sums_stand_in_place_of_transfers_of_which_dxt_kept_a_part(darshan_log, capsys, partial):
    times = {"read_start_timestamp": 0.25, "read_end_timestamp": 0.75}
    counted = made.counters(("POSIX", 4), 5, 0, reads=10, bytes_read=90, **times)
    path = darshan_log(
        modules={"POSIX": (4, [counted]), "DXT_POSIX": (1, [dxt(5, 0, [], [(0, 9, 0.25, 0.5)])])},
        partial=["DXT_POSIX"] if partial else [],
    )
    trace = iostrata.open_trace(path)
    statistics = trace.layers["POSIX"].statistics("read")
    assert (statistics.operations, statistics.bytes) == (10, 90)
    assert trace.layers["POSIX"].bandwidth("read").volume == 90
    (lost,) = trace.damage.locations
    assert ("ran full" in lost.reason, "1 of 10; sums of counters" in lost.reason) == (partial, True)
    assert main(["layers", str(path)]) == 0
    assert "what is lost was not counted" in capsys.readouterr().err
    assert main(["loops", str(path)]) == 1
    assert "DXT more memory" in capsys.readouterr().err


def test_a_part_of_the_transfers_stays_where_nothing_else_has_times(darshan_log):
    path = darshan_log(
        modules={"POSIX": (4, [posix(5, 0, 0, 10, 0, 90)]), "DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)])])},
        partial=["DXT_POSIX"],
    )
    damage = iostrata.open_trace(path).damage
    assert damage.damaged
    (lost,) = damage.locations
    assert (lost.events_expected, lost.events_read) == (10, 1)
    assert "ran full" in lost.reason


def test_layers_that_dxt_did_not_watch_are_not_recorded(darshan_log):
    """MPI-IO is, unless its DXT module is missing beside counters, or there is one process, which may have no MPI."""
    traced = {"DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)])])}
    one_write = [int(place == 3) for place in range(68)]
    counted = {**traced, "MPI-IO": (3, [struct.pack("<Qq68q", 5, 0, *one_write)])}
    both = {**counted, "DXT_MPIIO": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)])])}
    for modules, processes, layers in (
        (traced, 2, ("MPI-IO", "POSIX")), (traced, 1, ("POSIX",)), (counted, 2, ("POSIX",)),
        (both, 1, ("MPI-IO", "POSIX")),
    ):  # fmt: skip
        source = open_source(darshan_log(modules=modules, processes=processes))
        assert source.definitions.recording.layers == layers


def test_heatmap_is_bytes_by_interval_and_says_so(darshan_log):
    path = darshan_log(
        modules={"HEATMAP": (1, [heatmap(1, 0, 0.5, [0, 8, 0], [3, 0, 0]), heatmap(1, 1, 0.5, [4, 4, 0], [0, 0, 0])])},
        names={1: "heatmap:MPIIO"},
        version="3.41",
    )
    trace = iostrata.open_trace(path)
    assert trace.definitions.recording.rows == "intervals"
    signal = trace.layers["MPI-IO"].bandwidth("write")
    assert signal.sample(fs=2.0).values[:3].tolist() == pytest.approx([8.0, 24.0, 0.0])
    assert trace.layers["MPI-IO"].bandwidth("read").volume == 3
    comparison = iostrata.compare_layers(trace)
    assert not len(comparison.flows)
    assert not len(comparison.findings)


def test_records_of_a_heatmap_may_have_different_bins_and_layers(darshan_log):
    records = [heatmap(1, rank, 0.5, [1] * bins, [0] * bins) for bins in (3, 0, 5, 5) for rank in range(90)]
    others = [heatmap(2, 0, 0.5, [0, 7], [0, 9]), heatmap(3, 0, 0.5, [5], [5]), heatmap(1, 0, float("nan"), [5], [5])]
    path = darshan_log(
        modules={"HEATMAP": (1, [*others[:2], *records, others[2]])},
        names={1: "heatmap:POSIX", 2: "heatmap:STDIO", 3: "heatmap:unheard"},
        processes=90,
    )
    trace = iostrata.open_trace(path)
    moved = {
        (name, way): layer.statistics(way).bytes for name, layer in trace.layers.items() for way in layer.directions
    }
    assert moved == {("POSIX", "write"): 90 * 13, ("ISOC", "write"): 7, ("ISOC", "read"): 9}
    assert "2 records of no known layer" in str([one.reason for one in trace.damage.locations])


def test_counters_without_times_are_told_and_nothing_is_made_of_them(darshan_log):
    path = darshan_log(
        modules={"POSIX": (4, [posix(5, 0, 3, 4, 30, 40), posix(5, 1, 1, 0, 5, 0), posix(6, -1, 0, 2, 0, 9)])}
    )
    with pytest.raises(NoTimesError, match="without times") as refused:
        iostrata.open_trace(path)
    totals = {one.direction: one for one in refused.value.source.definitions.recording.counters.totals()}
    read, write = totals["read"], totals["write"]
    assert (read.operations, read.bytes, read.files, read.ranks) == (4, 35, 1, 2)
    assert (write.operations, write.bytes, write.files, write.ranks) == (6, 49, 2, None)


def test_rows_that_cannot_be_are_left_out_and_counted(darshan_log):
    nan = float("nan")
    segments = [
        (0, 1, 1.0, 2.0),
        (0, 1, nan, 2.0),
        (0, 1, 3.0, 2.0),
        (0, -5, 1.0, 2.0),
        (0, 1, -1.0, 2.0),
        (0, 2**60, 1.0, 2.0),
        (0, 1, 1e300, 1e300),
    ]
    trace = iostrata.open_trace(
        darshan_log(modules={"DXT_POSIX": (1, [dxt(5, 0, segments), dxt(5, 9, [(0, 1, 1.0, 2.0)])])})
    )
    assert len(trace.operations) == 1
    assert [(one.location, one.events_expected, one.events_read) for one in trace.damage.locations] == [
        (-1, 1, 0),
        (0, 7, 1),
    ]


@pytest.mark.parametrize("compression", [1, 2])
def test_other_compressions(tmp_path, compression):
    import bz2
    import zlib

    data = bytearray(bytes(DarshanLog(modules={"DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)])])}, names={5: "/f"})))
    log = tmp_path / "x"
    log.write_bytes(data)
    known = read_log(log)
    pack = bz2.compress if compression == 1 else bytes
    job = pack(zlib.decompressobj().decompress(bytes(data[360:])))
    name, module = pack(struct.pack("<Q", 5) + b"/f\0"), pack(known.content("DXT_POSIX")[0])
    data[16] = compression
    struct.pack_into("<2Q", data, 24, 360 + len(job), len(name))
    struct.pack_into("<2Q", data, 40 + 16 * 9, 360 + len(job) + len(name), len(module))
    log.write_bytes(bytes(data[:360]) + job + name + module)
    assert open_source(log).operations.moved.tolist() == [9]


def test_what_a_log_claims_or_inflates_to_is_checked_before_it_takes_memory(darshan_log):
    claimed = darshan_log(processes=1 << 24)
    with pytest.raises(iostrata.TraceError, match=r"16,777,216 processes, as it claims, would take 4\.29 GB"):
        iostrata.open_trace(claimed, memory=3 * 10**8)
    inflating = darshan_log(modules={"DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)]), bytes(10**8)])}, names={5: "/f"})
    assert inflating.stat().st_size < 1 << 20
    with memory_given(10**7):
        found = open_source(inflating)
    assert found.operations.moved.tolist() == [9]
    assert "inflates to more than" in found.damage[0].reason


def test_a_log_cut_in_its_job_says_so_where_nothing_else_is_lost(darshan_log, capsys):
    log = darshan_log(modules={}, names={})
    sound = log.read_bytes()
    for cut, told, lost in ((0, "no I/O was recorded", ""), (4, "none could be read", "mount points of the job")):
        log.write_bytes(sound[: len(sound) - cut])
        assert main(["layers", str(log)]) == 0
        shown = " ".join(capsys.readouterr().out.split())
        assert told in shown
        assert lost in shown


@given(seed=st.integers(0, 10**6), where=st.sampled_from(["cut", "header", "anywhere"]))
def test_damaged_logs_give_what_is_sound_or_one_line(traced_log, seed, where):
    data, numbers = bytearray(traced_log.read_bytes()), random.Random(seed)
    if where == "cut":
        data = data[: numbers.randrange(len(data))]
    else:
        for _ in range(numbers.randrange(1, 9)):
            data[numbers.randrange(min(len(data), 400) if where == "header" else len(data))] = numbers.randrange(256)
    path = traced_log.with_name("damaged")
    path.write_bytes(data)
    try:
        source = open_source(path)
    except iostrata.TraceError as error:
        refused = str(error)
    else:
        refused = ""
    assert "\n" not in refused
    if refused:
        return
    blocks = [block for part in source.partitions(None, 1) for block in source.read(part)]
    # What counts segments may be damaged too: then what follows is taken for some.
    assert sum(len(block.operations) for block in blocks) <= 40
    assert all((block.operations.end >= block.operations.begin).all() for block in blocks)


segments = st.lists(
    st.tuples(
        st.integers(0, 3),
        st.integers(0, 2),
        st.booleans(),
        st.integers(0, 10**9),
        st.floats(0, 100),
        st.floats(0, 10),
    ),
    max_size=40,
)


@given(segments)
def test_every_segment_is_an_operation_of_its_rank_file_and_mode(darshan_log, rows):
    records = []
    for rank in range(4):
        for file in range(3):
            mine = [row for row in rows if row[:2] == (rank, file)]
            if mine:
                each = [
                    [(0, row[3], row[4], row[4] + row[5]) for row in mine if row[2] == way] for way in (True, False)
                ]
                records.append(dxt(100 + file, rank, *each))
    source = open_source(darshan_log(modules={"DXT_POSIX": (1, records)}, processes=4, names={100: "/a", 101: "/b"}))
    definitions, operations = source.definitions, source.operations
    names = np.array([*definitions.files.name, ""], object)
    found = zip(
        definitions.groups.rank[operations.process].tolist(),
        names[definitions.handles.file[operations.handle]].tolist() if len(operations) else [],
        (operations.mode == 1).tolist(),
        operations.moved.tolist(),
        strict=True,
    )
    names_of = {0: "/a", 1: "/b", 2: "record 0x66, whose name the log does not tell"}
    assert sorted(found) == sorted((row[0], names_of[row[1]], row[2], row[3]) for row in rows)


@pytest.mark.parametrize("name", ["APMPI", "HEATMAP"])
def test_info_says_what_cannot_be_read_of_a_module(darshan_log, capsys, name):
    record = bytes(48) if name == "APMPI" else b""
    path = darshan_log(modules={name: (1, [record, bytes(5232)] if record else [b"\xff" * 90]), "POSIX": (4, [])})
    content = bytearray(path.read_bytes())
    module = read_log(path).modules[name]
    content[module.offset + module.length // 2 : module.offset + module.length] = bytes(
        module.length - module.length // 2
    )
    path.write_bytes(content)
    assert main(["info", str(path)]) == 0
    assert f"{name}: " in capsys.readouterr().out
    assert main(["info", str(path), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["damage"]["damaged"]


@pytest.mark.parametrize("version", [1, 2])
def test_apmpi_tells_nodes_and_the_time_in_mpi(darshan_log, version):
    def record(rank, seconds, node):
        waited = seconds * 0.75
        calls = bytes(24 * 20) + struct.pack("<d", waited) + bytes(1288)
        return struct.pack("<Qq3168x1776s128xdd128s", 9, rank, calls, seconds, 0.0, node)

    head = struct.pack("<Qq8s24x", 9, 0, b"IPMPA")
    parts = [head, record(0, 2.0, b"n7"), record(1, 4.0, b"n8")]
    moved = {"writes": 1, "bytes_written": 5, "write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
    counted = [made.counters(("POSIX", 4), 5, rank, **moved) for rank in (0, 1)]
    trace = iostrata.open_trace(
        darshan_log(modules={"APMPI": (version, parts), "POSIX": (4, counted)}, names={5: "/a"})
    )
    notes = " ".join(trace.definitions.recording.notes)
    if version == 1:
        assert "ranks spend 3 s in calls of MPI on average (MPI_Waitall 2.25 s), rank 1 most, 4 s" in notes
        told = headline_of(trace, ()).text
        assert "; ranks spend 30 % of the run in calls of MPI (3 s on average, most in MPI_Waitall 2.25 s)" in told
        assert trace.breakdown("node").key == ("n7", "n8")
        assert not trace.damage.damaged
    else:
        assert "MPI on average" not in notes
        assert "APMPI: its records are not as they are known here" in str(trace.damage.locations)


_MOVED = {"writes": 1, "bytes_written": 5, "write_start_timestamp": 1.0, "write_end_timestamp": 2.0}


def test_records_of_apmpi_that_cannot_be_are_left_out_and_counted(darshan_log):
    def record(rank, node, seconds=2.0, waited=1.5):
        calls = bytes(24 * 20) + struct.pack("<d", waited) + bytes(1288)
        return struct.pack("<Qq3168x1776s128xdd128s", 9, rank, calls, seconds, 0.0, node)

    head = struct.pack("<Qq8s24x", 9, 0, b"IPMPA")
    broken = [record(1, b"n\x1b[2J"), record(1, b"n9", seconds=1.0), record(7, b"n9"), record(0, b"n9")]
    broken += [record(1, b"n9", seconds=math.nan), record(1, b"n9", seconds=1e9), record(1, b"")]
    for parts, told in (
        ([record(0, b"n7"), *broken], f"APMPI: {len(broken)} records left out: rank, times or name of the node"),
        (
            [record(0, b"n7"), record(1, b"\xff")[:-20]],
            "APMPI: the last record is cut; 1 of 2 ranks are in what can be",
        ),
    ):
        counted = [made.counters(("POSIX", 4), 5, rank, **_MOVED) for rank in (0, 1)]
        path = darshan_log(modules={"APMPI": (1, [head, *parts]), "POSIX": (4, counted)}, names={5: "/a"})
        trace = iostrata.open_trace(path)
        assert told in str(trace.damage.locations)
        assert "ranks spend 2 s in calls of MPI on average (MPI_Waitall 1.5 s)" in " ".join(
            trace.definitions.recording.notes
        )
        assert set(trace.definitions.system_tree.name) == {"machine", "n7"}


def test_bytes_of_heatmap_that_counters_know_nothing_of_are_told(darshan_log):
    bins = made.heatmap(9, 0, 1.0, [5, 0], [0, 700])
    counted = [made.counters(("POSIX", 4), 5, 0, **_MOVED)]
    path = darshan_log(modules={"HEATMAP": (1, [bins]), "POSIX": (4, counted)}, names={5: "/a", 9: "heatmap:POSIX"})
    told = "POSIX reads of 700 B in HEATMAP, of 0 B by counters: one of them does not have all"
    assert told in str(iostrata.open_trace(path).damage.locations)


def test_the_name_of_a_node_that_is_no_text_is_none(darshan_log):
    segments = [(0, 5, 1.0, 2.0)]
    traced = [made.dxt(5, 0, segments, host="n1"), made.dxt(5, 1, segments, host="\x1b[2J\xff")]
    trace = iostrata.open_trace(darshan_log(modules={"DXT_POSIX": (1, traced)}, names={5: "/a"}))
    assert "DXT_POSIX: nodes of 1 rank have no names that can be, left out" in str(trace.damage.locations)
    assert set(trace.definitions.system_tree.name) == {"machine", "n1"}


def test_names_of_files_before_a_broken_one_that_are_no_text_are_left_out(darshan_log):
    random = np.random.default_rng(33)
    names = {one: "/a/" + random.bytes(20).hex() for one in range(1, 400)} | {7: "/raw/\udcff", 8: "/b/\x01"}
    counted = [made.counters(("POSIX", 4), one, 0, **_MOVED) for one in names]
    path = darshan_log(modules={"POSIX": (4, counted)}, names=names)
    whole = {"/raw/\\xff", "/b/\x01"}
    assert whole <= set(iostrata.open_trace(path).definitions.files.name)
    content = bytearray(path.read_bytes())
    # The names stand before the modules; what they end with is their check.
    end = read_log(path).modules["POSIX"].offset
    content[end - 4 : end] = b"....."[:4]
    path.write_bytes(content)
    trace = iostrata.open_trace(path)
    assert "2 names that are no text left out" in str(trace.damage.locations)
    assert not whole & set(trace.definitions.files.name)
    assert names[1] in trace.definitions.files.name


def test_stripes_of_both_versions_are_properties_of_files(darshan_log):
    component = struct.pack("<7q16s", 65536, 2, 0, 0, 0, -1, 0, b"flash")
    newer = [
        struct.pack("<Q3q", 5, 0, 2, 3) + 2 * component + struct.pack("<3q", 7, 9, 7),
        struct.pack("<Q3q", 6, 0, 1, 1) + component + struct.pack("<q", 3),
    ]
    moved = {"writes": 1, "bytes_written": 5, "write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
    counted = [made.counters(("POSIX", 4), one, 0, **moved) for one in (5, 6)]
    for version, parts, told in (
        (1, [made.stripes(5, [7, 9], 65536), made.stripes(6, [3], 65536)], {"Storage targets in all": "248"}),
        (2, newer, {}),
    ):
        modules = {"LUSTRE": (version, parts), "POSIX": (4, counted)}
        files = iostrata.open_trace(darshan_log(modules=modules, names={5: "/x/a", 6: "/x/b"})).definitions.files
        stripes = [
            {name: value for name, value in properties.items() if name.startswith("St")}
            for properties in files.properties
        ]
        assert stripes == [
            {"Stripe size": "65536", "Storage targets": "7 9", **told},
            {"Stripe size": "65536", "Storage targets": "3", **told},
        ]


@pytest.mark.parametrize(
    ("version", "last"),
    [
        (1, made.stripes(6, [3, 4], 65536)[:-8]),
        (1, struct.pack("<Q6q", 6, 0, 248, 1, 0, 65536, -1)),
        (1, struct.pack("<Q6q", 6, 0, 248, 1, 0, 65536, 2**62)),
        (2, struct.pack("<Q3q", 6, 0, -1, 1)),
        (2, struct.pack("<Q3q", 6, 0, 2**40, 1)),
    ],
)
def test_stripes_of_a_record_that_cannot_be_are_left_out_with_a_word(darshan_log, version, last):
    """The numbers of targets and components are the file's; nothing is read behind its end or before its start."""
    component = struct.pack("<7q16s", 65536, 2, 0, 0, 0, -1, 0, b"flash")
    sound = (
        made.stripes(5, [7], 65536) if version == 1 else struct.pack("<Q3q", 5, 0, 1, 1) + component + b"\7" + 7 * b"\0"
    )
    moved = {"writes": 1, "bytes_written": 5, "write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
    counted = [made.counters(("POSIX", 4), one, 0, **moved) for one in (5, 6)]
    modules = {"LUSTRE": (version, [sound, last]), "POSIX": (4, counted)}
    trace = iostrata.open_trace(darshan_log(modules=modules, names={5: "/x/a", 6: "/x/b"}))
    told = dict(zip(trace.definitions.files.name, trace.definitions.files.properties, strict=True))
    assert told["/x/a"]["Storage targets"] == "7"
    assert "Storage targets" not in told["/x/b"]
    assert any("LUSTRE" in one.reason and "the last record is cut" in one.reason for one in trace.damage.locations)


_TIME = st.one_of(st.floats(), st.sampled_from([0.0, -1.0, 1e300, float("nan"), 3.0, 12.0]))


@given(
    st.lists(
        st.tuples(st.sampled_from(["POSIX", "STDIO"]), st.integers(-1, 2), st.integers(0, 10**12), _TIME, _TIME, _TIME),
        max_size=8,
    )
)
def test_bytes_and_counts_of_a_record_never_depend_on_its_times(darshan_log, rows):
    """One record is sound, so that there are times at all; of all others they may be anything."""
    records = {"POSIX": [("POSIX", 0, 7, 1.0, 2.0, 0.5)], "STDIO": []}
    for row in rows:
        records[row[0]].append(row)
    versions = {"POSIX": 4, "STDIO": 2}
    modules = {
        name: (
            versions[name],
            [
                made.counters(
                    (name, versions[name]), 5 + place, rank, writes=3, bytes_written=moved,
                    write_start_timestamp=start, write_end_timestamp=end, write_time=took,
                )
                for place, (_, rank, moved, start, end, took) in enumerate(mine)
            ],
        )
        for name, mine in records.items()
        if mine
    }  # fmt: skip
    layers = iostrata.open_trace(darshan_log(modules=modules, processes=3)).layers
    for name, layer in (("POSIX", "POSIX"), ("STDIO", "ISOC")):
        moved = sum(row[2] for row in records[name])
        if moved:
            told = layers[layer].statistics("write")
            assert (told.operations, told.bytes) == (3 * len(records[name]), moved)
            assert layers[layer].bandwidth("write").volume == pytest.approx(moved, rel=1e-9)


@given(st.lists(st.integers(0, 10**7), min_size=1, max_size=30), st.integers(-20, 20))
def test_bins_of_a_heatmap_have_the_bytes_of_the_counters(darshan_log, bins, rounded):
    moved, often = sum(bins) + rounded, 20
    if not sum(bins) or moved <= 0:
        return
    counted = made.counters(("POSIX", 4), 5, 0, writes=often, bytes_written=moved)
    modules = {"HEATMAP": (1, [heatmap(1, 0, 0.25, bins, [0] * len(bins))]), "POSIX": (4, [counted])}
    layer = iostrata.open_trace(darshan_log(modules=modules, names={1: "heatmap:POSIX"})).layers["POSIX"]
    assert (layer.statistics("write").operations, layer.statistics("write").bytes) == (often, moved)
    assert layer.bandwidth("write").volume == pytest.approx(moved, rel=1e-12)


def test_what_a_heatmap_has_and_counters_do_not_is_not_taken_for_rounding(darshan_log):
    counted = made.counters(("POSIX", 4), 5, 0, writes=2, bytes_written=50)
    modules = {"HEATMAP": (1, [heatmap(1, 0, 0.25, [900, 100], [0, 0])]), "POSIX": (4, [counted])}
    trace = iostrata.open_trace(darshan_log(modules=modules, names={1: "heatmap:POSIX"}))
    assert trace.layers["POSIX"].statistics("write").bytes == 1000
    assert "POSIX writes of 1 kB in HEATMAP, of 50 B by counters" in str(trace.damage.locations)


def test_layers_without_segments_of_dxt_are_told_by_their_counters(darshan_log, capsys, tmp_path):
    moved = {"reads": 2, "bytes_read": 60, "read_time": 0.5, "writes": 3, "bytes_written": 90, "write_time": 0.25}
    path = darshan_log(
        modules={
            "DXT_POSIX": (1, [dxt(5, 0, [(0, 9, 0.0, 1.0)])]),
            "POSIX": (4, [posix(5, 0, 0, 1, 0, 9)]),
            "STDIO": (2, [made.counters(("STDIO", 2), 6, rank, **moved) for rank in (0, 1)]),
        },
        names={5: "/f", 6: "/g"},
    )
    assert main(["layers", "--json", str(path)]) == 0
    told = {(one["layer"], one["direction"]): one for one in json.loads(capsys.readouterr().out)["layers"]}
    assert list(told) == [("ISOC", "read"), ("ISOC", "write"), ("POSIX", "write")]
    known = {"operations": 6, "bytes": 180, "summed_s": 0.5, "slowest_s": 0.25, "ranks": 2, "files": 1, "busy_s": None}
    assert told["ISOC", "write"].items() >= known.items()
    for command in (["layers"], [], ["layers", "--direction", "total"]):
        assert main([*command, str(path)]) == 0
        assert "ISOC" in capsys.readouterr().out
    assert main(["collect", "-o", str(tmp_path / "runs"), str(path)]) == 0
    (table,) = (tmp_path / "runs").rglob("job_layer*.parquet")
    rows = {(one["layer"], one["direction"]): one["bytes"] for one in pyarrow.parquet.read_table(table).to_pylist()}
    assert rows["ISOC", "read"] == 120


def test_bytes_of_files_of_pnetcdf_are_those_of_their_variables(darshan_log):
    moved = {"bytes_written": 90, "bytes_read": 7}
    files = made.counters(("PNETCDF_FILE", 3), 5, 0, opens=1, **moved)
    times = {f"{way}_{end}_timestamp": 2.0 for way in ("read", "write") for end in ("start", "end")}
    variables, shared = (
        made.counters(("PNETCDF_VAR", 1), 6 + one, -one, coll_writes=3, indep_reads=1, **moved, **times)
        for one in range(2)
    )
    bins = [heatmap(1, rank, 0.5, [90], [7]) for rank in (0, 1)]
    modules = {"PNETCDF_FILE": (3, [files]), "PNETCDF_VAR": (1, [variables, shared]), "HEATMAP": (1, bins)}
    path = darshan_log(version="3.41", modules=modules, names={1: "heatmap:POSIX"})
    layers = iostrata.open_trace(path).layers
    told = {(name, way): layers[name].statistics(way) for name in layers for way in ("read", "write")}
    assert [told["PnetCDF", way].bytes for way in ("read", "write")] == [14, 180]
    # How many ranks there are of a sum over all that share a file is not known, beside intervals of ranks neither.
    assert [told[name, "read"].ranks for name in ("PnetCDF", "POSIX")] == [None, 2]


@pytest.mark.parametrize("traced", [True, False], ids=["DXT", "counters"])
def test_files_whose_ids_collide_are_told_apart_and_are_damage(darshan_log, traced):
    """A note of 30 bytes by MPI-IO and a dump of 300 MB by POSIX have one id."""
    at = {"write_start_timestamp": 1.0, "write_end_timestamp": 2.0, "write_time": 0.5}
    note = made.counters(("MPI-IO", 3), 5, 0, indep_writes=1, bytes_written=30, **at)
    dump = made.counters(("POSIX", 4), 5, 0, writes=3, bytes_written=300_000_000, **at)
    modules = {"MPI-IO": (3, [note]), "POSIX": (4, [dump])}
    if traced:
        modules["DXT_MPIIO"] = (2, [dxt(5, 0, [(0, 30, 1.0, 2.0)])])
        modules["DXT_POSIX"] = (
            1,
            [dxt(5, 0, [(one * 10**8, 10**8, 1.0 + one / 4, 1.1 + one / 4) for one in range(3)])],
        )
    trace = iostrata.open_trace(darshan_log(modules=modules, names={5: "/a"}))
    (lost,) = trace.damage.locations
    assert "/a: POSIX moved 300 MB for 30 B of MPI-IO, 10,000,000 times, which cannot be" in lost.reason
    assert trace.layers["POSIX"].statistics("write").bytes == 300_000_000
    compared = iostrata.compare_layers(trace, periods=False)
    assert not compared.flows
    assert not {"write-amplification", "funnelled-collective", "split-requests"} & {one.id for one in compared.findings}


def test_one_byte_that_makes_the_library_read_a_buffer_is_no_collision(darshan_log):
    at = {"read_start_timestamp": 1.0, "read_end_timestamp": 2.0}
    above = made.counters(("MPI-IO", 3), 5, 0, indep_reads=2, bytes_read=2, **at)
    below = made.counters(("POSIX", 4), 5, 0, reads=2, bytes_read=2 * 4_194_304, **at)
    trace = iostrata.open_trace(darshan_log(modules={"MPI-IO": (3, [above]), "POSIX": (4, [below])}, names={5: "/a"}))
    assert not trace.damage.damaged


def test_hdf5_stands_beside_what_dxt_traced(darshan_log, capsys, tmp_path):
    # DXT traces MPI-IO and POSIX only: of HDF5 there are counters, on the dataset in the file.
    counted = made.counters(("H5D", 1), 6, 0, writes=3, bytes_written=75)
    modules = {
        "H5D": (1, [counted]),
        "DXT_POSIX": (1, [dxt(5, 0, [(0, 100, 1.0, 1.5)])]),
        "DXT_MPIIO": (2, [dxt(5, 0, [(0, 100, 1.0, 1.75)])]),
    }
    path = darshan_log(modules=modules, names={5: "/f.h5", 6: "/f.h5:/data"})
    assert main(["compare", str(path), "--json"]) == 0
    flow, *sides = json.loads(capsys.readouterr().out)["pairs"]
    assert (flow["upper"], flow["lower"], flow["amplification"]) == ("MPI-IO", "POSIX", 1.0)
    found = [
        (one["upper"], one["lower"], one["adjacent"], one["upper_bytes"], one["lower_layer_bytes"]) for one in sides
    ]
    assert found == [("HDF5", "MPI-IO", True, 75, 100), ("HDF5", "POSIX", False, 75, 100)]
    assert "verdict" in flow
    assert not any("verdict" in one for one in sides)
    assert main(["compare", str(path)]) == 0
    shown = capsys.readouterr().out
    assert "MPI-IO → POSIX write" in shown
    assert "HDF5 | MPI-IO" in shown
    assert "counters alone tell of one" in shown
    assert main(["report", str(path), "-o", str(tmp_path / "page.html")]) == 0
    assert main(["convert", str(path), str(tmp_path / "x.h5")]) == 0


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"writes": 2**60}, "1 record with counts that cannot be, left out"),
        ({"opens": -7}, "1 record with counts that cannot be, left out"),
        ({"seq_writes": 5}, "more transfers of some kind than there are of all; these are left out"),
        ({"size_write_1k_10k": 3, "size_write_1m_4m": 3}, "more transfers of some kind than there are of all"),
        ({"file_not_aligned": 9}, "more transfers of some kind than there are of all"),
    ],
)
def test_counts_that_cannot_be_are_damage_and_left_out(darshan_log, capsys, record, told):
    moved = {"writes": 4, "bytes_written": 4096, "consec_writes": 4, "write_time": 1.0}
    moved |= {"write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
    sound = made.counters(("POSIX", 4), 5, 0, **moved)
    broken = made.counters(("POSIX", 4), 6, 1, **{**moved, **record})
    log = darshan_log(modules={"POSIX": (4, [sound, broken])}, names={5: "/f", 6: "/g"})
    trace = iostrata.open_trace(log)
    counters = trace.definitions.recording.counters
    assert counters.incomplete == ("POSIX",)
    for name in record.keys() & counters.counts.keys():
        assert counters.counts[name].max(initial=0) < max(1, record[name])
    assert counters.writes.max() == 4
    assert main(["layers", str(log)]) == 0
    (line,) = capsys.readouterr().err.splitlines()
    assert told in line
