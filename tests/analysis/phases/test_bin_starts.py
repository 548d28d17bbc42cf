"""Starts within bins, against the exact start."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.phases.bin_starts import starts_within_bins


@given(st.floats(3.0, 10.0), st.floats(4.0, 15.0), st.floats(0.0, 3.0), st.floats(1.0, 9.0))
def test_the_start_of_a_long_phase_is_found_within_its_bin(
    start: float, length: float, floor: float, height: float
) -> None:
    edges = np.arange(32.0)
    volume = floor * edges + height * np.clip(edges - start, 0.0, length)
    values = np.diff(volume)
    first = np.array([int(np.rint(start))])
    stop = np.array([int(start + length)])
    found, earliest, latest = starts_within_bins(values, 1.0, 0.0, first, stop)
    assert abs(found[0] - start) < 1e-6
    assert earliest[0] <= start <= latest[0]


def test_a_phase_within_a_bin_may_begin_anywhere_in_it() -> None:
    values = np.zeros(20)
    values[7] = 3.0
    found, earliest, latest = starts_within_bins(values, 0.5, 10.0, np.array([7]), np.array([8]))
    assert (found[0], earliest[0], latest[0]) == (13.5, 13.5, 14.0)


def test_bins_are_left_as_they_are_at_the_edge() -> None:
    found, _, _ = starts_within_bins(np.ones(6), 1.0, 0.0, np.array([0]), np.array([6]))
    assert found[0] == 0.0
