"""Metrics of a period against an oracle that goes through every step and every sub-trace."""

import math
import statistics

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import StepSignal, step_signal
from iostrata.analysis.results.result import PeriodMetrics
from iostrata.analysis.spectral.metrics import characterise, characterise_phases

WINDOW = (2.0, 42.0)


def overlap(step: tuple[float, float], low: float, high: float) -> float:
    """Length of a step within bounds."""
    return max(0.0, min(step[1], high) - max(step[0], low))


def oracle(signal: StepSignal, period: float) -> PeriodMetrics:
    """§II-C of the paper, step by step and sub-trace by sub-trace."""
    start, end = signal.window
    length = end - start
    steps = list(zip(signal.times[:-1].tolist(), signal.times[1:].tolist(), signal.values.tolist(), strict=True))
    impulses = list(zip(signal.impulse_times.tolist(), signal.impulse_volumes.tolist(), strict=True))
    volume = math.fsum((b - a) * v for a, b, v in steps) + math.fsum(v for _, v in impulses)
    part = [(a, b, v) for a, b, v in steps if v > signal.volume / length]
    length_s = math.fsum(b - a for a, b, _ in part)
    volume_s = math.fsum((b - a) * v for a, b, v in part) + math.fsum(v for _, v in impulses)
    assert volume == pytest.approx(signal.volume)
    complete = math.floor(length / period + 1e-9)
    r_io = length_s / length
    volumes, shares = [], []
    for i in range(complete):
        low, high = start + i * period, min(start + (i + 1) * period, end)
        inside = math.fsum(overlap((a, b), low, high) * v for a, b, v in steps)
        inside += math.fsum(v for t, v in impulses if low < t <= high or (i == 0 and t == low))
        volumes.append(inside)
        shares.append(math.fsum(overlap((a, b), low, high) for a, b, _ in part) / period)
    sigma_time = math.sqrt(math.fsum((s - r_io) ** 2 for s in shares) / complete) if complete else None
    sigma_vol = statistics.pstdev([v / max(volumes) for v in volumes]) if complete and max(volumes) > 0 else None
    score = None
    if sigma_vol is not None and sigma_time is not None:
        score = min(1.0, max(0.0, 1 - sigma_vol - sigma_time))
    return PeriodMetrics(
        r_io=r_io,
        b_io=volume_s / length_s if length_s > 0 else None,
        sigma_vol=sigma_vol,
        sigma_time=sigma_time,
        volume_per_period=volume_s * period / length,
        periodicity_score=score,
    )


# Edges on a grid make steps of a length well above rounding, and edges that meet those of the sub-traces.
edges = st.integers(0, 160).map(lambda quarter: WINDOW[0] + quarter / 4)
intervals = st.lists(st.tuples(edges, edges, st.integers(0, 50)), max_size=12)
periods = st.one_of(st.sampled_from([0.5, 1.0, 4.0, 10.0, 40.0, 41.0]), st.floats(0.3, 60))


@given(intervals=intervals, period=periods)
def test_metrics_are_those_of_the_definition(intervals: list[tuple[float, float, int]], period: float) -> None:
    start = [min(a, b) for a, b, _ in intervals]
    end = [max(a, b) for a, b, _ in intervals]
    signal = step_signal(start, end, [v for _, _, v in intervals], window=WINDOW)
    found, expected = characterise(signal, period), oracle(signal, period)
    for name in ("r_io", "b_io", "sigma_vol", "sigma_time", "volume_per_period", "periodicity_score"):
        got, wanted = getattr(found, name), getattr(expected, name)
        assert (got is None) == (wanted is None), name
        if wanted is not None:
            assert got == pytest.approx(wanted, rel=1e-9, abs=1e-9), name


def test_equal_phases_are_perfectly_periodic() -> None:
    starts = np.arange(20) * 5.0
    metrics = characterise(step_signal(starts, starts + 1.5, np.full(20, 3.0), window=(0.0, 100.0)), 5.0)
    assert metrics.r_io == pytest.approx(0.3)
    assert metrics.b_io == pytest.approx(2.0)
    assert metrics.volume_per_period == pytest.approx(3.0)
    assert metrics.sigma_vol == pytest.approx(0.0, abs=1e-9)
    assert metrics.sigma_time == pytest.approx(0.0, abs=1e-9)
    assert metrics.periodicity_score == pytest.approx(1.0)


def test_low_background_is_no_substantial_io() -> None:
    starts = np.arange(10) * 10.0
    signal = step_signal(
        np.append(starts, 0.0), np.append(starts + 2.0, 100.0), np.append(np.full(10, 50.0), 100.0), window=(0.0, 100.0)
    )
    metrics = characterise(signal, 10.0)
    assert metrics.r_io == pytest.approx(0.2)
    assert metrics.b_io == pytest.approx(26.0)


def test_impulses_have_volume_and_no_length() -> None:
    times = np.arange(10) + 0.5
    metrics = characterise(step_signal(times, times, np.full(10, 7.0), window=(0.0, 10.0)), 1.0)
    assert metrics.r_io == 0.0
    assert metrics.b_io is None
    assert metrics.volume_per_period == pytest.approx(7.0)
    assert metrics.sigma_vol == pytest.approx(0.0)
    assert metrics.periodicity_score == pytest.approx(1.0)


def test_without_a_period_only_the_signal_is_described() -> None:
    metrics = characterise(step_signal([0.0], [1.0], [4.0], window=(0.0, 10.0)))
    assert (metrics.r_io, metrics.b_io) == (pytest.approx(0.1), pytest.approx(4.0))
    assert metrics.sigma_vol is None
    assert metrics.periodicity_score is None
    empty = characterise(step_signal([], [], [], window=(0.0, 10.0)), 2.0)
    assert empty.r_io == 0.0
    assert empty.b_io is None
    assert empty.sigma_vol is None
    assert empty.sigma_time == 0.0


def test_a_period_far_shorter_than_any_step_costs_no_memory() -> None:
    metrics = characterise(step_signal([0.0], [1.0], [4.0], window=(0.0, 10.0)), 1e-12)
    assert metrics.sigma_vol is None
    assert metrics.volume_per_period == pytest.approx(4e-13)


def test_the_last_period_counts_where_periods_fill_the_window() -> None:
    rounded_down = 0
    for length in (0.3, 7.7, 21.887224084, 1234.5):
        signal = step_signal([length * 0.995], [length], [4.0], window=(0.0, length))
        for line in range(1, 60):
            period = 1 / (line * (1 / length))
            rounded_down += length / period < line
            # All volume is in the last sub-trace: without it, sigma_vol would not be defined.
            assert characterise(signal, period).sigma_vol is not None
    assert rounded_down > 0


SPAN = (0.0, 40.0)
quarters = st.integers(0, 160).map(lambda quarter: quarter / 4)
pieces = st.lists(st.tuples(quarters, quarters, st.integers(0, 50)), max_size=12)


@given(pieces=pieces)
def test_substantial_io_is_above_the_mean(pieces: list[tuple[float, float, int]]) -> None:
    signal = step_signal(
        [min(a, b) for a, b, _ in pieces],
        [max(a, b) for a, b, _ in pieces],
        [v for _, _, v in pieces],
        window=SPAN,
    )
    found = characterise(signal)
    above = [value > signal.volume / 40 for value in signal.values.tolist()]
    length = math.fsum(np.diff(signal.times)[above])
    assert found.r_io == pytest.approx(length / 40)
    if length:
        assert found.b_io == pytest.approx(
            (math.fsum(np.diff(signal.times)[above] * signal.values[above]) + math.fsum(signal.impulse_volumes))
            / length
        )
        assert found.b_io * length <= signal.volume * (1 + 1e-9)


@given(
    st.lists(st.tuples(st.integers(1, 40), st.integers(1, 40), st.integers(1, 9)), min_size=2, max_size=6),
    st.integers(0, 40),
)
def test_phases_are_compared_from_two_on(phases: list[tuple[int, int, int]], rest: int) -> None:
    """σ_time of eq. 4 with a share of each period, of the last one as long as the mean of those before it."""
    quiet, busy, volume = np.array(phases, float).T
    end = np.cumsum(quiet + busy)
    start = end - busy
    found = characterise_phases(start, end, volume, float(end[-1]) + rest, np.diff(start))
    shares = np.minimum(busy, 1.0)
    assert found.r_io == pytest.approx(busy.sum() / (end[-1] + rest - start[0]))
    assert found.sigma_vol == pytest.approx(np.std(volume / volume.max()))
    assert found.sigma_time == pytest.approx(np.std(shares))
    assert characterise_phases(start[:1], end[:1], volume[:1], float(end[0]), np.zeros(0)).sigma_vol is None
