"""Flows of traces made by hand, where every number can be counted on fingers."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.layers.trace import trace_of
from iostrata.model.codes import IoFlag, IoMode

STACK = [
    ("netCDF", "/s/out.nc", -1),
    ("MPI-IO", "/s/out.nc", 0),
    ("POSIX", "/s/out.nc", 1),
    ("POSIX", "/tmp/ompi.n/x.sm", 1),
    ("POSIX", "/s/own.txt", -1),
]


def with_columns(trace, **columns):
    operations = trace.operations
    changed = {name: np.array(values, getattr(operations, name).dtype) for name, values in columns.items()}
    kept = trace.stream.kept._replace(operations=replace(operations, **changed))
    return trace_of(replace(trace.stream, in_memory=kept), trace.tally)


@pytest.fixture
def collective(make_trace):
    """Three ranks call one collective netCDF write; rank 0 writes it in two pieces and reads one before."""
    rows = [{"handle": 0, "begin": rank, "end": 100, "moved": 100, "process": rank} for rank in range(3)]
    rows += [
        {"handle": 1, "begin": 10, "end": 80, "moved": 300},
        {"handle": 2, "begin": 15, "end": 18, "moved": 64, "mode": IoMode.READ},
        {"handle": 2, "begin": 20, "end": 40, "moved": 200},
        {"handle": 3, "begin": 30, "end": 50, "moved": 7},
        {"handle": 2, "begin": 35, "end": 60, "moved": 100},
        {"handle": 4, "begin": 65, "end": 70, "moved": 9},
        {"handle": 2, "begin": 200, "end": 210, "moved": 50},
    ]
    trace = make_trace(STACK, rows)
    return with_columns(trace, flags=[int(IoFlag.COLLECTIVE)] * 3 + [0] * 7)


def test_amounts(collective):
    flow = collective.flow("netCDF", "POSIX", "write")
    assert (flow.upper_operations, flow.upper_bytes) == (3, 300)
    assert (flow.lower_operations, flow.lower_bytes) == (3, 350)
    assert flow.attributed_bytes == 300
    assert flow.inferred_bytes == 9
    assert flow.hidden_bytes == 50
    assert flow.set_aside_bytes == 7
    assert flow.amplification == pytest.approx(350 / 300)
    assert flow.attributed_amplification == 1.0
    assert flow.operation_amplification == 1.0
    assert not flow.adjacent
    assert collective.flow("MPI-IO", "POSIX", "write").adjacent
    assert flow.against_bytes == 64
    assert "netCDF → POSIX" in repr(flow)


def test_a_collective_call_counts_once(collective):
    flow = collective.flow("netCDF", "POSIX", "write")
    assert (flow.call_operations.count, flow.call_operations.max) == (1, 3)
    assert flow.childless_calls == 0
    assert flow.movers.max == 1
    assert flow.concurrency.max == 2
    assert flow.request_flow.to_dict() == [
        {"upper_from_bytes": 256, "lower_from_bytes": 8, "operations": 1, "bytes": 9},
        {"upper_from_bytes": 256, "lower_from_bytes": 64, "operations": 1, "bytes": 100},
        {"upper_from_bytes": 256, "lower_from_bytes": 128, "operations": 1, "bytes": 200},
    ]
    assert flow.request_flow.operations.tolist() == [1, 1, 1]


def test_time(collective):
    flow = collective.flow("netCDF", "POSIX", "write")
    # 100 ticks a second; rank 0 is in POSIX during 15–18, 20–60 and 65–70.
    assert flow.upper_summed_s == pytest.approx(2.97)
    assert flow.contained_s == pytest.approx(0.48)
    assert flow.exclusive_s == pytest.approx(2.49)
    assert flow.begin_lag.p50 == pytest.approx(0.20)


def test_tables(collective):
    flow = collective.flow("netCDF", "POSIX", "write")
    (file,) = flow.by_file.to_dict()
    assert file["file"] == "/s/out.nc"
    assert (file["upper_bytes"], file["lower_bytes"], file["hidden_bytes"]) == (300, 350, 50)
    rows = {row["class"]: row for row in flow.by_class.to_dict()}
    assert rows.keys() == {"collective", "none"}
    assert (rows["collective"]["upper_bytes"], rows["collective"]["attributed_bytes"]) == (300, 300)
    assert (rows["none"]["hidden_bytes"], rows["none"]["amplification"]) == (50, None)
    frame = flow.by_class.to_dataframe()
    assert frame.loc["collective", "inferred_operations"] == 1
    assert flow.request_flow.to_dataframe()["bytes"].sum() == 309


def test_a_row_for_each_lower_operation(collective):
    frame = collective.flow("netCDF", "POSIX", "write").to_dataframe()
    assert frame["part"].tolist() == ["attributed", "attributed", "inferred", "hidden"]
    assert frame["above"].tolist() == [0, 0, 0, -1]
    assert frame["bytes"].tolist() == [200, 100, 9, 50]
    assert frame["above_bytes"].tolist() == [100, 100, 100, 0]
    assert frame["begin_s"].tolist() == pytest.approx([0.2, 0.35, 0.65, 2.0])
    assert frame["file"].tolist() == ["/s/out.nc", "/s/out.nc", "/s/own.txt", "/s/out.nc"]


def test_shares(collective):
    flow = collective.flow("netCDF", "POSIX", "write")
    assert flow.upper_ranks.movers == 3
    assert flow.upper_ranks.ranks.imbalance == pytest.approx(0)
    assert list(flow.lower_ranks.ranks.moving) == [0]
    assert flow.lower_ranks.ranks.busiest_share == 1.0
    assert flow.lower_ranks.ranks.imbalance == pytest.approx(2)
    assert flow.lower_ranks.nodes.moving == ("n",)
    assert flow.lower_ranks.nodes.bytes.tolist() == flow.lower_ranks.ranks.bytes[:1].tolist()


def test_without_a_collective_each_operation_counts(make_trace):
    rows = [
        {"handle": 1, "begin": 100 * rank, "end": 100 * rank + 9, "moved": 10, "process": rank} for rank in range(3)
    ]
    rows.append({"handle": 2, "begin": 102, "end": 104, "moved": 10, "process": 1})
    flow = make_trace(STACK, rows).flow("MPI-IO", "POSIX")
    assert (flow.call_operations.count, flow.call_operations.p50, flow.call_operations.max) == (3, 0, 1)
    assert flow.fan_out == pytest.approx(1 / 3)
    assert flow.childless_bytes == 20


def test_flows_of_connected_pairs_only(collective):
    pairs = {(flow.upper, flow.lower, flow.direction) for flow in collective.flows}
    write = {("netCDF", "MPI-IO", "write"), ("netCDF", "POSIX", "write"), ("MPI-IO", "POSIX", "write")}
    read = {("netCDF", "POSIX", "read"), ("MPI-IO", "POSIX", "read")}
    assert pairs == write | read
    for flow in collective.flows:
        assert flow.to_dict()["upper"] == flow.upper
    assert collective.flow("netCDF", "POSIX", "read").amplification is None


def test_what_makes_no_sense_is_refused(collective):
    with pytest.raises(SelectionError, match="does not stand above"):
        collective.flow("POSIX", "netCDF")
    with pytest.raises(SelectionError, match="no layer 'HDF6'"):
        collective.flow("HDF6", "POSIX")
    with pytest.raises(SelectionError, match="no direction 'up'"):
        collective.flow("netCDF", "POSIX", "up")


def test_a_window_cuts_in_proportion(collective):
    flow = collective.select(window=(0.0, 0.3)).flow("netCDF", "POSIX", "write")
    assert flow.upper_bytes == pytest.approx(100 * (30 / 100 + 29 / 99 + 28 / 98))
    assert flow.lower_bytes == pytest.approx(200 * 10 / 20)
    assert flow.contained_s == pytest.approx(0.13)


OPERATION = st.fixed_dictionaries(
    {
        "handle": st.integers(-1, 4),
        "begin": st.integers(0, 60),
        "length": st.integers(0, 30),
        "moved": st.none() | st.integers(0, 2**48),
        "mode": st.sampled_from(list(IoMode)),
        "process": st.integers(0, 2),
    }
)


@given(st.lists(OPERATION, max_size=25))
def test_every_byte_is_somewhere(make_trace, rows):
    trace = make_trace(STACK, [{**row, "end": row["begin"] + row["length"]} for row in rows])
    names = ("netCDF", "MPI-IO", "POSIX", "POSIX", "POSIX")
    found = {(one.layer, one.direction): one for one in trace.relations.balances}
    for one in found.values():
        parts = one.attributed_bytes + one.inferred_bytes + one.hidden_bytes + one.set_aside_bytes
        assert parts == one.bytes
        mode = IoMode[one.direction.upper()]
        moved = [row["moved"] or 0 for row in rows if row["mode"] == mode and _layer(row, names) == one.layer]
        assert one.bytes == sum(moved)
        assert one.operations == len(moved)
    for flow in trace.flows:
        parts = flow.parts
        inferred = parts["inferred"] & parts["lower"]
        # Each operation by descent is one of the three.
        assert (parts["lower"] == (parts["attributed"] & parts["lower"]) ^ parts["hidden"] ^ inferred).all()
        assert not (parts["attributed"] & parts["hidden"] & inferred).any()
        assert flow.contained_s <= flow.upper_summed_s + 1e-12


def _layer(row, names):
    return names[row["handle"]] if row["handle"] >= 0 else None
