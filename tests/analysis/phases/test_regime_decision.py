"""Regimes whose first phases were lost begin where their period begins, against signals that are made so."""

import numpy as np
import pytest
from iostrata import StepSignal, detect_period, step_signal
from iostrata.analysis.phases.regime_decision import with_lost_beginnings
from iostrata.analysis.phases.trains import PhaseTrain, vertices
from iostrata.analysis.phases.verdict import Stay


def fast_then_slow(slow: float = 16.0) -> tuple[StepSignal, np.ndarray]:
    start = np.concatenate((4.0 * np.arange(20), 90.0 + slow * np.arange(9)))
    return step_signal(start, start + 1.0, np.full(start.size, 1e9), window=(0.0, 100.0 + 9 * slow)), start


def phases_at(start: np.ndarray) -> PhaseTrain:
    ones = np.ones(start.size)
    return PhaseTrain(start, start + 1.0, ones, ones, 10.0)


@pytest.mark.parametrize("lost", [1, 2, 3])
def test_a_regime_gets_back_what_it_lost(lost: int) -> None:
    signal, start = fast_then_slow()
    kept = np.delete(start, np.arange(20, 20 + lost))
    stays = (Stay(0.0, float(kept[20]), 4.0), Stay(float(kept[20]), 220.0, 16.0))
    before, after = with_lost_beginnings(stays, phases_at(kept), *vertices(signal))
    assert after.start == pytest.approx(90.0, abs=2.0)
    assert before.end == after.start
    assert (before.start, before.period, after.end, after.period) == (0.0, 4.0, 220.0, 16.0)


def test_a_boundary_that_is_right_stays_to_the_digit() -> None:
    signal, start = fast_then_slow()
    stays = (Stay(0.0, 90.0, 4.0), Stay(90.0, 220.0, 16.0))
    assert with_lost_beginnings(stays, phases_at(start), *vertices(signal)) == stays


def test_a_pause_before_a_regime_is_no_part_of_it() -> None:
    start = np.concatenate((4.0 * np.arange(20), 150.0 + 16.0 * np.arange(9)))
    signal = step_signal(start, start + 1.0, np.full(start.size, 1e9), window=(0.0, 300.0))
    stays = (Stay(0.0, 150.0, 4.0), Stay(150.0, 279.0, 16.0))
    assert with_lost_beginnings(stays, phases_at(start), *vertices(signal)) == stays


def test_auto_finds_slow_bursts_that_are_one_with_fast_ones_over_its_level() -> None:
    rng = np.random.default_rng(2)
    first = 5 + 10.0 * np.arange(14) + rng.normal(0, 0.2, 14)
    start = np.concatenate((first, 145 + 4.0 * np.arange(20), 230 + 16.0 * np.arange(9)))
    length = np.repeat([2.0, 1.0, 3.0], [14, 20, 9])
    regimes = detect_period(step_signal(start, start + length, 1e9 * length, window=(0.0, 380.0))).regimes
    assert [regime.period for regime in regimes] == pytest.approx([10.0, 4.0, 16.0], rel=0.02)
    assert [regime.start for regime in regimes] == pytest.approx([5.0, 145.0, 230.0], abs=3.0)
    assert all(regime.confidence is not None and regime.confidence > 0.95 for regime in regimes)
