"""Partitions and blocks of operations that are in memory."""

import itertools
import pickle
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.inputs.rows import Transfers, checked
from iostrata.layers.selection.source import open_source
from iostrata.model.codes import IoRecord


@pytest.fixture
def busy_table(tmp_path):
    """Return a function that writes a table of operations (rank, begin, duration)."""

    def write(rows):
        path = tmp_path / "t.csv"
        lines = [f"POSIX,{rank},read,{begin},{begin + duration},1,/a" for rank, begin, duration in rows]
        path.write_text("layer,rank,mode,start_ns,end_ns,bytes,file\n" + "\n".join(lines) + "\n")
        return open_source(path)

    return write


@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1000), st.integers(0, 30)), min_size=1, max_size=60),
    st.integers(1, 4),
    st.one_of(st.none(), st.integers(1, 10)),
)
def test_blocks_are_all_of_it_once_and_cut_at_rest(busy_table, rows, workers, most):
    source = busy_table(rows)
    blocks = []
    for part in source.partitions(None, workers):
        blocks += list(source.read(replace(part, most_operations=most)))
    begins = np.sort(np.concatenate([block.operations.begin for block in blocks]))
    np.testing.assert_array_equal(begins, np.sort(source.operations.begin))
    assert sum(block.events for block in blocks) == sum(block.expected for block in blocks) == len(rows)
    if most is not None:
        assert all(len(block.operations) <= most for block in blocks)
        for process in range(len(source.definitions.groups.id)):
            mine = [block for block in blocks if len(block.operations) and (block.operations.process == process).any()]
            for before, after in itertools.pairwise(mine):
                apart = before.operations.end.max() < after.operations.begin.min()
                assert apart or after.cut


def test_a_source_can_be_sent_away(busy_table):
    source = pickle.loads(pickle.dumps(busy_table([(0, 1, 2), (1, 5, 6)])))
    assert [len(block.operations) for part in source.partitions(None, 1) for block in source.read(part)] == [2]


def test_no_workers(busy_table):
    with pytest.raises(SelectionError):
        busy_table([(0, 1, 2)]).partitions(None, 0)


def test_metadata_events_come_with_the_block_they_happened_in(busy_table, make_events):
    """Each process has an operation every 100 ticks and an event before it, within it, and one behind all."""
    made = busy_table([(rank, 100 * number, 50) for rank in range(3) for number in range(9)])
    events = [
        {"location": rank, "kind": IoRecord.SEEK, "time": 100 * number + shift}
        for rank in range(3)
        for number in range(9)
        for shift in (0, 20)
    ]
    events += [{"location": rank, "kind": IoRecord.SEEK, "time": 5000} for rank in range(3)]
    events.sort(key=lambda one: one["location"])
    source = replace(made, metadata=make_events(events))
    blocks = [block for part in source.partitions() for block in source.read(replace(part, most_operations=4))]
    assert len(blocks) == 9
    for block in blocks:
        (process,) = set(block.operations.process.tolist())
        assert set(source.definitions.locations.group[block.metadata.location].tolist()) == {process}
        inside = block.metadata.time[block.metadata.time < 5000]
        assert sorted(set((inside // 100 * 100).tolist())) == block.operations.begin.tolist()
    assert sum(len(block.metadata) for block in blocks) == len(events)


BEGINS = st.one_of(st.integers(0, 5), st.integers(0, 10**15))


@given(
    st.lists(st.tuples(BEGINS, st.integers(0, 3), st.integers(-1, 3)), max_size=60),
    st.one_of(st.none(), st.lists(st.integers(0, 4), min_size=4, max_size=4)),
    st.booleans(),
)
def test_operations_stand_by_begin_then_location_then_depth_of_their_handles(rows, below, in_order):
    """Those alike in all of it stay in the order of their rows."""
    rows = sorted(rows) if in_order else rows
    begin, location, handle = np.array(rows, np.int64).reshape(-1, 3).T
    depth = [0] * 5 if below is None else [*below, -1]
    moved = np.ones(len(rows), np.int64)
    transfers = Transfers(location, handle, np.zeros(len(rows), np.uint8), begin, begin + 1, moved, moved)
    found = checked(transfers, np.arange(4), below=None if below is None else np.array(below, np.int32))
    expected = sorted(range(len(rows)), key=lambda row: (rows[row][0], rows[row][1], depth[rows[row][2]]))
    assert found.rows.tolist() == expected
