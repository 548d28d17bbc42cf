"""Collective calls of a flow: who takes part and who moves the bytes, counted call by call."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.flow.rows import FlowRows
from iostrata.model.codes import IoFlag


def union_length(begin, end):
    """Length of the union of intervals in any order."""
    reached, length = -(2**62), 0
    for low, high in sorted(zip(begin.tolist(), end.tolist(), strict=True)):
        length += max(high - max(low, reached), 0)
        reached = max(reached, high)
    return length


@pytest.mark.parametrize("name", ["ncckpt4", "ckpt4_romio", "nonblocking4"])
def test_calls_are_those_of_several_ranks_with_bytes_below(fixtures, name):
    trace = open_trace(fixtures / name)
    traffic = trace.traffic
    operations, moved, units = traffic.operations, traffic.moved, traffic.calls.units()
    looked_at = 0
    for flow in trace.flows:
        rows = FlowRows(traffic, traffic.layer_row(flow.upper), traffic.layer_row(flow.lower), flow.direction)
        expected = []
        for unit in np.unique(units[rows.upper]).tolist():
            above = rows.upper[units[rows.upper] == unit]
            below = rows.beneath[np.isin(rows.ancestor[rows.beneath], above)]
            below = below[moved[below] > 0]
            above = above[(operations.flags[above] & IoFlag.COLLECTIVE) != 0]
            ranks, movers = set(operations.process[above].tolist()), set(operations.process[below].tolist())
            if len(ranks) >= 2 and movers:
                (begin, end), (start, stop) = traffic.times(above), traffic.times(below)
                expected.append(
                    (
                        int(begin.min()), int(end.max()), len(ranks), len(movers), len(below),
                        int(moved[below].sum()), int((end - begin).sum()), union_length(start, stop),
                    )
                )  # fmt: skip
        calls = flow.collectives
        names = ("begin", "end", "participants", "movers", "pieces", "bytes", "ticks", "transferring")
        found = zip(*(getattr(calls, name).tolist() for name in names), strict=True)
        assert sorted(found) == sorted(expected)
        assert (np.diff(calls.begin) >= 0).all()
        looked_at += len(calls)
    assert looked_at
