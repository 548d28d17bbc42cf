"""Which operation and which call caused what, in whole, as stored, and that parts add up."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.attribution.attribution import attribute_operations, call_ends, handle_families
from iostrata.layers.handles.stack import handle_stack, layer_order

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


@pytest.mark.parametrize("name", [*RECORDINGS, "ckpt8_unnested", "stock/hdf5_2", "stock/pnetcdf2"])
def test_attributions_are_those_stored(fixtures, held, name):
    trace = open_trace(fixtures / name)
    definitions, operations = trace.definitions, trace.operations
    stack = handle_stack(definitions, layer_order(definitions))
    held(
        name.replace("/", "_"),
        {
            "attribution": attribute_operations(operations, definitions, stack),
            "families": handle_families(stack),
            "ends": call_ends(operations),
            "calls": trace.calls,
            "table": trace.to_dataframe(),
            "breakdowns": {by: trace.breakdown(by) for by in BREAKDOWNS if trace.calls.totals is not None},
        },
        skipped=("definitions", "stack"),
    )


BREAKDOWNS = ("file", "stream", "rank", "node", "handle", "function", "caller", "callpath")


@pytest.mark.parametrize("name", RECORDINGS)
def test_causes_enclose_their_effects_and_are_the_innermost(fixtures, name):
    trace = open_trace(fixtures / name)
    definitions, operations = trace.definitions, trace.operations
    stack = handle_stack(definitions, layer_order(definitions))
    found = attribute_operations(operations, definitions, stack)
    parent = np.asarray(found.parent)
    ends = call_ends(operations)
    effects = np.flatnonzero(parent >= 0)
    assert np.all(operations.begin[parent[effects]] <= operations.begin[effects])
    assert np.all(ends[parent[effects]] >= operations.begin[effects])
