"""Compiled walk over the records of one chunk of an event file: I/O records become rows, all else is skipped by length.

A chunk is a header (byte 3, byte order, numbers of its first and last event), then records: a type byte, then either a
length byte (255: eight bytes of length follow) and the fields, or, for some types, just one compressed integer.
Type 5 is a time stamp that holds until the next, type 6 attributes of the next event, types 0 to 2 end the chunk.

`walk_chunk` trusts a chunk whose records end in such a mark after exactly as many events as its header says. A chunk
that does not is walked again by `walk_credible`, with every check, up to the first event that cannot be believed.
Garbage can pass for a record or two before it makes no sense. So there every time stamp must lie near the file's first,
every type must exist, every I/O record must fill its length exactly, with values that exist and a handle that the trace
defines; the first record that fails ends the walk. As nine bytes of a time stamp in the right range are nothing that
chance produces, only events before the last such stamp count. A chunk that was merely cut keeps all its whole records.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Ints, Octets, Unsigned
from ...model.codes import MOST_BYTES, UNDEFINED_UINT32, UNDEFINED_UINT64, IoMode, IoRecord
from ...model.events import IoEvents
from ...model.kernels import inlined, inner
from ...model.stream.calls import RegionEvents
from ..files.anchor import CHUNK_HEADER
from . import damage
from .integers import first_not_below, is_end, load_byte, load_word, read_integer, read_short_integer, record_extent
from .local_definitions import PARAMETER, REGION, STRING, LocalIds, global_id
from .records import put_io_record, read_offset, trace_time

SOUND, DAMAGED, FULL, IMPLAUSIBLE, SHORT = range(5)
"""Outcomes of a walk: as the header says; not so; the events asked for are read and the chunk has more; as the header
says, but with values that no tracer writes; the chunk's end is missing."""

TIMESTAMP: Final = 5
ATTRIBUTES: Final = 6
_ENTER: Final = 12
_LEAVE: Final = 13
_PARAMETER_STRING: Final = 32
_PARAMETER_UINT64: Final = 34
_FIRST_EVENT: Final = 10
_LAST_EVENT: Final = 127
"""Event types of OTF2 3.1 go from 10 to 92; newer ones are let pass."""
_LONGEST_FIELDS: Final = 46
"""Bytes that the fields of an I/O record take at most."""
_LONGEST_RECORD: Final = 2**16
_LAST_MARK: Final = 2
_SINGLE_SHORT: Final = (12, 13, 24)
_SINGLE_LONG: Final = (16, 17, 20, 21, 28, 29, 30)
_NO_HANDLE: Final = np.uint32(UNDEFINED_UINT32)
_MOST_BYTES: Final = np.uint64(MOST_BYTES)
NO_OFFSET: Final = np.uint64(UNDEFINED_UINT64)


def _skip_limits() -> Ints:
    limits = np.full(256, 254, np.int64)
    limits[list(_SINGLE_SHORT)] = 4
    limits[list(_SINGLE_LONG)] = 8
    limits[: _LAST_MARK + 1] = -1
    limits[[TIMESTAMP, ATTRIBUTES]] = -1
    limits[IoRecord.CREATE_HANDLE : IoRecord.TRY_LOCK + 1] = -1
    return limits


SKIP_LIMIT: Final = _skip_limits()
"""Largest second byte with which a record of each type is skipped at once; −1 for types that are looked at."""

SKIP_LIMIT_REGIONS: Final = SKIP_LIMIT.copy()
"""The same where Enter and Leave are looked at too."""
SKIP_LIMIT_REGIONS[[_ENTER, _LEAVE]] = -1

SKIP_LIMIT_CALLS: Final = SKIP_LIMIT_REGIONS.copy()
"""The same where parameters are looked at too."""
SKIP_LIMIT_CALLS[_PARAMETER_STRING : _PARAMETER_UINT64 + 1] = -1

SKIP_LIMIT_OPENS: Final = SKIP_LIMIT.copy()
"""The same where nothing is looked at but Enter, of regions that something is wanted in."""
SKIP_LIMIT_OPENS[IoRecord.CREATE_HANDLE : IoRecord.TRY_LOCK + 1] = 254
SKIP_LIMIT_OPENS[_ENTER] = -1

_LONGEST_SINGLE: Final = np.where(SKIP_LIMIT <= 8, SKIP_LIMIT, 0)
"""Bytes that the integer of a record without length takes at most, 0 for records with a length."""


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
    regions : uint32 (r,)
        Global ids of the regions whose Enter and Leave are wanted, ascending.
    parameters : uint32 (p,)
        Global ids of the parameters that are wanted, ascending.
    around : uint32 (o,)
        Global ids of regions, ascending, where only what happens within these is wanted, with their Enter and Leave.
    skip_limit : int64 (256,)
        `SKIP_LIMIT`, or `SKIP_LIMIT_REGIONS` where regions are wanted, `SKIP_LIMIT_CALLS` where parameters are.
    skip_outside : int64 (256,)
        The same outside of the regions `around`.
    """

    offsets: Unsigned
    start: np.uint64
    earliest: np.int64
    span: np.uint64
    longest: np.uint64
    handles: Codes
    regions: Codes
    parameters: Codes
    around: Codes
    skip_limit: Ints
    skip_outside: Ints


class Tables(NamedTuple):
    """What a walk reads, goes by and writes to.

    Attributes
    ----------
    data : uint8 (n,)
        A chunk and at least `PADDING` bytes more.
    columns, regions
        `EventColumns` and `RegionColumns`, with room for as many rows as there are events wanted.
    """

    data: Octets
    columns: IoEvents
    regions: RegionEvents
    ids: LocalIds
    rules: Rules


class Chunk(NamedTuple):
    """The chunk in `Tables.data`: its bytes, the events wanted of it, and the first free rows of both tables."""

    size: int
    wanted: int
    row: int
    region_row: int


class Care(NamedTuple):
    """What is checked of a chunk that is known to be damaged.

    Attributes
    ----------
    cut : bool
        Whether the file ends within the chunk, without an end mark.
    strict : bool
        Whether I/O events must make sense; otherwise it is enough that their records are well formed.
    complete : bool
        Whether the chunk ought to end behind the events wanted.
    """

    cut: bool
    strict: bool
    complete: bool


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
    inside : int
        Open regions of `Rules.around`.
    """

    outcome: int
    events: int
    row: int
    region_row: int
    stamp: np.uint64
    latest: np.int64
    backwards: bool
    offset: np.uint64
    inside: int


@inlined
def _is_among(ids: Codes, wanted: np.uint64) -> bool:
    """Whether a global id is among `ids`, which ascend."""
    row = first_not_below(ids, 0, len(ids), wanted)
    return row < len(ids) and np.uint64(ids[row]) == wanted


@inlined
def _put_region(tables: Tables, at: int, row: int, time: np.int64, io_row: int, inside: int) -> tuple[int, int]:
    """Decode the Enter or Leave at `at`, before I/O row `io_row`, into a row of the regions.

    Returns the next free row, and how many regions of `Rules.around` are open then.
    """
    local, _ = read_short_integer(tables.data, at + 1)
    region, enter = global_id(tables.ids, REGION, local), load_byte(tables.data, at) == _ENTER
    before = inside
    if len(tables.rules.around) > 0 and _is_among(tables.rules.around, region):
        inside = inside + 1 if enter else max(0, inside - 1)
    if max(before, inside) == 0 and len(tables.rules.around) > 0:
        return row, inside
    if not _is_among(tables.rules.regions, region):
        return row, inside
    place = np.uint64(row)
    tables.regions.time[place] = time
    tables.regions.region[place] = np.uint32(region)
    tables.regions.enter[place] = enter
    tables.regions.position[place] = io_row
    return row + 1, inside


@inlined
def _put_parameter(tables: Tables, at: int, kind: int, row: int, io_row: int) -> int:
    """Decode the parameter whose fields are at `at` into a row of the regions; give the next free row."""
    local, at = read_short_integer(tables.data, at)
    parameter = global_id(tables.ids, PARAMETER, local)
    if not _is_among(tables.rules.parameters, parameter):
        return row
    value, _ = read_integer(tables.data, at)
    if kind == _PARAMETER_STRING:
        value = global_id(tables.ids, STRING, value)
    place = np.uint64(row)
    tables.regions.time[place] = np.int64(value)
    tables.regions.region[place] = np.uint32(parameter)
    tables.regions.enter[place] = False
    tables.regions.position[place] = -1 - io_row
    return row + 1


@inlined
def _is_believable(columns: IoEvents, row: int, handles: Codes) -> bool:
    kind = columns.kind[row]
    mode = columns.mode[row]
    handle = columns.handle[row]
    if handle != _NO_HANDLE and not _is_among(handles, np.uint64(handle)):
        return False
    if kind == IoRecord.OPERATION_BEGIN and (mode > IoMode.FLUSH or columns.flags[row] > 3):
        return False
    if kind in (IoRecord.CREATE_HANDLE, IoRecord.SEEK) and mode > 4:
        return False
    if kind > IoRecord.OPERATION_CANCELLED and mode > 1:
        return False
    if kind in (IoRecord.OPERATION_BEGIN, IoRecord.OPERATION_COMPLETE):
        return bool(columns.value[row] <= _MOST_BYTES or columns.value[row] == NO_OFFSET)
    return True


@inlined
def _stamp_at(data: Octets, at: int, former: np.uint64) -> np.uint64:
    return load_word(data, at) if at >= 0 else former


@inlined
def _walk(tables: Tables, chunk: Chunk, state: Any, careful: bool, care: Care) -> ChunkResult:
    """Walk a chunk; `careful` is known where this is compiled into `walk_chunk` and `_walk_carefully`."""
    data, columns, ids, rules = tables.data, tables.columns, tables.ids, tables.rules
    end, wanted, row, region_row = chunk
    inside = state.inside
    skip_limit = rules.skip_limit if inside > 0 else rules.skip_outside
    at = behind = CHUNK_HEADER
    events = 0
    stamp, latest, offset = state.stamp, state.latest, state.pending
    stamp_at = offset_at = -1
    if offset != NO_OFFSET:
        offset_at = at + 9 if load_byte(data, at) == TIMESTAMP else at
    interval = 0
    implausible = backwards = False
    outcome = DAMAGED
    credible = ChunkResult(DAMAGED, events, row, region_row, stamp, latest, backwards, NO_OFFSET, inside)
    while at < end and (not careful or events < wanted):
        kind = load_byte(data, at)
        if kind == TIMESTAMP:
            if careful:
                behind = at + 9
                now = load_word(data, at + 1)
                if behind > end or now - state.first_stamp + rules.longest > rules.longest + rules.longest:
                    break
                credible = ChunkResult(DAMAGED, events, row, region_row, now, latest, backwards, NO_OFFSET, inside)
            stamp_at = at + 1
            at += 9
            kind = load_byte(data, at)
        size = load_byte(data, at + 1)
        if not careful and size <= skip_limit[kind]:
            at += 2 + size
            events += 1
            continue
        if kind == TIMESTAMP or (careful and (stamp_at < 0 or at == end)):
            # No writer puts one time stamp behind another, or a stamp or more attributes behind attributes.
            break
        if not careful and kind <= _LAST_MARK:
            if at < end and events >= wanted:
                outcome = SOUND if events == wanted else FULL
            break
        if not careful and events >= wanted and kind != ATTRIBUTES:
            outcome = FULL
            break
        if _LONGEST_SINGLE[kind] > 0:
            behind = at + 2 + (size if size != 255 else 0)
            if (size > _LONGEST_SINGLE[kind] and size != 255) or behind > end:
                break
            if skip_limit[kind] < 0:
                time, interval = trace_time(ids, _stamp_at(data, stamp_at, stamp), interval, rules.start)
                region_row, inside = _put_region(tables, at, region_row, time, row, inside)
                skip_limit = rules.skip_limit if inside > 0 else rules.skip_outside
            at = behind
            events += 1
            continue
        fields, behind = record_extent(data, at)
        if behind < 0 or behind > end or (careful and behind - at > _LONGEST_RECORD):
            break
        if kind == ATTRIBUTES:
            offset, sound = read_offset(data, fields, behind, ids, rules.offsets)
            if not sound or load_byte(data, behind) in (TIMESTAMP, ATTRIBUTES):
                break
            at = offset_at = behind
            continue
        if careful and (kind < _FIRST_EVENT or kind > _LAST_EVENT):
            break
        if IoRecord.CREATE_HANDLE <= kind <= IoRecord.TRY_LOCK:
            time, interval = trace_time(ids, _stamp_at(data, stamp_at, stamp), interval, rules.start)
            position = offset if offset_at == at else NO_OFFSET
            last = put_io_record(data, fields, kind, columns, row, ids, time, position)
            if last > behind or last - fields > _LONGEST_FIELDS or (careful and last != behind):
                break
            if careful and care.strict and not _is_believable(columns, row, rules.handles):
                break
            backwards |= bool(time < latest)
            implausible |= bool(np.uint64(time - rules.earliest) > rules.span)
            implausible |= kind == IoRecord.OPERATION_BEGIN and bool(columns.mode[row] > IoMode.FLUSH)
            latest = time
            row += 1
        elif _PARAMETER_STRING <= kind <= _PARAMETER_UINT64 and skip_limit[kind] < 0:
            region_row = _put_parameter(tables, fields, kind, region_row, row)
        at = behind
        events += 1
    if careful:
        if events == wanted and (not care.complete or at >= end or load_byte(data, at) <= _LAST_MARK):
            outcome = SOUND
        elif care.cut and (behind > end or at >= end):
            outcome = SHORT
        else:
            return credible
    elif implausible and outcome != DAMAGED:
        outcome = IMPLAUSIBLE
    offset = offset if offset_at == at else NO_OFFSET
    stamp = _stamp_at(data, stamp_at, stamp)
    return ChunkResult(outcome, events, row, region_row, stamp, latest, backwards, offset, inside)


@inner
def walk_chunk(tables: Tables, chunk: Chunk, state: Any) -> ChunkResult:
    """Walk a chunk that is trusted as long as it is as its header says.

    Parameters
    ----------
    state : LocationState
        What is known of the location before the chunk; it is not changed.

    Returns
    -------
    ChunkResult
        Rows count only where the outcome is `SOUND` or `FULL`.
    """
    return _walk(tables, chunk, state, False, Care(False, False, False))


@inner
def _walk_carefully(tables: Tables, chunk: Chunk, state: Any, care: Care) -> ChunkResult:
    """Walk a damaged chunk; all events and rows can be believed.

    The outcome is `SOUND` if the chunk lacks nothing but its end mark, `SHORT` if its end is missing, else `DAMAGED`.
    """
    return _walk(tables, chunk, state, True, care)


@inner
def walk_credible(
    tables: Tables, chunk: Chunk, state: Any, last_chunk: bool, broken: bool, complete: bool
) -> ChunkResult:
    """Walk a chunk again that is `broken` or merely holds odd values, and note what is wrong.

    `complete` tells whether the chunk ought to end behind the events wanted.
    """
    cut = last_chunk and not is_end(tables.data, chunk.size - 2)
    # What was only cut is sound up to the cut, however odd; among garbage, odd values are more of it.
    strict = broken and not cut
    result = _walk_carefully(tables, chunk, state, Care(cut, strict, complete))
    if result.outcome == DAMAGED and broken and not strict:
        result = _walk_carefully(tables, chunk, state, Care(cut, True, complete))
    if result.outcome != SOUND:
        damage.note(state, damage.CUT if result.outcome == SHORT else damage.GARBAGE, state.events + result.events)
    return result
