"""Verdicts on pairs of signals of which the relation is known."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from iostrata import Regime, detect_period, open_trace, step_signal
from iostrata.analysis.comparison.periods import VERDICTS, compare_flows, compare_periods, relation_of

WINDOW = (0.0, 60.0)


def bursts(period, delay=0.0, length=0.1, volume=1e6):
    start = np.arange(delay, 60.0 - period / 2, period)
    return step_signal(start, np.minimum(start + length, 60.0), np.full(len(start), volume), window=WINDOW)


def looked_at(signal):
    return (signal, detect_period(signal)) if signal.volume else None


def compared(first, second):
    return compare_periods(looked_at(first), looked_at(second))


def test_same_period_with_its_lag():
    found = compared(bursts(1.0), bursts(1.0, 0.2))
    assert found.verdict == "same"
    assert found.coherence.coherence > 0.95
    assert found.coherence.lag == pytest.approx(0.2, abs=0.02)
    entry = found.to_dict()
    assert entry["verdict"] in VERDICTS
    assert entry["upper_period_s"] == pytest.approx(1.0, rel=0.03)
    assert entry["lag_s"] == pytest.approx(0.2, abs=0.02)


def test_harmonic():
    assert compared(bursts(4.0), bursts(1.0)).verdict == "harmonic"
    assert compared(bursts(1.0), bursts(4.0)).verdict == "harmonic"


def test_smeared():
    flat = step_signal([0.0], [60.0], [6e7], window=WINDOW)
    found = compared(bursts(1.0), flat)
    assert found.verdict == "smeared"
    assert found.to_dict()["lower_modulation"] == pytest.approx(0.0, abs=1e-6)


def test_absent():
    nothing = step_signal([0.0], [1.0], [0.0], window=WINDOW)
    assert compared(bursts(1.0), nothing).verdict == "absent-below"
    little = step_signal([3.0], [3.1], [10.0], window=WINDOW)
    assert compared(bursts(1.0), little).verdict == "absent-below"
    flat = step_signal([0.0], [60.0], [6e7], window=WINDOW)
    above = compared(flat, bursts(1.0))
    assert above.verdict == "absent-above"
    assert above.to_dict()["coherence"] is None
    assert compare_periods(None, None).verdict == "none"


def test_regimes_are_compared_stretch_by_stretch():
    signal, result = looked_at(bursts(1.0))
    upper = replace(result, regimes=(Regime(0.0, 30.0, 1.0), Regime(30.0, 60.0, 2.0)))
    lower = replace(result, regimes=(Regime(0.0, 20.0, 1.0), Regime(40.0, 60.0, 1.0)))
    quiet = signal.clip(0.0, 20.0), signal.clip(40.0, 60.0)
    parts = [(one.times[:-1], one.times[1:], one.values * np.diff(one.times)) for one in quiet]
    below = step_signal(*(np.concatenate(rows) for rows in zip(*parts, strict=True)), window=WINDOW)
    found = compare_periods((signal, upper), (below, lower))
    assert [(one.start, one.end, one.relation) for one in found.stretches] == [
        (0.0, 20.0, "same"),
        (20.0, 30.0, "absent-below"),
        (30.0, 40.0, "absent-below"),
        (40.0, 60.0, "harmonic"),
    ]
    assert found.verdict == "split"


@pytest.mark.parametrize(
    ("second", "relation"),
    [(1.04, "same"), (3.0, "harmonic"), (0.25, "harmonic"), (1.4, "different"), (17.0, "different")],
)
def test_relations(second, relation):
    assert relation_of(1.0, second) == relation


def test_checkpoints_keep_their_period_down_to_posix(fixtures):
    trace = open_trace(fixtures / "ckpt4")
    place = [(flow.upper, flow.direction) for flow in trace.flows].index(("MPI-IO", "write"))
    found = compare_flows(trace, trace.flows)[place]
    assert found.verdict == "same"
    assert found.upper.period == pytest.approx(0.4015, rel=0.05)
    # POSIX writes at the end of each collective call, on average 3.9 ms after its begin.
    assert 0 < found.coherence.lag < 0.01


def test_without_regimes_a_period_holds_from_the_first_phase_to_the_last():
    signal, result = looked_at(bursts(1.0))
    upper = replace(result, regimes=())
    lower = replace(result, regimes=(Regime(10.0, 20.0, 1.0), Regime(20.0, 30.0, 1.0)))
    found = compare_periods((signal, upper), (signal, lower))
    assert len(result.phases) > 9
    edges = [result.phases[0].start, 10.0, 20.0, 30.0, result.phases[-1].end]
    assert [(one.start, one.end) for one in found.stretches] == list(pairwise(edges))
