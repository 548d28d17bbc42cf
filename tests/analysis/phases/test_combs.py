"""Combs of interleaved clocks, and cycles of sizes."""

import numpy as np
import pytest
from iostrata.analysis.phases.combs import find_combs, size_cycle


def interleaved(rng: np.random.Generator, periods: tuple[float, ...], window: float) -> np.ndarray:
    trains = [np.arange(rng.uniform(0, period), window, period) for period in periods]
    return np.sort(np.concatenate(trains))


@pytest.mark.parametrize("periods", [(50.0, 31.0), (100.0, 37.0), (60.0, 23.0, 14.3)])
def test_interleaved_clocks_are_told_apart(periods: tuple[float, ...]) -> None:
    for seed in range(10):
        start = interleaved(np.random.default_rng(seed), periods, 2000.0)
        combs = find_combs(start, start + 1.0, 2000.0, 1e-3)
        found = sorted(comb.period for comb in combs)
        np.testing.assert_allclose(found, sorted(periods), rtol=2e-3)


def test_random_events_are_no_comb() -> None:
    false = 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        start = np.sort(rng.uniform(0, 1000.0, rng.integers(5, 60)))
        false += bool(find_combs(start, start + 1.0, 1000.0, 1e-2))
    assert false <= 6


def test_teeth_under_a_larger_phase_are_not_missed() -> None:
    large = 60.0 * np.arange(16)
    small = np.arange(3.0, 960.0, 8.0)
    inside = (small % 60.0) <= 25.0
    seen = small[~inside]
    assert seen.size < 0.75 * small.size
    assert all(abs(comb.period - 8.0) > 0.1 for comb in find_combs(seen, seen + 1.0, 960.0, 1e-3))
    combs = find_combs(seen, seen + 1.0, 960.0, 1e-3, (large, large + 25.0))
    assert [round(comb.period, 6) for comb in combs] == [8.0]


@pytest.mark.parametrize("sizes", [(64.0, 16.0), (64.0, 32.0, 16.0), (1.0, 1.0, 1.0, 1.0, 9.0)])
def test_cycles_of_sizes(sizes: tuple[float, ...]) -> None:
    rng = np.random.default_rng(0)
    noisy = np.resize(sizes, 24) * rng.lognormal(0.0, 0.1, 24)
    assert size_cycle(noisy, 0.01) == len(sizes)


def test_no_cycle_in_equal_or_random_sizes() -> None:
    assert size_cycle(np.full(20, 3.0), 0.01) is None
    rng = np.random.default_rng(0)
    assert sum(size_cycle(rng.lognormal(0.0, 1.0, 20), 0.01) is not None for _ in range(200)) <= 6
