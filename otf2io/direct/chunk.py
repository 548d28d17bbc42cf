"""Compiled walk over the records of one chunk of an event file: I/O records become rows, all else is skipped by length.

A chunk is a header (byte 3, byte order, numbers of its first and last event), then records: a type byte, then either a
length byte (255: eight bytes of length follow) and the fields, or, for some types, just one compressed integer.
Type 5 is a time stamp that holds until the next, type 6 attributes of the next event, types 0 to 2 end the chunk.

The walk trusts a chunk whose records end in such a mark after exactly as many events as its header says. A chunk that
does not is walked again by `iostrata.otf2io.direct.damaged_chunk`, record by record with every check.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...model.events import EventColumns
from ...model.kernels import inlined, inner
from ..files.anchor import CHUNK_HEADER
from .integers import load_byte, load_word, read_short_integer, record_extent
from .local_definitions import REGION, LocalIds, global_id
from .records import put_io_record, read_offset, trace_time

SOUND, DAMAGED, FULL, IMPLAUSIBLE, SHORT = range(5)
"""Outcomes of a walk: as the header says; not so; the events asked for are read and the chunk has more; as the header
says, but with values that no tracer writes; the chunk's end is missing."""

TIMESTAMP: Final = 5
ATTRIBUTES: Final = 6
FIRST_IO: Final = 69
LAST_IO: Final = 82
ENTER: Final = 12
LEAVE: Final = 13
LONGEST_FIELDS: Final = 46
"""Bytes that the fields of an I/O record take at most."""

CREATE: Final = 69
SEEK: Final = 72
BEGIN: Final = 75
COMPLETE: Final = 78
LAST_MODE: Final = 2

LAST_MARK: Final = 2
_SINGLE_SHORT: Final = (12, 13, 24)
_SINGLE_LONG: Final = (16, 17, 20, 21, 28, 29, 30)
NO_OFFSET: Final = np.uint64(2**64 - 1)


def _skip_limits() -> npt.NDArray[np.int64]:
    limits = np.full(256, 254, np.int64)
    limits[list(_SINGLE_SHORT)] = 4
    limits[list(_SINGLE_LONG)] = 8
    limits[: LAST_MARK + 1] = -1
    limits[[TIMESTAMP, ATTRIBUTES]] = -1
    limits[FIRST_IO : LAST_IO + 1] = -1
    return limits


SKIP_LIMIT: Final = _skip_limits()
"""Largest second byte with which a record of each type is skipped at once; −1 for types that are looked at."""

SKIP_LIMIT_REGIONS: Final = SKIP_LIMIT.copy()
"""The same where Enter and Leave are looked at too."""
SKIP_LIMIT_REGIONS[[ENTER, LEAVE]] = -1

LONGEST_SINGLE: Final = np.where(SKIP_LIMIT <= 8, SKIP_LIMIT, 0)
"""Bytes that the integer of a record without length takes at most, 0 for records with a length."""


class RegionColumns(NamedTuple):
    """Columns that Enter and Leave of selected regions are written to.

    `selected` (uint32, ascending) are the regions' global ids; without any, no such record is looked at.
    """

    selected: npt.NDArray[np.uint32]
    location: npt.NDArray[np.int32]
    time: npt.NDArray[np.int64]
    region: npt.NDArray[np.uint32]
    enter: npt.NDArray[np.bool_]
    position: npt.NDArray[np.int64]


class ChunkResult(NamedTuple):
    """What a walk found.

    Attributes
    ----------
    events : int
        Events passed.
    row, region_row : int
        Next free rows.
    stamp : uint64
        The last time stamp.
    latest : int64
        Time of the last I/O event.
    backwards : bool
        Whether an I/O event was earlier than the one before.
    offset : uint64
        That of attributes at the chunk's end, which hold for the next event; ``2**64 − 1`` where there are none.
    """

    outcome: int
    events: int
    row: int
    region_row: int
    stamp: np.uint64
    latest: np.int64
    backwards: bool
    offset: np.uint64


class Rules(NamedTuple):
    """What holds for all locations of an archive.

    Attributes
    ----------
    offsets : uint64 (m,)
        Global ids of the attributes *Offset*.
    start : uint64
        Ticks at the trace's start.
    earliest, span : int64
        I/O events are implausible before `earliest` and more than `span` after it, in ticks since the trace's start.
    longest : uint64
        The same within a file: ticks before and after its first time stamp.
    handles : uint32 (k,)
        Ids of the handles that the trace defines, ascending.
    skip_limit : int64 (256,)
        `SKIP_LIMIT`, or `SKIP_LIMIT_REGIONS` where regions are selected.
    """

    offsets: npt.NDArray[np.uint64]
    start: np.uint64
    earliest: np.int64
    span: np.uint64
    longest: np.uint64
    handles: npt.NDArray[np.uint32]
    skip_limit: npt.NDArray[np.int64]


@inlined
def is_among(ids: npt.NDArray[np.uint32], wanted: np.uint64) -> bool:
    """Whether a global id is among `ids`, which ascend."""
    low = 0
    high = len(ids)
    while low < high:
        middle = (low + high) >> 1
        if np.uint64(ids[middle]) < wanted:
            low = middle + 1
        else:
            high = middle
    return low < len(ids) and np.uint64(ids[low]) == wanted


@inlined
def put_region(
    data: npt.NDArray[np.uint8], at: int, regions: RegionColumns, row: int, ids: LocalIds, time: np.int64, io_row: int
) -> int:
    """Decode the Enter or Leave at `at`, before I/O row `io_row`, into `row` of `regions`; give the next free row."""
    local, _ = read_short_integer(data, at + 1)
    region = global_id(ids, REGION, local)
    if not is_among(regions.selected, region):
        return row
    place = np.uint64(row)
    regions.time[place] = time
    regions.region[place] = np.uint32(region)
    regions.enter[place] = load_byte(data, at) == ENTER
    regions.position[place] = io_row
    return row + 1


@inlined
def _stamp_at(data: npt.NDArray[np.uint8], at: int, former: np.uint64) -> np.uint64:
    return load_word(data, at) if at >= 0 else former


@inner
def walk_chunk(
    data: npt.NDArray[np.uint8],
    begin: int,
    end: int,
    wanted: int,
    columns: EventColumns,
    row: int,
    regions: RegionColumns,
    region_row: int,
    ids: LocalIds,
    rules: Rules,
    stamp: np.uint64,
    latest: np.int64,
    offset: np.uint64,
) -> ChunkResult:
    """Walk the chunk between `begin` and `end` of `data`.

    Parameters
    ----------
    data : uint8 (n,)
        At least `PADDING` bytes longer than `end`.
    wanted : int
        Events to read; `columns` and `regions` have room for as many rows.
    row : int
        First free row of `columns`.
    stamp : uint64
        Time stamp that holds before the chunk's first.
    latest : int64
        Time of the I/O event before.
    offset : uint64
        That of attributes at the end of the chunk before, as in `ChunkResult`.

    Returns
    -------
    ChunkResult
        Rows count only where the outcome is `SOUND` or `FULL`.
    """
    at = begin + CHUNK_HEADER
    events = 0
    stamp_at = -1
    interval = 0
    offset_at = -1
    if offset != NO_OFFSET:
        if load_byte(data, at) == TIMESTAMP:
            stamp_at = at + 1
            at += 9
        offset_at = at
    implausible = False
    backwards = False
    outcome = DAMAGED
    while at < end:
        kind = load_byte(data, at)
        if kind == TIMESTAMP:
            stamp_at = at + 1
            at += 9
            kind = load_byte(data, at)
        size = load_byte(data, at + 1)
        if size <= rules.skip_limit[kind]:
            at += 2 + size
            events += 1
            continue
        if kind == TIMESTAMP:
            # No writer puts one time stamp behind another, or a stamp or more attributes behind attributes.
            break
        if kind <= LAST_MARK:
            if at < end and events >= wanted:
                outcome = SOUND if events == wanted else FULL
            break
        if events >= wanted and kind != ATTRIBUTES:
            outcome = FULL
            break
        if LONGEST_SINGLE[kind] > 0:
            if size > LONGEST_SINGLE[kind] and size != 255:
                break
            if rules.skip_limit[kind] < 0:
                time, interval = trace_time(ids, _stamp_at(data, stamp_at, stamp), interval, rules.start)
                region_row = put_region(data, at, regions, region_row, ids, time, row)
            at += 2 + (size if size != 255 else 0)
            events += 1
            continue
        fields, behind = record_extent(data, at)
        if behind < 0 or behind > end:
            break
        if kind == ATTRIBUTES:
            offset, sound = read_offset(data, fields, behind, ids, rules.offsets)
            if not sound:
                break
            at = behind
            offset_at = at
            if load_byte(data, at) in (TIMESTAMP, ATTRIBUTES):
                break
            continue
        if FIRST_IO <= kind <= LAST_IO:
            time, interval = trace_time(ids, _stamp_at(data, stamp_at, stamp), interval, rules.start)
            position = offset if offset_at == at else NO_OFFSET
            last = put_io_record(data, fields, kind, columns, row, ids, time, position)
            if last > behind or last - fields > LONGEST_FIELDS:
                break
            backwards |= bool(time < latest)
            implausible |= bool(np.uint64(time - rules.earliest) > rules.span)
            implausible |= kind == BEGIN and bool(columns.mode[row] > LAST_MODE)
            latest = time
            row += 1
        at = behind
        events += 1
    if implausible and outcome != DAMAGED:
        outcome = IMPLAUSIBLE
    offset = offset if offset_at == at else NO_OFFSET
    return ChunkResult(outcome, events, row, region_row, _stamp_at(data, stamp_at, stamp), latest, backwards, offset)
