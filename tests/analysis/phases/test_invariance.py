"""What changes nothing in a signal but how it is written changes no verdict: units, order, pieces of operations."""

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import detect_period, step_signal
from iostrata.analysis.results.result import PeriodResult

Operations = tuple[np.ndarray, np.ndarray, np.ndarray]


def train(random: np.random.Generator, count: int = 20, jitter: float = 0.03) -> Operations:
    start = np.cumsum(10 * (1 + jitter * random.normal(size=count)))
    return start, start + random.uniform(0.3, 3.0), random.lognormal(0, 0.2, count)


def regimes(random: np.random.Generator) -> Operations:
    one, other = train(random), train(random, 12)
    return np.append(one[0], one[0][-1] + 2.5 * other[0]), np.append(one[1], one[1][-1] + 2.5 * other[0]), np.ones(32)


def noise(random: np.random.Generator) -> Operations:
    edges = np.arange(301.0)
    return edges[:-1], edges[1:], random.exponential(size=300)


def two_trains(random: np.random.Generator) -> Operations:
    (start, end, volume), at = train(random), 7.3 * np.arange(30)
    return np.append(start, at), np.append(end, at + 1), np.append(volume, np.ones(30))


KINDS: dict[str, Callable[[np.random.Generator], Operations]] = {
    "train": train,
    "loose": lambda random: train(random, 30, 0.25),
    "regimes": regimes,
    "noise": noise,
    "random": lambda random: ((at := np.sort(random.uniform(0, 200, 25))), at + 0.5, random.lognormal(size=25)),
    "two trains": two_trains,
}


def in_pieces(random: np.random.Generator, start: np.ndarray, end: np.ndarray, volume: np.ndarray) -> Operations:
    share = random.uniform(0.1, 0.9, start.size)
    middle = start + share * (end - start)
    return np.append(start, middle), np.append(middle, end), np.append(volume * share, volume * (1 - share))


def verdict(operations: Operations, times: float = 1.0) -> tuple[bool, list[float], list[float], float]:
    result: PeriodResult = detect_period(step_signal(*operations))
    periods, starts = [one.period / times for one in result.periods], [one.start / times for one in result.regimes]
    return result.periodic, periods, starts, result.confidence


@settings(max_examples=40, deadline=None)
@given(st.sampled_from(sorted(KINDS)), st.integers(0, 2**20), st.integers(-30, 30), st.integers(-60, 60))
def test_how_a_signal_is_written_changes_nothing(kind: str, seed: int, times: int, volumes: int) -> None:
    random = np.random.default_rng(seed)
    start, end, volume = KINDS[kind](random)
    plain = verdict((start, end, volume))
    order = random.permutation(start.size)
    scale = 1.37 * 2.0**times
    for changed, unit in (
        ((start[order], end[order], volume[order]), 1.0),
        # Undoing it is joining operations that touch.
        (in_pieces(random, start, end, volume), 1.0),
        ((scale * start, scale * end, volume), scale),
        ((start, end, 0.77 * 2.0**volumes * volume), 1.0),
    ):
        found = verdict(changed, unit)
        assert found[0] == plain[0]
        for one, other in zip(found[1:], plain[1:], strict=True):
            assert one == pytest.approx(other, rel=1e-4, abs=1e-4)


@pytest.mark.parametrize("kind", sorted(KINDS))
def test_a_little_volume_more_or_less_changes_no_period(kind: str) -> None:
    changed = 0
    for seed in range(25):
        random = np.random.default_rng(seed)
        start, end, volume = KINDS[kind](random)
        one, other = (
            verdict((start, end, volume * size)) for size in (1.0, 1 + 0.01 * random.uniform(-1, 1, start.size))
        )
        same = one[0] == other[0] and (not one[0] or one[1][0] == pytest.approx(other[1][0], rel=0.02))
        changed += not same
    assert changed <= 1


@pytest.mark.parametrize("times", [2, 3])
def test_what_comes_again_is_no_more_evidence(times: int) -> None:
    """Of random intervals that come again one by one there is as seldom a period as of those that came first."""
    periodic = 0
    for seed in range(40):
        intervals = np.random.default_rng(seed).gamma(2.0, 0.5, 10) + 0.02
        start = np.append(0.0, np.cumsum(np.tile(intervals, times)))
        periodic += verdict((start, start + 0.01, np.ones(start.size)))[0]
    assert periodic <= 2


def test_a_train_that_comes_again_has_the_same_period() -> None:
    for seed in range(5):
        start = np.cumsum(10 * (1 + 0.08 * np.random.default_rng(seed).normal(size=12)))
        twice = np.append(start, start + 120.0)
        found = verdict((twice, twice + 1.0, np.ones(24)))
        assert found[0]
        assert found[1][0] == pytest.approx(10.0, rel=0.1)


def test_a_period_that_is_rather_wrong_leaves_no_cycle_of_sizes() -> None:
    intervals = np.tile(np.random.default_rng([29, 10, 77]).uniform(0.1, 2, 10), 2)
    start = np.append(0.0, np.cumsum(intervals))
    assert not verdict((start, start + 0.01, np.ones(start.size)))[0]
