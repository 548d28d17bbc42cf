"""Files made to cost time or memory: holes of terabytes, id maps without end, clock offsets in disorder."""

import resource
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from iostrata import TraceError
from iostrata.model.events import IoEvents
from iostrata.otf2io.archive import Archive, open_archive

from ..reading import EventsRead, read_events

Read = Callable[[str], tuple[Archive, EventsRead]]
Check = Callable[[IoEvents, IoEvents], None]

TERABYTE = 10**12


def test_a_hole_of_a_terabyte_is_skipped(
    copy_of: Callable[[str], Path], read_fixture: Read, assert_same_events: Check
) -> None:
    folder = copy_of("serial1")
    path = next(path for path in sorted((folder / "traces").glob("*.evt")) if path.stat().st_size)
    with path.open("r+b") as file:
        try:
            file.truncate(TERABYTE)
        except OSError as error:
            pytest.skip(f"no sparse files of this size here: {error}")
    before = resource.getrusage(resource.RUSAGE_SELF)
    found = read_events(open_archive(folder), "direct")
    after = resource.getrusage(resource.RUSAGE_SELF)
    assert_same_events(found.events, read_fixture("serial1")[1].events)
    assert [one.reason for one in found.damage.locations] == ["chunk 1 of its event file has no valid header"]
    # A million chunks, each of them a megabyte, would take minutes.
    assert after.ru_inblock - before.ru_inblock < 2**16


def dense_map(entries: int) -> bytes:
    """A record that maps local handle ids 0, 1, 2, … all to 0, in a file of its own."""
    body = bytes([13, 4]) + entries.to_bytes(4, "little") + bytes([0]) + bytes(entries)
    record = bytes([5, 255]) + len(body).to_bytes(8, "little") + body
    return b"\x03\x42" + bytes(16) + record + b"\x02\x01"


@pytest.mark.parametrize(("entries", "sound"), [(20, True), (3_000_000, False)])
def test_an_id_map_follows_the_definitions(entries: int, sound: bool, written_archive: Any, new_location: Any) -> None:
    events = [("IoDestroyHandle", time, (1,), ()) for time in range(5)]
    folder = written_archive([new_location(events), new_location(events)])
    path = folder / "traces" / "0.def"
    path.write_bytes(dense_map(entries))
    found = read_events(open_archive(folder), "direct")
    assert found.counts.tolist() == [5 if sound else 0, 5]
    assert found.events.handle.tolist() == [*([0] * 5 if sound else []), *[1] * 5]
    if not sound:
        assert "definition file is damaged" in found.damage.locations[0].reason


@pytest.mark.parametrize("second", [50, 100])
@pytest.mark.parametrize("engine", ["direct", "library"])
def test_clock_offsets_in_disorder_are_damage(
    second: int, engine: str, written_archive: Any, new_location: Any
) -> None:
    location = new_location([("IoDestroyHandle", 10, (1,), ())])
    location.clock = [(100, 0), (second, 7), (200, 0)]
    found = read_events(open_archive(written_archive([location])), engine)
    assert "definition file is damaged" in found.damage.locations[0].reason


def test_intervals_of_the_clock_are_found_wherever_times_jump(written_archive: Any, new_location: Any) -> None:
    times = sorted(i * 7919 % 7000 for i in range(80))
    location = new_location([("IoDestroyHandle", time, (1,), ()) for time in times])
    location.clock = [(7 * i, (i * 31) % 17) for i in range(0, 1000, 3)]
    archive = open_archive(written_archive([location]))
    direct, library = (read_events(archive, engine) for engine in ("direct", "library"))
    assert len(direct.events) == len(times)
    assert direct.events.time.tolist() == library.events.time.tolist()


@pytest.mark.parametrize("lost", [1, 2])
def test_a_missing_end_is_told(
    lost: int, copy_of: Callable[[str], Path], read_fixture: Read, assert_same_events: Check
) -> None:
    folder = copy_of("threads2")
    path = max((folder / "traces").glob("*.evt"), key=lambda one: one.stat().st_size)
    path.write_bytes(path.read_bytes()[:-lost])
    for engine in ("direct", "library"):
        found = read_events(open_archive(folder), engine)
        assert_same_events(found.events, read_fixture("threads2")[1].events)
        assert [f"{one.location}.evt" for one in found.damage.locations] == [path.name]


@pytest.mark.parametrize("place", range(60, 64))
@pytest.mark.parametrize("value", [0x7F, 0x80, 0xFF])
def test_a_number_of_properties_without_properties(place: int, value: int, copy_of: Callable[[str], Path]) -> None:
    # The library allocates by this number, with an overflow, and then writes beyond what it got.
    folder = copy_of("nonblocking4")
    anchor = folder / "traces.otf2"
    content = bytearray(anchor.read_bytes())
    assert content[60:64] == (5).to_bytes(4, "little")
    content[place] = value
    anchor.write_bytes(content)
    with pytest.raises(TraceError, match=r"texts in the anchor .* are damaged"):
        open_archive(folder)


def test_an_anchor_that_ends_in_its_texts(copy_of: Callable[[str], Path]) -> None:
    folder = copy_of("nonblocking4")
    anchor = folder / "traces.otf2"
    anchor.write_bytes(anchor.read_bytes()[:50])
    with pytest.raises(TraceError, match="damaged"):
        open_archive(folder)
