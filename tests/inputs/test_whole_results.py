"""What other recorders' files hold, in whole, as stored."""

import pytest
from iostrata import open_trace

SMALL = ("small_tmio", "small_table", "small_dftracer", "traced_log")


@pytest.mark.parametrize("kind", SMALL)
def test_all_that_is_read_is_that_stored(held, request, kind):
    trace = open_trace(request.getfixturevalue(kind))
    layers = {one.name: [one.statistics("total"), one.bandwidth("total")] for one in trace.layers.values()}
    held(kind, [trace.definitions, trace.operations, trace.damage, layers, trace.window])
