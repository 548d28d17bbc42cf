"""The careful walk over damaged event files: nothing behind garbage counts, nearly all before it does."""

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from iostrata.otf2io.archive import Archive
from iostrata.otf2io.library.file_check import check_chunk, count_credible_events

from ..reading import EventsRead

CHUNK = 1 << 20
WITHOUT_LENGTH = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}


def events_before(content: bytes, limit: int) -> int:
    """Count the events that end at or before byte `limit` of a sound file."""
    count = 0
    for start in range(0, len(content), CHUNK):
        position = start + 18
        while position < len(content) and content[position] not in (0, 1, 2):
            kind = content[position]
            if kind == 5:
                position += 9
                continue
            if kind in WITHOUT_LENGTH:
                position += 2 + (0 if content[position + 1] == 255 else content[position + 1])
            else:
                position += 2 + content[position + 1]
            if position > limit:
                return count
            count += kind != 6
    return count


def test_every_event_of_a_sound_archive_is_credible(
    sound_name: str, read_fixture: Callable[[str], tuple[Archive, EventsRead]]
) -> None:
    archive, _ = read_fixture(sound_name)
    locations = archive.definitions.locations
    for identity, promised in list(zip(locations.id.tolist(), locations.events.tolist(), strict=True))[:8]:
        found = count_credible_events(
            archive.anchor.base / f"{identity}.evt",
            promised,
            archive.anchor.event_chunk,
            True,
            2 * archive.definitions.clock.length,
        )
        assert found == (promised, None)


@pytest.mark.parametrize("seed", range(12))
@pytest.mark.parametrize(("name", "rank"), [("ckpt4_compiler_flush", 0), ("ckpt4", 1)])
def test_garbage_ends_what_is_credible(seed: int, name: str, rank: int, fixtures: Path, tmp_path: Path) -> None:
    content = bytearray((fixtures / name / "traces" / f"{rank}.evt").read_bytes())
    promised = events_before(bytes(content), len(content))
    chance = random.Random(seed)
    start = chance.randrange(2000, len(content) - 6000)
    sound = events_before(bytes(content), start)
    content[start : start + 4096] = chance.randbytes(4096)
    path = tmp_path / "0.evt"
    path.write_bytes(content)
    credible, reason = count_credible_events(path, promised, CHUNK, True, 10**11)
    assert reason == "garbage"
    assert sound - 20 <= credible <= sound


def test_end_marker_too_early() -> None:
    record = b"\x05" + (7).to_bytes(8, "little") + b"\x0c\x01\x03"
    assert check_chunk(record * 3 + b"\x02\x01", 3, True).reason is None
    walk = check_chunk(record * 3 + b"\x02\x01", 5, True)
    assert (walk.whole, walk.credible, walk.reason) == (3, 2, "garbage")


def test_more_records_than_the_header_says() -> None:
    record = b"\x05" + (7).to_bytes(8, "little") + b"\x0c\x01\x03"
    assert check_chunk(record * 3 + b"\x0c\x01\x03", 3, True).reason == "garbage"


def test_long_record_and_attributes() -> None:
    stamp = b"\x05" + (7).to_bytes(8, "big")
    attributes = b"\x06\x04\x01\x00\x04\x00"
    long = b"\x53\xff" + (300).to_bytes(8, "big") + bytes(300)
    walk = check_chunk(stamp + attributes + long + stamp + b"\x0c\xff", 2, False)
    assert (walk.whole, walk.reason) == (2, None)


@pytest.mark.parametrize(
    ("record", "sound"),
    [
        (bytes((75, 6)) + b"\x00\x01\x00\x00\x01\x01", True),
        (bytes((75, 5)) + b"\x00\x01\x00\x00\x01", False),
        (bytes((75, 7)) + b"\x00\x01\x00\x00\x01\x01\x00", False),
        (bytes((77, 3)) + b"\x09\x01\x01", False),
        (bytes((70, 1)) + b"\xff", True),
        (bytes((200, 1)) + b"\x00", False),
    ],
)
def test_fields_fill_an_io_record(record: bytes, sound: bool) -> None:
    stamp = b"\x05" + (7).to_bytes(8, "little")
    walk = check_chunk(stamp + record + b"\x02\x01", 1, True)
    assert (walk.reason is None) == sound
    assert walk.whole == int(sound)
