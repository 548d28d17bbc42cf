"""A view of operations gives what a copy of its rows gives, and takes only the columns that are looked at."""

import pickle
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import open_trace
from iostrata.inputs.source import RowSource
from iostrata.layers.trace import trace_of
from iostrata.model.errors import TraceError
from iostrata.model.operations import Operations, OperationsView, check_rows, followed_places, view

TRACE = open_trace(Path(__file__).parents[2] / "fixtures" / "nonblocking4")
OPERATIONS = TRACE.operations
NAMES = [field.name for field in fields(Operations)]


def assert_same(one: Operations, other: Operations) -> None:
    assert len(one) == len(other)
    for name in NAMES:
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert np.array_equal(one.bytes_moved, other.bytes_moved)


rows = st.lists(st.integers(0, len(OPERATIONS) - 1), max_size=30).map(lambda found: np.array(found, np.intp))


@given(rows, st.data())
def test_views_and_views_of_views_are_the_rows(chosen, data):
    shown, taken = view(OPERATIONS, chosen), OPERATIONS.take(chosen)
    assert_same(shown, taken)
    mask = np.array(data.draw(st.lists(st.booleans(), min_size=len(chosen), max_size=len(chosen))), np.bool_)
    assert_same(view(shown, mask), taken.take(mask))
    assert_same(shown.take(mask), taken.take(mask))
    assert_same(pickle.loads(pickle.dumps(shown)), taken)


def test_columns_are_taken_when_they_are_looked_at_and_once():
    shown = view(OPERATIONS, np.arange(5))
    assert isinstance(shown, OperationsView)
    assert not set(NAMES) & set(vars(shown))
    assert shown.begin is shown.begin
    assert set(NAMES) & set(vars(shown)) == {"begin"}
    with pytest.raises(AttributeError, match="no column"):
        _ = shown.nothing  # type: ignore[attr-defined]


calls = st.tuples(st.integers(0, 2), st.booleans(), st.integers(-1, 5), st.integers(-1, 4))


@given(st.lists(calls, max_size=12))
def test_places_are_followed_as_a_file_position_is(found):
    """One call after the other: an open or a seek sets the place, a transfer of unknown length loses it."""
    found = sorted(found, key=lambda one: one[0])
    expected, place, through = [], -1, None
    for key, sets, to, moved in found:
        place = -1 if key != through else place
        through = key
        place = to if sets else place
        expected.append(place)
        if not sets:
            place = -1 if place < 0 or moved < 0 else place + moved
    kinds = (np.int64, np.bool_, np.int64, np.int64)
    columns = (np.array([one[number] for one in found], kind) for number, kind in enumerate(kinds))
    assert followed_places(*columns).tolist() == expected


def test_a_mask_that_leaves_out_nothing_makes_no_view():
    assert view(OPERATIONS, np.ones(len(OPERATIONS), np.bool_)) is OPERATIONS


def test_columns_are_told_in_a_line_however_many_rows_they_have() -> None:
    many = OPERATIONS.take(np.zeros(100_000, np.intp))
    for columns in (many, view(many, np.arange(50_000))):
        assert repr(columns).startswith(f"<{type(columns).__name__}: {len(columns):,} rows of location, ")
        assert len(repr(columns)) < 300


def test_what_a_reader_gives_passes() -> None:
    check_rows(OPERATIONS, TRACE.stream.kept.other_events, TRACE.definitions)
    check_rows(Operations.empty(), TRACE.stream.kept.other_events.take(np.arange(0)), TRACE.definitions)


@pytest.mark.parametrize(
    ("column", "row"),
    [
        ("location", -1),
        ("location", len(TRACE.definitions.locations.id)),
        ("end_location", 2**31 - 1),
        ("end_location", -2),
        ("process", len(TRACE.definitions.groups.id)),
        ("process", -(2**31)),
        ("handle", len(TRACE.definitions.handles.id)),
        ("handle", -2),
    ],
)
def test_rows_beyond_the_definitions_are_refused_wherever_operations_come_in(column: str, row: int) -> None:
    values = getattr(OPERATIONS, column).copy()
    values[len(values) // 2] = row
    broken = replace(OPERATIONS, **{column: values})
    stream = replace(TRACE.stream, in_memory=TRACE.stream.kept._replace(operations=broken), known_reading=None)
    with pytest.raises(TraceError, match=f"column {column} names row {row} of "):
        trace_of(stream, TRACE.tally)
    with pytest.raises(TraceError, match=f"column {column} names row {row} of "):
        RowSource(TRACE.path, TRACE.definitions, broken, TRACE.stream.kept.other_events)


def test_rows_of_definitions_and_of_other_events_are_checked_too() -> None:
    group = np.full(len(TRACE.definitions.locations.id), 99, np.int32)
    locations = replace(TRACE.definitions.locations, group=group)
    with pytest.raises(TraceError, match="column group names row 99"):
        check_rows(OPERATIONS, TRACE.stream.kept.other_events, replace(TRACE.definitions, locations=locations))
    events = replace(TRACE.stream.kept.other_events, location=TRACE.stream.kept.other_events.location + 99)
    with pytest.raises(TraceError, match="column location names row"):
        check_rows(OPERATIONS, events, TRACE.definitions)
    with pytest.raises(TraceError, match="the column status has 3 rows, others"):
        check_rows(replace(OPERATIONS, status=OPERATIONS.status[:3]), TRACE.stream.kept.other_events, TRACE.definitions)
