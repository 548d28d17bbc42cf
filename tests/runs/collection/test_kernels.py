"""Volumes spread over segments by the compiled loop and by the obvious sum over operations and segments."""

import numpy as np
from iostrata.runs.collection.kernels import spread_over_segments


def test_volumes_are_spread_as_one_by_one() -> None:
    random, width, start, segments = np.random.default_rng(33), 40.0, 7, 25
    begin = start + random.integers(0, 900, 300)
    end = np.minimum(begin + random.choice([0, 1, 30, 200, 990], 300), start + 1000)
    # A part of some lies outside of the window.
    length = (end - begin + random.choice([0, 50], 300)).astype(np.float64)
    volume, row = random.integers(1, 1 << 30, 300).astype(np.float64), random.integers(0, 3, 300)
    found, expected = np.zeros((3, segments)), np.zeros((3, segments))
    spread_over_segments(row, begin, end, length, volume, start, width, found)
    for place, low, high, whole, moved in zip(row, begin, end, length, volume, strict=True):
        if whole == 0:
            expected[place, min(int((low - start) / width), segments - 1)] += moved
        for segment in range(segments if whole else 0):
            inside = min(high, start + (segment + 1) * width) - max(low, start + segment * width)
            expected[place, segment] += max(inside, 0.0) / whole * moved
    assert (length == 0).any()
    assert (end - begin > 2 * width).any()
    np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-3)
