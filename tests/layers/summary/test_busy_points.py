"""Points in time at which something was under way, against sets of ticks."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.summary import busy_points
from iostrata.layers.summary.busy_points import BusyPoints

POINTS = 512
intervals = st.lists(st.tuples(st.integers(-2000, 4000), st.integers(0, 900)), min_size=1, max_size=12)


@pytest.fixture(autouse=True)
def few_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(busy_points, "MOST_POINTS", POINTS)
    monkeypatch.setattr(busy_points, "_BLOCK", 2)


def add(points: BusyPoints, some: list[tuple[int, int]]) -> None:
    begin = np.array([begin for begin, _ in some], np.int64)
    points.add(begin, begin + np.array([length for _, length in some], np.int64))


def ticks(some: list[tuple[int, int]]) -> set[int]:
    return {tick for begin, length in some for tick in range(begin, begin + length)}


def looked_at(points: BusyPoints, some: list[tuple[int, int]]) -> int:
    """Length as it is when every point is looked at by itself."""
    known = ticks(some)
    starts = points._origin + np.arange(POINTS) * points.step
    return sum(tick in known for tick in (starts + points._place_in(starts.astype(np.uint64))).tolist()) * points.step


@given(some=st.lists(st.tuples(st.integers(0, POINTS), st.integers(0, POINTS)), min_size=1, max_size=20))
def test_points_a_tick_apart_are_exact(some: list[tuple[int, int]]) -> None:
    some = [(begin, min(length, POINTS - begin)) for begin, length in some]
    points = BusyPoints(0, POINTS)
    for one in some:
        add(points, [one])
    assert (points.step, points.length) == (1, len(ticks(some)))


@given(parts=st.lists(intervals, min_size=1, max_size=4), start=st.integers(-50, 50))
def test_coarser_points_left_and_right(parts: list[list[tuple[int, int]]], start: int) -> None:
    points = BusyPoints(start, start + 300)
    for some in parts:
        add(points, some)
    everything = [one for some in parts for one in some]
    reach = max(max(b + n for b, n in everything), start + 300) - min(min(b for b, _ in everything), start)
    assert points.step & (points.step - 1) == 0
    assert points.step <= max(1, 4 * reach / POINTS)
    assert points.length == looked_at(points, everything)


@given(left=intervals, right=intervals)
def test_joined(left: list[tuple[int, int]], right: list[tuple[int, int]]) -> None:
    first, second = BusyPoints(0, 300), BusyPoints(0, 300)
    add(first, left)
    add(second, right)
    before = first.length, first.step, second.length, second.step
    for union in (first.joined(second), second.joined(first)):
        assert union.step >= max(first.step, second.step)
        tolerance = (len(left) + len(right)) * union.step
        assert abs(union.length - len(ticks(left + right))) <= tolerance
    if (first._origin, first.step) == (second._origin, second.step):
        assert first.joined(second).length == looked_at(first, left + right)
    assert (first.length, first.step, second.length, second.step) == before


def test_ticks_at_both_ends() -> None:
    points = BusyPoints(0, 1000)
    add(points, [(-(2**62), 2**61)])
    assert points.length == pytest.approx(2**61, abs=points.step)
    add(points, [(2**62 - 2**60, 2**60)])
    assert points.length == pytest.approx(2**61 + 2**60, abs=2 * points.step)
    other: Any = BusyPoints(0, 10)
    add(other, [(0, 5)])
    assert other.joined(points).length == pytest.approx(2**61 + 2**60, abs=3 * points.step)
    assert points.joined(other).length == pytest.approx(2**61 + 2**60, abs=3 * points.step)
