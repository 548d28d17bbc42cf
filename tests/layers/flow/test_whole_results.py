"""Flows between layers and what is known of accesses, in whole, as stored."""

import pytest
from iostrata import open_trace

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


@pytest.mark.parametrize("name", [*RECORDINGS, "ckpt8_unnested", "ncckpt4_indep", "ckpt4_romio"])
def test_flows_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    held(name, [list(trace.flows), trace.relations], skipped=("definitions", "flows", "stack"))


@pytest.mark.parametrize("name", ["mixed4", "ncckpt4"])
@pytest.mark.parametrize("options", [{"memory": 400_000_000}, {"window": (0.5, 2.0)}, {"files": "all"}])
def test_flows_read_otherwise_are_those_stored(fixtures, held, name, options):
    trace = open_trace(fixtures / name, **options)
    held(f"{name}_{next(iter(options))}", [list(trace.flows)])


@pytest.mark.parametrize("name", RECORDINGS)
def test_bytes_of_flows_are_those_of_the_layers(fixtures, name):
    trace = open_trace(fixtures / name)
    for flow in trace.flows:
        lower = trace.layers[flow.lower].statistics(flow.direction)
        upper = trace.layers[flow.upper].statistics(flow.direction)
        assert 0 <= flow.lower_bytes <= lower.bytes
        assert flow.upper_bytes <= upper.bytes
