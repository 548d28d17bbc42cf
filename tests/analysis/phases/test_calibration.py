"""The confidence rises with what speaks for a result."""

import numpy as np
import pytest
from iostrata.analysis.phases.calibration import COEFFICIENTS, confidence, features, merged_share
from iostrata.analysis.phases.trains import PhaseTrain


def train(count: int, contrast: float, volume: np.ndarray | None = None) -> PhaseTrain:
    start = 10.0 * np.arange(count)
    moved = np.ones(count) if volume is None else volume
    return PhaseTrain(start, start + 1.0, moved, moved, contrast)


def test_there_is_a_coefficient_for_every_feature() -> None:
    assert features(train(5, 3.0), 0.1).shape == (len(COEFFICIENTS),)


def test_it_falls_with_jitter_and_rises_with_contrast_and_count() -> None:
    jitters = [confidence(train(20, 5.0), jitter) for jitter in (0.0, 0.1, 0.3, 0.5, 0.7, 1.5)]
    assert jitters == sorted(jitters, reverse=True)
    contrasts = [confidence(train(20, contrast), 0.5) for contrast in (1.0, 2.0, 10.0, 1000.0)]
    assert contrasts == sorted(contrasts)
    counts = [confidence(train(count, 5.0), 0.3) for count in (4, 8, 20, 100)]
    assert counts == sorted(counts)


@pytest.mark.parametrize("contrast", [1.0, 1e9])
@pytest.mark.parametrize("jitter", [0.0, 50.0])
def test_it_stays_within_its_bounds(contrast: float, jitter: float) -> None:
    wild = np.random.default_rng(0).lognormal(0.0, 3.0, 12)
    assert 0 <= confidence(train(12, contrast, wild), jitter) <= 1


def test_merged_phases_are_counted() -> None:
    assert merged_share(train(10, 5.0, np.array([1.0] * 8 + [2.0, 3.1]))) == pytest.approx(0.3)
    assert merged_share(train(10, 5.0)) == 0.0
