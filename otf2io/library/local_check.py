"""Check of a location's definitions before the official library gets them.

The library takes room for as many entries of an id map as the map says it has, and computes the room modulo 2^64: a
count of 2^61 makes it write over whatever lies behind. So no file comes to it whose maps claim more entries than there
are bytes.
"""

from pathlib import Path
from typing import Final, Literal

from ..anchor import CHUNK_HEADER, LITTLE_ENDIAN
from ..files import END, open_regular

_END_OF_CHUNK: Final = 0
_MAPPING: Final = 5
_LONG: Final = 255
_LARGEST: Final = 2**26
"""Bytes of a file of local definitions beyond which it is damaged."""


def maps_are_believable(path: Path, chunk_size: int) -> bool:
    """Tell whether the file at `path` ends as it should and each of its id maps can have the entries that it claims.

    Raises FileNotFoundError if there is no file. One that cannot be read is not believable.
    """
    try:
        with open_regular(path) as file:
            content = file.read(_LARGEST + 1)
    except FileNotFoundError:
        raise
    except OSError:
        return False
    if len(content) > _LARGEST or len(content) < CHUNK_HEADER + len(END) or not content.endswith(END):
        return False
    order: Literal["little", "big"] = "little" if content[1] == LITTLE_ENDIAN else "big"
    at = CHUNK_HEADER
    while at + 2 < len(content):
        kind, length = content[at], content[at + 1]
        if kind == _END_OF_CHUNK:
            at = (at // chunk_size + 1) * chunk_size + CHUNK_HEADER
            continue
        at += 2
        if length == _LONG:
            length = int.from_bytes(content[at : at + 8], order)
            at += 8
        if at + length > len(content):
            return False
        if kind == _MAPPING and not _has_room(content[at : at + length], order):
            return False
        at += length
    return True


def _has_room(fields: bytes, order: Literal["little", "big"]) -> bool:
    """Tell whether an id map has a byte or more for each entry: type, count, whether it is sparse, entries."""
    size = fields[1] if len(fields) > 1 else 0
    return size <= 8 and int.from_bytes(fields[2 : 2 + size], order) <= len(fields)
