"""Compiled decoding of the 14 I/O records and of the attribute *Offset* before them, one row of columns each.

Layouts (c a compressed integer, b a byte), checked against records that libotf2 3.x writes:
69 create handle c b c c (handle, access, creation flags, status flags); 70 destroy c; 71 duplicate c c c (old, new,
status flags); 72 seek c c b c (handle, request, whence, result); 73 change status c c; 74 delete file b c (paradigm,
file); 75 begin c b c c c (handle, mode, flags, bytes, matching id); 76 test, 77 issued, 79 cancelled c c (handle,
matching id); 78 complete c c c (handle, bytes, matching id); 80 acquire, 81 release, 82 try lock c b.
"""

from typing import Final

import numpy as np

from ...model.arrays import Octets, Unsigned
from ...model.events import IoEvents
from ...model.kernels import inlined, inner
from .integers import load_byte, read_integer, read_short_integer
from .local_definitions import ATTRIBUTE, IO_FILE, IO_HANDLE, LocalIds, corrected_time, global_id, interval_at

_NONE: Final = np.uint64(2**64 - 1)
_NO_HANDLE: Final = np.uint64(2**32 - 1)
_ZERO: Final = np.uint64(0)
_UINT64: Final = 4
_LAST_TYPE: Final = 25
"""The last type of attributes that is known; none is 0."""
_COMPRESSED_32, _COMPRESSED_64 = 0, -1
_ATTRIBUTE_SIZES: Final = np.full(256, _COMPRESSED_64, np.int64)
"""Bytes of the values of each type, where they are not compressed integers of 32 or 64 bits."""
_ATTRIBUTE_SIZES[1 : _LAST_TYPE + 1] = _COMPRESSED_32
_ATTRIBUTE_SIZES[[1, 2, 4, 5, 6, 8, 9, 10, 13]] = (1, 2, _COMPRESSED_64, 1, 2, _COMPRESSED_64, 4, 8, _COMPRESSED_64)
_MOST_ATTRIBUTES: Final = 256
"""Attributes of an event beyond which those of any id are not compared with each other: no tracer writes as many."""
_FEW_BITS: Final = np.uint64(63)


@inlined
def trace_time(ids: LocalIds, stamp: np.uint64, interval: int, start: np.uint64) -> tuple[np.int64, int]:
    """Return ticks since the trace's start for a local time stamp, and the clock interval it lies in."""
    if ids.clock_size[0] > 1:
        interval = interval_at(ids, stamp, interval)
        stamp = corrected_time(ids, stamp, interval)
    return np.int64(stamp - start), interval


@inlined
def put_io_record(
    data: Octets, at: int, kind: int, columns: IoEvents, row: int, ids: LocalIds, time: np.int64, offset: np.uint64
) -> int:
    """Decode the fields of an I/O record into a row.

    Parameters
    ----------
    data : uint8 (n,)
    at : int
        Where the fields begin.
    kind : int
        Record type, 69 to 82.
    row : int
        Row of `columns` to write.
    time : int64
        Ticks since the trace's start.
    offset : uint64
        The attribute *Offset* before the record, ``2**64 − 1`` where there is none.

    Returns
    -------
    int
        Position behind the last field; the fields are whole only if it lies within the record.
    """
    place = np.uint64(row)
    columns.kind[place] = np.uint8(kind)
    columns.time[place] = time
    at, handle, mode, flags, matching, value, position = _read_fields(data, at, kind, ids, offset)
    columns.handle[place] = np.uint32(handle)
    columns.mode[place] = np.uint8(mode)
    columns.flags[place] = np.uint32(flags)
    columns.matching[place] = matching
    columns.value[place] = value
    columns.offset[place] = position
    return at


@inlined
def _read_fields(
    data: Octets, at: int, kind: int, ids: LocalIds, offset: np.uint64
) -> tuple[int, np.uint64, int, np.uint64, np.uint64, np.uint64, np.uint64]:
    """Return the position behind an I/O record's fields, its handle, mode, flags, matching id, value and offset."""
    handle = _NO_HANDLE
    mode = 0
    flags = _ZERO
    matching = _ZERO
    value = _ZERO
    position = _NONE
    if kind != 74:
        local, at = read_short_integer(data, at)
        handle = global_id(ids, IO_HANDLE, local)
    if kind == 75:
        mode = load_byte(data, at)
        flags, at = read_short_integer(data, at + 1)
        value, at = read_integer(data, at)
        matching, at = read_integer(data, at)
        position = offset
    elif kind == 78:
        value, at = read_integer(data, at)
        matching, at = read_integer(data, at)
    elif kind in (76, 77, 79):
        matching, at = read_integer(data, at)
    elif kind == 72:
        value, at = read_integer(data, at)
        mode = load_byte(data, at)
        position, at = read_integer(data, at + 1)
    elif kind == 69:
        mode = load_byte(data, at)
        value, at = read_short_integer(data, at + 1)
        flags, at = read_short_integer(data, at)
    elif kind == 71:
        local, at = read_short_integer(data, at)
        value = global_id(ids, IO_HANDLE, local)
        flags, at = read_short_integer(data, at)
    elif kind == 73:
        flags, at = read_short_integer(data, at)
    elif kind == 74:
        mode = load_byte(data, at)
        local, at = read_short_integer(data, at + 1)
        value = global_id(ids, IO_FILE, local)
    elif kind >= 80:
        mode = load_byte(data, at)
        at += 1
    return at, handle, mode, flags, matching, value, position


@inlined
def read_offset(data: Octets, at: int, end: int, ids: LocalIds, wanted: Unsigned) -> tuple[np.uint64, bool]:
    """Find an attribute of type UINT64 in an attribute list.

    Parameters
    ----------
    data : uint8 (n,)
    at, end : int
        Where the list begins and ends.
    wanted : uint64 (m,)
        Global ids of the attributes that serve, the preferred one first.

    Returns
    -------
    value : uint64
        ``2**64 − 1`` where the list has none.
    sound : bool
        Whether the list fills its record exactly and names no attribute twice, at which the library stops too.
    """
    found = _NONE
    rank = len(wanted)
    begin = at
    seen = _ZERO
    repeated = False
    count, at = read_short_integer(data, at)
    # Each attribute takes three bytes or more, so a wrong count ends with the record.
    while count > _ZERO and at < end:
        count -= np.uint64(1)
        local, at = read_short_integer(data, at)
        if at >= end:
            return found, False
        bit = np.uint64(1) << (local & _FEW_BITS)
        repeated |= seen & bit != _ZERO
        seen |= bit
        kind = load_byte(data, at)
        value, at = _attribute_value(data, at + 1, kind)
        if kind == _UINT64 and at <= end:
            attribute = global_id(ids, ATTRIBUTE, local)
            for place in range(rank):
                if wanted[place] == attribute:
                    found = value
                    rank = place
                    break
    sound = count == _ZERO and at == end
    return found, sound and not (repeated and _names_one_twice(data, begin))


@inlined
def _attribute_value(data: Octets, at: int, kind: int) -> tuple[np.uint64, int]:
    """Return an attribute's value, where it is an integer of four bytes or more, and the position behind it."""
    size = _ATTRIBUTE_SIZES[kind]
    if size > 0:
        return _NONE, at + size
    return read_short_integer(data, at) if size == _COMPRESSED_32 else read_integer(data, at)


@inner
def _names_one_twice(data: Octets, begin: int) -> bool:
    """Tell whether a list of attributes that fills its record has an id twice, or more ids than are compared."""
    count, begin = read_short_integer(data, begin)
    if count > np.uint64(_MOST_ATTRIBUTES):
        return True
    at = begin
    for row in range(count):
        local, at = read_short_integer(data, at)
        other = begin
        for _ in range(row):
            earlier, other = read_short_integer(data, other)
            if earlier == local:
                return True
            _, other = _attribute_value(data, other + 1, load_byte(data, other))
        _, at = _attribute_value(data, at + 1, load_byte(data, at))
    return False
