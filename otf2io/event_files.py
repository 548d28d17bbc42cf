"""Check of a location's ``.evt`` file before anything reads it: how many of its events are there and can be asked for.

The official library never returns on a file that was cut behind its first chunk: it hands out the events of the chunk
before, again and again. So no reader here asks for more events than this check found, except for one more where it
found nothing wrong: in such a file the library comes to the end, and the one shows garbage that passes for events.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from .anchor import BIG_ENDIAN, CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from .event_walk import walk_chunk
from .file_end import END
from .regular_files import open_regular

_SMALLEST_EVENT: Final = 2
"""Bytes of the shortest record of an event: its type and one more."""


@dataclass(frozen=True)
class EventFile:
    """What the check of an event file found.

    Attributes
    ----------
    path : Path
    promised : int
        Events that the definitions promise.
    size : int
        Bytes of the file.
    little_endian : bool
        Byte order of the file.
    sound : int
        Events from the start that lie wholly in the file; at most `promised`.
    reason : str or None
        What is wrong with the file, None where nothing is.
    """

    path: Path
    promised: int
    size: int
    little_endian: bool
    sound: int
    reason: str | None


def check_event_file(path: Path, promised: int, chunk_size: int) -> EventFile:
    """Check the headers and the end of an uncompressed event file.

    Parameters
    ----------
    path : Path
    promised : int
        Number of events that the definitions promise.
    chunk_size : int
        Bytes of a chunk, from the anchor: chunk k starts at k × `chunk_size`.

    Returns
    -------
    EventFile
        Only the chunks' headers and the last two bytes are read, unless the end is missing: then the last chunk's
        records are walked to count those that are whole.
    """
    try:
        with open_regular(path) as file:
            return _check(path, file.fileno(), promised, chunk_size)
    except FileNotFoundError:
        # Score-P writes no event file for a location without events.
        return EventFile(path, promised, 0, True, 0, "its event file is missing" if promised else None)
    except OSError as error:
        return EventFile(path, promised, 0, True, 0, f"its event file cannot be read ({error.strerror})")


def _check(path: Path, file: int, promised: int, chunk_size: int) -> EventFile:
    size = os.fstat(file).st_size
    head = os.pread(file, CHUNK_HEADER, 0)
    if not head:
        return EventFile(path, promised, size, True, 0, "its event file is empty")
    if len(head) < CHUNK_HEADER or head[0] != MAGIC_BYTE or head[1] not in (LITTLE_ENDIAN, BIG_ENDIAN):
        return EventFile(path, promised, size, True, 0, "its event file has no OTF2 header")
    order = "<" if head[1] == LITTLE_ENDIAN else ">"
    header = struct.Struct(f"{order}BBQQ")

    def result(sound: int, reason: str | None) -> EventFile:
        return EventFile(path, promised, size, order == "<", min(sound, promised), reason)

    chunks = -(-size // chunk_size)
    most = (chunk_size - CHUNK_HEADER) // _SMALLEST_EVENT
    last = 0
    for chunk in range(chunks):
        before = last
        content = os.pread(file, CHUNK_HEADER, chunk * chunk_size)
        if len(content) < CHUNK_HEADER:
            return result(before, "its event file is cut short")
        magic, mark, first, last = header.unpack(content)
        valid = magic == MAGIC_BYTE and mark == head[1] and first == before + 1
        if not valid or not 0 <= last - before <= most:
            return result(before, f"chunk {chunk} of its event file has no valid header")
    if os.pread(file, 2, size - 2) == END:
        if last == promised:
            return result(last, None)
        return result(last, f"its event file holds {last} events, the definitions promise {promised}")
    start = (chunks - 1) * chunk_size
    walk = walk_chunk(os.pread(file, chunk_size, start)[CHUNK_HEADER:], last - before, order == "<")
    return result(before + walk.whole, "its event file is cut short")
