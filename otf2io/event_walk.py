"""A careful walk over the records of a damaged event file: up to where are they credible?

Used only where the official library met damage or an event file lacks its end. Garbage between sound records does not
always look wrong at once: bytes can pass for a record or two before they make no sense. A time stamp in the right range
is nine bytes that chance does not produce, so behind garbage only the events before the last such stamp count.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from .anchor import CHUNK_HEADER
from .records import IoRecord
from .regular_files import open_regular

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


def walk_chunk(
    records: bytes, events: int, little_endian: bool, earliest: int = 0, latest: int = 2**64 - 1
) -> ChunkWalk:
    """Walk the records of a chunk (its bytes without the header) until `events` events or something wrong.

    Parameters
    ----------
    records : bytes
    events : int
        Number of events that the chunk's header promises.
    little_endian : bool
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
    path : Path
    sound : int
        Events to look at; the chunks that hold them have valid headers.
    chunk_size : int
    little_endian : bool
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
            walk = walk_chunk(chunk[CHUNK_HEADER:], events, little_endian, earliest, latest)
            credible += walk.credible
            if walk.reason:
                return credible, walk.reason
    return credible, None
