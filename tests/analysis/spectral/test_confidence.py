"""Confidences on numbers small enough to work out by hand, and the numbers that the paper gives."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.spectral.dominant import line_confidence, refined_confidence, similarity

NONE = np.zeros(0, dtype=np.int64)
SCORES = np.array([-0.5, 10.0, 3.0, 9.0, 4.0, 2.0])
OUTLIERS = SCORES >= 3


def test_a_line_shares_with_outliers_and_with_lines_near_the_largest() -> None:
    # I1 = {10, 3, 9, 4}, I2 = {10, 9}.
    assert line_confidence(SCORES, OUTLIERS, 1, NONE, 0.8) == pytest.approx((10 / 26 + 10 / 19) / 2)
    assert line_confidence(SCORES, OUTLIERS, 3, NONE, 0.8) == pytest.approx((9 / 26 + 9 / 19) / 2)


def test_a_dropped_harmonic_counts_in_neither_sum() -> None:
    assert line_confidence(SCORES, OUTLIERS, 1, np.array([3]), 0.8) == pytest.approx((10 / 17 + 10 / 10) / 2)


def test_a_line_alone_is_certain() -> None:
    assert line_confidence(np.array([0.1, 5.0, 0.2]), np.array([False, True, False]), 1, NONE, 0.8) == 1.0


def test_similarity_gives_the_examples_of_the_paper() -> None:
    # IOR: five candidates with mean 104.8 s and a coefficient of variation of 0.42 % against 111.67 s.
    candidates = 104.8 * (1 + 0.0042 * np.array([-1.5, -0.5, 0.0, 0.5, 1.5]) / np.sqrt(1.0))
    assert candidates.mean() == pytest.approx(104.8)
    c_s = similarity(111.67, candidates)
    assert c_s == pytest.approx(0.976, abs=0.001)
    assert refined_confidence(0.625, 0.9958, 0.976) == pytest.approx(0.865, abs=0.001)
    # LAMMPS: a single candidate, which makes c_a 1.
    assert refined_confidence(0.55, 1.0, similarity(25.73, np.array([25.6]))) == pytest.approx(0.849, abs=0.001)


@given(st.floats(0.01, 1e4), st.lists(st.floats(0.01, 1e4), min_size=1, max_size=20))
def test_similarity_is_a_share(period: float, candidates: list[float]) -> None:
    assert 0.0 <= similarity(period, np.array(candidates)) <= 1.0


@given(st.floats(1.0, 3.0), st.floats(0.01, 1.0), st.integers(1, 20))
def test_the_further_apart_the_less_similar(apart: float, more: float, count: int) -> None:
    candidates = np.ones(count)
    assert similarity(apart + more, candidates) < similarity(apart, candidates)
    assert similarity(1.0, candidates) == 1.0
