"""Operations that are kept are added up in parts of processes or in pieces; how many there are changes nothing."""

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import iostrata
import pytest
from iostrata.analysis.loops.find import find_loops
from iostrata.layers.attribution import stream

FIXTURES = Path(__file__).parents[3] / "fixtures"


def told(trace, folder):
    report = folder / "report.html"
    iostrata.write_report(trace, report)
    splits = [
        (one.layer, one.key, {name: column.tolist() for name, column in one.columns.items()})
        for one in map(trace.breakdown, ("file", "rank", "node", "handle"))
    ]
    return iostrata.compare_layers(trace).to_dict(), report.read_text(), splits


@pytest.mark.parametrize("name", ["ncckpt4", "small_files2", "nonblocking4"])
def test_parts_of_whole_processes_tell_the_same_as_all_at_once(monkeypatch, tmp_path, name):
    path = FIXTURES / name
    once = told(iostrata.open_trace(path), tmp_path)
    monkeypatch.setattr(stream, "AT_ONCE", 5)
    trace = iostrata.open_trace(path)
    parts = list(trace.stream)
    assert len(parts) > 1
    assert sum(len(part.operations) for part in parts) == len(trace.operations)
    assert told(trace, tmp_path) == once


def test_parts_are_few(monkeypatch):
    """Sums grow with what they hold, and so does merging two of them."""
    monkeypatch.setattr(stream, "AT_ONCE", 5)
    monkeypatch.setattr(stream, "MOST_PARTS", 2)
    trace = iostrata.open_trace(FIXTURES / "ncckpt4")
    assert 1 < len(list(trace.stream)) <= 3


def test_events_of_a_process_without_operations_are_in_a_part(monkeypatch):
    class Count:
        operations = metadata = 0

        def add(self, block):
            self.operations += len(block.operations)
            self.metadata += len(block.metadata)

        def merge(self, other):
            self.operations += other.operations
            self.metadata += other.metadata

    monkeypatch.setattr(stream, "AT_ONCE", 1)
    trace = iostrata.open_trace(FIXTURES / "small_files2")
    kept = trace.stream.kept
    of_one = kept.operations.take(kept.operations.process == kept.operations.process.max())
    only = replace(trace.stream, in_memory=kept._replace(operations=of_one))
    found = only.summed(Count)
    assert (found.operations, found.metadata) == (len(of_one), len(kept.other_events))


@pytest.mark.parametrize("workers", [1, 3])
@pytest.mark.parametrize("name", ["ncckpt4", "small_files2", "nonblocking4", "mixed4", "threads2"])
def test_pieces_in_the_order_of_begins_show_the_same_loops(monkeypatch, name, workers):
    once = find_loops(iostrata.open_trace(FIXTURES / name)).to_dict()
    assert once["loops"]
    for limit in ("AT_ONCE", "PIECE"):
        monkeypatch.setattr(stream, limit, 7)
    monkeypatch.setattr(stream, "MOST_PIECES", 1 << 20)
    trace = iostrata.open_trace(FIXTURES / name, workers=workers)
    assert find_loops(trace).to_dict() == once


@pytest.mark.parametrize("workers", [1, 2])
def test_pieces_have_each_row_once_with_the_events_before_the_next_piece(monkeypatch, workers):
    class Rows:
        def __init__(self):
            self.pieces = []

        def add(self, block):
            self.pieces.append((block.operations.begin.tolist(), block.metadata.time.tolist()))

        def merge(self, other):
            self.pieces += other.pieces

    for limit in ("AT_ONCE", "PIECE"):
        monkeypatch.setattr(stream, limit, 50)
    trace = iostrata.open_trace(FIXTURES / "small_files2", workers=workers)
    pieces = trace.stream.summed_in_order(Rows).pieces
    operations, times = (sorted(one for piece in pieces for one in piece[place]) for place in range(2))
    assert operations == trace.operations.begin.tolist()
    assert times == sorted(trace.stream.whole.metadata.time.tolist())
    for earlier, later in pairwise(pieces if workers == 1 else []):
        start = later[0][0]
        assert max(earlier[1], default=0) < start <= min(later[1], default=start)
