"""From events to operations: which begin, issued, test, complete and cancelled events belong together."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints
from ...model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from ...model.definitions import Definitions
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.rows import rows_of_ids

_NONE: Final = -1


@dataclass(frozen=True, eq=False)
class Matching:
    """Operations, and how many events found none.

    Attributes
    ----------
    unmatched_ends : int
        Complete and cancelled events without a begin that they could close.
    unmatched_steps : int
        Issued and test events without an operation in flight.
    """

    operations: Operations
    unmatched_ends: int
    unmatched_steps: int


def match_events(events: IoEvents, definitions: Definitions) -> Matching:
    """Match the events of operations, in O(n log n).

    The events of one operation share a key: process (location group), handle id and matching id. Ids are unique only
    among the operations in flight and used again afterwards, so within a key order decides, in such a way that an event
    that was lost costs its own operation and no other:

    1. A *blocking* call returns on the thread that made it before that thread does anything else with its handle. So a
       blocking begin is closed by an end (complete or cancelled) of its location if of the begins and ends of its key
       there, in the order of the file, that end is the next. If a begin is next, or nothing, its end was lost and it
       never completed. Two threads that use the same handle and the same id at once do not mix.
    2. The other begins and ends, for the whole process: an end closes the latest open begin of its key before it, on
       whichever location. Where all of a key are of one location, the order of its file decides; else that of time,
       where of events with one time stamp begins come before ends, then the lower location id, then the order of the
       file. The result does not depend on the order of locations.
    3. Issued and test events belong to the operation of their key that is in flight: the one last begun before them
       (in the order of the file) on their own location, or where that has ended or there is none, and the key is used
       on other locations too, the one last begun in the process (in the order of time, the same time included).

    An end, issued or test event without a partner is ignored and counted. A location without a process is a process
    of its own. Where the time stamps of a location run backwards, `end` and `issued` are no earlier than `begin`.

    Parameters
    ----------
    events : IoEvents
        Rows of one location in the order of its file; the order of locations does not matter.

    Returns
    -------
    Matching
        Its operations are ordered by begin time, then location id, then the order of the file.

    References
    ----------
    OTF2 documentation, record ``IoOperationBegin`` and those that follow it (``matchingId``).
    """
    rows = np.flatnonzero(
        (events.kind >= IoRecord.OPERATION_BEGIN) & (events.kind <= IoRecord.OPERATION_CANCELLED)
    ).astype(np.int64)
    part = events.take(rows)
    key = _keys(part, definitions)
    is_begin = part.kind == IoRecord.OPERATION_BEGIN
    is_end = (part.kind == IoRecord.OPERATION_COMPLETE) | (part.kind == IoRecord.OPERATION_CANCELLED)
    end_of = _match_ends(part, key, is_begin, is_end, definitions)

    begins = begin_rows(part, definitions)
    operation_of = np.full(len(part), _NONE, np.int64)
    operation_of[begins] = np.arange(len(begins))
    steps = np.flatnonzero(~is_begin & ~is_end).astype(np.int64)
    begin_of_step = _match_steps(part, key, begins, steps, end_of)

    matched = begin_of_step != _NONE
    issued, tests = _steps_of_operations(part, begins, steps[matched], operation_of[begin_of_step[matched]])
    ended = end_of[begins] != _NONE
    operations = _operations(part, definitions, begins, end_of[begins], issued, tests)
    return Matching(operations, int(is_end.sum()) - int(ended.sum()), int(len(steps) - matched.sum()))


def begin_rows(events: IoEvents, definitions: Definitions) -> Ints:
    """Return the row in `events` of the begin of each operation that `match_events` gives, in their order, int64."""
    begins = np.flatnonzero(events.kind == IoRecord.OPERATION_BEGIN).astype(np.int64)
    identity = definitions.locations.id[events.location[begins]]
    order: Ints = np.lexsort((begins, identity, events.time[begins]))
    return begins[order]


def _keys(events: IoEvents, definitions: Definitions) -> Ints:
    """Number the keys (process, handle id, matching id) from 0."""
    if not len(events):
        return np.empty(0, np.int64)
    group = definitions.locations.group[events.location].astype(np.uint64)
    alone = definitions.locations.group[events.location] < 0
    group[alone] = len(definitions.groups.id) + events.location[alone].astype(np.uint64)
    owner = (group << np.uint64(32)) | events.handle
    order = np.lexsort((events.matching, owner))
    differs = (np.diff(owner[order]) != 0) | (np.diff(events.matching[order]) != 0)
    key = np.empty(len(events), np.int64)
    key[order] = np.concatenate(([0], np.cumsum(differs)))
    return key


def _location_ids(events: IoEvents, definitions: Definitions) -> npt.NDArray[np.uint64]:
    return definitions.locations.id[events.location]


def _match_ends(
    events: IoEvents,
    key: Ints,
    is_begin: npt.NDArray[np.bool_],
    is_end: npt.NDArray[np.bool_],
    definitions: Definitions,
) -> Ints:
    """Return for each event the row of the end that closes it, −1 for all but closed begins."""
    end_of = np.full(len(events), _NONE, np.int64)
    blocking = is_begin & ((events.flags & IoFlag.NON_BLOCKING) == 0)
    own = np.flatnonzero(is_begin | is_end)
    segment = key[own] * len(definitions.locations.id) + events.location[own]
    order = np.argsort(segment, kind="stable")
    own, segment = own[order], segment[order]
    returned = np.flatnonzero(blocking[own[:-1]] & is_end[own[1:]] & (segment[:-1] == segment[1:]))
    end_of[own[returned]] = own[returned + 1]

    free = is_end.copy()
    free[own[returned + 1]] = False
    rest = np.flatnonzero((is_begin & ~blocking) | free)
    identity = _location_ids(events, definitions)
    # Where one location decides, the order of its file does; time stamps may be equal or run backwards.
    alone = _of_one_location(key[rest], events.location[rest])
    time = np.where(alone, 0, events.time[rest])
    rest = rest[np.lexsort((rest, identity[rest], free[rest] & ~alone, time, key[rest]))]
    opened, closed = _last_in_first_out(key[rest], ~free[rest])
    end_of[rest[opened]] = rest[closed]
    return end_of


def _of_one_location(key: Ints, location: npt.NDArray[np.int32]) -> npt.NDArray[np.bool_]:
    """Return whether all rows of a row's key are of one location, bool (n,)."""
    if not len(key):
        return np.empty(0, np.bool_)
    order = np.argsort(key, kind="stable")
    first = np.flatnonzero(np.diff(key[order], prepend=-1))
    low = np.minimum.reduceat(location[order], first)
    high = np.maximum.reduceat(location[order], first)
    alone = np.empty(len(key), np.bool_)
    alone[order] = np.repeat(low == high, np.diff(first, append=len(key)))
    return alone


def _last_in_first_out(segment: Ints, opens: npt.NDArray[np.bool_]) -> tuple[Ints, Ints]:
    """Pair openings with closings within each segment: a closing takes the latest opening not yet taken.

    Parameters
    ----------
    segment : int64 (n,)
        Non-decreasing.
    opens : bool (n,)
        Openings; all else closes.

    Returns
    -------
    opened, closed : int64 (m,)
        Positions of the pairs. A closing that finds nothing open is in no pair.
    """
    count = len(segment)
    if not count:
        return np.empty(0, np.int64), np.empty(0, np.int64)
    first = np.concatenate(([True], np.diff(segment) != 0))
    number = np.cumsum(first) - 1
    level = np.cumsum(np.where(opens, 1, -1))
    level -= np.concatenate(([0], level))[np.flatnonzero(first)][number]
    # A closing that takes the level to a new minimum below zero finds nothing open and opens a further count from that
    # minimum. Lowering each segment beneath the one before makes one running minimum serve all of them.
    shift = number * (2 * count + 2)
    lowest = np.minimum.accumulate(np.minimum(level, 0) - shift) + shift
    before = np.where(first, 0, np.concatenate(([0], lowest[:-1])))
    kept = np.flatnonzero(opens | (level >= before))
    # An opening and the closing that takes it stand at one depth, with nothing else of that depth between them.
    depth = level - lowest - opens
    kept = kept[np.lexsort((depth[kept], number[kept]))]
    same = (number[kept[:-1]] == number[kept[1:]]) & (depth[kept[:-1]] == depth[kept[1:]])
    pair = np.flatnonzero(same & opens[kept[:-1]] & ~opens[kept[1:]])
    return kept[pair].astype(np.int64), kept[pair + 1].astype(np.int64)


def _match_steps(events: IoEvents, key: Ints, begins: Ints, steps: Ints, end_of: Ints) -> Ints:
    """Return for each issued or test event in `steps` the row of its operation's begin, −1 where there is none.

    `begins` are in the order of operations.
    """
    if not len(steps) or not len(begins):
        return np.full(len(steps), _NONE, np.int64)
    locations = int(events.location.max()) + 1
    own_segment = key * locations + events.location
    begin_of = _last_before(own_segment, np.sort(begins), steps, rank=None)
    begin_of = np.where(_in_flight(events, begin_of, steps, end_of), begin_of, _NONE)
    orphans = np.flatnonzero(begin_of == _NONE)
    if len(orphans):
        orphans = orphans[~_of_one_location(key, events.location)[steps[orphans]]]
    if len(orphans):
        elsewhere = _last_before(key, begins, steps[orphans], rank=events.time)
        in_flight = _in_flight(events, elsewhere, steps[orphans], end_of)
        begin_of[orphans] = np.where(in_flight, elsewhere, _NONE)
    return begin_of


def _last_before(segment: Ints, begins: Ints, steps: Ints, rank: npt.NDArray[np.int64] | None) -> Ints:
    """Return for each step the last begin of its segment that is not behind it, −1 where there is none.

    `begins` stand in their order; `rank` gives the times that decide, None the order of rows.
    """
    position = np.arange(len(segment)) if rank is None else rank
    both = np.concatenate((begins, steps))
    is_step = np.arange(len(both)) >= len(begins)
    order = np.lexsort((np.arange(len(both)), is_step, position[both], segment[both]))
    latest = np.maximum.accumulate(np.where(is_step[order], -1, np.arange(len(both))))
    found = np.full(len(both), _NONE, np.int64)
    candidate = both[order][np.maximum(latest, 0)]
    same = (latest >= 0) & (segment[candidate] == segment[both[order]])
    found[order] = np.where(same, candidate, _NONE)
    return found[len(begins) :]


def _in_flight(events: IoEvents, begin: Ints, step: Ints, end_of: Ints) -> npt.NDArray[np.bool_]:
    """Whether the operation begun at row `begin` (−1: none) has not ended at row `step`."""
    end = np.where(begin == _NONE, _NONE, end_of[begin])
    same_location = events.location[end] == events.location[step]
    not_ended = np.where(same_location, end > step, events.time[end] >= events.time[step])
    in_flight: npt.NDArray[np.bool_] = (begin != _NONE) & ((end == _NONE) | not_ended)
    return in_flight


def _steps_of_operations(
    events: IoEvents, begins: Ints, steps: Ints, operation: Ints
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.uint32]]:
    """Return time of the first issued event and number of tests of each operation."""
    count = len(begins)
    is_test = events.kind[steps] == IoRecord.OPERATION_TEST
    tests = np.bincount(operation[is_test], minlength=count).astype(np.uint32)
    latest = np.iinfo(np.int64).max
    issued = np.full(count, latest, np.int64)
    np.minimum.at(issued, operation[~is_test], events.time[steps[~is_test]])
    return np.where(issued == latest, UNDEFINED_TIME, np.maximum(issued, events.time[begins])), tests


def _operations(
    events: IoEvents,
    definitions: Definitions,
    begins: Ints,
    ends: Ints,
    issued: npt.NDArray[np.int64],
    tests: npt.NDArray[np.uint32],
) -> Operations:
    ended = ends != _NONE
    complete = ended & (events.kind[ends] == IoRecord.OPERATION_COMPLETE)
    begin = events.time[begins]
    status = np.where(complete, Status.COMPLETE, np.where(ended, Status.CANCELLED, Status.NEVER_COMPLETED))
    return Operations(
        location=events.location[begins],
        end_location=np.where(ended, events.location[ends], _NONE).astype(np.int32),
        process=definitions.locations.group[events.location[begins]],
        handle=rows_of_ids(definitions.handles.id, events.handle[begins]),
        mode=events.mode[begins],
        flags=events.flags[begins],
        begin=begin,
        issued=issued,
        end=np.where(ended, np.maximum(events.time[ends], begin), UNDEFINED_TIME),
        requested=events.value[begins],
        moved=np.where(complete, events.value[ends], np.uint64(UNDEFINED_UINT64)),
        offset=events.offset[begins],
        matching=events.matching[begins],
        tests=tests,
        status=status.astype(np.uint8),
    )
