"""Collective calls of a flow: who takes part and who moves the bytes, counted call by call."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.model.codes import IoFlag


@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4_romio", "nonblocking4"])
def test_calls_are_those_of_several_ranks_with_bytes_below(fixtures, name):
    trace = open_trace(fixtures / name)
    looked_at = 0
    for flow in trace.flows:
        calls, operations, moved = flow.collectives, flow.traffic.operations, flow.traffic.moved
        expected = {}
        for unit in range(int(flow.units.max(initial=-1)) + 1):
            above = flow.upper_rows[flow.units == unit]
            above = above[(operations.flags[above] & IoFlag.COLLECTIVE) != 0]
            below = flow.beneath[np.isin(flow.ancestor[flow.beneath], flow.upper_rows[flow.units == unit])]
            below = below[moved[below] > 0]
            ranks, movers = set(operations.process[above].tolist()), set(operations.process[below].tolist())
            if len(ranks) >= 2 and movers:
                expected[unit] = (len(ranks), len(movers), above.tolist(), below.tolist())
        assert calls.call.tolist() == list(expected)
        for place, (ranks, movers, above, below) in enumerate(expected.values()):
            assert (calls.participants[place], calls.movers[place]) == (ranks, movers)
            assert calls.upper_rows[calls.upper_call == place].tolist() == above
            assert calls.lower_rows[calls.lower_call == place].tolist() == below
        looked_at += len(calls)
    assert looked_at
