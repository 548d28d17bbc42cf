"""Collective calls of a flow: who takes part and who moves the bytes, counted call by call."""

import numpy as np
import pytest
from iostrata import open_trace
from iostrata.layers.flow import calls
from iostrata.layers.flow.calls import FlowRows
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
    traffic = trace.stream.whole
    operations, moved = traffic.operations, traffic.moved
    alone = np.arange(len(operations)) + len(operations)
    units = np.where(traffic.calls >= 0, traffic.calls, alone)
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


@pytest.mark.parametrize("most", [1, 20, 10**6])
def test_steps_of_more_calls_than_points_are_kept(monkeypatch, most):
    """However many calls there are, each keeps the time of what ran beneath it, rounded outwards at most."""
    monkeypatch.setattr(calls, "_MOST_STEPS", most)
    number = np.arange(40)
    begin = 1000 * number + 7
    steps = calls.CallSteps(exact=False)
    for part in (number % 3 == 0, number % 3 > 0):
        steps.add(number[part] % 4, number[part], begin[part], begin[part] + 100, np.ones(int(part.sum()), np.bool_))
        steps.add(
            number[part] % 4, number[part], begin[part] + 50, begin[part] + 90, np.zeros(int(part.sum()), np.bool_)
        )
    settled, width = steps.settled(), 1 << steps._shift
    assert len(settled) == 40
    assert settled["most"].tolist() == [2] * 40
    assert ((settled["ticks"] >= 100) & (settled["ticks"] < 100 + 2 * width)).all()
    assert (width == 1) == (most == 10**6)


def test_exact_steps_cost_no_more_than_sorting_them_a_few_times(monkeypatch):
    """Points that come in many parts are not merged with all before them each time."""
    sorted_rows, make = [], calls.KeyedSums.__init__
    monkeypatch.setattr(
        calls.KeyedSums,
        "__init__",
        lambda self, keys, values: sorted_rows.append(len(keys[0])) or make(self, keys, values),
    )
    number = np.arange(4000)
    some = np.ones(4, np.bool_)
    apart, together = calls.CallSteps(exact=True), calls.CallSteps(exact=True)
    for first in range(0, 4000, 4):
        part = number[first : first + 4]
        apart.add(part % 4, part, 10 * part, 10 * part + 15, some)
    found = apart.settled()
    assert sum(sorted_rows) < 8000 * (2 * np.log2(1000))
    together.add(number % 4, number, 10 * number, 10 * number + 15, np.ones(4000, np.bool_))
    expected = together.settled()
    assert all((one == other).all() for one, other in zip(found.keys, expected.keys, strict=True))
    assert all((found[name] == expected[name]).all() for name in ("most", "ticks", "waiting"))
