"""Compiled walk over the files of many locations in one call, chunk by chunk, with all checks of damage.

Nothing is allocated here and no number of a file is trusted: each chunk is read into a buffer of one chunk's size, its
header must continue the event numbers, and the walk stops before a chunk that could bring more rows than there is room
for. The caller makes room and calls again; `state` says where to go on.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...model.events import EventColumns
from ...model.kernels import compiled_uncounted, inlined, inner
from ..files.anchor import CHUNK_HEADER, LITTLE_ENDIAN, MAGIC_BYTE
from .chunk import DAMAGED, FULL, IMPLAUSIBLE, TIMESTAMP, RegionColumns, Rules, walk_chunk
from .damaged_chunk import walk_credible
from .integers import PADDING, load_byte, load_word
from .local_definitions import NO_ROOM, READ, LocalIds, read_local_ids
from .posix import close_file, file_size, next_data, open_file, read_bytes
from .state import (
    BACKWARDS,
    BAD_CHUNK,
    BAD_DEFINITIONS,
    CHECKED,
    CHUNK,
    CUT,
    DAMAGE,
    EMPTY,
    EVENTS,
    EXPECTED,
    FIRST_STAMP,
    LATEST,
    MORE,
    NO_DEFINITIONS,
    NO_END,
    NO_FILE,
    NO_HEADER,
    PENDING,
    POSITION,
    STAMP,
    UNREADABLE,
    note,
)

DONE, NEEDS_ROWS, NEEDS_BYTES, NEEDS_IDS, PAUSED = range(5)
"""Why `walk_locations` returned: all is done; too little room for the next chunk's rows, for a definition file, for its
ids; or the budget is spent."""

_SHORTEST_EVENT: Final = 2
SHORTEST_IO: Final = 3
"""Bytes of the shortest I/O record."""

_EVENTS_LIMIT: Final = 2**62
_END_OF_FILE: Final = 2
_END_OF_BUFFER: Final = 1
_COST_OF_FILE: Final = 4096
"""What opening a file costs, in bytes of walk."""
_SKIPPING: Final = NO_HEADER | BAD_CHUNK | MORE
"""After such damage further chunks may be anything."""

LARGEST_DEFINITIONS: Final = 2**26
"""Bytes of a local definition file beyond which it is taken for damaged."""


class Source(NamedTuple):
    """Files of the locations: paths, each ended by a zero byte, where they begin, promised events, chunk sizes."""

    paths: npt.NDArray[np.uint8]
    event_paths: npt.NDArray[np.int64]
    definition_paths: npt.NDArray[np.int64]
    promised: npt.NDArray[np.int64]
    event_chunk: int
    definition_chunk: int
    most_ids: int


class Scratch(NamedTuple):
    """Memory of one thread: a chunk of events, a definition file (both padded), and what is read of the latter."""

    events: npt.NDArray[np.uint8]
    definitions: npt.NDArray[np.uint8]
    ids: LocalIds


class Stop(NamedTuple):
    """Why and where a walk stopped: location to go on with, next free rows, and the room it needs."""

    reason: int
    location: int
    row: int
    region_row: int
    need: int


@inner
def _read_definitions(source: Source, location: int, scratch: Scratch) -> tuple[int, int, int]:
    """Read a location's id maps and clock offsets; give its flag of damage, or what to make room for, and how much."""
    file = open_file(source.paths, source.definition_paths[location])
    if file < 0:
        return NO_DEFINITIONS, DONE, 0
    size = file_size(file)
    room = len(scratch.definitions) - PADDING
    got = read_bytes(file, 0, size, scratch.definitions) if size <= room else -1
    close_file(file)
    if size > LARGEST_DEFINITIONS or (size <= room and got != size):
        return BAD_DEFINITIONS, DONE, 0
    if got < 0:
        return 0, NEEDS_BYTES, size
    outcome = read_local_ids(scratch.definitions, size, source.definition_chunk, scratch.ids, source.most_ids)
    if outcome == NO_ROOM:
        return 0, NEEDS_IDS, min(2 * len(scratch.ids.values), size)
    return 0 if outcome == READ else BAD_DEFINITIONS, DONE, 0


@inlined
def _has_header(file: int, place: int, data: npt.NDArray[np.uint8]) -> bool:
    """Whether a chunk begins as chunks do."""
    got = read_bytes(file, place, 2, data)
    return got == 2 and load_byte(data, 0) == MAGIC_BYTE and load_byte(data, 1) == LITTLE_ENDIAN


@inner
def _agreed_events(file: int, event_chunk: int, data: npt.NDArray[np.uint8]) -> np.int64:
    """Return how many events a file holds where its chunks' headers and its end agree, −1 where they do not."""
    size = file_size(file)
    if size < CHUNK_HEADER + 2 or read_bytes(file, size - 2, 2, data) != 2:
        return np.int64(-1)
    if load_byte(data, 0) != _END_OF_FILE or load_byte(data, 1) != _END_OF_BUFFER:
        return np.int64(-1)
    before = np.int64(0)
    for chunk in range((size - 1) // event_chunk + 1):
        if not _has_header(file, chunk * event_chunk, data):
            return np.int64(-1)
        if read_bytes(file, chunk * event_chunk, CHUNK_HEADER, data) != CHUNK_HEADER:
            return np.int64(-1)
        last = np.int64(load_word(data, 10))
        if np.int64(load_word(data, 2)) != before + 1 or not 0 <= last - before <= event_chunk // _SHORTEST_EVENT:
            return np.int64(-1)
        before = last
    return before


@inner
def _walk_file(
    file: int,
    location: int,
    source: Source,
    state: npt.NDArray[np.int64],
    scratch: Scratch,
    columns: EventColumns,
    regions: RegionColumns,
    rules: Rules,
    row: int,
    region_row: int,
    budget: int,
) -> tuple[int, int, int, int, int]:
    """Walk a location's event file; give why it stopped, the next free rows, the room it needs and the rest of budget.

    Its state is one row of the table.
    """
    data = scratch.events
    size = file_size(file)
    if size <= 0:
        note(state, EMPTY if size == 0 else UNREADABLE, 0)
        return DONE, row, region_row, 0, budget
    chunks = (size - 1) // source.event_chunk + 1
    while state[CHUNK] < chunks:
        chunk = state[CHUNK]
        promised = state[EXPECTED]
        place = chunk * source.event_chunk
        count = min(source.event_chunk, size - place)
        if state[DAMAGE] & _SKIPPING and not _has_header(file, place, data):
            # A file can have holes of terabytes: behind a bad chunk no more than a header is read of the next.
            data_at = next_data(file, place)
            state[CHUNK] = max(chunk + 1, data_at // source.event_chunk) if data_at >= 0 else chunks
            budget -= _COST_OF_FILE
            if budget <= 0:
                return PAUSED, row, region_row, 0, budget
            continue
        if read_bytes(file, place, count, data) != count:
            note(state, UNREADABLE, state[EVENTS])
            break
        if count < CHUNK_HEADER:
            note(state, CUT if chunk > 0 else NO_HEADER, state[EVENTS])
            break
        first = np.int64(load_word(data, 2))
        last = np.int64(load_word(data, 10))
        if (
            load_byte(data, 0) != MAGIC_BYTE
            or load_byte(data, 1) != LITTLE_ENDIAN
            or first <= state[POSITION]
            or first > _EVENTS_LIMIT
            or last < min(first, promised)
            or last > _EVENTS_LIMIT
        ):
            note(state, NO_HEADER if chunk == 0 else BAD_CHUNK, chunk)
            state[CHUNK] += 1
            budget -= count
            if budget <= 0:
                return PAUSED, row, region_row, 0, budget
            continue
        if last > promised and state[CHECKED] == 0 and state[DAMAGE] & ~BACKWARDS == 0:
            # Some recorders promise fewer events than they write; the file is right where all of it says the same.
            state[CHECKED] = 1
            state[EXPECTED] = max(promised, _agreed_events(file, source.event_chunk, data))
            continue
        if first > promised:
            if last >= first:
                note(state, MORE, last)
            state[POSITION] = last
            state[CHUNK] += 1
            budget -= count
            if budget <= 0:
                return PAUSED, row, region_row, 0, budget
            continue
        if first != state[POSITION] + 1 and state[DAMAGE] == 0:
            note(state, BAD_CHUNK, chunk)
        wanted = min(last, promised) - first + 1
        rows = min(wanted, count // SHORTEST_IO)
        region_rows = min(wanted, count // _SHORTEST_EVENT) if len(regions.selected) > 0 else 0
        if row + rows > len(columns.time) or region_row + region_rows > len(regions.time):
            return NEEDS_ROWS, row, region_row, max(rows, region_rows), budget
        if load_byte(data, CHUNK_HEADER) == TIMESTAMP and state[FIRST_STAMP] == 0:
            state[FIRST_STAMP] = np.int64(load_word(data, CHUNK_HEADER + 1))
        stamp = np.uint64(state[STAMP])
        latest = state[LATEST]
        result = walk_chunk(
            data, 0, count, wanted, columns, row, regions, region_row, scratch.ids, rules, stamp, latest,
            np.uint64(state[PENDING]),
        )  # fmt: skip
        if result.outcome in (DAMAGED, IMPLAUSIBLE) and promised > source.promised[location]:
            # The headers agree, what they stand before does not: then the definitions are believed.
            state[EXPECTED] = source.promised[location]
            continue
        if result.outcome in (DAMAGED, IMPLAUSIBLE) or (result.outcome == FULL and last <= promised):
            result = walk_credible(
                data, count, wanted, columns, row, regions, region_row, scratch.ids, rules, state,
                chunk == chunks - 1, result.outcome != IMPLAUSIBLE, last <= promised,
            )  # fmt: skip
        if result.backwards:
            note(state, BACKWARDS, state[EVENTS])
        events = min(result.events, wanted)
        columns.location[row : result.row] = location
        regions.location[region_row : result.region_row] = location
        row = result.row
        region_row = result.region_row
        state[CHUNK] += 1
        state[EVENTS] += events
        state[POSITION] = first - 1 + events
        state[STAMP] = np.int64(result.stamp)
        state[LATEST] = result.latest
        state[PENDING] = np.int64(result.offset)
        if last > promised and events == wanted:
            note(state, MORE, last)
            state[POSITION] = last
        budget -= count
        if budget <= 0:
            return PAUSED, row, region_row, 0, budget
    ended = size >= 2 and read_bytes(file, size - 2, 2, data) == 2
    if not ended or load_byte(data, 0) != _END_OF_FILE or load_byte(data, 1) != _END_OF_BUFFER:
        note(state, NO_END, state[EVENTS])
    elif state[DAMAGE] & ~BACKWARDS == 0:
        state[EXPECTED] = state[EVENTS]
    return DONE, row, region_row, 0, budget


@compiled_uncounted
def walk_locations(
    source: Source,
    location: int,
    last: int,
    states: npt.NDArray[np.int64],
    scratch: Scratch,
    columns: EventColumns,
    regions: RegionColumns,
    rules: Rules,
    row: int,
    region_row: int,
    budget: int,
) -> Stop:
    """Walk the files of the locations from `location` up to `last`, not included.

    Parameters
    ----------
    location, last : int
        Rows in the definitions.
    states : int64 (locations, STATE_SIZE)
        As `new_states` makes them, or as an earlier call left them.
    row, region_row : int
        First free rows.
    budget : int
        Bytes of event files after which to return.

    Returns
    -------
    Stop
        To go on, call again with its location and rows and the same `states`. Unless its reason is `NEEDS_BYTES` or
        `NEEDS_IDS`, `scratch` must be the same too.
    """
    while location < last:
        state = states[location]
        file = open_file(source.paths, source.event_paths[location])
        if file < 0:
            if source.promised[location] > 0:
                state[DAMAGE] |= NO_FILE
            location += 1
            continue
        if state[EXPECTED] == 0 and state[CHECKED] == 0:
            state[CHECKED] = 1
            state[EXPECTED] = max(0, _agreed_events(file, source.event_chunk, scratch.events))
        if state[CHUNK] == 0 and state[EXPECTED] > 0:
            flag, reason, need = _read_definitions(source, location, scratch)
            if reason != DONE:
                close_file(file)
                return Stop(reason, location, row, region_row, need)
            if flag != 0:
                close_file(file)
                state[DAMAGE] |= flag
                location += 1
                continue
        reason, row, region_row, need, budget = _walk_file(
            file, location, source, state, scratch, columns, regions, rules, row, region_row, budget
        )
        close_file(file)
        if reason != DONE:
            return Stop(reason, location, row, region_row, need)
        location += 1
        budget -= _COST_OF_FILE
        if budget <= 0:
            return Stop(PAUSED, location, row, region_row, 0)
    return Stop(DONE, location, row, region_row, 0)
