"""Substantial I/O: what is above the mean."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import step_signal
from iostrata.analysis.spectral.metrics import substantial

WINDOW = (0.0, 40.0)
edges = st.integers(0, 160).map(lambda quarter: quarter / 4)
intervals = st.lists(st.tuples(edges, edges, st.integers(0, 50)), max_size=12)


@settings(max_examples=200, deadline=None)
@given(intervals=intervals)
def test_substantial_io_is_above_the_mean(intervals: list[tuple[float, float, int]]) -> None:
    signal = step_signal(
        [min(a, b) for a, b, _ in intervals],
        [max(a, b) for a, b, _ in intervals],
        [v for _, _, v in intervals],
        window=WINDOW,
    )
    part = substantial(signal)
    assert part.threshold == pytest.approx(signal.volume / 40)
    assert part.above.tolist() == [value > part.threshold for value in signal.values.tolist()]
    assert part.volume <= signal.volume * (1 + 1e-9)
    assert part.length < 40 or signal.volume == 0
