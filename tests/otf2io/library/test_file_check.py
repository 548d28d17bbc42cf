"""The check of event files before they are read, against counts by hand and an independent walk over the bytes."""

import struct
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.otf2io.archive import Archive
from iostrata.otf2io.library.file_check import check_event_file, told_by_definitions

from ..reading import EventsRead

CHUNK = 1 << 20
WITHOUT_LENGTH = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}


def event_ends(content: bytes, chunk_size: int = CHUNK) -> list[int]:
    """Return the position just behind each event of a sound file."""
    ends = []
    for start in range(0, len(content), chunk_size):
        position = start + 18
        while position < len(content) and content[position] not in (0, 1, 2):
            kind = content[position]
            if kind == 5:
                position += 9
                continue
            if kind in WITHOUT_LENGTH:
                size = content[position + 1]
                position += 2 + (0 if size == 255 else size)
            else:
                position += 2 + content[position + 1]
            if kind != 6:
                ends.append(position)
    return ends


def test_all_files_of_sound_archives_are_sound(
    sound_name: str, read_fixture: Callable[[str], tuple[Archive, EventsRead]]
) -> None:
    archive, _ = read_fixture(sound_name)
    locations = archive.definitions.locations
    for identity, promised in zip(locations.id.tolist(), locations.events.tolist(), strict=True):
        path = archive.anchor.base / f"{identity}.evt"
        found = check_event_file(path, promised, archive.anchor.event_chunk)
        assert found.reason is None
        assert found.sound == promised == len(event_ends(path.read_bytes(), archive.anchor.event_chunk))


@given(share=st.floats(0, 1, exclude_max=True))
def test_cut_file_holds_the_events_that_end_before_the_cut(share: float, fixtures: Path, tmp_path_factory) -> None:
    content = (fixtures / "ckpt4_compiler" / "traces" / "0.evt").read_bytes()
    ends = event_ends(content)
    cut = int(share * len(content))
    path = tmp_path_factory.mktemp("cut") / "0.evt"
    path.write_bytes(content[:cut])
    found = check_event_file(path, len(ends), CHUNK)
    assert found.reason is not None
    assert found.sound == sum(end <= cut for end in ends)


@pytest.mark.parametrize("share", [0.38, 0.5, 0.7, 0.95])
def test_file_cut_after_its_first_chunk(share: float, fixtures: Path, tmp_path: Path) -> None:
    content = (fixtures / "ckpt4_compiler_flush" / "traces" / "0.evt").read_bytes()
    ends = event_ends(content)
    cut = int(share * len(content))
    path = tmp_path / "0.evt"
    path.write_bytes(content[:cut])
    found = check_event_file(path, 197582, CHUNK)
    assert "cut short" in str(found.reason)
    assert found.sound == sum(end <= cut for end in ends) < 197582


def test_file_cut_between_chunks(fixtures: Path, tmp_path: Path) -> None:
    content = (fixtures / "ckpt4_compiler_flush" / "traces" / "0.evt").read_bytes()
    path = tmp_path / "0.evt"
    path.write_bytes(content[:CHUNK])
    assert check_event_file(path, 197582, CHUNK).sound == 80517
    path.write_bytes(content[: CHUNK + 5])
    assert check_event_file(path, 197582, CHUNK).sound == 80517


def test_lost_tail_filled_with_zeros(fixtures: Path, tmp_path: Path) -> None:
    content = (fixtures / "ckpt4_compiler" / "traces" / "0.evt").read_bytes()
    ends = event_ends(content)
    path = tmp_path / "0.evt"
    path.write_bytes(content[: ends[99]] + bytes(len(content) - ends[99]))
    found = check_event_file(path, len(ends), CHUNK)
    assert (found.sound, found.reason) == (100, "its event file is cut short")


def test_no_file(tmp_path: Path) -> None:
    assert check_event_file(tmp_path / "0.evt", 5, CHUNK).reason == "its event file is missing"
    assert check_event_file(tmp_path / "0.evt", 0, CHUNK).reason is None


@pytest.mark.parametrize(
    ("content", "part"),
    [
        (b"", "empty"),
        (b"\x03\x42\x01", "no OTF2 header"),
        (b"text, not events, and long enough", "no OTF2 header"),
        (b"\x07" + bytes(40), "no OTF2 header"),
    ],
)
def test_no_events_in_it(content: bytes, part: str, tmp_path: Path) -> None:
    path = tmp_path / "0.evt"
    path.write_bytes(content)
    found = check_event_file(path, 5, CHUNK)
    assert found.sound == 0
    assert part in str(found.reason)


def test_folder_instead_of_a_file(tmp_path: Path) -> None:
    found = check_event_file(tmp_path, 5, CHUNK)
    assert found.sound == 0
    assert "cannot be read" in str(found.reason)


@pytest.mark.parametrize("promised", [1, 30, 10**15])
def test_count_that_is_not_the_definitions(promised: int, fixtures: Path) -> None:
    path = fixtures / "serial1" / "traces" / "0.evt"
    found = check_event_file(path, promised, CHUNK)
    assert (found.sound, found.expected, found.reason) == (1610, 1610, None)


def test_header_that_claims_more_events_than_fit(fixtures: Path, tmp_path: Path) -> None:
    content = bytearray((fixtures / "serial1" / "traces" / "0.evt").read_bytes())
    struct.pack_into("<Q", content, 10, 2**60)
    path = tmp_path / "0.evt"
    path.write_bytes(content)
    found = check_event_file(path, 2**60, CHUNK)
    assert found.sound == 0
    assert "no valid header" in str(found.reason)


def test_damaged_header_of_a_later_chunk(fixtures: Path, tmp_path: Path) -> None:
    content = bytearray((fixtures / "ckpt4_compiler_flush" / "traces" / "0.evt").read_bytes())
    content[CHUNK + 4] ^= 0xFF
    path = tmp_path / "0.evt"
    path.write_bytes(content)
    found = check_event_file(path, 197582, CHUNK)
    assert found.sound == 80517
    assert "chunk 1" in str(found.reason)


LOCATION, REGION = 2, 3


@pytest.mark.parametrize("kind", [LOCATION, REGION])
@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("mine", [[0], [7], [5, 300, 2**40], list(range(100, 500))])
def test_definitions_belong_to_the_locations_that_they_map(
    kind: int, sparse: bool, mine: list[int], written_archive: Callable[..., Path], new_location: Callable[..., object]
) -> None:
    pairs = [(3 * place if sparse else place, target) for place, target in enumerate(mine)]
    path = written_archive([new_location([], {kind: (sparse, pairs)}, [(5, -3), (100, 7)])]) / "traces" / "0.def"
    for location in (*mine, 1, 3, 99, 2**40 + 1):
        owner, synchronised = told_by_definitions(path, 2**22, location)
        assert owner == (0 if kind == REGION else 1 if location in mine else -1)
        assert [one % 2**64 for one in synchronised] == [2, 107]
