"""How regularly iterations begin: classes with their probability, and changes that are certain only."""

import numpy as np
import pytest
from iostrata.analysis.loops.timing import Kinds, kinds_of, standing_out, timing_of


def begins(intervals):
    return np.concatenate(([0.0], np.cumsum(intervals)))


@pytest.mark.parametrize(("kind", "jitter"), [("clock", 0.001), ("regular", 0.1), ("irregular", 0.6)])
def test_many_intervals_make_the_class_sure(kind, jitter):
    rng = np.random.default_rng(3)
    many = timing_of(begins(rng.normal(1, jitter, 400).clip(0.01)))
    assert (many.kind, many.probability > 0.99) == (kind, True)


def test_few_intervals_do_not():
    few = timing_of(np.array([0.0, 1.0, 2.2]))
    assert few.kind == "regular"
    assert few.probability < 0.9
    assert timing_of(np.array([0.0, 1.0])).probability is None


def test_probabilities_are_those_of_the_classes():
    rng = np.random.default_rng(5)
    told = [timing_of(begins(rng.normal(1, cv, 8).clip(0.01))) for cv in rng.uniform(0.15, 0.4, 300) for _ in range(2)]
    assert 0.6 < np.mean([one.probability for one in told]) < 0.95


@pytest.mark.parametrize(
    ("words", "intervals"),
    [
        ("1 pause", np.where(np.arange(30) == 11, 20.0, 1.0)),
        ("from iteration 16 on every 2 s", np.where(np.arange(40) < 15, 1.0, 2.0)),
        ("slower and slower", np.linspace(1, 2, 60)),
        ("faster and faster", np.linspace(2, 1, 60)),
    ],
)
def test_what_changes_is_told(words, intervals):
    noise = np.random.default_rng(1).normal(1, 0.1, len(intervals))
    assert timing_of(begins(intervals * noise)).changes[:9] == words[:9]


def test_noise_is_no_change():
    rng = np.random.default_rng(2)
    told = [timing_of(begins(rng.gamma(9, 1, int(rng.integers(5, 200))))).changes for _ in range(200)]
    assert sum(map(bool, told)) <= 2


@pytest.mark.parametrize("spread", [0.1, 0.7])
def test_of_lengths_that_vary_by_factors_none_stands_out(spread):
    rng = np.random.default_rng(7)
    runs = [np.exp(spread * rng.standard_normal(10)) for _ in range(300)]
    assert sum(standing_out(one, 2.0).any() for one in runs) <= 9


@pytest.mark.parametrize("often", [1, 2])
def test_iterations_that_are_much_longer_than_the_others_stand_out(often):
    length = np.exp(0.15 * np.random.default_rng(8).standard_normal(12))
    length[:often] *= 6
    assert standing_out(length, 2.0).tolist() == [True] * often + [False] * (12 - often)


def test_what_a_third_of_the_iterations_do_is_how_the_loop_goes():
    assert not standing_out(np.tile([1.0, 1.0, 30.0], 10), 5.0).any()


@pytest.mark.parametrize(("every", "first"), [(2, 1), (5, 3), (6, 5)])
def test_lengths_that_are_longer_at_even_places_are_of_two_kinds(every, first):
    length = np.random.default_rng(7).normal(20, 1, 29)
    length[first - 1 :: every] += 20
    kinds = kinds_of(length)
    assert (kinds.every, kinds.first) == (every, first)
    assert (kinds.usual, kinds.longer) == pytest.approx((20, 40), rel=0.05)


def test_lengths_of_two_kinds_in_no_order_are_so_too():
    rng = np.random.default_rng(9)
    kinds = kinds_of(rng.permutation(np.repeat([1.0, 2.1], 12)) * rng.normal(1, 0.02, 24))
    assert (kinds.every, kinds.share) == (None, 0.5)
    assert (kinds.usual, kinds.longer) == pytest.approx((1, 2.1), rel=0.05)


def test_one_kind_after_the_other_is_another_pace():
    assert kinds_of(np.repeat([1.0, 2.1], 12) * np.random.default_rng(9).normal(1, 0.02, 24)) is None


@pytest.mark.parametrize("spread", [0.05, 0.3, 0.7])
def test_lengths_that_vary_are_of_one_kind(spread):
    rng = np.random.default_rng(11)
    assert (
        sum(kinds_of(rng.lognormal(0, spread, count)) is not None for count in (7, 12, 30, 100) for _ in range(50)) < 4
    )


@pytest.mark.parametrize(
    ("first", "text"),
    [
        (10, "after every 10th"),
        (9, "before every 10th"),
        (4, "after the 4th of every 10"),
        (1, "after the 1st of every 10"),
    ],
)
def test_which_intervals_are_longer_is_told_by_the_iterations_around(first: int, text: str) -> None:
    assert Kinds(1.0, 3.0, 0.1, first, 10, 0.01).when == text
