"""Pairs are numbered as a dictionary numbers them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.layers.attribution.attribution_kernel import rows_by_key
from iostrata.layers.statistics.group_kernels import number_pairs


@given(st.lists(st.tuples(st.integers(-1, 6), st.integers(0, 8)), max_size=80))
def test_equal_pairs_and_only_they_share_a_number(pairs):
    first = np.array([pair[0] for pair in pairs], np.int64)
    second = np.array([pair[1] for pair in pairs], np.int64)
    order, start = rows_by_key(first, 7)
    number, first_of, second_of = number_pairs(order, start, second, 9, len(pairs))
    shown = [pair for pair in pairs if pair[0] >= 0]
    assert len(first_of) == len(set(shown))
    for pair, row in zip(pairs, number.tolist(), strict=True):
        assert (row == -1) if pair[0] < 0 else ((first_of[row], second_of[row]) == pair)
