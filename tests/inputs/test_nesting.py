"""Calls in calls, by when they begin and end, against a walk that keeps a list of what is open."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.inputs.nesting import nest

spans = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 8), st.integers(0, 6)), max_size=12)


@given(spans)
def test_a_call_is_in_the_last_one_that_is_open(given_spans):
    """One that ends when another begins is over, unless that takes no time; one that ends later is cut."""
    rows = sorted((location, begin, begin + length) for location, begin, length in given_spans)
    rows.sort(key=lambda row: (row[0], row[1], -row[2]))
    location, begin, end = np.array(rows, np.int64).reshape(-1, 3).T
    expected, ends, opened, sequence = [], end.tolist(), [], []
    for call, (place, start, _) in enumerate(rows):
        while opened:
            last = opened[-1]
            over = ends[last] < start or (ends[last] == start and ends[call] > start)
            if rows[last][0] == place and not over:
                break
            sequence.append(-1 - opened.pop())
        expected.append(opened[-1] if opened else -1)
        if opened:
            ends[call] = min(ends[call], ends[opened[-1]])
        opened.append(call)
        sequence.append(call)
    sequence += [-1 - call for call in reversed(opened)]
    cut, parent, steps = end.copy(), np.zeros(len(rows), np.int64), np.zeros(2 * len(rows), np.int64)
    nest(location.astype(np.int32), begin.copy(), cut, parent, steps)
    assert parent.tolist() == expected
    assert cut.tolist() == ends
    assert steps.tolist() == sequence


def test_calls_that_overlap_are_cut_and_calls_side_by_side_are_not():
    begin, end = np.array([0, 2, 6, 8]), np.array([5, 9, 8, 9])
    parent, sequence = np.zeros(4, np.int64), np.zeros(8, np.int64)
    nest(np.zeros(4, np.int32), begin, end, parent, sequence)
    assert parent.tolist() == [-1, 0, -1, -1]
    assert end.tolist() == [5, 5, 8, 9]
