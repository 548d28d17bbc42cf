"""Rows and their parents without cycles, against walks one row at a time."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.rows import sound_parents

parents = st.integers(0, 24).flatmap(lambda n: st.lists(st.integers(-3, n + 2), min_size=n, max_size=n))


def on_own_path(parent, row):
    """Whether a row comes back to itself."""
    at = row
    for _ in parent:
        at = parent[at]
        if not 0 <= at < len(parent):
            return False
        if at == row:
            return True
    return False


@given(parents)
def test_only_rows_on_circles_or_with_parents_out_of_range_are_cut(given_parents):
    given_parents = np.array(given_parents, np.int32)
    sound, changed = sound_parents(given_parents)
    for row, parent in enumerate(given_parents):
        if parent >= len(given_parents):
            assert sound[row] == -1
            assert changed[row]
        elif parent < 0:
            assert sound[row] == -1
            assert not changed[row]
        elif changed[row]:
            assert sound[row] == -1
            assert on_own_path(given_parents, row)
        else:
            assert sound[row] == parent
        at = row
        for _ in range(len(sound) + 1):
            at = int(sound[at]) if at >= 0 else -1
        assert at == -1
    circles = set()
    for row in range(len(given_parents)):
        if on_own_path(given_parents, row):
            at, circle = int(given_parents[row]), {row}
            while at != row:
                circle.add(at)
                at = int(given_parents[at])
            circles.add(frozenset(circle))
    for circle in circles:
        assert [row for row in sorted(circle) if changed[row]] == [min(circle)]


def test_a_circle_of_a_million_rows_becomes_one_chain():
    count = 10**6
    parent = np.roll(np.arange(count, dtype=np.int32), 1)
    sound, changed = sound_parents(parent)
    assert np.flatnonzero(changed).tolist() == [0]
    assert np.array_equal(sound[1:], parent[1:])
