"""Compiled matching of events as they are read: operations in flight are kept, those that ended are handed on.

The rules are those of `iostrata.otf2io.matching.columns.match_events`, for the events of one location in the order of
its file. What these alone cannot decide, since another thread of the process may begin or end an operation, waits.

Operations in flight stand in slots. A hash table with linear probing finds the entry of a key (handle, matching id) of
the present location: the slot of its blocking operation in flight, and that of the latest non-blocking one, which is
linked to the one before it.
"""

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from ...model.events import EventColumns
from ...model.kernels import compiled_uncounted, hashed, inlined, random_seed
from ...model.operations import OperationColumns

_BEGIN: Final = int(IoRecord.OPERATION_BEGIN)
_COMPLETE: Final = int(IoRecord.OPERATION_COMPLETE)
_CANCELLED: Final = int(IoRecord.OPERATION_CANCELLED)
_NON_BLOCKING: Final = int(IoFlag.NON_BLOCKING)
_DONE: Final = int(Status.COMPLETE)
_STOPPED: Final = int(Status.CANCELLED)
_OPEN: Final = int(Status.NEVER_COMPLETED)
_NO_TIME: Final = np.int64(UNDEFINED_TIME)
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)
_NONE: Final = -1

OPERATIONS, LOCATION, FREE_SLOTS, UNMATCHED_ENDS, UNMATCHED_STEPS = range(5)
"""Places in `OpenOperations.counts`: those in flight, their location, the first free slot, events without a partner."""


class OpenOperations(NamedTuple):
    """Operations in flight at one location; columns over slots, then columns over places of the hash table."""

    begin: npt.NDArray[np.int64]
    requested: npt.NDArray[np.uint64]
    mode: npt.NDArray[np.uint8]
    before: npt.NDArray[np.int32]
    key_handle: npt.NDArray[np.uint32]
    key_matching: npt.NDArray[np.uint64]
    blocking: npt.NDArray[np.int32]
    latest: npt.NDArray[np.int32]
    last_in_flight: npt.NDArray[np.bool_]
    used: npt.NDArray[np.bool_]
    counts: npt.NDArray[np.int64]
    seed: npt.NDArray[np.uint64]


def open_operations(most: int) -> OpenOperations:
    """Return the state for at most `most` operations in flight, a power of two; about 70 bytes for each of them."""
    places = 2 * most
    counts = np.zeros(5, np.int64)
    counts[LOCATION] = _NONE
    return OpenOperations(
        begin=np.empty(most, np.int64),
        requested=np.empty(most, np.uint64),
        mode=np.empty(most, np.uint8),
        before=np.arange(1, most + 1, dtype=np.int32),
        key_handle=np.empty(places, np.uint32),
        key_matching=np.empty(places, np.uint64),
        blocking=np.full(places, _NONE, np.int32),
        latest=np.full(places, _NONE, np.int32),
        last_in_flight=np.zeros(places, np.bool_),
        used=np.zeros(places, np.bool_),
        counts=counts,
        seed=np.array([random_seed()]),
    )


@inlined
def _home(handle: np.uint32, matching: np.uint64, seed: np.uint64, mask: int) -> int:
    return int(hashed(matching ^ (np.uint64(handle) << np.uint64(32)), seed)) & mask


@inlined
def _place_of(state: OpenOperations, handle: np.uint32, matching: np.uint64) -> int:
    """Return the place of a key, or the free place where it belongs."""
    mask = len(state.used) - 1
    place = _home(handle, matching, state.seed[0], mask)
    while state.used[place] and (state.key_handle[place] != handle or state.key_matching[place] != matching):
        place = (place + 1) & mask
    return place


@inlined
def _forget(state: OpenOperations, place: int) -> None:
    """Free the place of a key and move keys that were pushed past it back, so that none is lost."""
    mask = len(state.used) - 1
    state.used[place] = False
    gap = place
    other = (place + 1) & mask
    while state.used[other]:
        home = _home(state.key_handle[other], state.key_matching[other], state.seed[0], mask)
        if ((other - home) & mask) >= ((other - gap) & mask):
            state.key_handle[gap] = state.key_handle[other]
            state.key_matching[gap] = state.key_matching[other]
            state.blocking[gap] = state.blocking[other]
            state.latest[gap] = state.latest[other]
            state.last_in_flight[gap] = state.last_in_flight[other]
            state.used[gap] = True
            state.used[other] = False
            gap = other
        other = (other + 1) & mask


@inlined
def _put(
    state: OpenOperations,
    slot: int,
    handle: np.uint32,
    end: np.int64,
    moved: np.uint64,
    status: int,
    found: OperationColumns,
    row: int,
) -> None:
    """Hand on the operation in `slot`, which is free from then on."""
    found.location[row] = state.counts[LOCATION]
    found.handle[row] = handle
    found.mode[row] = state.mode[slot]
    found.status[row] = status
    found.begin[row] = state.begin[slot]
    found.end[row] = end if status == _OPEN else max(end, state.begin[slot])
    found.requested[row] = state.requested[slot]
    found.moved[row] = moved
    state.before[slot] = state.counts[FREE_SLOTS]
    state.counts[FREE_SLOTS] = slot
    state.counts[OPERATIONS] -= 1


@inlined
def _put_lost(state: OpenOperations, slot: int, handle: np.uint32, found: OperationColumns, row: int) -> None:
    _put(state, slot, handle, _NO_TIME, _UNKNOWN, _OPEN, found, row)


@compiled_uncounted
def end_location(state: OpenOperations, found: OperationColumns, row: int) -> int:
    """Hand on all operations in flight as never completed, from `row` on; return the row after them."""
    if state.counts[OPERATIONS] == 0:
        return row
    for place in range(len(state.used)):
        if not state.used[place]:
            continue
        handle = state.key_handle[place]
        if state.blocking[place] != _NONE:
            _put_lost(state, state.blocking[place], handle, found, row)
            row += 1
        slot = state.latest[place]
        while slot != _NONE:
            before = state.before[slot]
            _put_lost(state, slot, handle, found, row)
            row += 1
            slot = before
        state.used[place] = False
    return row


@compiled_uncounted
def match_rows(
    columns: EventColumns,
    first: int,
    last: int,
    shared: npt.NDArray[np.bool_],
    state: OpenOperations,
    found: OperationColumns,
    waiting: npt.NDArray[np.int64],
) -> tuple[int, int, int]:
    """Match the rows `first` to `last`, not included; of a location they come in the order of its file.

    Parameters
    ----------
    shared : bool (locations,)
        Whether the location's process has other locations with events.
    state : OpenOperations
        Carries on from call to call.
    found : OperationColumns
        Room for as many operations as there are rows and operations that can be in flight.
    waiting : int64 (last - first,)
        Gets the rows that the process decides, not the location.

    Returns
    -------
    operations, rows_waiting, next : int
        How many rows of `found` and of `waiting` were filled, and the first row not looked at: not `last` where
        a further operation would find no room in `state`.
    """
    row = others = 0
    for event in range(first, last):
        kind, location = columns.kind[event], columns.location[event]
        if kind < _BEGIN or kind > _CANCELLED:
            continue
        if location != state.counts[LOCATION]:
            row = end_location(state, found, row)
            state.counts[LOCATION] = location
        handle, matching = columns.handle[event], columns.matching[event]
        place = _place_of(state, handle, matching)
        known = state.used[place]
        if kind == _BEGIN:
            blocks = columns.flags[event] & _NON_BLOCKING == 0
            if known and state.blocking[place] != _NONE:
                _put_lost(state, state.blocking[place], handle, found, row)
                row += 1
                state.blocking[place] = _NONE
            if not blocks and shared[location]:
                waiting[others] = event
                others += 1
                if known:
                    state.last_in_flight[place] = False
                    if state.latest[place] == _NONE:
                        _forget(state, place)
                continue
            if state.counts[OPERATIONS] == len(state.begin):
                return row, others, event
            if not known:
                state.used[place] = True
                state.key_handle[place] = handle
                state.key_matching[place] = matching
                state.blocking[place] = _NONE
                state.latest[place] = _NONE
            slot = state.counts[FREE_SLOTS]
            state.counts[FREE_SLOTS] = state.before[slot]
            state.counts[OPERATIONS] += 1
            state.begin[slot] = columns.time[event]
            state.requested[slot] = columns.value[event]
            state.mode[slot] = columns.mode[event]
            state.last_in_flight[place] = True
            if blocks:
                state.blocking[place] = slot
            else:
                state.before[slot] = state.latest[place]
                state.latest[place] = slot
        elif kind != _COMPLETE and kind != _CANCELLED:
            if not (known and state.last_in_flight[place]):
                if shared[location]:
                    waiting[others] = event
                    others += 1
                else:
                    state.counts[UNMATCHED_STEPS] += 1
        else:
            slot = state.blocking[place] if known else _NONE
            if slot != _NONE:
                state.blocking[place] = _NONE
                state.last_in_flight[place] = False
            elif shared[location]:
                waiting[others] = event
                others += 1
                continue
            elif known:
                slot = state.latest[place]
                state.latest[place] = state.before[slot]
                # The one that ends is the last begun unless another began and ended since.
                state.last_in_flight[place] = False
            else:
                state.counts[UNMATCHED_ENDS] += 1
                continue
            moved, status = (columns.value[event], _DONE) if kind == _COMPLETE else (_UNKNOWN, _STOPPED)
            _put(state, slot, handle, columns.time[event], moved, status, found, row)
            row += 1
            if state.blocking[place] == _NONE and state.latest[place] == _NONE:
                _forget(state, place)
    return row, others, last


@compiled_uncounted
def move_operations(old: OpenOperations, new: OpenOperations) -> None:
    """Move all that is in flight to a larger, fresh state."""
    new.counts[LOCATION] = old.counts[LOCATION]
    new.counts[UNMATCHED_ENDS] = old.counts[UNMATCHED_ENDS]
    new.counts[UNMATCHED_STEPS] = old.counts[UNMATCHED_STEPS]
    # Slots keep their numbers; those that the larger state has beyond them, and the free ones, are free there. Slices
    # would take memory, without which these loops are compiled.
    size = len(old.begin)
    for slot in range(size):
        new.begin[slot], new.requested[slot] = old.begin[slot], old.requested[slot]
        new.mode[slot], new.before[slot] = old.mode[slot], old.before[slot]
    free = old.counts[FREE_SLOTS]
    new.counts[FREE_SLOTS] = size
    for _ in range(size - old.counts[OPERATIONS]):
        following = old.before[free]
        new.before[free] = new.counts[FREE_SLOTS]
        new.counts[FREE_SLOTS] = free
        free = following
    new.counts[OPERATIONS] = old.counts[OPERATIONS]
    for place in range(len(old.used)):
        if old.used[place]:
            handle, matching = old.key_handle[place], old.key_matching[place]
            target = _place_of(new, handle, matching)
            new.used[target] = True
            new.key_handle[target] = handle
            new.key_matching[target] = matching
            new.blocking[target] = old.blocking[place]
            new.latest[target] = old.latest[place]
            new.last_in_flight[target] = old.last_in_flight[place]
