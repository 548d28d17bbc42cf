"""Check of a location's definitions before the official library gets them.

The library takes room for as many entries of an id map as the map says it has, and computes the room modulo 2^64: a
count of 2^61 makes it write over whatever lies behind. A map with fewer entries than it claims goes on in the bytes of
the next record. So no file comes to it whose maps do not fill their records.
"""

from pathlib import Path
from typing import Final, Literal

from ..files.anchor import CHUNK_HEADER, LITTLE_ENDIAN
from ..files.regular import END, open_regular

_END_OF_CHUNK: Final = 0
_MAPPING: Final = 5
_LONG: Final = 255
_UNDEFINED: Final = 255
_LONGEST: Final = 8
"""Bytes of an integer, and the size that stands for one that is all ones."""
_LARGEST: Final = 2**26
"""Bytes of a file of local definitions beyond which it is damaged."""


def maps_are_sound(path: Path, chunk_size: int) -> bool:
    """Tell whether the file at `path` ends as it should and its id maps have the entries that they claim.

    Raises FileNotFoundError if there is no file. The maps of one that cannot be read are not sound.
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
        if kind == _MAPPING and not _fills_its_record(content[at : at + length], order):
            return False
        at += length
    return True


def _fills_its_record(fields: bytes, order: Literal["little", "big"]) -> bool:
    """Tell whether an id map is whole: type, count, whether it is sparse, one or two integers an entry."""
    size = fields[1] if len(fields) > 1 else _LONGEST + 1
    at = size + 2
    if size > _LONGEST or len(fields) <= at:
        return False
    integers = int.from_bytes(fields[2:at], order) * (2 if fields[at] else 1)
    at += 1
    # Each integer takes a byte or more, so a wrong count ends with the record.
    while integers and at < len(fields):
        size = fields[at]
        if _LONGEST < size < _UNDEFINED:
            return False
        at += 1 + size % _UNDEFINED
        integers -= 1
    return not integers and at == len(fields)
