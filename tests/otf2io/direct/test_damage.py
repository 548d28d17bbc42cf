"""Damaged archives and the direct engine: what is sound stays, what is lost is told, whatever happens to a file."""

import random
import shutil
import struct
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata.model.codes import UNDEFINED_UINT32, IoRecord
from iostrata.model.events import IoEvents
from iostrata.model.stream.damage import LocationDamage
from iostrata.otf2io.archive import Archive, open_archive

from ..reading import EventsRead, read_events

Read = Callable[[str], tuple[Archive, EventsRead]]
Copy = Callable[[str], Path]

CHUNK = 1 << 20
CHUNKED = "ckpt4_compiler_flush"
"""Its event files have three chunks each."""


def of_location(events: IoEvents, row: int) -> list[tuple[int, ...]]:
    names = ("kind", "time", "handle", "mode", "flags", "matching", "value", "offset")
    rows = np.flatnonzero(events.location == row)
    return list(zip(*(getattr(events, name)[rows].tolist() for name in names), strict=True))


def read_damaged(folder: Path, original: EventsRead, row: int) -> tuple[EventsRead, LocationDamage]:
    """Read by the direct engine; exactly the location in `row` must be damaged, the rest as it was."""
    read = read_events(open_archive(folder), "direct")
    assert [damage.row for damage in read.damage.locations] == [row]
    for other in range(len(read.counts)):
        if other != row:
            assert of_location(read.events, other) == of_location(original.events, other)
    damage = read.damage.locations[0]
    assert damage.events_read == read.counts[row]
    return read, damage


def chunk_headers(content: bytes) -> list[tuple[int, int]]:
    return [struct.unpack_from("<QQ", content, start + 2) for start in range(0, len(content), CHUNK)]


def _cut_at(rows: list[tuple[int, ...]], starts: list[int]) -> list[list[tuple[int, ...]]]:
    parts: list[list[tuple[int, ...]]] = [[] for _ in range(len(starts) + 1)]
    for row in rows:
        parts[sum(row[1] >= start for start in starts)].append(row)
    return parts


def _later_starts(archive: Archive, content: bytes) -> list[int]:
    """Return the first time stamps of the later chunks in ticks since the trace's start (location 0 has no offset)."""
    return [
        struct.unpack_from("<Q", content, start + 19)[0] - archive.definitions.clock.start
        for start in range(CHUNK, len(content), CHUNK)
    ]


@pytest.fixture
def chunked(copy_of: Copy, read_fixture: Read) -> tuple[Path, bytearray, EventsRead, list[list[tuple[int, ...]]]]:
    """Return a copy of an archive, the content of its first event file, what it holds, and its rows by chunk."""
    folder = copy_of(CHUNKED)
    archive, read = read_fixture(CHUNKED)
    content = bytearray((folder / "traces" / "0.evt").read_bytes())
    return folder, content, read, _cut_at(of_location(read.events, 0), _later_starts(archive, bytes(content)))


@pytest.mark.parametrize("seed", range(8))
def test_garbage_costs_the_rest_of_its_chunk_only(seed: int, chunked: Any) -> None:
    folder, content, original, parts = chunked
    chance = random.Random(seed)
    chunk = chance.randrange(len(parts) - 1)
    at = chunk * CHUNK + chance.randrange(100, CHUNK - 5000)
    content[at : at + 4096] = chance.randbytes(4096)
    (folder / "traces" / "0.evt").write_bytes(content)
    read, damage = read_damaged(folder, original, 0)
    rows = of_location(read.events, 0)
    before = [row for part in parts[:chunk] for row in part]
    behind = [row for part in parts[chunk + 1 :] for row in part]
    assert rows[: len(before)] == before
    assert rows[len(rows) - len(behind) :] == behind
    middle = rows[len(before) : len(rows) - len(behind)]
    assert middle == parts[chunk][: len(middle)]
    first, last = chunk_headers(bytes(content))[chunk]
    share = (at - chunk * CHUNK) / CHUNK
    lost = damage.events_expected - damage.events_read
    assert lost == pytest.approx((1 - share) * (last - first), abs=0.03 * (last - first))
    assert "garbage after event" in damage.reason


@pytest.mark.parametrize("field", ["mark", "order", "first", "last"])
@pytest.mark.parametrize("chunk", [0, 1, 2])
def test_bad_chunk_header(field: str, chunk: int, chunked: Any) -> None:
    folder, content, original, parts = chunked
    at, value = {"mark": (0, b"\x07"), "order": (1, b"\x43"), "first": (2, bytes(8)), "last": (10, bytes(8))}[field]
    content[chunk * CHUNK + at : chunk * CHUNK + at + len(value)] = value
    (folder / "traces" / "0.evt").write_bytes(content)
    read, damage = read_damaged(folder, original, 0)
    assert of_location(read.events, 0) == [row for k, part in enumerate(parts) if k != chunk for row in part]
    first, last = chunk_headers((Path(__file__).parents[3] / "fixtures" / CHUNKED / "traces" / "0.evt").read_bytes())[
        chunk
    ]
    assert damage.events_read == damage.events_expected - (last - first + 1)
    assert "header" in damage.reason


@pytest.mark.parametrize("last", [1, 1000, 2**40])
def test_wrong_last_event_in_a_header(last: int, chunked: Any) -> None:
    folder, content, original, parts = chunked
    content[10:18] = struct.pack("<Q", last)
    (folder / "traces" / "0.evt").write_bytes(content)
    read, damage = read_damaged(folder, original, 0)
    rows = of_location(read.events, 0)
    behind = [row for part in parts[1:] for row in part]
    assert rows[len(rows) - len(behind) :] == behind
    kept = rows[: len(rows) - len(behind)]
    assert kept == parts[0][: len(kept)]
    assert damage.events_read >= damage.events_expected - 80_517


@pytest.mark.parametrize("share", [0.001, 0.1, 0.3, 0.42, 0.7, 0.9999])
def test_cut_file(share: float, chunked: Any) -> None:
    folder, content, original, _ = chunked
    size = int(share * len(content))
    (folder / "traces" / "0.evt").write_bytes(content[:size])
    read, damage = read_damaged(folder, original, 0)
    rows = of_location(read.events, 0)
    assert rows == of_location(original.events, 0)[: len(rows)]
    assert damage.events_read == pytest.approx(share * damage.events_expected, rel=0.1, abs=50)
    assert damage.reason == "its event file is cut short"
    library = read_events(open_archive(folder), "library")
    assert of_location(library.events, 0) == rows
    assert library.counts.tolist() == read.counts.tolist()


@pytest.mark.parametrize("size", [CHUNK, 2 * CHUNK, CHUNK + 5, CHUNK + 18, 2 * CHUNK + 20])
def test_cut_at_a_chunk(size: int, chunked: Any) -> None:
    folder, content, original, parts = chunked
    (folder / "traces" / "0.evt").write_bytes(content[:size])
    read, damage = read_damaged(folder, original, 0)
    whole = size // CHUNK
    assert of_location(read.events, 0) == [row for part in parts[:whole] for row in part]
    assert damage.events_read == chunk_headers(bytes(content))[whole - 1][1]


def test_lost_end_mark_loses_no_event(chunked: Any) -> None:
    folder, content, original, parts = chunked
    for size in (1, 2):
        (folder / "traces" / "0.evt").write_bytes(content[:-size])
        read, damage = read_damaged(folder, original, 0)
        assert of_location(read.events, 0) == [row for part in parts for row in part]
        assert damage.events_read == damage.events_expected


def test_swapped_chunks(chunked: Any) -> None:
    folder, content, original, parts = chunked
    content[: 2 * CHUNK] = content[CHUNK : 2 * CHUNK] + content[:CHUNK]
    (folder / "traces" / "0.evt").write_bytes(content)
    read, damage = read_damaged(folder, original, 0)
    assert of_location(read.events, 0) == parts[1] + parts[2]
    assert damage.events_read == damage.events_expected - 80_517


def test_chunk_of_zeros(chunked: Any) -> None:
    folder, content, original, parts = chunked
    content[CHUNK : 2 * CHUNK] = bytes(CHUNK)
    (folder / "traces" / "0.evt").write_bytes(content)
    read, _ = read_damaged(folder, original, 0)
    assert of_location(read.events, 0) == parts[0] + parts[2]


@pytest.mark.parametrize(
    "filling", [b"\x0c\x00", b"\x00", b"\xff", b"\x0c\x01\x01", b"\x4b\x06\x00\x01\x00\x00\x01\x01", b"\x05" + bytes(8)]
)
def test_regular_garbage_makes_no_rows(filling: bytes, copy_of: Copy, read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "0.evt"
    content = bytearray(path.read_bytes())
    content[3000:5000] = (filling * 2000)[:2000]
    path.write_bytes(content)
    original = read_fixture("ckpt4_linktime")[1]
    read, damage = read_damaged(folder, original, 0)
    rows = of_location(read.events, 0)
    assert damage.events_read < 1037
    known = of_location(original.events, 0)
    assert rows[:10] == known[:10]
    # What passes for a record must at least not be absurd.
    assert all(row[2] in open_archive(folder).definitions.handles.id for row in rows if row[0] != 74)
    assert all(row[1] <= known[-1][1] for row in rows)


def test_missing_files(copy_of: Copy, read_fixture: Read) -> None:
    original = read_fixture("ckpt4_linktime")[1]
    for suffix, reason in (("evt", "event file is missing"), ("def", "definition file is missing")):
        folder = copy_of("ckpt4_linktime")
        (folder / "traces" / f"1.{suffix}").unlink()
        read, damage = read_damaged(folder, original, 1)
        assert (damage.events_expected, damage.events_read) == (335, 0)
        assert reason in damage.reason
        assert of_location(read.events, 1) == []
        shutil.rmtree(folder)


def test_folder_instead_of_a_file(copy_of: Copy, read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    (folder / "traces" / "1.evt").unlink()
    (folder / "traces" / "1.evt").mkdir()
    _, damage = read_damaged(folder, read_fixture("ckpt4_linktime")[1], 1)
    assert damage.events_read == 0


@pytest.mark.parametrize("size", [0, 1, 17])
def test_event_file_without_header(size: int, copy_of: Copy, read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "2.evt"
    path.write_bytes(path.read_bytes()[:size])
    _, damage = read_damaged(folder, read_fixture("ckpt4_linktime")[1], 2)
    assert damage.reason == ("its event file has no OTF2 header" if size else "its event file is empty")


@pytest.mark.parametrize("size", [0, 1, 18, 19, 100, 200, 368, 370])
def test_cut_local_definitions(size: int, copy_of: Copy, read_fixture: Read) -> None:
    folder = copy_of("ckpt4_linktime")
    path = folder / "traces" / "1.def"
    path.write_bytes(path.read_bytes()[:size])
    read, damage = read_damaged(folder, read_fixture("ckpt4_linktime")[1], 1)
    assert damage.reason == "its definition file is damaged, so its ids and times mean nothing"
    assert of_location(read.events, 1) == []


@pytest.mark.parametrize("promised", [1, 100, 10_000, 10**18])
def test_wrong_promise(promised: int, fixtures: Path, read_fixture: Read) -> None:
    archive = open_archive(fixtures / "serial1")
    original = of_location(read_fixture("serial1")[1].events, 0)
    object.__setattr__(archive.definitions.locations, "events", np.array([promised], np.uint64))
    for engine in ("direct", "library"):
        read = read_events(archive, engine)
        assert read.counts.tolist() == [1610]
        assert of_location(read.events, 0) == original
        assert (read.damage.events_expected, read.damage.events_read, read.damage.miscounted) == (promised, 1610, 0)
        assert f"holds 1610 events, the definitions promise {promised}" in read.damage.locations[0].reason


def test_no_promise_is_no_damage(fixtures: Path) -> None:
    archive = open_archive(fixtures / "serial1")
    object.__setattr__(archive.definitions.locations, "events", np.zeros(1, np.uint64))
    for engine in ("direct", "library"):
        damage = read_events(archive, engine).damage
        assert not damage.damaged
        assert (damage.events_expected, damage.miscounted) == (1610, 1)


def test_a_recorder_that_miscounts_all_locations_has_lost_nothing(fixtures: Path) -> None:
    archive = open_archive(fixtures / "ckpt4_linktime")
    promised = archive.definitions.locations.events
    object.__setattr__(archive.definitions.locations, "events", promised - np.minimum(promised, 1).astype(np.uint64))
    for engine in ("direct", "library"):
        damage = read_events(archive, engine).damage
        assert not damage.damaged
        assert (damage.events_expected, damage.miscounted) == (promised.sum(), np.count_nonzero(promised))


@pytest.mark.parametrize("mixed", ["swapped", "of a neighbour", "of another trace"])
def test_files_in_the_place_of_others_are_damage(mixed: str, fixtures: Path, copy_of: Copy) -> None:
    folder = copy_of("ckpt4_linktime") / "traces"
    other = {"of another trace": fixtures / "ckpt4" / "traces" / "2.evt"}.get(mixed, folder / "1.evt").read_bytes()
    if mixed == "swapped":
        (folder / "1.evt").write_bytes((folder / "0.evt").read_bytes())
    (folder / "0.evt").write_bytes(other)
    for engine in ("direct", "library"):
        damage = read_events(open_archive(folder.parent), engine).damage
        assert damage.damaged
        assert {one.row for one in damage.locations} == ({0, 1} if mixed == "swapped" else {0})
        assert all("it belongs elsewhere, or a part of it is missing" in one.reason for one in damage.locations)


def test_time_stamps_that_run_backwards_are_read_and_reported(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        writer = trace.event_writer("thread", group=trace.defined.groups[0])
        for moment in (10, 20, 30, 40):
            writer.io_destroy_handle(moment, trace.defined.handles[0])
    path = trace.defined.folder / "traces" / "0.evt"
    content = path.read_bytes()
    path.write_bytes(content.replace(b"\x05\x1e" + bytes(7), b"\x05\x0f" + bytes(7)))
    read = read_events(open_archive(trace.defined.folder), "direct")
    assert read.damage.locations[0].reason == "its time stamps run backwards"
    assert read.events.time.tolist() == [0, 10, 5, 30]


def test_unknown_records_are_passed_over(new_archive: Callable[..., Any]) -> None:
    with closing(new_archive()) as trace:
        writer = trace.event_writer("thread", group=trace.defined.groups[0])
        for moment in (10, 20, 30, 40):
            writer.io_destroy_handle(moment, trace.defined.handles[0])
    path = trace.defined.folder / "traces" / "0.evt"
    content = path.read_bytes()
    changed = content.replace(b"\x05\x1e" + bytes(7) + b"\x46", b"\x05\x1e" + bytes(7) + b"\xc8")
    assert changed != content
    path.write_bytes(changed)
    for engine in ("direct", "library"):
        read = read_events(open_archive(trace.defined.folder), engine)
        assert read.events.time.tolist() == [0, 10, 30]
        assert read.counts.tolist() == [4]
        assert not read.damage.damaged


def test_real_corruption_by_a_race(fixtures: Path) -> None:
    read = read_events(open_archive(fixtures / "broken_race_corruption"), "direct")
    library = read_events(open_archive(fixtures / "broken_race_corruption"), "library")
    assert [damage.row for damage in read.damage.locations] == [2]
    # Behind event 2197 two time stamps stand together; the library takes the second for a record.
    assert read.counts.tolist() == [3341, 3617, 2197, 3525]
    for row in range(4):
        mine = of_location(read.events, row)
        assert of_location(library.events, row)[: len(mine)] == mine


def test_no_rows_from_an_archive_without_locations(fixtures: Path) -> None:
    archive = open_archive(fixtures / "serial1")
    for name in ("id", "events"):
        object.__setattr__(archive.definitions.locations, name, np.empty(0, np.uint64))
    read = read_events(archive, "direct")
    assert len(read.events) == len(read.counts) == 0
    assert not read.damage.damaged


def test_kinds_and_handles_stay_in_range(fixtures: Path) -> None:
    read = read_events(open_archive(fixtures / "broken_race_corruption"), "direct")
    assert set(read.events.kind.tolist()) <= {int(kind) for kind in IoRecord}
    assert (read.events.handle[read.events.kind == IoRecord.DELETE_FILE] == UNDEFINED_UINT32).all()


def test_hundreds_of_mutations_in_a_process_of_their_own() -> None:
    script = Path(__file__).parents[3] / "benchmarks" / "damage" / "fuzz.py"
    command = [sys.executable, str(script), "--count", "80", "--first", "7000000", "--seconds", "600"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "same rows, damaged" in done.stdout
