"""Verdict, grade, confidence, interval and sentence of one result say the same, whatever the signal."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import detect_period, open_trace, step_signal
from iostrata.analysis.results.result import PeriodResult
from iostrata.model.quantities import seconds_text


def contradictions(result: PeriodResult) -> list[str]:
    """Return what in a result contradicts the rest of it."""
    reason, said = result.reason, result.period_interval or (0.0, 0.0)
    known = result.period is not None and max(said[1] - result.period, result.period - said[0]) <= 0.1 * result.period
    interval = f"({' … '.join(map(seconds_text, said))})"
    claims = {
        "a period is sure to a half at least, none not at all": result.confidence >= 0.5
        if result.periodic
        else result.confidence == 0,
        "a period lies in its interval": not result.periodic or said[0] <= (result.period or 0.0) <= said[1],
        "without a period there is no regime": result.periodic == bool(result.regimes),
        "each regime is sure to a half at least": all((one.confidence or 0.0) >= 0.5 for one in result.regimes),
        "none has no period": (result.grade == "none") != result.periodic,
        "certain is sure and known": (result.grade == "certain") == (known and result.confidence >= 0.9),
        "probable is told with its interval": (result.grade == "probable" and "spectrum" not in reason)
        == (reason.startswith("About every") and interval in reason),
        "nothing is to be settled of what is certain": result.grade == "probable" or "would settle it" not in reason,
        "chance is spoken of where it is": ("chance:" in reason or "irregular:" in reason) <= (not result.periodic),
        "evidence is told where there is a period": ("more regular than chance" in reason or "spectrum" in reason)
        == result.periodic,
    }
    return [claim for claim, holds in claims.items() if not holds]


@settings(max_examples=120, deadline=None)
@given(
    st.integers(3, 60),
    st.sampled_from([0.0, 0.02, 0.15, 0.25, 0.35, 0.5, 1.0]),
    st.sampled_from([1.0, 1.6, 4.0]),
    st.sampled_from([0.0, 0.5, 3.0]),
    st.integers(0, 2**20),
)
def test_a_result_does_not_contradict_itself(
    count: int, jitter: float, ratio: float, background: float, seed: int
) -> None:
    random = np.random.default_rng(seed)
    steps = 10 * np.append(np.ones(count), np.full(count // 2, ratio))
    start = np.cumsum(steps * np.maximum(1 + jitter * random.normal(size=steps.size), 0.05))
    blocks = np.linspace(0.0, float(start[-1]), 4 * count)
    length = np.append(np.full(start.size, 1.0), np.diff(blocks))
    volume = np.append(random.lognormal(0, 0.3, start.size), background * random.exponential(size=blocks.size - 1))
    start = np.append(start, blocks[:-1])
    assert contradictions(detect_period(step_signal(start, start + length, volume))) == []


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 9), min_size=1, max_size=200), st.integers(1, 12))
def test_nor_does_that_of_samples(values: list[int], times: int) -> None:
    many = np.tile(np.array(values, np.float64), times)
    assert contradictions(detect_period(step_signal(np.arange(many.size), np.arange(many.size) + 1.0, many))) == []


@pytest.mark.parametrize("name", ["aperiodic4", "ckpt16", "ckpt4_jitter", "ior384", "late4", "mixed4", "ncckpt4"])
def test_nor_does_that_of_a_recording(fixtures: Path, name: str) -> None:
    told = 0
    for layer in open_trace(fixtures / name).layers.values():
        for direction in ("read", "write"):
            told += 1
            assert contradictions(detect_period(layer.bandwidth(direction))) == []
    assert told
