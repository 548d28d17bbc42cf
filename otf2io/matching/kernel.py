"""Compiled matching of events as they are read: which begin, issued, test, complete and cancelled belong together.

The events of one operation share a key: process (location group), handle id and matching id. Ids are unique only among
the operations in flight and used again afterwards, so within a key order decides, in such a way that an event that was
lost costs its own operation and no other:

1. A *blocking* call returns on the thread that made it before that thread does anything else with its handle. So a
   blocking begin is closed by an end (complete or cancelled) of its location if of the begins and ends of its key
   there, in the order of the file, that end is the next. If a begin is next, or nothing, its end was lost and it never
   completed. Two threads that use the same handle and the same id at once do not mix.
2. The other begins and ends, for the whole process: an end closes the latest open begin of its key before it, on
   whichever location. Where all of a key are of one location, the order of its file decides; else that of time, where
   of events with one time stamp begins come before ends, then the lower location id, then the order of the file. The
   result does not depend on the order of locations.
3. Issued and test events belong to the operation of their key that is in flight: the one last begun before them (in the
   order of the file) on their own location, or where that has ended or there is none, the non-blocking one last begun
   on other threads of the process (in the order of time, the same time included).

An end, issued or test event without a partner is ignored and counted. Where the time stamps of a location run
backwards, `end` and `issued` are no earlier than `begin`. See the OTF2 documentation, record ``IoOperationBegin`` and
those that follow it (``matchingId``).

An operation gets its row when it begins. A hash table with linear probing finds the entry of a key at the present
location: the row of its blocking operation in flight, and that of the latest non-blocking one; `end_location` of that
one, which it does not have yet, is the row of the one before it. What a location cannot decide alone, non-blocking
operations of a process with several locations, waits for `iostrata.otf2io.matching.threads`.
"""

from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Ints, Links, Mask, Octets, Unsigned, empty_columns
from ...model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from ...model.events import IoEvents
from ...model.kernels import compiled_uncounted, hashed, inlined, inner, random_seed
from ...model.operations import Operations

BEGIN: Final = int(IoRecord.OPERATION_BEGIN)
ISSUED: Final = int(IoRecord.OPERATION_ISSUED)
COMPLETE: Final = int(IoRecord.OPERATION_COMPLETE)
CANCELLED: Final = int(IoRecord.OPERATION_CANCELLED)
_NON_BLOCKING: Final = int(IoFlag.NON_BLOCKING)
_COLLECTIVE: Final = int(IoFlag.COLLECTIVE)
NO_TIME: Final = np.int64(UNDEFINED_TIME)
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)
NONE: Final = -1

ROWS, IN_FLIGHT, KEYS, WAITING, LOCATION, UNMATCHED, DROPPED = range(7)
"""Places in `OpenKeys.counts`: operations begun, those in flight, keys in the table, events that wait, their location,
events without a partner, operations that are to be left out."""

SMALLEST: Final = 1 << 11
"""Places of a table to begin with."""

SETTLES: Final = 1 << 7
"""Bit of `mode` of an end that settles what its begin left open, as calls have it (`iostrata.otf2io.calls.kernel`): in
`flags` is the handle, in `offset` the bytes requested, in `mode` also the flag of a collective operation. An issued
event with it makes the operation a non-blocking one, whose matching id from then on is in `value`."""
DROPS: Final = 1 << 6
"""Bit of `mode` of such an end of what is no operation of its own."""
LEFT_OUT: Final = 255
"""`status` of it."""


class OpenKeys(NamedTuple):
    """Keys of operations in flight at one location; columns over places of the hash table, a power of two."""

    handle: Codes
    matching: Unsigned
    blocking: Links
    latest: Links
    last: Links
    used: Mask
    counts: Ints
    seed: Unsigned


class WaitingEvents(NamedTuple):
    """Events that the process decides, in the order of the files.

    `row` is that of the operation that begins, for issued and test events that of the one last begun on their location,
    −1 where there is none.
    """

    kind: Octets
    time: Ints
    location: Links
    handle: Codes
    matching: Unsigned
    value: Unsigned
    row: Links


def open_keys(places: int, counts: Ints | None = None) -> OpenKeys:
    """Return an empty table; 22 bytes a place, of which half are used at most."""
    if counts is None:
        counts = np.zeros(DROPPED + 1, np.int64)
        counts[LOCATION] = NONE
    keys = empty_columns(OpenKeys, places)
    return keys._replace(used=np.zeros(places, np.bool_), counts=counts, seed=np.array([random_seed()]))


@inlined
def _home(handle: np.uint32, matching: np.uint64, seed: np.uint64, mask: int) -> int:
    return int(hashed(matching ^ (np.uint64(handle) << np.uint64(32)), seed)) & mask


@inlined
def _place_of(keys: OpenKeys, handle: np.uint32, matching: np.uint64) -> int:
    """Return the place of a key, or the free place where it belongs."""
    mask = len(keys.used) - 1
    place = _home(handle, matching, keys.seed[0], mask)
    while keys.used[place] and (keys.handle[place] != handle or keys.matching[place] != matching):
        place = (place + 1) & mask
    return place


@inlined
def _copy_key(old: OpenKeys, place: int, new: OpenKeys, target: int) -> None:
    new.used[target] = True
    new.handle[target] = old.handle[place]
    new.matching[target] = old.matching[place]
    new.blocking[target] = old.blocking[place]
    new.latest[target] = old.latest[place]
    new.last[target] = old.last[place]


@inlined
def _forget(keys: OpenKeys, place: int) -> None:
    """Free the place of a key and move keys that were pushed past it back, so that none is lost."""
    mask = len(keys.used) - 1
    keys.counts[KEYS] -= 1
    keys.used[place] = False
    gap = place
    other = (place + 1) & mask
    while keys.used[other]:
        home = _home(keys.handle[other], keys.matching[other], keys.seed[0], mask)
        if ((other - home) & mask) >= ((other - gap) & mask):
            _copy_key(keys, other, keys, gap)
            keys.used[other] = False
            gap = other
        other = (other + 1) & mask


@inlined
def end_operation(found: Operations, row: int, location: np.int32, kind: int, time: np.int64, value: np.uint64) -> None:
    """Note the complete or cancelled event of an operation."""
    found.end_location[row] = location
    found.end[row] = max(time, found.begin[row])
    found.moved[row] = value if kind == COMPLETE else _UNKNOWN
    found.status[row] = Status.COMPLETE if kind == COMPLETE else Status.CANCELLED


@inlined
def note_step(found: Operations, row: int, kind: int, time: np.int64) -> None:
    """Note an issued or test event of an operation."""
    if kind == ISSUED:
        issued = max(time, found.begin[row])
        if found.issued[row] == NO_TIME or issued < found.issued[row]:
            found.issued[row] = issued
    else:
        found.tests[row] += np.uint32(1)


@inlined
def _wait(
    columns: IoEvents, event: int, kind: int, matching: np.uint64, row: int, keys: OpenKeys, waiting: WaitingEvents
) -> None:
    place = keys.counts[WAITING]
    waiting.kind[place] = kind
    waiting.time[place] = columns.time[event]
    waiting.location[place] = columns.location[event]
    waiting.handle[place] = columns.handle[event]
    waiting.matching[place] = matching
    waiting.value[place] = columns.value[event]
    waiting.row[place] = row
    keys.counts[WAITING] += 1


@compiled_uncounted
def end_location(keys: OpenKeys, found: Operations) -> None:
    """Give up all operations in flight: they never completed."""
    if keys.counts[KEYS] > 0:
        for place in range(len(keys.used)):
            row = keys.latest[place] if keys.used[place] else NONE
            while row != NONE:
                before = found.end_location[row]
                found.end_location[row] = NONE
                row = before
            keys.used[place] = False
    keys.counts[KEYS] = 0
    keys.counts[IN_FLIGHT] = 0


@inlined
def _begin_operation(
    columns: IoEvents, event: int, place: int, shared: Mask, keys: OpenKeys, found: Operations, waiting: WaitingEvents
) -> None:
    """Give an operation its row, and enter it at the place of its key."""
    counts = keys.counts
    location, handle, matching = columns.location[event], columns.handle[event], columns.matching[event]
    flags = columns.flags[event]
    row = counts[ROWS]
    counts[ROWS] += 1
    found.location[row] = location
    found.end_location[row] = NONE
    found.handle[row] = handle
    found.mode[row] = columns.mode[event]
    found.flags[row] = flags
    found.begin[row] = columns.time[event]
    found.issued[row] = NO_TIME
    found.end[row] = NO_TIME
    found.requested[row] = columns.value[event]
    found.moved[row] = _UNKNOWN
    found.offset[row] = columns.offset[event]
    found.matching[row] = matching
    found.tests[row] = 0
    found.status[row] = Status.NEVER_COMPLETED
    _use_key(keys, place, handle, matching, row)
    if flags & _NON_BLOCKING == 0:
        keys.blocking[place] = row
        counts[IN_FLIGHT] += 1
    else:
        _begin_non_blocking(columns, event, place, matching, row, shared, keys, found, waiting)


@inlined
def _use_key(keys: OpenKeys, place: int, handle: np.uint32, matching: np.uint64, row: int) -> None:
    """Let the operation `row` be the last begun of a key."""
    if not keys.used[place]:
        keys.counts[KEYS] += 1
        keys.used[place] = True
        keys.handle[place] = handle
        keys.matching[place] = matching
        keys.latest[place] = NONE
    elif keys.blocking[place] != NONE:
        keys.counts[IN_FLIGHT] -= 1
    keys.blocking[place] = NONE
    keys.last[place] = row


@inlined
def _begin_non_blocking(
    columns: IoEvents,
    event: int,
    place: int,
    matching: np.uint64,
    row: int,
    shared: Mask,
    keys: OpenKeys,
    found: Operations,
    waiting: WaitingEvents,
) -> None:
    if shared[columns.location[event]]:
        _wait(columns, event, BEGIN, matching, row, keys, waiting)
    else:
        found.end_location[row] = keys.latest[place]
        keys.latest[place] = row
        keys.counts[IN_FLIGHT] += 1


@inlined
def _settle(columns: IoEvents, event: int, row: int, counts: Ints, found: Operations) -> None:
    """Note what an end settles."""
    found.handle[row] = columns.flags[event]
    if columns.mode[event] & DROPS:
        found.status[row] = LEFT_OUT
        counts[DROPPED] += 1
    found.flags[row] |= columns.mode[event] & _COLLECTIVE
    found.requested[row] = columns.offset[event]


@inner
def _post(
    columns: IoEvents, event: int, place: int, shared: Mask, keys: OpenKeys, found: Operations, waiting: WaitingEvents
) -> None:
    """Make a non-blocking operation of a blocking one in flight."""
    row = keys.blocking[place] if keys.used[place] else NONE
    if row == NONE:
        keys.counts[UNMATCHED] += 1
        return
    keys.blocking[place] = keys.last[place] = NONE
    keys.counts[IN_FLIGHT] -= 1
    if keys.latest[place] == NONE:
        _forget(keys, place)
    _settle(columns, event, row, keys.counts, found)
    found.flags[row] |= _NON_BLOCKING
    note_step(found, row, ISSUED, columns.time[event])
    handle, matching = columns.handle[event], columns.value[event]
    found.matching[row] = matching
    place = _place_of(keys, handle, matching)
    _use_key(keys, place, handle, matching, row)
    _begin_non_blocking(columns, event, place, matching, row, shared, keys, found, waiting)


@inlined
def _match_step(
    columns: IoEvents, event: int, place: int, shared: Mask, keys: OpenKeys, found: Operations, waiting: WaitingEvents
) -> None:
    """Note an issued or test event at the operation of its key that is in flight."""
    if columns.mode[event] & SETTLES:
        _post(columns, event, place, shared, keys, found, waiting)
        return
    row = keys.last[place] if keys.used[place] else NONE
    if row != NONE and (keys.blocking[place] == row or not shared[columns.location[event]]):
        note_step(found, row, columns.kind[event], columns.time[event])
    elif shared[columns.location[event]]:
        _wait(columns, event, columns.kind[event], columns.matching[event], row, keys, waiting)
    else:
        keys.counts[UNMATCHED] += 1


@inlined
def _match_end(
    columns: IoEvents, event: int, place: int, shared: Mask, keys: OpenKeys, found: Operations, waiting: WaitingEvents
) -> None:
    """Let a complete or cancelled event close an operation of its key."""
    known = keys.used[place]
    row = keys.blocking[place] if known else NONE
    if row != NONE:
        keys.blocking[place] = NONE
    elif shared[columns.location[event]]:
        _wait(columns, event, columns.kind[event], columns.matching[event], NONE, keys, waiting)
        return
    elif known:
        row = keys.latest[place]
        keys.latest[place] = found.end_location[row]
    else:
        keys.counts[UNMATCHED] += 1
        return
    # The one that ends is the last begun of its key, unless another began and ended since.
    keys.last[place] = NONE
    keys.counts[IN_FLIGHT] -= 1
    end_operation(found, row, columns.location[event], columns.kind[event], columns.time[event], columns.value[event])
    if columns.mode[event] & SETTLES:
        _settle(columns, event, row, keys.counts, found)
    if keys.latest[place] == NONE:
        _forget(keys, place)


@compiled_uncounted
def match_rows(
    columns: IoEvents,
    first: int,
    last: int,
    shared: Mask,
    enough: int,
    keys: OpenKeys,
    found: Operations,
    waiting: WaitingEvents,
) -> int:
    """Match the rows `first` to `last`, not included; of a location they come in the order of its file.

    Parameters
    ----------
    shared : bool (locations,)
        Whether the location's process has other locations with events.
    enough : int
        Operations from which on to return as soon as none is in flight and none waits.
    keys : OpenKeys
        Carries on from call to call.
    found, waiting : Operations, WaitingEvents
        With room for as many more rows as there are events.

    Returns
    -------
    int
        The first row not looked at: not `last` where there are enough operations, the table of keys is half full, or
        a location begins with a table that is larger than need be.
    """
    counts = keys.counts
    for event in range(first, last):
        kind, location = columns.kind[event], columns.location[event]
        if kind < BEGIN or kind > CANCELLED:
            continue
        if location != counts[LOCATION]:
            end_location(keys, found)
            counts[LOCATION] = location
            if len(keys.used) > SMALLEST:
                return event
        if 2 * counts[KEYS] >= len(keys.used):
            return event
        if counts[ROWS] >= enough and counts[IN_FLIGHT] == 0 and counts[WAITING] == 0:
            return event
        place = _place_of(keys, columns.handle[event], columns.matching[event])
        if kind == BEGIN:
            _begin_operation(columns, event, place, shared, keys, found, waiting)
        elif kind in (COMPLETE, CANCELLED):
            _match_end(columns, event, place, shared, keys, found, waiting)
        else:
            _match_step(columns, event, place, shared, keys, found, waiting)
    return last


@compiled_uncounted
def move_keys(old: OpenKeys, new: OpenKeys) -> None:
    """Enter all keys into a larger, empty table that has the same counts."""
    for other in range(len(old.used)):
        if old.used[other]:
            _copy_key(old, other, new, _place_of(new, old.handle[other], old.matching[other]))


@compiled_uncounted
def mark_in_flight(keys: OpenKeys, found: Operations, marked: Mask) -> None:
    """Mark the rows of all operations in flight."""
    for place in range(len(keys.used)):
        if keys.used[place]:
            if keys.blocking[place] != NONE:
                marked[keys.blocking[place]] = True
            row = keys.latest[place]
            while row != NONE:
                marked[row] = True
                row = found.end_location[row]


@compiled_uncounted
def renumber(keys: OpenKeys, carried: Operations, rows: int, place_of: Links) -> None:
    """Say where operations in flight stand from now on.

    Parameters
    ----------
    carried : Operations
        The first `rows` are the operations in flight.
    place_of : int32 (n,)
        New row of each former one, −1 where it is gone.
    """
    for place in range(len(keys.used)):
        if keys.used[place]:
            for column in (keys.blocking, keys.latest, keys.last):
                if column[place] != NONE:
                    column[place] = place_of[column[place]]
    for row in range(rows):
        if carried.end_location[row] != NONE:
            carried.end_location[row] = place_of[carried.end_location[row]]
