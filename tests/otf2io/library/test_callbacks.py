"""Archives written for the purpose: all 14 records, mapped ids, corrected clocks, operations that end in every way."""

from collections.abc import Callable
from contextlib import closing
from types import SimpleNamespace
from typing import Any

import _otf2
import numpy as np
import pytest
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.direct.walk import DirectWalk
from iostrata.otf2io.library.engine import LibraryWalk
from otf2.enums import (
    IoAccessMode,
    IoCreationFlag,
    IoOperationFlag,
    IoOperationMode,
    IoSeekOption,
    IoStatusFlag,
    LockType,
    Type,
)

from ..reading import read_events

New = Callable[..., Any]
Reopen = Callable[[Any], SimpleNamespace]
WRITE, READ, FLUSH = IoOperationMode.WRITE, IoOperationMode.READ, IoOperationMode.FLUSH


def rows(read: Any) -> list[tuple[int, ...]]:
    e = read.events
    return list(
        zip(
            *(x.tolist() for x in (e.kind, e.time, e.handle, e.mode, e.flags, e.matching, e.value, e.offset)),
            strict=True,
        )
    )


@pytest.fixture
def reopened(collect: Callable[..., Any]) -> Callable[[Any], SimpleNamespace]:
    """Return a function that closes a written archive and reads it."""

    def reopen(trace: Any) -> SimpleNamespace:
        trace.close()
        archive = open_archive(trace.defined.folder)
        read = read_events(archive)
        assert not read.damage.damaged
        return SimpleNamespace(
            archive=archive,
            definitions=archive.definitions,
            read=read,
            events=read.events,
            operations=collect(archive).operations,
        )

    return reopen


def test_every_record(new_archive: New) -> None:
    none = UNDEFINED_UINT64
    with closing(new_archive(archive_name="run")) as trace:
        d = trace.defined
        h0, h1 = d.handles[:2]
        offset = trace.definitions.attribute("Offset", "where", Type.UINT64)
        other = trace.definitions.attribute("Weight", "how heavy", Type.UINT64)
        w = trace.event_writer("thread", group=d.groups[0])
        w.io_create_handle(100, h0, IoAccessMode.READ_WRITE, IoCreationFlag.CREATE, IoStatusFlag.APPEND)
        w.io_duplicate_handle(110, h0, h1, IoStatusFlag.CLOSE_ON_EXEC)
        w.io_seek(120, h0, -5, IoSeekOption.FROM_END, 4095)
        w.io_change_status_flags(130, h1, IoStatusFlag.NON_BLOCKING)
        w.io_acquire_lock(140, h0, LockType.EXCLUSIVE)
        w.io_operation_begin(150, h0, WRITE, IoOperationFlag.NON_BLOCKING, 4096, 2**63 + 9, {other: 3, offset: 77})
        w.io_operation_issued(160, h0, 2**63 + 9)
        w.io_operation_test(170, h0, 2**63 + 9)
        w.io_operation_complete(180, h0, 4000, 2**63 + 9)
        w.io_operation_begin(190, h1, READ, IoOperationFlag.COLLECTIVE, 10, 3, {other: 3})
        w.io_operation_cancelled(200, h1, 3)
        w.io_release_lock(210, h0, LockType.EXCLUSIVE)
        w.io_try_lock(220, h0, LockType.SHARED)
        w.io_delete_file(230, d.paradigm, d.file)
        w.io_destroy_handle(240, h0)
    archive = open_archive(d.folder / "run.otf2")
    assert rows(read_events(archive)) == [
        (69, 0, 0, IoAccessMode.READ_WRITE.value, IoStatusFlag.APPEND.value, 0, IoCreationFlag.CREATE.value, none),
        (71, 10, 0, 0, IoStatusFlag.CLOSE_ON_EXEC.value, 0, 1, none),
        (72, 20, 0, IoSeekOption.FROM_END.value, 0, 0, 2**64 - 5, 4095),
        (73, 30, 1, 0, IoStatusFlag.NON_BLOCKING.value, 0, 0, none),
        (80, 40, 0, LockType.EXCLUSIVE.value, 0, 0, 0, none),
        (75, 50, 0, 1, 1, 2**63 + 9, 4096, 77),
        (77, 60, 0, 0, 0, 2**63 + 9, 0, none),
        (76, 70, 0, 0, 0, 2**63 + 9, 0, none),
        (78, 80, 0, 0, 0, 2**63 + 9, 4000, none),
        (75, 90, 1, 0, 2, 3, 10, none),
        (79, 100, 1, 0, 0, 3, 0, none),
        (81, 110, 0, LockType.EXCLUSIVE.value, 0, 0, 0, none),
        (82, 120, 0, LockType.SHARED.value, 0, 0, 0, none),
        (74, 130, UNDEFINED_UINT32, archive.definitions.paradigms[0].id, 0, 0, 0, none),
        (70, 140, 0, 0, 0, 0, 0, none),
    ]
    assert {row[0] for row in rows(read_events(archive))} == {int(kind) for kind in IoRecord}


def test_offset_attribute_of_another_type_is_no_offset(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        wrong = trace.definitions.attribute("Offset", "a string", Type.INT32)
        w = trace.event_writer("thread", group=d.groups[0])
        w.io_operation_begin(1, d.handles[0], WRITE, IoOperationFlag.NONE, 1, 1, {wrong: 5})
        right = trace.definitions.attribute("Offset", "the number", Type.UINT64)
        w.io_operation_begin(2, d.handles[0], WRITE, IoOperationFlag.NONE, 1, 2, {right: 6})
    assert reopened(trace).events.offset.tolist() == [UNDEFINED_UINT64, 6]


def test_several_local_ids_for_one_handle(new_archive: New, reopened: Reopen) -> None:
    """Quirk 12: maps are dense with undefined holes, and several local ids mean one global id."""
    with closing(new_archive()) as trace:
        d = trace.defined
        w = trace.event_writer("thread", group=d.groups[0])
        hole = UNDEFINED_UINT32
        mapping = _otf2.IdMap_CreateFromUint64Array([3, 1, hole, 3], False)
        _otf2.DefWriter_WriteMappingTable(w._def_handle, _otf2.MAPPING_IO_HANDLE, mapping)
        _otf2.IdMap_Free(mapping)
        for local in (0, 1, 3):
            w.io_operation_begin(local, d.handles[local], WRITE, IoOperationFlag.NONE, 8, 1)
            w.io_operation_complete(local, d.handles[local], 8, 1)
        plain = trace.event_writer("unmapped", group=d.groups[1])
        plain.io_destroy_handle(5, d.handles[2])
    written = reopened(trace)
    assert written.events.handle.tolist() == [3, 3, 1, 1, 3, 3, 2]
    assert written.operations.handle.tolist() == [3, 1, 3]


def test_attribute_ids_are_mapped(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        first = trace.definitions.attribute("Weight", "how heavy", Type.UINT64)
        trace.definitions.attribute("Offset", "where", Type.UINT64)
        w = trace.event_writer("thread", group=d.groups[0])
        mapping = _otf2.IdMap_CreateFromUint64Array([1, 0], False)
        _otf2.DefWriter_WriteMappingTable(w._def_handle, _otf2.MAPPING_ATTRIBUTE, mapping)
        _otf2.IdMap_Free(mapping)
        w.io_operation_begin(1, d.handles[0], WRITE, IoOperationFlag.NONE, 1, 1, {first: 123})
    assert reopened(trace).events.offset.tolist() == [123]


def test_clock_offsets_correct_the_times(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        exact = trace.event_writer("exact", group=d.groups[0])
        late = trace.event_writer("late", group=d.groups[1])
        for time, offset in ((1000, -100), (2000, -300), (4000, -300)):
            _otf2.DefWriter_WriteClockOffset(late._def_handle, time, offset, 0.0)
        exact.io_destroy_handle(500, d.handles[0])
        for time in (1000, 1250, 1501, 2000, 3000, 5000):
            late.io_destroy_handle(time, d.handles[0])
    written = reopened(trace)
    late_times = written.events.time[written.events.location == 1] + written.definitions.clock.start
    slope = -200 / 1000
    expected = [1000 - 100 + round(slope * 0), 1250 - 100 + round(slope * 250), 1501 - 100 + round(slope * 501)]
    assert late_times.tolist() == [*expected, 1700, 2700, 4700]


def test_times_before_the_start_are_negative(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        w = trace.event_writer("thread", group=d.groups[0])
        for time in (0, 100):
            _otf2.DefWriter_WriteClockOffset(w._def_handle, time, -30, 0.0)
        w.io_destroy_handle(50, d.handles[0])
        w.io_destroy_handle(90, d.handles[0])
    assert reopened(trace).events.time.tolist() == [-30, 10]


def test_asynchronous_operation_completed_by_another_thread(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        issuer = trace.event_writer("issuer", group=d.groups[0])
        waiter = trace.event_writer("waiter", group=d.groups[0])
        stranger = trace.event_writer("stranger", group=d.groups[1])
        issuer.io_operation_begin(10, d.handles[0], WRITE, IoOperationFlag.NON_BLOCKING, 64, 5)
        stranger.io_operation_begin(11, d.handles[0], WRITE, IoOperationFlag.NON_BLOCKING, 32, 5)
        issuer.io_operation_issued(12, d.handles[0], 5)
        waiter.io_operation_test(13, d.handles[0], 5)
        waiter.io_operation_complete(14, d.handles[0], 60, 5)
    written = reopened(trace)
    operations = written.operations
    assert operations.status.tolist() == [Status.COMPLETE, Status.NEVER_COMPLETED]
    assert operations.location.tolist() == [0, 2]
    assert operations.end_location.tolist() == [1, -1]
    assert operations.process.tolist() == [0, 1]
    assert operations.moved.tolist() == [60, UNDEFINED_UINT64]
    assert operations.bytes_moved.tolist() == [60, 0]
    assert operations.issued.tolist() == [2, UNDEFINED_TIME]
    assert operations.tests.tolist() == [1, 0]
    assert operations.flags.tolist() == [IoFlag.NON_BLOCKING] * 2


def test_undefined_bytes_stay_undefined(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        d = trace.defined
        w = trace.event_writer("thread", group=d.groups[0])
        w.io_operation_begin(1, d.handles[0], FLUSH, IoOperationFlag.NONE, UNDEFINED_UINT64, 1)
        w.io_operation_complete(2, d.handles[0], UNDEFINED_UINT64, 1)
        w.io_operation_begin(3, d.handles[0], WRITE, IoOperationFlag.NONE, 0, 1)
        w.io_operation_complete(4, d.handles[0], 0, 1)
    operations = reopened(trace).operations
    assert operations.requested.tolist() == operations.moved.tolist() == [UNDEFINED_UINT64, 0]
    assert operations.bytes_moved.tolist() == [0, 0]
    assert operations.status.tolist() == [Status.COMPLETE] * 2


@pytest.mark.parametrize("records", [3 * 2**16 - 1, 3 * 2**16, 40_000])
def test_many_records_over_batches_and_chunks(records: int, new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive(chunk_size_events=256 * 1024)) as trace:
        d = trace.defined
        w = trace.event_writer("thread", group=d.groups[0])
        w.io_operation_begin(0, d.handles[0], WRITE, IoOperationFlag.NONE, 1, 1)
        none = _otf2.IoStatusFlag(0)
        for time in range(1, records):
            _otf2.EvtWriter_IoChangeStatusFlags(w.handle, None, 10 * time, 0, none)
        w._location._number_of_events_written = records
        trace._last_timestamp = 10 * records
    written = reopened(trace)
    assert written.read.counts.tolist() == [records]
    assert len(written.events) == records
    np.testing.assert_array_equal(written.events.time, 10 * np.arange(records))


def test_no_locations(new_archive: New, reopened: Reopen) -> None:
    with closing(new_archive()) as trace:
        pass
    written = reopened(trace)
    assert len(written.events) == len(written.operations) == 0
    assert written.read.counts.shape == (0,)


def test_parameters_of_calls_are_the_numbers_that_were_told(written_archive: New, new_location: New) -> None:
    """Those with a sign and those without: both engines give the same 64 bits."""
    told = [("Int", -1), ("Int", -(2**63)), ("UnsignedInt", 2**64 - 1), ("Int", 4096)]
    events = [("Enter", 10, (3,), ())]
    events += [(f"Parameter{kind}", 20, (7, value), ()) for kind, value in told]
    archive = open_archive(written_archive([new_location([*events, ("Leave", 30, (3,), ())])]))
    (mine,) = LibraryWalk(archive.anchor, archive.definitions, regions=True).batches(0, 1)
    inner = mine.regions.position < 0
    assert mine.regions.region.tolist() == [3, 7, 7, 7, 7, 3]
    assert mine.regions.enter.tolist() == [True, *[False] * 5]
    assert mine.regions.time[inner].tolist() == [-1, -(2**63), -1, 4096]
    (same,) = DirectWalk(archive.anchor, archive.definitions, [3], [7]).batches(0, 1)
    for column in ("location", "time", "region", "enter", "position"):
        np.testing.assert_array_equal(getattr(mine.regions, column), getattr(same.regions, column))
