"""Checks of a location's files before the official library gets them: what is there and can be asked for.

The library never returns on an event file that was cut behind its first chunk: it hands out the events of the chunk
before, again and again. So no reader here asks for more events than this check found, except for one more where it
found nothing wrong: in such a file the library comes to the end, and the one shows garbage that passes for events.

Where the library met damage or a file lacks its end, a careful walk over the records finds up to where they are
credible. Garbage between sound records does not always look wrong at once: bytes can pass for a record or two before
they make no sense. A time stamp in the right range is nine bytes that chance does not produce, so behind garbage only
the events before the last such stamp count.

Of local definitions the library takes room for as many entries of an id map as the map says it has, and computes the
room modulo 2^64: a count of 2^61 makes it write over whatever lies behind. A map with fewer entries than it claims goes
on in the bytes of the next record. So no file comes to it whose maps do not fill their records.
"""

import os
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

import numpy as np

from ..files import reasons
from ..files.anchor import BIG_ENDIAN, CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from ..files.libotf2 import IO_FIELDS
from ..files.regular import END, FINGERPRINT_FACTOR, FINGERPRINTED, open_regular

_END_OF_CHUNK, _END_OF_BUFFER, _END_OF_FILE = 0, 1, 2
_TIMESTAMP: Final = 5
_ATTRIBUTES: Final = 6
_EVENT_TYPES: Final = range(10, 128)
_WITHOUT_LENGTH: Final = frozenset((12, 13, 16, 17, 20, 21, 24, 28, 29, 30))
"""Record types of one compressed integer, no length byte: Enter, Leave, and some of MPI, of threads and of tasks."""
_MAPPING: Final = 5
_LOCATIONS: Final = 2
_CLOCK_OFFSET: Final = 6
_CLOCK_TIME: Final = 8
"""Bytes of the time at which an offset was measured."""
"""Record type of an id map among local definitions."""
_LARGEST_DEFINITIONS: Final = 2**26
"""Bytes of a file of local definitions beyond which it is damaged."""
_LONG: Final = 255
"""The length that eight bytes of length follow, and the size of an integer that is undefined."""
_LONGEST_INTEGER: Final = 8
_NONSENSE: Final = -1

_Order = Literal["little", "big"]


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
    order: _Order = "little" if little_endian else "big"
    position = count = before_stamp = 0
    end = len(records)
    while count < events:
        if position + 2 > end:
            return ChunkWalk(count, count, "cut")
        kind = records[position]
        position = _behind_record(records, position, order, earliest, latest)
        if position == _NONSENSE:
            return ChunkWalk(count, before_stamp, "garbage")
        if position > end:
            return ChunkWalk(count, count, "cut")
        if kind == _TIMESTAMP:
            before_stamp = count
        elif kind != _ATTRIBUTES:
            count += 1
    if position < end and records[position] not in (_END_OF_CHUNK, _END_OF_BUFFER, _END_OF_FILE, _TIMESTAMP):
        return ChunkWalk(count, before_stamp, "garbage")
    return ChunkWalk(count, count, None)


def _behind_record(records: bytes, at: int, order: _Order, earliest: int, latest: int) -> int:
    """Return the position behind the record at `at`, which may be cut; `_NONSENSE` where it makes no sense."""
    kind, size = records[at], records[at + 1]
    if kind == _TIMESTAMP:
        stamp, end = int.from_bytes(records[at + 1 : at + 9], order), at + 9
        return end if end > len(records) or earliest <= stamp <= latest else _NONSENSE
    if kind in _WITHOUT_LENGTH:
        return at + 2 + size % _LONG if size <= _LONGEST_INTEGER or size == _LONG else _NONSENSE
    if kind not in _EVENT_TYPES and kind != _ATTRIBUTES:
        return _NONSENSE
    begin, end = _extent(records, at, order)
    return end if end > len(records) or _consistent(records[begin:end], kind) else _NONSENSE


def _extent(records: bytes, at: int, order: _Order) -> tuple[int, int]:
    """Return where the fields of the record at `at`, which has a length, begin and end."""
    length, begin = records[at + 1], at + 2
    if length == _LONG:
        length, begin = int.from_bytes(records[begin : begin + 8], order), begin + 8
    return begin, begin + length


def _behind_integer(fields: bytes, at: int) -> int:
    """Return the position behind a compressed integer; behind the end of `fields` if its size is one that none has."""
    size = fields[at]
    return at + 1 + size % _LONG if size <= _LONGEST_INTEGER or size == _LONG else len(fields) + 1


def _consistent(fields: bytes, kind: int) -> bool:
    """Whether the fields of an I/O record fill it exactly; other records are taken as they are."""
    if kind not in IO_FIELDS:
        return True
    at = 0
    for name in IO_FIELDS[kind]:
        if at >= len(fields):
            return False
        at = at + 1 if name == "mode" else _behind_integer(fields, at)
    return at == len(fields)


def maps_are_sound(path: Path, chunk_size: int) -> bool:
    """Tell whether the definitions at `path` end as they should and their id maps have the entries that they claim.

    Raises FileNotFoundError if there is no file. The maps of one that cannot be read are not sound.
    """
    try:
        return all(
            kind != _MAPPING or _fills_its_record(fields, order) for kind, fields, order in _records(path, chunk_size)
        )
    except FileNotFoundError:
        raise
    except OSError:
        return False


def told_by_definitions(path: Path, chunk_size: int, location: int) -> tuple[int, list[int]]:
    """Return what sound definitions at `path` tell of whose they are.

    Returns
    -------
    owner : int
        1 where they map the id of `location`, −1 where those of others only, 0 where none.
    synchronised : list of int
        When the first and the last clock offset was measured, in corrected time; empty where there are fewer than two.
    """
    owner, times = 0, []
    for kind, fields, order in _records(path, chunk_size):
        if kind == _MAPPING and fields[0] == _LOCATIONS:
            owner = 1 if location in _values(fields, order) else -1
        elif kind == _CLOCK_OFFSET and len(fields) > _CLOCK_TIME:
            times.append(int.from_bytes(fields[:_CLOCK_TIME], order) + _integer(fields, _CLOCK_TIME, order))
    return owner, [times[0], times[-1]] if len(times) > 1 else []


def fingerprint(path: Path, chunk_size: int) -> int:
    """Return a number that files share whose first bytes are the same; 0 where the file cannot be read."""
    try:
        with open_regular(path) as file:
            content = file.read(FINGERPRINTED)
            size = min(os.fstat(file.fileno()).st_size, chunk_size)
    except OSError:
        return 0
    words = np.frombuffer(content[: len(content) // 8 * 8], "<u8")
    factors = np.full(len(words) + 1, FINGERPRINT_FACTOR)
    factors[0] = 1
    return int((np.append(words[::-1], np.uint64(size)) * np.cumprod(factors)).sum())


def _records(path: Path, chunk_size: int) -> Iterator[tuple[int, bytes, _Order]]:
    """Yield the records of a file of definitions: kind, fields, byte order; OSError where it is not sound."""
    with open_regular(path) as file:
        content = file.read(_LARGEST_DEFINITIONS + 1)
    if not CHUNK_HEADER + len(END) <= len(content) <= _LARGEST_DEFINITIONS or not content.endswith(END):
        raise OSError(reasons.BAD_DEFINITIONS)
    order: _Order = "little" if content[1] == LITTLE_ENDIAN else "big"
    at = CHUNK_HEADER
    while at + 2 < len(content):
        kind = content[at]
        if kind == _END_OF_CHUNK:
            at = (at // chunk_size + 1) * chunk_size + CHUNK_HEADER
            continue
        begin, at = _extent(content, at, order)
        if at > len(content):
            raise OSError(reasons.BAD_DEFINITIONS)
        yield kind, content[begin:at], order


def _values(fields: bytes, order: _Order) -> list[int]:
    """Return the global ids of an id map that fills its record."""
    at, numbers = fields[1] + 3, []
    while at < len(fields):
        numbers.append(_integer(fields, at, order))
        at = _behind_integer(fields, at)
    return numbers[1::2] if fields[fields[1] + 2] else numbers


def _integer(fields: bytes, at: int, order: _Order) -> int:
    """Return the compressed integer at a place."""
    size = fields[at]
    return 2**64 - 1 if size == _LONG else int.from_bytes(fields[at + 1 : at + 1 + size], order)


def _fills_its_record(fields: bytes, order: _Order) -> bool:
    """Tell whether an id map is whole: type, count, whether it is sparse, one or two integers an entry."""
    size = fields[1] if len(fields) > 1 else _LONG
    at = size + 2
    if size > _LONGEST_INTEGER or len(fields) <= at:
        return False
    integers = int.from_bytes(fields[2:at], order) * (2 if fields[at] else 1)
    at += 1
    # Each integer takes a byte or more, so a wrong count ends with the record.
    while integers and at < len(fields):
        at = _behind_integer(fields, at)
        integers -= 1
    return not integers and at == len(fields)


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
    order: _Order = "little" if little_endian else "big"
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
    sound : int
        Events from the start that lie wholly in the file; at most `expected`.
    reason : str or None
        What is wrong with the file, None where nothing is.
    little_endian : bool
        Byte order of the file.
    """

    path: Path
    expected: int
    sound: int = 0
    reason: str | None = None
    little_endian: bool = True


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
        return EventFile(path, promised, reason=reasons.MISSING if promised else None)
    except OSError as error:
        return EventFile(path, promised, reason=reasons.unopened("event", error))


def _check(path: Path, file: int, promised: int, chunk_size: int) -> EventFile:
    size = os.fstat(file).st_size
    head = os.pread(file, CHUNK_HEADER, 0)
    if not head:
        return EventFile(path, promised, reason=reasons.EMPTY)
    if len(head) < CHUNK_HEADER or head[0] != MAGIC_BYTE or head[1] not in (LITTLE_ENDIAN, BIG_ENDIAN):
        return EventFile(path, promised, reason=reasons.NO_HEADER)
    order = "<" if head[1] == LITTLE_ENDIAN else ">"
    header = struct.Struct(f"{order}BBQQ")

    def result(sound: int, reason: str | None) -> EventFile:
        return EventFile(path, promised, min(sound, promised), reason, order == "<")

    chunks = -(-size // chunk_size)
    most = (chunk_size - CHUNK_HEADER) // _SMALLEST_EVENT
    last = 0
    for chunk in range(chunks):
        before = last
        content = os.pread(file, CHUNK_HEADER, chunk * chunk_size)
        if len(content) < CHUNK_HEADER:
            return result(before, reasons.CUT)
        magic, mark, first, last = header.unpack(content)
        valid = magic == MAGIC_BYTE and mark == head[1] and first == before + 1
        if not valid or not 0 <= last - before <= most:
            return result(before, reasons.BAD_CHUNK.format(place=chunk))
    if os.pread(file, 2, size - 2) == END:
        return EventFile(path, last, last, little_endian=order == "<")
    start = (chunks - 1) * chunk_size
    walk = check_chunk(os.pread(file, chunk_size, start)[CHUNK_HEADER:], last - before, order == "<")
    return result(before + walk.whole, reasons.CUT)
