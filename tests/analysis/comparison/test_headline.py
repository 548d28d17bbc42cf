"""What comes first about a run: which share of it is I/O, and why."""

import importlib.util
import json
from dataclasses import replace
from pathlib import Path

import msgpack
import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.headline import _gained, headline_of
from iostrata.analysis.findings import find
from otf2.enums import IoAccessMode, IoCreationFlag, IoOperationFlag, IoOperationMode, IoStatusFlag, RegionRole

_SPEC = importlib.util.spec_from_file_location(
    "recorder_files", Path(__file__).parents[2] / "archives" / "recorders.py"
)
made = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(made)


def told(trace):
    return headline_of(trace, find(trace))


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "serial1", "mixed4"])
def test_io_is_what_the_longest_rank_spends_in_its_calls(fixtures, archive):
    trace = open_trace(fixtures / archive)
    found, cost = told(trace), trace.calls.cost
    assert found.io_s == pytest.approx(max(cost.io))
    assert found.io_share == pytest.approx(found.io_s / trace.duration)
    assert found.rank == cost.rank[cost.io.argmax()]
    assert found.basis == "calls"
    assert found.text.startswith("I/O is ")
    assert found.layer in trace.order
    assert json.loads(json.dumps(found.to_dict(), allow_nan=False)) == found.to_dict() | {
        "gain_s": None if found.gain_s is None else list(found.gain_s)
    }


def table(path, rows):
    path.write_text("layer,rank,mode,start,end,bytes,file\n" + "\n".join(rows))
    return open_trace(path)


def test_of_operations_that_overlap_time_counts_once_and_the_longest_rank_counts(tmp_path):
    rows = ["POSIX,0,write,0,1,9,/run/a", "POSIX,1,write,1,3,9,/run/a", "POSIX,1,write,2,5,9,/run/b"]
    found = told(table(tmp_path / "run.csv", [*rows, "POSIX,0,write,9,10,9,/run/a"]))
    assert (found.io_s, found.mean_io_s, found.rank, found.basis) == (4.0, 3.0, 1, "operations")
    assert found.text.startswith("I/O is 40 % of the run (4 s of 10 s on rank 1, 3 s on average)")


def test_what_is_too_little_to_matter_is_said_to_be(tmp_path):
    found = told(table(tmp_path / "run.csv", ["POSIX,0,write,0,0.01,9,/run/a", "POSIX,0,write,99.99,100,9,/run/a"]))
    assert "little to gain there" in found.text
    assert (found.finding, found.gain_s) == (None, None)


def test_what_could_save_next_to_nothing_of_the_run_heads_no_io(fixtures):
    trace = open_trace(fixtures / "late4")
    findings = find(trace)
    first = headline_of(trace, findings)
    (cause,) = (one for one in findings if one.id == first.finding and one.layer == first.layer)

    def with_gain(most):
        changed = [replace(one, gain_s=(0.0, most)) if one.id == cause.id else one for one in findings]
        return headline_of(trace, changed)

    assert with_gain(0.0011 * trace.duration).finding == cause.id
    half = replace(cause, gain_s=(0.2, 0.4), evidence={**cause.evidence, "first_thread_s": cause.cost_s / 2})
    # Of what several threads do, the run waits for the first one's part.
    assert _gained(half) == (0.1, 0.2)
    assert with_gain(0.0009 * trace.duration).finding != cause.id


@pytest.mark.parametrize(
    ("each_ns", "said"),
    [
        (400, "may take most of that: it is an upper bound"),
        *[(each, "takes about 3.2 ms of that, or more") for each in (6000, 15_000)],
        (18_000, ""),
    ],
)
def test_calls_of_which_recording_is_a_tenth_are_told(tmp_path, each_ns, said):
    starts = [2e-5 * place for place in range(2000)]
    rows = [f"POSIX,0,write,{start:.7f},{start + each_ns * 1e-9:.10f},9,/run/a" for start in starts]
    found = told(table(tmp_path / "run.csv", rows))
    assert found.text.partition("recording its 4,000 events ")[2] == said
    assert found.gain_s[0] == 0.0


@pytest.mark.parametrize(
    ("moved", "failed", "long"), [(512, 0, 10), (2**20, 4000, 10), (2**20, 3000, 10), (512, 4000, 50_000)]
)
def test_what_cannot_be_seen_is_told_where_there_is_little_io_and_a_hint_of_it(written, moved, failed, long):
    handle = written.handle(written.file("/s/a"), written.posix)
    definitions = written.trace.definitions
    for name in ("open", "write"):
        written.regions[name] = definitions.region(name, source_file="POSIX_IO", region_role=RegionRole.FILE_IO)
    written.call(0, "open", 0, 10)
    written.create(0, handle, 5)
    written.call(0, "write", 100, 100 + long)
    written.operate(0, handle, IoOperationMode.WRITE, 100, 100 + long, moved)
    for place in range(failed):
        written.call(0, "open", 60_000 + 100 * place, 60_000 + 100 * place + 10)
    written.call(0, "MPI_Barrier", 500_000, 501_000)
    text = told(written.closed()).text
    little = long == 10
    assert ("hardly a byte moves: what mapped files and child processes take is not recorded" in text) is (
        little and moved == 512
    )
    assert ("4,000 calls such as open leave no event, as where they fail" in text) is (little and failed == 4000)


@pytest.mark.parametrize("role", [RegionRole.FUNCTION, RegionRole.FILE_IO])
def test_functions_of_the_program_that_are_called_alike_hide_nothing(written, role):
    handle = written.handle(written.file("/s/a"), written.posix)
    definitions = written.trace.definitions
    written.regions["write"] = definitions.region("write", source_file="POSIX_IO", region_role=RegionRole.FILE_IO)
    written.regions["create_grid"] = definitions.region("create_grid", source_file="grid.c", region_role=role)
    written.call(0, "write", 100, 110)
    written.operate(0, handle, IoOperationMode.WRITE, 100, 110, 2**20)
    for place in range(4000):
        written.call(0, "create_grid", 60_000 + 100 * place, 60_000 + 100 * place + 10)
    assert "create_grid" not in told(written.closed()).text


def test_time_on_files_that_are_not_known_is_told_beside_that_of_layers(written):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.call(0, "write", 0, 1_000)
    written.operate(0, handle, IoOperationMode.WRITE, 10, 990, 2**20)
    written.call(0, "read", 2_000, 6_000)
    written.call(0, "write", 9_000, 10_000)
    written.operate(0, handle, IoOperationMode.WRITE, 9_010, 9_990, 2**20)
    trace = written.closed()
    share = trace.calls.cost.set_aside.mean() / trace.duration
    assert share == pytest.approx(0.1, rel=0.01)
    assert "of the run more is I/O on files that are not known, and in no layer" in told(trace).text


def test_a_run_of_no_time_has_no_shares(tmp_path):
    call = {
        "name": "write",
        "cat": "POSIX",
        "pid": 1,
        "tid": 1,
        "ts": 0,
        "dur": 0,
        "ph": "X",
        "args": {"fname": "/s/a"},
    }
    path = tmp_path / "run.pfw"
    path.write_text("[\n" + "".join(json.dumps({**call, "id": place}) + "\n" for place in range(3)))
    trace = open_trace(path)
    assert trace.calls.cost is not None
    assert " of the run more" not in told(trace).text


@pytest.mark.parametrize(("reads", "part"), [(1, "most of it"), (2, "the largest part of it")])
def test_most_is_more_than_half_and_else_it_is_the_largest_part(tmp_path, reads, part):
    write = ["POSIX,0,write,0,2.5,9,/run/a", "POSIX,1,write,0,2.5,9,/run/b"]
    read = [f"POSIX,{rank},read,3,{3 + reads},9,/run/a" for rank in range(2)]
    other = [f"ISOC,{rank},read,6,7,9,/run/c" for rank in range(2)]
    found = told(table(tmp_path / "run.csv", [*write, *read, *other, "POSIX,0,write,99,99.1,9,/run/a"]))
    assert f", {part} POSIX writes" in found.text


def test_how_something_is_read_comes_before_that_it_is_read_again(tmp_path):
    """All ranks read their files once more, one of them in small pieces: the others show that reading costs little."""
    size, rows = 2**20, []
    for rank in range(4):
        pieces = 2048 if rank == 2 else 1
        rows.append(f"POSIX,{rank},write,0,0.01,{size},/run/in.{rank},0")
        for row in range(pieces):
            begin = 1 + row * 0.002
            rows.append(
                f"POSIX,{rank},read,{begin},{begin + 0.0018},{size // pieces},/run/in.{rank},{row * size // pieces}"
            )
    # One of them is large, so that reading again costs a little more than reading in small pieces.
    rows.append(f"POSIX,2,read,6,6.2,{size},/run/in.2,0")
    path = tmp_path / "run.csv"
    path.write_text("layer,rank,mode,start,end,bytes,file,offset\n" + "\n".join(rows))
    trace = open_trace(path)
    findings = find(trace)
    again = next(one for one in findings if one.id == "read-back")
    assert again.cost_s > max(one.cost_s for one in findings if one.id == "small-requests")
    assert headline_of(trace, findings).finding == "small-requests"


@pytest.mark.parametrize(("times", "cause"), [(4, "redundant-reads"), (1, "slow-operations")])
def test_that_something_stood_in_the_way_comes_behind_what_the_program_does(tmp_path, times, cause):
    """A rank reads some pieces, a few of them slowly, and with four times over the same ones again."""
    size, rows, begin = 2**20, [], 1.0
    for _ in range(times):
        for row in range(40):
            took = 0.001 if row % 7 else 0.1
            rows.append(f"POSIX,0,read,{begin},{begin + took},{size},/run/in,{row * size}")
            begin += 0.2
    path = tmp_path / "run.csv"
    path.write_text("layer,rank,mode,start,end,bytes,file,offset\n" + "\n".join(rows))
    trace = open_trace(path)
    findings = {one.id: one for one in find(trace) if one.id in ("slow-operations", "redundant-reads")}
    slow = findings["slow-operations"]
    assert 0.9 * slow.cost_s > (findings["redundant-reads"].cost_s if times > 1 else 0.0)
    # What stood in the way may come again.
    assert slow.gain_s == (0.0, slow.cost_s)
    assert headline_of(trace, list(findings.values())).finding == cause


@pytest.mark.parametrize(("length", "told_so"), [(30, True), (10, False)])
def test_what_would_save_little_of_the_run_says_how_much_of_it(tmp_path, length, told_so):
    rows = [f"POSIX,0,write,{1 + 0.01 * row},{1.001 + 0.01 * row},100,/run/a" for row in range(400)]
    found = told(table(tmp_path / "run.csv", [*rows, f"POSIX,0,write,{length - 0.001},{length},100,/run/a"]))
    assert found.finding == "small-requests"
    assert found.text.endswith(f"{100 * found.gain_s[1] / found.run_s:.2g} % of the run") == told_so


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "ior384", "mixed4", "nonblocking4"])
def test_no_more_can_be_saved_than_there_is_to_pay(fixtures, archive):
    trace = open_trace(fixtures / archive)
    gains = [one for one in find(trace) if one.gain_s is not None]
    assert gains or archive != "ncckpt4"
    for one in gains:
        assert 0 <= one.gain_s[0] <= one.gain_s[1] <= one.cost_s
        assert f"of which {one.gain_text} could be saved" in one.text
        assert one.gain_reason


@pytest.mark.parametrize("bins", [10, 11])
def test_counters_tell_the_slowest_rank_and_no_mean_also_where_the_heat_map_ends_after_the_run(tmp_path, bins):
    counted = {"writes": 40, "bytes_written": 400, "write_time": 12.0, "slowest_rank": 1, "slowest_rank_time": 5.0}
    times = {"write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    modules = {
        "POSIX": (4, [made.counters(("POSIX", 4), 5, -1, **counted, **times)]),
        "HEATMAP": (1, [made.heatmap(6, rank, 1.0, [20] * bins, [0] * bins) for rank in range(2)]),
    }
    path = tmp_path / "run.darshan"
    log = made.DarshanLog(modules=modules, names={5: "/scratch/data", 6: "heatmap:POSIX"}, length=10.0)
    path.write_bytes(bytes(log))
    trace = open_trace(path)
    found = told(trace)
    assert trace.window[1] >= bins
    assert (found.io_s, found.mean_io_s, found.rank, found.basis) == (5.0, None, 1, "counters")


@pytest.mark.parametrize(
    ("size", "flushes", "text"),
    [
        (1000, 4000, "since writes are small and flushes take long; larger ones and fewer flushes"),
        (2_000_000, 4000, "since flushes take long; fewer flushes"),
        (1000, 0, "since writes are small; larger ones"),
    ],
)
def test_causes_that_counters_hold_one_time_for_are_both_named(tmp_path, size, flushes, text):
    bins = "size_write_100_1k" if size <= 1000 else "size_write_1m_4m"
    counted = {"writes": 4000, "bytes_written": 4000 * size, bins: 4000, "consec_writes": 3998, "fsyncs": flushes}
    times = {"write_time": 9.0, "slowest_rank_time": 5.0, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    path = tmp_path / "run.darshan"
    records = [made.counters(("POSIX", 4), 5, -1, **counted, **times, slowest_rank=1)]
    path.write_bytes(bytes(made.DarshanLog(modules={"POSIX": (4, records)}, names={5: "/scratch/data"}, length=10.0)))
    assert f"{text} could save up to 5 s" in told(open_trace(path)).text


@pytest.mark.parametrize("change", [{"layer": "ISOC"}, {"evidence": {"slowest_s": 4.0}}, {"cost_s": 2.0}])
def test_causes_with_a_time_of_their_own_are_not_named_together(tmp_path, change):
    counted = {"writes": 4000, "bytes_written": 4 * 10**6, "size_write_100_1k": 4000, "fsyncs": 4000}
    times = {"write_time": 9.0, "slowest_rank_time": 5.0, "write_start_timestamp": 1.0, "write_end_timestamp": 9.0}
    path = tmp_path / "run.darshan"
    records = [made.counters(("POSIX", 4), 5, -1, **counted, **times, slowest_rank=1)]
    path.write_bytes(bytes(made.DarshanLog(modules={"POSIX": (4, records)}, names={5: "/scratch/data"}, length=10.0)))
    trace = open_trace(path)
    causes = [one for one in find(trace) if one.id in ("small-requests", "flush-dominates")]
    assert "writes are small and flushes take long" in headline_of(trace, causes).text
    evidence = {**causes[1].evidence, **change.get("evidence", {})}
    other = replace(causes[1], **{**change, "evidence": evidence})
    assert "writes are small and flushes take long" not in headline_of(trace, [causes[0], other]).text


@pytest.mark.recordings
def test_what_a_knob_saved_is_within_what_was_foretold_without_it(recordings):
    pair = "pair_strided_coll", "pair_strided_indep"
    before, after = (told(open_trace(recordings / "benchmarks" / name)) for name in pair)
    assert before.gain_s is not None
    assert before.gain_s[0] <= before.io_s - after.io_s <= before.gain_s[1]


@pytest.mark.parametrize(("reread_s", "part"), [(0.5, 0.2), (6.0, 0.75)])
def test_a_cause_heads_the_io_only_where_it_explains_most_of_it(tmp_path, reread_s, part):
    """Writes of 2 s, of which 4 MiB are read back: what these take is all that the finding is about."""
    mib = 2**20
    writes = [f"POSIX,0,write,{2 * row},{2 * row + 0.5},{mib},/run/a,{row * mib}" for row in range(4)]
    reads = [f"POSIX,0,read,{20 + 2 * row},{20 + 2 * row + reread_s / 4},{mib},/run/a,{row * mib}" for row in range(4)]
    rows = ["layer,rank,mode,start,end,bytes,file,offset", *writes, *reads, "POSIX,0,write,39.9,40,9,/run/b,0"]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    found = told(open_trace(tmp_path / "run.csv"))
    assert (found.finding, found.layer) == ("read-back", "POSIX")
    assert found.cause_share == pytest.approx(reread_s / found.io_s)
    assert found.cause_share == pytest.approx(part, abs=0.01)
    first = ", most of it POSIX writes; 19 % of the I/O because" if part < 0.5 else ": POSIX, since"
    assert f"{first} processes read what they wrote themselves" in found.text


def test_flushes_of_layers_add_up_as_none_is_told_twice(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    found = told(trace)
    flushes = [one for one in find(trace) if one.id == "flush-dominates"]
    assert {one.layer for one in flushes} == {"netCDF", "HDF5"}
    assert found.cause_share * found.io_s == pytest.approx(sum(one.cost_s for one in flushes))
    assert (
        f"HDF5 flushes; {found.cause_share:.0%}".replace("%", " % of the I/O in netCDF and HDF5, because") in found.text
    )
    assert found.layer == "HDF5"


def test_what_others_wait_is_no_cause_of_the_io(fixtures):
    found = told(open_trace(fixtures / "late4"))
    assert found.finding != "stragglers"
    assert "; rank 2 is done last again and again, for which others wait up to 675 ms" in found.text


def test_why_a_share_is_not_known_is_said(tmp_path):
    path = tmp_path / "run.msgpack"
    path.write_bytes(msgpack.packb(made.tmio_packed([(100, 1.0, 2.0), (100, 3.0, 4.0)])))
    found = told(open_trace(path))
    assert found.io_s is None
    assert found.text.endswith("is not known: TMIO does not tell which rank did what")
    found = told(table(tmp_path / "still.csv", ["POSIX,0,write,0,0,9,/run/a", "POSIX,0,write,5,5,9,/run/a"]))
    assert found.text.endswith("is not known: nothing that moved bytes took time")


def test_ranks_that_take_turns_are_in_io_longer_than_any_of_them(fixtures):
    found = told(open_trace(fixtures / "late4"))
    assert found.any_io_s > 1.5 * found.io_s
    assert f"{found.any_io_s * 1000:.0f} ms on one rank or another)" in found.text
    together = told(open_trace(fixtures / "ckpt4"))
    assert together.io_s <= together.any_io_s < 1.5 * together.io_s


@pytest.mark.parametrize(("worker_us", "told_so"), [(5_000_000, True), (20_000, False)])
def test_other_threads_that_are_long_in_io_leave_open_what_is_to_gain(tmp_path, worker_us, told_so):
    calls = [(7, 0, 10_000), (8, 100_000, worker_us), (7, 9_000_000, 10_000)]
    lines = [
        {"id": row, "name": "read", "cat": "POSIX", "ph": "X", "ts": begin, "dur": length, "pid": 7, "tid": tid}
        | {"args": {"fhash": 12, "size_sum": 100, "ret": 100}}
        for row, (tid, begin, length) in enumerate(calls)
    ]
    path = tmp_path / "trace.pfw"
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in lines) + "]")
    text = told(open_trace(path)).text
    assert "other threads are in I/O for" in text
    assert ("whether it waits for them is not recorded" in text) is told_so
    assert ("little to gain there" in text) is not told_so


def test_what_another_thread_does_is_no_cause_of_what_the_first_one_is_in_and_told_with_what_more_of_them_save(
    tmp_path,
):
    """The first thread writes ten times 30 ms; another reads here and there, 5 ms each and once 200 ms."""
    calls = [(7, 500_000 * row, 30_000, "write", 0) for row in range(10)]
    for row in range(200):
        at = 20_000 * row + 200_000 * (row > 90)
        calls.append((8, at, 200_000 if row == 90 else 5_000, "pread", 2**16 * (77 * row % 200)))
    lines = [
        {"id": row, "name": name, "cat": "POSIX", "ph": "X", "ts": begin, "dur": length, "pid": 7, "tid": tid}
        | {"args": {"fhash": tid, "size_sum": 2**16, "ret": 2**16, "offset": offset}}
        for row, (tid, begin, length, name, offset) in enumerate(sorted(calls, key=lambda one: one[1]))
    ]
    path = tmp_path / "trace.pfw"
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in lines) + "]")
    trace = open_trace(path)
    findings = find(trace)
    slow = next(one for one in findings if one.id == "slow-iteration")
    assert (slow.evidence["first_thread_s"], slow.severity) == (0.0, "info")
    found = headline_of(trace, findings)
    assert found.finding != "slow-iteration"
    assert "more threads, or less for each to do, could save up to 1.2 s" in found.text


def test_the_cause_is_what_the_first_thread_does_and_not_what_others_do_longer(tmp_path):
    """The first thread flushes after each write; another reads small pieces for ten times as long."""
    pieces = (0, 400, "write"), (500, 900, "fsync")
    calls = [(7, 50_000 * row + part, length, name) for row in range(100) for part, length, name in pieces]
    calls += [(8, 1_000 * row + 50, 900, "read") for row in range(5_000)]
    lines = [
        {"id": row, "name": name, "cat": "POSIX", "ph": "X", "ts": begin, "dur": length, "pid": 7, "tid": tid}
        | {"args": {"fhash": tid, "size_sum": 2**12, "ret": 0 if name == "fsync" else 2**12}}
        for row, (tid, begin, length, name) in enumerate(sorted(calls, key=lambda one: one[1]))
    ]
    path = tmp_path / "trace.pfw"
    path.write_text("[\n" + "".join(json.dumps(one) + "\n" for one in lines) + "]")
    trace = open_trace(path)
    findings = find(trace)
    assert max(findings, key=lambda one: one.cost_s or 0).evidence["direction"] == "read"
    found = headline_of(trace, findings)
    assert found.io_s == pytest.approx(0.13, rel=0.01)
    assert "POSIX, since flushes take long; fewer flushes could save" in found.text


def test_a_cause_that_is_most_of_the_io_spares_as_much_of_the_calls_beside_it(fixtures):
    ranges = 0
    for folder in sorted(one for one in fixtures.iterdir() if (one / "traces.otf2").exists()):
        trace = open_trace(folder)
        findings = find(trace)
        told = headline_of(trace, findings)
        if told.gain_s is None or told.io_s is None:
            continue
        least, most = told.gain_s
        assert least <= most <= told.io_s * (1 + 1e-9)
        causes = [one for one in findings if one.id == told.finding and one.gain_s]
        alone = max(one.gain_s[1] for one in causes)
        if told.cause_share >= 0.5 and len(causes) == 1:
            # Where nothing may be saved for sure, nothing is promised of other calls.
            of_all = told.finding in ("funnelled-collective", "layer-overhead", "waiting-ranks")
            other = of_all and "meanwhile" not in causes[0].evidence and causes[0].cost_s < told.io_s
            assert most == pytest.approx(min(told.io_s, alone * (told.io_s / causes[0].cost_s if other else 1)))
            assert least == pytest.approx(min(told.io_s, causes[0].gain_s[0]))
            assert ("other calls" in told.gain_reason) is other
            ranges += least > 0
        else:
            assert told.cause_share >= 0.5 or most <= sum(one.gain_s[1] for one in causes) * (1 + 1e-9)
    assert ranges


def written_by_one(written, waits, each):
    """Rank 0 alone writes ten times 50 ms, and is 40 ms longer in each call that makes the file; the others wait."""
    data = written.handle(written.file("/s/data"), written.posix)
    for step in range(10):
        begin = 100_000 * step
        for piece in range(each):
            start = begin + 50_000 * piece // each
            written.call(0, "write", start, start + 50_000 // each)
            written.operate(0, data, IoOperationMode.WRITE, start + 1, start + 50_000 // each - 1, 2**21 // each)
        for rank in range(4):
            written.call(rank, "MPI_Barrier", begin + (0 if rank and waits else 89_000), begin + 90_000)
    return written.closed()


@pytest.mark.parametrize("waits", [True, False])
def test_that_others_wait_for_the_one_that_does_all_is_told_and_to_gain(written, waits):
    trace = written_by_one(written, waits, 1)
    findings = find(trace)
    one, found = next(one for one in findings if one.id == "serial-io"), headline_of(trace, findings)
    assert found.finding == "serial-io"
    assert "since rank 0 alone does the program's POSIX writes; sharing them could save" in found.text
    # They are longer in MPI, as it computes between; that is no time of I/O.
    assert ("others wait up to 500 ms for that" in found.text) is waits
    assert one.cost_s == pytest.approx(0.375, rel=0.01)
    # Where they compute all the time the run is hardly shorter.
    assert found.gain_s[1] == pytest.approx(0.375 if waits else 0.01, rel=0.01)
    assert ("wait for it in MPI for up to 500 ms" in one.text) is waits


def test_who_others_wait_for_is_told_beside_another_cause(written):
    found = told(written_by_one(written, True, 100))
    assert found.finding == "small-requests"
    assert "; rank 0 alone does the program's POSIX writes, for which others wait up to 500 ms" in found.text


def test_others_wait_for_something_else_where_a_rank_is_hardly_in_io(written):
    data = written.handle(written.file("/s/data"), written.posix)
    for step in range(10):
        begin = 100_000 * step
        written.call(0, "write", begin, begin + 10_000)
        written.operate(0, data, IoOperationMode.WRITE, begin + 1, begin + 9_999, 2**21)
        for rank in range(4):
            written.call(rank, "MPI_Barrier", begin + (0 if rank else 89_000), begin + 90_000)
    assert "others wait" not in told(written.closed()).text


def test_the_largest_part_is_that_of_the_rank_that_is_named(written):
    """Three ranks open for 30 ms, and the one that is longest in I/O writes for 80 ms beside 30 ms of opens."""
    for rank in range(4):
        data = written.handle(written.file(f"/s/data.{rank}"), written.posix)
        for step in range(10):
            begin = 100_000 * step
            written.call(rank, "open", begin, begin + 3_000)
            written.create(rank, data, begin + 2_000)
            end = begin + (8_000 if rank == 2 else 500)
            written.call(rank, "write", begin + 3_000, begin + 3_000 + end - begin)
            written.operate(rank, data, IoOperationMode.WRITE, begin + 3_001, begin + 2_999 + end - begin, 2**20)
    trace = written.closed()
    found = headline_of(trace, [])
    assert found.rank == 2
    assert found.text.endswith(" on rank 2, 53.8 ms on average), most of it POSIX writes")


@pytest.mark.parametrize(("shift", "alone"), [(25_000, True), (15_000, False)])
def test_ranks_that_are_never_in_io_at_once_are_told(written, shift, alone):
    data = written.handle(written.file("/s/data"), written.posix)
    for step in range(10):
        for rank in range(4):
            begin = 100_000 * step + shift * rank
            written.call(rank, "write", begin, begin + 20_000)
            written.operate(rank, data, IoOperationMode.WRITE, begin + 1, begin + 19_999, 2**20)
    text = told(written.closed()).text
    assert "ms on one rank or another" in text
    assert ("never on two at once" in text) is alone


@pytest.mark.parametrize("flushes", [1, 10])
def test_one_flush_cannot_be_fewer(written, flushes):
    for rank in range(4):
        data = written.handle(written.file(f"/s/data.{rank}"), written.posix)
        for step in range(10):
            begin = 100_000 * step
            written.call(rank, "write", begin, begin + 1_000)
            written.operate(rank, data, IoOperationMode.WRITE, begin + 1, begin + 999, 2**22)
            if step >= 10 - flushes:
                done = begin + 1_000 + 75_000 // flushes
                written.call(rank, "fsync", begin + 1_000, done)
                written.operate(rank, data, IoOperationMode.FLUSH, begin + 1_001, done - 10, 0)
    text = told(written.closed()).text
    assert "since flushes take long" in text
    assert ("nothing to gain by fewer flushes" in text) is (flushes == 1)


@pytest.mark.parametrize(
    ("waits_us", "part"),
    [
        (60_000, "most of it waiting for non-blocking MPI-IO writes"),
        # What is under way beside computing is no I/O, however long.
        (1_000, "MPI-IO, since opens take long"),
    ],
)
def test_what_ranks_wait_for_non_blocking_operations_is_io(written, waits_us, part):
    data = written.handle(written.file("/s/data"), written.mpi)
    for rank in range(4):
        written.call(rank, "MPI_File_open", 0, 100_000)
        written.create(rank, data, 99_000)
        for step in range(10):
            begin = 110_000 + 90_000 * step
            written.call(rank, "MPI_File_iwrite_at", begin, begin + 10)
            done = begin + 85_000
            written.operate(
                rank, data, IoOperationMode.WRITE, begin + 5, done - 5, 2**20, flags=IoOperationFlag.NON_BLOCKING
            )
            written.call(rank, "MPI_Wait", done - waits_us, done)
    found = told(written.closed())
    assert found.io_share == pytest.approx((100_000 + 10 * (waits_us + 10)) / 1_005_000)
    assert part in found.text
    hidden = 100 * (84_990 - waits_us - 5) / 84_990
    assert f"; non-blocking I/O is under way for 850 ms, {hidden:.0f} % of it hidden while ranks compute" in found.text


@pytest.mark.parametrize(("forks", "text"), [(0, ""), (1, ". 1 child is forked"), (3, ". 3 children are forked")])
def test_children_that_are_forked_are_told_to_be_missing(written, forks, text):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.call(0, "write", 10, 50_000)
    written.operate(0, handle, IoOperationMode.WRITE, 10, 50_000, 2**20)
    for place in range(forks):
        written.call(0, "fork", 60_000 + 100 * place, 60_000 + 100 * place)
    found = told(written.closed()).text
    assert ("forked and not recorded" in found, text in found) == (forks > 0, True)


@pytest.mark.parametrize("opens", [10, 1000])
def test_who_opens_many_files_and_moves_nothing_maps_none(written, opens):
    handle = written.handle(written.file("/s/a"), written.posix)
    written.call(0, "write", 10, 20)
    written.operate(0, handle, IoOperationMode.WRITE, 10, 20, 9)
    for place in range(opens):
        written.create(0, handle, 100 + place)
    written.call(0, "MPI_Barrier", 100_000, 101_000)
    assert ("hardly a byte moves" in told(written.closed()).text) is (opens == 10)


@pytest.mark.parametrize(
    ("access", "does", "until", "named"),
    [
        ("WRITE_ONLY", None, None, True),
        ("WRITE_ONLY", None, 500, True),
        ("WRITE_ONLY", None, 5, False),
        ("WRITE_ONLY", "READ", None, True),
        ("READ_WRITE", "READ", None, False),
        ("READ_ONLY", None, None, False),
    ],
)
def test_files_that_are_open_to_write_for_long_without_a_write_are_told(written, access, does, until, named):
    """As those that are mapped, or written by sendfile."""
    for name in ("map", "log"):
        handle = written.handle(written.file(f"/s/{name}"), written.posix)
        mode = getattr(IoAccessMode, access) if name == "map" else IoAccessMode.WRITE_ONLY
        arguments = (handle, mode, IoCreationFlag.CREATE, IoStatusFlag.NONE)
        written.events.append((1, 0, 0, "io_create_handle", arguments))
        if name == "log" or does is not None:
            way = IoOperationMode.WRITE if name == "log" else getattr(IoOperationMode, does)
            written.operate(0, handle, way, 10, 20, 2**20)
        if name == "map" and until is not None:
            written.destroy(0, handle, until)
    written.call(0, "MPI_Barrier", 900, 1000)
    text = told(written.closed()).text
    assert (". No write is recorded to 1 file opened for it (map): what may reach it by mapping" in text) is named


@pytest.mark.parametrize(("waits", "most"), [(100_000, 0.1), (800_000, 0.6)])
def test_no_more_could_be_saved_than_others_wait_as_they_have_work_of_their_own(written, waits, most):
    """A master reads small pieces for 600 ms of a second, and others work on them for most of it, or wait for them."""
    handle = written.handle(written.file("/s/a"), written.posix)
    for place in range(200):
        written.call(0, "read", 4_000 * place, 4_000 * place + 3_000)
        written.operate(
            0, handle, IoOperationMode.READ, 4_000 * place, 4_000 * place + 3_000, 2**12, offset=2**12 * place
        )
    for rank in range(4):
        written.call(rank, "MPI_Recv", *((0, waits) if rank else (900_000, 900_010)))
        written.call(rank, "MPI_Barrier", 999_990, 1_000_000)
    trace = written.closed()
    findings = find(trace)
    found = headline_of(trace, findings)
    assert found.finding == "small-requests"
    assert found.gain_s == pytest.approx((0, most), rel=0.01)
    (small,) = (one for one in findings if one.id == "small-requests")
    assert small.gain_s[1] == pytest.approx(most, rel=0.01)
    assert ("beside what one rank does outside of I/O and MPI" in small.gain_reason) is (most < 0.6)


def test_what_is_not_filled_spares_no_other_call_its_time(fixtures):
    trace = open_trace(fixtures / "ncckpt4")
    findings = find(trace)
    (fill,) = (one for one in findings if one.id == "fill-values")
    cost = 0.6 * headline_of(trace, findings).io_s
    changed = [replace(fill, cost_s=cost, gain_s=(0.0, cost))]
    assert headline_of(trace, changed).gain_s[1] == cost
    # Of what takes a part of the calls' time elsewhere, the others may wait for the same.
    other = [replace(fill, id="funnelled-collective", cost_s=cost, gain_s=(0.0, cost))]
    assert headline_of(trace, other).gain_s[1] > cost
