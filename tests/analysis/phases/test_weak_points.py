"""What is between hard limits: counters, exact duties, pauses, far slower and far faster trains, few phases."""

import numpy as np
import pytest
from iostrata import detect_period, detect_period_samples, step_signal
from iostrata.analysis.phases.bins import bin_width
from iostrata.analysis.phases.bursts import vertices
from iostrata.analysis.results.result import PeriodResult


def verdict(start: np.ndarray, length: float | np.ndarray, volume: float | np.ndarray = 1e9) -> PeriodResult:
    return detect_period(step_signal(start, start + length, np.broadcast_to(volume, start.shape)))


def test_a_sparse_counter_may_be_uneven() -> None:
    random = np.random.default_rng(2)
    intervals = np.maximum(np.rint(30 * (1 + 0.15 * random.normal(size=40))), 5).astype(int)
    values = np.zeros(intervals.sum() + 30)
    values[np.append(0, np.cumsum(intervals))] = random.integers(5, 10, 41)
    assert detect_period_samples(values, 1.0).period == pytest.approx(intervals.mean(), rel=0.02)


@pytest.mark.parametrize("duty", [1 / 2, 1 / 3, 2 / 3, 3 / 4])
def test_a_duty_on_a_grid_makes_no_bins(duty: float) -> None:
    start = 20.0 * np.arange(50)
    result = verdict(start, 20 * duty, 1e9 * (1 + 0.01 * np.random.default_rng(0).uniform(-1, 1, 50)))
    assert result.period == pytest.approx(20.0)
    assert not result.on_bins


def test_a_long_silent_pause_leaves_nothing_unexplained() -> None:
    start = 10.0 * np.append(np.arange(15), 80 + np.arange(12))
    start = start + 0.2 * np.random.default_rng(0).normal(size=start.size)
    assert verdict(start, 2.0).period == pytest.approx(10.0, rel=0.02)


def test_two_long_silent_pauses_leave_nothing_unexplained_either() -> None:
    start = 10.0 * np.concatenate([at + np.arange(12) for at in (0, 80, 170)])
    start = start + 0.2 * np.random.default_rng(0).normal(size=start.size)
    assert verdict(start, 2.0).period == pytest.approx(10.0, rel=0.02)


def test_gamma_intervals_of_a_third_are_loose_and_those_of_a_half_and_more_free() -> None:
    found = {}
    for jitter in (0.35, 0.6, 0.8):
        stated = 0
        for seed in range(30):
            random = np.random.default_rng(seed)
            intervals = 10 * random.gamma(1 / jitter**2, jitter**2, int(random.integers(40, 120)))
            result = verdict(np.append(0.0, np.cumsum(intervals)), 0.01)
            stated += result.period is not None and abs(result.period / intervals.mean() - 1) < 0.05
        found[jitter] = stated
    assert found[0.35] >= 26
    assert found[0.6] + found[0.8] <= 2


@pytest.mark.parametrize("hosts", [2, 5, 8])
def test_load_of_hosts_out_of_step_is_in_bins_of_one_host(hosts: int) -> None:
    random = np.random.default_rng(hosts)
    start = np.concatenate([random.uniform() + np.arange(400) for _ in range(hosts)])
    signal = step_signal(start, start + 1.0, random.exponential(size=start.size))
    assert bin_width(*vertices(signal)) == pytest.approx(1.0)
    assert not detect_period(signal).periodic


def test_boxes_of_equal_bins_are_no_bins_of_several_hosts() -> None:
    # Their edges come again after a period, and so do their rates.
    start = np.concatenate([10.0 * np.arange(40) + at for at in (0.0, 1.5, 4.0)])
    volume = np.repeat([1.0, 4.0, 2.0], 40)
    assert verdict(start, np.repeat([1.5, 2.5, 6.0], 40), volume).period == pytest.approx(10.0)


def test_the_main_regime_has_evidence_of_its_own() -> None:
    # Four uneven bursts move more than the thirty regular ones after them.
    start = np.append([0.0, 3.0, 5.2, 8.7], 13 + 10.0 * np.arange(30))
    result = verdict(start, 1.0, np.append(np.full(4, 9e9), np.full(30, 1e9)))
    assert result.period == pytest.approx(10.0, rel=0.01)
    assert result.evidence.to_dict()["log_bayes_factor"] > 4.6


def test_requests_of_an_epoch_are_no_period_of_the_run() -> None:
    random = np.random.default_rng(4)
    epochs = np.cumsum(10 * (1 + 0.05 * random.normal(size=15)))
    start = np.concatenate([at + random.uniform(0.01, 0.03) * np.arange(random.integers(30, 150)) for at in epochs])
    result = verdict(start, 0.002, 1e6)
    assert result.period == pytest.approx(np.diff(epochs).mean(), rel=0.01)


def test_a_train_within_a_hundredth_of_the_run_is_none() -> None:
    pulses = 500 + 0.1 * np.arange(40)
    result = verdict(np.concatenate(([0.0, 130.0, 333.0], pulses, [640.0, 1000.0])), 0.04)
    assert not result.periodic


def test_a_trend_is_told_although_each_interval_is_off() -> None:
    random = np.random.default_rng(5)
    intervals = np.linspace(0.85, 1.75, 25) * (1 + 0.07 * random.normal(size=25))
    result = verdict(np.append(0.0, np.cumsum(intervals)), 0.1)
    assert result.regimes[0].drift == pytest.approx(np.log(1.75 / 0.85), rel=0.2)
    assert "drifting from" in result.reason


def test_few_uneven_dumps_are_probable_and_what_would_settle_it_is_told() -> None:
    random = np.random.default_rng(0)
    off = random.normal(size=10)
    intervals = 1.4 * (1 + 0.23 * (off - off.mean()) / off.std())
    result = verdict(np.append(0.0, np.cumsum(intervals)), 0.1)
    assert (result.periodic, result.grade) == (True, "probable")
    assert result.period_interval is not None
    assert result.period_interval[0] < 1.3 < 1.5 < result.period_interval[1]
    assert result.reason.startswith("About every 1.4 s (")
    assert "more would settle it" in result.reason
    assert verdict(1.4 * np.arange(11), 0.1).grade == "certain"
    assert verdict(np.arange(3.0), 0.1).grade == "none"


@pytest.mark.parametrize("method", ["auto", "ftio", "autocorrelation"])
@pytest.mark.parametrize("scale", [1e-200, 1e-315, 1e-320])
def test_what_is_next_to_nothing_has_the_same_period(method: str, scale: float) -> None:
    samples = np.tile([0, 0, 0, 0, 9.0, 5.0, 0, 0, 0, 0], 30)
    large, small = (detect_period_samples(samples * by, 1.0, method=method) for by in (1.0, scale))
    assert small.period == pytest.approx(large.period, rel=1e-3)
    assert small.phases == () or small.phases[0].volume == pytest.approx(14 * scale, rel=1e-3)
