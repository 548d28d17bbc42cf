"""Compiled following of calls: regions of I/O libraries become the events that I/O records would be.

Of a call that transfers, `Enter` becomes the begin of an operation and `Leave` its end, which settles what parameters
tell only before it: handle, bytes, whether it is collective, and whether it was only posted. Until then the operation
stands on its library's *unknown* handle. A call that opens creates a handle as it returns, one that closes destroys it.

Only the outermost call of a library on a thread counts; what is told of one inside it (bytes, a handle, a file) holds
for it where nothing else does. A call that does not tell its bytes has moved at least what the calls and I/O records
right below it did in its direction. One without a handle worked on the ancestor, in its library, of the first handle
that was used below it.

A parameter stands among the regions as a row without `enter` whose `position` is negative, −1 minus the I/O event that
follows; its id is in `region` and its value in `time`.

Where a library has I/O records as well, a call with one of them inside is that record, and drops its own operation.
"""

from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Columns, Ints, Links, Mask, Unsigned, named_columns
from ...model.codes import MOST_BYTES, UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, IoMode, IoRecord
from ...model.events import IoEvents
from ...model.kernels import compiled_uncounted, inlined
from ...model.stream.calls import RegionEvents
from ..matching.kernel import CANCELLED, COMPLETE, DROPS, ISSUED, NONE, SETTLES
from .functions import BYTES, COLLECTIVE, FAILED, FILE, HANDLE, NAME, PARENT, REQUEST, CalledFunctions, Kind

DEEPEST: Final = 64
"""Calls within each other that are followed; deeper ones are passed over."""
DEPTH, BEYOND, LOCATION, LATEST, SLOT, PENDING, OPENED, ADOPTED, IN_RECORD = range(9)
"""Places in `CallStack.places`: open calls, deeper ones that are not followed, the location, the function that was
entered last, opens so far, requests of the open wait, rows of `OpenCalls` and of `CreatedHandles`,
whether an I/O record is under way."""
PLACES: Final = 9
NOWHERE: Final = np.uint32(UNDEFINED_UINT32)
VALID: Final = 15
"""Bit in `OpenCalls.given` of an open that succeeded; the others are those of its parameters."""
_INNER: Final = 16
"""Bit of a call of which calls of the same library inside it tell the bytes."""
_RECORDED: Final = 17
"""Bit of a call that has an I/O record."""
_NONE, _ONE = np.uint32(0), np.uint32(1)
_ZERO: Final = np.uint64(0)
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)
_MOST: Final = np.uint64(MOST_BYTES)
_ALL_ACCESS: Final = 2
_CREATES: Final = 1
_NON_BLOCKING: Final = np.uint32(int(IoFlag.NON_BLOCKING))
_COLLECTIVE: Final = int(IoFlag.COLLECTIVE)
_FLUSH: Final = np.uint64(int(IoMode.FLUSH))


class CallStack(NamedTuple):
    """Calls that are open on the present thread, columns of shape (`DEEPEST`,), and where the following is.

    Attributes
    ----------
    function : int64
        Row in `CalledFunctions`.
    given : uint32
        A bit for each parameter that was told.
    counts : bool
        Whether no call of the same library is around it.
    begin : int64
    slot : int64
        Number of the open, −1 for other calls.
    below : uint32
        The first handle that was used inside, `NOWHERE` where none was.
    nested : uint64
        Bytes of calls of the same library inside.
    values : uint64 (n, 8)
        Of the parameters.
    inside : uint64 (n, 2)
        Bytes read and written right below.
    record : uint64 (3,)
        Handle, matching id and mode of the I/O operation under way.
    places : int64 (9,)
    """

    function: Ints
    given: Codes
    counts: Mask
    begin: Ints
    slot: Ints
    below: Codes
    nested: Unsigned
    values: Unsigned
    inside: Unsigned
    record: Unsigned
    places: Ints


class KnownHandles(NamedTuple):
    """Which handles calls work on, as the opens of the whole trace tell.

    Attributes
    ----------
    unknown : uint32 (libraries,)
        Id of the handle of calls that do not tell theirs.
    first_slot : int64 (locations + 1,)
        Number of the first open of each location; where opens are still collected, empty.
    opened : uint32 (opens,)
        Id of the handle of each open, `NOWHERE` for one that failed.
    segment : int64 (locations × libraries + 1,)
        Where the opens of a process and library begin in the columns that follow; processes are numbered by locations.
    number : int64 (successful opens,)
        The library's number, ascending within a segment.
    time : int64 (successful opens,)
        Ascending within a number.
    handle : uint32 (successful opens,)
    id, parent, library : uint32, int32, int32 (handles,)
        All handles by their ids, ascending, the places of their parents among these, and their libraries; −1 for none.
    process : int64 (locations,)
    """

    unknown: Codes
    first_slot: Ints
    opened: Codes
    segment: Ints
    number: Ints
    time: Ints
    handle: Codes
    id: Codes
    parent: Links
    library: Links
    process: Ints


class OpenCalls(Columns):
    """Calls that open, in the order in which they began; columns of shape (n,).

    Attributes
    ----------
    location, library : int32
    given : uint32
        `VALID`, and a bit for each parameter that was told.
    time : int64
        When it returned.
    number, parent : int64
    file, name : uint64
        Global ids of strings.
    above : int64
        Row of the open of another library that it was called in, −1 where there is none.
    """

    location: Links
    library: Links
    given: Codes
    time: Ints
    number: Ints
    parent: Ints
    file: Unsigned
    name: Unsigned
    above: Ints


class CreatedHandles(Columns):
    """Handles that I/O records create within a call that opens: global id, and row of `OpenCalls`."""

    handle: Codes
    slot: Ints


OpenColumns: Final = named_columns(OpenCalls, "OpenColumns")
CreatedColumns: Final = named_columns(CreatedHandles, "CreatedColumns")
"""The same as compiled loops take it."""


class CallRoom(NamedTuple):
    """Where rows go: events, regions (no rows where they are not wanted), requests of the open wait, opens, adoptions.

    Opens and adoptions have rows only while they are collected.
    """

    events: IoEvents
    regions: RegionEvents
    pending: Unsigned
    openings: OpenCalls
    adoptions: CreatedHandles


class Following(NamedTuple):
    """All that a call is followed by."""

    stack: CallStack
    table: CalledFunctions
    known: KnownHandles
    room: CallRoom


@inlined
def _row_of(ids: Codes, wanted: np.uint32) -> int:
    """Return the place of an id in an ascending column, −1 where it is not there."""
    low, high = 0, len(ids)
    while low < high:
        middle = (low + high) >> 1
        if ids[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low if low < len(ids) and ids[low] == wanted else NONE


@inlined
def opened_before(known: KnownHandles, segment: int, number: np.int64, time: np.int64) -> int:
    """Return the last open of a number up to a time, else the first one of it; −1 where it was never opened."""
    first, behind = int(known.segment[segment]), int(known.segment[segment + 1])
    low, high = first, behind
    while low < high:
        middle = (low + high) >> 1
        if known.number[middle] < number or (known.number[middle] == number and known.time[middle] <= time):
            low = middle + 1
        else:
            high = middle
    if low > first and known.number[low - 1] == number:
        return low - 1
    return low if low < behind and known.number[low] == number else -1


@inlined
def _told(stack: CallStack, call: int, code: int) -> bool:
    return bool(stack.given[call] & (_ONE << np.uint32(code)))


@inlined
def _function_of(stack: CallStack, table: CalledFunctions, region: np.uint32, enter: bool) -> int:
    """Return the row of a region's function, −1 where it is none; most calls are those of the call before."""
    places = stack.places
    likely = places[LATEST]
    if not enter and places[DEPTH] > 0:
        likely = stack.function[places[DEPTH] - 1]
    if table.region[likely] == region:
        return int(likely)
    return _row_of(table.region, region)


@inlined
def _matching(call: int) -> np.uint64:
    """Return the id of the operation of a call at a depth; requests have even ones."""
    return np.uint64(2 * call + 1)


@inlined
def _put(
    calls: Following, row: int, kind: int, time: np.int64, handle: np.uint32, mode: int, flags: np.uint32,
    matching: np.uint64, value: np.uint64, offset: np.uint64,
) -> int:  # fmt: skip
    """Write an event of the present location where events are wanted; return the next free row."""
    out = calls.room.events
    if not len(out.time):
        return row
    place = np.uint64(row)
    out.location[place], out.kind[place] = np.int32(calls.stack.places[LOCATION]), kind
    out.time[place], out.handle[place] = time, handle
    out.mode[place], out.flags[place] = mode, flags
    out.matching[place], out.value[place], out.offset[place] = matching, value, offset
    return row + 1


@inlined
def _pass_event(events: IoEvents, event: int, out: IoEvents, row: int) -> int:
    """Write an I/O event where events are wanted; return the next free row."""
    if not len(out.time):
        return row
    place = np.uint64(row)
    out.location[place], out.kind[place] = events.location[event], events.kind[event]
    out.time[place], out.handle[place] = events.time[event], events.handle[event]
    out.mode[place], out.flags[place] = events.mode[event], events.flags[event]
    out.matching[place], out.value[place] = events.matching[event], events.value[event]
    out.offset[place] = events.offset[event]
    return row + 1


@inlined
def _go_to(stack: CallStack, known: KnownHandles, location: np.int32) -> None:
    """Go on with a location, from its beginning where it is another one."""
    places = stack.places
    if location == places[LOCATION]:
        return
    places[DEPTH] = places[BEYOND] = places[PENDING] = places[IN_RECORD] = 0
    places[LOCATION] = location
    if len(known.first_slot):
        places[SLOT] = known.first_slot[location]


@inlined
def _is_under_way(stack: CallStack, handle: np.uint32, matching: np.uint64) -> bool:
    """Tell whether this is the I/O operation that began last."""
    return bool(stack.places[IN_RECORD] == 1 and stack.record[0] == handle and stack.record[1] == matching)


@inlined
def _note_record(events: IoEvents, event: int, stack: CallStack, top: int) -> None:
    """Note what an I/O event tells of the call right around it: a handle that was used, bytes that were moved."""
    places, kind, handle = stack.places, events.kind[event], events.handle[event]
    begins = kind == IoRecord.OPERATION_BEGIN
    if stack.below[top] == NOWHERE and (begins or kind == IoRecord.DESTROY_HANDLE):
        stack.below[top] = handle
    if begins and places[IN_RECORD] == 0 and events.flags[event] & _NON_BLOCKING == 0:
        places[IN_RECORD] = 1
        stack.record[0], stack.record[1] = handle, events.matching[event]
        stack.record[2] = events.mode[event]
    elif kind == IoRecord.OPERATION_COMPLETE and _is_under_way(stack, handle, events.matching[event]):
        places[IN_RECORD] = 0
        if events.value[event] <= _MOST and stack.record[2] < _FLUSH:
            stack.inside[top, np.int64(stack.record[2])] += events.value[event]


@inlined
def _note_layer(stack: CallStack, table: CalledFunctions, known: KnownHandles, top: int, handle: np.uint32) -> None:
    """Note that the calls around an I/O record of their own library are that record."""
    place = _row_of(known.id, handle)
    for call in range(top, -1, -1):
        if place >= 0 and table.library[stack.function[call]] == known.library[place]:
            stack.given[call] |= _ONE << np.uint32(_RECORDED)


@inlined
def _note_created(stack: CallStack, room: CallRoom, top: int, handle: np.uint32) -> None:
    """Note a handle that is created in the innermost open."""
    opening = _open_around(stack, top + 1)
    if opening >= 0:
        adopted = stack.places[ADOPTED]
        room.adoptions.handle[adopted], room.adoptions.slot[adopted] = handle, opening
        stack.places[ADOPTED] += 1


@inlined
def _open_around(stack: CallStack, call: int) -> int:
    """Return the number of the innermost open around a call, −1 where there is none."""
    for other in range(call - 1, -1, -1):
        if stack.slot[other] >= 0:
            return int(stack.slot[other])
    return -1


@inlined
def _pass_events(events: IoEvents, first: int, behind: int, calls: Following, row: int) -> int:
    """Hand on I/O events, and note what they tell of the calls they are in; return the next free row."""
    stack, room = calls.stack, calls.room
    for event in range(first, behind):
        _go_to(stack, calls.known, events.location[event])
        top = stack.places[DEPTH] - 1
        if top >= 0:
            _note_record(events, event, stack, top)
            if calls.table.beside[stack.function[top]]:
                _note_layer(stack, calls.table, calls.known, top, events.handle[event])
            if events.kind[event] == IoRecord.CREATE_HANDLE and len(room.adoptions.handle):
                _note_created(stack, room, top, events.handle[event])
        row = _pass_event(events, event, room.events, row)
    return row


@inlined
def _is_outermost(stack: CallStack, table: CalledFunctions, function: int) -> bool:
    """Tell whether no call of the library is open; of an open, no other open of it."""
    opens = table.kind[function] == Kind.OPEN or table.kind[function] == Kind.CREATE
    for call in range(stack.places[DEPTH]):
        other = stack.function[call]
        if table.library[other] == table.library[function] and (not opens or stack.slot[call] >= 0):
            return False
    return True


@inlined
def _note_open(stack: CallStack, library: int, room: CallRoom, call: int, counts: bool) -> None:
    """Give an open its number: that of its Enter among those of opens, whatever else is around it."""
    places = stack.places
    if call < DEEPEST:
        stack.slot[call] = places[SLOT] if counts else -1
    places[SLOT] += 1
    if len(room.openings.location):
        opening = places[OPENED]
        places[OPENED] += 1
        room.openings.location[opening], room.openings.library[opening] = places[LOCATION], library
        room.openings.given[opening] = 0
        room.openings.above[opening] = _open_around(stack, min(call, DEEPEST))


@inlined
def _enter(calls: Following, row: int, function: int, time: np.int64) -> int:
    """Begin a call; return the next free row."""
    stack, table = calls.stack, calls.table
    places = stack.places
    call = places[DEPTH]
    kind, library = table.kind[function], table.library[function]
    places[LATEST] = function
    counts = call < DEEPEST and _is_outermost(stack, table, function)
    if kind == Kind.OPEN or kind == Kind.CREATE:
        _note_open(stack, library, calls.room, call, counts)
    elif call < DEEPEST:
        stack.slot[call] = -1
    if call >= DEEPEST:
        places[BEYOND] += 1
        return row
    stack.function[call], stack.given[call], stack.counts[call], stack.begin[call] = function, 0, counts, time
    stack.below[call], stack.nested[call] = NOWHERE, 0
    stack.inside[call, 0] = stack.inside[call, 1] = 0
    if counts and kind <= Kind.FLUSH:
        unknown, matching = calls.known.unknown[library], _matching(call)
        row = _put(calls, row, IoRecord.OPERATION_BEGIN, time, unknown, kind, _NONE, matching, _UNKNOWN, _UNKNOWN)
    places[DEPTH] += 1
    return row


@inlined
def _take_parameter(stack: CallStack, table: CalledFunctions, room: CallRoom, code: int, value: np.uint64) -> None:
    """Give a parameter to the innermost call."""
    call = stack.places[DEPTH] - 1
    if call < 0 or stack.places[BEYOND] > 0:
        return
    if code == REQUEST and table.kind[stack.function[call]] == Kind.WAIT:
        room.pending[stack.places[PENDING]] = value
        stack.places[PENDING] += 1
    elif code != BYTES or value <= _MOST:
        stack.values[call, code] = value
        stack.given[call] |= _ONE << np.uint32(code)


@inlined
def _handle_of(stack: CallStack, known: KnownHandles, call: int, library: int) -> np.uint32:
    """Return the id of the handle that a call works on."""
    if _told(stack, call, HANDLE) and len(known.segment) > 1:
        segment = known.process[stack.places[LOCATION]] * len(known.unknown) + library
        found = opened_before(known, segment, np.int64(stack.values[call, HANDLE]), stack.begin[call])
        if found >= 0:
            return np.uint32(known.handle[found])
    if stack.below[call] != NOWHERE:
        place = _row_of(known.id, stack.below[call])
        while place >= 0 and known.library[place] != library:
            place = known.parent[place]
        if place >= 0:
            return np.uint32(known.id[place])
    return np.uint32(known.unknown[library])


@inlined
def _note_opening(stack: CallStack, openings: OpenCalls, call: int, time: np.int64) -> None:
    """Note what an open that succeeded tells."""
    opening, values = stack.slot[call], stack.values
    openings.given[opening] = stack.given[call] | (_ONE << np.uint32(VALID))
    openings.time[opening] = time
    openings.number[opening] = np.int64(values[call, HANDLE])
    openings.parent[opening] = np.int64(values[call, PARENT])
    openings.file[opening] = values[call, FILE]
    openings.name[opening] = values[call, NAME]


@inlined
def _end_transfer(calls: Following, row: int, call: int, handle: np.uint32, time: np.int64, cut: bool) -> int:
    """End the operation of a call that transfers, or say that it was posted; return the next free row."""
    stack, table = calls.stack, calls.table
    function = stack.function[call]
    library, kind = table.library[function], table.kind[function]
    bytes_moved = asked = _UNKNOWN
    if _told(stack, call, BYTES):
        bytes_moved = asked = stack.values[call, BYTES]
    elif _told(stack, call, _INNER):
        bytes_moved = asked = stack.nested[call]
    elif kind < Kind.FLUSH and stack.inside[call, kind] > 0 and not _told(stack, call, REQUEST):
        asked = stack.inside[call, kind]
    # With bytes it failed in part: netCDF's range errors.
    failed = _told(stack, call, FAILED)
    if kind == Kind.FLUSH:
        bytes_moved = asked = np.uint64(0)
    elif failed and bytes_moved == _UNKNOWN:
        bytes_moved = np.uint64(0)
    collective = table.collective[function]
    if _told(stack, call, COLLECTIVE):
        collective = stack.values[call, COLLECTIVE] != 0
    mode = SETTLES | (_COLLECTIVE if collective else 0) | (DROPS if _told(stack, call, _RECORDED) else 0)
    record = COMPLETE
    if cut:
        record = CANCELLED
    elif _told(stack, call, REQUEST) and not failed:
        record = ISSUED
        bytes_moved = stack.values[call, REQUEST] << np.uint64(1)
    unknown = calls.known.unknown[library]
    return _put(calls, row, record, time, unknown, mode, handle, _matching(call), bytes_moved, asked)


@inlined
def _tell_caller(stack: CallStack, table: CalledFunctions, call: int) -> None:
    """Let the call around one that ends know what it did."""
    around = call - 1
    if around < 0:
        return
    function = stack.function[call]
    kind, told = table.kind[function], _told(stack, call, BYTES)
    moved = stack.values[call, BYTES] if told else stack.nested[call]
    told |= _told(stack, call, _INNER)
    if _told(stack, call, FAILED) and not told:
        told, moved = True, np.uint64(0)
    if stack.below[around] == NOWHERE:
        stack.below[around] = stack.below[call]
    outer = stack.function[around]
    if table.library[function] == table.library[outer] and kind == table.kind[outer]:
        for code in (HANDLE, FILE):
            if _told(stack, call, code) and not _told(stack, around, code):
                stack.values[around, code] = stack.values[call, code]
                stack.given[around] |= _ONE << np.uint32(code)
        if told:
            stack.nested[around] += moved
            stack.given[around] |= _ONE << np.uint32(_INNER)
    for mode in range(2):
        known = told and kind == mode
        stack.inside[around, mode] += moved if known else stack.inside[call, mode]


@inlined
def _complete_requests(calls: Following, row: int, handle: np.uint32, time: np.int64) -> int:
    """Complete the operations that a wait names; return the next free row."""
    places, kind = calls.stack.places, IoRecord.OPERATION_COMPLETE
    for place in range(places[PENDING]):
        matching = calls.room.pending[place] << np.uint64(1)
        row = _put(calls, row, kind, time, handle, 0, _NONE, matching, _UNKNOWN, _UNKNOWN)
    places[PENDING] = 0
    return row


@inlined
def _end_open(calls: Following, row: int, call: int, kind: int, time: np.int64) -> int:
    """Create the handle of an open that succeeded; return the next free row."""
    slot, opened = calls.stack.slot[call], calls.known.opened
    if len(calls.room.openings.location):
        _note_opening(calls.stack, calls.room.openings, call, time)
    handle = opened[slot] if slot < len(opened) else NOWHERE
    creates = np.uint64(_CREATES if kind == Kind.CREATE else 0)
    return _put(calls, row, IoRecord.CREATE_HANDLE, time, handle, _ALL_ACCESS, _NONE, _ZERO, creates, _UNKNOWN)


@inlined
def _leave(calls: Following, row: int, time: np.int64, cut: bool) -> int:
    """End the innermost call, of which `cut` means that its own end was lost; return the next free row."""
    stack, table, known = calls.stack, calls.table, calls.known
    call = stack.places[DEPTH] - 1
    function = stack.function[call]
    library, kind, counts = table.library[function], table.kind[function], stack.counts[call]
    worked = not cut and not _told(stack, call, FAILED)
    if kind <= Kind.FLUSH:
        if counts and len(calls.room.events.time):
            row = _end_transfer(calls, row, call, _handle_of(stack, known, call, library), time, cut)
    elif stack.slot[call] >= 0:
        if worked:
            row = _end_open(calls, row, call, kind, time)
    elif kind == Kind.CLOSE:
        if counts and worked and len(calls.room.events.time):
            handle = _handle_of(stack, known, call, library)
            row = _put(calls, row, IoRecord.DESTROY_HANDLE, time, handle, 0, _NONE, _ZERO, _ZERO, _UNKNOWN)
    elif kind == Kind.WAIT:
        row = _complete_requests(calls, row, known.unknown[library], time)
    _tell_caller(stack, table, call)
    stack.places[DEPTH] -= 1
    return row


@inlined
def _leave_function(calls: Following, row: int, function: int, time: np.int64) -> int:
    """End the innermost call of a function, with what was entered later and never left; return the next free row."""
    places = calls.stack.places
    if places[BEYOND] > 0:
        places[BEYOND] -= 1
        return row
    depth = _depth_of(calls.stack, function)
    while 0 < depth <= places[DEPTH]:
        row = _leave(calls, row, time, places[DEPTH] > depth)
    return row


@inlined
def _depth_of(stack: CallStack, function: int) -> int:
    """Return the depth behind the innermost open call of a function, 0 where none is open."""
    call = int(stack.places[DEPTH])
    while call > 0 and stack.function[call - 1] != function:
        call -= 1
    return call


@inlined
def _pass_region(regions: RegionEvents, place: int, room: CallRoom, region_row: int, row: int) -> int:
    if not len(room.regions.time):
        return region_row
    room.regions.location[region_row] = regions.location[place]
    room.regions.time[region_row] = regions.time[place]
    room.regions.region[region_row] = regions.region[place]
    room.regions.enter[region_row] = regions.enter[place]
    room.regions.position[region_row] = row
    return region_row + 1


@compiled_uncounted
def follow_calls(
    events: IoEvents,
    regions: RegionEvents,
    table: CalledFunctions,
    known: KnownHandles,
    stack: CallStack,
    room: CallRoom,
) -> tuple[int, int]:
    """Put the events of calls among I/O events; return the rows of events and of regions.

    Parameters
    ----------
    events, regions
        A batch; regions with parameters among them.
    stack : CallStack
        Carries on from batch to batch.
    room : CallRoom
        With room for as many more events as there are regions, open calls and pending requests.
    """
    calls = Following(stack, table, known, room)
    row = region_row = event = 0
    for place in range(len(regions.time)):
        position = regions.position[place]
        is_parameter = position < 0
        position = -1 - position if is_parameter else position
        row = _pass_events(events, event, position, calls, row)
        event = max(event, position)
        _go_to(stack, known, regions.location[place])
        if is_parameter:
            code = _row_of(table.parameter, regions.region[place])
            if code >= 0:
                _take_parameter(stack, table, room, table.code[code], np.uint64(regions.time[place]))
            continue
        enter, time = regions.enter[place], regions.time[place]
        function = _function_of(stack, table, regions.region[place], enter)
        if enter:
            region_row = _pass_region(regions, place, room, region_row, row)
        if function >= 0 and enter:
            row = _enter(calls, row, function, time)
        elif function >= 0:
            row = _leave_function(calls, row, function, time)
        if not enter:
            region_row = _pass_region(regions, place, room, region_row, row)
    return _pass_events(events, event, len(events.time), calls, row), region_row
