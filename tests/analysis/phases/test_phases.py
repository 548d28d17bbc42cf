"""Phases keep their ramps and stragglers."""

from types import SimpleNamespace

import numpy as np
import pytest
from iostrata import detect_period, step_signal
from iostrata.analysis.phases.bursts import Bursts, vertices
from iostrata.analysis.phases.phases import phases_of, with_edges


def test_ramp_and_straggler_belong_to_their_phase() -> None:
    begin = 20.0 * np.arange(6) + 5
    start = np.concatenate((begin, begin + 1, begin + 4))
    end = np.concatenate((begin + 1, begin + 3, begin + 5))
    volume = np.repeat([5.0, 85.0, 10.0], 6)
    signal = step_signal(start, end, volume, window=(0.0, 130.0))
    core = Bursts(begin + 1, begin + 3, np.full(6, 85.0))
    found = with_edges(core, *vertices(signal))
    assert found.start == pytest.approx(begin)
    assert found.end == pytest.approx(begin + 5)
    assert found.volume == pytest.approx(np.full(6, 100.0))


def test_a_trickle_between_phases_does_not_move_their_edges() -> None:
    begin = 20.0 * np.arange(6) + 5
    trickle = np.arange(0.0, 125.0, 1.0)
    start, end = np.concatenate((begin, trickle)), np.concatenate((begin + 2, trickle + 0.01))
    volume = np.concatenate((np.full(6, 1e9), np.full(trickle.size, 60.0)))
    result = detect_period(step_signal(start, end, volume, window=(0.0, 130.0)), method="auto")
    assert result.period == pytest.approx(20.0, rel=1e-3)
    assert [phase.start for phase in result.phases] == pytest.approx(begin, abs=0.02)


def test_background_moves_no_edges() -> None:
    begin = 20.0 * np.arange(10) + 5
    start, end = np.append(begin, 0.0), np.append(begin + 4, 210.0)
    result = detect_period(step_signal(start, end, np.append(np.full(10, 1.0), 30.0)), method="auto")
    assert result.period == pytest.approx(20.0)
    assert [phase.start for phase in result.phases] == pytest.approx(begin)
    assert [phase.end for phase in result.phases] == pytest.approx(begin + 4)


def test_a_burst_that_holds_a_train_of_its_own_ends_where_that_begins() -> None:
    coarse = Bursts(np.arange(4.0), np.array([0.5, 1.5, 2.5, 5.0]), np.array([5.0, 5.0, 5.0, 20.0]))
    begin = 3.5 + 0.25 * np.arange(6)
    fine = Bursts(begin, begin + 0.2, np.full(6, 2.0))
    trains = [SimpleNamespace(bursts=one) for one in (coarse, fine)]
    decision = SimpleNamespace(trains=trains, main=trains[0], bursts=coarse, sets=[coarse, fine], kind="regimes")
    start, end = np.append(coarse.start, begin), np.append([0.5, 1.5, 2.5, 3.5], begin + 0.2)
    volume = np.append([5.0, 5.0, 5.0, 8.0], np.full(6, 2.0))
    found = phases_of(decision, *vertices(step_signal(start, end, volume)))
    assert found.bursts.start == pytest.approx(start)
    assert found.bursts.end == pytest.approx(end)
    assert found.bursts.volume == pytest.approx(volume)
    assert [rows.tolist() for rows in found.rows] == [[0, 1, 2, 3], [4, 5, 6, 7, 8, 9]]
