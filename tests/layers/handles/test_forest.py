"""The forest of handles against counts by hand and walks along parents."""

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.layers.handles.stack import higher_ancestors
from iostrata.model.arrays import sound_parents
from iostrata.model.codes import MOST_BYTES, IoMode, IoRecord

STACK = [
    ("netCDF", "/s/out.nc", -1),
    ("HDF5", "/s/out.nc", 0),
    ("MPI-IO", "/s/out.nc", 1),
    ("POSIX", "/s/out.nc", 2),
    ("POSIX", "/tmp/ompi.n/x.sm", 2),
    ("POSIX", None, -1),
]
WRITES = [
    {"handle": 0, "begin": 0, "end": 90, "moved": 100},
    {"handle": 3, "begin": 10, "end": 20, "moved": 60, "process": 1},
    {"handle": 3, "begin": 30, "end": 40, "moved": 40, "process": 2},
    {"handle": 3, "begin": 50, "end": 60, "moved": 8, "mode": IoMode.READ},
    {"handle": 4, "begin": 50, "end": 60, "moved": 5},
    {"handle": 3, "begin": 70, "end": 80, "mode": IoMode.FLUSH},
]


def test_counts_of_handles_and_subtrees(make_trace):
    trace = make_trace(STACK, WRITES, precreated=[5])
    forest = trace.handles
    assert forest.layers == ("netCDF", "HDF5", "MPI-IO", "POSIX")
    assert forest.layer == ("netCDF", "HDF5", "MPI-IO", "POSIX", "POSIX", "POSIX")
    assert forest.depth.tolist() == [0, 1, 2, 3, 3, 0]
    assert forest.operations.tolist() == [1, 0, 0, 4, 1, 0]
    assert forest.bytes_written.tolist() == [100, 0, 0, 100, 5, 0]
    assert forest.bytes_read.tolist() == [0, 0, 0, 8, 0, 0]
    assert forest.bytes_written.dtype == np.uint64
    assert forest.subtree_operations.tolist() == [6, 5, 5, 4, 1, 0]
    assert forest.subtree_bytes_written.tolist() == [205, 105, 105, 100, 5, 0]
    assert forest.ranks.tolist() == [1, 0, 0, 3, 1, 0]
    assert forest.ancestor_rows(3) == (2, 1, 0)
    assert forest.ancestor_rows(0) == ()
    assert forest.descends_from("HDF5").tolist() == [False, False, True, True, True, False]
    assert not forest.descends_from("POSIX").any()
    with pytest.raises(SelectionError, match="netCDF, HDF5, MPI-IO, POSIX"):
        forest.descends_from("PnetCDF")
    assert "6 handles" in repr(forest)


def test_a_window_cuts_the_counts(make_trace):
    forest = make_trace(STACK, WRITES).select(window=(0.15, 0.45)).handles
    assert forest.operations.tolist() == [1, 0, 0, 2, 0, 0]
    assert forest.bytes_written.tolist() == pytest.approx([100 * 30 / 90, 0, 0, 70, 0, 0])
    assert forest.subtree_bytes_written[0] == pytest.approx(70 + 100 * 30 / 90)


def test_sums_of_the_largest_operations(make_trace):
    large = MOST_BYTES
    handles = [("MPI-IO", "/f", -1), ("POSIX", "/f", 0), ("POSIX", "/f", 0)]
    writes = [{"handle": handle, "begin": 0, "end": 9, "moved": large} for handle in (1, 1, 2)]
    forest = make_trace(
        handles, [*writes, {"handle": 1, "begin": 0, "end": 9, "moved": 7, "mode": IoMode.READ}]
    ).handles
    assert forest.bytes_written.tolist() == pytest.approx([0, 2 * large, large])
    assert forest.subtree_bytes_written.tolist() == pytest.approx([3 * large, 2 * large, large])
    assert forest.subtree_bytes_read.tolist() == [7, 7, 0]
    assert forest.bytes_read.dtype == np.uint64
    below = make_trace(handles, writes[1:]).handles
    assert below.subtree_bytes_written.tolist() == pytest.approx([2 * large, large, large])


def test_rows_for_json(make_trace):
    events = [
        {"kind": IoRecord.CREATE_HANDLE, "time": 1, "handle": 13, "location": 1},
        {"kind": IoRecord.SEEK, "time": 2, "handle": 13, "location": 1},
        {"kind": IoRecord.DESTROY_HANDLE, "time": 3, "handle": 13, "location": 1},
        {"kind": IoRecord.DESTROY_HANDLE, "time": 9, "handle": 15, "location": 1},
    ]
    rows = make_trace(STACK, WRITES, events, precreated=[5]).handles.to_dict()
    assert [row["id"] for row in rows] == [10, 11, 12, 13, 14, 15]
    assert [row["parent"] for row in rows] == [None, 10, 11, 12, 12, None]
    posix = rows[3]
    assert posix["file"] == "/s/out.nc"
    assert (posix["metadata_events"], posix["created"], posix["destroyed"]) == (3, 1, 1)
    assert (posix["never_created"], posix["never_destroyed"]) == (2, 2)
    assert posix["set_aside"] is None
    assert "Open MPI" in rows[4]["set_aside"]
    assert (rows[5]["file"], rows[5]["precreated"], rows[5]["name"]) == (None, True, "stream 5")
    assert all(type(value) in (int, str, bool, type(None)) for row in rows for value in row.values())


def test_metadata_events_follow_the_window(make_trace):
    events = [{"kind": IoRecord.SEEK, "time": time, "handle": 13} for time in (0, 20, 30, 1000)]
    trace = make_trace(STACK, WRITES, events)
    assert trace.handles.metadata_events[3] == 4
    assert trace.select(window=(0.2, 0.3)).handles.metadata_events[3] == 1


def test_the_graph_is_the_forest(make_trace):
    graph = make_trace(STACK, WRITES).handles.to_networkx()
    assert isinstance(graph, networkx.DiGraph)
    assert set(graph.edges) == {(10, 11), (11, 12), (12, 13), (12, 14)}
    assert networkx.is_branching(graph)
    assert graph.nodes[13]["layer"] == "POSIX"
    assert graph.nodes[13]["bytes_written"] == 100


def test_circles_of_parents_are_cut(make_trace):
    trace = make_trace([("POSIX", "/a", 2), ("ISOC", "/a", 0), ("MPI-IO", "/a", 1), ("POSIX", "/a", 2)], WRITES[:1])
    assert trace.handles.parent.tolist() == [-1, 0, 1, 2]
    assert networkx.is_branching(trace.handles.to_networkx())


def test_bogus_parents_do_not_inherit(make_trace):
    # fcntl(F_DUPFD) leaves a POSIX handle as the parent of all that follows.
    handles = [("POSIX", "/px", -1), ("POSIX", "/aio", 0), ("ISOC", "/st", 0), ("POSIX", "/st", 2), ("POSIX", "/st", 2)]
    trace = make_trace(handles)
    assert trace.handles.layers == ("ISOC", "POSIX")
    assert trace.scope.stack.higher.tolist() == [-1, -1, -1, 2, 2]


@given(
    st.lists(st.tuples(st.integers(-1, 20), st.integers(-1, 3)), max_size=21),
)
def test_higher_ancestors_equal_walks(rows):
    parent = sound_parents(np.array([parent for parent, _ in rows], np.int32))[0]
    layer = np.array([layer for _, layer in rows], np.int32)
    found = higher_ancestors(parent, layer)
    for row in range(len(rows)):
        at = parent[row]
        own = layer[row] if layer[row] >= 0 else 99
        while at >= 0 and not (0 <= layer[at] < own):
            at = parent[at]
        assert found[row] == at


@given(st.data())
def test_subtrees_equal_sums_over_descendants(make_trace, data):
    parents = data.draw(st.lists(st.integers(-1, 15), min_size=1, max_size=16))
    count = len(parents)
    handles = [("POSIX", "/f", parent if parent < count else -1) for parent in parents]
    operation = st.fixed_dictionaries(
        {
            "handle": st.integers(0, count - 1),
            "begin": st.integers(0, 50),
            "moved": st.none() | st.integers(0, MOST_BYTES),
            "mode": st.sampled_from(list(IoMode)),
        }
    )
    rows = [{**row, "end": row["begin"] + 7} for row in data.draw(st.lists(operation, max_size=2))]
    forest = make_trace(handles, rows).handles
    graph = forest.to_networkx()
    for row in range(count):
        below = {row} | {int(node) - 10 for node in networkx.descendants(graph, row + 10)}
        some = [operation for operation in rows if operation["handle"] in below]
        assert forest.subtree_operations[row] == len(some)
        written = sum(operation["moved"] or 0 for operation in some if operation["mode"] == IoMode.WRITE)
        assert int(forest.subtree_bytes_written[row]) == written
