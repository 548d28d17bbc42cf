"""Which files and which part of time count: what is left for many choices, as stored."""

import pytest
from iostrata import open_trace

CHOICES = (
    {"files": "all"},
    {"files": "/*"},
    {"files": "*a*"},
    {"window": (0.5, 2.0)},
    {"window": (None, 1.0)},
    {"window": (0.3, None)},
)


@pytest.mark.parametrize("name", ["ckpt4", "mixed4", "ncckpt4", "small_files2"])
def test_what_is_selected_is_that_stored(fixtures, held, name):
    found = []
    for choice in CHOICES:
        trace = open_trace(fixtures / name).select(**choice)
        totals = {layer.name: layer.statistics("total") for layer in trace.layers.values()}
        found.append([trace.window, trace.duration, trace.set_aside, totals, trace.scope.selection])
    held(name, found, skipped=("definitions",))
