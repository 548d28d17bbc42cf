"""The isolation forest against one grown here, and against the library's own verdicts."""

import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata import detect_period_samples
from iostrata.analysis.methods.ftio_outliers import is_isolated
from iostrata.analysis.spectral.outliers import z_scores

ensemble = pytest.importorskip("sklearn.ensemble")


def expected_search(count: int) -> float:
    """c(n): mean length of an unsuccessful search in a random search tree (Liu et al., eq. 1)."""
    return {0: 0.0, 1: 0.0, 2: 1.0}.get(
        count, 2 * sum(1 / i for i in range(1, count)) - 2 * (count - 1) / count if count else 0.0
    )


def path_length(value: float, sample: list[float], depth: int, deepest: int, cuts: random.Random) -> float:
    """h(x) in one tree, of which only the branch of `value` is grown (algorithms 2 and 3)."""
    low, high = min(sample), max(sample)
    if depth >= deepest or len(sample) <= 1 or low == high:
        return depth + expected_search(len(sample))
    cut = cuts.uniform(low, high)
    side = [other for other in sample if (other < cut) == (value < cut)]
    return path_length(value, side, depth + 1, deepest, cuts) if side else depth + 1.0


def slow_scores(values: list[float], trees: int = 400) -> list[float]:
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
    for score, own, mark in zip(scores, slow_scores(scores.tolist()), marked, strict=True):
        # Forests of 100 trees differ by chance.
        if abs(own - bound) > 0.04:
            told += 1
            assert mark == (own >= bound and score > 0)
    assert told >= 60
    assert marked[[9, 19]].all()


@settings(max_examples=15, deadline=None)
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
