"""Real archives against what the programs themselves said."""

import json
from pathlib import Path

import pytest
from iostrata import detect_period, open_trace


@pytest.mark.parametrize("name", ["ckpt4", "ckpt4_jitter", "ckpt16", "ckpt8_unnested"])
@pytest.mark.parametrize("layer", ["MPI-IO", "POSIX"])
def test_checkpoints(fixtures: Path, name: str, layer: str) -> None:
    truth = json.loads((fixtures / name / "truth.json").read_text())["checkpoints"]
    signal = open_trace(fixtures / name).layers[layer].bandwidth("write")
    result = detect_period(signal, method="auto")
    assert result.period == pytest.approx(truth["mean_interval_s"], rel=0.01)
    assert len(result.phases) == truth["count"]
    assert sum(phase.volume for phase in result.phases) >= 0.98 * signal.volume
    assert result.regimes[0].metrics is not None
    assert result.regimes[0].metrics.volume_per_period == pytest.approx(signal.volume / truth["count"], rel=0.05)


@pytest.mark.parametrize("direction", ["write", "read"])
def test_ior_on_384_ranks(fixtures: Path, direction: str) -> None:
    truth = json.loads((fixtures / "ior384" / "truth.json").read_text())[f"{direction}_phases"]
    signal = open_trace(fixtures / "ior384").layers["MPI-IO"].bandwidth(direction)
    result = detect_period(signal, method="auto")
    assert result.period == pytest.approx(truth["mean_interval_s"], rel=0.01)
    assert len(result.phases) == truth["count"]
    assert sum(phase.volume for phase in result.phases) >= 0.98 * signal.volume
    for phase, start, end in zip(result.phases, truth["starts_s"], truth["ends_s"], strict=True):
        assert phase.start == pytest.approx(start, abs=0.5)
        assert phase.end == pytest.approx(end, abs=0.5)


def test_an_aperiodic_program_is_not_periodic(fixtures: Path) -> None:
    trace = open_trace(fixtures / "aperiodic4")
    for layer in trace.layers.values():
        for direction in ("read", "write"):
            assert not detect_period(layer.bandwidth(direction), method="auto").periodic
