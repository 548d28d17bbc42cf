"""Spectral lines in noise of several colours."""

import numpy as np
import pytest
from iostrata.analysis.spectral.noise_line import strongest_line


def coloured(rng: np.random.Generator, count: int, memory: float) -> np.ndarray:
    noise = rng.normal(size=count + 500)
    for row in range(1, noise.size):
        noise[row] += memory * noise[row - 1]
    return noise[500:]


@pytest.mark.parametrize("memory", [0.0, 0.7, 0.97, 1.0])
def test_noise_has_no_line(memory: float) -> None:
    found = 0
    for seed in range(150):
        line = strongest_line(coloured(np.random.default_rng(seed), 700, memory), 1.0)
        found += line is not None and line.p_value < 0.01
    assert found <= 5


@pytest.mark.parametrize("period", [5.37, 23.7, 61.3])
def test_a_weak_oscillation_is_found_off_the_grid(period: float) -> None:
    n = np.arange(2000)
    for seed in range(20):
        rng = np.random.default_rng(seed)
        line = strongest_line(0.5 * np.sin(2 * np.pi * n / period + rng.uniform(0, 6)) + rng.normal(size=n.size), 1.0)
        assert line is not None
        assert line.p_value < 1e-3
        assert line.period == pytest.approx(period, rel=0.01)
        assert line.interval[0] < line.period < line.interval[1]


def test_units_of_time() -> None:
    x = np.sin(np.arange(500) / 3.0) + np.random.default_rng(0).normal(size=500)
    slow, fast = strongest_line(x, 1.0), strongest_line(x, 1000.0)
    assert slow is not None
    assert fast is not None
    assert fast.period == pytest.approx(slow.period / 1000)
    assert fast.p_value == slow.p_value


@pytest.mark.parametrize("x", [np.zeros(100), np.full(1000, 3.3), np.arange(10.0)])
def test_nothing_to_see(x: np.ndarray) -> None:
    assert strongest_line(x, 1.0) is None
