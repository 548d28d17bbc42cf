"""Options that all methods of the spectrum share."""

import json
from dataclasses import replace

import numpy as np
import pytest
from iostrata import SelectionError, detect_period_samples, step_signal
from iostrata.analysis.methods.ftio import FtioMethod
from iostrata.analysis.registry import period_method

SPECTRAL = ["ftio", "ftio-dbscan", "ftio-isolation-forest", "ftio-lof", "ftio-merged", "ftio-peaks"]


@pytest.fixture(params=SPECTRAL)
def method(request: pytest.FixtureRequest) -> str:
    """Name of each method; those of scikit-learn only with it."""
    name = str(request.param)
    if name in SPECTRAL[1:4]:
        pytest.importorskip("sklearn")
    return name


def waves(*parts: tuple[int, float], count: int = 400) -> np.ndarray:
    """Cosines on lines of the spectrum, each with its amplitude, over a constant, in weak noise."""
    n = np.arange(count) + 0.5
    noise = np.random.default_rng(8).normal(0, 0.01, count)
    return noise + 10 + sum(a * np.cos(2 * np.pi * k * n / count + 0.3) for k, a in parts)


def test_in_amplitudes_a_weaker_line_is_nearer(method: str) -> None:
    """0.85 of the amplitude is 0.72 of the power: a candidate at a tolerance of 0.8 of the one, not of the other."""
    samples = waves((21, 1.0), (50, 0.85))
    power = detect_period_samples(samples, 1.0, method=method, spectrum="power")
    amplitude = detect_period_samples(samples, 1.0, method=method, spectrum="amplitude")
    assert (power.evidence.candidates, amplitude.evidence.candidates) == (1, 2)
    assert power.frequency == amplitude.frequency == pytest.approx(21 / 400)
    assert detect_period_samples(samples, 1.0, method=method).to_dict() == power.to_dict()
    assert detect_period_samples(samples, 1.0, method=method, tolerance=0.6).evidence.candidates == 2


def test_a_threshold_out_of_reach_leaves_no_outlier(method: str) -> None:
    high = 0.99 if method == "ftio-isolation-forest" else 13.9 if method != "ftio-lof" else 1e6
    assert detect_period_samples(waves((21, 1.0), (50, 0.95)), 1.0, method=method).periodic
    result = detect_period_samples(waves((21, 1.0), (50, 0.95)), 1.0, method=method, threshold=high)
    assert not result.periodic
    assert result.reason.startswith("No frequency")


def test_the_strongest_frequencies_are_listed(method: str) -> None:
    samples = waves((21, 1.0), (50, 0.5))
    result = detect_period_samples(samples, 2.0, method=method, frequencies=2)
    listed = result.evidence.frequencies
    assert isinstance(listed, list)
    assert [row["frequency_hz"] for row in listed] == pytest.approx([21 / 200, 50 / 200])
    assert [row["amplitude"] for row in listed] == pytest.approx([1.0, 0.5], rel=0.02)
    assert [row["phase_rad"] for row in listed] == pytest.approx([0.3, 0.3], abs=0.02)
    assert detect_period_samples(samples, 2.0, method=method, frequencies=0).evidence.frequencies == []
    assert json.loads(json.dumps(result.to_dict()))["evidence"]["frequencies"] == listed


@pytest.mark.parametrize(
    "option",
    [
        {"spectrum": "phase"},
        {"spectrum": None},
        {"tolerance": 0.0},
        {"tolerance": "0.8"},
        {"tolerance": True},
        {"threshold": 0.0},
        {"threshold": np.inf},
        {"threshold": np.nan},
        {"threshold": "3"},
        {"frequencies": -1},
        {"frequencies": 2.0},
        {"frequencies": True},
        {"skip_first_phase": 1},
    ],
)
def test_options_out_of_range_are_refused_in_one_line(method: str, option: dict[str, object]) -> None:
    with pytest.raises(SelectionError, match=next(iter(option))) as caught:
        detect_period_samples(waves((21, 1.0)), 1.0, method=method, **option)
    assert "\n" not in str(caught.value)


def test_a_signal_without_a_line_has_no_period(method: str) -> None:
    for samples in (np.zeros(100), np.full(100, 7.0), np.eye(1, 100, 40)[0], np.ones(1)):
        result = detect_period_samples(samples, 1.0, method=method)
        assert not result.periodic
        assert result.confidence == 0.0


@pytest.mark.parametrize("name", ["ftio-dbscan", "ftio-isolation-forest", "ftio-lof"])
def test_a_bounded_search_says_how_far_it_went(name: str) -> None:
    pytest.importorskip("sklearn")
    found = period_method(name)
    assert isinstance(found, FtioMethod)
    assert found.criterion.most_lines == 2**16

    class Bounded(type(found)):  # type: ignore[misc]
        criterion = replace(found.criterion, most_lines=60)

    starts = 4.0 * np.arange(50)
    signal = step_signal(starts, starts + 1.0, np.ones(50), window=(0.0, 200.0))
    result = Bounded()(signal, 2.0)
    assert result.period == pytest.approx(4.0)
    assert result.evidence.frequencies_searched == 60
    assert "Only the lowest 60 of 200 frequencies were searched, up to 0.3 Hz." in result.reason
