"""Harmonics against the rule written out line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import SelectionError
from iostrata.analysis.spectral.dominant import separate_harmonics


def separated(lines: list[int]) -> tuple[list[int], list[int]]:
    """Walk the lines upwards and compare each with every lower one that was kept."""
    kept: list[int] = []
    dropped: list[int] = []
    for line in lines:
        multiples = [(round(line / lower), lower) for lower in kept]
        if any(m >= 2 and abs(line - m * lower) <= 1 for m, lower in multiples):
            dropped.append(line)
        else:
            kept.append(line)
    return kept, dropped


@given(st.sets(st.integers(1, 3000), max_size=200).map(sorted))
def test_the_sieve_is_the_walk(lines: list[int]) -> None:
    kept, dropped = separate_harmonics(np.array(lines, dtype=np.int64))
    assert (kept.tolist(), dropped.tolist()) == separated(lines)


def test_multiples_of_a_period_between_two_lines_are_harmonics() -> None:
    kept, dropped = separate_harmonics(np.array([45, 89, 134]))
    assert kept.tolist() == [45]
    assert dropped.tolist() == [89, 134]


def test_a_neighbour_is_no_harmonic() -> None:
    kept, _ = separate_harmonics(np.array([27, 28]))
    assert kept.tolist() == [27, 28]


def test_many_lines_are_separated_at_once() -> None:
    lines = np.arange(2**16, 2**17)
    kept, dropped = separate_harmonics(lines)
    assert kept.size + dropped.size == lines.size
    # 2 · 2^16 - 1 is within one line of twice the lowest, and is the only one.
    assert dropped.tolist() == [2**17 - 1]


@pytest.mark.parametrize("lines", [[0, 3], [3, 3], [5, 2]])
def test_what_are_no_lines_is_refused(lines: list[int]) -> None:
    with pytest.raises(SelectionError):
        separate_harmonics(np.array(lines))
