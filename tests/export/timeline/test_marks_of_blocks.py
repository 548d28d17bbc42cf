"""Marks of a timeline added up block by block, against all of them at once."""

import numpy as np
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


def test_of_more_operations_than_any_picture_shows_not_each_is_kept(fixtures, monkeypatch):
    trace = open_trace(fixtures / "ncckpt4")
    layers = tuple(trace.layers)
    exact = told(marks_of_files(trace, layers))
    monkeypatch.setattr(marks, "_MOST_MARKS", 40)
    assert told(marks_of_files(trace, layers)) == exact
    monkeypatch.setattr(marks, "_MOST_EXACT", 10)
    merged = marks_of_files(trace, layers)
    assert merged[-1] > 0
    assert [sum(one.values()) for one in told(merged)] == [sum(one.values()) for one in exact]


@pytest.mark.parametrize("memory", [None, 500_000_000])
def test_opens_and_closes_last_as_long_as_their_calls(fixtures, memory):
    trace = open_trace(fixtures / "ncckpt4", memory=memory)
    layers = tuple(trace.layers)
    found, key, _, files, _ = marks_of_files(trace, layers)
    for kind, name in (("open", "opens"), ("close", "closes")):
        rows = found.kind == KINDS.index(kind)
        for place, layer in enumerate(layers):
            mine = rows & (key[found.row] // files == place)
            expected = [one.summed_s for one in trace.calls.totals.call_times if (one.layer, one.kind) == (layer, name)]
            took = (found.end - found.start)[mine].sum() / trace.definitions.clock.ticks_per_second
            assert took == pytest.approx(sum(expected), rel=1e-9)


@pytest.mark.parametrize("memory", [None, 500_000_000])
def test_deletions_are_marks_of_the_file_that_they_name(fixtures, memory):
    trace = open_trace(fixtures / "small_files2", memory=memory)
    layers = tuple(trace.layers)
    found, key, _, files, _ = marks_of_files(trace, layers)
    of_posix = key[found.row] // files == layers.index("POSIX")
    others = of_posix & (found.kind == KINDS.index("other"))
    expected = {one.kind: one for one in trace.calls.totals.call_times if one.layer == "POSIX"}
    assert found.count[others].sum() == expected["deletions"].calls
    took = (found.end - found.start)[others].sum() / trace.definitions.clock.ticks_per_second
    assert took == pytest.approx(expected["deletions"].summed_s, rel=1e-9)
    names = {trace.definitions.files.name[one % files - 1] for one in key[found.row[others]].tolist()}
    assert len(names) > 1
    assert all(name in trace.definitions.files.name for name in names)


def test_transfers_alone(fixtures):
    trace = open_trace(fixtures / "ckpt4", files="all")
    found, *_ = marks_of_files(trace, tuple(trace.layers), metadata=False)
    assert not np.isin(found.kind, [KINDS.index(kind) for kind in ("open", "close", "other")]).any()
