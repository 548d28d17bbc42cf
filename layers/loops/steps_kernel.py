"""The compiled walks over the program's own calls.

Numba may have to compile it: import it inside the function that uses it.
"""

from typing import Any, Final, NamedTuple

import numpy as np

from ...model.arrays import Codes, Ints, Links, Mask, Octets, Ticks, Unsigned
from ...model.codes import UNDEFINED_TIME, IoFlag, IoMode, Status
from ...model.kernels import compiled, hashed, inlined
from ..summary.kernels import is_within, moved_within

_FLUSH: Final = np.int64(IoMode.FLUSH)
_COLLECTIVE: Final = np.uint32(IoFlag.COLLECTIVE)
_NEVER: Final = int(Status.NEVER_COMPLETED)
_COMPLETE: Final = int(Status.COMPLETE)
_SEED: Final = np.uint64(0x9E3779B97F4A7C15)
_BASE: Final = np.uint64(0xD1342543DE82EF95)
"""Of the polynomials that stand for sequences of calls."""


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


@compiled
def own_calls(
    chosen: Ints, calls: CallColumns, handles: HandleColumns, events: EventColumns, kinds: int, edges: Edges
) -> tuple[Ints, Ints]:
    """Return what the program itself called within a window, in the order of begins.

    Parameters
    ----------
    chosen : int64 (m,)
        Rows of the operations that are looked at.

    Returns
    -------
    row : int64 (n,)
        Of the operation; of an event ``-1 - event``.
    key : int64 (n,)
        Thread and kind of file: ``location * kinds + kind``.
    """
    rows = np.empty(chosen.size + events.time.size, np.int64)
    keys = np.empty(rows.size, np.int64)
    count, event = 0, 0
    for row in chosen:
        handle = calls.handle[row]
        if handle < 0 or calls.parent[row] >= 0 or not handles.own[handle]:
            continue
        if handles.layer[handle] < 0 or handles.kind[handle] < 0:
            continue
        begin = calls.begin[row]
        if not is_within(begin, _end(calls, row, edges), edges.start, edges.stop, edges.closed):
            continue
        while event < events.time.size and events.time[event] < begin:
            rows[count], keys[count] = -1 - event, events.key[event]
            count, event = count + 1, event + 1
        rows[count], keys[count] = row, np.int64(calls.location[row]) * kinds + handles.kind[handle]
        count += 1
    while event < events.time.size:
        rows[count], keys[count] = -1 - event, events.key[event]
        count, event = count + 1, event + 1
    return rows[:count], keys[:count]


@compiled
def grouped(key: Ints) -> tuple[Ints, Ints]:
    """Number rows by their keys as they first occur: the number of each row, −1 for a negative key, and all keys."""
    number = np.empty(key.size, np.int64)
    table = np.full(64, -1, np.int64)
    keys = np.empty(32, np.int64)
    # Mostly a key is one of the last two, as an operation makes one of a lower layer.
    count, latest, other = 0, -1, -1
    for row in range(key.size):
        one = key[row]
        if one < 0:
            number[row] = -1
            continue
        if other >= 0 and keys[other] == one:
            latest, other = other, latest
        if latest >= 0 and keys[latest] == one:
            number[row] = latest
            continue
        if count == keys.size:
            keys = np.append(keys, np.empty(count, np.int64))
            table = np.full(4 * count, -1, np.int64)
            for known in range(count):
                table[_slot(table, keys, keys[known])] = known
        slot = _slot(table, keys, one)
        if table[slot] < 0:
            keys[count] = one
            table[slot] = count
            count += 1
        latest, other = table[slot], latest
        number[row] = latest
    return number, keys[:count].copy()


@inlined
def _slot(table: Ints, keys: Ints, key: np.int64) -> Any:
    """Return the place of a key in a table of open addresses, or that where it belongs."""
    mask = np.int64(table.size - 1)
    slot = np.int64(hashed(np.uint64(key), _SEED)) & mask
    while table[slot] >= 0 and keys[table[slot]] != key:
        slot = (slot + 1) & mask
    return slot


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
    order: Ints,
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
    row : int64 (n,)
        As `own_calls` gives them.
    order : int64 (n,)
        Places of these, those of each key together.
    start : int64 (keys+1,)
        Where those of each key begin.
    latest, file : int64 (keys,)
        The latest end of each key so far, the least number where there is none, and the file of its last step; both
        are brought up to date.
    """
    count = order.size
    code, files, fresh = np.empty(count, np.int32), np.empty(count, np.int32), np.empty(count, np.bool_)
    size, gap = np.empty(count, np.int64), np.empty(count, np.int64)
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    none = np.iinfo(np.int64).min
    for key in range(start.size - 1):
        last, before = latest[key], file[key]
        for place in range(start[key], start[key + 1]):
            one = row[order[place]]
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
            last, before = max(last, end), here
        latest[key], file[key] = last, before
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


class Caused(NamedTuple):
    """What operations of all layers add to iterations, shape (n,)."""

    key: Ints
    """Iteration, counted from 1 on, 0 for none, layer, mode and process, counted from 0 for none, in one number."""
    row: Ints
    hidden: Mask
    together: Mask
    """Collective ones."""
    whole: Ints
    part: Ints
    begin: Ticks
    end: Ticks


class Sizes(NamedTuple):
    """How many numbers there are of what a key is made of."""

    lineages: int
    modes: int
    processes: int


@compiled
def caused_by(
    chosen: Ints,
    own: Ints,
    of_call: Ints,
    of_row: Ints,
    calls: CallColumns,
    handles: HandleColumns,
    times: TimeColumns,
    edges: Edges,
    sizes: Sizes,
) -> Caused:
    """Return the selected operations within a window, each with the iteration of the own call that caused it.

    Parameters
    ----------
    chosen : int64 (m,)
        Rows of the operations that are looked at.
    own, of_call : int64 (n,)
        Rows of those that are the program's own calls, in the same order, and the iteration of each; events between.
    of_row : int64 (operations,)
        Iteration of each operation; known of those that were looked at before, which may have caused others.
    """
    count = chosen.size
    keys, rows, hidden = np.empty(count, np.int64), np.empty(count, np.int64), np.zeros(count, np.bool_)
    wholes, parts = np.empty(count, np.int64), np.empty(count, np.int64)
    begins, ends = np.empty(count, np.int64), np.empty(count, np.int64)
    together = np.empty(count, np.bool_)
    found, call = 0, 0
    for row in chosen:
        parent, handle = calls.parent[row], calls.handle[row]
        while call < own.size and own[call] < 0:
            call += 1
        # An operation begins after the one that caused it.
        iteration = of_row[parent] if parent >= 0 else np.int64(-1)
        if call < own.size and own[call] == row:
            iteration, call = of_call[call], call + 1
        of_row[row] = iteration
        if handle < 0 or handles.layer[handle] < 0:
            continue
        begin, end = calls.begin[row], _end(calls, row, edges)
        if not is_within(begin, end, edges.start, edges.stop, edges.closed):
            continue
        if parent < 0 and not handles.own[handle]:
            hidden[found], iteration = True, _at_time(handles.kind[handle], begin, times)
        key = ((iteration + 1) * sizes.lineages + handles.lineage[handle]) * sizes.modes + calls.mode[row]
        keys[found] = key * sizes.processes + calls.process[row] + 1
        rows[found], together[found] = row, (calls.flags[row] & _COLLECTIVE) != 0
        first, last = max(begin, edges.start), min(end, edges.stop)
        known = calls.status[row] == _COMPLETE and np.int64(calls.moved[row]) != -1
        moved = np.int64(calls.moved[row]) if known else np.int64(0)
        _, wholes[found], parts[found], _ = moved_within(moved, last - first, end - begin)
        begins[found], ends[found] = first, first if calls.status[row] == _NEVER else last
        found += 1
    amounts = wholes[:found], parts[:found], begins[:found], ends[:found]
    return Caused(keys[:found], rows[:found], hidden[:found], together[:found], *amounts)


@inlined
def _at_time(kind: int, time: int, times: TimeColumns) -> Any:
    """Return the iteration in whose time something begins, among those on files of its kind."""
    if kind < 0:
        return np.int64(-1)
    low, high = times.start[kind], times.start[kind + 1]
    at = low + np.searchsorted(times.begin[low:high], time, side="right") - 1
    return times.place[at] if at >= low else np.int64(-1)


@compiled
def stretches(
    group: Ints, union: Ints, unions: int, begin: Ticks, end: Ticks, shift: int, most: int
) -> tuple[Ints, Ticks, Ticks, int]:
    """Return intervals with those of a union that overlap or touch joined; they come in the order of their begins.

    `union` is that of each group, −1 for none. Begins are rounded down and ends up to multiples of ``2^shift``, whose
    shift grows until there are no more than that beyond the first of each union, and comes back.
    """
    last = np.full(unions, -1, np.int64)
    number, begins, ends = np.empty_like(group), np.empty_like(begin), np.empty_like(begin)
    count, known = 0, 0
    for row in range(group.size):
        one = union[group[row]]
        if one >= 0 and end[row] > begin[row]:
            known += last[one] < 0
            count = _joined(number, begins, ends, last, count, one, _rounded(begin[row], end[row], shift))
    while count - known > most:
        shift += 1
        rows, count = count, 0
        last[:] = -1
        for row in range(rows):
            count = _joined(number, begins, ends, last, count, number[row], _rounded(begins[row], ends[row], shift))
    return number[:count], begins[:count], ends[:count], shift


@inlined
def _rounded(begin: int, end: int, shift: int) -> Any:
    return begin >> shift << shift, -(-end >> shift << shift)


@inlined
def _joined(
    number: Ints, begins: Ticks, ends: Ticks, last: Ints, count: int, union: int, times: tuple[int, int]
) -> Any:
    """Put an interval behind the others of its union, or join it to the last one; return how many there are."""
    place = last[union]
    if place >= 0 and times[0] <= ends[place]:
        ends[place] = max(ends[place], times[1])
        return count
    number[count], begins[count], ends[count] = union, times[0], times[1]
    last[union] = count
    return count + 1


@compiled
def sums_of_groups(
    group: Ints, groups: int, what: Caused
) -> tuple[Ints, Ints, Ints, Ints, Ticks, Ticks, Ticks, Ints, Ticks]:
    """Return sums of each group.

    These are operations, hidden ones, whole bytes, parts of them, first begin, last end, durations, collective
    operations and the sum of their begins.
    """
    operations, hidden = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    whole, part, ticks = np.zeros(groups, np.int64), np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    begin, end = np.full(groups, np.iinfo(np.int64).max), np.full(groups, np.iinfo(np.int64).min)
    collective, begins = np.zeros(groups, np.int64), np.zeros(groups, np.int64)
    for row in range(group.size):
        one = group[row]
        operations[one] += 1
        hidden[one] += what.hidden[row]
        whole[one] += what.whole[row]
        part[one] += what.part[row]
        begin[one] = min(begin[one], what.begin[row])
        end[one] = max(end[one], what.end[row])
        ticks[one] += what.end[row] - what.begin[row]
        if what.together[row]:
            collective[one] += 1
            begins[one] += what.begin[row]
    return operations, hidden, whole, part, begin, end, ticks, collective, begins
