"""What is said of signals: regimes, trains at the same time, drift, pauses, noise, and broken or extreme input."""

import numpy as np
import pytest
from iostrata import detect_period, detect_period_samples, step_signal
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.decision import Decision
from iostrata.analysis.phases.stretches import PulseTrain
from iostrata.analysis.results.result import PeriodResult
from iostrata.model.errors import SelectionError


def verdict(
    start: np.ndarray, length: float | np.ndarray = 0.1, volume: float | np.ndarray = 1e9, **window: tuple
) -> PeriodResult:
    order = np.argsort(start)
    lengths, volumes = np.broadcast_to(length, start.shape)[order], np.broadcast_to(volume, start.shape)[order]
    return detect_period(step_signal(start[order], start[order] + lengths, volumes, **window), method="auto")


def jittered(random: np.random.Generator, count: int, period: float, jitter: float = 0.01) -> np.ndarray:
    return period * (np.arange(count) + jitter * random.normal(size=count))


def test_regimes_with_pauses_have_boundaries_and_metrics_of_their_own() -> None:
    random = np.random.default_rng(0)
    parts = [jittered(random, 14, 0.4), 10 + jittered(random, 30, 0.22), 22 + jittered(random, 8, 0.9)]
    volume = np.repeat([1e8, 3e8, 1e9], [14, 30, 8])
    result = verdict(np.concatenate(parts), 0.05, volume)
    assert [one.period for one in result.regimes] == pytest.approx([0.4, 0.22, 0.9], rel=0.03)
    assert [one.phases for one in result.regimes] == [14, 30, 8]
    assert [one.metrics.volume_per_period for one in result.regimes if one.metrics] == pytest.approx([1e8, 3e8, 1e9])
    for one, part in zip(result.regimes, parts, strict=True):
        assert one.start == pytest.approx(part[0], abs=0.1 * one.period)
        assert part[-1] <= one.end <= part[-1] + 1.1 * one.period


@pytest.mark.parametrize("seed", range(4))
def test_a_regime_of_four_phases_between_two_pauses(seed: int) -> None:
    random = np.random.default_rng(seed)
    parts = [jittered(random, 20, 10.0), 250 + jittered(random, 4, 25.0, 0.02), 400 + jittered(random, 20, 14.0)]
    result = verdict(np.concatenate(parts), 2.0)
    assert [one.period for one in result.regimes] == pytest.approx([10, 25, 14], rel=0.03)


@pytest.mark.parametrize("seed", range(4))
def test_noise_in_bins_after_a_regime_is_none(seed: int) -> None:
    random = np.random.default_rng(seed)
    start = 60 + jittered(random, 10, 30.0)
    edges = 0.3 * np.arange(1300)
    rates = random.exponential(size=edges.size)
    volume = np.append(np.full(10, 1e10), 1e10 * rates / rates.sum())
    result = verdict(np.append(start, edges), np.append(np.full(10, 8.0), np.full(edges.size, 0.3)), volume)
    assert [one.period for one in result.regimes] == pytest.approx([30], rel=0.01)


@pytest.mark.parametrize("place", [1 / 3, 0.42, 0.46, 0.58])
def test_two_bursts_in_turn_are_one_period(place: float) -> None:
    reads = jittered(np.random.default_rng(2), 20, 30.0, 0.005)
    result = verdict(np.concatenate((reads, reads + 30 * place)), 2.0)
    assert result.period == pytest.approx(30, rel=0.01)
    assert result.regimes[0].metrics is not None
    assert result.regimes[0].metrics.volume_per_period == pytest.approx(2e9, rel=0.06)


def test_bursts_halfway_between_each_other_have_half_the_period() -> None:
    start = jittered(np.random.default_rng(2), 20, 30.0, 0.005)
    assert verdict(np.concatenate((start, start + 15)), 2.0).period == pytest.approx(15, rel=0.01)


def test_one_period_with_a_pause_is_no_longer_period() -> None:
    random = np.random.default_rng(0)
    first = jittered(random, 14, 0.4)
    result = verdict(np.concatenate((first, first[-1] + 3 + jittered(random, 14, 0.4))), 0.05)
    assert result.period == pytest.approx(0.4, rel=0.02)


def test_drift_is_told() -> None:
    start = np.cumsum(10 * np.exp(np.linspace(0, 0.4, 30)))
    result = verdict(start)
    assert result.period == pytest.approx(np.diff(start).mean())
    assert result.regimes[0].drift == pytest.approx(0.4, abs=0.03)
    assert "drifting" in result.reason


@pytest.mark.parametrize("count", [36, 44, 52, 59])
@pytest.mark.parametrize("size", [-0.5, 0.5])
def test_intervals_that_grow_or_shrink_evenly_by_half_are_one_train(count: int, size: float) -> None:
    """By a straight line, not by the same factor each: parts that drift go on with the interval they have reached."""
    start = np.cumsum(20 * (1 + size * np.linspace(-0.5, 0.5, count)))
    result = verdict(start)
    assert len(result.regimes) == 1
    assert result.period == pytest.approx(np.diff(start).mean(), rel=0.01)


def test_missing_phases_change_no_period() -> None:
    random = np.random.default_rng(1)
    start = np.delete(jittered(random, 40, 10.0), random.permutation(np.arange(1, 39))[:12])
    result = verdict(start)
    assert result.period == pytest.approx(10.0, rel=0.01)
    assert 9 <= result.evidence.missing_phases <= 12


@pytest.mark.parametrize("ratio", [1.1, 1.25, 4 / 3, 2.718, 3.3])
def test_two_trains_at_the_same_time_are_both_told(ratio: float) -> None:
    fast, slow = np.arange(3.0, 1000.0, 20.0), np.arange(7.7, 1000.0, 20.0 * ratio)
    volume = np.repeat([1e9, 4e9], [fast.size, slow.size])
    result = verdict(np.concatenate((fast, slow)), 0.5, volume)
    assert sorted(one.period for one in result.periods)[:2] == pytest.approx([20.0, 20.0 * ratio], rel=0.01)
    assert result.period == pytest.approx(20.0 * ratio, rel=0.01)


def test_a_slower_train_close_behind_a_faster_one_is_told_as_well() -> None:
    fast, slow = np.arange(3.0, 1000.0, 20.0), np.arange(4.5, 1000.0, 40.0)
    start = np.concatenate((fast, slow)) + 0.1 * np.random.default_rng(0).normal(size=fast.size + slow.size)
    result = verdict(start, 0.5, np.repeat([1e9, 2e9], [fast.size, slow.size]))
    assert result.to_dict()["evidence"]["verdict"] == "concurrent"
    assert sorted(one.period for one in result.periods) == pytest.approx([20.0, 40.0], rel=0.01)


def test_every_third_phase_larger_is_one_period_and_a_cycle() -> None:
    start = jittered(np.random.default_rng(0), 30, 10.0)
    result = verdict(start, 1.0, np.where(np.arange(30) % 3 == 0, 4e9, 1e9))
    assert result.period == pytest.approx(10.0, rel=0.01)
    assert any(one.period == pytest.approx(30.0, rel=0.01) for one in result.periods)


def test_a_read_of_twenty_times_the_volume_changes_no_period() -> None:
    start = jittered(np.random.default_rng(0), 30, 10.0)
    volume = np.where(np.arange(30) % 3 == 0, 1e10, 1e9)
    result = verdict(np.append(-100.0, start), 1.0, np.append(20 * volume.sum(), volume))
    assert result.period == pytest.approx(10.0, rel=0.01)


def test_constant_pauses_between_phases_of_any_length() -> None:
    random = np.random.default_rng(0)
    lengths = random.gamma(2.0, 6.0, 25)
    start = np.concatenate(([0.0], np.cumsum(lengths + 5 * (1 + 0.01 * random.normal(size=25)))[:-1]))
    result = verdict(start, lengths)
    assert result.evidence.pause == pytest.approx(5.0, rel=0.01)
    assert result.period == pytest.approx(np.diff(start).mean())


NULLS = {
    "white": lambda random: np.abs(random.normal(size=800)),
    "exponential": lambda random: random.exponential(size=800),
    "walk": lambda random: np.abs(np.cumsum(random.normal(size=800))),
    "counts": lambda random: random.poisson(0.7, 800).astype(float),
}


@pytest.mark.parametrize("kind", NULLS)
def test_noise_in_bins_is_not_periodic(kind: str) -> None:
    """At a rate of 1 % more than 3 of 40 happen once in 20,000."""
    periodic = 0
    for seed in range(40):
        values = NULLS[kind](np.random.default_rng(seed))
        edges = 60.0 * np.arange(801)
        periodic += detect_period(step_signal(edges[:-1], edges[1:], values), method="auto").periodic
    assert periodic <= 3


def test_random_bursts_are_not_periodic() -> None:
    periodic = 0
    for seed in range(60):
        random = np.random.default_rng(seed)
        periodic += verdict(np.sort(random.uniform(0, 300, 100)), 0.05, random.lognormal(size=100)).periodic
    assert periodic <= 3


@pytest.mark.parametrize("before", [0.0, 3.0, 12.0])
@pytest.mark.parametrize("after", [0.0, 12.0])
def test_silence_changes_nothing(before: float, after: float) -> None:
    random = np.random.default_rng(5)
    for start in (jittered(random, 20, 10.0, 0.05), np.sort(random.uniform(0, 200, 25))):
        plain = verdict(start, 0.3)
        padded = verdict(start, 0.3, window=(-200 * before - 1.0, 210 * (1 + after)))
        assert (plain.periodic, plain.period) == (padded.periodic, padded.period)
        assert [(one.start, one.period) for one in plain.regimes] == [(one.start, one.period) for one in padded.regimes]


@pytest.mark.parametrize(("times", "volumes"), [(2.0**-30, 1.0), (2.0**12, 1.0), (1.0, 2.0**-40), (1.0, 2.0**80)])
def test_units_change_nothing(times: float, volumes: float) -> None:
    start = jittered(np.random.default_rng(5), 20, 10.0, 0.05)
    plain, scaled = verdict(start, 0.3), verdict(times * start, times * 0.3, volumes * 1e9)
    assert scaled.period == pytest.approx(times * plain.period)
    assert scaled.confidence == pytest.approx(plain.confidence, abs=1e-6)


@pytest.mark.parametrize("count", range(1, 4))
def test_fewer_than_four_bursts_have_no_period_and_are_named(count: int) -> None:
    result = verdict(10.0 * np.arange(count) + 3, window=(0.0, 60.0))
    assert not result.periodic
    assert len(result.phases) == count
    assert "at least four" in result.reason


def test_undersampled_bins_say_nothing() -> None:
    start = 10.0 * np.arange(200)
    samples = step_signal(start, start + 1, np.ones(200)).sample(0.17)
    assert not detect_period_samples(samples.values, 0.17, method="auto").periodic


@pytest.mark.parametrize("values", [[0.0], [0.0] * 50, [3.0] * 50, [1e140, 0.0] * 20, [5e-324] * 30, list(range(100))])
def test_extreme_samples_have_no_period_and_raise_nothing(values: list[float]) -> None:
    result = detect_period_samples(values, 1.0, method="auto")
    assert result.period is None
    assert result.reason


def test_impulses_are_bursts() -> None:
    start = 10.0 * np.arange(12) + 2
    result = verdict(start, 0.0, window=(0.0, 130.0))
    assert result.period == pytest.approx(10.0)
    assert sum(phase.volume for phase in result.phases) == pytest.approx(12e9)


@pytest.mark.parametrize("rate", [0.0, -1.0, 0.6, float("nan")])
def test_a_false_alarm_rate_out_of_range_is_refused(rate: float) -> None:
    signal = step_signal([0.0], [1.0], [1.0])
    with pytest.raises(SelectionError, match="false_alarm_rate"):
        detect_period(signal, method="auto", false_alarm_rate=rate)


def test_late_processes_make_a_period_of_large_jitter() -> None:
    # Phases of 16 processes, each late by a random time: a quarter of the period is jitter. Were a period's deviation
    # only thought to be small, half of these would be told from chance.
    found = 0
    for seed in range(20):
        random = np.random.default_rng(seed)
        late = random.exponential(12.0, (20, 16))
        start = np.cumsum(20 + late.max(axis=1))[:, None] + late
        result = verdict(start.ravel(), 8.0)
        truth = float(np.diff(start.min(axis=1)).mean())
        found += result.period is not None and abs(result.period / truth - 1) < 0.05
    assert found >= 15


def test_a_regular_pause_is_told_where_starts_are_regular_too() -> None:
    random = np.random.default_rng(0)
    length = 4 * random.uniform(0.7, 1.3, 30)
    start = np.cumsum(np.append(0.0, length[:-1] + 10 * (1 + 0.005 * random.normal(size=29))))
    result = verdict(start, length)
    assert result.period == pytest.approx(14.0, rel=0.05)
    assert result.evidence.pause == pytest.approx(10.0, rel=0.01)
    assert "From each end to the next start 10" in result.reason
    assert verdict(jittered(random, 30, 14.0), 4.0).evidence.pause is None


def test_what_moves_beside_the_period_is_listed_as_phases() -> None:
    random = np.random.default_rng(0)
    start = np.append(jittered(random, 20, 10.0), [243.0, 251.0])
    result = verdict(start, 1.0, np.append(np.full(20, 1e9), [3e9, 2e9]))
    assert result.period == pytest.approx(10.0, rel=0.01)
    assert sum(phase.volume for phase in result.phases) == pytest.approx(25e9)


def test_a_period_beneath_irregular_activity_is_seen_by_its_harmonics() -> None:
    random = np.random.default_rng(1)
    start, blocks = jittered(random, 60, 20.0, 0.005), np.arange(0.0, 1220.0, 2.5)
    volume = np.append(np.full(60, 1e9), random.exponential(0.3e9, blocks.size))
    result = verdict(np.append(start, blocks), np.append(np.full(60, 1.5), np.full(blocks.size, 2.5)), volume)
    assert result.period == pytest.approx(20.0, rel=0.02)


@pytest.mark.parametrize("late", [0.25, 0.4, 0.6])
def test_one_late_phase_divides_no_regime(late: float) -> None:
    start = jittered(np.random.default_rng(3), 40, 10.0)
    start[22:] += 10 * late
    result = verdict(start)
    assert len(result.regimes) == 1
    assert result.period == pytest.approx(10.0, rel=0.02)


def test_of_irregular_bursts_those_that_are_alike_are_listed() -> None:
    """Repetitions of an irregular program, each of four writes with short pauses between them."""
    random = np.random.default_rng(5)
    begin = np.cumsum(random.uniform(1.3, 3.3, 12))
    start = (begin[:, None] + np.array([0.0, 0.2, 0.43, 0.61])).ravel()
    result = verdict(start, 0.03)
    assert not result.periodic
    assert len(result.phases) == 12


def test_trains_at_the_same_time_explain_no_more_time_than_they_last() -> None:
    def train(start: np.ndarray) -> PulseTrain:
        return PulseTrain(Bursts(start, start + 1, np.ones(start.size)), np.ones(start.size - 1), 20.0)

    one, other = train(10.0 * np.arange(10)), train(5.0 + 10.0 * np.arange(10))
    bursts = one.bursts.joined(other.bursts)
    assert Decision("concurrent", (one, other), bursts, 210.0).explained == pytest.approx(0.5)
    assert Decision("one period", (one,), one.bursts, 200.0).explained == pytest.approx(0.5)
