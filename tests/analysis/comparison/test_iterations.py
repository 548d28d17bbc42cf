"""The period of a layer by the program's loops, and layers compared by iteration."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from iostrata import compare_layers, detect_period, open_trace
from iostrata.analysis.comparison.iterations import VERDICTS, loops_of, period_by_loops
from iostrata.analysis.comparison.layer_periods import layer_periods, part_periods
from iostrata.analysis.results.parts import Period
from otf2.enums import IoOperationMode

FIXTURES = Path(__file__).parents[3] / "fixtures"


@pytest.fixture(scope="module")
def irregular(tmp_path_factory):
    """Return twelve iterations of four writes, whose intervals vary so much that the next one cannot be foretold."""
    path = tmp_path_factory.mktemp("table") / "run.csv"
    gaps = (1, 5, 1, 9, 2, 1, 7, 1, 3, 8, 1, 2)
    rows, time = ["layer,rank,mode,start,end,bytes,file"], 0.0
    for iteration, gap in enumerate(gaps):
        times = [time + step / 100 for step in range(4)]
        rows += [f"POSIX,0,write,{begin},{begin + 0.005},1000,/d/{iteration}.dat" for begin in times]
        time += gap
    path.write_text("\n".join(rows))
    return open_trace(path)


@pytest.fixture
def two_layers(written):
    """Return a function that compares two layers of twelve iterations of four writes, of which it is told the lower."""

    def compared(below):
        data = written.handle(file := written.file("/s/data"), written.mpi)
        low = written.handle(file, written.posix, data)

        def write(begin, size):
            written.operate(0, low, IoOperationMode.WRITE, begin, begin + 1000, size)

        for iteration in range(12):
            for step in range(4):
                begin = 10**6 * (1 + iteration) + 10_000 * step
                written.operate(0, data, IoOperationMode.WRITE, begin, begin + 9000, 2**20)
                below(write, iteration, step, begin)
        (found,) = compare_layers(written.closed()).periods.values()
        return found

    return compared


ARCHIVES = sorted(one.name for one in FIXTURES.iterdir() if one.is_dir() and (one / "traces.otf2").exists())


@pytest.mark.parametrize("name", ARCHIVES)
def test_no_verdict_contradicts_another_and_layers_of_a_loop_have_as_many_iterations(name):
    trace = open_trace(FIXTURES / name)
    found = list(layer_periods(trace.layers.values(), loops=loops_of(trace)))
    compared = compare_layers(trace, known=found)
    if name in ("ckpt4", "ckpt4_jitter", "ncckpt4", "ncckpt4_romio", "mixed4"):
        assert any(one.by_iteration is not None for one in compared.periods.values())
    of_loop = {}
    for one in found:
        if one.loop is not None:
            assert one.loop.iterations == of_loop.setdefault((one.loop.id, one.direction), one).loop.iterations
            assert one.result.period == of_loop[one.loop.id, one.direction].result.period
    periodic = {(one.layer, one.direction): one.result.periodic for one in found}
    for place, pair in compared.periods.items():
        by, flow = pair.by_iteration, compared.flows[place]
        if by is None:
            continue
        assert by.verdict in VERDICTS
        if by.verdict != "cached":
            assert by.upper_iterations == by.lower_iterations
            both = periodic[flow.upper, flow.direction] and periodic[flow.lower, flow.direction]
            assert pair.verdict == ("same" if both else "none")


def test_one_writer_for_four_ranks_merges_their_operations():
    trace = open_trace(FIXTURES / "ckpt4")
    (found,) = (one for one in compare_layers(trace).periods.values() if one.by_iteration is not None)
    by = found.by_iteration
    assert (by.verdict, by.upper_iterations, by.lower_iterations) == ("merged", 20, 20)
    assert (by.upper_operations, by.lower_operations) == (4, 1)
    assert by.to_dict()["late_s"] == pytest.approx(0.004, abs=0.002)


@pytest.mark.parametrize(
    ("verdict", "operations"), [("same", (4, 4)), ("merged", (4, 1)), ("split", (4, 12)), ("late", (4, 4))]
)
def test_what_becomes_of_an_iteration_below(two_layers, verdict, operations):
    def below(write, _, step, begin):
        if verdict == "same":
            write(begin + 1000, 2**20)
        elif verdict == "merged" and step == 3:
            write(begin + 1000, 2**22)
        elif verdict == "late":
            write(begin + 400_000, 2**20)
        elif verdict == "split":
            for part in range(3):
                write(begin + 1000 + 2000 * part, 2**18)

    found = two_layers(below)
    by = found.by_iteration
    # What comes behind the last iteration belongs to none.
    late = verdict == "late"
    assert (by.verdict, by.count, by.upper_iterations, by.lower_iterations) == (verdict, 12, 12, 12 - late)
    assert (by.upper_operations, by.lower_operations, by.cached_iterations) == (*operations, late)
    assert (found.verdict, found.upper.period) == ("same", pytest.approx(1.0))
    if late:
        assert by.late == pytest.approx(0.4)


def test_what_the_program_itself_does_in_the_lower_layer_is_nothing_that_became_of_the_upper_one(written):
    data = written.handle(file := written.file("/s/data"), written.mpi)
    low, own = written.handle(file, written.posix, data), written.handle(file, written.posix)
    for iteration in range(12):
        for step in range(4):
            begin = 10**6 * (1 + iteration) + 10_000 * step
            written.operate(0, data, IoOperationMode.WRITE, begin, begin + 3000, 2**20)
            written.operate(0, low, IoOperationMode.WRITE, begin + 1000, begin + 2000, 2**20)
            for line in range(3):
                start = begin + 4000 + 1000 * line
                written.operate(0, own, IoOperationMode.WRITE, start, start + 500, 2**18)
    trace = written.closed()
    (found,) = compare_layers(trace).periods.values()
    by = found.by_iteration
    assert (by.verdict, by.upper_operations, by.lower_operations) == ("same", 4, 4)
    assert by.upper_bytes == by.lower_bytes == 2**22
    (whole,) = loops_of(trace).deciding("POSIX", "write")
    assert whole.operations.tolist() == [16] * 12


def test_iterations_that_reach_nothing_below_are_cached(two_layers):
    found = two_layers(lambda write, iteration, _, begin: iteration < 11 or write(begin + 1000, 12 * 2**20))
    by = found.by_iteration
    assert (by.verdict, by.upper_iterations, by.lower_iterations, by.cached_iterations) == ("cached", 12, 1, 11)
    assert "11 iterations of 12 move nothing below" in by.reason


def test_streams_have_the_periods_of_their_loops(written):
    """Dumps every second and restarts every third, by turns in one rank: each has its own period."""
    for iteration in range(18):
        begin = 10**6 * (1 + iteration)
        for kind in ("dump", "restart")[: 1 + (iteration % 3 == 0)]:
            data = written.handle(written.file(f"/s/{kind}.{iteration}.dat"), written.posix)
            for step in range(4):
                start = begin + 10_000 * step + 50_000 * (kind == "restart")
                written.operate(0, data, IoOperationMode.WRITE, start, start + 9000, 2**20)
    trace = written.closed()
    found = part_periods(trace.layers.values(), "stream", 8, ["write"], loops=loops_of(trace))
    periods = {one.part: one.result.period for one in found}
    assert periods == {"/s/dump.*.dat": pytest.approx(1.0), "/s/restart.*.dat": pytest.approx(3.0)}


def test_lines_that_go_on_through_the_iterations_of_a_loop_have_their_own_period(tmp_path):
    """Ten lines of a log 30 ms apart, then a checkpoint of 16 writes, for which the log waits a little."""
    rng = np.random.default_rng(0)
    rows, time = ["layer,rank,mode,start,end,bytes,file"], 1.0
    for dump in range(8):
        for _ in range(10):
            rows.append(f"ISOC,0,write,{time},{time + 1e-5},29,/d/log")
            time += 0.03 * (1 + rng.uniform(-0.1, 0.1))
        starts = [time + 2e-4 * one for one in range(16)]
        rows += [
            f"POSIX,{rank},write,{start},{start + 1e-4},65536,/d/dump.{dump}.{rank}"
            for rank in range(2)
            for start in starts
        ]
        time = starts[-1] + 0.015
    path = tmp_path / "run.csv"
    path.write_text("\n".join(rows))
    trace = open_trace(path)
    log, dumps = layer_periods(trace.layers.values(), ["write"], loops=loops_of(trace))
    assert (log.layer, log.loop.count, dumps.loop.id) == ("ISOC", 8, log.loop.id)
    assert log.result.period == pytest.approx(0.03, rel=0.02)
    assert log.result.reason.startswith("10 times in each of 8 iterations of a loop")
    # The writes of a checkpoint are as many in each, but come at once.
    assert dumps.result.period == pytest.approx(0.318, rel=0.01)


def test_what_lines_of_a_log_become_below_has_their_period_too(written):
    """Each line of MPI-IO is a write of POSIX; a checkpoint of POSIX alone comes after each ten."""
    log = written.handle(file := written.file("/s/log"), written.mpi)
    low = written.handle(file, written.posix, log)
    time, rng = 10**6, np.random.default_rng(0)
    for dump in range(8):
        for _ in range(10):
            written.operate(0, log, IoOperationMode.WRITE, time, time + 1000, 29)
            written.operate(0, low, IoOperationMode.WRITE, time + 100, time + 900, 29)
            time += int(30_000 * (1 + rng.uniform(-0.1, 0.1)))
        data = written.handle(written.file(f"/s/dump.{dump}"), written.posix)
        for _ in range(16):
            written.operate(0, data, IoOperationMode.WRITE, time, time + 100, 2**16)
            time += 200
        time += 15_000
    (pair,) = compare_layers(written.closed()).periods.values()
    assert (pair.verdict, pair.upper.period) == ("same", pytest.approx(0.03, rel=0.03))
    assert pair.lower.period == pytest.approx(0.03, rel=0.03)


def test_irregular_iterations_are_no_period(irregular):
    (found,) = layer_periods(irregular.layers.values(), ["write"], loops=loops_of(irregular))
    assert found.loop is not None
    assert (found.loop.count, found.loop.iterations) == (12, 12)
    assert not found.result.periodic
    assert "irregular" in found.result.reason


def _period_of_loop(folder, begins, ends, run=0.0):
    """Return what a loop of four writes says of the period, whose iterations begin and end at times in s."""
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for begin, end in zip(begins, ends, strict=True):
        step = (end - begin) / 8
        rows += [f"POSIX,0,write,{begin + 2 * place * step},{end},1000,/d/a" for place in range(4)]
    rows += [f"STDIO,0,read,{run - 0.1},{run},10,/d/b"] if run else []
    path = folder / "run.csv"
    path.write_text("\n".join(rows))
    trace = open_trace(path)
    (found,) = layer_periods(trace.layers.values(), ["write"], loops=loops_of(trace))
    assert found.loop.iterations == len(begins)
    return found.result


def test_no_period_of_a_loop_is_rather_wrong_than_right(tmp_path):
    """Intervals that get shorter, as of a benchmark's ten writes, are no chance, but tell no mean within a tenth."""
    begins = (7.631, 8.579, 9.33, 9.842, 10.239, 10.551, 10.863, 11.17, 11.455, 11.759)
    ends = (8.53, 9.29, 9.82, 10.23, 10.54, 10.85, 11.16, 11.44, 11.75, 12.06)
    result = _period_of_loop(tmp_path, begins, ends)
    assert result.confidence >= 0.5 or not result.periodic


SLOW_ONE = (
    0.667, 0.895, 1.161, 1.445, 1.713, 2.026, 2.399, 2.713, 3.021, 3.292, 3.58, 3.875, 4.173, 6.213, 6.483, 6.759,
    7.038, 7.329, 7.593, 7.946,
)  # fmt: skip
"""One of twenty takes 1.9 s, which a spectrum takes for a period."""
UNEVEN = (
    0.74, 0.966, 1.261, 1.602, 1.994, 2.358, 2.645, 2.93, 3.176, 3.414, 3.648, 3.909, 4.146, 4.384, 4.736, 5.094,
    5.398, 5.751, 6.132, 6.401,
)  # fmt: skip


SLOW_FIRST = (0.526, 1.271, 1.819, 2.315, 2.975, 3.395, 3.677, 3.963, 4.267, 4.631, 4.991, 5.287, 5.557, 5.83)
"""Each interval is like the one before, so that they tell less of their mean than as many independent ones."""


@pytest.mark.parametrize(("period", "timing", "own"), [(1.9, "irregular", None), (0.246, "regular", 0.298)])
def test_a_period_of_a_signal_that_is_none_of_the_loop_is_none(irregular, period, timing, own):
    """That of a burst that takes long, or of half of the iterations."""
    (found,) = layer_periods(irregular.layers.values(), ["write"], loops=loops_of(irregular))
    begins = SLOW_ONE if own is None else UNEVEN
    iterations = tuple(replace(one, begin_s=at, end_s=at + 0.2) for one, at in zip(
        2 * loops_of(irregular).loops.outermost[0].iterations, begins, strict=False
    ))  # fmt: skip
    loop = replace(loops_of(irregular).loops.outermost[0], iterations=iterations, count=20, bits=0.0)
    loop = loop.timed(np.array(begins), begins[-1] + 0.2, False)
    passes = replace(loops_of(irregular).of("POSIX", "write")[0], loop=loop)
    leading = replace(found.result, periods=(Period(period, (0.9 * period, 1.1 * period), 0.9, 1.0),))
    result = period_by_loops([passes], leading, found.signal, lambda: ("POSIX", leading))
    assert loop.timing == timing
    assert result.period == (own and pytest.approx(own, rel=0.01))


def test_an_iteration_that_comes_early_is_none_of_the_train_of_the_others(tmp_path):
    """An aligner reads two batches before it aligns the first."""
    begins = (0.0055, 0.0075, 0.1497, 0.3032, 0.4432, 0.6045, 0.7575, 0.8936, 1.0454, 1.211)
    result = _period_of_loop(tmp_path, begins, [begin + 0.001 for begin in begins])
    assert result.period == pytest.approx(0.15, rel=0.03)
    assert result.confidence > 0.9


def test_iterations_within_a_hundredth_of_the_run_have_no_period_of_it(tmp_path):
    """Nine of fourteen within .4 s, in a run of 300 s."""
    begins = (0.0, 1.0, 2.5, 4.0, 5.2, *(7.35 + 0.04 * np.arange(9)).tolist())
    ends = [*(begin + 0.01 for begin in begins[:-1]), 11.0]
    assert _period_of_loop(tmp_path, begins, ends).period == pytest.approx(0.04, rel=0.01)
    assert _period_of_loop(tmp_path, begins, ends, 300.0).period is None


def test_a_confidence_is_of_the_law_of_the_interval(tmp_path):
    result = _period_of_loop(tmp_path, SLOW_FIRST, [begin + 0.001 for begin in SLOW_FIRST])
    assert result.period is None
    assert result.confidence < 0.5


def test_without_loops_the_signal_decides(irregular):
    (found,) = layer_periods(irregular.layers.values(), ["write"])
    assert found.loop is None
    assert found.of_signal is found.result


def stream_in_bursts(path, calls, on, off):
    """Return the verdict on a stream of calls that stands still again and again; times are in ms."""
    rng, begin, bursts = np.random.default_rng(1), 0.0, []
    for count in rng.integers(*calls, 60).tolist():
        bursts.append(begin + np.linspace(0, on, count, endpoint=False))
        begin += on + off
    begins = np.concatenate(bursts) / 1000
    rows = [f"POSIX,0,write,{one:.9f},{one + on / 500_000:.9f},1000,/d/out" for one in begins]
    path.write_text("\n".join(["layer,rank,mode,start,end,bytes,file", *rows]))
    trace = open_trace(path)
    return next(iter(layer_periods(trace.layers.values(), loops=loops_of(trace)))).result


def test_a_core_that_is_shared_gives_a_stream_of_calls_no_period(tmp_path):
    """How many calls come between is what fits into a slice; where it is as many, or takes long, it is the program."""
    assert stream_in_bursts(tmp_path / "slices.csv", (40, 120), 4.0, 4.0).period is None
    assert stream_in_bursts(tmp_path / "even.csv", (80, 81), 4.0, 4.0).period == pytest.approx(0.008, rel=0.01)
    assert stream_in_bursts(tmp_path / "long.csv", (40, 120), 400.0, 400.0).period == pytest.approx(0.8, rel=0.01)


@pytest.mark.parametrize(("period", "calls", "kept"), [(0.008, 1, False), (0.0121, 1, True), (0.008, 5, True)])
def test_a_short_period_of_single_calls_is_that_of_most_of_them_or_none(tmp_path, period, calls, kept):
    """Slices of a core that processes share; of several calls an iteration it may be the program's."""
    rng = np.random.default_rng(1)
    between = np.where(rng.random(300) < 0.9, 0.012, rng.uniform(0.001, 0.06, 300))
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for at in np.cumsum(between).tolist():
        rows += [
            f"POSIX,0,write,{at + 0.0002 * number:.6f},{at + 0.0002 * number + 0.0001:.6f},{1000 + number},/out/s"
            for number in range(calls)
        ]
    (tmp_path / "table.csv").write_text("\n".join(rows))
    trace = open_trace(tmp_path / "table.csv")
    known, signal = loops_of(trace), trace.layers["POSIX"].bandwidth("write")
    assert known.loops.outermost[0].timing == "irregular"
    claimed = Period(period, (0.9 * period, 1.1 * period), 0.97, 1e6)
    result = replace(detect_period(signal), periods=(claimed,), regimes=())
    assert bool(known.without_slices(result, "POSIX", "write", signal).periods) is kept
