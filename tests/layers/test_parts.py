"""Parts of a layer: nothing is lost or counted twice, whatever the key and the signal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError, StepSignal, open_trace
from iostrata.layers.layer import UnknownPartError
from iostrata.layers.selection.directions import QUANTITIES
from iostrata.layers.statistics.grouping import KEYS
from iostrata.layers.trace import trace_of
from iostrata.model.codes import IoMode, IoRecord, Status

HANDLES = [("MPI-IO", "/s/a", -1), ("POSIX", "/s/a", 0), ("POSIX", "/s/b", -1), ("POSIX", None, -1)]
WAYS = [(quantity, "total") for quantity in QUANTITIES] + [("bandwidth", "read"), ("operations", "write")]


def assert_parts_make_up(layer, by):
    parts = layer.by(by)
    assert sum(len(part.rows) for part in parts.values()) == len(layer.rows)
    assert np.array_equal(np.sort(np.concatenate([*(p.rows for p in parts.values()), []])), np.sort(layer.rows))
    for quantity, direction in WAYS:
        whole = layer.signal(quantity, direction)
        volumes = parts.volumes(quantity, direction)
        assert list(volumes.values()) == sorted(volumes.values(), reverse=True)
        assert set(volumes) == set(parts)
        signals = {key: part.signal(quantity, direction) for key, part in parts.items()}
        for key, signal in signals.items():
            assert signal.volume == pytest.approx(volumes[key], rel=1e-9, abs=1e-9)
            assert (signal.window, signal.unit) == (whole.window, whole.unit)
        if not signals:
            assert whole.volume == 0
            continue
        summed = StepSignal.sum(signals.values())
        at = np.linspace(*whole.window, 50)
        expected = whole.volume_until(at)
        assert summed.volume_until(at) == pytest.approx(expected, rel=1e-9, abs=1e-9 * (1 + whole.volume))


@pytest.mark.parametrize("name", ["ckpt4", "ncckpt4", "nonblocking4", "ior384"])
@pytest.mark.parametrize("by", ["file", "stream", "filesystem", "rank", "node"])
@pytest.mark.parametrize("window", [None, (0.1, 6.3)])
def test_parts_of_real_traces_make_up_the_layer(fixtures, name, by, window):
    trace = open_trace(fixtures / name, window=window)
    for layer in trace.layers.values():
        assert_parts_make_up(layer, by)


@pytest.mark.parametrize("by", KEYS)
def test_parts_are_the_rows_of_the_breakdown(fixtures, by):
    trace = open_trace(fixtures / "ncckpt4")
    rows = {(row["layer"], row[by] if by != "layer" else ""): row for row in trace.breakdown(by).to_dict()}
    parts = {(name, key): part for name, layer in trace.layers.items() for key, part in layer.by(by).items()}
    # Calls without an operation or metadata event have a row and no part.
    assert list(parts) == [place for place in rows if place in parts]
    for place, part in parts.items():
        assert part.statistics("write").bytes == rows[place]["bytes_written"]
        assert part.bandwidth("read").volume == pytest.approx(rows[place]["bytes_read"])


operations = st.fixed_dictionaries(
    {
        "handle": st.integers(0, 3),
        "process": st.integers(0, 2),
        "begin": st.integers(0, 900),
        "length": st.one_of(st.none(), st.integers(0, 100)),
        "moved": st.one_of(st.none(), st.integers(0, 10**6)),
        "mode": st.sampled_from([IoMode.READ, IoMode.WRITE, IoMode.FLUSH]),
    }
)
events = st.fixed_dictionaries(
    {
        "kind": st.sampled_from([IoRecord.SEEK, IoRecord.CREATE_HANDLE]),
        "time": st.integers(0, 1000),
        "handle": st.integers(10, 13),
        "location": st.integers(0, 2),
    }
)


@given(
    rows=st.lists(operations, max_size=12),
    seen=st.lists(events, max_size=6),
    window=st.sampled_from([None, (1.0, 5.55), (4.0, None)]),
    by=st.sampled_from(KEYS),
    files=st.sampled_from(["all", "application", "*b"]),
)
def test_parts_of_any_trace_make_up_the_layer(make_trace, rows, seen, window, by, files):
    table = []
    for row in rows:
        row = dict(row)
        length = row.pop("length")
        table.append({**row, "end": None if length is None else row["begin"] + length})
    trace = make_trace(HANDLES, table, seen).select(files=files, window=window)
    for layer in trace.layers.values():
        assert_parts_make_up(layer, by)


ROWS = [
    {"handle": 1, "begin": 0, "end": 100, "moved": 30, "process": 2},
    {"handle": 2, "begin": 100, "end": 300, "moved": 600, "process": 1},
    {"handle": 2, "begin": 600, "end": 700, "status": Status.CANCELLED, "process": 1},
    {"handle": 3, "begin": 200, "end": 200, "moved": 50, "process": 1},
]


def test_parts_are_layers_of_their_own(make_trace):
    posix = make_trace(HANDLES, ROWS).select(files="all").layers["POSIX"]
    ranks = posix.by("rank")
    assert list(ranks) == [1, 2]
    assert repr(ranks) == "<2 parts of POSIX by rank>"
    assert repr(ranks[1]) == "<Layer POSIX rank 1: 3 operations, write 650 bytes>"
    assert ranks[1].bandwidth("write").name == "POSIX rank 1 write"
    assert ranks[1].bandwidth("write", "own").volume == 650
    assert ranks[2].bandwidth("write", "own").volume == 0
    assert list(ranks.volumes("bandwidth", "write").items()) == [(1, 650.0), (2, 30.0)]
    assert list(posix.by("file")) == ["/s/a", "/s/b", None]
    assert posix.by("file")[None].part == "no file"
    assert list(ranks[1].by("file")) == ["/s/b", None]


def test_what_is_not_there_is_refused(make_trace):
    posix = make_trace(HANDLES, ROWS).layers["POSIX"]
    with pytest.raises(SelectionError, match="file, stream, filesystem, rank, node, handle"):
        posix.by("colour")
    with pytest.raises(UnknownPartError, match="POSIX has nothing by rank 7"):
        posix.by("rank")[7]
    with pytest.raises(KeyError):
        posix.by("rank")["1"]
    assert 7 not in posix.by("rank")
    with pytest.raises(SelectionError, match="there are bandwidth, operations, metadata, in-flight"):
        posix.signal("colour")
    for wrong in ({"direction": "read"}, {"traffic": "own"}):
        with pytest.raises(SelectionError, match="neither direction nor traffic"):
            posix.signal("metadata", **wrong)
        with pytest.raises(SelectionError, match="neither direction nor traffic"):
            posix.by("rank").volumes("metadata", **wrong)


def test_nodes_of_one_name_stay_apart(make_trace):
    from dataclasses import replace

    trace = make_trace(HANDLES, ROWS)
    definitions = trace.definitions
    tree = replace(definitions.system_tree, name=("machine", "n"), parent=np.array([-1, 0], np.int32))
    tree = replace(
        tree,
        id=np.array([0, 1, 2], np.uint32),
        name=("machine", "n", "n"),
        class_name=("machine", "node", "node"),
        parent=np.array([-1, 0, 0], np.int32),
    )
    groups = replace(definitions.groups, node=np.array([1, 1, 2], np.int32))
    scope = replace(trace.scope, definitions=replace(definitions, system_tree=tree, groups=groups))
    trace = trace_of(replace(trace.stream, scope=scope), trace.tally)
    assert list(trace.layers["POSIX"].by("node")) == ["n (1)", "n (2)"]
    assert trace.layers["POSIX"].by("node").volumes()["n (2)"] == 30
