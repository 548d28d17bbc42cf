"""Loops in the story of a run, however it is read."""

import pytest
from iostrata import open_trace
from iostrata.analysis.comparison.overview import overview_of


@pytest.mark.parametrize("archive", ["ckpt4", "ncckpt4"])
def test_bounded_memory_tells_the_same_loops(fixtures, archive):
    whole, bounded = (
        [one.text for one in overview_of(open_trace(fixtures / archive, memory=memory)).story if one.kind == "loop"]
        for memory in (None, 400_000_000)
    )
    assert whole
    assert whole == bounded
