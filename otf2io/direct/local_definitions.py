"""What a location's own definitions say, in the form that compiled loops use: id maps and clock offsets.

Between two offsets the correction of time stamps is linear, beyond the last it goes on with the last slope, before the
first with the first; with one offset or none the time stamps stay as they are. This is what the OTF2 library does, to
the tick.
"""

from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Floats, Ints, Mask, Octets, Unsigned, column_types
from ...model.kernels import inlined, inner
from ..files.anchor import CHUNK_HEADER, MAGIC_BYTE
from .integers import begins_chunk, first_not_below, is_end, load_byte, load_word, read_integer, record_extent

ATTRIBUTE, REGION, IO_FILE, IO_HANDLE, STRING, PARAMETER = range(6)
"""Rows of the tables in `LocalIds`."""

MAPPED: Final = 6


class LocalIds(NamedTuple):
    """Id maps of one location and its clock offsets, in arrays that are used again for the next location.

    Attributes
    ----------
    start, size : int64 (6,)
        Where the map of each kind of id (`ATTRIBUTE`, `REGION`, …) stands in `values`.
    sparse : bool (6,)
        Whether the map has `keys`; without them the local id is the position.
    keys : uint64 (n,)
        Local ids in ascending order.
    values : uint32 (n,)
        Global ids.
    clock_size : int64 (1,)
        Number of clock offsets.
    clock_times : uint64 (m,)
    clock_offsets : int64 (m,)
    clock_slopes : float64 (m,)
        Change of the offset per tick between each offset and the next.
    owner : int64 (1,)
        1 where the map of locations has the one that the file is of, −1 where it has others only, 0 without such a map.
    """

    start: Ints
    size: Ints
    sparse: Mask
    keys: Unsigned
    values: Codes
    clock_size: Ints
    clock_times: Unsigned
    clock_offsets: Ints
    clock_slopes: Floats
    owner: Ints


def empty_local_ids(entries: int) -> LocalIds:
    """Return maps that change nothing, with room for `entries` ids and as many clock offsets."""
    sizes = {"start": MAPPED, "size": MAPPED, "sparse": MAPPED, "clock_size": 1, "owner": 1}
    types = zip(LocalIds._fields, column_types(LocalIds), strict=True)
    return LocalIds(*(np.zeros(sizes.get(name, entries), dtype) for name, dtype in types))


@inlined
def global_id(ids: LocalIds, kind: int, local: np.uint64) -> np.uint64:
    """Return the global id of a local one; an id that its map does not hold stays as it is."""
    start = ids.start[kind]
    size = ids.size[kind]
    if not ids.sparse[kind]:
        if local < np.uint64(size):
            return np.uint64(ids.values[np.uint64(start) + local])
        return local
    row = first_not_below(ids.keys, start, start + size, local)
    if row < start + size and ids.keys[row] == local:
        return np.uint64(ids.values[row])
    return local


_BEYOND: Final = 2.0**63
_INDEFINITE: Final = np.int64(-(2**63))


@inlined
def _prepare_clock(ids: LocalIds) -> None:
    """Compute the slopes between the clock offsets of `ids`."""
    for row in range(ids.clock_size[0] - 1):
        ticks = np.float64(ids.clock_times[row + 1] - ids.clock_times[row])
        change = np.float64(ids.clock_offsets[row + 1] - ids.clock_offsets[row])
        ids.clock_slopes[row] = change / ticks


@inlined
def interval_at(ids: LocalIds, time: np.uint64, interval: int) -> int:
    """Return the first interval that ends at or after `time`, else the last; `interval` is where to begin looking."""
    last = ids.clock_size[0] - 2
    # Most time stamps lie in the interval of the one before, or in the next; those of a damaged file lie anywhere.
    for near in range(interval, min(interval + 2, last + 1)):
        after_start = near == 0 or time > ids.clock_times[near]
        if after_start and (near == last or time <= ids.clock_times[near + 1]):
            return near
    return first_not_below(ids.clock_times, 1, last + 1, time) - 1


@inlined
def corrected_time(ids: LocalIds, time: np.uint64, interval: int) -> np.uint64:
    """Return the global time of a local time stamp that lies in `interval`."""
    start = ids.clock_times[interval]
    distance = np.float64(np.int64(time - start))
    if (distance < 0.0) != (time < start):
        # More than 2^63 ticks lie between, as in no sound file; the library counts all of them.
        distance = np.float64(time - start) if time > start else -np.float64(start - time)
    drift = np.rint(ids.clock_slopes[interval] * distance)
    # Offsets that a damaged file invents can lead beyond 64 bits; then the library's processor gives this number too.
    whole = np.int64(drift) if abs(drift) < _BEYOND else _INDEFINITE
    return time + np.uint64(ids.clock_offsets[interval] + whole)


READ, BROKEN, NO_ROOM = range(3)
"""Outcomes: all read; the file is damaged; `LocalIds` is too small."""

_MAPPING: Final = 5
_LOCATIONS: Final = 2
"""Kind of the ids of locations: a process maps its own."""
_CLOCK_OFFSET: Final = 6
_KINDS: Final = np.full(256, -1, np.int64)
_KINDS[[1, 3, 12, 13, 0, 7]] = range(MAPPED)
"""Row in `LocalIds` of each kind of id (``OTF2_MappingType``), −1 for kinds that nothing here uses."""

_MOST_KINDS: Final = 64
_LAST_MARK: Final = 2
_SPARSE: Final = 1


@inlined
def _put_map(
    data: Octets, at: int, end: int, ids: LocalIds, free: int, most: int, location: np.uint64
) -> tuple[int, int]:
    """Read the fields of an id map; give the outcome and the next free entry."""
    of_locations = load_byte(data, at) == _LOCATIONS
    kind = _KINDS[load_byte(data, at)]
    count, at = read_integer(data, at + 1)
    mode = load_byte(data, at)
    sparse = mode == _SPARSE
    at += 1
    # Each number takes a byte or more, so a wrong count shows before it costs anything. Nobody writes an empty map; the
    # library takes it for damage as well.
    if at > end or mode > _SPARSE or not np.uint64(0) < count <= np.uint64(min(end - at, most)):
        return BROKEN, free
    entries = np.int64(count)
    if free + entries > len(ids.values):
        return NO_ROOM, free
    first = free
    local = np.uint64(0)
    if of_locations:
        ids.owner[0] = -1
    for _ in range(entries):
        if sparse:
            local, at = read_integer(data, at)
            # The library writes pairs by ascending local id.
            if free > first and local <= ids.keys[free - 1]:
                return BROKEN, free
            ids.keys[free] = local
        value, at = read_integer(data, at)
        if at > end:
            return BROKEN, free
        ids.values[free] = np.uint32(value)
        if of_locations and value == location:
            ids.owner[0] = 1
        free += 1
    if at != end:
        return BROKEN, free
    if kind < 0:
        return READ, first
    ids.start[kind] = first
    ids.size[kind] = entries
    ids.sparse[kind] = sparse
    return READ, free


@inlined
def _put_clock_offset(data: Octets, at: int, end: int, ids: LocalIds) -> int:
    """Read the fields of a clock offset; give the outcome."""
    row = ids.clock_size[0]
    if row >= len(ids.clock_times):
        return NO_ROOM
    offset, behind = read_integer(data, at + 8)
    if behind + 8 > end:
        return BROKEN
    time = load_word(data, at)
    # Tracers measure offsets one after the other; the search for an interval relies on it.
    if row > 0 and time <= ids.clock_times[row - 1]:
        return BROKEN
    ids.clock_times[row] = time
    ids.clock_offsets[row] = np.int64(offset)
    ids.clock_size[0] = row + 1
    return READ


@inner
def read_local_ids(data: Octets, size: int, chunk: int, ids: LocalIds, most: int, location: np.uint64) -> int:
    """Read the id maps and clock offsets of a local definition file.

    Parameters
    ----------
    data : uint8 (n,)
        The file and `PADDING` bytes more.
    size : int
        Bytes of the file.
    chunk : int
        Size of its chunks.
    ids : LocalIds
        Receives the result; what it held before is forgotten.
    most : int
        Entries of an id map beyond which it is damaged.
    location : uint64
        Id of the location that the file is of.

    Returns
    -------
    int
        `READ`, `BROKEN` (ids and times of the location cannot be known) or `NO_ROOM`; one id or clock offset takes a
        byte of the file or more, so room for `size` of each is always enough.
    """
    ids.start[:] = 0
    ids.size[:] = 0
    ids.sparse[:] = False
    ids.clock_size[0] = 0
    ids.owner[0] = 0
    if size < CHUNK_HEADER + 2 or not begins_chunk(data, 0) or not is_end(data, size - 2):
        return BROKEN
    seen = np.uint64(0)
    free = 0
    at = CHUNK_HEADER
    while at < size:
        kind = load_byte(data, at)
        if kind == 0:
            at = (at // chunk + 1) * chunk
            if at + CHUNK_HEADER > size or load_byte(data, at) != MAGIC_BYTE:
                return BROKEN
            at += CHUNK_HEADER
            continue
        if kind <= _LAST_MARK:
            _prepare_clock(ids)
            return READ if at == size - 2 else BROKEN
        fields, behind = record_extent(data, at)
        bit = np.uint64(kind == _MAPPING) << np.uint64(load_byte(data, fields) % _MOST_KINDS)
        # A second map for the same kind of id is an error for the library as well.
        if not 0 <= behind <= size or seen & bit != 0:
            return BROKEN
        seen |= bit
        outcome = READ
        if kind == _MAPPING:
            outcome, free = _put_map(data, fields, behind, ids, free, most, location)
        elif kind == _CLOCK_OFFSET:
            outcome = _put_clock_offset(data, fields, behind, ids)
        if outcome != READ:
            return outcome
        at = behind
    return BROKEN
