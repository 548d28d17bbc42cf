"""Maps of handle ids in real archives, against an independent walk over the bytes of their files."""

from collections.abc import Callable

import numpy as np
import pytest
from iostrata.model.codes import UNDEFINED_UINT32, UNDEFINED_UINT64
from iostrata.otf2io.archive import Archive

from ..reading import EventsRead

Read = Callable[[str], tuple[Archive, EventsRead]]


def compressed(content: bytes, position: int) -> tuple[int, int]:
    """Read a compressed integer; return it and the position behind it."""
    size = content[position]
    if size == 255:
        return UNDEFINED_UINT64, position + 1
    return int.from_bytes(content[position + 1 : position + 1 + size], "little"), position + 1 + size


def handle_map(content: bytes) -> dict[int, int]:
    """Read the map of handle ids from the bytes of a local definition file (dense maps only)."""
    position = 18
    found: dict[int, int] = {}
    while content[position] not in (0, 1, 2):
        kind, length, start = content[position], content[position + 1], position + 2
        if length == 255:
            length, start = int.from_bytes(content[position + 2 : position + 10], "little"), position + 10
        if kind == 5 and content[start] == 13:
            count, at = compressed(content, start + 1)
            assert content[at] == 0
            at += 1
            for local in range(count):
                found[local], at = compressed(content, at)
        position = start + length
    return found


def local_handles(content: bytes, chunk: int) -> list[int]:
    """Read the handle ids of operations' begins and completions from the bytes of an event file."""
    without_length = {12, 13, 16, 17, 20, 21, 24, 28, 29, 30}
    found = []
    for start in range(0, len(content), chunk):
        position = start + 18
        while content[position] not in (0, 1, 2):
            kind = content[position]
            if kind == 5:
                position += 9
                continue
            if kind in without_length:
                position = compressed(content, position + 1)[1]
                continue
            if kind in (75, 78):
                found.append(compressed(content, position + 2)[0])
            position += 2 + content[position + 1]
    return found


@pytest.mark.parametrize("name", ["ckpt4", "ncckpt4", "nonblocking4", "ckpt8_unnested"])
def test_12_id_maps_have_holes_and_meet_in_one_id(name: str, read_fixture: Read) -> None:
    archive, read = read_fixture(name)
    events = read.events
    holes = shared = 0
    for row, location in enumerate(archive.definitions.locations.id.tolist()):
        base = archive.anchor.base / str(location)
        mapping = handle_map(base.with_suffix(".def").read_bytes())
        undefined = [local for local, known in mapping.items() if known in (UNDEFINED_UINT32, UNDEFINED_UINT64)]
        holes += len(undefined)
        shared += len(mapping) - len(undefined) > len(set(mapping.values()) - {UNDEFINED_UINT32, UNDEFINED_UINT64})
        local = local_handles(base.with_suffix(".evt").read_bytes(), archive.anchor.event_chunk)
        rows = (events.location == row) & np.isin(events.kind, (75, 78))
        assert events.handle[rows].tolist() == [mapping.get(handle, handle) for handle in local]
    assert shared > 0
    assert holes > 0 or name == "ncckpt4"
