"""Distributions of sizes and kinds of files, against NumPy and as stored."""

import pytest
from iostrata import open_trace
from iostrata.layers.statistics import kinds

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
def test_distributions_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    found = {}
    for layer in trace.layers.values():
        for direction in (*layer.directions, "total"):
            found[layer.name, direction] = [layer.request_counts(direction), layer.statistics(direction)]
    held(name, [found, kinds.file_kinds(trace.definitions.files.name)])
