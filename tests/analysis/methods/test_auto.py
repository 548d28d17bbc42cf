"""auto: what must not change its verdict, what must never be periodic, and archives whose truth is known."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import (
    PeriodResult,
    SelectionError,
    StepSignal,
    detect_period,
    detect_period_samples,
    open_trace,
    step_signal,
)
from iostrata.analysis.registry import DEFAULT_METHOD


def train(
    seed: int, count: int = 15, period: float = 20.0, width: float = 4.0, jitter: float = 0.05
) -> tuple[np.ndarray, np.ndarray, np.ndarray, float]:
    """Starts, ends and bytes of one burst a period, in three operations each, and the end of the window."""
    rng = np.random.default_rng(seed)
    start = period * (np.arange(count) + rng.uniform(0, 1)) + rng.normal(0, jitter * period, count)
    part = width / 3 * np.arange(3)
    begin = (np.sort(start)[:, None] + part).ravel()
    return begin, begin + 0.9 * width / 3, rng.uniform(0.8e9, 1.2e9, begin.size), float(begin[-1] + 1.5 * period)


def verdict(result: PeriodResult) -> tuple[object, ...]:
    """What is said, without numbers that have a unit."""
    return result.periodic, len(result.phases), len(result.periods), len(result.regimes), result.evidence.verdict


def test_it_is_the_default() -> None:
    assert DEFAULT_METHOD == "auto"
    assert detect_period_samples(np.tile([1.0, 0.0, 0.0], 20), 1.0).method == "auto"


@settings(max_examples=40)
@given(st.integers(0, 1000), st.floats(0.001, 1000.0), st.floats(0.0, 500.0), st.floats(1e-9, 1e6))
def test_units_and_the_origin_of_time_change_nothing(seed: int, scale: float, shift: float, unit: float) -> None:
    start, end, volume, last = train(seed)
    one = detect_period(step_signal(start, end, volume, window=(0.0, last)))
    two = detect_period(
        step_signal(
            scale * (start + shift),
            scale * (end + shift),
            unit * volume,
            window=(scale * shift, scale * (last + shift)),
        )
    )
    assert verdict(one) == verdict(two)
    assert one.periodic
    assert two.period == pytest.approx(scale * one.period, rel=1e-6)
    assert two.period_interval == pytest.approx(tuple(scale * edge for edge in one.period_interval), rel=1e-4)
    assert two.jitter == pytest.approx(one.jitter, rel=1e-4, abs=1e-9)
    assert two.confidence == pytest.approx(one.confidence, abs=1e-4)
    np.testing.assert_allclose([p.volume for p in two.phases], [unit * p.volume for p in one.phases], rtol=1e-6)


@settings(max_examples=40)
@given(st.integers(0, 1000), st.integers(2, 5))
def test_operations_in_parts_are_the_same_signal(seed: int, parts: int) -> None:
    start, end, volume, last = train(seed)
    share = np.arange(parts) / parts
    split = (start[:, None] + (end - start)[:, None] * share).ravel()
    stop = np.append(split[1:], end[-1])
    stop[parts - 1 :: parts] = end
    order = np.random.default_rng(seed).permutation(split.size)
    one = detect_period(step_signal(start, end, volume, window=(0.0, last)))
    two = detect_period(
        step_signal(split[order], stop[order], np.repeat(volume / parts, parts)[order], window=(0.0, last))
    )
    assert verdict(one) == verdict(two)
    if one.periodic:
        assert two.period == pytest.approx(one.period, rel=1e-9)


@settings(max_examples=40)
@given(st.integers(0, 1000), st.floats(0.0, 1e10))
def test_a_constant_floor_does_not_matter(seed: int, floor: float) -> None:
    start, end, volume, last = train(seed)
    one = detect_period(step_signal(start, end, volume, window=(0.0, last)))
    two = detect_period(
        step_signal(np.append(start, 0.0), np.append(end, last), np.append(volume, floor * last), window=(0.0, last))
    )
    assert two.periodic
    assert two.period == pytest.approx(one.period, rel=0.02)


@given(st.integers(5, 200), st.floats(5.0, 100.0), st.floats(0.001, 0.9), st.floats(0.0, 1.0), st.floats(0.0, 1.5))
def test_pulse_trains_of_every_duty_cycle(count: int, period: float, duty: float, lead: float, tail: float) -> None:
    start = period * (np.arange(count) + lead)
    end = start + duty * period
    result = detect_period(step_signal(start, end, np.full(count, 1e9), window=(0.0, end[-1] + tail * period)))
    assert result.periodic
    assert result.period == pytest.approx(period, rel=1e-6)
    assert result.confidence > 0.9
    assert len(result.phases) == count


@pytest.mark.parametrize("count", [5, 20, 200])
@pytest.mark.parametrize("duty", [0.001, 0.02, 0.3, 0.9])
def test_pulse_trains_in_samples(count: int, duty: float) -> None:
    rng = np.random.default_rng(count)
    for _ in range(10):
        period = rng.uniform(40.0, 90.0)
        start = period * (np.arange(count) + rng.uniform(0, 1))
        end = start + duty * period
        signal = step_signal(start, end, np.full(count, 1e9), window=(0.0, end[-1] + rng.uniform(0, 1.5) * period))
        result = detect_period_samples(signal.sample(1.0).values, 1.0)
        assert result.periodic
        assert result.period == pytest.approx(period, rel=0.006)
        low, high = result.period_interval
        assert low <= result.period <= high


def noise(kind: str, rng: np.random.Generator) -> np.ndarray:
    match kind:
        case "white":
            return np.abs(rng.normal(size=800))
        case "exponential":
            return rng.exponential(size=800)
        case "random walk":
            return np.abs(np.cumsum(rng.normal(size=800)))
        case "autoregressive":
            x = rng.normal(size=1000)
            for row in range(1, x.size):
                x[row] += 0.9 * x[row - 1]
            return np.abs(x[200:])
        case _:
            x = np.zeros(800)
            for begin in np.cumsum(rng.exponential(40.0, 60)):
                if begin < 795:
                    x[int(begin) : int(begin) + 5] += 1
            return x


@pytest.mark.parametrize("kind", ["white", "exponential", "random walk", "autoregressive", "Poisson"])
def test_noise_is_seldom_periodic(kind: str) -> None:
    results = [detect_period_samples(noise(kind, np.random.default_rng([seed, 77])), 1.0) for seed in range(80)]
    assert sum(result.periodic for result in results) <= 3
    assert np.mean([result.confidence for result in results]) < 0.2


def rectangle(*spans: tuple[int, int]) -> np.ndarray:
    x = np.zeros(800)
    for first, stop in spans:
        x[first:stop] = 5.0
    return x


@pytest.mark.parametrize(
    ("x", "bursts"),
    [
        (np.zeros(800), 0),
        (np.full(800, 3.3), 0),
        (np.arange(800.0), 1),
        (np.arange(800.0)[::-1], 1),
        (rectangle((100, 130)), 1),
        (rectangle((100, 130), (500, 530)), 2),
        (rectangle((100, 130), (350, 380), (600, 630)), 3),
        (rectangle((0, 20), (780, 800)), 2),
        (np.ones(1), 0),
    ],
)
def test_fewer_than_four_bursts_are_no_period(x: np.ndarray, bursts: int) -> None:
    result = detect_period_samples(x, 1.0)
    assert not result.periodic
    assert result.period is None
    assert result.recurrence is None
    assert len(result.phases) == bursts
    assert result.confidence == 0.0
    assert sum(phase.volume for phase in result.phases) <= x.sum() + 1e-9


def test_nothing_and_operations_of_no_length() -> None:
    assert not detect_period(step_signal([], [], [], window=(0.0, 10.0))).periodic
    ticks = np.arange(1.0, 9.0)
    result = detect_period(step_signal(ticks, ticks, np.full(8, 7.0), window=(0.0, 10.0)))
    assert result.period == pytest.approx(1.0)
    assert [phase.volume for phase in result.phases] == pytest.approx([7.0] * 8)


def bursts(starts: np.ndarray, widths: float | np.ndarray, volume: float | np.ndarray, last: float) -> StepSignal:
    full = np.broadcast_to(np.asarray(volume, dtype=np.float64), starts.shape)
    return step_signal(starts, starts + widths, full, window=(0.0, last))


def test_a_missing_phase_is_said() -> None:
    starts = 20.0 * np.delete(np.arange(12.0), 7)
    result = detect_period(bursts(starts, 4.0, 1e9, 270.0))
    assert result.period == pytest.approx(20.0)
    assert result.recurrence == pytest.approx(22.0)
    assert "1 missing" in result.reason


def test_start_up_io_is_set_apart() -> None:
    starts = np.append(0.0, 33.0 + 20.0 * np.arange(12))
    result = detect_period(bursts(starts, 4.0, np.append(9e10, np.full(12, 1e9)), 290.0))
    assert result.period == pytest.approx(20.0)
    assert len(result.phases) == 13
    assert result.regimes[0].start == pytest.approx(33.0)


def test_irregular_is_told_apart_from_periodic() -> None:
    starts = np.cumsum(np.random.default_rng(4).exponential(30.0, 25) + 5.0)
    result = detect_period(bursts(starts, 3.0, 1e9, starts[-1] + 20.0))
    document = result.to_dict()
    assert document["periodic"] is False
    assert document["period_s"] is None
    assert document["recurrence_s"] == pytest.approx(np.diff(starts).mean())
    assert document["jitter"] == pytest.approx(np.diff(starts).std() / np.diff(starts).mean())
    assert "irregular" in result.reason


@pytest.mark.parametrize("sampled", [False, True])
def test_regimes(sampled: bool) -> None:
    starts = np.concatenate((20.0 * np.arange(20), 400.0 + 50.0 * np.arange(12)))
    signal = bursts(starts, 4.0, 1e9, 1000.0)
    result = detect_period_samples(signal.sample(1.0).values, 1.0) if sampled else detect_period(signal)
    assert [regime.period for regime in result.regimes] == pytest.approx([20.0, 50.0], rel=0.01)
    assert result.regimes[0].end == pytest.approx(400.0, abs=1.0)
    # The one that moved more.
    assert result.period == pytest.approx(20.0, rel=0.01)


@pytest.mark.parametrize(("one", "two"), [(100.0, 37.0), (600.0, 170.0), (50.0, 31.0)])
@pytest.mark.parametrize("ratio", [1.0, 5.0])
def test_two_clocks_at_the_same_time(one: float, two: float, ratio: float) -> None:
    last = 20 * one
    large, small = np.arange(0.3 * one, last - one, one), np.arange(0.1 * two, last - two, two)
    starts = np.concatenate((large, small))
    order = np.argsort(starts)
    widths = np.concatenate((np.full(large.size, 0.01 * one * ratio), np.full(small.size, 0.01 * one)))
    volume = np.concatenate((np.full(large.size, 1e9 * ratio), np.full(small.size, 1e9)))
    signal = step_signal(starts[order], (starts + widths)[order], volume[order], window=(0.0, last))
    found = sorted(period.period for period in detect_period(signal).periods)
    assert found == pytest.approx(sorted((one, two)), rel=0.005)


@pytest.mark.parametrize("sizes", [(64.0, 16.0), (64.0, 32.0, 16.0)])
def test_cycling_sizes(sizes: tuple[float, ...]) -> None:
    volume = 1e9 * np.resize(sizes, 24)
    result = detect_period(bursts(120.0 * np.arange(24) + 30.0, volume / 6e9, volume, 2950.0))
    assert result.period == pytest.approx(120.0, rel=1e-4)
    expected = [120.0, 120.0 * len(sizes)]
    assert [period.period for period in result.periods] == pytest.approx(expected, rel=1e-4)


def test_an_oscillation_lost_in_noise() -> None:
    n = np.arange(1600)
    for seed in range(10):
        x = 5 + 0.5 * np.sin(2 * np.pi * n / 23.7) + np.random.default_rng(seed).normal(size=n.size)
        result = detect_period_samples(x, 1.0)
        assert result.period == pytest.approx(23.7, rel=0.01)
        # What is listed are the bursts of the noise; they have no period of their own.
        assert result.jitter > 0.3
        assert "spectrum" in result.reason
        # It lasts while something moves.
        (regime,) = detect_period_samples(np.concatenate([np.zeros(100), x, np.zeros(70)]), 1.0).regimes
        assert (regime.start, regime.end) == (100, 1700)


@pytest.mark.parametrize("rate", [0.0, -0.1, 0.6, float("nan")])
def test_the_false_alarm_rate_is_checked(rate: float) -> None:
    with pytest.raises(SelectionError, match="false_alarm_rate"):
        detect_period_samples(np.ones(10), 1.0, false_alarm_rate=rate)


OWN = {"netCDF": "checkpoints", "MPI-IO": "checkpoints", "ISOC": "log_lines"}
CHECKPOINTS = [
    "ckpt16",
    "ckpt4",
    "ckpt4_compiler",
    "ckpt4_jitter",
    "ckpt4_romio",
    "ckpt8_unnested",
    "ncckpt4",
    "ncckpt4_indep",
    "ncckpt4_nofill",
    "ncckpt4_perstep",
    "ncckpt4_romio",
    "ncckpt8",
]


@pytest.mark.parametrize("name", CHECKPOINTS)
def test_real_archives(fixtures: Path, name: str) -> None:
    truth = json.loads((fixtures / name / "truth.json").read_text())
    trace = open_trace(fixtures / name)
    layer = next(iter(trace.layers))
    result = detect_period(trace.layers[layer].bandwidth("write"))
    mean = truth["checkpoints"]["mean_interval_s"]
    assert result.periodic
    assert result.period == pytest.approx(mean, rel=0.002)
    assert result.recurrence == pytest.approx(mean, rel=0.002)
    assert len(result.phases) == truth["checkpoints"]["count"]
    low, high = result.period_interval
    assert low <= mean <= high


def test_the_logs_beneath_checkpoints(fixtures: Path) -> None:
    mixed = open_trace(fixtures / "mixed4")
    own = detect_period(mixed.layers["POSIX"].bandwidth("write", traffic="own"))
    assert own.period == pytest.approx(0.15, rel=0.002)
    both = detect_period(mixed.layers["POSIX"].bandwidth("write"))
    assert [period.period for period in both.periods] == pytest.approx([0.6, 0.15], rel=0.005)
    assert [regime.period for regime in both.regimes] == [both.period]


def test_fill_values_are_start_up(fixtures: Path) -> None:
    result = detect_period(open_trace(fixtures / "ncckpt4").layers["POSIX"].bandwidth("write"))
    assert result.period == pytest.approx(0.4015, rel=0.002)
    assert result.regimes[0].start > result.phases[0].end


def test_a_real_cluster(fixtures: Path) -> None:
    layer = open_trace(fixtures / "ior384").layers["MPI-IO"]
    write = detect_period(layer.bandwidth("write"))
    assert write.period == pytest.approx(10.143, rel=0.001)
    assert write.confidence > 0.9
    np.testing.assert_allclose([phase.volume for phase in write.phases], 64424509440 / 8, rtol=2e-3)
    assert detect_period(layer.bandwidth("read")).period == pytest.approx(10.1755, rel=0.001)


def test_nothing_is_periodic_in_an_aperiodic_run(fixtures: Path) -> None:
    trace = open_trace(fixtures / "aperiodic4")
    for layer in trace.layers.values():
        for direction in ("read", "write", "total"):
            for traffic in ("all", "own", "inherited"):
                signal = layer.bandwidth(direction, traffic=traffic)
                if signal.volume > 0:
                    assert not detect_period(signal).periodic
