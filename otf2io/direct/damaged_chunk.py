"""Compiled walk over a chunk that is known to be damaged: its events up to the first one that cannot be believed.

Garbage can pass for a record or two before it makes no sense. So here every time stamp must lie near the file's first,
every type must exist, every I/O record must fill its length exactly, with values that exist and
a handle that the trace defines; the first record that fails ends the walk. As nine bytes of a time stamp in the right
range are nothing that chance produces, only events before the last such stamp count. A chunk that was merely cut keeps
all its whole records.
"""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.codes import MOST_BYTES
from ...model.events import EventColumns
from ...model.kernels import inlined, inner
from ..files.anchor import CHUNK_HEADER
from .chunk import (
    ATTRIBUTES,
    BEGIN,
    COMPLETE,
    CREATE,
    DAMAGED,
    ENTER,
    FIRST_IO,
    LAST_IO,
    LAST_MARK,
    LAST_MODE,
    LEAVE,
    LONGEST_SINGLE,
    NO_OFFSET,
    SEEK,
    SHORT,
    SOUND,
    TIMESTAMP,
    ChunkResult,
    RegionColumns,
    Rules,
    is_among,
    put_region,
)
from .integers import load_byte, load_word, record_extent
from .local_definitions import LocalIds
from .records import put_io_record, read_offset, trace_time
from .state import CUT, EVENTS, FIRST_STAMP, GARBAGE, LATEST, PENDING, STAMP, note

_FIRST_EVENT: Final = 10
_LAST_EVENT: Final = 127
"""Event types of OTF2 3.1 go from 10 to 92; newer ones are let pass."""

_NO_HANDLE: Final = np.uint32(2**32 - 1)

_MOST_BYTES: Final = np.uint64(MOST_BYTES)

_LONGEST_RECORD: Final = 2**16
_END_OF_FILE: Final = 2
_END_OF_BUFFER: Final = 1


@inlined
def _is_believable(columns: EventColumns, row: int, rules: Rules) -> bool:
    kind = columns.kind[row]
    mode = columns.mode[row]
    handle = columns.handle[row]
    if handle != _NO_HANDLE and not is_among(rules.handles, np.uint64(handle)):
        return False
    if kind == BEGIN and (mode > LAST_MODE or columns.flags[row] > 3):
        return False
    if kind in (CREATE, SEEK) and mode > 4:
        return False
    if kind > COMPLETE + 1 and mode > 1:
        return False
    if kind in (BEGIN, COMPLETE):
        return bool(columns.value[row] <= _MOST_BYTES or columns.value[row] == NO_OFFSET)
    return True


@inner
def _walk(
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
    first_stamp: np.uint64,
    cut: bool,
    strict: bool,
    complete: bool,
) -> ChunkResult:
    """Walk a damaged chunk; parameters as in `walk_chunk`.

    Parameters
    ----------
    first_stamp : uint64
        The first time stamp of the file.
    cut : bool
        Whether the file ends within the chunk, without an end mark.
    strict : bool
        Whether I/O events must make sense; otherwise it is enough that their records are well formed.
    complete : bool
        Whether the chunk ought to end behind the events wanted.

    Returns
    -------
    ChunkResult
        Its events and rows can be believed. The outcome is `SOUND` if the chunk lacks nothing but its end mark, `SHORT`
        if its end is missing, otherwise `DAMAGED`.
    """
    at = begin + CHUNK_HEADER
    events = 0
    interval = 0
    time = np.int64(0)
    timed = False
    backwards = False
    behind = at
    credible = ChunkResult(DAMAGED, events, row, region_row, stamp, latest, backwards, NO_OFFSET)
    while at < end and events < wanted:
        kind = load_byte(data, at)
        if kind == TIMESTAMP:
            behind = at + 9
            if behind > end:
                break
            now = load_word(data, at + 1)
            if now - first_stamp + rules.longest > rules.longest + rules.longest:
                break
            time, interval = trace_time(ids, now, interval, rules.start)
            timed = True
            stamp = now
            credible = ChunkResult(DAMAGED, events, row, region_row, stamp, latest, backwards, NO_OFFSET)
            at = behind
            if load_byte(data, at) == TIMESTAMP:
                break
            continue
        if not timed:
            break
        if LONGEST_SINGLE[kind] > 0:
            size = load_byte(data, at + 1)
            behind = at + 2 + (size if size != 255 else 0)
            if (size > LONGEST_SINGLE[kind] and size != 255) or behind > end:
                break
            if kind in (ENTER, LEAVE) and len(regions.selected) > 0:
                region_row = put_region(data, at, regions, region_row, ids, time, row)
        else:
            fields, behind = record_extent(data, at)
            if behind < 0 or behind > end or behind - at > _LONGEST_RECORD:
                break
            if kind == ATTRIBUTES:
                offset, sound = read_offset(data, fields, behind, ids, rules.offsets)
                if not sound or load_byte(data, behind) in (TIMESTAMP, ATTRIBUTES):
                    break
                at = behind
                continue
            if kind < _FIRST_EVENT or kind > _LAST_EVENT:
                break
            if FIRST_IO <= kind <= LAST_IO:
                if put_io_record(data, fields, kind, columns, row, ids, time, offset) != behind:
                    break
                if strict and not _is_believable(columns, row, rules):
                    break
                row += 1
                backwards |= bool(time < latest)
                latest = time
        offset = NO_OFFSET
        at = behind
        events += 1
    if events == wanted and (not complete or at >= end or load_byte(data, at) <= LAST_MARK):
        return ChunkResult(SOUND, events, row, region_row, stamp, latest, backwards, offset)
    if cut and (behind > end or at >= end):
        return ChunkResult(SHORT, events, row, region_row, stamp, latest, backwards, NO_OFFSET)
    return credible


@inner
def walk_credible(
    data: npt.NDArray[np.uint8],
    size: int,
    wanted: int,
    columns: EventColumns,
    row: int,
    regions: RegionColumns,
    region_row: int,
    ids: LocalIds,
    rules: Rules,
    state: npt.NDArray[np.int64],
    last_chunk: bool,
    broken: bool,
    complete: bool,
) -> ChunkResult:
    """Walk a chunk again that is `broken` or merely holds odd values, and note what is wrong."""
    cut = last_chunk and (load_byte(data, size - 2) != _END_OF_FILE or load_byte(data, size - 1) != _END_OF_BUFFER)
    # What was only cut is sound up to the cut, however odd; among garbage, odd values are more of it.
    strict = broken and not cut
    while True:
        result = _walk(
            data, 0, size, wanted, columns, row, regions, region_row, ids, rules,
            np.uint64(state[STAMP]), state[LATEST], np.uint64(state[PENDING]), np.uint64(state[FIRST_STAMP]), cut,
            strict, complete,
        )  # fmt: skip
        if result.outcome != DAMAGED or strict or not broken:
            break
        strict = True
    if result.outcome != SOUND:
        note(state, CUT if result.outcome == SHORT else GARBAGE, state[EVENTS] + result.events)
    return result
