"""Matching of events into operations, against a slow matcher that follows the rules event by event."""

import itertools
from collections import defaultdict
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.arrays import RowsOfIds
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT32, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from iostrata.model.definitions import Definitions
from iostrata.model.events import IoEvents
from iostrata.model.stream.columns import CollectedOperations
from iostrata.model.stream.source import Tally
from iostrata.otf2io.matching import matcher as block_matcher
from iostrata.otf2io.matching.matcher import Matcher

BEGIN, TEST, ISSUED = IoRecord.OPERATION_BEGIN, IoRecord.OPERATION_TEST, IoRecord.OPERATION_ISSUED
COMPLETE, CANCELLED = IoRecord.OPERATION_COMPLETE, IoRecord.OPERATION_CANCELLED
NON_BLOCKING = IoFlag.NON_BLOCKING

Row = tuple[int, int, int, int, int, int]
"""Location row, kind, time, handle, matching id, flags."""


def events_of(rows: Sequence[Row]) -> IoEvents:
    """Make events; `value` numbers them so that each can be told from the others."""
    location, kind, time, handle, matching, flags = np.array(rows, np.int64).reshape(-1, 6).T
    count = len(location)
    return IoEvents(
        location.astype(np.int32),
        kind.astype(np.uint8),
        time,
        handle.astype(np.uint32),
        np.where(kind == BEGIN, 1, 0).astype(np.uint8),
        flags.astype(np.uint32),
        matching.astype(np.uint64),
        np.arange(1, count + 1, dtype=np.uint64),
        np.full(count, UNDEFINED_UINT64, np.uint64),
    )


def blocks_of(
    events: IoEvents, definitions: Definitions, sizes: Sequence[int] = (10**9,), most: int | None = None
) -> tuple[CollectedOperations, Tally]:
    """Match events as a source does, process by process, in batches of the given sizes over and over."""
    group = definitions.locations.group
    process = np.where(group >= 0, group, 1000 + np.arange(len(group)))
    shared = np.array([(process == one).sum() > 1 for one in process], np.bool_)
    matcher = Matcher(definitions, shared, RowsOfIds(definitions.handles.id), most)
    collected, tally = CollectedOperations(definitions), Tally()
    blocks: list[Any] = []
    lengths = itertools.cycle(sizes)
    for one in dict.fromkeys(process.tolist()):
        rows = np.flatnonzero(np.isin(events.location, np.flatnonzero(process == one)))
        while len(rows):
            size = next(lengths)
            blocks.extend(matcher.add(events.take(rows[:size]), bool(shared[process == one].any())))
            rows = rows[size:]
        blocks.extend(matcher.end_process())
    for block in [*blocks, matcher.end()]:
        assert (np.diff(block.operations.begin) >= 0).all()
        collected.add(block)
        tally.add(block)
    return collected, tally


def match_events(events: IoEvents, definitions: Definitions) -> Any:
    """Match all events at once; give the operations and how many events found none."""
    collected, tally = blocks_of(events, definitions)
    return SimpleNamespace(operations=collected.operations(), unmatched=tally.unmatched)


def slow_matching(rows: Sequence[Row], definitions: Definitions) -> tuple[list[dict[str, Any]], int]:
    """Follow the three rules of the kernel with lists and loops; return operations and events without a partner."""
    groups = definitions.locations.group.tolist()
    identities = definitions.locations.id.tolist()

    def key(row: int) -> tuple[Any, int, int]:
        location, _, _, handle, matching, _ = rows[row]
        process = groups[location] if groups[location] >= 0 else ("alone", location)
        return process, handle, matching

    def in_time(row: int) -> tuple[int, bool, int, int]:
        location, kind, time, *_ = rows[row]
        return time, kind != BEGIN, identities[location], row

    operational = [row for row in range(len(rows)) if BEGIN <= rows[row][1] <= CANCELLED]
    begins = [row for row in operational if rows[row][1] == BEGIN]
    ends = [row for row in operational if rows[row][1] in (COMPLETE, CANCELLED)]
    end_of: dict[int, int] = {}
    taken: set[int] = set()

    called: dict[Any, int | None] = {}
    for row in operational:
        place = (rows[row][0], key(row))
        if row in begins:
            called[place] = None if rows[row][5] & NON_BLOCKING else row
        elif row in ends:
            begin = called.pop(place, None)
            if begin is not None:
                end_of[begin] = row
                taken.add(row)
    anywhere: dict[Any, list[int]] = defaultdict(list)
    non_blocking = {row for row in begins if rows[row][5] & NON_BLOCKING}
    rest = [*non_blocking, *(set(ends) - taken)]
    of_one_location = {found for found in map(key, rest) if len({rows[r][0] for r in rest if key(r) == found}) == 1}
    first, second = sorted(rest, key=in_time), sorted(r for r in rest if key(r) in of_one_location)
    for row in [*second, *(r for r in first if key(r) not in of_one_location)]:
        if row in begins:
            anywhere[key(row)].append(row)
        elif anywhere[key(row)]:
            end_of[anywhere[key(row)].pop()] = row
            taken.add(row)

    def in_flight(begin: int, step: int) -> bool:
        end = end_of.get(begin)
        if end is None:
            return True
        return end > step if rows[end][0] == rows[step][0] else rows[end][2] >= rows[step][2]

    steps: dict[int, list[int]] = defaultdict(list)
    begun: dict[Any, list[int]] = defaultdict(list)
    for begin in begins:
        begun[key(begin)].append(begin)
    lost = len(ends) - len(taken)
    for row in operational:
        if rows[row][1] not in (TEST, ISSUED):
            continue
        same, place = begun[key(row)], rows[row][0]
        here = [b for b in same if rows[b][0] == place and b < row]
        elsewhere = [b for b in same if rows[b][0] != place and b in non_blocking and rows[b][2] <= rows[row][2]]
        found = [last for last in (here[-1:], sorted(elsewhere, key=in_time)[-1:]) if last and in_flight(last[0], row)]
        if found:
            steps[found[0][0]].append(row)
        else:
            lost += 1

    operations = []
    for begin in sorted(begins, key=lambda row: (rows[row][2], identities[rows[row][0]], row)):
        end = end_of.get(begin)
        issued = [rows[row][2] for row in steps[begin] if rows[row][1] == ISSUED]
        operations.append(
            {
                "begin_event": begin + 1,
                "begin": rows[begin][2],
                "end": UNDEFINED_TIME if end is None else max(rows[end][2], rows[begin][2]),
                "end_location": -1 if end is None else rows[end][0],
                "moved": UNDEFINED_UINT64 if end is None or rows[end][1] == CANCELLED else end + 1,
                "issued": max(min(issued), rows[begin][2]) if issued else UNDEFINED_TIME,
                "tests": sum(rows[row][1] == TEST for row in steps[begin]),
                "status": Status.NEVER_COMPLETED
                if end is None
                else (Status.COMPLETE if rows[end][1] == COMPLETE else Status.CANCELLED),
            }
        )
    return operations, lost


def as_dicts(operations: Any) -> list[dict[str, Any]]:
    """Turn operations into what `slow_matching` gives."""
    return [
        {
            "begin_event": int(operations.requested[i]),
            "begin": int(operations.begin[i]),
            "end": int(operations.end[i]),
            "end_location": int(operations.end_location[i]),
            "moved": int(operations.moved[i]),
            "issued": int(operations.issued[i]),
            "tests": int(operations.tests[i]),
            "status": int(operations.status[i]),
        }
        for i in range(len(operations))
    ]


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Row], list[int], list[int]]:
    """Threads of two processes or of none that use two handles and two matching ids, with many equal times."""
    threads = draw(st.integers(1, 4))
    identities = draw(st.permutations(range(threads)))
    groups = draw(st.lists(st.sampled_from([0, 0, 1, -1]), min_size=threads, max_size=threads))
    rows: list[Row] = []
    for location in range(threads):
        time = draw(st.integers(0, 3))
        for kind, step, handle, matching, flags in draw(
            st.lists(
                st.tuples(
                    st.sampled_from([BEGIN, BEGIN, BEGIN, COMPLETE, COMPLETE, CANCELLED, TEST, ISSUED, IoRecord.SEEK]),
                    st.sampled_from([0, 0, 1, 2, 3, -1]),
                    st.integers(0, 1),
                    st.sampled_from([1, 1, 2**62]),
                    st.sampled_from([0, NON_BLOCKING, IoFlag.COLLECTIVE, NON_BLOCKING | IoFlag.COLLECTIVE]),
                ),
                max_size=14,
            )
        ):
            time += step
            rows.append((location, int(kind), time, handle, matching, int(flags)))
    return rows, list(identities), groups


@given(stream=streams())
def test_equals_the_slow_matching(stream: Any, plain_definitions: Callable[..., Definitions]) -> None:
    rows, identities, groups = stream
    definitions = plain_definitions(identities, groups)
    found = match_events(events_of(rows), definitions)
    operations, unmatched = slow_matching(rows, definitions)
    assert as_dicts(found.operations) == operations
    assert found.unmatched == unmatched


@given(stream=streams(), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4), enough=st.integers(1, 5))
def test_neither_batches_nor_blocks_matter(
    stream: Any, sizes: list[int], enough: int, plain_definitions: Callable[..., Definitions]
) -> None:
    rows, identities, groups = stream
    definitions = plain_definitions(identities, groups)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(block_matcher, "ENOUGH", enough)
        patch.setattr(block_matcher, "SMALLEST", 2)
        patch.setattr(block_matcher, "_ROWS", 1)
        collected, tally = blocks_of(events_of(rows), definitions, sizes)
    operations, unmatched = slow_matching(rows, definitions)
    assert as_dicts(collected.operations()) == operations
    assert tally.unmatched == unmatched
    assert (tally.cut, tally.given_up) == (0, 0)


@given(stream=streams(), sizes=st.lists(st.integers(1, 9), min_size=1, max_size=4), most=st.integers(1, 6))
def test_a_bound_cuts_and_says_so(
    stream: Any, sizes: list[int], most: int, plain_definitions: Callable[..., Definitions]
) -> None:
    rows, identities, groups = stream
    definitions = plain_definitions(identities, groups)
    collected, tally = blocks_of(events_of(rows), definitions, sizes, most)
    operations, unmatched = slow_matching(rows, definitions)
    found = as_dicts(collected.operations())
    assert [one["begin"] for one in found] == [one["begin"] for one in operations]
    assert tally.given_up or tally.cut or (found == operations and tally.unmatched == unmatched)
    if max(groups.count(group) if group >= 0 else 1 for group in groups) == 1 and not tally.given_up:
        # Of a process of one location nothing is lost by a cut.
        assert found == operations
        assert tally.unmatched == unmatched


@pytest.mark.parametrize("name", ["ckpt4", "ncckpt4", "nonblocking4", "nonblocking4_nodupfd", "serial1", "threads2"])
def test_real_archives_equal_the_slow_matching(name: str, read_fixture: Any, collect: Any) -> None:
    archive, read = read_fixture(name)
    columns = (getattr(read.events, column) for column in ("location", "kind", "time", "handle", "matching", "flags"))
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    expected, unmatched = slow_matching(rows, archive.definitions)
    found = collect(archive, workers=2)
    value = [0, *read.events.value.tolist(), UNDEFINED_UINT64]
    for one in expected:
        one["begin_event"] = value[one["begin_event"]]
        if one["moved"] != UNDEFINED_UINT64:
            one["moved"] = value[one["moved"]]
    assert as_dicts(found.operations) == expected
    assert found.tally.unmatched == unmatched
    assert found.tally.io_events == len(read.events)


@given(stream=streams(), data=st.data())
def test_does_not_depend_on_the_order_of_locations(
    stream: Any, data: st.DataObject, plain_definitions: Callable[..., Definitions]
) -> None:
    rows, identities, groups = stream
    order = data.draw(st.permutations(range(len(identities))))
    new_row = {old: new for new, old in enumerate(order)}
    moved = [(number, (new_row[row[0]], *row[1:])) for number, row in enumerate(rows)]
    moved.sort(key=lambda item: item[1][0])
    first = events_of(rows)
    second = events_of([row for _, row in moved])
    object.__setattr__(second, "value", first.value[[number for number, _ in moved]])
    before = match_events(first, plain_definitions(identities, groups)).operations
    after = match_events(
        second, plain_definitions([identities[old] for old in order], [groups[old] for old in order])
    ).operations
    for name in ("begin", "end", "issued", "requested", "moved", "tests", "status", "process"):
        np.testing.assert_array_equal(getattr(before, name), getattr(after, name), name)
    assert [new_row[old] for old in before.location.tolist()] == after.location.tolist()


def one(*rows: Row, groups: Sequence[int] = (0, 0), make: Callable[..., Definitions]) -> Any:
    return match_events(events_of(rows), make(range(len(groups)), groups)).operations


def test_two_threads_in_one_handle_with_one_id_do_not_mix(plain_definitions: Any) -> None:
    operations = one(
        (0, BEGIN, 10, 0, 1, 0),
        (0, COMPLETE, 40, 0, 1, 0),
        (1, BEGIN, 20, 0, 1, 0),
        (1, COMPLETE, 30, 0, 1, 0),
        make=plain_definitions,
    )
    assert operations.location.tolist() == operations.end_location.tolist() == [0, 1]
    assert operations.end.tolist() == [40, 30]
    assert operations.moved.tolist() == [2, 4]


def test_non_blocking_operation_completes_on_another_thread(plain_definitions: Any) -> None:
    operations = one(
        (0, BEGIN, 10, 0, 7, NON_BLOCKING),
        (0, ISSUED, 11, 0, 7, 0),
        (1, TEST, 12, 0, 7, 0),
        (1, TEST, 13, 0, 7, 0),
        (1, COMPLETE, 15, 0, 7, 0),
        make=plain_definitions,
    )
    assert (operations.location[0], operations.end_location[0]) == (0, 1)
    assert (operations.issued[0], operations.tests[0], operations.end[0]) == (11, 2, 15)


@pytest.mark.parametrize("flags", [0, NON_BLOCKING])
def test_a_lost_completion_costs_one_operation(flags: int, plain_definitions: Any) -> None:
    pairs = [
        row
        for time in range(100, 1000, 100)
        for row in ((0, BEGIN, time, 0, 1, flags), (0, COMPLETE, time + 10, 0, 1, 0))
    ]
    matched = match_events(events_of([(0, BEGIN, 5, 0, 1, flags), *pairs]), plain_definitions([0], [0]))
    operations = matched.operations
    assert operations.status.tolist() == [Status.NEVER_COMPLETED] + [Status.COMPLETE] * 9
    assert (operations.end[1:] - operations.begin[1:]).tolist() == [10] * 9
    assert operations.moved[1:].tolist() == list(range(3, 21, 2))
    assert matched.unmatched == 0


def test_a_blocking_begin_that_lost_its_end_takes_no_other(plain_definitions: Any) -> None:
    rows = [(0, BEGIN, 1, 0, 1, 0), (0, BEGIN, 2, 0, 1, 0), (0, COMPLETE, 3, 0, 1, 0), (0, COMPLETE, 4, 0, 1, 0)]
    matched = match_events(events_of(rows), plain_definitions([0], [0]))
    assert matched.operations.end.tolist() == [UNDEFINED_TIME, 3]
    assert matched.unmatched == 1
    elsewhere = [(0, BEGIN, 1, 0, 1, 0), (1, BEGIN, 2, 0, 1, NON_BLOCKING), (1, COMPLETE, 3, 0, 1, 0)]
    matched = match_events(events_of(elsewhere), plain_definitions([0, 1], [0, 0]))
    assert matched.operations.end.tolist() == [UNDEFINED_TIME, 3]


def test_reused_id_takes_the_latest_open_begin(plain_definitions: Any) -> None:
    operations = one(
        (0, BEGIN, 1, 0, 7, NON_BLOCKING),
        (0, BEGIN, 2, 0, 7, NON_BLOCKING),
        (0, COMPLETE, 3, 0, 7, 0),
        (0, CANCELLED, 4, 0, 7, 0),
        make=plain_definitions,
    )
    assert operations.end.tolist() == [4, 3]
    assert operations.status.tolist() == [Status.CANCELLED, Status.COMPLETE]
    assert operations.moved.tolist() == [UNDEFINED_UINT64, 3]


def test_completion_in_the_tick_of_the_begin_on_a_lower_location(plain_definitions: Any) -> None:
    operations = one((0, COMPLETE, 5, 0, 7, 0), (1, BEGIN, 5, 0, 7, NON_BLOCKING), make=plain_definitions)
    assert operations.status.tolist() == [Status.COMPLETE]
    assert (operations.begin[0], operations.end[0]) == (5, 5)


def test_processes_do_not_mix(plain_definitions: Any) -> None:
    events = events_of([(0, BEGIN, 1, 0, 7, NON_BLOCKING), (1, COMPLETE, 2, 0, 7, 0)])
    matched = match_events(events, plain_definitions([0, 1], [0, 1]))
    assert matched.operations.status.tolist() == [Status.NEVER_COMPLETED]
    assert matched.operations.end_location.tolist() == [-1]
    assert matched.unmatched == 1


def test_undefined_handle_is_row_minus_one(plain_definitions: Any) -> None:
    events = events_of([(0, BEGIN, 1, 9, 1, 0), (0, COMPLETE, 2, 9, 1, 0), (0, BEGIN, 3, UNDEFINED_UINT32, 1, 0)])
    operations = match_events(events, plain_definitions([0], [0], handle_ids=[30, 9])).operations
    assert operations.handle.tolist() == [1, -1]


def test_no_events(plain_definitions: Any) -> None:
    matched = match_events(IoEvents.empty(), plain_definitions([], []))
    assert len(matched.operations) == 0
    assert matched.unmatched == 0


@pytest.mark.parametrize("kind", [COMPLETE, CANCELLED, TEST, ISSUED])
def test_lone_events_are_counted(kind: int, plain_definitions: Any) -> None:
    matched = match_events(events_of([(0, kind, 1, 0, 1, 0)]), plain_definitions([0], [0]))
    assert len(matched.operations) == 0
    assert matched.unmatched == 1
