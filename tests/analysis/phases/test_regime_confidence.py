"""Confidence in a regime: what it rises and falls with, and that it is the share that is right."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from iostrata import detect_period, step_signal
from iostrata.analysis.phases.calibration import regime_confidence

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
