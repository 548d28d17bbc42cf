"""Windows of time."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.layers.selection.window import TickWindow, completed_bytes, select_window, trace_window
from iostrata.model.codes import Status

WHOLE = TickWindow(0, 1000, True, 100)


def test_the_whole_trace_reaches_to_its_operations(make_definitions, make_operations):
    clock = make_definitions([], length=50).clock
    assert trace_window(clock, make_operations([]).extent) == TickWindow(0, 50, True, 100)
    outside = make_operations([{"begin": -3, "end": 5}, {"begin": 60, "end": None}, {"begin": 7, "end": 55}])
    assert trace_window(clock, outside.extent) == TickWindow(-3, 60, True, 100)
    assert trace_window(make_definitions([], length=0).clock, make_operations([]).extent) == TickWindow(0, 1, True, 100)


@pytest.mark.parametrize("length", [2**62, 2**63 - 1, 2**63, 2**64 - 1])
def test_a_length_beyond_belief_is_none(make_definitions, make_operations, length):
    clock = make_definitions([], length=length).clock
    assert trace_window(clock, make_operations([]).extent) == TickWindow(0, 1, True, 100)
    operations = make_operations([{"begin": 3, "end": 40}, {"begin": 50, "end": None}])
    window = trace_window(clock, operations.extent)
    assert window == TickWindow(0, 50, True, 100)
    assert window.ends(operations).tolist() == [40, 50]
    assert trace_window(make_definitions([], length=2**62 - 1).clock, operations.extent).end == 2**62 - 1


def test_windows_are_whole_ticks_within_the_trace():
    assert select_window(WHOLE, None) == WHOLE
    assert select_window(WHOLE, (1.004, 2.5)) == TickWindow(100, 250, False, 100)
    assert select_window(WHOLE, (None, 2)) == TickWindow(0, 200, False, 100)
    assert select_window(WHOLE, (-5, 99)) == WHOLE
    assert select_window(WHOLE, (3, 10.0)) == TickWindow(300, 1000, True, 100)
    assert select_window(WHOLE, (3, None)).seconds == (3.0, 10.0)


@pytest.mark.parametrize(
    ("window", "words"),
    [
        ((2, 1), "the start must be before the end"),
        ((1, 1), "the start must be before the end"),
        ((10, 11), "outside the trace, which lasts from 0 to 10 s"),
        ((-2, 0), "outside the trace"),
        ((float("nan"), 1), "finite seconds"),
        ((0, float("inf")), "finite seconds"),
        ((1.001, 1.002), "shorter than a tick of the trace's clock (1/100 s)"),
        (("a", 2), ""),
        ((1, 2, 3), ""),
        (5, ""),
    ],
)
def test_a_window_without_time_in_the_trace_is_refused(window, words):
    with pytest.raises(SelectionError, match=rf"^[^\n]*{re.escape(words)}[^\n]*$"):
        select_window(WHOLE, window)


@given(st.data())
def test_adjoining_windows_share_operations_out(make_operations, data):
    rows = [
        {"begin": begin, "end": None if length is None else begin + length, "moved": moved}
        for begin, length, moved in data.draw(
            st.lists(
                st.tuples(st.integers(0, 1000), st.none() | st.integers(0, 300), st.integers(0, 2**40)), max_size=12
            )
        )
    ]
    edge = data.draw(st.integers(1, 999))
    operations = make_operations(rows)
    whole = TickWindow(0, 1000, True, 100)
    parts = [TickWindow(0, edge, False, 100), TickWindow(edge, 1000, True, 100)]
    within, lengths = np.zeros(len(rows)), np.zeros(len(rows))
    operations = operations.take(whole.overlaps(operations) & (operations.end <= 1000))
    within, lengths = np.zeros(len(operations)), np.zeros(len(operations), np.int64)
    for part in parts:
        chosen = part.overlaps(operations)
        begin, end = part.clipped(operations.take(chosen))
        within[chosen] += part.bytes_within(operations.take(chosen))
        lengths[chosen] += end - begin
    begin, end = whole.clipped(operations)
    assert lengths.tolist() == (end - begin).tolist()
    assert within == pytest.approx(whole.bytes_within(operations).astype(float), rel=1e-12)
    instant = begin == end
    seen = sum(part.overlaps(operations).astype(int) for part in parts)
    assert (np.broadcast_to(seen, len(operations))[instant] == 1).all()


def test_bytes_stay_whole_numbers_where_nothing_is_cut(make_operations):
    operations = make_operations([{"begin": 0, "end": 10, "moved": 2**63 + 1}, {"begin": 20, "end": 40, "moved": 0}])
    assert TickWindow(0, 30, False, 1).bytes_within(operations).tolist() == [2**63 + 1, 0]
    assert TickWindow(5, 30, False, 1).bytes_within(operations).dtype == np.float64


def test_operations_that_only_touch_the_window_are_outside(make_operations):
    spans = [(0, 10), (10, 20), (20, 30), (0, 30), (10, 10), (20, 20), (9, 11), (19, 21)]
    operations = make_operations([{"begin": begin, "end": end} for begin, end in spans])
    inside = {
        span
        for span, there in zip(
            zip(operations.begin.tolist(), operations.end.tolist(), strict=True),
            TickWindow(10, 20, False, 1).overlaps(operations),
            strict=True,
        )
        if there
    }
    assert inside == {(10, 20), (0, 30), (10, 10), (9, 11), (19, 21)}
    assert TickWindow(10, 20, True, 1).overlaps(operations).sum() == 6


def test_only_completed_operations_move_bytes(make_operations):
    operations = make_operations([{"begin": 0, "end": 10, "moved": 5, "status": status} for status in Status])
    operations.moved[:] = 5
    assert completed_bytes(operations).tolist() == [5, 0, 0]
