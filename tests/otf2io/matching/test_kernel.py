"""Compiled matching piece by piece, against `match_events` on all rows at once."""

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, IoFlag, IoRecord, Status
from iostrata.model.definitions import Definitions
from iostrata.model.events import EventColumns, IoEvents
from iostrata.model.operations import OperationColumns, operation_columns
from iostrata.otf2io.matching.columns import match_events
from iostrata.otf2io.matching.kernel import (
    OPERATIONS,
    UNMATCHED_ENDS,
    UNMATCHED_STEPS,
    OpenOperations,
    end_location,
    match_rows,
    move_operations,
    open_operations,
)

BEGIN, TEST, ISSUED = IoRecord.OPERATION_BEGIN, IoRecord.OPERATION_TEST, IoRecord.OPERATION_ISSUED
COMPLETE, CANCELLED = IoRecord.OPERATION_COMPLETE, IoRecord.OPERATION_CANCELLED
NON_BLOCKING = IoFlag.NON_BLOCKING
HANDLES = (5, 6, 2**32 - 2)

Row = tuple[int, int, int, int, int, int]
"""Location row, kind, time, handle, matching id, flags."""
Operation = tuple[int, ...]


def events_of(rows: Sequence[Row]) -> IoEvents:
    """Make events; `value` numbers them so that each can be told from the others."""
    location, kind, time, handle, matching, flags = np.array(rows, np.int64).reshape(-1, 6).T
    count = len(location)
    return IoEvents(
        location.astype(np.int32),
        kind.astype(np.uint8),
        time,
        handle.astype(np.uint32),
        np.arange(count, dtype=np.uint8) % 3,
        flags.astype(np.uint32),
        matching.astype(np.uint64),
        np.arange(1, count + 1, dtype=np.uint64),
        np.full(count, UNDEFINED_UINT64, np.uint64),
    )


def matched_at_once(events: IoEvents, definitions: Definitions) -> tuple[list[Operation], int, int]:
    """Return the operations of `match_events`, sorted, and the ends and steps without a partner."""
    matching = match_events(events, definitions)
    found = matching.operations
    handle = definitions.handles.id[found.handle]
    columns = (found.location, handle, found.mode, found.status, found.begin, found.end, found.requested, found.moved)
    rows = sorted(zip(*(column.tolist() for column in columns), strict=True))
    return rows, matching.unmatched_ends, matching.unmatched_steps


class PieceByPiece:
    """Matches rows in pieces, enlarges the state when it is full, and keeps back what a process decides."""

    def __init__(self, events: IoEvents, shared: Sequence[bool], most: int) -> None:
        self.events = events
        self.state: OpenOperations = open_operations(most)
        self.found: list[Operation] = []
        self.waiting: list[int] = []
        self._shared = np.array(shared, np.bool_)
        self._columns = EventColumns(
            *(getattr(events, name) for name in
              ("location", "kind", "time", "handle", "mode", "flags", "matching", "value", "offset"))
        )  # fmt: skip

    def match(self, first: int, last: int) -> None:
        while first < last:
            room: OperationColumns = operation_columns(last - first + len(self.state.begin))
            waiting = np.empty(last - first, np.int64)
            count, others, reached = match_rows(self._columns, first, last, self._shared, self.state, room, waiting)
            self._keep(room, count)
            self.waiting += waiting[:others].tolist()
            if reached < last:
                assert self.state.counts[OPERATIONS] == len(self.state.begin)
                larger = open_operations(2 * len(self.state.begin))
                move_operations(self.state, larger)
                self.state = larger
            first = reached

    def end(self) -> None:
        room = operation_columns(len(self.state.begin))
        self._keep(room, end_location(self.state, room, 0))
        assert self.state.counts[OPERATIONS] == 0
        assert not self.state.used.any()

    @property
    def unmatched(self) -> tuple[int, int]:
        return int(self.state.counts[UNMATCHED_ENDS]), int(self.state.counts[UNMATCHED_STEPS])

    def _keep(self, room: OperationColumns, count: int) -> None:
        columns: Any = (column[:count].tolist() for column in room)
        self.found += zip(*columns, strict=True)


def matched_in_pieces(
    events: IoEvents, definitions: Definitions, cuts: Sequence[int], most: int = 1
) -> tuple[list[Operation], int, int]:
    """Match between `cuts`; what waits is matched at the end."""
    groups = definitions.locations.group.tolist()
    shared = [group >= 0 and groups.count(group) > 1 for group in groups]
    pieces = PieceByPiece(events, shared, most)
    edges = [0, *sorted(cuts), len(events)]
    for first, last in itertools.pairwise(edges):
        pieces.match(first, last)
    pieces.end()
    assert all(shared[location] for location in events.location[pieces.waiting])
    rest, ends, steps = matched_at_once(events.take(np.array(pieces.waiting, np.intp)), definitions)
    return sorted([*pieces.found, *rest]), pieces.unmatched[0] + ends, pieces.unmatched[1] + steps


@st.composite
def streams(draw: st.DrawFn) -> tuple[list[Row], list[int], list[int]]:
    """Threads of two processes or of none, few keys, equal and backward time stamps; rows, groups and cuts."""
    groups = draw(st.lists(st.sampled_from([0, 0, 1, -1]), min_size=1, max_size=4))
    rows: list[Row] = []
    for location in range(len(groups)):
        time = draw(st.integers(-2, 3))
        for kind, step, handle, matching, flags in draw(
            st.lists(
                st.tuples(
                    st.sampled_from([BEGIN, BEGIN, BEGIN, COMPLETE, COMPLETE, CANCELLED, TEST, ISSUED, IoRecord.SEEK]),
                    st.sampled_from([0, 0, 1, 2, 3, -2]),
                    st.sampled_from(HANDLES),
                    st.sampled_from([1, 1, 2, 2**62, 2**64 - 1 - 2**63]),
                    st.sampled_from([0, 0, NON_BLOCKING, IoFlag.COLLECTIVE, NON_BLOCKING | IoFlag.COLLECTIVE]),
                ),
                max_size=20,
            )
        ):
            time += step
            rows.append((location, int(kind), time, handle, matching, int(flags)))
    cuts = draw(st.lists(st.integers(0, len(rows)), max_size=6))
    return rows, groups, cuts


def ambiguous(rows: Sequence[Row], groups: Sequence[int]) -> bool:
    """Whether threads of a process use one key for both blocking and non-blocking operations or issue others' ones."""
    users: dict[tuple[int, int, int], set[tuple[int, bool]]] = {}
    for location, kind, _, handle, matching, flags in rows:
        if kind == BEGIN and groups[location] >= 0:
            users.setdefault((groups[location], handle, matching), set()).add((location, bool(flags & NON_BLOCKING)))
    return any(any(not later for _, later in found) and groups.count(key[0]) > 1 for key, found in users.items())


@settings(max_examples=150)
@given(stream=streams())
def test_pieces_equal_the_whole(stream: Any, plain_definitions: Callable[..., Definitions]) -> None:
    rows, groups, cuts = stream
    definitions = plain_definitions(range(len(groups)), groups, handle_ids=HANDLES)
    events = events_of(rows)
    expected = matched_at_once(events, definitions)
    found = matched_in_pieces(events, definitions, cuts)
    assert found[:2] == expected[:2]
    if not ambiguous(rows, groups):
        assert found == expected


@given(
    seed=st.integers(0, 2**32 - 1),
    most=st.sampled_from([1, 2, 64]),
    keys=st.integers(1, 400),
    stride=st.sampled_from([1, 2**20, 2**40, 2**55]),
)
def test_many_keys_in_flight(
    seed: int, most: int, keys: int, stride: int, plain_definitions: Callable[..., Definitions]
) -> None:
    # Long runs in the hash table, keys that leave from the middle of them, and the table growing meanwhile.
    chance = np.random.default_rng(seed)
    count = 3000
    kinds = chance.choice([BEGIN, COMPLETE, CANCELLED, TEST], count, p=[0.5, 0.35, 0.05, 0.1])
    location = np.sort(chance.integers(0, 3, count))
    matching = (chance.integers(0, keys, count) * stride) & (2**63 - 1)
    flags = chance.choice([0, int(NON_BLOCKING)], count)
    handle = chance.choice(np.array(HANDLES), count)
    rows = list(zip(location, kinds, np.arange(count), handle, matching, flags, strict=True))
    definitions = plain_definitions(range(3), [0, 1, -1], handle_ids=HANDLES)
    events = events_of(rows)
    cuts = chance.integers(0, count, 5).tolist()
    assert matched_in_pieces(events, definitions, cuts, most) == matched_at_once(events, definitions)


def test_growth_keeps_what_is_in_flight(plain_definitions: Callable[..., Definitions]) -> None:
    count = 5000
    begins = [(0, BEGIN, row, 5, row, int(NON_BLOCKING) * (row % 2)) for row in range(count)]
    ends = [(0, COMPLETE, count + row, 5, row, 0) for row in range(count)]
    definitions = plain_definitions([0], [0], handle_ids=HANDLES)
    events = events_of([*begins, *ends])
    pieces = PieceByPiece(events, [False], 1)
    pieces.match(0, count)
    assert (pieces.state.counts[OPERATIONS], len(pieces.state.begin)) == (count, 8192)
    pieces.match(count, 2 * count)
    assert pieces.state.counts[OPERATIONS] == 0
    assert sorted(pieces.found) == matched_at_once(events, definitions)[0]


def test_a_full_state_stops_before_the_begin_that_finds_no_room() -> None:
    rows: list[Row] = [(0, BEGIN, row, 5, row, 0) for row in range(3)]
    events = events_of([*rows, (0, BEGIN, 3, 5, 1, 0), (0, BEGIN, 4, 5, 9, 0)])
    columns = EventColumns(
        events.location, events.kind, events.time, events.handle, events.mode, events.flags, events.matching,
        events.value, events.offset,
    )  # fmt: skip
    state, found = open_operations(2), operation_columns(8)
    waiting = np.empty(5, np.int64)
    assert match_rows(columns, 0, 5, np.zeros(1, np.bool_), state, found, waiting) == (0, 0, 2)
    larger = open_operations(4)
    move_operations(state, larger)
    assert match_rows(columns, 2, 4, np.zeros(1, np.bool_), larger, found, waiting) == (1, 0, 4)
    # A begin that takes the place of one whose end was lost needs no further room.
    assert (found.begin[0], found.status[0], found.end[0]) == (1, Status.NEVER_COMPLETED, UNDEFINED_TIME)
    assert end_location(larger, found, 0) == 3
    assert sorted(found.begin[:3].tolist()) == [0, 2, 3]


@pytest.mark.parametrize("step", [ISSUED, TEST])
def test_a_step_before_its_begin_in_the_file_has_no_operation(step: int, plain_definitions: Any) -> None:
    definitions = plain_definitions([0], [0], handle_ids=HANDLES)
    events = events_of([(0, step, 5, 5, 1, 0), (0, BEGIN, 5, 5, 1, int(NON_BLOCKING)), (0, COMPLETE, 6, 5, 1, 0)])
    assert matched_at_once(events, definitions)[1:] == (0, 1)
    assert matched_in_pieces(events, definitions, [])[1:] == (0, 1)
