"""Check of a location's ``.evt`` file before anything reads it: how many of its events are there and can be asked for.

The official library never returns on a file that was cut behind its first chunk: it hands out the events of the chunk
before, again and again. So no reader here asks for more events than this check found, except for one more where it
found nothing wrong: in such a file the library comes to the end, and the one shows garbage that passes for events.

Where the library met damage or a file lacks its end, a careful walk over the records finds up to where they are
credible. Garbage between sound records does not always look wrong at once: bytes can pass for a record or two before
they make no sense. A time stamp in the right range is nine bytes that chance does not produce, so behind garbage only
the events before the last such stamp count.
"""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ...model.codes import IoRecord
from ..files.anchor import BIG_ENDIAN, CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from ..files.regular import END, open_regular

_END_OF_CHUNK, _END_OF_BUFFER, _END_OF_FILE = 0, 1, 2
_TIMESTAMP: Final = 5
_ATTRIBUTES: Final = 6
_EVENT_TYPES: Final = range(10, 128)
_WITHOUT_LENGTH: Final = frozenset((12, 13, 16, 17, 20, 21, 24, 28, 29, 30))
"""Record types of one compressed integer, no length byte: Enter, Leave, and some of MPI, of threads and of tasks."""

_FIELDS: Final = {
    IoRecord.CREATE_HANDLE: "cbcc",
    IoRecord.DESTROY_HANDLE: "c",
    IoRecord.DUPLICATE_HANDLE: "ccc",
    IoRecord.SEEK: "ccbc",
    IoRecord.CHANGE_STATUS_FLAGS: "cc",
    IoRecord.DELETE_FILE: "bc",
    IoRecord.OPERATION_BEGIN: "cbccc",
    IoRecord.OPERATION_TEST: "cc",
    IoRecord.OPERATION_ISSUED: "cc",
    IoRecord.OPERATION_COMPLETE: "ccc",
    IoRecord.OPERATION_CANCELLED: "cc",
    IoRecord.ACQUIRE_LOCK: "cb",
    IoRecord.RELEASE_LOCK: "cb",
    IoRecord.TRY_LOCK: "cb",
}
"""Fields of the I/O records: c a compressed integer, b a byte."""


@dataclass(frozen=True)
class ChunkWalk:
    """What a walk over one chunk found.

    Attributes
    ----------
    whole : int
        Events whose bytes are all there.
    credible : int
        Events before the last credible time stamp ahead of the first record that makes no sense; equal to `whole`
        where all of them make sense.
    reason : str or None
        Why the walk ended before the chunk's last event: ``"cut"`` or ``"garbage"``.
    """

    whole: int
    credible: int
    reason: Literal["cut", "garbage"] | None


def check_chunk(
    records: bytes, events: int, little_endian: bool, earliest: int = 0, latest: int = 2**64 - 1
) -> ChunkWalk:
    """Walk the records of a chunk (its bytes without the header) until `events` events or something wrong.

    Parameters
    ----------
    events : int
        Number of events that the chunk's header promises.
    earliest, latest : int
        Range of credible time stamps, in raw ticks.
    """
    order: Literal["little", "big"] = "little" if little_endian else "big"
    position = 0
    count = 0
    before_stamp = 0
    end = len(records)

    def stopped(reason: Literal["cut", "garbage"]) -> ChunkWalk:
        return ChunkWalk(count, count if reason == "cut" else before_stamp, reason)

    while count < events:
        if position + 2 > end:
            return stopped("cut")
        kind = records[position]
        if kind == _TIMESTAMP:
            if position + 9 > end:
                return stopped("cut")
            stamp = int.from_bytes(records[position + 1 : position + 9], order)
            if not earliest <= stamp <= latest:
                return stopped("garbage")
            before_stamp = count
            position += 9
            continue
        if kind in _WITHOUT_LENGTH:
            size = records[position + 1]
            if size > 8 and size != 255:
                return stopped("garbage")
            position += 2 + (size if size != 255 else 0)
        elif kind in _EVENT_TYPES or kind == _ATTRIBUTES:
            length, position = records[position + 1], position + 2
            if length == 255:
                length, position = int.from_bytes(records[position : position + 8], order), position + 8
            if position + length <= end and not _consistent(records[position : position + length], kind):
                return stopped("garbage")
            position += length
        else:
            return stopped("garbage")
        if position > end:
            return stopped("cut")
        if kind != _ATTRIBUTES:
            count += 1
    if position < end and records[position] not in (_END_OF_CHUNK, _END_OF_BUFFER, _END_OF_FILE, _TIMESTAMP):
        return stopped("garbage")
    return ChunkWalk(count, count, None)


def _consistent(payload: bytes, kind: int) -> bool:
    """Whether the fields of an I/O record fill its payload exactly; other records are taken as they are."""
    fields = _FIELDS.get(kind)  # type: ignore[call-overload]
    if fields is None:
        return True
    position = 0
    for field in fields:
        if position >= len(payload):
            return False
        size = payload[position] if field == "c" else 0
        if size > 8 and size != 255:
            return False
        position += 1 + (size if size != 255 else 0)
    return position == len(payload)


def count_credible_events(
    path: Path, sound: int, chunk_size: int, little_endian: bool, longest: int
) -> tuple[int, Literal["cut", "garbage"] | None]:
    """Count the events of a file from its start up to the first record that makes no sense.

    Parameters
    ----------
    sound : int
        Events to look at; the chunks that hold them have valid headers.
    longest : int
        Ticks before and after the file's first time stamp beyond which a time stamp is not credible.

    Returns
    -------
    events : int
        At most `sound`.
    reason : str or None
        None where all of them are credible.
    """
    order: Literal["little", "big"] = "little" if little_endian else "big"
    credible = 0
    earliest, latest = 0, 2**64 - 1
    with open_regular(path) as file:
        while credible < sound:
            chunk = file.read(chunk_size)
            if len(chunk) <= CHUNK_HEADER + 9:
                return credible, "cut"
            if not credible and chunk[CHUNK_HEADER] == _TIMESTAMP:
                first = int.from_bytes(chunk[CHUNK_HEADER + 1 : CHUNK_HEADER + 9], order)
                earliest, latest = first - longest, first + longest
            events = min(int.from_bytes(chunk[10:18], order), sound) - credible
            walk = check_chunk(chunk[CHUNK_HEADER:], events, little_endian, earliest, latest)
            credible += walk.credible
            if walk.reason:
                return credible, walk.reason
    return credible, None


_SMALLEST_EVENT: Final = 2
"""Bytes of the shortest record of an event: its type and one more."""


@dataclass(frozen=True)
class EventFile:
    """What the check of an event file found.

    Attributes
    ----------
    expected : int
        Events that the file should hold: where its chunks' headers and its end agree what they say, else what the
        definitions promise.
    size : int
        Bytes of the file.
    little_endian : bool
        Byte order of the file.
    sound : int
        Events from the start that lie wholly in the file; at most `expected`.
    reason : str or None
        What is wrong with the file, None where nothing is.
    """

    path: Path
    expected: int
    size: int
    little_endian: bool
    sound: int
    reason: str | None


def check_event_file(path: Path, promised: int, chunk_size: int) -> EventFile:
    """Check the headers and the end of an uncompressed event file.

    Parameters
    ----------
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


def more_than(promised: int) -> str:
    """Return what is wrong with a file whose headers count more events than the definitions, and than it has."""
    return f"its event file holds more events than the {promised} that the definitions promise"


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
        return EventFile(path, last, size, order == "<", last, None)
    start = (chunks - 1) * chunk_size
    walk = check_chunk(os.pread(file, chunk_size, start)[CHUNK_HEADER:], last - before, order == "<")
    return result(before + walk.whole, "its event file is cut short")
