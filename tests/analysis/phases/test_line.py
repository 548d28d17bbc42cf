"""Spectral lines: a period beneath irregular I/O is found, with its p-value, and none in noise."""

import numpy as np
import pytest
from iostrata import StepSignal, detect_period, step_signal
from iostrata.analysis.phases.bursts import vertices
from iostrata.analysis.phases.line import spectral_line


def beneath(
    random: np.random.Generator, cycles: int, share: float, spread: float, period: float = 20.0, run: float = 0.0
) -> StepSignal:
    """Bursts of 4 s every period beneath operations of log-normal rates that move `share` times as much."""
    starts = period * np.arange(1, cycles + 1)
    edges = np.linspace(0.0, (cycles + 2) * period, 5 * cycles + 1)
    rates = random.lognormal(0.0, spread, edges.size - 1)
    volumes = np.append(np.full(cycles, 4.0), share * 4.0 * cycles * rates / rates.sum())
    window = (0.0, run or float(edges[-1]))
    return step_signal(np.append(starts, edges[:-1]), np.append(starts + 4.0, edges[1:]), volumes, window=window)


@pytest.mark.parametrize("seed", range(8))
def test_giant_operations_hide_no_period(seed: int) -> None:
    line = spectral_line(*vertices(beneath(np.random.default_rng(seed), 30, 4.0, 1.6)), 0.0)
    assert line is not None
    assert line[0] == pytest.approx(20.0, rel=0.02)
    assert line[1] < 0.01


def test_a_clear_line_is_no_fraction_and_no_multiple_of_its_period() -> None:
    found = [spectral_line(*vertices(beneath(np.random.default_rng(seed), 40, 1.0, 0.3)), 0.0) for seed in range(8)]
    assert [line and line[0] for line in found] == pytest.approx([20.0] * 8, rel=0.01)
    assert all(line and 0 <= line[1] < 1e-12 for line in found)


def test_noise_has_no_line() -> None:
    edges, found = np.arange(401.0), []
    for seed in range(40):
        rates = np.random.default_rng(seed).exponential(size=400)
        found.append(spectral_line(*vertices(step_signal(edges[:-1], edges[1:], rates)), 1.0))
    assert all(line and 0.01 < line[1] <= 1 for line in found)


def test_what_rests_for_most_of_the_time_has_no_line() -> None:
    starts = 10.0 * np.arange(40)
    assert spectral_line(*vertices(step_signal(starts, starts + 4.0, np.ones(40))), 0.0) is None
    assert spectral_line(*vertices(step_signal(starts, starts + 6.0, np.ones(40))), 0.0) is not None


@pytest.mark.parametrize("floor", [0.1, 1.0, 10.0])
def test_a_constant_floor_is_no_activity(floor: float) -> None:
    start = np.append(10.0 * np.arange(40), 0.0)
    end = np.append(start[:-1] + 4.0, 400.0)
    assert spectral_line(*vertices(step_signal(start, end, np.append(np.ones(40), 40 * floor))), 0.0) is None


@pytest.mark.parametrize(("share", "spread", "seed"), [(1.5, 0.6, 0), (1.5, 0.6, 10), (1.5, 0.9, 2), (1.0, 0.9, 24)])
def test_where_bursts_are_miscounted_the_line_has_the_period(share: float, spread: float, seed: int) -> None:
    """Of bursts that merge with what lies beside them some are lost, others are none; their mean interval is off."""
    result = detect_period(beneath(np.random.default_rng(seed), 40, share, spread))
    assert result.evidence.to_dict()["verdict"] == "line"
    assert result.period == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize("spread", [0.0, 0.001])
def test_spikes_that_move_next_to_nothing_over_a_constant_rate_have_no_line(spread: float) -> None:
    """As of operations in flight all the time, of which some always end as others begin."""
    random, start = np.random.default_rng(0), 0.05 * np.arange(8)
    rates = 1e7 * (1 + spread * random.normal(size=8))
    spikes = start + 0.0499
    signal = step_signal(
        np.append(start, spikes), np.append(start + 0.05, spikes + 1e-4), np.append(0.05 * rates, np.full(8, 3e3))
    )
    assert spectral_line(*vertices(signal), 0.0) is None


def test_noise_that_comes_twice_has_no_line() -> None:
    """Every other line of its spectrum is empty, so that all others stand out of the noise beside them."""
    clear = 0
    for seed in range(20):
        random, values = np.random.default_rng(seed), np.zeros(400)
        for row in range(1, values.size):
            values[row] = 0.8 * values[row - 1] + random.normal()
        twice = np.tile(values - values.min(), 2)
        line = spectral_line(*vertices(step_signal(np.arange(800), np.arange(800) + 1.0, twice)), 1.0)
        clear += line is not None and line[1] < 0.01
    assert clear <= 1


@pytest.mark.parametrize("between", [1, 60])
def test_noise_that_comes_again_after_a_pause_has_no_line(between: int) -> None:
    clear, start = 0, np.append(np.arange(400.0), np.arange(400.0) + 400 + between)
    for seed in range(20):
        twice = np.tile(np.random.default_rng(seed).exponential(size=400), 2)
        line = spectral_line(*vertices(step_signal(start, start + 1.0, twice)), 1.0)
        clear += line is not None and line[1] < 0.01
    assert clear <= 1


def test_a_line_within_a_hundredth_of_the_run_is_none() -> None:
    found = [detect_period(beneath(np.random.default_rng(1), 40, 1.0, 0.3, run=run)) for run in (840.0, 85000.0)]
    assert [one.periodic for one in found] == [True, False]
