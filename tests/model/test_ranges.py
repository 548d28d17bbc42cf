"""Unions of ranges against sets of places, exact and rounded."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model import ranges
from iostrata.model.ranges import Coverage, RangeUnion

given_ranges = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 300), st.integers(0, 40)).map(lambda one: (*one[:2], one[1] + one[2])),
    max_size=60,
)


def union_of(rows: list[tuple[int, int, int]]) -> RangeUnion:
    union = RangeUnion(exact=False)
    if rows:
        union.add(*np.array(rows, np.int64).T)
    return union


def places(union: RangeUnion) -> set[tuple[int, int]]:
    return {(group, at) for group, low, high in zip(*union.covered(), strict=True) for at in range(low, high)}


@given(parts=st.lists(given_ranges, min_size=1, max_size=4), data=st.data(), most=st.sampled_from([1, 8, 10**6]))
def test_merged_unions_cover_all_and_no_more_than_rounding_adds(parts: Any, data: Any, most: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranges, "MOST_STRETCHES", most)
        unions = [union_of(rows) for rows in data.draw(st.permutations(parts))]
        whole = unions[0]
        for union in unions[1:]:
            whole.merge(union)
    covered = {(group, at) for rows in parts for group, low, high in rows for at in range(low, high)}
    found = places(whole)
    groups = len({group for group, _ in covered})
    # Each group keeps a stretch, however many groups there are.
    assert len(whole.covered().group) <= most + groups
    assert whole.length == len(found)
    assert found >= covered
    if most == 10**6:
        assert found == covered
    width = 1 << whole.shift
    cells = {(group, at // width) for group, at in covered}
    assert {(group, at // width) for group, at in found} == cells
    before = np.array([group for group, _, _ in zip(*whole.covered(), strict=True)], np.int64)
    assert whole.lengths(np.array([0, 1, 2])).tolist() == [
        sum(1 for group, _ in found if group == one) for one in (0, 1, 2)
    ]
    assert (np.diff(before) >= 0).all()


@given(rows=given_ranges, kept=st.sets(st.integers(0, 2)))
def test_what_is_released_is_counted_and_forgotten(rows: Any, kept: set[int]) -> None:
    union = union_of([(group << 32, low, high) for group, low, high in rows])
    covered = {(group, at) for group, low, high in rows for at in range(low, high)}
    assert union.released(np.array(sorted(kept), np.int64)) == sum(1 for group, _ in covered if group not in kept)
    assert {(group >> 32, at) for group, at in places(union)} == {one for one in covered if one[0] in kept}


def test_ranges_of_no_length_cover_nothing_more() -> None:
    union = union_of([(0, 1, 5), (2, 3, 4)])
    union.add(*np.array([(1, 7, 7), (5, 9, 9)], np.int64).T)
    assert [one.tolist() for one in union.covered()] == [[0, 2], [1, 3], [5, 4]]


@given(given_ranges, st.lists(st.integers(-5, 350), max_size=9))
def test_what_is_covered_until_a_time_is_what_a_set_of_places_has(rows: Any, times: Any) -> None:
    group, begin, end = np.array(rows, np.int64).reshape(-1, 3).T
    found = Coverage.of(group, begin, end)
    covered = {(one, at) for one, low, high in rows for at in range(low, high)}
    assert found.length == len(covered)
    for one in range(4):
        expected = [sum(part == one and at < time for part, at in covered) for time in times]
        assert found.until(one, np.array(times)).tolist() == expected


def test_ranges_that_come_little_by_little_are_joined_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    """Joining goes through all that is known, so that one at each time took a time that grew with the square."""
    monkeypatch.setattr(ranges, "MOST_STRETCHES", 16)
    joined: list[int] = []
    join = Coverage.joined
    monkeypatch.setattr(Coverage, "joined", lambda known, *more: (joined.append(len(known[0])), join(known, *more))[1])
    union = RangeUnion(exact=True)
    for one in range(2000):
        union.add(*np.array([[one % 3, 5 * one, 5 * one + 2]], np.int64).T)
    assert union.length == 4000
    assert len(union.covered().group) == 2000
    assert len(joined) < 20
