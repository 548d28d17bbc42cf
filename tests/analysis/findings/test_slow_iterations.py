"""Iterations that take much longer than the others of their loop."""

import pytest
from iostrata import find_loops, open_trace
from iostrata.analysis.findings import find
from iostrata.analysis.loops.words import outlier_text
from otf2.enums import IoOperationFlag, IoOperationMode


@pytest.fixture
def short(tmp_path):
    """Return a function that makes a trace of iterations of one write each, of which some take longer."""

    def make(slow, count=12):
        rows = ["layer,rank,mode,start,end,bytes,file"]
        for iteration in range(count):
            for who in (0, 1):
                lasts = 0.5 if iteration in slow and who == 1 else 0.05
                rows += [f"POSIX,{who},write,{iteration},{iteration + lasts},1048576,/d/dump.{iteration}.dat"]
        path = tmp_path / "run.csv"
        path.write_text("\n".join(rows))
        return open_trace(path)

    return make


def slow_ones(trace):
    return [one for one in find(trace) if one.id == "slow-iteration"]


def test_a_slow_iteration_is_found_with_its_layer_rank_and_cost(short):
    (found,) = slow_ones(short({3}))
    assert (found.layer, found.ranks) == ("POSIX", (1,))
    assert found.evidence["iteration"] == 4
    assert found.evidence["slower"] == pytest.approx(10)
    assert found.cost_s == pytest.approx(0.45)
    assert found.time_range == pytest.approx((3.0, 3.5))
    assert "of 12 iterations, iteration 4 takes 500 ms, 10 times as long as usual" in found.text


def test_several_slow_iterations_are_one_finding_that_costs_their_sum(short):
    (found,) = slow_ones(short({2, 7}))
    assert found.evidence["iterations"] == [3, 8]
    assert found.cost_s == pytest.approx(0.9)


@pytest.mark.parametrize("count", [3, 12])
def test_what_is_usual_is_no_finding(short, count):
    assert not slow_ones(short(set(), count))


def test_too_few_iterations_show_nothing_usual(short):
    assert not slow_ones(short({1}, 3))


def test_a_rank_that_comes_late_to_calls_of_its_own_costs_no_io(tmp_path):
    """A rank that starts later than the others makes the first iteration long, but nobody waits for it in I/O."""
    rows = ["layer,rank,mode,start,end,bytes,file"]
    for iteration in range(12):
        for who in (0, 1, 2):
            start = iteration + (0.8 if (iteration, who) == (0, 1) else 0)
            rows += [f"POSIX,{who},write,{start},{start + 0.05},1048576,/d/dump.{iteration}.dat"]
    (tmp_path / "run.csv").write_text("\n".join(rows))
    trace = open_trace(tmp_path / "run.csv")
    (loop,) = find_loops(trace).outermost
    assert outlier_text(loop).endswith("(rank 1 begins 800 ms after most others)")
    assert not slow_ones(trace)


@pytest.mark.parametrize("stalls", [False, True])
def test_iterations_that_also_flush_are_slow_beside_those_that_do_so_only(written, stalls):
    """Every eighth flushes, which takes a hundred times as long as a write."""
    log = written.handle(written.file("/s/log"), written.posix)
    for step in range(96):
        at = 10_000 * step + 200_000 * (stalls and step > 55)
        took = 200_000 if stalls and step == 55 else 1_000 + 10 * (step % 3)
        written.operate(0, log, IoOperationMode.WRITE, at, at + 10, 4096)
        if step % 8 == 7:
            written.operate(0, log, IoOperationMode.FLUSH, at + 10, at + 10 + took, 0)
    found = slow_ones(written.closed())
    assert [(one.evidence["iterations"], round(one.evidence["slower"], -1)) for one in found] == [([56], 200)] * stalls


def by_turns(written, *, count=8, takes=20, between=100, stall=0, calls=1, filled=False, waits=False):
    """Write a run whose ranks 0 and 1 write for `takes` ms by some calls and then compute, or are in MPI, as long."""
    length = 1000 * (takes + between)
    handles = [written.handle(written.file(f"/s/{name}"), written.posix) for name in "ab"]
    for step in range(count):
        begin = length * step
        for rank, handle in enumerate(handles):
            each = 1000 * (stall or takes) // calls if not stall or step == 0 else 10
            for place in range(calls):
                start = begin + each * place
                flags = IoOperationFlag.NON_BLOCKING if waits else IoOperationFlag.NONE
                written.call(rank, "write", start, start + each)
                written.operate(rank, handle, IoOperationMode.WRITE, start, start + each, 2**20 // calls, flags)
            if filled:
                written.call(rank, "MPI_Recv", begin + 1000 * takes + 1, begin + length - 1)
    written.call(0, "MPI_Barrier", length * count, length * count + 10)
    return next((one for one in find(written.closed()) if one.id == "not-overlapped"), None)


@pytest.mark.parametrize(("between", "waits"), [(100, False), (15, False), (6, False), (100, True)])
def test_io_and_computing_by_turns_could_go_on_at_once_for_the_shorter_of_both(written, between, waits):
    found = by_turns(written, between=between, waits=waits)
    assert (found.severity, found.layer) == ("info", "POSIX")
    # Nothing is computed behind the last one.
    assert found.cost_s == pytest.approx(7 * min(0.02, 1e-3 * between), rel=0.01)
    assert found.gain_s == (0.0, found.cost_s)
    assert f"each on average in POSIX writes, which {'are non-blocking' if waits else 'ranks wait for'}" in found.text
    assert found.evidence["between_s"] == pytest.approx(1e-3 * between)


@pytest.mark.parametrize(
    "changed",
    [
        {"count": 3},
        # Too little of the run, no computing between, and in most of the time between in MPI.
        {"takes": 1},
        {"between": 10, "takes": 50},
        {"filled": True, "between": 30},
        # All in one iteration; and small requests, which are to be mended first.
        {"stall": 90},
        {"calls": 20},
    ],
)
def test_nothing_is_said_of_overlap_where_little_could_go_on_meanwhile(written, changed):
    assert by_turns(written, **changed) is None
