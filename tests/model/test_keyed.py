"""Sums by keys against dictionaries of them."""

from collections import Counter

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata.model.keyed import KeyedSums, in_groups

# Few values make groups, and values far apart do not fit into one number together.
numbers = st.integers(-2, 2) | st.sampled_from([-(2**62), 2**40, 2**62])
rows = st.lists(st.tuples(numbers, numbers, st.integers(-9, 9)), max_size=20)


@given(rows)
def test_groups_are_the_rows_of_equal_keys_in_order(given_rows):
    keys = np.array([row[:2] for row in given_rows], np.int64).reshape(-1, 2).T
    order, fresh = in_groups([*keys])
    ordered = [tuple(keys[:, row].tolist()) for row in order]
    assert ordered == sorted(row[:2] for row in given_rows)
    assert sorted(order.tolist()) == list(range(len(given_rows)))
    assert fresh.tolist() == [place == 0 or ordered[place - 1] != key for place, key in enumerate(ordered)]


@given(rows, rows)
def test_sums_of_parts_are_those_of_all(first, second):
    parts = []
    for part in (first, second):
        one, other, amount = np.array(part, np.int64).reshape(-1, 3).T
        parts.append(KeyedSums.none(2, "amount").plus([one, other], {"amount": amount}))
    found = parts[0].merged(parts[1])
    expected = Counter()
    for *key, amount in [*first, *second]:
        expected[tuple(key)] += amount
    keys = list(zip(*(column.tolist() for column in found.keys), strict=True))
    assert keys == sorted(expected)
    assert found["amount"].tolist() == [expected[key] for key in keys]
