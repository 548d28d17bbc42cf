"""Noise of DBSCAN against its definition, point by point."""

import functools
import math
import random
import sys
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from iostrata import MissingLibraryError, detect_period_samples
from iostrata.analysis.methods.ftio import is_peak
from iostrata.analysis.methods.ftio_outliers import (
    FEWEST_NEIGHBOURS,
    NEIGHBOURS,
    fewest_samples_of_dbscan,
    is_isolated,
    is_locally_sparse,
    is_noise,
)
from iostrata.analysis.spectral.outliers import z_scores
from scipy.signal import find_peaks

pytest.importorskip("sklearn")


def slow_noise(scores: list[float], eps: float) -> tuple[list[bool], bool]:
    """Points that are neither core points nor near one (Ester et al., 1996), and whether a distance was close."""
    points = list(enumerate(scores))
    distances = [[math.dist(a, b) for b in points] for a in points]
    close = any(abs(distance - eps) < 1e-9 for row in distances for distance in row)
    core = [sum(distance <= eps for distance in row) >= FEWEST_NEIGHBOURS for row in distances]
    near_core = [any(core[j] and row[j] <= eps for j in range(len(points))) for row in distances]
    return [not near and score > 0 for near, score in zip(near_core, scores, strict=True)], close


@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(5, 60), peaks=st.integers(0, 4), eps=st.sampled_from([2.5, 3.1])
)
def test_noise_is_that_of_the_definition(seed: int, count: int, peaks: int, eps: float) -> None:
    rng = np.random.default_rng(seed)
    power = rng.exponential(1.0, count)
    power[rng.integers(0, count, peaks)] += rng.exponential(20.0, peaks)
    scores = z_scores(power)
    expected, close = slow_noise(scores.tolist(), eps)
    assume(not close)
    assert is_noise(scores, eps).tolist() == expected


@pytest.mark.parametrize("eps", [2.1, 3.0, 5.0])
def test_no_fewer_samples_can_have_noise(eps: float) -> None:
    def single(lines: int) -> np.ndarray:
        power = np.zeros(lines)
        power[lines // 2] = 1.0
        return z_scores(power)

    fewest = fewest_samples_of_dbscan(eps) // 2
    assert is_noise(single(fewest), eps).tolist() == [line == fewest // 2 for line in range(fewest)]
    if fewest > FEWEST_NEIGHBOURS + 1:
        scores = single(fewest - 1)
        assert scores.max() - scores.min() <= eps


def test_a_peak_as_broad_as_three_lines_is_noise_and_a_band_is_not() -> None:
    power = np.zeros(300)
    power[100:103] = 1.0
    assert np.flatnonzero(is_noise(z_scores(power), 3.0)).tolist() == [100, 101, 102]
    power[100:105] = 1.0
    assert not is_noise(z_scores(power), 3.0).any()


def test_a_train_of_bursts_in_noise_is_found() -> None:
    samples = np.random.default_rng(4).exponential(0.02, 600)
    samples[::25] += 1.0
    result = detect_period_samples(samples, 2.0, method="ftio-dbscan")
    assert result.period == pytest.approx(12.5)
    assert result.method == "ftio-dbscan"


def test_a_threshold_that_makes_all_lines_noise_is_refused() -> None:
    with pytest.raises(ValueError, match="distance above 2"):
        detect_period_samples(np.arange(50.0), 1.0, method="ftio-dbscan", threshold=2.0)


@given(st.lists(st.integers(-2, 9).map(float), min_size=2, max_size=60), st.sampled_from([0.5, 3.0]))
def test_peaks_are_those_of_scipy_in_the_mirrored_spectrum(values: list[float], height: float) -> None:
    both_sides = values + values[-2::-1]
    peaks, shape = find_peaks(both_sides, height=height, plateau_size=1)
    # A level top that reaches the last line goes on in the mirror image.
    own = {
        (left + len(values) - 1) // 2 if left < len(values) <= right + 1 else int(peak)
        for peak, left, right in zip(peaks, shape["left_edges"], shape["right_edges"], strict=True)
        if left < len(values)
    }
    assert set(np.flatnonzero(is_peak(np.array(values), height)).tolist()) == own


def test_a_frequency_between_two_lines_is_one_candidate() -> None:
    n = np.arange(400)
    wave = 3 + np.cos(2 * np.pi * 21.48 * n / 400)
    both = detect_period_samples(wave, 1.0, method="ftio")
    one = detect_period_samples(wave, 1.0, method="ftio-peaks")
    assert (both.evidence.candidates, one.evidence.candidates) == (2, 1)
    assert one.period == both.period == pytest.approx(400 / 21)
    assert one.method == "ftio-peaks"


def test_the_window_itself_is_no_peak() -> None:
    wave = 1 + np.cos(2 * np.pi * np.arange(200) / 200)
    assert detect_period_samples(wave, 1.0, method="ftio").periodic
    assert not detect_period_samples(wave, 1.0, method="ftio-peaks").periodic


def test_all_harmonics_of_a_clean_train_are_peaks() -> None:
    train = np.zeros(400)
    train[::20] = 1.0
    result = detect_period_samples(train, 1.0, method="ftio-peaks")
    assert result.period == pytest.approx(20)
    assert result.confidence == pytest.approx(1.0)
    assert result.evidence.harmonics == 9


ensemble = pytest.importorskip("sklearn.ensemble")


def expected_search(count: int) -> float:
    """c(n): mean length of an unsuccessful search in a random search tree (Liu et al., eq. 1)."""
    return {0: 0.0, 1: 0.0, 2: 1.0}.get(
        count, 2 * sum(1 / i for i in range(1, count)) - 2 * (count - 1) / count if count else 0.0
    )


def path_length(value: float, sample: Sequence[float], depth: int, deepest: int, cuts: random.Random) -> float:
    """h(x) in one tree, of which only the branch of `value` is grown (algorithms 2 and 3)."""
    low, high = min(sample), max(sample)
    if depth >= deepest or len(sample) <= 1 or low == high:
        return depth + expected_search(len(sample))
    cut = cuts.uniform(low, high)
    side = [other for other in sample if (other < cut) == (value < cut)]
    return path_length(value, side, depth + 1, deepest, cuts) if side else depth + 1.0


@functools.cache
def slow_scores(values: tuple[float, ...], trees: int = 400) -> list[float]:
    """Anomaly scores s (eq. 2) with all values in each tree."""
    cuts = random.Random(11)
    deepest = math.ceil(math.log2(len(values)))
    return [
        2
        ** (-sum(path_length(v, values, 0, deepest, cuts) for _ in range(trees)) / trees / expected_search(len(values)))
        for v in values
    ]


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("bound", [0.55, 0.6, 0.75])
def test_marked_lines_have_the_score_of_the_definition(seed: int, bound: float) -> None:
    rng = np.random.default_rng(seed)
    power = rng.exponential(1.0, 80)
    power[[9, 19, 42]] += [60.0, 50.0, 15.0]
    scores = z_scores(power)
    marked = is_isolated(scores, bound)
    told = 0
    for score, own, mark in zip(scores, slow_scores(tuple(scores.tolist())), marked, strict=True):
        # Forests of 100 trees differ by chance.
        if abs(own - bound) > 0.04:
            told += 1
            assert mark == (own >= bound and score > 0)
    assert told >= 60
    assert marked[[9, 19]].all()


@settings(max_examples=15)
@given(seed=st.integers(0, 2**32 - 1), count=st.integers(8, 400))
def test_at_one_half_the_verdicts_are_those_of_the_library(seed: int, count: int) -> None:
    scores = z_scores(np.random.default_rng(seed).exponential(1.0, count) ** 3)
    library = ensemble.IsolationForest(random_state=0).set_params(max_samples=min(256, count))
    expected = (library.fit_predict(scores.reshape(-1, 1)) == -1) & (scores > 0)
    # The library's own bound leaves out scores of exactly 0.5, the method's includes them.
    assert is_isolated(scores, np.nextafter(0.5, 1)).tolist() == expected.tolist()


def test_the_first_and_the_last_line_of_a_flat_background_are_not_isolated() -> None:
    scores = z_scores(np.random.default_rng(3).normal(10.0, 1.0, 500))
    scores[[0, -1]] = 0.1
    assert not is_isolated(scores, 0.6)[[0, -1]].any()


def test_a_train_of_bursts_in_noise_is_found_and_found_again() -> None:
    samples = np.random.default_rng(4).exponential(0.02, 600)
    samples[::25] += 1.0
    result = detect_period_samples(samples, 2.0, method="ftio-isolation-forest")
    assert result.period == pytest.approx(12.5)
    assert result.method == "ftio-isolation-forest"
    assert detect_period_samples(samples, 2.0, method="ftio-isolation-forest").to_dict() == result.to_dict()


DETECTORS = {"ftio-dbscan": "cluster", "ftio-isolation-forest": "ensemble", "ftio-lof": "neighbors"}


@pytest.mark.parametrize("method", DETECTORS)
def test_a_missing_extra_is_one_clear_line(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, f"sklearn.{DETECTORS[method]}", None)
    with pytest.raises(MissingLibraryError, match=r"pip install 'iostrata\[outliers\]'") as caught:
        detect_period_samples(np.arange(60.0), 1.0, method=method)
    assert method in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("method", ["ftio", "ftio-peaks", "ftio-merged", "autocorrelation"])
def test_other_methods_do_without(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ["sklearn", *(f"sklearn.{module}" for module in DETECTORS.values())]:
        monkeypatch.setitem(sys.modules, name, None)
    wave = 1 + np.cos(2 * np.pi * np.arange(200) / 20)
    assert detect_period_samples(wave, 1.0, method=method).period == pytest.approx(20)


pytest.importorskip("sklearn")


def slow_factors(scores: list[float]) -> list[float]:
    """The factors of Breunig et al. (SIGMOD'00), definitions 3 to 7, with exactly k neighbours."""
    count = len(scores)
    points = [(k / count, score) for k, score in enumerate(scores)]
    neighbours = []
    for i, point in enumerate(points):
        others = sorted((math.dist(point, other), j) for j, other in enumerate(points) if j != i)
        neighbours.append(others[:NEIGHBOURS])
    reach = [near[-1][0] for near in neighbours]
    density = [NEIGHBOURS / sum(max(reach[j], distance) for distance, j in near) for near in neighbours]
    return [sum(density[j] for _, j in near) / NEIGHBOURS / density[i] for i, near in enumerate(neighbours)]


@given(
    seed=st.integers(0, 2**32 - 1), count=st.integers(21, 70), peaks=st.integers(0, 4), bound=st.sampled_from([1.5, 3])
)
def test_marked_lines_have_the_factor_of_the_definition(seed: int, count: int, peaks: int, bound: float) -> None:
    rng = np.random.default_rng(seed)
    power = rng.exponential(1.0, count)
    power[rng.integers(0, count, peaks)] += rng.exponential(20.0, peaks)
    scores = z_scores(power)
    factors = slow_factors(scores.tolist())
    assume(all(abs(factor - bound) > 1e-6 for factor in factors))
    expected = [factor >= bound and score > 0 for factor, score in zip(factors, scores, strict=True)]
    assert is_locally_sparse(scores, bound).tolist() == expected


def test_lines_of_the_same_strength_are_no_outliers_of_each_other() -> None:
    """Lines on one point have no density; those of a clean train would be, were it not for their frequency."""
    power = np.zeros(500)
    power[19::20] = 1.0
    # More than 20 alike are a cluster of their own; of the 25 there are, none stands out.
    assert not is_locally_sparse(z_scores(power), 1.5).any()
    power[200:] = 0.0
    assert np.flatnonzero(is_locally_sparse(z_scores(power), 1.5)).tolist() == list(range(19, 200, 20))


def test_lof_finds_a_train_of_bursts_in_noise() -> None:
    samples = np.random.default_rng(4).exponential(0.02, 600)
    samples[::25] += 1.0
    result = detect_period_samples(samples, 2.0, method="ftio-lof")
    assert result.period == pytest.approx(12.5)
    assert result.method == "ftio-lof"


def test_fewer_lines_than_neighbours_are_too_few() -> None:
    assert "42 samples" in detect_period_samples(np.arange(41.0), 1.0, method="ftio-lof").reason
    assert "Too few" not in detect_period_samples(np.arange(42.0), 1.0, method="ftio-lof").reason
