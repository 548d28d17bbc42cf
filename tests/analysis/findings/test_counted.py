"""Findings by counters alone: logs of Darshan whose fault is planted, and sound ones."""

import importlib.util
from pathlib import Path

import iostrata
import numpy as np
import pytest
from iostrata.analysis.findings import find
from iostrata.cli import main
from iostrata.runs.collection.read import Settings, read_run

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)
POSIX, MPIIO, STDIO = ("POSIX", 4), ("MPI-IO", 3), ("STDIO", 2)
RANKS, FILE = 64, 5


def times(direction, total, slowest, **more):
    """Return counters of times of a shared file: summed, and of the slowest rank; a rank moves as much as any."""
    return {
        f"{direction}_start_timestamp": 1.0,
        f"{direction}_end_timestamp": 9.0,
        f"{direction}_time": total,
        "slowest_rank_time": slowest,
        "slowest_rank": 3,
        **more,
    }


@pytest.fixture
def findings(tmp_path):
    """Write records into a log, by module, and return its findings by id in their order."""

    def look(records, stripes=(), names=None, processes=RANKS):
        modules = {name: (version, parts) for (name, version), parts in records.items()}
        if stripes:
            modules["LUSTRE"] = (1, list(stripes))
        known = names or {FILE: "/scratch/data"}
        log = made.DarshanLog(modules=modules, names=known, processes=processes, length=20.0)
        path = tmp_path / "run.darshan"
        path.write_bytes(bytes(log))
        found = find(iostrata.open_trace(path))
        for one in found:
            assert "(by sums of the whole run)" in one.text
            assert one.cost_s is not None
            assert one.evidence["files"]
        return {one.id: one for one in reversed(found)}, [one.id for one in found]

    return look


def shared(direction="write", size=2**20, calls=64, total=64.0, slowest=2.0, **more):
    """Return a record of POSIX of a file that all ranks share, one request after the other."""
    moved = size * calls * RANKS
    values = {
        f"{direction}s": calls * RANKS,
        f"bytes_{direction}" if direction == "read" else "bytes_written": moved,
        f"consec_{direction}s": (calls - 1) * RANKS,
        f"seq_{direction}s": calls * RANKS - 1,
        "access1_access": size,
        "access1_count": calls * RANKS,
        "slowest_rank_bytes": moved // RANKS,
        "fastest_rank_bytes": moved // RANKS,
        **{f"max_byte_{'read' if direction == 'read' else 'written'}": moved - 1},
        **times(direction, total, slowest),
    }
    small = "size_{}_1k_10k" if size <= 10_000 else "size_{}_1m_4m"
    return made.counters(POSIX, FILE, -1, **{**values, small.format(direction): calls * RANKS, **more})


def test_counters_tell_how_many_requests_follow_the_one_before(findings, tmp_path):
    findings({POSIX: [shared()]})
    trace = iostrata.open_trace(tmp_path / "run.darshan")
    for by in ("file", "layer"):
        (row,) = trace.breakdown(by).to_dict()
        assert (row["writes"], row["consecutive_writes"], row["consecutive_reads"]) == (64 * RANKS, 63 * RANKS, 0)
        assert row["strided_writes"] is row["random_writes"] is None


def test_large_consecutive_writes_are_no_finding_but_that_they_are_independent(findings):
    assert findings({POSIX: [shared()]})[1] == ["shared-file-independent"]


@pytest.mark.parametrize(
    ("first", "given", "words"),
    [
        ("small-requests", {"size": 2048}, "4,096 POSIX writes ask for less than 64 KiB (4,096 of 2,048 B)"),
        ("small-requests", {"size": 2048, "seeks": 4096}, "a seek before each"),
        ("small-requests", {"direction": "read", "size": 2048}, "POSIX reads"),
        ("flush-dominates", {"size": 2048, "fsyncs": 4096}, "4,096 flushes beside 4,096 writes"),
        (
            "random-access",
            {"size": 200_000, "consec_writes": 0, "stride1_stride": 777_000, "stride1_count": 4000},
            "the next one is 777 kB further",
        ),
        ("random-access", {"size": 200_000, "consec_writes": 0, "seq_writes": 64}, "4,032 of them go back"),
        ("redundant-reads", {"direction": "read", "max_byte_read": 2**20 - 1}, "4,096 times over"),
        ("alternating-access", {"rw_switches": 4000}, "by turns"),
        ("metadata-time", {"meta_time": 640.0, "slowest_rank_time": 12.0, "opens": 6400}, "6,400 opens"),
        ("imbalance", {"slowest_rank_bytes": 200 * 2**20 * 15, "slowest_rank_time": 9.0}, "rank 3 does 73 %"),
    ],
)
def test_what_is_planted_comes_first_with_its_file_rank_and_cost(findings, first, given, words):
    found, order = findings({POSIX: [shared(**given)]})
    assert order[0] == first
    one = found[first]
    assert words in one.text
    assert one.evidence["files"] == ["/scratch/data"]
    assert one.evidence["slowest_rank"] == 3
    assert 0 < one.cost_s <= given.get("slowest_rank_time", 2.0)


@pytest.mark.parametrize(
    ("flushes", "told", "beside"),
    [(4096, "after each (", "a flush after each"), (2600, "in each flush (", "many flushes")],
)
def test_flushes_follow_each_write_only_where_there_are_as_many(findings, flushes, told, beside):
    found, _ = findings({POSIX: [shared(size=2048, fsyncs=flushes)]})
    assert f"waits for the storage {told}" in found["flush-dominates"].text
    assert beside in found["small-requests"].text


def test_pieces_below_collective_calls_of_one_aggregator(findings):
    above = {"coll_writes": 64, "bytes_written": 2**24, "size_write_100k_1m": 64, "slowest_rank_bytes": 2**18}
    upper = made.counters(MPIIO, FILE, -1, **above, **times("write", 640.0, 10.0))
    lower = shared(size=256, calls=1024, total=9.0, slowest=9.0, slowest_rank_bytes=2**24)
    found, order = findings({POSIX: [lower], MPIIO: [upper]})
    assert {"small-requests", "split-requests", "funnelled-collective"} <= {*order}
    assert "65,536 writes of 256 B" in found["split-requests"].text
    assert "mostly on rank 3" in found["funnelled-collective"].text
    assert not {"slow-ranks", "imbalance", "serial-io", "shared-file-independent"} & {*order}
    # From 64 KiB on, exactly so many among them, but no less.
    for size, told in ((2**22, True), (2**22 - 64, False)):
        upper = made.counters(MPIIO, FILE, -1, **{**above, "bytes_written": size}, **times("write", 640.0, 10.0))
        assert ("split-requests" in findings({POSIX: [lower], MPIIO: [upper]})[0]) is told


def test_time_in_the_library_above_posix(findings):
    above = {"coll_writes": 4096, "bytes_written": 2**32, "slowest_rank_bytes": 2**26}
    upper = made.counters(MPIIO, FILE, -1, **above, **times("write", 700.0, 12.0))
    found, order = findings({POSIX: [shared()], MPIIO: [upper]})
    assert order[0] == "layer-overhead"
    assert found["layer-overhead"].cost_s == pytest.approx(10.0)


def test_time_in_the_library_is_told_beside_that_of_few_aggregators_below(findings):
    above = {"coll_writes": 64, "bytes_written": 2**30, "slowest_rank_bytes": 2**24}
    upper = made.counters(MPIIO, FILE, -1, **above, **times("write", 700.0, 18.0))
    lower = shared(size=2**20, calls=16, total=7.0, slowest=7.0, slowest_rank_bytes=2**30)
    found, order = findings({POSIX: [lower], MPIIO: [upper]})
    assert order[:2] == ["layer-overhead", "funnelled-collective"]
    assert found["layer-overhead"].cost_s + found["funnelled-collective"].cost_s <= 18.0
    assert found["layer-overhead"].cost_s == pytest.approx(11.0)


def test_what_a_library_moves_in_calls_that_move_no_data_is_no_metadata(findings):
    """HDF5 fills its datasets when they are made, which takes 6 of the 7 s of these calls."""
    stamps = {"write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    above, below = [], []
    for rank in range(4):
        moved = {"writes": 4, "bytes_written": 2**28, "write_time": 2.0, "meta_time": 7.0, "opens": 4}
        above.append(made.counters(("H5D", 1), FILE, rank, **moved, **stamps))
        below.append(made.counters(MPIIO, FILE, rank, coll_writes=8, bytes_written=2**29, write_time=8.0, **stamps))
    found, _ = findings({("H5D", 1): above, MPIIO: below}, processes=4)
    assert found["metadata-time"].cost_s == pytest.approx(1.0)


def test_times_of_layers_are_not_added_up_to_more_than_the_run(findings):
    stamps = {"write_start_timestamp": 1.0, "write_end_timestamp": 19.0}
    moved = {"bytes_written": 2**28, **stamps}
    upper = [made.counters(MPIIO, FILE, rank, coll_writes=2, write_time=18.0, **moved) for rank in range(4)]
    lower = [made.counters(POSIX, FILE, rank, writes=2, write_time=6.0, **moved) for rank in range(4)]
    found, _ = findings({MPIIO: upper, POSIX: lower}, processes=4)
    assert found["layer-overhead"].cost_s == pytest.approx(12.0)


def test_files_of_a_rank_each(findings):
    one = {"opens": 1, "writes": 2, "bytes_written": 4096, "write_time": 0.01, "meta_time": 0.5}
    at = {"write_start_timestamp": 1.0, "write_end_timestamp": 2.0}
    records = [made.counters(POSIX, 100 + rank, rank, **one, **at) for rank in range(300)]
    found, order = findings(
        {POSIX: records}, names={100 + rank: f"/scratch/{rank}" for rank in range(300)}, processes=300
    )
    assert {"small-files", "file-per-process", "metadata-time"} <= {*order}
    assert found["file-per-process"].evidence["file_count"] == 300
    assert found["file-per-process"].cost_s == pytest.approx(0.5)


def test_stripes_and_a_slow_storage_target(findings):
    moved = {"writes": 64, "bytes_written": 2**26, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    slow = 7
    records = [
        made.counters(POSIX, 100 + rank, rank, **moved, write_time=8.0 if rank % 8 == slow else 1.0)
        for rank in range(32)
    ]
    names = {100 + rank: f"/scratch/{rank}" for rank in range(32)}
    lustre = [made.stripes(100 + rank, [rank % 8]) for rank in range(32)]
    found, order = findings({POSIX: records}, lustre, names, processes=32)
    assert order[0] == "slow-target"
    one = found["slow-target"]
    assert one.evidence["storage_target"] == slow
    assert {*one.evidence["files"]} == {f"/scratch/{rank}" for rank in (7, 15, 23, 31)}
    assert one.cost_s == pytest.approx(7.0)
    assert "storage target 7 takes 8.0 times as long a byte as the median of 8 targets: 12 %" in one.text
    assert "on /scratch/7, /scratch/15, /scratch/23 and 1 other; longest" in one.text
    found, order = findings({POSIX: [shared(calls=512)]}, [made.stripes(FILE, [12])])
    assert order[0] == "few-stripes"
    assert found["few-stripes"].evidence["stripes_that_help"] == 32
    # No more targets help than there are.
    found, _ = findings({POSIX: [shared(calls=512)]}, [made.stripes(FILE, [12], there=8)])
    assert found["few-stripes"].evidence["stripes_that_help"] == 8


@pytest.mark.parametrize("seed", range(4))
def test_the_targets_of_a_slow_server_are_named_together(findings, seed):
    """128 files on 16 targets, those of one server, 4 and 5, take five times as long."""
    random = np.random.default_rng(seed)
    moved = {"writes": 64, "bytes_written": 2**26, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    records = [
        made.counters(
            POSIX, 100 + rank, rank, **moved, write_time=random.uniform(0.8, 1.2) * (5 if rank % 16 in (4, 5) else 1)
        )
        for rank in range(128)
    ]
    names = {100 + rank: f"/scratch/{rank}" for rank in range(128)}
    lustre = [made.stripes(100 + rank, [rank % 16]) for rank in range(128)]
    found, order = findings({POSIX: records}, lustre, names, processes=128)
    assert order[0] == "slow-target"
    assert sorted(found["slow-target"].evidence["storage_targets"]) == [4, 5]
    assert {int(name.split("/")[-1]) % 16 for name in found["slow-target"].evidence["files"]} <= {4, 5}


@pytest.mark.parametrize("seed", range(4))
def test_of_targets_that_are_alike_none_is_slow(findings, seed):
    random = np.random.default_rng(seed)
    moved = {"writes": 64, "bytes_written": 2**26, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    records = [
        made.counters(POSIX, 100 + rank, rank, **moved, write_time=random.lognormal(0, 0.3)) for rank in range(128)
    ]
    names = {100 + rank: f"/scratch/{rank}" for rank in range(128)}
    lustre = [made.stripes(100 + rank, [rank % 16]) for rank in range(128)]
    assert "slow-target" not in findings({POSIX: records}, lustre, names, processes=128)[1]


def test_a_target_is_not_slow_by_files_that_lie_on_a_slow_one_too(findings):
    """64 files of four stripes each; three of four files on targets 6 and 12 lie on target 9, too."""
    moved = {"writes": 64, "bytes_written": 2**26, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    on = {rank: [(4 * rank + 3 * place + rank // 16) % 16 for place in range(4)] for rank in range(64)}
    records = [made.counters(POSIX, 100 + rank, rank, **moved, write_time=6.0 if 9 in on[rank] else 1.0) for rank in on]
    names = {100 + rank: f"/scratch/{rank}" for rank in on}
    lustre = [made.stripes(100 + rank, targets) for rank, targets in on.items()]
    found, order = findings({POSIX: records}, lustre, names)
    assert order[0] == "slow-target"
    assert found["slow-target"].evidence["storage_targets"] == [9]


def test_a_rank_that_is_slow_on_files_of_its_own(findings):
    moved = {"writes": 64, "bytes_written": 2**26, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    records = [
        made.counters(POSIX, 100 + rank, rank, **moved, write_time=8.0 if rank == 3 else 1.0) for rank in (*range(8),)
    ]
    # One that moves next to nothing, and one that moves much more, do other work.
    records += [made.counters(POSIX, 200, 8, writes=1, bytes_written=9, write_time=9.0)]
    records += [made.counters(POSIX, 201, 9, writes=9, bytes_written=2**28, write_time=9.0)]
    names = {100 + rank: f"/scratch/{rank}" for rank in range(8)} | {200: "/a", 201: "/b"}
    found, order = findings({POSIX: records}, names=names)
    assert order == ["slow-ranks"]
    assert found["slow-ranks"].evidence["slow_ranks"] == [3]
    assert found["slow-ranks"].cost_s == pytest.approx(8 - 15 / 8)


def test_what_posix_moves_beyond_what_a_library_asks_for(findings):
    asked = {"bytes_read": 2**26, "slowest_rank_bytes": 2**20, "indep_reads": 64}
    reads = shared("read", total=640.0, slowest=10.0, max_byte_read=2**26 - 1)
    found, order = findings(
        {MPIIO: [made.counters(MPIIO, FILE, -1, **asked, **times("read", 640.0, 10.0))], POSIX: [reads]}
    )
    assert order[0] == "read-amplification"
    assert "redundant-reads" not in order, "the program asks for each byte once"
    assert "POSIX has read 4.29 GB for 67.1 MB of MPI-IO: 64.00 times" in found["read-amplification"].text
    assert found["read-amplification"].cost_s == pytest.approx(10 * 63 / 64)
    # Where the program writes only, they are those of writes that change a part of a block.
    asked = {"bytes_written": 2**26, "slowest_rank_bytes": 2**20, "indep_writes": 64}
    upper = made.counters(MPIIO, FILE, -1, **asked, **times("write", 640.0, 10.0))
    found, order = findings({MPIIO: [upper], POSIX: [reads]})
    assert "data-sieving" in order
    assert "MPI-IO only writes, and POSIX reads 4.29 GB in 4,096 operations" in found["data-sieving"].text
    # What is done in these reads is the library's doing, and what they find behind the end of the file is nothing.
    small = {"size_read_0_100": 4096, "size_read_1m_4m": 0, "bytes_read": 0, "rw_switches": 4000, "consec_reads": 0}
    found, order = findings({MPIIO: [upper], POSIX: [shared("read", total=640.0, slowest=10.0, **small)]})
    assert order[0] == "data-sieving"
    assert not {"small-requests", "random-access", "alternating-access"} & {*order}
    found, order = findings({MPIIO: [upper], POSIX: [shared(total=640.0, slowest=10.0)]})
    assert order[0] == "write-amplification"


def test_streams_that_move_the_data(findings):
    moved = {"writes": 4096, "bytes_written": 2**28, "slowest_rank_bytes": 2**22, **times("write", 64.0, 2.0)}
    found, order = findings({STDIO: [made.counters(STDIO, FILE, -1, **moved)]})
    assert order == ["heavy-stdio"]
    assert found["heavy-stdio"].cost_s == pytest.approx(2.0)


def test_calls_that_wait_beside_each_other_cost_nothing(findings):
    """A pipe that waits for its other end, opened by several threads of one process."""
    waits = {"opens": 2, "reads": 1, "bytes_read": 5, "read_time": 0.001, "meta_time": 19.0}
    at = {"read_start_timestamp": 1.0, "read_end_timestamp": 2.0}
    records = [made.counters(POSIX, 100 + pipe, 0, **waits, **at) for pipe in range(4)]
    names = {100 + pipe: f"/tmp/pipe{pipe}" for pipe in range(4)}
    assert findings({POSIX: records}, names=names, processes=1)[1] == []


def test_the_overview_has_findings_numbers_and_a_coarse_signal(tmp_path, capsys):
    path = tmp_path / "run.darshan"
    modules = {"POSIX": (4, [shared(size=2048)])}
    path.write_bytes(bytes(made.DarshanLog(modules=modules, names={FILE: "/f"}, processes=RANKS, length=20.0)))
    for command in (["layers"], [], ["compare"], ["info"]):
        assert main([*command, str(path)]) == 0
    text = capsys.readouterr().out
    assert "ask for less than 64 KiB" in text
    assert "No findings" not in text
    trace = iostrata.open_trace(path)
    recording = trace.definitions.recording
    assert recording.rows == "extents"
    assert any("bound and no curve" in note for note in recording.notes)
    statistics = trace.layers["POSIX"].statistics("write")
    assert (statistics.operations, statistics.bytes, statistics.summed_s) == (4096, 4096 * 2048, 64.0)
    assert (statistics.request_bytes.min, statistics.request_bytes.max) == (2048, 2048)
    assert {"busy_s", "ranks"} <= statistics.unavailable
    signal = trace.layers["POSIX"].bandwidth("write")
    assert signal.volume == 4096 * 2048


@pytest.fixture
def two_logs(tmp_path):
    """Paths of logs of one job before and after its requests became larger, which saved 9 of 10 s."""
    paths = []
    for name, size, calls, slowest in (("before", 1024, 2048, 10.0), ("after", 2**20, 2, 1.0)):
        log_file = {"opens": 1, "writes": 3, "bytes_written": 90, "meta_time": 0.25}
        own = made.counters(STDIO, 6, 0, **log_file, **{**times("write", 0.5, 0.75), "slowest_rank": 0})
        records = [shared(size=size, calls=calls, total=slowest * 60, slowest=slowest, opens=64, fsyncs=7)]
        modules = {"POSIX": (4, records), "STDIO": (2, [own])}
        paths.append(tmp_path / f"{name}.darshan")
        names = {FILE: "/scratch/data", 6: "/scratch/log"}
        log = made.DarshanLog(modules=modules, names=names, processes=RANKS, length=20.0)
        paths[-1].write_bytes(bytes(log))
    return paths


def test_the_slowest_rank_stands_where_busy_time_is_not_known(two_logs, capsys):
    one = iostrata.open_trace(two_logs[0]).layers["POSIX"].statistics("write")
    assert (one.operations, one.bytes) == (2048 * RANKS, 2048 * RANKS * 1024)
    assert one.slowest_s == pytest.approx(10.0)
    assert one.slowest_bandwidth == pytest.approx(one.bytes / 10.0)
    assert main([str(two_logs[0])]) == 0
    assert "slowest rank" in (shown := capsys.readouterr().out)
    assert "10 s" in shown
    assert "busy" not in shown


def test_counters_tell_of_files(two_logs):
    table = iostrata.open_trace(two_logs[0]).breakdown("file")
    rows = {(table.layer[row], table.key[row]): row for row in range(len(table))}
    assert rows.keys() == {("POSIX", "/scratch/data"), ("ISOC", "/scratch/log")}
    told = ("writes", "bytes_written", "opens", "flushes", "summed_s", "metadata_s")
    values = {key: [table.columns[name][row] for name in told] for key, row in rows.items()}
    assert values["POSIX", "/scratch/data"] == [2048 * RANKS, 2048 * RANKS * 1024, 64, 7, 600.0, 0.0]
    assert values["ISOC", "/scratch/log"] == [3, 90, 1, 0, 0.5, 0.25]
    assert set(table.columns["busy_s"]) == {None}


def test_a_difference_of_counters_names_the_cause_and_what_it_saved(two_logs, capsys):
    assert main(["diff", *map(str, two_logs)]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines() if line.startswith("  ")]
    assert lines[0].startswith("Finding small-requests went: 100 % of 131,072 POSIX writes")
    assert lines[1].startswith("POSIX writes ask for 1.05 MB at a time (median) instead of 1.02 kB")
    assert lines[2].startswith("POSIX has 128 write operations instead of 131,072")
    assert any(line.startswith("POSIX writes take the slowest rank 1 s instead of 10 s") for line in lines)


def test_findings_of_counters_stand_below_layers_side_by_side(two_logs, capsys):
    assert main(["compare", str(two_logs[0])]) == 0
    shown = capsys.readouterr().out
    assert "small-requests" in shown
    assert "what of one layer served which other is not known" in shown


def test_what_the_program_did_itself_is_collected_from_counters(tmp_path):
    above = {"coll_writes": 64, "bytes_written": 2**24, "slowest_rank_bytes": 2**18}
    records = {
        "MPI-IO": (3, [made.counters(MPIIO, FILE, -1, **above, **times("write", 640.0, 10.0))]),
        "POSIX": (
            4,
            [
                shared(size=256, calls=1024, total=90.0, slowest=9.0),
                made.counters(POSIX, 6, 3, reads=2, bytes_read=50, opens=1, **times("read", 0.5, 0.5)),
            ],
        ),
    }
    path = tmp_path / "run.darshan"
    path.write_bytes(bytes(made.DarshanLog(records, {FILE: "/a", 6: "/b"}, processes=RANKS, length=20.0)))
    run = read_run(path, Settings())
    job = run.job
    assert (job.operations, job.bytes_read, job.bytes_written, job.cost_s) == (66, 50.0, float(2**24), 640.5)
    assert job.rank_io_s == pytest.approx(640.5 / RANKS)
    (lower,) = (one for one in run.layers if (one.layer, one.direction) == ("POSIX", "write"))
    assert (lower.above, lower.amplification, lower.fan_out) == ("MPI-IO", 1.0, 1024.0)
    (upper,) = (one for one in run.layers if one.layer == "MPI-IO")
    assert (upper.collective_operations, upper.slowest_s, upper.operations) == (64, 10.0, 64)


@pytest.mark.parametrize(
    ("modules", "partial", "beside"),
    [
        # Half of a heat map, and stripes that are cut, are no counters.
        ({"HEATMAP": (1, [made.heatmap(9, 0, 1.0, [5] * 20, [0] * 20)[:-8]]), "LUSTRE": (1, [b"\1" * 20])}, (), False),
        ({"STDIO": (2, [made.counters(STDIO, 7, 0, writes=2, bytes_written=9)])}, ("STDIO",), False),
        ({}, ("POSIX",), True),
        ({"MPI-IO": (3, [made.counters(MPIIO, FILE, -1, write_time=np.nan)])}, (), True),
    ],
)
def test_what_is_found_in_complete_counters_does_not_come_from_damage(tmp_path, modules, partial, beside):
    record = shared(size=1024, calls=1024, total=500.0, slowest=9.0, size_write_1k_10k=1024 * RANKS)
    names = {FILE: "/scratch/data", 7: "/scratch/log", 9: "heatmap:POSIX"}
    log = made.DarshanLog({"POSIX": (4, [record]), **modules}, names, processes=RANKS, length=20.0, partial=partial)
    path = tmp_path / "run.darshan"
    path.write_bytes(bytes(log))
    trace = iostrata.open_trace(path)
    assert trace.damage.damaged
    found = next(one for one in find(trace) if one.id == "small-requests")
    assert found.layer == "POSIX"
    assert found.text.endswith("(may come from the trace's damage)") is beside


def test_diff_tells_of_seeks_and_flushes_that_went(tmp_path, capsys):
    paths = []
    for number, calls in enumerate((4096, 64)):
        record = shared(size=65_536, total=60.0, slowest=3.0, opens=RANKS, seeks=calls, fsyncs=calls)
        paths.append(tmp_path / f"{number}.darshan")
        log = made.DarshanLog({"POSIX": (4, [record])}, {FILE: "/scratch/data"}, processes=RANKS, length=20.0)
        paths[-1].write_bytes(bytes(log))
    assert main(["diff", *map(str, paths)]) == 0
    shown = capsys.readouterr().out
    assert "POSIX seeks 64 times instead of 4,096: 1/64" in shown
    assert "POSIX has 64 flushes instead of 4,096: 1/64" in shown
    assert "POSIX has 128 metadata operations instead of 4,160" in shown
    assert "Not compared" not in shown
    assert main([str(paths[0])]) == 0
    assert "More: periods, compare, layers, report" in capsys.readouterr().out, "loops and handles need operations"


@pytest.mark.parametrize("absurd", [1e300, 1e41, float("inf")])
def test_a_time_that_cannot_be_is_damage_and_no_cost(findings, absurd):
    """Warnings are errors here: no time is divided by another that is a hundred orders of magnitude away."""
    found, _ = findings({POSIX: [shared(size=2048, slowest_rank_time=absurd, write_time=1e-9)]})
    assert all(0 <= one.cost_s <= 20.0 for one in found.values())
    assert all("(may come from the trace's damage)" in one.text for one in found.values())


@pytest.mark.parametrize(("stripes", "told"), [(1, True), (15, True), (16, False), (32, False)])
def test_stripes_are_few_below_half_of_what_the_bytes_can_use(findings, stripes, told):
    """32 GiB of a file that 64 ranks share could use 32 storage targets."""
    found, _ = findings({POSIX: [shared(calls=512)]}, [made.stripes(FILE, list(range(stripes)))])
    assert ("few-stripes" in found) is told
