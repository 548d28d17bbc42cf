"""Noise of DBSCAN against its definition, point by point."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from iostrata import detect_period_samples
from iostrata.analysis.methods.ftio_outliers import FEWEST_NEIGHBOURS, fewest_samples_of_dbscan, is_noise
from iostrata.analysis.spectral.outliers import z_scores

pytest.importorskip("sklearn")


def slow_noise(scores: list[float], eps: float) -> tuple[list[bool], bool]:
    """Points that are neither core points nor near one (Ester et al., 1996), and whether a distance was close."""
    points = list(enumerate(scores))
    distances = [[math.dist(a, b) for b in points] for a in points]
    close = any(abs(distance - eps) < 1e-9 for row in distances for distance in row)
    core = [sum(distance <= eps for distance in row) >= FEWEST_NEIGHBOURS for row in distances]
    near_core = [any(core[j] and row[j] <= eps for j in range(len(points))) for row in distances]
    return [not near and score > 0 for near, score in zip(near_core, scores, strict=True)], close


@settings(max_examples=100, deadline=None)
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
