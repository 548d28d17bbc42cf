"""The library engine: counts, order, workers, progress, and damaged archives."""

import random
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata.model.codes import UNDEFINED_UINT32, IoRecord
from iostrata.model.events import IoEvents
from iostrata.otf2io.archive import Archive, open_archive

from ..reading import EventsRead, read_events

Read = Callable[[str], tuple[Archive, EventsRead]]


def columns(events: IoEvents, rows: Any = slice(None)) -> list[tuple[int, ...]]:
    names = ("location", "kind", "time", "handle", "mode", "flags", "matching", "value", "offset")
    return list(zip(*(getattr(events, name)[rows].tolist() for name in names), strict=True))


def test_counts_are_those_of_the_definitions(sound_name: str, read_fixture: Read) -> None:
    archive, read = read_fixture(sound_name)
    assert read.counts.tolist() == archive.definitions.locations.events.tolist()
    assert read.counts.dtype == np.uint64
    assert read.damage.events_expected == read.damage.events_read == sum(read.counts.tolist())
    assert not read.damage.damaged
    assert read.engine == "library"


def test_rows_stand_by_location_in_the_order_of_time(sound_name: str, read_fixture: Read) -> None:
    archive, read = read_fixture(sound_name)
    events = read.events
    assert np.all(np.diff(events.location) >= 0)
    assert np.all((np.diff(events.time) >= 0) | (np.diff(events.location) > 0))
    assert events.time.min() >= 0
    assert events.time.max() <= archive.definitions.clock.length


@pytest.mark.parametrize("workers", [2, 3, 50])
@pytest.mark.parametrize("name", ["ckpt16", "threads2"])
def test_workers_do_not_change_the_result(workers: int, name: str, read_fixture: Read) -> None:
    archive, read = read_fixture(name)
    again = read_events(archive, "library", workers=workers)
    assert columns(again.events) == columns(read.events)
    assert again.counts.tolist() == read.counts.tolist()


def test_progress_reaches_all_events(read_fixture: Read) -> None:
    archive, _ = read_fixture("ckpt16")
    calls: list[tuple[int, int]] = []
    read_events(archive, "library", progress=lambda done, total: calls.append((done, total)))
    assert calls[-1] == (50980, 50980)
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})


def damage_of(folder: Path) -> tuple[EventsRead, dict[int, tuple[int, int, str]]]:
    """Read a damaged archive."""
    read = read_events(open_archive(folder), "library")
    found = {d.location: (d.events_expected, d.events_read, d.reason) for d in read.damage.locations}
    for damage in read.damage.locations:
        assert read.counts[damage.row] == damage.events_read
    return read, found


def sound_rows(read: EventsRead, original: EventsRead, damaged_row: int) -> int:
    """Check that all other locations are as they were and the damaged one is so up to its loss; return its rows."""
    rest = np.flatnonzero(read.events.location != damaged_row)
    assert columns(read.events, rest) == columns(original.events, original.events.location != damaged_row)
    rows = columns(read.events, read.events.location == damaged_row)
    assert rows == columns(original.events, original.events.location == damaged_row)[: len(rows)]
    return len(rows)


def test_missing_event_file(copy_of: Callable[[str], Path], read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    (folder / "traces" / "1.evt").unlink()
    read, damage = damage_of(folder)
    assert damage == {1: (335, 0, "its event file is missing")}
    assert sound_rows(read, read_fixture("ckpt4_linktime")[1], 1) == 0
    assert (read.damage.events_expected, read.damage.events_read) == (2042, 2042 - 335)


def test_missing_definition_file_makes_the_events_unusable(copy_of: Callable[[str], Path], read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    (folder / "traces" / "1.def").unlink()
    read, damage = damage_of(folder)
    assert list(damage) == [1]
    assert damage[1][:2] == (335, 0)
    assert "definition file is missing" in damage[1][2]
    assert sound_rows(read, read_fixture("ckpt4_linktime")[1], 1) == 0


@pytest.mark.parametrize("keep", [0, 1, 30, 200, 368, 370])
def test_cut_definition_file_makes_the_events_unusable(keep: int, copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "1.def"
    path.write_bytes(path.read_bytes()[:keep])
    _, damage = damage_of(folder)
    assert damage[1][:2] == (335, 0)
    assert "definition file is damaged" in damage[1][2]


def test_event_file_cut_in_its_only_chunk(copy_of: Callable[[str], Path], read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "0.evt"
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])
    read, damage = damage_of(folder)
    assert damage == {0: (1037, 517, "its event file is cut short")}
    assert sound_rows(read, read_fixture("ckpt4_linktime")[1], 0) > 100


@pytest.mark.parametrize("share", [0.35, 0.5, 0.7, 0.9, 0.9999])
def test_event_file_cut_after_its_first_chunk_returns(
    share: float, copy_of: Callable[[str], Path], read_fixture: Read
) -> None:
    folder = copy_of("ckpt4_compiler_flush")
    path = folder / "traces" / "0.evt"
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    read, damage = damage_of(folder)
    expected, found, reason = damage[0]
    assert (expected, reason) == (197582, "its event file is cut short")
    assert 0.9 * share < found / expected < 1.1 * share
    assert sound_rows(read, read_fixture("ckpt4_compiler_flush")[1], 0) > 0


@pytest.mark.parametrize("seed", range(6))
def test_garbage_within_an_event_file(seed: int, copy_of: Callable[[str], Path], read_fixture: Read) -> None:
    folder = copy_of("ckpt4_compiler_flush")
    path = folder / "traces" / "2.evt"
    content = bytearray(path.read_bytes())
    chance = random.Random(seed)
    start = chance.randrange(1000, len(content) - 5000)
    content[start : start + 4096] = chance.randbytes(4096)
    path.write_bytes(content)
    read, damage = damage_of(folder)
    assert list(damage) == [2]
    expected, found, reason = damage[2]
    assert reason == f"its event file holds garbage after event {found}"
    assert found <= expected * (start + 200) / len(content) * 1.15
    assert found >= expected * (start - 200) / len(content) * 0.85
    sound_rows(read, read_fixture("ckpt4_compiler_flush")[1], 2)


@pytest.mark.parametrize(
    "filling", [b"\x0c\x00", b"\x00", b"\xff", b"\x0c\x01\x01", b"\x4b\x06\x00\x01\x00\x00\x01\x01"]
)
def test_regular_garbage_that_passes_for_records(
    filling: bytes, copy_of: Callable[[str], Path], read_fixture: Read
) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "0.evt"
    content = bytearray(path.read_bytes())
    content[3000:5000] = (filling * 2000)[:2000]
    path.write_bytes(content)
    read, damage = damage_of(folder)
    assert damage[0][0] == 1037
    assert damage[0][1] < 1037
    sound_rows(read, read_fixture("ckpt4_linktime")[1], 0)


def test_real_corruption_by_a_race(fixtures: Path) -> None:
    read, damage = damage_of(fixtures / "broken_race_corruption")
    assert damage == {2: (3306, 2199, "its event file holds garbage after event 2199")}
    assert read.counts.tolist() == [3341, 3617, 2199, 3525]


def test_more_events_promised_than_the_file_has(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("serial1")
    archive = open_archive(folder)
    object.__setattr__(archive.definitions.locations, "events", np.array([10**18], np.uint64))
    read = read_events(archive, "library")
    assert (read.damage.events_expected, read.damage.events_read) == (10**18, 1610)
    assert "holds 1610 events" in read.damage.locations[0].reason


def test_location_without_events_needs_no_file(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        trace.event_writer("idle", group=trace.defined.groups[0])
        busy = trace.event_writer("busy", group=trace.defined.groups[1])
        busy.io_destroy_handle(5, trace.defined.handles[0])
    (trace.defined.folder / "traces" / "0.evt").unlink(missing_ok=True)
    read = read_events(open_archive(trace.defined.folder), "library")
    assert read.counts.tolist() == [0, 1]
    assert not read.damage.damaged


def test_time_stamps_that_run_backwards_are_read_and_reported(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        writer = trace.event_writer("thread", group=trace.defined.groups[0])
        for moment in (10, 20, 30, 40):
            writer.io_destroy_handle(moment, trace.defined.handles[0])
    path = trace.defined.folder / "traces" / "0.evt"
    content = path.read_bytes()
    assert content.count(b"\x05\x1e" + bytes(7)) == 1
    path.write_bytes(content.replace(b"\x05\x1e" + bytes(7), b"\x05\x0f" + bytes(7)))
    read = read_events(open_archive(trace.defined.folder), "library")
    assert read.damage.locations[0].reason == "its time stamps run backwards"
    assert read.counts.tolist() == [4]
    assert read.events.time.tolist() == [0, 10, 5, 30]


def test_interrupt_within_a_callback_arrives(read_fixture: Read, monkeypatch: pytest.MonkeyPatch) -> None:
    from iostrata.otf2io.library import callbacks as event_callbacks

    class Interrupting:
        """A buffer whose third row meets Ctrl-C."""

        def __init__(self, _: str) -> None:
            self.calls = 0

        def extend(self, _: object) -> None:
            self.calls += 1
            if self.calls == 3:
                raise KeyboardInterrupt

        def __len__(self) -> int:
            return 0

    monkeypatch.setattr(event_callbacks, "array", Interrupting)
    with pytest.raises(KeyboardInterrupt):
        read_events(read_fixture("serial1")[0], "library")


def test_handles_are_never_made_up(sound_name: str, read_fixture: Read) -> None:
    archive, read = read_fixture(sound_name)
    with_handle = read.events.kind != IoRecord.DELETE_FILE
    assert np.isin(read.events.handle[with_handle], archive.definitions.handles.id).all()
    assert np.all(read.events.handle[~with_handle] == UNDEFINED_UINT32)
