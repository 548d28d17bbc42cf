"""The order of a block's operations against NumPy's stable sort."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.otf2io.matching.ordering import rows_by_begin

EDGES = [0, 1, 2047, 2048, 2**22 - 1, 2**22, 2**33, 2**61, -1, -(2**61)]


@given(
    begin=st.lists(st.sampled_from(EDGES) | st.integers(-(2**61), 2**61) | st.integers(0, 5), max_size=80),
    seed=st.integers(0, 9),
)
def test_rows_are_in_the_order_of_a_stable_sort(begin: list[int], seed: int) -> None:
    times = np.array(begin, np.int64)
    rows = np.random.default_rng(seed).permutation(len(times))[: max(0, len(times) - seed)]
    expected = rows[np.argsort(times[rows], kind="stable")]
    assert rows_by_begin(times, rows.copy()).tolist() == expected.tolist()


@pytest.mark.parametrize("locations", [1, 7, 300])
def test_long_runs_of_locations(locations: int) -> None:
    random = np.random.default_rng(locations)
    times = np.cumsum(random.integers(0, 3, (locations, 20000 // locations)), axis=1).ravel()
    assert (rows_by_begin(times, np.arange(len(times))) == np.argsort(times, kind="stable")).all()
