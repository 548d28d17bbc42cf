"""Substantial I/O and phases: volumes, gaps, small bursts, impulses."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.analysis.results import Phase
from iostrata.analysis.substantial import recurrence, substantial, substantial_phases
from iostrata.layers.signal import step_signal

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


@settings(max_examples=300, deadline=None)
@given(intervals=intervals, period=st.floats(0.5, 30))
def test_phases_are_apart_in_order_and_large(intervals: list[tuple[float, float, int]], period: float) -> None:
    start = [min(a, b) for a, b, _ in intervals]
    end = [max(a, b) for a, b, _ in intervals]
    signal = step_signal(start, end, [v for _, _, v in intervals], window=WINDOW)
    phases = substantial_phases(signal, period)
    assert bool(phases) == (substantial(signal).volume > 0)
    for before, after in pairwise(phases):
        assert after.start - before.end >= period / 4
    steps = list(zip(signal.times[:-1], signal.times[1:], signal.values, strict=True))
    for phase in phases:
        assert WINDOW[0] <= phase.start <= phase.end <= WINDOW[1]
        moved = sum(max(0.0, min(b, phase.end) - max(a, phase.start)) * v for a, b, v in steps)
        moved += sum(
            volume
            for at, volume in zip(signal.impulse_times, signal.impulse_volumes, strict=True)
            if phase.start <= at <= phase.end
        )
        assert phase.bytes == pytest.approx(moved, rel=1e-9, abs=1e-9)
        assert phase.bytes >= 0.01 * max(other.bytes for other in phases) * 0.999
    assert sum(phase.bytes for phase in phases) <= signal.volume * (1 + 1e-9)


def test_a_gap_of_a_quarter_of_the_period_parts_phases() -> None:
    signal = step_signal([0.0, 1.9, 10.0, 13.0], [1.0, 3.0, 11.0, 14.0], [4.0] * 4, window=WINDOW)
    assert [(phase.start, phase.end) for phase in substantial_phases(signal, 8.0)] == [(0, 3), (10, 11), (13, 14)]
    assert [(phase.start, phase.end) for phase in substantial_phases(signal, 8.1)] == [(0, 3), (10, 14)]


def test_lines_of_a_log_do_not_chain_checkpoints_together() -> None:
    checkpoints = np.arange(8) * 4.0
    log = np.arange(40) * 0.9
    signal = step_signal(
        np.append(checkpoints, log),
        np.append(checkpoints + 0.3, log + 1e-6),
        np.append(np.full(8, 1e6), np.full(40, 50.0)),
        window=WINDOW,
    )
    phases = substantial_phases(signal, 4.0)
    # A line just before a checkpoint counts to it.
    assert [phase.start for phase in phases] == pytest.approx(checkpoints.tolist(), abs=0.25)


def test_many_small_requests_close_together_are_one_phase() -> None:
    starts = (np.arange(5)[:, None] * 8.0 + np.arange(1000) * 0.002).ravel()
    signal = step_signal(starts, starts + 0.001, np.full(starts.size, 1.0), window=WINDOW)
    phases = substantial_phases(signal, 8.0)
    assert [phase.bytes for phase in phases] == pytest.approx([1000.0] * 5)


def test_impulses_are_phases_at_both_ends_of_the_window() -> None:
    at = np.arange(6) * 8.0
    signal = step_signal(at, at, np.arange(6) + 1.0, window=WINDOW)
    phases = substantial_phases(signal, 8.0)
    assert [(phase.start, phase.end) for phase in phases] == [(t, t) for t in at]
    assert [phase.bytes for phase in phases] == pytest.approx((np.arange(6) + 1.0).tolist())


def test_recurrence_takes_four_phases() -> None:
    phases = tuple(Phase(start, start + 0.1, 1.0) for start in (0.0, 2.0, 5.0, 7.0))
    assert recurrence(phases[:3]) == (None, None)
    mean, jitter = recurrence(phases)
    assert mean == pytest.approx(7 / 3)
    assert jitter == pytest.approx(np.std([2, 3, 2]) / (7 / 3))
