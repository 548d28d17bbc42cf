"""Iterations that take much longer than the others of their loop."""

import pytest
from iostrata import find_loops, open_trace
from iostrata.analysis.findings import find
from iostrata.analysis.loops.words import outlier_text


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
