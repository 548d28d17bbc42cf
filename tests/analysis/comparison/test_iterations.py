"""The period of a layer by the program's loops, and layers compared by iteration."""

from pathlib import Path

import pytest
from iostrata import compare_layers, open_trace
from iostrata.analysis.comparison.iterations import VERDICTS, loops_of
from iostrata.analysis.comparison.layer_periods import layer_periods

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


@pytest.mark.parametrize("name", ["ckpt4", "ckpt4_jitter", "ncckpt4", "ncckpt4_romio", "mixed4"])
def test_layers_with_the_same_iterations_have_the_same_period(name):
    trace = open_trace(FIXTURES / name)
    found = list(layer_periods(trace.layers.values(), loops=loops_of(trace)))
    loops = {}
    for one in found:
        if one.loop is not None and one.result.periodic:
            loops.setdefault(one.loop.id, []).append(one)
    assert max(map(len, loops.values())) > 1
    for several in loops.values():
        assert len({one.loop.count for one in several}) == 1
        assert len({one.result.period for one in several}) == 1
        assert all(one.loop.iterations == one.loop.count for one in several)
    compared = compare_layers(trace, known=found)
    by_iteration = [one for one in compared.periods.values() if one.by_iteration is not None]
    assert by_iteration
    assert {one.verdict for one in by_iteration} == {"same"}
    assert {one.by_iteration.verdict for one in by_iteration} <= VERDICTS.keys()


def test_one_writer_for_four_ranks_merges_their_operations():
    trace = open_trace(FIXTURES / "ckpt4")
    (found,) = (one for one in compare_layers(trace).periods.values() if one.by_iteration is not None)
    by = found.by_iteration
    assert (by.verdict, by.upper_iterations, by.lower_iterations) == ("merged", 20, 20)
    assert (by.upper_operations, by.lower_operations) == (4, 1)
    assert by.to_dict()["late_s"] == pytest.approx(0.004, abs=0.002)


def test_irregular_iterations_are_no_period(irregular):
    (found,) = layer_periods(irregular.layers.values(), ["write"], loops=loops_of(irregular))
    assert found.loop is not None
    assert (found.loop.count, found.loop.iterations) == (12, 12)
    assert not found.result.periodic
    assert "irregular" in found.result.reason


def test_without_loops_the_signal_decides(irregular):
    (found,) = layer_periods(irregular.layers.values(), ["write"])
    assert found.loop is None
    assert found.of_signal is found.result
