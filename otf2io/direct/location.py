"""Compiled walk over the files of many locations in one call, chunk by chunk, with all checks of damage.

Nothing is allocated here and no number of a file is trusted: each chunk is read into a buffer of one chunk's size, its
header must continue the event numbers, and the walk stops before a chunk that could bring more rows than there is room
for. The caller makes room and calls again; states and cursor say where to go on.
"""

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Octets, Unsigned
from ...model.events import IoEvents
from ...model.kernels import compiled_uncounted, inlined, inner
from ...model.stream.calls import RegionEvents
from ..files.anchor import CHUNK_HEADER
from ..files.regular import FINGERPRINT_FACTOR, FINGERPRINTED
from . import damage
from .chunk import DAMAGED, FULL, IMPLAUSIBLE, TIMESTAMP, Chunk, Rules, Tables, walk_chunk, walk_credible
from .integers import PADDING, begins_chunk, is_end, load_byte, load_word
from .local_definitions import NO_ROOM, READ, LocalIds, read_local_ids
from .posix import close_file, file_size, next_data, open_file, read_bytes
from .records import trace_time

DONE, NEEDS_ROWS, NEEDS_BYTES, NEEDS_IDS, PAUSED = range(5)
"""Why `walk_locations` returned: all is done; too little room for the next chunk's rows, for a definition file, for its
ids; or the budget is spent."""
_FAILED, _REJECTED, _AGAIN, _BEYOND, _SOUND = range(5, 10)
"""What is to become of a chunk: no more can be read; its header is wrong; all headers were asked, look again; it lies
behind the events expected; it is to be walked."""

_SHORTEST_EVENT: Final = 2
_SHORTEST_IO: Final = 3
"""Bytes of the shortest I/O record."""

_EVENTS_LIMIT: Final = 2**62
_COST_OF_FILE: Final = 4096
"""What opening a file costs, in bytes of walk."""
_SKIPPING: Final = damage.NO_HEADER | damage.BAD_CHUNK | damage.MORE
"""After such damage further chunks may be anything."""

_LARGEST_DEFINITIONS: Final = 2**26
"""Bytes of a local definition file beyond which it is taken for damaged."""


class EventSource(NamedTuple):
    """Files of the locations: ids, paths, each ended by a zero byte, where they begin, promised events, chunk sizes."""

    identities: Unsigned
    paths: Octets
    event_paths: Ints
    definition_paths: Ints
    promised: Ints
    event_chunk: int
    definition_chunk: int
    most_ids: int


class Scratch(NamedTuple):
    """Memory of one thread: a chunk of events, a definition file (both padded), and what is read of the latter."""

    events: Octets
    definitions: Octets
    ids: LocalIds


class Cursor:
    """Where a walk is, as compiled loops see the row of an array of type `CURSOR`.

    Attributes
    ----------
    location : int64
        Row in the definitions of the one to go on with.
    row, region_row : int64
        Next free rows.
    need : int64
        The room it needs where that is why it stopped.
    budget : int64
        Bytes of event files after which to return.
    """

    location: np.int64
    row: np.int64
    region_row: np.int64
    need: np.int64
    budget: np.int64


CURSOR: Final = np.dtype(list(Cursor.__annotations__.items()))


@inner
def _read_definitions(source: EventSource, scratch: Scratch, state: Any, cursor: Any) -> int:
    """Read a location's id maps and clock offsets, note what is wrong with them; give what to make room for."""
    file = open_file(source.paths, source.definition_paths[cursor.location])
    if file < 0:
        state.damage |= damage.NO_DEFINITIONS
        return DONE
    size = file_size(file)
    room = len(scratch.definitions) - PADDING
    got = read_bytes(file, 0, size, scratch.definitions) if size <= room else -1
    close_file(file)
    if size > _LARGEST_DEFINITIONS or (size <= room and got != size):
        state.damage |= damage.BAD_DEFINITIONS
        return DONE
    if got < 0:
        cursor.need = size
        return NEEDS_BYTES
    identity = source.identities[cursor.location]
    outcome = read_local_ids(scratch.definitions, size, source.definition_chunk, scratch.ids, source.most_ids, identity)
    state.owner = scratch.ids.owner[0]
    if outcome == NO_ROOM:
        cursor.need = min(2 * len(scratch.ids.values), size)
        return NEEDS_IDS
    if outcome != READ:
        state.damage |= damage.BAD_DEFINITIONS
    return DONE


@inlined
def _is_complete(file: int, size: int, data: Octets) -> bool:
    return size >= 2 and read_bytes(file, size - 2, 2, data) == 2 and is_end(data, 0)


@inner
def _agreed_events(file: int, event_chunk: int, data: Octets) -> np.int64:
    """Return how many events a file holds where its chunks' headers and its end agree, −1 where they do not."""
    size = file_size(file)
    if size < CHUNK_HEADER + 2 or not _is_complete(file, size, data):
        return np.int64(-1)
    before = np.int64(0)
    for chunk in range((size - 1) // event_chunk + 1):
        got = read_bytes(file, chunk * event_chunk, CHUNK_HEADER, data)
        if got != CHUNK_HEADER or not begins_chunk(data, 0):
            return np.int64(-1)
        last = np.int64(load_word(data, 10))
        if np.int64(load_word(data, 2)) != before + 1 or not 0 <= last - before <= event_chunk // _SHORTEST_EVENT:
            return np.int64(-1)
        before = last
    return before


@inner
def _skips_hole(file: int, place: int, event_chunk: int, state: Any, data: Octets) -> bool:
    """Go on to where a file has data again, if what stands at `place` is no chunk."""
    if read_bytes(file, place, 2, data) == 2 and begins_chunk(data, 0):
        return False
    # A file can have holes of terabytes: behind a bad chunk no more than a header is read of the next.
    data_at = next_data(file, place)
    state.chunk = max(state.chunk + 1, data_at // event_chunk) if data_at >= 0 else _EVENTS_LIMIT
    return True


@inner
def _look_at(file: int, place: int, count: int, event_chunk: int, state: Any, data: Octets) -> int:
    """Read a chunk and decide by its header what becomes of it."""
    if read_bytes(file, place, count, data) != count:
        damage.note(state, damage.UNREADABLE, state.events)
        return _FAILED
    if count < CHUNK_HEADER:
        damage.note(state, damage.CUT if state.chunk > 0 else damage.NO_HEADER, state.events)
        return _FAILED
    first, last = np.int64(load_word(data, 2)), np.int64(load_word(data, 10))
    in_order = state.position < first <= _EVENTS_LIMIT and min(first, state.expected) <= last <= _EVENTS_LIMIT
    if not begins_chunk(data, 0) or not in_order:
        damage.note(state, damage.NO_HEADER if state.chunk == 0 else damage.BAD_CHUNK, state.chunk)
        return _REJECTED
    if last > state.expected and state.checked == 0 and state.damage & ~damage.BACKWARDS == 0:
        # Some recorders promise fewer events than they write; the file is right where all of it says the same.
        state.checked = 1
        state.expected = max(state.expected, _agreed_events(file, event_chunk, data))
        return _AGAIN
    if first > state.expected:
        if last >= first:
            damage.note(state, damage.MORE, last)
        state.position = last
        return _BEYOND
    return _SOUND


@inlined
def _walk_chunk(source: EventSource, tables: Tables, count: int, last_chunk: bool, state: Any, cursor: Any) -> int:
    """Walk the chunk that was read, whose header is right; give why it could not be done, `DONE` where it was."""
    data = tables.data
    first, last = np.int64(load_word(data, 2)), np.int64(load_word(data, 10))
    promised = source.promised[cursor.location]
    if first != state.position + 1 and state.damage == 0:
        damage.note(state, damage.BAD_CHUNK, state.chunk)
    wanted = min(last, state.expected) - first + 1
    rows = min(wanted, count // _SHORTEST_IO)
    region_rows = min(wanted, count // _SHORTEST_EVENT) if len(tables.rules.regions) > 0 else 0
    row, region_row = cursor.row, cursor.region_row
    if row + rows > len(tables.columns.time) or region_row + region_rows > len(tables.regions.time):
        cursor.need = max(rows, region_rows)
        return NEEDS_ROWS
    if load_byte(data, CHUNK_HEADER) == TIMESTAMP and state.first_stamp == 0:
        state.first_stamp = load_word(data, CHUNK_HEADER + 1)
    chunk = Chunk(count, wanted, row, region_row)
    result = walk_chunk(tables, chunk, state)
    off = result.outcome in (DAMAGED, IMPLAUSIBLE)
    if off and state.expected > promised:
        # The headers agree, what they stand before does not: then the definitions are believed.
        state.expected = promised
        return _AGAIN
    complete = last <= state.expected
    if off or (result.outcome == FULL and complete):
        result = walk_credible(tables, chunk, state, last_chunk, result.outcome != IMPLAUSIBLE, complete)
    if result.backwards:
        damage.note(state, damage.BACKWARDS, state.events)
    events = min(result.events, wanted)
    tables.columns.location[row : result.row] = cursor.location
    tables.regions.location[region_row : result.region_row] = cursor.location
    cursor.row, cursor.region_row = result.row, result.region_row
    state.events += events
    state.position = first - 1 + events
    state.stamp, state.latest, state.pending = result.stamp, result.latest, result.offset
    state.inside = result.inside
    if not complete and events == wanted:
        damage.note(state, damage.MORE, last)
        state.position = last
    return DONE


@inlined
def _fingerprint(data: Octets, count: int) -> np.uint64:
    """Return a number that files share whose first bytes, `count` at most, are the same."""
    found = np.uint64(count)
    for place in range(min(count, FINGERPRINTED) // 8):
        found = found * FINGERPRINT_FACTOR + load_word(data, 8 * place)
    return found


@inlined
def _note_extent(state: Any, tables: Tables) -> None:
    """Note when the first and the last event of a file that was walked are."""
    ids, start = tables.ids, tables.rules.start
    state.begin, _ = trace_time(ids, state.first_stamp, 0, start)
    state.end, _ = trace_time(ids, state.stamp, 0, start)
    last = ids.clock_size[0] - 1
    if last > 0:
        state.synchronised, _ = trace_time(ids, ids.clock_times[0], 0, start)
        state.resynchronised, _ = trace_time(ids, ids.clock_times[last], 0, start)


@inlined
def _walk_file(file: int, source: EventSource, tables: Tables, state: Any, cursor: Any) -> int:
    """Walk a location's event file; give why it stopped."""
    data = tables.data
    size = file_size(file)
    if size <= 0:
        damage.note(state, damage.EMPTY if size == 0 else damage.UNREADABLE, 0)
        return DONE
    chunks = (size - 1) // source.event_chunk + 1
    while state.chunk < chunks:
        if cursor.budget <= 0:
            return PAUSED
        place = state.chunk * source.event_chunk
        count = min(source.event_chunk, size - place)
        if state.damage & _SKIPPING and _skips_hole(file, place, source.event_chunk, state, data):
            cursor.budget -= _COST_OF_FILE
            continue
        what = _look_at(file, place, count, source.event_chunk, state, data)
        if state.chunk == 0:
            state.print = _fingerprint(data, count)
        if what == _SOUND:
            what = _walk_chunk(source, tables, count, state.chunk == chunks - 1, state, cursor)
        if what == NEEDS_ROWS:
            return NEEDS_ROWS
        if what == _FAILED:
            break
        if what != _AGAIN:
            state.chunk += 1
            cursor.budget -= count
    _note_extent(state, tables)
    if not _is_complete(file, size, data):
        damage.note(state, damage.NO_END, state.events)
    elif state.damage & ~damage.BACKWARDS == 0:
        state.expected = state.events
    return DONE


@inlined
def _walk_location(source: EventSource, scratch: Scratch, tables: Tables, state: Any, cursor: Any) -> int:
    """Walk a location's files, from where it was left; give why it stopped."""
    promised = source.promised[cursor.location]
    file = open_file(source.paths, source.event_paths[cursor.location])
    if file < 0:
        if promised > 0:
            state.damage |= damage.NO_FILE
        return DONE
    if state.expected == 0 and state.checked == 0:
        state.checked = 1
        state.expected = max(0, _agreed_events(file, source.event_chunk, scratch.events))
    reason = DONE
    if state.chunk == 0 and state.expected > 0:
        reason = _read_definitions(source, scratch, state, cursor)
    if reason == DONE and state.damage & (damage.NO_DEFINITIONS | damage.BAD_DEFINITIONS) == 0:
        reason = _walk_file(file, source, tables, state, cursor)
        cursor.budget -= _COST_OF_FILE
    close_file(file)
    return reason


@compiled_uncounted
def walk_locations(
    source: EventSource,
    last: int,
    states: npt.NDArray[np.void],
    scratch: Scratch,
    columns: IoEvents,
    regions: RegionEvents,
    rules: Rules,
    cursors: npt.NDArray[np.void],
) -> int:
    """Walk the files of the locations from that of the cursor up to `last`, not included; return why it stopped.

    Parameters
    ----------
    last : int
        Row in the definitions.
    states : STATE (locations,)
        As `new_states` makes them, or as an earlier call left them.
    columns, regions
        `EventColumns` and `RegionColumns`.
    cursors : CURSOR (1,)
        To go on, call again with the same cursor and `states`. Unless the reason is `NEEDS_BYTES` or `NEEDS_IDS`,
        `scratch` must be the same too.
    """
    cursor = cursors[0]
    tables = Tables(scratch.events, columns, regions, scratch.ids, rules)
    while cursor.location < last:
        reason = _walk_location(source, scratch, tables, states[cursor.location], cursor)
        if reason != DONE:
            return reason
        cursor.location += 1
        if cursor.budget <= 0:
            return PAUSED
    return DONE
