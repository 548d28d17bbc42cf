"""Harmonics against the rule written out line by line."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.spectral.dominant import separate_harmonics
from iostrata.model.errors import SelectionError


def separated(lines: list[int]) -> tuple[list[int], list[int]]:
    """Apply the rule to each pair: a multiple of a lower candidate is ignored.

    A frequency between two lines has its multiple up to one line off; a line that is more than 5 % off is another one.
    """
    kept: list[int] = []
    dropped: list[int] = []
    for line in lines:
        near = {lower * factor for lower in kept for factor in range(2, line // lower + 2)}
        if any(line == multiple or (abs(line - multiple) == 1 and multiple >= 20) for multiple in near):
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


def test_frequencies_that_are_no_multiples_stay_candidates() -> None:
    # IPDPS'24, §II-B2: more than two candidates are no period, unless they are multiples of each other.
    kept, dropped = separate_harmonics(np.array([2, 3, 5]))
    assert kept.tolist() == [2, 3, 5]
    assert dropped.size == 0


def test_a_neighbour_is_no_harmonic() -> None:
    kept, _ = separate_harmonics(np.array([27, 28]))
    assert kept.tolist() == [27, 28]


def test_many_lines_are_separated_at_once() -> None:
    lines = np.arange(2**16, 2**17)
    kept, dropped = separate_harmonics(lines)
    assert kept.size + dropped.size == lines.size
    # 2 · 2^16 - 1 lies one line off twice the lowest, and is the only one.
    assert dropped.tolist() == [2**17 - 1]


@pytest.mark.parametrize("lines", [[0, 3], [3, 3], [5, 2]])
def test_what_are_no_lines_is_refused(lines: list[int]) -> None:
    with pytest.raises(SelectionError):
        separate_harmonics(np.array(lines))


@given(st.floats(10.0, 400.0), st.integers(2, 9))
def test_harmonics_of_any_frequency_between_two_lines_go(frequency: float, count: int) -> None:
    # The truth is the frequency itself and not the line next to it; from the third on, rounding may exceed one line.
    lines = sorted({round(frequency), round(2 * frequency)})
    kept, dropped = separate_harmonics(np.array(lines))
    assert (kept.tolist(), dropped.tolist()) == (lines[:1], lines[1:])
    whole = np.round(frequency) * np.arange(1, count + 1)
    assert separate_harmonics(whole.astype(np.int64))[0].tolist() == [round(frequency)]


@given(st.integers(10, 400), st.floats(1.15, 1.85))
def test_other_frequencies_stay(line: int, ratio: float) -> None:
    lines = np.array([line, round(ratio * line)])
    assert separate_harmonics(lines)[0].tolist() == lines.tolist()
