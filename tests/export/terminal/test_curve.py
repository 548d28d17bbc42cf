"""Curves in characters against what their dots mean."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as nps
from iostrata.export.terminal.periods import area_rows, axis_row, interval_row, points_per_column, tick_row

# NumPy before 2 warns of an overflow where it divides such numbers, and gives the right quotient.
VALUES = nps.arrays(np.float64, st.integers(1, 40), elements=st.floats(0, 1e12, allow_subnormal=False))


def dots(rows, points):
    """Count the dots over each point, by the definition of the braille block (dot k is bit k − 1)."""
    heights = np.zeros(points, int)
    for row in rows:
        for column, character in enumerate(row):
            bits = ord(character) - 0x2800
            for side, numbers in enumerate(((1, 2, 3, 7), (4, 5, 6, 8))):
                point = 2 * column + side
                if point < points:
                    heights[point] += sum(bits >> (number - 1) & 1 for number in numbers)
    return heights


@given(VALUES, st.integers(1, 6))
def test_braille_heights_are_the_values(values, height):
    top = float(values.max())
    rows = area_rows(values, top, height)
    assert len(rows) == height
    assert {len(row) for row in rows} == {(len(values) + 1) // 2}
    found = dots(rows, len(values))
    assert ((found > 0) == (values > 0)).all()
    if top > 0:
        expected = values / top * height * 4
        assert (np.abs(found - np.maximum(expected, values > 0)) <= 0.5 + 1e-9).all()
        assert found.max() == height * 4


@given(VALUES)
def test_areas_stand_on_the_axis(values):
    low, high = area_rows(values, float(values.max()), 2)[::-1]
    for above, below in zip(high, low, strict=True):
        left, right = 0x47, 0xB8
        for side in (left, right):
            if ord(above) & 0xFF & side:
                assert ord(below) & side == side


@given(VALUES)
def test_ascii_is_ascii(values):
    rows = area_rows(values, float(values.max()), 3, ascii_only=True)
    assert all(row.isascii() and len(row) == len(values) for row in rows)
    assert points_per_column(ascii_only=True) == 1
    shown = np.array([[character != " " for character in row] for row in rows]).any(axis=0)
    assert (shown == (values > 0)).all()


def test_intervals_and_ticks_stand_where_they_happen():
    assert interval_row([(0, 1.5)], (0, 10), 10, "=") == "==        "
    assert interval_row([(0, 2)], (0, 10), 10, "=") == "==        "
    assert interval_row([(2.5, 2.6), (9.9, 12)], (0, 10), 10, "=") == "  =      ="
    assert tick_row([0, 5, 10], (0, 10), 10, "|") == "|    |   |"
    assert interval_row([], (0, 10), 10, "=") == " " * 10


@pytest.mark.parametrize("width", [5, 9, 12, 20, 23, 60, 180])
def test_an_axis_is_as_wide_as_it_may_be(width):
    row = axis_row(("0 s", "4.15 s", "8.29 s"), width)
    assert len(row) <= width
    assert row.startswith("0 s")
    if width >= 12:
        assert row.endswith("8.29 s")
        assert len(row) == width
    if width >= 23:
        middle = row.index("4.15 s") + 3
        assert abs(middle - width / 2) <= 2
