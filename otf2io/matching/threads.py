"""Matching of events that a location cannot decide alone: non-blocking operations of processes with several locations.

The rules are those of `iostrata.otf2io.matching.kernel`.
"""

import numpy as np

from ...model.arrays import Ints, Links, Mask, Rows
from ...model.definitions import Definitions
from ...model.kernels import compiled_uncounted, inlined
from ...model.operations import Operations
from .kernel import BEGIN, CANCELLED, COMPLETE, NONE, WaitingEvents, end_operation, note_step


def match_threads(waiting: WaitingEvents, definitions: Definitions, found: Operations, rows: int) -> int:
    """Match the events that waited, now that those of all locations of their processes are there.

    Parameters
    ----------
    found : Operations
        The first `rows` are filled, and get ends, issued times and tests.

    Returns
    -------
    int
        Events without a partner.
    """
    key = _keys(waiting, definitions)
    identity = definitions.locations.id[waiting.location]
    begins = waiting.kind == BEGIN
    ends = (waiting.kind == COMPLETE) | (waiting.kind == CANCELLED)
    row = np.arange(len(key))

    rest = np.flatnonzero(begins | ends)
    # Where one location decides, the order of its file does; time stamps may be equal or run backwards.
    alone = _of_one_location(key[rest], waiting.location[rest])
    time = np.where(alone, 0, waiting.time[rest])
    rest = rest[np.lexsort((rest, identity[rest], ends[rest] & ~alone, time, key[rest]))]
    end_of = np.full(len(key), NONE, np.int64)
    unmatched = _pair_ends(rest, key, waiting, found, end_of, np.empty(len(key), np.int64))

    begin_at = np.full(rows, NONE, np.int32)
    begin_at[waiting.row[begins]] = row[begins]
    rest = np.flatnonzero(~ends)
    rest = rest[np.lexsort((rest, identity[rest], ~begins[rest], waiting.time[rest], key[rest]))]
    return unmatched + _pair_steps(rest, key, waiting, found, end_of, begin_at)


def _keys(waiting: WaitingEvents, definitions: Definitions) -> Ints:
    """Number the keys (process, handle id, matching id) from 0."""
    process = definitions.locations.group[waiting.location].astype(np.uint64)
    owner = (process << np.uint64(32)) | waiting.handle
    order = np.lexsort((waiting.matching, owner))
    differs = (np.diff(owner[order]) != 0) | (np.diff(waiting.matching[order]) != 0)
    key = np.empty(len(order), np.int64)
    key[order] = np.concatenate(([0], np.cumsum(differs)))
    return key


def _of_one_location(key: Ints, location: Links) -> Mask:
    """Return whether all rows of a row's key are of one location, bool (n,)."""
    count = int(key.max(initial=-1)) + 1
    low, high = np.full(count, np.iinfo(np.int32).max, np.int32), np.full(count, NONE, np.int32)
    np.minimum.at(low, key, location)
    np.maximum.at(high, key, location)
    return np.asarray((low == high)[key], np.bool_)


@compiled_uncounted
def _pair_ends(order: Rows, key: Ints, waiting: WaitingEvents, found: Operations, end_of: Ints, before: Ints) -> int:
    """Let each end take the latest open begin of its key; return how many found none."""
    unmatched = 0
    current = top = NONE
    for row in order:
        if key[row] != current:
            current, top = key[row], NONE
        if waiting.kind[row] == BEGIN:
            before[row] = top
            top = row
        elif top == NONE:
            unmatched += 1
        else:
            end_of[top] = row
            end_operation(
                found, waiting.row[top], waiting.location[row], waiting.kind[row], waiting.time[row], waiting.value[row]
            )
            top = before[top]
    return unmatched


@inlined
def _in_flight(begin: int, step: int, waiting: WaitingEvents, end_of: Ints) -> bool:
    end = end_of[begin]
    if end == NONE:
        return True
    if waiting.location[end] == waiting.location[step]:
        return bool(end > step)
    return bool(waiting.time[end] >= waiting.time[step])


@compiled_uncounted
def _pair_steps(
    order: Rows, key: Ints, waiting: WaitingEvents, found: Operations, end_of: Ints, begin_at: Links
) -> int:
    """Note issued and test events at their operations; return how many have none.

    Parameters
    ----------
    order : intp (n,)
        Rows of begins and steps by key and time.
    begin_at : int32 (rows,)
        Where each operation begins among the events that wait, −1 where it does not.
    """
    unmatched = 0
    # The last begin so far, and the last one on another location than that.
    current = latest = other = NONE
    for row in order:
        if key[row] != current:
            current = key[row]
            latest = other = NONE
        if waiting.kind[row] == BEGIN:
            if latest != NONE and waiting.location[latest] != waiting.location[row]:
                other = latest
            latest = row
            continue
        begin = begin_at[waiting.row[row]] if waiting.row[row] != NONE else NONE
        if begin == NONE or not _in_flight(begin, row, waiting, end_of):
            begin = latest
            if latest != NONE and waiting.location[latest] == waiting.location[row]:
                begin = other
        if begin != NONE and _in_flight(begin, row, waiting, end_of):
            note_step(found, waiting.row[begin], waiting.kind[row], waiting.time[row])
        else:
            unmatched += 1
    return unmatched
