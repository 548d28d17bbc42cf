"""Loops of real recordings and of made ones: counts, steps, sums of iterations, and what does not matter to them."""

import numpy as np
import pytest
from iostrata import SelectionError, find_loops, open_trace
from iostrata.analysis.loops import find, recurring
from iostrata.analysis.loops.find import _plain_steps
from iostrata.analysis.loops.folding import Folded
from iostrata.analysis.loops.words import alike, blame_text, loop_text, who_text
from iostrata.layers.loops import steps
from iostrata.model.codes import IoFlag, IoMode, IoRecord
from otf2.enums import IoOperationMode

WRITE, READ, FLUSH = IoOperationMode.WRITE, IoOperationMode.READ, IoOperationMode.FLUSH

TRUTH = {
    "ckpt4": {"ckpt_*.dat": 20, "run.log": 80},
    "ckpt4_jitter": {"ckpt_*.dat": 60},
    "ckpt4_romio": {"ckpt_*.dat": 20},
    "ckpt8_unnested": {"ckpt_*.dat": 20},
    "ckpt16": {"ckpt_*.dat": 8},
    "ior384": {"write_sync.dat": 8, "read_sync.dat": 8},
    "mixed4": {"state.dat": 20, "log_*.bin": 80},
    "ncckpt4": {"out.nc": 20},
    "ncckpt4_perstep": {"out_*.nc": 20},
    "ncckpt8": {"out.nc": 20},
}


def counts(found):
    return {step.file.rsplit("/", 1)[-1]: loop.count for loop in found.outermost for step in loop.body}


@pytest.mark.parametrize("archive", TRUTH)
def test_loops_are_those_of_the_program(fixtures, archive):
    found = counts(find_loops(open_trace(fixtures / archive)))
    assert {name: found.get(name) for name in TRUTH[archive]} == TRUTH[archive]


@pytest.mark.parametrize("archive", ["aperiodic4"])
def test_what_does_not_repeat_has_no_loop(fixtures, archive):
    assert not [one for one in find_loops(open_trace(fixtures / archive)).loops if one.bits > 0]


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "ior384", "mixed4", "nonblocking4", "small_files2"])
def test_iterations_and_what_is_outside_are_all_that_layers_do(fixtures, archive):
    trace = open_trace(fixtures / archive)
    found = find_loops(trace)
    for name, layer in trace.layers.items():
        parts = [loop.sums[name] for loop in found.outermost if name in loop.sums]
        parts += [found.outside[name]] if name in found.outside else []
        of = {way: layer.statistics(way) for way in ("read", "write")}
        assert sum(one.bytes_read for one in parts) == of["read"].bytes
        assert sum(one.bytes_written for one in parts) == of["write"].bytes
        assert sum(one.operations for one in parts) == of["read"].operations + of["write"].operations
    for loop in found.outermost:
        for name, part in loop.sums.items():
            each = [one.layers[name] for one in loop.iterations if name in one.layers]
            assert sum(one.bytes_written for one in each) == part.bytes_written


def test_every_layer_that_takes_part_does_so_in_each_iteration(fixtures):
    found = find_loops(open_trace(fixtures / "ncckpt4"))
    loop = next(one for one in found.outermost if "netCDF" in one.layers)
    assert loop.layers == ("netCDF", "HDF5", "MPI-IO", "POSIX")
    for one in loop.iterations:
        assert set(one.layers) == set(loop.layers)
        # Each step a field of 1 MiB a rank, and its time.
        assert {part.bytes_written for name, part in one.layers.items()} == {4 * 2**20 + 8}


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4", "ior384"])
def test_bounded_memory_gives_the_same_loops(fixtures, archive):
    whole, bounded = (find_loops(open_trace(fixtures / archive, memory=memory)) for memory in (None, 400_000_000))
    assert whole.to_dict()["loops"] == bounded.to_dict()["loops"]


def test_a_window_shows_the_iterations_in_it(fixtures):
    trace = open_trace(fixtures / "ckpt4_jitter", window=(0, 6.5))
    loop = next(one for one in find_loops(trace).outermost if "MPI-IO" in one.layers)
    assert 25 <= loop.count < 60
    assert loop.end_s <= 6.5


def test_the_document_has_what_others_rely_on(fixtures):
    found = find_loops(open_trace(fixtures / "ckpt4")).to_dict()["loops"]
    keys = ["id", "parent", "count", "ranks", "layers", "body", "begin_s", "end_s", "bits", "interval_s", "timing"]
    for loop in found:
        rest = [one for one in loop if one not in ("added", "within", "slowest")]
        assert rest == [*keys, "iterations", "sums", "timing_probability", "timing_changes"]
        assert set(loop["interval_s"]) == {"median", "lower_quartile", "upper_quartile", "jitter", "mean"}
        assert loop["timing"] in ("clock", "regular", "irregular")
        assert all({"layer", "kind", "bytes", "file", "count", "loop"} <= set(step) for step in loop["body"])
        for one in loop["iterations"]:
            assert one["begin_s"] <= one["end_s"]
            for part in one["layers"].values():
                assert {"bytes_read", "bytes_written", "operations", "busy_s"} <= set(part)


def test_iterations_as_a_table(fixtures):
    found = find_loops(open_trace(fixtures / "ckpt4"))
    table = found.to_dataframe()
    assert {"loop", "iteration", "layer", "bytes_written", "busy_s"} <= set(table)
    assert len(table[table.layer == "MPI-IO"]) == 20


def rows(count, process=0, slow=None, late=None):
    made, time = [], 10
    for iteration in range(count):
        time += 1485 if iteration == late else 0
        for size in (100, 100, 7):
            length = 500 if slow == iteration else 5
            made.append({"begin": time, "end": time + length, "moved": size, "requested": size, "process": process})
            time += length + 2
        time += 40
    return made


def test_the_slowest_iteration_stands_out_with_its_rank(make_trace):
    trace = make_trace(
        [("POSIX", "/data/out", -1)], [*rows(12, late=5), *rows(12, 1, slow=4), *rows(12, 2, late=5)], length=6000
    )
    (loop,) = find_loops(trace).outermost
    assert (loop.count, loop.ranks) == (12, (0, 1, 2))
    assert [number for number, one in enumerate(loop.iterations) if one.outlier] == [4]
    assert loop.iterations[4].layers["POSIX"].slowest_rank == 1


def test_the_rank_that_the_others_wait_for_is_to_blame_and_not_those_that_wait(make_trace):
    def rank(process, late):
        made, time = [], 10
        for iteration in range(12):
            begin = time + (800 if late and iteration == 7 else 0)
            time += 900 if iteration == 7 else 20
            made.append({"begin": begin, "end": time, "moved": 100, "requested": 100, "process": process})
            made.append({"begin": time, "end": time + 5, "moved": 7, "requested": 7, "process": process})
            time += 45
        return made

    trace = make_trace([("MPI-IO", "/data/out", -1)], [*rank(0, False), *rank(1, True), *rank(2, False)], length=3000)
    (loop,) = find_loops(trace).outermost
    assert [number for number, one in enumerate(loop.iterations) if one.outlier] == [7]
    part = loop.iterations[7].layers["MPI-IO"]
    assert part.slowest_rank != 1
    assert (part.latest_rank, part.latest_s) == (1, pytest.approx(8.0))
    assert blame_text(loop, loop.iterations[7]) == "(rank 1 begins 8 s after most others)"


def test_the_rank_that_the_others_wait_for_in_the_middle_of_an_iteration_is_to_blame(make_trace):
    """It begins in time, and its own operations are the shortest: those of the others wait for it."""

    def rank(process, late):
        made, time = [], 10
        for iteration in range(12):
            for number in range(4):
                end = time + (800 if (iteration, number) == (7, 2) else 10)
                begin = end - 8 if late and (iteration, number) == (7, 2) else time
                own = {"begin": begin, "end": end, "moved": 100, "requested": 100, "process": process}
                made.append(own | {"flags": IoFlag.COLLECTIVE})
                time = end + 1
            time += 60
        return made

    steps = [one for process in range(3) for one in rank(process, process == 1)]
    (loop,) = find_loops(make_trace([("MPI-IO", "/data/out", -1)], steps, length=5000)).outermost
    assert [number for number, one in enumerate(loop.iterations) if one.outlier] == [7]
    part = loop.iterations[7].layers["MPI-IO"]
    assert (part.awaited_rank, part.awaited_s) == (1, pytest.approx(7.92))
    assert blame_text(loop, loop.iterations[7]) == "(the others wait for rank 1 for 7.92 s in MPI-IO calls)"
    assert all(one.layers["MPI-IO"].awaited_rank is None for one in loop.iterations if not one.outlier)


def test_a_rank_with_one_other_iteration_takes_part_in_the_loop_of_the_others(make_trace):
    def rank(process, more):
        made, time = [], 10 + 60 * process
        for iteration in range(8):
            for size in (100, 100, 100, *((5000, 70) if more and iteration == 5 else ())):
                made.append({"begin": time, "end": time + 2, "moved": size, "requested": size, "process": process})
                time += 50
            time = 10 + 400 * (iteration + 1)
        return made

    def loops(steps):
        return find_loops(make_trace([("POSIX", "/data/out", -1)], steps, length=5000)).outermost

    (loop,) = loops([*rank(0, False), *rank(1, True)])
    assert (loop.count, loop.ranks) == (8, (0, 1))
    assert [(step.bytes, step.count, step.ranks) for step in loop.body] == [(100, 3, None)]
    assert [one.layers["POSIX"].bytes_written for one in loop.iterations] == [600] * 5 + [5670] + [600] * 2


def test_the_order_of_ranks_does_not_matter(make_trace):
    def made(order):
        steps = [one for process in order for one in rows(9 if process else 12, process)]
        return find_loops(make_trace([("POSIX", "/data/out", -1)], steps, length=6000)).to_dict()["loops"]

    assert made((0, 1, 2)) == made((2, 0, 1))


def test_a_trace_without_operations_has_no_loops(make_trace):
    assert find_loops(make_trace([("POSIX", "/data/out", -1)])).loops == ()


@pytest.mark.parametrize("archive", ["broken_race_corruption", "nonblocking4", "threads2"])
def test_damaged_and_odd_archives(fixtures, archive):
    found = find_loops(open_trace(fixtures / archive))
    assert np.isfinite([one.bits for one in found.loops]).all()


def test_recordings_without_operations_are_refused(tmp_path):
    path = tmp_path / "bins.jsonl"
    path.write_text('{"layer": "POSIX"}\n')
    with pytest.raises((SelectionError, Exception)):
        find_loops(open_trace(path))


def test_a_line_of_a_log_that_takes_microseconds_is_no_outlier(make_trace):
    rows = [
        {"begin": 1_000_000 * number, "end": 1_000_000 * number + (40 if number == 7 else 2), "moved": 60}
        for number in range(1, 20)
    ]
    (loop,) = find_loops(make_trace([("POSIX", "/data/log", -1)], rows, length=30_000_000)).outermost
    assert loop.count == 19
    assert not any(one.outlier for one in loop.iterations)


def test_iterations_that_move_nothing_have_sums_too(make_trace):
    """A benchmark of metadata opens and closes only: no rank has operations."""
    kinds = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE)
    events = [{"kind": kind, "time": 10 * n + 3 * m, "handle": 10} for n in range(12) for m, kind in enumerate(kinds)]
    (loop,) = find_loops(make_trace([("POSIX", "/data/out", -1)], (), events)).outermost
    assert loop.count == 12
    assert {one.layers["POSIX"].metadata_operations for one in loop.iterations} == {2}


@pytest.mark.parametrize(("count", "loops"), [(3, 2), (8, 1)])
def test_few_steps_on_two_files_by_turns_are_no_evidence(make_trace, count, loops):
    rows = [
        {
            "begin": 50 * n + 20 * handle,
            "end": 50 * n + 20 * handle + 5,
            "handle": handle,
            "requested": size,
            "moved": size,
        }
        for n in range(count)
        for handle, size in enumerate((100, 7))
    ]
    found = find_loops(make_trace([("POSIX", "/data/out", -1), ("POSIX", "/data/log", -1)], rows)).outermost
    assert [one.count for one in found] == [count] * loops


@pytest.mark.parametrize("seed", range(12))
def test_all_that_moves_is_in_one_iteration_or_outside(make_trace, seed):
    """Iterations with what they cause below, what nobody caused, operations without bytes or end, at any times."""
    rng = np.random.default_rng(seed)
    rows = []
    for process in range(3):
        time = int(rng.integers(0, 50))
        for _ in range(int(rng.integers(3, 20))):
            for size in (100, 100, 7)[: int(rng.integers(2, 4))]:
                inside = {"process": process, "moved": size, "requested": size}
                rows.append({"begin": time, "end": time + 9, "handle": 0, **inside})
                rows += [{"begin": time + 1, "end": time + 8, "handle": 1, **inside}] * int(rng.integers(0, 3))
                time += int(rng.integers(9, 200))
            if rng.random() < 0.3:
                lost = {"begin": time, "handle": int(rng.integers(1, 3)), "process": process}
                rows.append(lost | rng.choice([{"end": time + 3}, {"end": None}, {"end": time + 1, "moved": 5}]))
    handles = [("MPI-IO", "/data/out", -1), ("POSIX", "/data/out", 0), ("POSIX", "/data/log", -1)]
    trace = make_trace(handles, rows, length=max(row["begin"] for row in rows) + 10)
    found = find_loops(trace)
    assert found.outermost
    for name, layer in trace.layers.items():
        parts = [one.layers[name] for loop in found.outermost for one in loop.iterations if name in one.layers]
        parts += [found.outside[name]] if name in found.outside else []
        written = layer.statistics("write")
        assert sum(one.bytes_written for one in parts) == written.bytes
        assert sum(one.operations for one in parts) == written.operations


@pytest.fixture
def threaded(tmp_path):
    """Return what a thread made for each checkpoint writes, while the first one writes a log; some at a time."""

    def made(at_once, of_all=12, **options):
        rows = ["layer,rank,thread,mode,start,end,bytes,file"]
        for rank in range(2):
            rows += [f"POSIX,{rank},main,write,{line},{line + 0.01},80,/s/log.{rank}" for line in range(40)]
            for number in range(of_all):
                begin = 1.5 + 3 * (number // at_once) + 0.1 * (number % at_once)
                for step in range(8):
                    start = begin + 0.2 * step + 0.01 * rank
                    rows.append(f"POSIX,{rank},w{number},write,{start},{start + 0.05},1000000,/s/ck.{number}.{rank}")
        (tmp_path / "run.csv").write_text("\n".join(rows))
        return find_loops(open_trace(tmp_path / "run.csv", **options))

    return made


@pytest.mark.parametrize("options", [{}, {"memory": 400_000_000}], ids=str)
def test_a_thread_made_for_each_checkpoint_is_an_iteration(threaded, options):
    found = threaded(1, **options)
    (loop,) = (one for one in found.outermost if one.bytes > 10_000)
    assert (loop.count, loop.bytes, loop.ranks) == (12, 2 * 12 * 8_000_000, (0, 1))
    assert loop.threads is None
    assert [one.begin_s for one in loop.iterations] == pytest.approx([1.5 + 3 * row for row in range(12)])
    assert [one.layers["POSIX"].bytes_written for one in loop.iterations] == [16_000_000] * 12
    (log,) = (one for one in found.outermost if one.bytes <= 10_000)
    assert log.count == 40


def test_threads_that_overlap_go_on_with_those_that_are_over(threaded):
    """Two threads write at a time: each goes on with what one before has done."""
    found = threaded(2)
    loops = [one for one in found.outermost if one.bytes > 10_000]
    assert sum(one.bytes for one in loops) == 2 * 12 * 8_000_000
    assert {one.count for one in loops} == {6}


def test_threads_that_last_stay_by_themselves(threaded):
    """Of four threads at once none follows another."""
    found = threaded(4, of_all=4)
    loops = [one for one in found.outermost if one.bytes > 10_000]
    assert {one.count for one in loops} == {8}
    assert sum(len(one.ranks) if one.threads is None else one.threads for one in loops) == 8
    (group,) = alike(loops)
    assert who_text(group, 2) == "8 threads of both ranks"


def test_how_regular_joined_iterations_are_is_not_told(tmp_path, monkeypatch):
    """When each of them begins is not kept: that their mean is even says nothing about a clock."""
    monkeypatch.setattr(steps, "MOST_STEPS", 100)
    begins = np.cumsum(np.random.default_rng(3).choice([0.1, 0.4], 1000))
    rows = [f"POSIX,0,write,{begin:.6f},{begin + 0.01:.6f},48,out.dat" for begin in begins.tolist()]
    (tmp_path / "made.csv").write_text("\n".join(["layer,rank,mode,start,end,bytes,file", *rows]))
    (loop,) = find_loops(open_trace(tmp_path / "made.csv")).outermost
    assert loop.count == 1000
    assert loop.interval_s.mean == pytest.approx(np.diff(begins).mean(), rel=0.01)
    assert (loop.timing, loop.timing_probability) == ("irregular", None)


def test_what_is_kept_coarsely_has_the_calls_of_each_kind_that_it_has(written, monkeypatch):
    monkeypatch.setattr(steps, "MOST_STEPS", 150)
    rng = np.random.default_rng(4)
    size = rng.integers(20, 30, (6, 400))
    for number in range(6):
        data = written.handle(written.file(f"/s/part_{number}"), written.posix)
        # Lines of any length, with a pause now and then, in which no part is as another.
        at = 1_000_000 * number + np.cumsum(rng.choice([20, 2_000], 400, p=[0.97, 0.03]))
        for begin, each in zip(at.tolist(), size[number].tolist(), strict=True):
            written.operate(0, data, IoOperationMode.WRITE, begin, begin + 10, each)
        written.create(0, data, int(at[0]) - 15)
    written.findings()
    (loop,) = find_loops(open_trace(written.folder)).outermost
    assert loop.count == 6
    assert [(one.kind, one.count) for one in loop.body] == [("open", 1), ("write", 400)]
    assert loop.body[1].mean_bytes == pytest.approx(size.mean(), rel=0.01)


def test_equal_calls_that_gaps_of_microseconds_part_are_one_run(written, monkeypatch):
    """The recorder takes a new page every 256 calls; the file is written, closed, and read."""
    monkeypatch.setattr(steps, "MOST_STEPS", 200)
    data = written.handle(written.file("/s/data"), written.posix)
    for number, mode in enumerate((IoOperationMode.WRITE, IoOperationMode.READ)):
        at = 1_000_000 * number + np.cumsum(np.where(np.arange(4096) % 256, 20, 60)) + 100
        written.create(0, data, int(at[0]) - 15)
        for begin in at.tolist():
            written.operate(0, data, mode, begin, begin + 10, 24)
    written.findings()
    found = find_loops(open_trace(written.folder)).outermost
    assert [(one.count, [step.kind for step in one.body]) for one in found] == [(4096, ["write"]), (4096, ["read"])]


def test_equal_calls_that_long_pauses_part_stay_bursts(written, monkeypatch):
    monkeypatch.setattr(steps, "MOST_STEPS", 200)
    data = written.handle(written.file("/s/data"), written.posix)
    at = np.cumsum(np.where(np.arange(4096) % 256, 20, 9_000)) + 100
    written.create(0, data, int(at[0]) - 15)
    for begin in at.tolist():
        written.operate(0, data, IoOperationMode.WRITE, begin, begin + 10, 24)
    written.findings()
    (outer,) = find_loops(open_trace(written.folder)).outermost
    assert (outer.count, [step.count for step in outer.body]) == (16, [256])


def test_calls_one_by_one_behind_some_at_once_are_iterations_and_no_bursts(written):
    data = written.handle(written.file("/s/data"), written.posix)
    at = 100 + np.cumsum(np.where(np.arange(600) < 50, 300, 20_000 + 3_000 * (np.arange(600) % 7)))
    written.create(0, data, int(at[0]) - 15)
    for begin in at.tolist():
        written.operate(0, data, READ, begin, begin + 200, 345_600)
    written.findings()
    (loop,) = find_loops(open_trace(written.folder)).outermost
    assert (loop.count, [step.count for step in loop.body]) == (600, [1])


def test_where_steps_that_are_one_begin_is_no_step_of_the_program(make_trace):
    """Four writes and four reads of 100 B, kept as two steps of two each."""
    trace = make_trace([("POSIX", "/s/f", -1)], [{"begin": 0, "end": 10, "moved": 100}])
    rows, kinds = np.arange(8), np.array([steps.WRITE, steps.READ] * 4)
    size, none = np.full(8, 100), np.zeros(8, np.int64)
    calls = steps.Steps.of_calls(
        (2 * kinds).astype(np.int32), size, none.astype(np.int32), none > 0, none, 20 * rows, 20 * rows + 10
    )
    group = steps.StepGroup(0, [0], calls.coarsened(rows % 4 == 0))
    loop = Folded(np.array([0, 2]), 0, np.zeros(1, np.bool_), 0.0)
    told = _plain_steps(trace, group, 0, 2, "/s/f", loop)
    # Of what both moved together nobody knows how much each did.
    assert [(one.kind, one.count, one.bytes, one.mean_bytes) for one in told] == [
        ("read", 4, None, None),
        ("write", 4, None, None),
    ]


@pytest.mark.parametrize("odd", [7, 15])
def test_a_rank_that_does_something_else_in_one_iteration_joins_the_others(written, odd):
    """It reads once where the others write four times."""
    for rank in range(4):
        data = written.handle(written.file(f"/s/data.{rank}"), written.posix)
        for step in range(16):
            at = 10_000 + 50_000 * step + rank
            if (rank, step) == (2, odd):
                written.operate(rank, data, IoOperationMode.READ, at, at + 10, 512)
                continue
            for block in range(4):
                written.operate(rank, data, IoOperationMode.WRITE, at + 20 * block, at + 20 * block + 10, 4096)
    written.closed()
    (loop,) = find_loops(open_trace(written.folder)).outermost
    assert (loop.count, loop.ranks) == (16, (0, 1, 2, 3))
    assert [place for place, one in enumerate(loop.iterations) if one.other] == [odd]
    assert loop.iterations[odd].layers["POSIX"].bytes_read == 512


def test_another_loop_of_a_rank_is_no_iteration_that_it_is_short_of(written):
    """It reads over and over in the time of the last iterations of the others."""
    for rank in range(4):
        data = written.handle(written.file(f"/s/data.{rank}"), written.posix)
        for step in range(20):
            at = 10_000 + 50_000 * step + rank
            if rank == 2 and step >= 18:
                for read in range(10):
                    written.operate(
                        rank, data, IoOperationMode.READ, at + 4_000 * read, at + 4_000 * read + 10, 512 << read % 2
                    )
                continue
            for block in range(4):
                written.operate(rank, data, IoOperationMode.WRITE, at + 20 * block, at + 20 * block + 10, 4096)
    written.closed()
    found = find_loops(open_trace(written.folder)).outermost
    assert sorted((loop.count, loop.ranks) for loop in found) == [(2, (2,)), (18, (2,)), (20, (0, 1, 3))]


@pytest.mark.parametrize("memory", [None, 400_000_000])
def test_what_is_written_for_a_data_set_before_there_is_a_handle_of_it_is_of_its_iteration(written, memory):
    """No call caused it: it comes after a pause, and before the first step."""
    file = written.file("/s/data")
    above = written.handle(file, written.mpi)
    below = written.handle(file, written.posix, above)
    written.create(0, above, 100)
    for step in range(10):
        at = 100_000 * (step + 1)
        written.operate(0, below, IoOperationMode.WRITE, at - 3_000, at - 2_000, 512)
        for block in range(4):
            written.operate(0, above, IoOperationMode.WRITE, at + 100 * block, at + 100 * block + 90, 4096)
            written.operate(0, below, IoOperationMode.WRITE, at + 100 * block + 10, at + 100 * block + 80, 4096)
    written.closed()
    (loop,) = find_loops(open_trace(written.folder, memory=memory)).outermost
    assert {one.layers["POSIX"].bytes_written for one in loop.iterations} == {4 * 4096 + 512}
    assert max(one.length_s for one in loop.iterations) < 0.005


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_streams_whose_iterations_alternate_are_one_loop_also_where_the_last_one_differs(written, order):
    """Transactions: what comes behind the last one hides that it is one."""
    files = [written.handle(written.file(name), written.posix) for name in ("/s/journal", "/s/data")]
    for step in range(20):
        at = 10_000 + 10_000 * step + step % 3 * 2_000
        for place, which in enumerate(order):
            for block in range(3 + which):
                begin = at + 3_000 * place + 200 * block
                written.operate(0, files[which], IoOperationMode.WRITE, begin, begin + 10, 100 * (block + 1))
            if not (which and step == 19):
                written.operate(0, files[which], IoOperationMode.READ, begin + 50, begin + 60, 8)
    for block in range(100):
        begin = 300_000 + 20 * block
        written.operate(0, files[1], IoOperationMode.READ, begin, begin + 10, 4096)
    written.closed()
    first, *_ = find_loops(open_trace(written.folder)).outermost
    assert (first.count, {step.file for step in first.body}) == (20, {"/s/journal", "/s/data"})


def test_data_sets_that_are_opened_and_closed_are_told_as_such(written):
    file = written.file("/s/data.h5")
    whole = written.handle(file, written.posix)
    written.create(0, whole, 100)
    for step in range(12):
        at, inside = 10_000 * (step + 1), written.handle(file, written.posix, whole)
        written.create(0, inside, at)
        written.operate(0, inside, IoOperationMode.WRITE, at + 10, at + 20, 1 << 20)
        written.destroy(0, inside, at + 30)
    written.closed()
    found = find_loops(open_trace(written.folder))
    (loop,) = found.outermost
    assert [step.kind for step in loop.body] == ["data set open", "write", "data set close"]
    text = "12 × (open data set in data.h5, write 1 MiB, close data set)"
    assert loop_text(loop, found.loops, "/s/") == text


def test_each_loop_is_looked_at_beside_few_others(make_trace, monkeypatch):
    """Of 100 files of other kinds that a thread writes by turns, every second once less."""
    syllables = ("ba", "ke", "lo", "mi", "nu", "ra", "se", "to", "vi", "zu")
    names = [f"/s/{first}{second}{first}lu.{second}{first}ta" for first in syllables for second in syllables]
    operations = [
        {
            "begin": 1000 * step + 9 * file + part,
            "end": 1000 * step + 9 * file + part + 1,
            "handle": file,
            "moved": size,
        }
        for step in range(10)
        for file in range(100)
        for part, size in ((0, 100), (2, 100), (4, 7000))
        if step or file % 2
    ]
    looked_at = []
    monkeypatch.setattr(find, "completed", lambda member, like: looked_at.append((member, like)))
    monkeypatch.setattr(recurring, "_guest_of", lambda *one: looked_at.append(one))
    find_loops(make_trace([("POSIX", name, -1) for name in names], operations, length=11_000))
    assert 100 < len(looked_at) <= 2 * 32 * 100


def test_a_rank_that_does_more_between_takes_part_in_the_loop_of_the_others(make_trace, monkeypatch):
    """It reads its file many times between some iterations, so that its calls show no loop by themselves."""
    monkeypatch.setattr(steps, "MOST_STEPS", 200)

    def rank(process):
        made, time = [], 10
        for iteration in range(4):
            reads = 3000 if process and iteration % 2 == 0 else 0
            for mode in [IoMode.WRITE] * 40 + [IoMode.FLUSH] + [IoMode.READ] * reads:
                moved = None if mode == IoMode.FLUSH else 100
                made.append({"begin": time, "end": time + 1, "mode": mode, "moved": moved, "process": process})
                time += 2
            time = 10_000 * (iteration + 1)
        return made

    found = find_loops(make_trace([("POSIX", "/data/out", -1)], [*rank(0), *rank(1)], length=50_000))
    (loop,) = (one for one in found.outermost if one.sums["POSIX"].bytes_written)
    assert (loop.count, loop.ranks) == (4, (0, 1))
    assert [one.layers["POSIX"].bytes_written for one in loop.iterations] == [8000] * 4
    assert [one.layers["POSIX"].bytes_read for one in loop.iterations] == [300_000, 0, 300_000, 0]
    assert found.outside == {}


@pytest.mark.parametrize("last", [True, False])
def test_what_comes_once_behind_a_loop_is_none_of_its_iterations(make_trace, last):
    operations = [
        {"begin": 100 * step + 5 * part, "end": 100 * step + 5 * part + 2, "moved": 4096}
        for step in range(6)
        for part in range(3)
    ]
    at = 540 if last else 240
    operations += [{"begin": at + place, "end": at + place + 1, "handle": 1, "moved": 100} for place in range(40)]
    files = [("POSIX", "/data/series", -1), ("POSIX", "/data/final.dmp", -1)]
    found = find_loops(make_trace(files, operations, length=600)).outermost
    loop = next(one for one in found if one.count == 6)
    assert loop.sums["POSIX"].bytes_written == 6 * 3 * 4096 + (0 if last else 4000)
    assert len(found) == 1 + last


def told_of(written):
    (loop,) = find_loops(open_trace(written.closed().path)).outermost
    return loop_text(loop, find_loops(open_trace(written.folder)).loops, "/s/").removeprefix(f"{loop.count} × ")


def test_steps_of_ranks_that_differ_are_in_the_order_in_which_they_are_done(written):
    """Rank 0 writes a header before what both write; rank 1 flushes behind that."""
    handle = written.handle(written.file("/s/f"), written.posix)
    for step in range(16):
        at = 100_000 * step + 10_000
        written.operate(0, handle, WRITE, at, at + 10, 512)
        for rank in range(2):
            written.operate(rank, handle, WRITE, at + 20, at + 30, 1 << 20)
        written.operate(1, handle, FLUSH, at + 40, at + 50, 0)
        for rank in range(2):
            written.operate(rank, handle, READ, at + 60, at + 70, 4096)
    assert told_of(written) == "(write 512 B [rank 0] f, write 1 MiB, flush [rank 1], read 4 KiB)"


def test_sizes_that_vary_are_told_each_where_it_is(written):
    """A header of some bytes, and blocks of a grid that grows; what is always as large has no mean."""
    handle = written.handle(written.file("/s/f"), written.posix)
    for step in range(16):
        at = 100_000 * step + 10_000
        for place, size in enumerate((100 + step, 2**20 + 4096 * step, 2**20 + 4096 * step, 64)):
            written.operate(0, handle, WRITE, at + 20 * place, at + 20 * place + 10, size)
    assert told_of(written) == "(write ~108 B f, 2 × write ~1.08 MB, write 64 B)"


def test_as_many_writes_of_one_size_as_there_is_work_are_of_that_size(written):
    handle = written.handle(written.file("/s/f"), written.posix)
    for step in range(16):
        at = 100_000 * step + 10_000
        written.create(0, handle, at)
        for place in range(1 + step % 3):
            written.operate(0, handle, WRITE, at + 20 + 20 * place, at + 30 + 20 * place, 1 << 16)
        written.destroy(0, handle, at + 90)
    assert told_of(written) == "(open f, ~1.9 × write 64 KiB, close)"


def test_what_pauses_of_another_stream_part_is_in_each_of_its_iterations(written):
    """A log of each transaction, and a checkpoint of the data behind every 20th, for which the log waits."""
    log, data = (written.handle(written.file(name), written.posix) for name in ("/s/log", "/s/data"))
    for step in range(100):
        at = 10_000 + 2_000 * step + 50_000 * (step // 20)
        for block in range(3):
            written.operate(0, data, READ, at + 100 * block, at + 100 * block + 20, 4096)
            written.operate(0, data, WRITE, at + 100 * block + 50, at + 100 * block + 70, 4096)
        written.operate(0, log, WRITE, at + 400, at + 420, 512)
        written.operate(0, log, FLUSH, at + 440, at + 460, 0)
        if step % 20 == 19:
            written.operate(0, data, FLUSH, at + 600, at + 50_600, 0)
    assert told_of(written) == (
        "(3 × (read 4 KiB data, write 4 KiB), write 512 B log, flush; every 20th also flush data)"
    )
