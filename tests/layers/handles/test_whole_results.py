"""Handles, their families and groups in whole, as stored."""

import pytest
from iostrata import open_trace
from iostrata.layers.handles.stack import handle_lineages, handle_stack, layer_order

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
@pytest.mark.parametrize("files", ["application", "all"])
def test_handles_are_those_stored(fixtures, held, name, files):
    trace = open_trace(fixtures / name, files=files)
    definitions = trace.definitions
    stack = handle_stack(definitions, layer_order(definitions))
    layers = trace.layers.values()
    held(
        f"{name}_{files}",
        {
            "handles": trace.handles,
            "table": trace.handles.to_dataframe(),
            "stack": stack,
            "lineages": handle_lineages(stack),
            "metadata": {layer.name: layer.metadata_events for layer in layers},
            "aside": trace.set_aside,
        },
        skipped=("definitions",),
    )
