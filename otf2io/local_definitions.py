"""Compiled reading of a location's own definitions (``<id>.def``): id maps and clock offsets, all else is skipped.

The file consists of chunks as event files do; each record is a type byte, a length byte (255: eight bytes of length
follow) and fields. Record 5 maps local ids to global ones: kind of id, number of entries, mode (0 dense: the global ids
in order; 1 sparse: pairs). Record 6 is a clock offset: time in 8 bytes, compressed offset, standard deviation in 8.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from .anchor import CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from .clock_correction import prepare_clock
from .compiled import inlined, inner
from .event_bytes import load_byte, load_word, read_integer, record_extent
from .local_ids import MAPPED, LocalIds

READ, BROKEN, NO_ROOM = range(3)
"""Outcomes: all read; the file is damaged; `LocalIds` is too small."""

_MAPPING: Final = 5
_CLOCK_OFFSET: Final = 6
_KINDS: Final = np.full(256, -1, np.int64)
_KINDS[[1, 3, 12, 13]] = range(MAPPED)
"""Row in `LocalIds` of each kind of id (``OTF2_MappingType``), −1 for kinds that I/O records do not use."""

_MOST_KINDS: Final = 64
_LAST_MARK: Final = 2
_SPARSE: Final = 1


@inlined
def _put_map(data: npt.NDArray[np.uint8], at: int, end: int, ids: LocalIds, free: int, most: int) -> int:
    """Read the fields of an id map; give the next free entry, −1 where it is damaged, −2 where there is no room."""
    kind = _KINDS[load_byte(data, at)]
    count, at = read_integer(data, at + 1)
    mode = load_byte(data, at)
    sparse = mode == _SPARSE
    at += 1
    # Each number takes a byte or more, so a wrong count shows before it costs anything. Nobody writes an empty map; the
    # library takes it for damage as well.
    if at > end or mode > _SPARSE or count > np.uint64(min(end - at, most)) or count == np.uint64(0):
        return -1
    entries = np.int64(count)
    if free + entries > len(ids.values):
        return -2
    first = free
    local = np.uint64(0)
    for _ in range(entries):
        if sparse:
            local, at = read_integer(data, at)
            # The library writes pairs by ascending local id.
            if free > first and local <= ids.keys[free - 1]:
                return -1
            ids.keys[free] = local
        value, at = read_integer(data, at)
        if at > end:
            return -1
        ids.values[free] = np.uint32(value)
        free += 1
    if at != end:
        return -1
    if kind < 0:
        return first
    ids.start[kind] = first
    ids.size[kind] = entries
    ids.sparse[kind] = sparse
    return free


@inlined
def _put_clock_offset(data: npt.NDArray[np.uint8], at: int, end: int, ids: LocalIds) -> int:
    """Read the fields of a clock offset; give 0, −1 where it is damaged, −2 where there is no room."""
    row = ids.clock_size[0]
    if row >= len(ids.clock_times):
        return -2
    offset, behind = read_integer(data, at + 8)
    if behind + 8 > end:
        return -1
    time = load_word(data, at)
    # Tracers measure offsets one after the other; the search for an interval relies on it.
    if row > 0 and time < ids.clock_times[row - 1]:
        return -1
    ids.clock_times[row] = time
    ids.clock_offsets[row] = np.int64(offset)
    ids.clock_size[0] = row + 1
    return 0


@inner
def read_local_ids(data: npt.NDArray[np.uint8], size: int, chunk: int, ids: LocalIds, most: int) -> int:
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
    if size < CHUNK_HEADER + 2 or load_byte(data, size - 2) != 2 or load_byte(data, size - 1) != 1:
        return BROKEN
    if load_byte(data, 0) != MAGIC_BYTE or load_byte(data, 1) != LITTLE_ENDIAN:
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
            if at != size - 2:
                return BROKEN
            prepare_clock(ids)
            return READ
        fields, behind = record_extent(data, at)
        if behind < 0 or behind > size:
            return BROKEN
        outcome = 0
        if kind == _MAPPING:
            mapped = load_byte(data, fields)
            bit = np.uint64(1) << np.uint64(mapped % _MOST_KINDS)
            # A second map for the same kind of id is an error for the library as well.
            if seen & bit:
                return BROKEN
            seen |= bit
            outcome = _put_map(data, fields, behind, ids, free, most)
            free = outcome
        elif kind == _CLOCK_OFFSET:
            outcome = _put_clock_offset(data, fields, behind, ids)
        if outcome == -2:
            return NO_ROOM
        if outcome < 0:
            return BROKEN
        at = behind
    return BROKEN
