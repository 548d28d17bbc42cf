"""Steps of ranks and iterations of loops in whole, as stored."""

from functools import partial

import pytest
from iostrata import find_loops, open_trace
from iostrata.layers.loops.steps import StepSums, kinds_of_files

RECORDINGS = (
    "aperiodic4",
    "ckpt4",
    "late4",
    "mixed4",
    "ncckpt4",
    "nonblocking4",
    "serial1",
    "small_files2",
    "threads2",
)


@pytest.mark.parametrize("name", RECORDINGS)
def test_steps_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    names, kinds = kinds_of_files(trace.definitions)
    sums = trace.stream.summed(partial(StepSums, trace.scope, kinds))
    found = find_loops(trace)
    rows = trace.to_dataframe(loops=found)
    columns = [one for one in rows if one.startswith(("loop", "iteration"))]
    assert columns
    parts = [[one.layers for one in loop.iterations] for loop in found.loops[:4]]
    held(name, [names, kinds, list(sums.ordered()), rows[columns], parts])
