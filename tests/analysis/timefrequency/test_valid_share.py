"""How long a period holds in a stretch, against stretches that are made to have it for a known time."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import StepSignal, detect_period, event_signal, step_signal
from iostrata.analysis.phases.bursts import vertices
from iostrata.analysis.timefrequency.validity import MOST_PERIODS, holding_share


def train(count: int, period: float, duty: float = 0.2, jitter: float = 0.0, first: float = 3.0) -> StepSignal:
    rng = np.random.default_rng(count)
    start = first + period * (np.arange(count) + jitter * rng.uniform(-0.5, 0.5, count))
    return step_signal(start, start + duty * period, np.full(count, 1e9), window=(0.0, first + period * count))


@settings(max_examples=40)
@given(st.integers(5, 60), st.floats(1e-3, 1e4), st.floats(0.01, 0.7), st.floats(0, 0.05), st.floats(-0.03, 0.03))
def test_a_clock_holds_all_the_time(count: int, period: float, duty: float, jitter: float, off: float) -> None:
    signal = train(count, period, duty, jitter, first=0.3 * period)
    first, last = 0.3 * period, 0.3 * period + (count - 1 + duty) * period
    share = holding_share(*vertices(signal), first, last, period * (1 + off))
    assert share is not None
    assert share >= 0.8


@pytest.mark.parametrize(
    ("count", "duty", "jitter", "off"),
    [
        (39, 0.02103, 0.0379, -0.02),
        (53, 0.02003, 0.03591, 0.03),
        (30, 0.01822, 0.0465, 0.025),
        (51, 0.0269, 0.0329, 0.03),
    ],
)
def test_it_does_not_hang_on_how_well_the_period_is_known(count: int, duty: float, jitter: float, off: float) -> None:
    signal = train(count, 10.0, duty, jitter)
    last = 3.0 + (count - 1 + duty) * 10.0
    shares = [holding_share(*vertices(signal), 3.0, last, 10.0 * (1 + part * off)) for part in np.linspace(-1, 1, 25)]
    assert min(share or 0.0 for share in shares) > 0.8


def test_volume_that_moves_in_no_time_counts_from_the_first_on() -> None:
    signal = event_signal(np.arange(2.0, 42.0, 2.0), window=(0.0, 42.0))
    assert holding_share(*vertices(signal), 2.0, 40.0, 2.0) == pytest.approx(1.0, abs=0.05)


@pytest.mark.parametrize("part", [0.3, 0.5, 0.7])
def test_of_a_stretch_in_which_it_stops_it_holds_for_the_part(part: float) -> None:
    signal = train(40, 10.0)
    end = 3.0 + 400.0 / part
    longer = step_signal(signal.times[:-1], signal.times[1:], signal.values * np.diff(signal.times), window=(0.0, end))
    assert holding_share(*vertices(longer), 3.0, end, 10.0) == pytest.approx(part, abs=0.05)


@pytest.mark.parametrize("ratio", [0.55, 0.7, 1.4, 1.8])
def test_another_period_does_not_hold(ratio: float) -> None:
    share = holding_share(*vertices(train(40, 10.0)), 3.0, 400.0, 10.0 * ratio)
    assert share is not None
    assert share < 0.3


def test_bursts_at_random_times_do_not_hold() -> None:
    shares = []
    for seed in range(40):
        start = np.cumsum(np.random.default_rng(seed).exponential(10.0, 40))
        signal = step_signal(start, start + 1.0, np.full(40, 1.0), window=(0.0, float(start[-1]) + 10.0))
        shares.append(holding_share(*vertices(signal), float(start[0]), float(start[-1]), 10.0))
    assert np.mean(shares) < 0.25


def test_a_stretch_too_short_for_it_has_none() -> None:
    assert holding_share(*vertices(train(10, 10.0)), 3.0, 25.0, 10.0) is None


def test_of_very_many_periods_parts_stand_for_all() -> None:
    count = 3 * MOST_PERIODS
    start = 1.0 * np.arange(count)
    kept = start < count / 2
    signal = step_signal(start[kept], start[kept] + 0.2, np.full(int(kept.sum()), 1.0), window=(0.0, float(count)))
    assert holding_share(*vertices(signal), 0.0, float(count), 1.0) == pytest.approx(0.5, abs=1 / 16)


def test_auto_gives_it_with_every_regime() -> None:
    first, second = 5.0 + 10.0 * np.arange(20), 205.0 + 4.0 * np.arange(40)
    start = np.concatenate((first, second))
    result = detect_period(step_signal(start, start + 1.0, np.full(60, 1e9), window=(0.0, 370.0)))
    assert len(result.regimes) == 2
    for regime in result.regimes:
        assert regime.valid_share is not None
        assert regime.valid_share > 0.9
        assert regime.to_dict()["valid_share"] == regime.valid_share
        assert regime.confidence is not None
        assert regime.confidence > 0.95
    assert result.confidence in [regime.confidence for regime in result.regimes]


def test_jitter_across_the_borders_of_bins_is_no_change_of_the_period() -> None:
    rng = np.random.default_rng(4)
    start = 0.7 + 0.4 * np.arange(20) + rng.normal(0, 0.005, 20)
    signal = step_signal(start, start + 0.002, np.ones(20), window=(0.0, float(start[-1]) + 0.01))
    share = holding_share(*vertices(signal), float(start[0]), float(start[-1]), 0.4)
    assert share is not None
    assert share > 0.95
