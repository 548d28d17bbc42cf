"""Compiled writing of the I/O events of one location into chunks of an event file, in the order of time.

Events come from operations and metadata events, each sorted; the loop merges them. What happens at one tick is written
in an order that any reader can match again: first what operations begun earlier do (issued, then ends, the last begun
first), then metadata events in their order, then operations that begin, each with all that happens to it at once.

The layouts of the records are those of `iostrata.otf2io.direct.records`.
"""

from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Ints
from ...model.codes import UNDEFINED_UINT64, IoRecord, Status
from ...model.events import IoEvents
from ...model.kernels import compiled_uncounted, inlined
from ...model.operations import Operations
from ..direct.integers import store_word, write_integer, write_short_integer
from ..files.anchor import CHUNK_HEADER
from .chunks import AT, CHUNK, EVENTS, LAST, MARGIN, Bytes, State

BEGINS, ENDS, ISSUED, METADATA, STEP, NEXT = range(6)
"""Places in a cursor: how far the loop is in each of the four lists; of an operation that begins, the events already
written; and the time of the next event."""

DONE, CHUNK_FULL, TIME_REACHED = range(3)
"""Outcomes: all is written; the chunk is full; the next event lies before the last one or not before the limit."""

NEVER: Final = 2**63 - 1
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)
_TIMESTAMP: Final = 5
_ATTRIBUTES: Final = 6
_UINT64: Final = 4

Places = Ints


class EventLists(NamedTuple):
    """What is written: operations, metadata events, and rows of both in the order of each list, location by location.

    Attributes
    ----------
    begins, ends, issued : int64
        Rows of the operations: all, by begin; those that end at another time than they begin, or at another location,
        by end; those issued at another time than they begin, by that.
    others : int64
        Rows of the metadata events, by time.
    """

    operations: Operations
    metadata: IoEvents
    begins: Places
    ends: Places
    issued: Places
    others: Places


@inlined
def _put_operation(out: Bytes, at: int, kind: int, operations: Operations, row: int, attribute: np.uint64) -> int:
    """Write an event of an operation; return the position behind it."""
    offset = operations.offset[row]
    if kind == IoRecord.OPERATION_BEGIN and offset != _UNKNOWN:
        length = at + 1
        out[at] = _ATTRIBUTES
        at = write_short_integer(out, at + 2, np.uint64(1))
        at = write_short_integer(out, at, attribute)
        out[at] = _UINT64
        at = write_integer(out, at + 1, offset)
        out[length] = at - length - 1
    length = at + 1
    out[at] = kind
    at = write_short_integer(out, at + 2, np.uint64(operations.handle[row]))
    if kind == IoRecord.OPERATION_BEGIN:
        out[at] = operations.mode[row]
        at = write_short_integer(out, at + 1, np.uint64(operations.flags[row]))
        at = write_integer(out, at, operations.requested[row])
    elif kind == IoRecord.OPERATION_COMPLETE:
        at = write_integer(out, at, operations.moved[row])
    at = write_integer(out, at, operations.matching[row])
    out[length] = at - length - 1
    return at


@inlined
def _put_metadata(out: Bytes, at: int, events: IoEvents, row: int) -> int:
    """Write a metadata event; return the position behind it."""
    kind = events.kind[row]
    length = at + 1
    out[at] = kind
    at += 2
    if kind != IoRecord.DELETE_FILE:
        at = write_short_integer(out, at, np.uint64(events.handle[row]))
    if kind in (IoRecord.CREATE_HANDLE, IoRecord.DELETE_FILE):
        out[at] = events.mode[row]
        at = write_short_integer(out, at + 1, events.value[row])
    elif kind == IoRecord.DUPLICATE_HANDLE:
        at = write_short_integer(out, at, events.value[row])
    elif kind == IoRecord.SEEK:
        at = write_integer(out, at, events.value[row])
        out[at] = events.mode[row]
        at = write_integer(out, at + 1, events.offset[row])
    elif kind >= IoRecord.ACQUIRE_LOCK:
        out[at] = events.mode[row]
        at += 1
    if kind in (IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE, IoRecord.CHANGE_STATUS_FLAGS):
        at = write_short_integer(out, at, np.uint64(events.flags[row]))
    out[length] = at - length - 1
    return at


@inlined
def _next_event(lists: EventLists, cursor: Places, stops: Places) -> tuple[int, int]:
    """Return from which list the next event comes, −1 where all are done, and its time."""
    operations, metadata = lists.operations, lists.metadata
    begin, end, issue, other = cursor[BEGINS], cursor[ENDS], cursor[ISSUED], cursor[METADATA]
    source = -1
    time = NEVER
    if issue < stops[ISSUED]:
        source, time = ISSUED, operations.issued[lists.issued[issue]]
    if end < stops[ENDS] and (source < 0 or operations.end[lists.ends[end]] < time):
        source, time = ENDS, operations.end[lists.ends[end]]
    if other < stops[METADATA] and (source < 0 or metadata.time[lists.others[other]] < time):
        source, time = METADATA, metadata.time[lists.others[other]]
    if begin < stops[BEGINS] and (source < 0 or operations.begin[lists.begins[begin]] < time or cursor[STEP] > 0):
        source, time = BEGINS, operations.begin[lists.begins[begin]]
    return source, time


@inlined
def _kind_of_end(operations: Operations, row: int) -> int:
    return IoRecord.OPERATION_COMPLETE if operations.status[row] == Status.COMPLETE else IoRecord.OPERATION_CANCELLED


@inlined
def _next_step(operations: Operations, row: int, cursor: Places) -> int:
    """Return the next event of an operation that begins, and go on: to the next operation behind the last of them."""
    step = cursor[STEP]
    tests = int(operations.tests[row])
    time = operations.begin[row]
    at_once = 1 if operations.issued[row] == time else 0
    ends = operations.status[row] != Status.NEVER_COMPLETED and operations.end[row] == time
    ends = ends and operations.end_location[row] == operations.location[row]
    if step < tests + at_once + (1 if ends else 0):
        cursor[STEP] = step + 1
    else:
        cursor[STEP] = 0
        cursor[BEGINS] += 1
    if step == 0:
        return IoRecord.OPERATION_BEGIN
    if step <= tests:
        return IoRecord.OPERATION_TEST
    return IoRecord.OPERATION_ISSUED if step <= tests + at_once else _kind_of_end(operations, row)


@inlined
def _put_next(out: Bytes, at: int, attribute: np.uint64, lists: EventLists, cursor: Places, source: int) -> int:
    """Write the next event of a list, and go on in that; return the position behind it."""
    operations, place = lists.operations, cursor[source]
    if source == BEGINS:
        row = lists.begins[place]
        return _put_operation(out, at, _next_step(operations, row, cursor), operations, row, attribute)
    cursor[source] += 1
    if source == METADATA:
        return _put_metadata(out, at, lists.metadata, lists.others[place])
    if source == ENDS:
        row = lists.ends[place]
        return _put_operation(out, at, _kind_of_end(operations, row), operations, row, attribute)
    return _put_operation(out, at, IoRecord.OPERATION_ISSUED, operations, lists.issued[place], attribute)


@compiled_uncounted
def put_events(
    out: Bytes,
    state: State,
    start: np.uint64,
    attribute: np.uint64,
    lists: EventLists,
    cursor: Places,
    stops: Places,
    limit: int,
) -> int:
    """Write events of a location until all are written, the chunk is full, or their time is out of bounds.

    Parameters
    ----------
    out : uint8 (CHUNK + MARGIN,)
        The present chunk; written from ``state[AT]`` on.
    state : int64 (5,)
        Of the file; carried on.
    start : uint64
        Time stamp of tick 0.
    attribute : uint64
        Id of the attribute *Offset*.
    cursor : int64 (6,)
        Where the loop is in the four lists; carried on.
    stops : int64 (4,)
        Where this location ends in each of them.
    limit : int
        Ticks from which on nothing is written.
    """
    at, last = state[AT], state[LAST]
    outcome = DONE
    while True:
        source, time = _next_event(lists, cursor, stops)
        if source < 0:
            break
        if time < last or time >= limit:
            cursor[NEXT] = time
            outcome = TIME_REACHED
            break
        if at + MARGIN > CHUNK:
            out[at] = 0
            outcome = CHUNK_FULL
            break
        if time != last or at == CHUNK_HEADER:
            out[at] = _TIMESTAMP
            store_word(out, at + 1, start + np.uint64(time))
            at += 9
            last = time
        state[EVENTS] += 1
        at = _put_next(out, at, attribute, lists, cursor, source)
    state[AT], state[LAST] = at, last
    return outcome
