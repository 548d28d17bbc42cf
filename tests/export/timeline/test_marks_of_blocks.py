"""Marks of a timeline added up block by block, against all of them at once."""

import pytest
from iostrata import open_trace
from iostrata.export.timeline import marks
from iostrata.export.timeline.marks import KINDS, marks_of_files


def told(found):
    columns, key, process, *_ = found
    transfers = {KINDS.index(name) for name in ("read", "write", "flush")}
    counts, moved = {}, {}
    for row, kind, count, volume in zip(
        *(column.tolist() for column in (columns.row, columns.kind, columns.count, columns.bytes)), strict=True
    ):
        one = int(key[row]), int(process[row]), kind
        counts[one] = counts.get(one, 0) + count
        if kind in transfers:
            moved[one] = moved.get(one, 0) + volume
    return counts, moved


@pytest.mark.parametrize("name", ["ncckpt4", "threads2", "nonblocking4"])
def test_the_same_marks_where_there_are_few(fixtures, name):
    layers = tuple(open_trace(fixtures / name).layers)
    full = marks_of_files(open_trace(fixtures / name), layers)
    bounded = marks_of_files(open_trace(fixtures / name, memory=500_000_000), layers)
    assert told(bounded) == told(full)
    assert bounded[-1] == 0


@pytest.mark.parametrize("most", [1, 40, 400])
def test_of_many_none_is_lost(fixtures, monkeypatch, most):
    trace = open_trace(fixtures / "ncckpt4", memory=500_000_000)
    layers = tuple(trace.layers)
    counts, moved = told(marks_of_files(trace, layers))
    monkeypatch.setattr(marks, "_MOST_MARKS", most)
    merged = marks_of_files(trace, layers)
    fewer_counts, fewer_moved = told(merged)
    assert sum(fewer_counts.values()) == sum(counts.values())
    assert sum(fewer_moved.values()) == sum(moved.values())
    assert merged[-1] > 0
    assert (merged[0].end >= merged[0].start).all()
