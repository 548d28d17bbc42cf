"""The confidence rises with what speaks for a result."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata import detect_period, step_signal
from iostrata.analysis.phases.calibration import COEFFICIENTS, confidence, features, merged_share, regime_confidence
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


shares, jitters = st.floats(0, 1), st.floats(0, 5)


@given(shares, shares, jitters, jitters)
def test_it_grows_with_the_share_and_falls_with_jitter(one: float, two: float, calm: float, wild: float) -> None:
    base = regime_confidence(min(one, two), max(calm, wild))
    assert 0 < base < 1
    assert regime_confidence(max(one, two), max(calm, wild)) >= base
    assert regime_confidence(min(one, two), min(calm, wild)) >= base


def test_of_regimes_with_jitter_as_many_are_right_as_it_says() -> None:
    said, right = [], []
    for seed in range(60):
        rng = np.random.default_rng([seed, 31])
        jitter, parts, at = rng.uniform(0, 0.3), [], 5.0
        periods = (10.0, 10.0 * rng.uniform(2, 4))
        for period in periods:
            intervals = period * np.maximum(1 + jitter * rng.normal(size=15), 0.2)
            parts.append(at + np.concatenate(([0.0], np.cumsum(intervals[:-1]))))
            at += float(intervals.sum())
        start = np.concatenate(parts)
        regimes = detect_period(step_signal(start, start + 1.0, np.full(30, 1e9), window=(0.0, at + 5.0))).regimes
        if len(regimes) == 2:
            said += [regime.confidence for regime in regimes]
            right += [abs(regime.period / period - 1) <= 0.1 for regime, period in zip(regimes, periods, strict=True)]
    assert len(said) > 60
    assert abs(np.mean(said) - np.mean(right)) < 0.05
