"""How sure a period is said to be: between 0 and 1, and of a spectral line by how improbable it is without one."""

import numpy as np
import pytest
from iostrata import detect_period_samples
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.confidence import confidence
from iostrata.analysis.phases.decision import Decision

NONE = Bursts(np.zeros(0), np.zeros(0), np.zeros(0))


def line(p_value: float, bin_width: float = 0.0) -> float:
    return confidence(Decision("line", (), NONE, line=(10.0, p_value)), None, bin_width)


def test_a_line_is_surer_the_less_probable_it_is_without_one() -> None:
    values = [line(p) for p in (1.0, 1e-2, 1e-4, 1e-8, 1e-12)]
    assert values == sorted(values)
    assert values[0] == 0.5
    assert 0.6 < values[1] < 0.75
    assert values[-1] > 0.95


@pytest.mark.parametrize("p_value", [0.0, 5e-324, 1e-300])
def test_beyond_rounding_a_line_is_no_surer(p_value: float) -> None:
    assert line(p_value) == line(1e-12)


def test_a_line_in_coarse_bins_is_less_sure() -> None:
    assert line(1e-12, 2.5) < line(1e-12, 0.5) < line(1e-12)


def test_a_clear_wave_in_noise_is_surer_than_a_faint_one() -> None:
    random, phase = np.random.default_rng(4), 2 * np.pi * np.arange(2000) / 20
    noise = random.gamma(4.0, 1.0, 2000)
    found = [detect_period_samples(noise + size * (1 + np.cos(phase)), 1.0) for size in (0.45, 1.5)]
    assert [one.evidence.verdict for one in found] == ["line", "line"]
    assert [one.period for one in found] == pytest.approx([20, 20], rel=0.02)
    assert found[0].confidence < 0.9 < found[1].confidence
