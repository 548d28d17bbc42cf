"""Partitions against exhaustive search, and regimes against the signals they were made into."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from iostrata import detect_period, step_signal
from iostrata.analysis.phases.change_points import SHAPE, partition
from iostrata.analysis.phases.regimes import divide, find_regimes, wide_apart, without_missing
from iostrata.analysis.phases.trains import vertices
from scipy.stats import multivariate_t


def evidence(values: np.ndarray, deviation: float, reach: float) -> float:
    """ln of the marginal likelihood, as the density of the multivariate t that the model amounts to."""
    count = values.size
    kappa = (deviation / reach) ** 2
    shape = deviation**2 * (np.eye(count) + np.ones((count, count)) / kappa)
    return float(multivariate_t.logpdf(values, np.zeros(count), shape, df=2 * SHAPE))


@given(arrays(np.float64, st.integers(2, 11), elements=st.sampled_from([0.0, 0.02, 0.5, 0.55, -1.0])))
def test_no_other_partition_has_more_evidence(values: np.ndarray) -> None:
    deviation, reach, fewest = 0.03, 1.0, 2
    centred = values - np.median(values)

    def score(edges: tuple[int, ...]) -> float:
        parts = [evidence(centred[a:b], deviation, reach) for a, b in itertools.pairwise(edges)]
        return sum(parts) - (len(parts) - 1) * np.log(values.size)

    options = []
    for number in range(values.size // fewest):
        for cuts in itertools.combinations(range(1, values.size), number):
            edges = (0, *cuts, values.size)
            if min(np.diff(edges)) >= fewest:
                options.append(score(edges))
    found = score((0, *partition(values, deviation, reach, fewest).tolist(), values.size))
    assert found == pytest.approx(max(options), abs=1e-6)


def test_a_long_sequence_is_cut_like_a_short_one() -> None:
    rng = np.random.default_rng(1)
    means = np.repeat([0.0, 0.5, 0.2, 1.0], [3000, 40, 2500, 1500])
    cuts = partition(means + rng.normal(0, 0.03, means.size), 0.03, 1.0, 3)
    np.testing.assert_allclose(cuts, [3000, 3040, 5540], atol=1)
    assert partition(rng.normal(0, 0.03, 20_000), 0.03, 1.0, 3).size == 0


@given(st.integers(0, 10**6), st.floats(0, 0.05), st.integers(4, 200), st.floats(1e-3, 1e4))
def test_one_regime_is_one_and_units_do_not_matter(seed: int, jitter: float, count: int, period: float) -> None:
    rng = np.random.default_rng(seed)
    intervals = 1 + jitter * np.clip(rng.normal(size=count), -2.5, 2.5)
    assert divide(intervals) == divide(period * intervals) == [(0, count)]


def test_changes_by_a_fifth_and_more_are_found_where_they_are() -> None:
    right, near, count = 0, 0, 0
    for seed in range(300):
        rng = np.random.default_rng(seed)
        jitter, period, parts = rng.uniform(0, 0.05), 1.0, []
        for _ in range(1 + seed % 4):
            parts.append(period * (1 + jitter * np.clip(rng.normal(size=rng.integers(8, 25)), -2.5, 2.5)))
            period *= float(np.exp(rng.choice([-1, 1]) * rng.uniform(np.log(1.2), np.log(5))))
        truth = np.cumsum([part.size for part in parts])[:-1]
        cuts = [first for first, _ in divide(np.concatenate(parts))][1:]
        right += len(cuts) == truth.size
        near += sum(any(abs(cut - place) <= 1 for cut in cuts) for place in truth)
        count += truth.size
    assert right >= 0.97 * 300
    assert near >= 0.97 * count


def test_a_missing_phase_is_no_change() -> None:
    rng = np.random.default_rng(2)
    starts = np.cumsum(20 * rng.normal(1, 0.03, 100))
    kept = np.delete(starts, [10, 30, 31, 70])
    assert len(divide(np.diff(kept))) == 1
    np.testing.assert_allclose(without_missing(np.diff(kept)), 20, rtol=0.2)
    doubled = np.concatenate((np.full(10, 1.0), np.full(10, 2.0)))
    np.testing.assert_array_equal(without_missing(doubled), doubled)


@pytest.mark.parametrize("intervals", [[], [1.0], [1.0, 2.0], [1.0] * 5])
def test_few_intervals_are_one_stretch(intervals: list[float]) -> None:
    assert divide(np.array(intervals)) == [(0, len(intervals))]


def regimes_of(parts: list[tuple[int, float]], duty: float = 0.2, after: float = 0.0) -> tuple[list, np.ndarray]:
    """Regimes found in equal bursts of consecutive periods, and the true first burst of each."""
    clock, firsts, lengths = [0.0], [], []
    for count, period in parts:
        firsts.append(clock[-1])
        for _ in range(count):
            lengths.append(duty * period)
            clock.append(clock[-1] + period)
    starts = np.array(clock[:-1])
    ends = starts + np.array(lengths)
    signal = step_signal(starts, ends, np.ones(starts.size), window=(0.0, clock[-1] + after))
    return find_regimes(*vertices(signal)), np.array(firsts)


@pytest.mark.parametrize(
    "parts",
    [
        [(20, 20.0)],
        [(10, 20.0), (10, 50.0)],
        [(12, 10.0), (9, 12.5), (12, 10.0)],
        [(15, 40.0), (15, 1.0)],
        [(20, 0.5), (10, 30.0), (20, 0.5)],
        [(10, 100.0), (20, 20.0), (20, 4.0), (20, 0.8)],
    ],
)
def test_regimes_are_found_though_one_set_of_phases_may_not_show_them(parts: list[tuple[int, float]]) -> None:
    found, firsts = regimes_of(parts)
    assert len(found) == len(parts)
    for regime, first, (count, period) in zip(found, firsts, parts, strict=True):
        assert regime.period == pytest.approx(period, rel=0.1)
        assert regime.train.start[0] == pytest.approx(first, abs=period)
        assert abs(len(regime.train) - count) <= 1
        assert regime.p_value < 0.01
        assert regime.jitter < 0.1


@pytest.mark.parametrize("seed", range(8))
def test_what_has_no_period_has_no_regime(seed: int) -> None:
    rng = np.random.default_rng(seed)
    starts = np.cumsum(rng.exponential(20, 60))
    signal = step_signal(starts, starts + 1, np.ones(60), window=(0.0, starts[-1] + 20))
    assert find_regimes(*vertices(signal), 0.001) == []
    assert find_regimes(*vertices(step_signal([1.0], [2.0], [1.0], window=(0.0, 10.0)))) == []


@pytest.mark.parametrize(
    "parts", [[(12, 10.0), (12, 12.5)], [(20, 0.5), (10, 30.0), (20, 0.5)], [(10, 8.0), (24, 40.0), (9, 4.0)]]
)
def test_auto_names_regimes_with_period_confidence_and_phases(parts: list[tuple[int, float]]) -> None:
    clock = np.concatenate(([0.0], np.cumsum(np.concatenate([np.full(count, period) for count, period in parts]))))
    lengths = 0.2 * np.diff(clock)
    signal = step_signal(clock[:-1], clock[:-1] + lengths, np.ones(lengths.size), window=(0.0, float(clock[-1])))
    result = detect_period(signal)
    assert result.periodic
    assert len(result.regimes) == len(parts)
    first = 0
    for regime, (count, period) in zip(result.regimes, parts, strict=True):
        assert regime.start == pytest.approx(clock[first], abs=period)
        assert regime.period == pytest.approx(period, rel=0.05)
        assert regime.confidence is not None
        assert regime.confidence > 0.5
        assert regime.phases is not None
        assert abs(regime.phases - count) <= 1
        first += count
    longest = max(result.regimes, key=lambda regime: regime.end - regime.start)
    assert result.period == pytest.approx(longest.period, rel=0.02)


def test_periods_are_wide_apart_where_jitter_does_not_explain_them() -> None:
    rng = np.random.default_rng(3)
    one, other = rng.normal(20.0, 1.0, 30), rng.normal(26.0, 1.3, 30)
    assert wide_apart([one, other])
    assert wide_apart([one])
    # A factor of 1.3 is five deviations of a jitter of 5 %, and less than two of 15 %.
    assert not wide_apart([rng.normal(20.0, 3.0, 30), rng.normal(26.0, 3.9, 30)])
    assert not wide_apart([one, other, rng.normal(26.5, 1.3, 30)])
    assert wide_apart([np.full(5, 10.0), np.full(5, 10.1)])


@pytest.mark.parametrize("jitter", [0.02, 0.1, 0.2])
def test_auto_does_not_split_one_clock_by_its_jitter(jitter: float) -> None:
    split = 0
    for seed in range(40):
        rng = np.random.default_rng(seed)
        start = 5.0 + np.cumsum(20.0 * np.maximum(1 + jitter * rng.normal(size=40), 0.2))
        signal = step_signal(start, start + 3.0, np.full(40, 1e9), window=(0.0, float(start[-1]) + 20.0))
        split += len(detect_period(signal).regimes) > 1
    assert split <= 1
