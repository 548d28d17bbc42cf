"""The compiled walks over the program's own calls.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Ints, Links, Mask, Octets, Ticks, Unsigned
from ...model.codes import UNDEFINED_TIME, IoFlag, IoMode, Status
from ...model.kernels import compiled, compiled_uncounted, hashed, inlined
from ..summary.kernels import is_within, moved_within

_FLUSH: Final = np.int64(IoMode.FLUSH)
_COLLECTIVE: Final = np.uint32(IoFlag.COLLECTIVE)
_NEVER: Final = int(Status.NEVER_COMPLETED)
_COMPLETE: Final = int(Status.COMPLETE)
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_BASE: Final = np.uint64(0xD1342543DE82EF95)
"""Of the polynomials that stand for sequences of calls."""
_OPERATIONS, _HIDDEN, _WHOLE, _PART, _FIRST, _LAST, _TICKS, _TOGETHER, _BEGINS = range(9)
"""Columns of the amounts of `Caused`."""


class CallColumns(NamedTuple):
    """Columns of operations as in `Operations`, with the `parent` of each, shape (n,)."""

    location: Links
    process: Links
    handle: Links
    mode: Octets
    flags: Codes
    status: Octets
    begin: Ticks
    end: Ticks
    requested: Unsigned
    moved: Unsigned
    parent: Ints


class HandleColumns(NamedTuple):
    """What calls through a handle are, shape (handles,)."""

    layer: Links
    """Counted from the highest, −1 where the handle is not selected or its layer not known."""
    code: Links
    """See `StepCode`; of a read that is not collective."""
    own: Mask
    """Whether no higher layer made it."""
    lineage: Links
    """See `Lineages`."""
    file: Links
    kind: Links
    """Of its file, −1 where it has none."""


class EventColumns(NamedTuple):
    """Metadata events that are steps, in the order of their times, shape (m,)."""

    time: Ticks
    key: Ints
    code: Links
    file: Links


class Edges(NamedTuple):
    """A window; see `TickWindow`."""

    start: int
    stop: int
    closed: bool


@inlined
def _end(calls: CallColumns, row: int, edges: Edges) -> Any:
    """Return the end of an operation, as `TickWindow.ends`."""
    end = edges.stop if calls.end[row] == UNDEFINED_TIME else calls.end[row]
    return max(end, calls.begin[row])


class Keys(NamedTuple):
    """Numbers by which keys go as they first occur, with room for some."""

    table: Ints
    """Places of keys by open addresses, −1 for none, a power of two; int64 (2 n,)."""
    key: Ints
    """int64 (n,)"""
    recent: Ints
    """Places of keys that are found without a look into the table, as the same ones come again and again."""


@compiled_uncounted
def own_calls(
    chosen: Ints,
    calls: CallColumns,
    handles: HandleColumns,
    events: EventColumns,
    kinds: int,
    edges: Edges,
    keys: Keys,
    rows: Ints,
    number: Ints,
) -> tuple[int, int]:
    """Find what the program itself called within a window, in the order of begins.

    Parameters
    ----------
    chosen : int64 (m,)
        Rows of the operations that are looked at.
    keys : Keys
        Gets the threads and kinds of files, ``location * kinds + kind``.
    rows : int64 (m + events,)
        Gets the row of the operation of each; of an event ``-1 - event``.
    number : int64 (m + events,)
        Gets the place of the key of each.

    Returns
    -------
    count, known : int
        How many these are, and their keys, −1 where there was no room for them.
    """
    keys.table[:], keys.recent[:] = -1, 0
    count, known, event, place = 0, 0, 0, 0
    while place < chosen.size or event < events.time.size:
        row = np.int64(-1)
        while place < chosen.size:
            if _is_own(chosen[place], calls, handles, edges):
                row = chosen[place]
                break
            place += 1
        if event < events.time.size and (row < 0 or events.time[event] < calls.begin[row]):
            row, key = np.int64(-1 - event), events.key[event]
            event += 1
        elif row < 0:
            break
        else:
            key = np.int64(calls.location[row]) * kinds + handles.kind[calls.handle[row]]
            place += 1
        cell = key & (keys.recent.size - 1)
        if keys.recent[cell] >= known or keys.key[keys.recent[cell]] != key:
            if known == keys.key.size:
                return count, -1
            keys.recent[cell], known = _place_of(keys, known, key)
        rows[count], number[count] = row, keys.recent[cell]
        count += 1
    return count, known


@inlined
def _is_own(row: int, calls: CallColumns, handles: HandleColumns, edges: Edges) -> bool:
    handle = calls.handle[row]
    if handle < 0 or calls.parent[row] >= 0 or not handles.own[handle]:
        return False
    if handles.layer[handle] < 0 or handles.kind[handle] < 0:
        return False
    return is_within(calls.begin[row], _end(calls, row, edges), edges.start, edges.stop, edges.closed)


@inlined
def _place_of(keys: Keys, count: int, key: Any) -> Any:
    """Return the place of a key among so many, behind which it is put if it is not there, and how many there are."""
    mask = np.int64(keys.table.size - 1)
    slot = np.int64(hashed(np.uint64(key), _SEED)) & mask
    while keys.table[slot] >= 0 and keys.key[keys.table[slot]] != key:
        slot = (slot + 1) & mask
    if keys.table[slot] < 0:
        keys.key[count], keys.table[slot] = key, count
        count += 1
    return keys.table[slot], count


class StepColumns(NamedTuple):
    """Steps by key and then in the order of their begins, shape (n,); see `Steps`."""

    code: Links
    size: Ints
    file: Links
    fresh: Mask
    gap: Ticks
    begin: Ticks
    end: Ticks


@compiled
def steps_of_calls(
    row: Ints,
    number: Ints,
    start: Ints,
    calls: CallColumns,
    handles: HandleColumns,
    events: EventColumns,
    edges: Edges,
    latest: Ticks,
    file: Ints,
) -> StepColumns:
    """Return the program's own calls as steps.

    Parameters
    ----------
    row, number : int64 (n,)
        As `own_calls` gives them.
    start : int64 (keys+1,)
        Where the steps of each key begin.
    latest, file : int64 (keys,)
        The latest end of each key so far, the least number where there is none, and the file of its last step; both
        are brought up to date.
    """
    count = row.size
    code, files, fresh = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.bool_)
    size, gap = np.empty(count, np.int64), np.empty(count, np.int64)
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    none, behind = np.iinfo(np.int64).min, start.copy()
    # In the order of calls, as memory is read faster from begin to end.
    for call in range(count):
        one, key = row[call], number[call]
        place, last, before = behind[key], latest[key], file[key]
        if one >= 0:
            handle = calls.handle[one]
            begin, end, here = calls.begin[one], _end(calls, one, edges), handles.file[handle]
            kind = min(np.int64(calls.mode[one]), _FLUSH)
            together = np.int64((calls.flags[one] & _COLLECTIVE) != 0)
            what = np.int64(handles.code[handle]) + 2 * kind + together
            asked = np.int64(calls.requested[one])
            moved = np.int64(calls.moved[one]) if asked == -1 else asked
        else:
            event = -1 - one
            begin = end = events.time[event]
            what, here, moved = np.int64(events.code[event]), events.file[event], np.int64(-1)
        code[place], size[place], files[place], fresh[place] = what, moved, here, here != before
        gap[place] = begin - last if last != none and begin > last else 0
        begins[place], ends[place] = begin, end
        latest[key], file[key], behind[key] = max(last, end), here, place + 1
    return StepColumns(code, size, files, fresh, gap, begins, ends)


@compiled
def units_of(code: Links, size: Ints) -> Ints:
    """Return a number for each call that calls of the same code and size share."""
    unit = np.empty(code.size, np.int64)
    for row in range(code.size):
        unit[row] = hashed(np.uint64(code[row]), _SEED) ^ hashed(np.uint64(size[row]), ~_SEED)
    return unit


class StepTable(NamedTuple):
    """Columns of `Steps`; `calls` is how many of them."""

    code: Links
    content: Ints
    unit: Ints
    times: Ints
    calls: Ints
    low: Ints
    high: Ints
    total: Ints
    file: Links
    fresh: Mask
    gap: Ticks
    begin: Ticks
    end: Ticks


@inlined
def _power(exponent: int) -> Any:
    """Return a power of `_BASE`."""
    result, base = np.uint64(1), _BASE
    while exponent > 0:
        if exponent & 1:
            result *= base
        base *= base
        exponent >>= 1
    return result


@compiled
def joined_steps(keep: Mask, steps: StepTable) -> StepTable:
    """Return steps with each one that is not kept joined to the one before; the first is kept.

    The content of those that are joined is the polynomial of the calls' numbers, whatever of them was one step before.
    """
    start = np.flatnonzero(keep)
    code, content, unit, times = steps.code[start], steps.content[start], steps.unit[start], steps.times[start]
    count, low, high, total = steps.calls[start], steps.low[start], steps.high[start], steps.total[start]
    end, fresh = steps.end[start], steps.fresh[start]
    for place in range(start.size):
        behind = start[place + 1] if place + 1 < start.size else keep.size
        if behind - start[place] < 2:
            continue
        whole, alike = np.uint64(content[place] if content[place] else unit[place]), True
        low[place], high[place], total[place] = max(low[place], 0), max(high[place], 0), max(total[place], 0)
        for row in range(start[place] + 1, behind):
            part = np.uint64(steps.content[row] if steps.content[row] else steps.unit[row])
            whole = whole * (_BASE if steps.calls[row] == 1 else _power(steps.calls[row])) + part
            alike &= steps.unit[row] == unit[place]
            times[place] += steps.times[row]
            count[place] += steps.calls[row]
            low[place] += max(steps.low[row], 0)
            high[place] += max(steps.high[row], 0)
            total[place] += max(steps.total[row], 0)
            end[place] = max(end[place], steps.end[row])
            fresh[place] |= steps.fresh[row]
        content[place] = np.int64(whole)
        if not alike:
            unit[place], times[place] = content[place], 1
    others = steps.file[start], fresh, steps.gap[start], steps.begin[start], end
    return StepTable(code, content, unit, times, count, low, high, total, *others)


@compiled
def joined_calls(keep: Mask, unit: Ints, calls: StepColumns, codes: int, kinds: Any) -> StepTable:
    """Return calls as steps, each one that is not kept joined to the one before, as `joined_steps`; the first is kept.

    The calls of each kind in each are added to `kinds`, uint32 (steps, kinds), where there are `codes` of kinds.
    """
    start = np.flatnonzero(keep)
    first, fresh, end = unit[start], calls.fresh[start], calls.end[start]
    content, times, count = np.zeros(start.size, np.int64), np.ones(start.size, np.int64), np.ones(start.size, np.int64)
    low = calls.size[start]
    for place in range(start.size):
        behind = start[place + 1] if place + 1 < start.size else keep.size
        row = start[place]
        kinds[place, calls.code[row] // 2 % codes] += np.uint32(1)
        if behind - row < 2:
            continue
        whole, alike, total, until = np.uint64(unit[row]), True, max(calls.size[row], 0), end[place]
        for row in range(start[place] + 1, behind):
            whole = whole * _BASE + np.uint64(unit[row])
            alike &= unit[row] == unit[row - 1]
            total += max(calls.size[row], 0)
            until = max(until, calls.end[row])
            fresh[place] |= calls.fresh[row]
            kinds[place, calls.code[row] // 2 % codes] += np.uint32(1)
        content[place], count[place], low[place], end[place] = np.int64(whole), behind - start[place], total, until
        if alike:
            times[place] = count[place]
        else:
            first[place] = content[place]
    others = calls.file[start], fresh, calls.gap[start], calls.begin[start], end
    return StepTable(calls.code[start], content, first, times, count, low, low.copy(), low.copy(), *others)


@inlined
def _sum_up(unit: Ints, before: Unsigned) -> None:
    """Put the polynomials of all calls before each and of all of them into `before`."""
    for row in range(unit.size):
        before[row + 1] = before[row] * _BASE + np.uint64(unit[row])


@compiled
def parts_of(unit: Ints, known: int, anchor: int, length: int, content: int) -> Mask:
    """Return where what is repeated begins, and each step that follows it and is none of it; see `Body`.

    The first steps are `known` to begin.
    """
    starts = np.zeros(unit.size, np.bool_)
    starts[:known] = True
    before, shift = np.zeros(unit.size + 1, np.uint64), _power(length)
    _sum_up(unit, before)
    since, usual = np.int64(0), False
    for row in range(known, unit.size):
        since += 1
        if unit[row] == anchor and (row == known or unit[row - 1] != anchor):
            starts[row], since = True, np.int64(0)
            usual = row + length <= unit.size and before[row + length] - before[row] * shift == np.uint64(content)
        elif usual and since >= length:
            # What begins as usual and goes on is that, and single steps.
            starts[row] = True
    return starts


@compiled
def contents_of(unit: Ints, first: Ints, behind: Ints) -> Ints:
    """Return numbers that stand for the calls from one place to another."""
    before = np.zeros(unit.size + 1, np.uint64)
    _sum_up(unit, before)
    content = np.empty(first.size, np.int64)
    for part in range(first.size):
        shift = _power(behind[part] - first[part])
        content[part] = np.int64(before[behind[part]] - before[first[part]] * shift)
    return content


class SpanColumns(NamedTuple):
    """Iterations of all keys by the number of the program's own call there, in the order of keys and calls."""

    first: Ints
    """Call with which each begins, int64 (n,)."""
    behind: Ints
    """The first call behind each."""
    place: Ints
    """Number of each among the iterations of all loops."""


@compiled
def iterations_of_calls(number: Ints, before: Ints, span: Ints, until: Ints, spans: SpanColumns) -> Ints:
    """Return the iteration of each own call, −1 where it is in none.

    Parameters
    ----------
    number : int64 (n,)
        Of the key of each call.
    before : int64 (keys,)
        Calls of each key so far, which are brought up to date.
    span, until : int64 (keys,)
        Where the spans of each key begin and end.
    """
    found = np.full(number.size, -1, np.int64)
    for row in range(number.size):
        key = number[row]
        call = before[key]
        before[key] += 1
        while span[key] < until[key] and spans.behind[span[key]] <= call:
            span[key] += 1
        if span[key] < until[key] and spans.first[span[key]] <= call:
            found[row] = spans.place[span[key]]
    return found


class TimeColumns(NamedTuple):
    """When iterations on files of a kind begin, in the order of kinds and times, for what no call caused."""

    start: Ints
    """Where those of each kind begin, int64 (kinds+1,)."""
    begin: Ticks
    """int64 (n,)"""
    place: Ints
    """Number of the iteration, −1 behind the last of a loop."""


class Groups(NamedTuple):
    """What operations of all layers add to iterations; places of those that have no amounts are those of unions.

    A key is the iteration, counted from 1 on, 0 for none, lineage, mode and process, counted from 0 for none, in one
    number; that of a union is ``-1 - (iteration * layers + layer)``.
    """

    keys: Keys
    amounts: Any
    """By place: operations, hidden ones, whole bytes, parts of them, the first begin, the last end, ticks, collective
    operations and the sum of their begins, which may run over; int64 (n, 9)."""
    union: Ints
    """Place of the union of each, −1 for none, int64 (n,)."""
    last: Ints
    """Number of the last stretch of a union, −1 for none, int64 (n,)."""


class Stretches(NamedTuple):
    """When operations were under way: by place of a union, in the order of begins; shape (n,)."""

    union: Ints
    begin: Ticks
    end: Ticks


class Sizes(NamedTuple):
    """How many numbers there are of what a key is made of."""

    lineages: int
    modes: int
    processes: int
    layers: int


@compiled_uncounted
def caused_by(
    chosen: Ints,
    own: Ints,
    of_call: Ints,
    of_row: Links,
    told: Links,
    calls: CallColumns,
    handles: HandleColumns,
    times: TimeColumns,
    edges: Edges,
    sizes: Sizes,
    shift: int,
    groups: Groups,
    found: Stretches,
) -> tuple[int, int]:
    """Add up the selected operations within a window by the iteration of the own call that caused them.

    Parameters
    ----------
    chosen : int64 (m,)
        Rows of the operations that are looked at.
    own, of_call : int64 (n,)
        Rows of those that are the program's own calls, in the same order, and the iteration of each; events between.
    of_row : int32 (operations,)
        Iteration of each operation; known of those that were looked at before, which may have caused others.
    told : int32 (m,)
        Gets the iteration of each operation that adds to one, if it is not empty.
    shift : int
        Begins of stretches are rounded down and ends up to multiples of ``2^shift``.

    Returns
    -------
    known, count : int
        How many groups there are, −1 where there was no room for them, and how many stretches.
    """
    keys, union, last = groups.keys, groups.union, groups.last
    keys.table[:], keys.recent[:] = -1, 0
    known, call, count = 0, 0, 0
    for place in range(chosen.size):
        row = chosen[place]
        parent, handle = calls.parent[row], calls.handle[row]
        while call < own.size and own[call] < 0:
            call += 1
        # An operation begins after the one that caused it.
        iteration = np.int64(of_row[parent]) if parent >= 0 else np.int64(-1)
        if call < own.size and own[call] == row:
            iteration, call = of_call[call], call + 1
        of_row[row] = iteration
        if handle < 0 or handles.layer[handle] < 0:
            continue
        begin, end = calls.begin[row], _end(calls, row, edges)
        if not is_within(begin, end, edges.start, edges.stop, edges.closed):
            continue
        hidden = parent < 0 and not handles.own[handle]
        if hidden:
            iteration = _at_time(handles.kind[handle], begin, times)
        if told.size:
            told[place] = iteration
        lineage, mode, process = np.int64(handles.lineage[handle]), np.int64(calls.mode[row]), calls.process[row] + 1
        key = (((iteration + 1) * sizes.lineages + lineage) * sizes.modes + mode) * sizes.processes + process
        cell = (process + 61 * lineage + 7 * mode) & (keys.recent.size - 1)
        one = keys.recent[cell]
        if one >= known or keys.key[one] != key:
            if known + 2 > keys.key.size:
                return -1, count
            one, known = _group_of(groups, known, key, iteration * sizes.layers + handles.layer[handle])
            keys.recent[cell] = one
        first, until = max(begin, edges.start), min(end, edges.stop)
        _add_to(groups.amounts, one, hidden, calls, row, first, until, end - begin)
        if calls.status[row] != _NEVER and union[one] >= 0 and until > first:
            count = _joined(found, last, count, union[one], _rounded(first, until, shift))
    return known, count


@inlined
def _group_of(groups: Groups, known: int, key: Any, union: Any) -> Any:
    """Return the place of a group, which may be new, and how many there are; `union` is negative for none."""
    before = known
    one, known = _place_of(groups.keys, known, key)
    if known > before:
        groups.amounts[one] = 0
        groups.amounts[one, _FIRST], groups.amounts[one, _LAST] = np.iinfo(np.int64).max, np.iinfo(np.int64).min
        groups.union[one] = -1
        if union >= 0:
            before = known
            groups.union[one], known = _place_of(groups.keys, known, -1 - union)
            if known > before:
                groups.last[groups.union[one]] = -1
    return one, known


@inlined
def _add_to(
    amounts: Any, one: int, hidden: bool, calls: CallColumns, row: int, first: int, until: int, length: int
) -> None:
    """Add an operation, of which a part lies within the window."""
    known = calls.status[row] == _COMPLETE and np.int64(calls.moved[row]) != -1
    _, whole, part, _ = moved_within(np.int64(calls.moved[row]) if known else np.int64(0), until - first, length)
    until = first if calls.status[row] == _NEVER else until
    amounts[one, _OPERATIONS] += 1
    amounts[one, _HIDDEN] += hidden
    amounts[one, _WHOLE] += whole
    amounts[one, _PART] += part
    amounts[one, _FIRST] = min(amounts[one, _FIRST], first)
    amounts[one, _LAST] = max(amounts[one, _LAST], until)
    amounts[one, _TICKS] += until - first
    if (calls.flags[row] & _COLLECTIVE) != 0:
        amounts[one, _TOGETHER] += 1
        amounts[one, _BEGINS] += first


@inlined
def _at_time(kind: int, time: int, times: TimeColumns) -> Any:
    """Return the iteration in whose time something begins, among those on files of its kind."""
    if kind < 0:
        return np.int64(-1)
    low, high = times.start[kind], times.start[kind + 1]
    first = low
    while low < high:
        middle = (low + high) // 2
        if times.begin[middle] <= time:
            low = middle + 1
        else:
            high = middle
    return times.place[low - 1] if low > first else np.int64(-1)


@compiled_uncounted
def coarser(found: Stretches, last: Ints, count: int, most: int, shift: int) -> tuple[int, int]:
    """Round stretches to multiples of ``2^shift`` until there are no more than `most` beyond the first of each union.

    Returns how many there are, and the shift.
    """
    while True:
        first = 0
        for union in range(last.size):
            first += last[union] >= 0
        if count - first <= most:
            return count, shift
        shift += 1
        rows, count = count, 0
        last[:] = -1
        for row in range(rows):
            times = _rounded(found.begin[row], found.end[row], shift)
            count = _joined(found, last, count, found.union[row], times)


@inlined
def _rounded(begin: int, end: int, shift: int) -> Any:
    return begin >> shift << shift, -(-end >> shift << shift)


@inlined
def _joined(found: Stretches, last: Ints, count: int, union: int, times: tuple[int, int]) -> Any:
    """Put an interval behind the others of its union, or join it to the last one; return how many there are."""
    place = last[union]
    if place >= 0 and times[0] <= found.end[place]:
        found.end[place] = max(found.end[place], times[1])
        return count
    found.union[count], found.begin[count], found.end[count] = union, times[0], times[1]
    last[union] = count
    return count + 1
