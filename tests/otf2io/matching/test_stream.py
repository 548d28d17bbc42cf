"""Operations streamed from archives, against reading all events and matching them at once."""

import random
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.model.codes import UNDEFINED_UINT32, IoFlag, IoRecord, Status
from iostrata.model.events import IoEvents
from iostrata.otf2io.archive import open_archive, read_events
from iostrata.otf2io.matching import stream as operation_stream
from iostrata.otf2io.matching.columns import match_events
from iostrata.otf2io.matching.stream import StreamedRead, stream_operations

FIXTURES = Path(__file__).parents[3] / "fixtures"
ALL = sorted(anchor.parent.name for anchor in FIXTURES.glob("*/traces.otf2"))
CHUNK = 1 << 20
BLOCKING, NON_BLOCKING = 0, int(IoFlag.NON_BLOCKING)
Row = tuple[int, ...]


def in_full(folder: Path) -> tuple[StreamedRead, list[Row], list[Row]]:
    """Read all events and match them; return what a stream would say, its operations and metadata events, sorted."""
    archive = open_archive(folder)
    read = read_events(archive, "direct")
    matching = match_events(read.events, archive.definitions)
    found = matching.operations
    handle = np.append(archive.definitions.handles.id, np.uint32(UNDEFINED_UINT32))[found.handle]
    columns = (found.location, handle, found.mode, found.status, found.begin, found.end, found.requested, found.moved)
    kind = read.events.kind
    metadata = read.events.take((kind < IoRecord.OPERATION_BEGIN) | (kind > IoRecord.OPERATION_CANCELLED))
    said = StreamedRead(
        read.counts, len(read.events), read.damage.locations, matching.unmatched_ends + matching.unmatched_steps
    )
    return said, sorted(zip(*(column.tolist() for column in columns), strict=True)), event_rows(metadata)


def streamed(folder: Path, workers: int = 1) -> tuple[StreamedRead, list[Row], list[Row]]:
    """The same by the stream."""
    archive = open_archive(folder)
    operations: list[Row] = []
    metadata: list[Row] = []

    def consume(batch: Any) -> None:
        operations.extend(zip(*(column.tolist() for column in batch.operations), strict=True))
        metadata.extend(event_rows(batch.metadata))

    said = stream_operations(archive.anchor, archive.definitions, consume, workers)
    return said, sorted(operations), sorted(metadata)


def event_rows(events: IoEvents) -> list[Row]:
    names = ("location", "kind", "time", "handle", "mode", "flags", "value")
    return sorted(zip(*(getattr(events, name).tolist() for name in names), strict=True))


def check_same(folder: Path, workers: int = 1) -> tuple[StreamedRead, list[Row]]:
    expected, operations, metadata = in_full(folder)
    said, found, found_metadata = streamed(folder, workers)
    assert found == operations
    assert found_metadata == metadata
    assert said.counts.tolist() == expected.counts.tolist()
    assert said.io_events == expected.io_events
    assert said.damage == expected.damage
    assert said.unmatched_events == expected.unmatched_events
    return said, found


@pytest.mark.parametrize("name", ALL)
def test_every_fixture(name: str) -> None:
    for workers in (1, 3):
        _, operations = check_same(FIXTURES / name, workers)
        assert operations


@pytest.mark.parametrize("rows", [1, 7, 1000])
def test_slices_of_any_length(rows: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_stream, "_ROWS", rows)
    monkeypatch.setattr(operation_stream, "_FIRST_IN_FLIGHT", 1)
    check_same(FIXTURES / "nonblocking4", 2)
    check_same(FIXTURES / "threads2")


@pytest.mark.parametrize("seed", range(12))
def test_damaged_archives(seed: int, copy_of: Callable[[str], Path]) -> None:
    chance = random.Random(seed)
    folder = copy_of(("nonblocking4", "ckpt4_compiler_flush", "threads2")[seed % 3])
    paths = sorted((folder / "traces").glob("*.evt"))
    for path in chance.sample(paths, min(2, len(paths))):
        content = bytearray(path.read_bytes())
        at = chance.randrange(20, len(content) - 20)
        if seed % 4 == 0:
            content = content[:at]
        elif seed % 4 == 1:
            content[at : at + 64] = chance.randbytes(64)
        elif seed % 4 == 2:
            content[2:10] = struct.pack("<Q", 7)
        else:
            del content[at : at + chance.randrange(1, 40)]
        path.write_bytes(content)
    said, _ = check_same(folder, workers=1 + seed % 2)
    assert said.damage


def test_missing_files(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("nonblocking4")
    (folder / "traces" / "1.evt").unlink()
    (folder / "traces" / "2.def").unlink()
    said, _ = check_same(folder, workers=3)
    assert {location.location for location in said.damage} == {1, 2}


def begin(time: int, matching: int, flags: int = BLOCKING, handle: int = 0) -> tuple[Any, ...]:
    return "IoOperationBegin", time, (handle, 1, flags, 10 + matching, matching), ()


def complete(time: int, matching: int, handle: int = 0) -> tuple[Any, ...]:
    return "IoOperationComplete", time, (handle, 1000 + matching, matching), ()


def test_more_in_flight_than_there_is_room_for_at_first(written_archive: Any, new_location: Any) -> None:
    # Kernels that move what is in flight run here as the program runs them.
    count = 5000
    events = [begin(row, row, NON_BLOCKING * (row % 2)) for row in range(count)]
    ends = [complete(count + row, count - 1 - row) for row in range(count)]
    said, operations = check_same(written_archive([new_location(events=[*events, *ends])] * 2), workers=2)
    assert len(operations) == 2 * count
    assert {row[3] for row in operations} == {Status.COMPLETE}
    assert said.unmatched_events == 0


def test_beyond_the_cap_all_in_flight_are_given_up(
    written_archive: Any, new_location: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(operation_stream, "_FIRST_IN_FLIGHT", 4)
    monkeypatch.setattr(operation_stream, "MOST_IN_FLIGHT", 16)
    events = [begin(row, row) for row in range(100)] + [complete(100 + row, row) for row in range(100)]
    said, operations, _ = streamed(written_archive([new_location(events=events)]))
    # The room is full six times; the last four operations find room.
    assert len(operations) == 100
    lost = [row for row in operations if row[3] == Status.NEVER_COMPLETED]
    assert [row[4] for row in lost] == list(range(96))
    assert said.unmatched_events == 96
    monkeypatch.setattr(operation_stream, "MOST_IN_FLIGHT", 128)
    assert streamed(written_archive([new_location(events=events)]))[0].unmatched_events == 0


def test_one_clear_error_where_too_much_waits_for_other_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(operation_stream, "_in_processes_of_several_locations", lambda given: np.ones(
        len(given.locations.id), np.bool_))  # fmt: skip
    check_same(FIXTURES / "nonblocking4")
    monkeypatch.setattr(operation_stream, "MOST_WAITING", 10)
    for workers in (1, 3):
        with pytest.raises(SelectionError, match="more than 10 events of non-blocking operations") as caught:
            streamed(FIXTURES / "nonblocking4", workers)
        assert "\n" not in str(caught.value)


def test_threads_of_one_process(written_archive: Any, new_location: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    # An operation begun on one thread ends on another: only all threads together can tell.
    folder = written_archive([
        new_location(events=[begin(1, 1, NON_BLOCKING), begin(2, 2), complete(3, 2), begin(20, 3, NON_BLOCKING)]),
        new_location(events=[complete(5, 1), begin(6, 1), complete(7, 1), complete(9, 9)]),
    ])  # fmt: skip
    real = open_archive

    def one_process(path: Path) -> Any:
        archive = real(path)
        archive.definitions.locations.group[:] = 0
        return archive

    monkeypatch.setitem(globals(), "open_archive", one_process)
    said, operations = check_same(folder, workers=2)
    ends = {(row[4], row[5]) for row in operations if row[3] == Status.COMPLETE}
    assert ends == {(1, 5), (2, 3), (6, 7)}
    assert said.unmatched_events == 1


def test_progress_counts_all_events() -> None:
    archive = open_archive(FIXTURES / "ckpt4")
    seen: list[tuple[int, int]] = []
    stream_operations(archive.anchor, archive.definitions, lambda _batch: None, 2, lambda *now: seen.append(now))
    total = int(archive.definitions.locations.events.sum())
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)
    assert seen[-1] == (total, total)


def test_a_failing_consumer_stops_the_reading() -> None:
    archive = open_archive(FIXTURES / "ckpt4")

    def consume(_batch: Any) -> None:
        raise SelectionError("enough")

    for workers in (1, 3):
        with pytest.raises(SelectionError, match="enough"):
            stream_operations(archive.anchor, archive.definitions, consume, workers)


def test_columns_of_a_batch_have_the_stated_types() -> None:
    archive = open_archive(FIXTURES / "ckpt4")
    types = set()
    stream_operations(
        archive.anchor,
        archive.definitions,
        lambda batch: types.add(tuple(column.dtype.str for column in batch.operations)),
        1,
    )
    assert types == {("<i4", "<u4", "|u1", "|u1", "<i8", "<i8", "<u8", "<u8")}
