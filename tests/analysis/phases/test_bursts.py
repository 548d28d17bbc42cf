"""Sets of bursts: their weights, and that they depend on nothing but the bursts."""

import itertools

import numpy as np
import pytest
from iostrata import step_signal
from iostrata.analysis.phases.bursts import few_bursts, sets_of_bursts, vertices


def irregular(seed: int = 1, shift: float = 0.0, scale: float = 1.0, volume: float = 1.0) -> object:
    random = np.random.default_rng(seed)
    start = scale * np.sort(random.uniform(0, 1000, 60))
    moved = volume * random.lognormal(size=60)
    return step_signal(start + shift, start + shift + 2 * scale, moved, window=(0.0, shift + 1010 * scale))


def test_weights_are_shares_of_the_thresholds() -> None:
    sets = sets_of_bursts(*vertices(irregular()))
    assert 0 < sum(np.exp(one.log_weight) for one in sets) <= 1 + 1e-9
    assert all(before.log_weight >= after.log_weight for before, after in itertools.pairwise(sets))


def test_a_clear_train_has_one_heavy_set() -> None:
    start = 10.0 * np.arange(12)
    sets = sets_of_bursts(*vertices(step_signal(start, start + 1, np.ones(12))))
    assert len(sets[0]) == 12
    assert sets[0].log_weight > -0.1


@pytest.mark.parametrize(("shift", "scale", "volume"), [(12000.0, 1.0, 1.0), (0.0, 2.0**-20, 1.0), (0.0, 1.0, 2.0**70)])
def test_silence_and_units_change_no_set(shift: float, scale: float, volume: float) -> None:
    plain = sets_of_bursts(*vertices(irregular()))
    other = sets_of_bursts(*vertices(irregular(shift=shift, scale=scale, volume=volume)))
    assert [len(one) for one in plain] == [len(one) for one in other]
    for one, two in zip(plain, other, strict=True):
        assert two.start - shift == pytest.approx(one.start * scale, rel=1e-9, abs=1e-9)
        assert two.log_weight == pytest.approx(one.log_weight, abs=1e-6)


def test_fewer_than_four_bursts_make_no_set_but_are_named() -> None:
    path = vertices(step_signal([10.0, 40.0], [12.0, 42.0], [1.0, 1.0], window=(0.0, 60.0)))
    assert sets_of_bursts(*path) == []
    assert few_bursts(*path).start.tolist() == [10.0, 40.0]


def test_nothing_moved_is_no_burst() -> None:
    path = vertices(step_signal([0.0], [1.0], [0.0], window=(0.0, 10.0)))
    assert sets_of_bursts(*path) == []
    assert len(few_bursts(*path)) == 0
