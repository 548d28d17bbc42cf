"""The length of a part as a change of an earlier one, against what two parts have in common at both ends."""

import math
from itertools import takewhile

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.analysis.loops.folding_kernel import _changed

words = st.lists(st.integers(0, 1), max_size=6)


def in_common(one: list[int], other: list[int]) -> int:
    return sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False)))


changed = getattr(_changed, "py_func", _changed)


@given(words, words, words)
def test_only_what_differs_in_the_middle_is_told(before: list[int], known: list[int], new: list[int]) -> None:
    old, until = len(before), len(before) + len(known)
    token = np.array([*before, *known, *new, 0], np.int64)
    weight = 2.0 ** np.arange(token.size)
    front = in_common(known, new)
    back = in_common(known[front:][::-1], new[front:][::-1])
    told = weight[until + front : until + len(new) - back].sum()
    expected = 1 + 2 * math.log2(len(known) + 1) + told
    assert changed(token, weight, until, until + len(new), old, until) == pytest.approx(expected, rel=1e-12)
