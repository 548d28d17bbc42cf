"""The local outlier factor against its definition, written out."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from iostrata import detect_period_samples
from iostrata.analysis.methods.ftio_outliers import NEIGHBOURS, is_locally_sparse
from iostrata.analysis.spectral.outliers import z_scores

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


@settings(max_examples=60, deadline=None)
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


def test_a_train_of_bursts_in_noise_is_found() -> None:
    samples = np.random.default_rng(4).exponential(0.02, 600)
    samples[::25] += 1.0
    result = detect_period_samples(samples, 2.0, method="ftio-lof")
    assert result.period == pytest.approx(12.5)
    assert result.method == "ftio-lof"


def test_fewer_lines_than_neighbours_are_too_few() -> None:
    assert "42 samples" in detect_period_samples(np.arange(41.0), 1.0, method="ftio-lof").reason
    assert "Too few" not in detect_period_samples(np.arange(42.0), 1.0, method="ftio-lof").reason
