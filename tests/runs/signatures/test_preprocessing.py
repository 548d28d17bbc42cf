"""Step A: outliers, finer intervals, one duration, no background."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.runs.signatures.preprocessing import (
    background,
    compressed,
    local_outlier_factors,
    outliers,
    refined,
    trimmed,
    without_background,
)
from iostrata.runs.signatures.sample import Sample, usual_interval

VALUES = st.lists(st.floats(0, 1e12), min_size=2, max_size=60)


def sample(values, interval=2.0):
    return Sample("one", np.asarray(values, np.float64), interval)


def test_of_a_sample_4_percent_longer_the_1st_26th_51st_values_go():
    values = np.arange(104.0)
    assert np.setdiff1d(values, trimmed(sample(values), 100).values).tolist() == [0, 26, 52, 78]
    assert np.setdiff1d(np.arange(26.0), trimmed(sample(np.arange(26.0)), 25).values).tolist() == [0]


@given(VALUES, st.integers(1, 60))
def test_a_trimmed_sample_keeps_order_and_has_the_length(values, length):
    values = np.arange(len(values), dtype=float)
    found = trimmed(sample(values), length).values
    assert len(found) == min(length, len(values))
    assert (np.diff(found) > 0).all()


@given(VALUES, st.integers(1, 60))
def test_a_compressed_sample_keeps_the_volume_of_every_part(values, length):
    whole = np.asarray(values)
    found = compressed(sample(values), length).values
    assert len(found) == length
    share = np.linspace(0, len(whole), length + 1)[length // 2]
    before = whole[: int(share)].sum() + whole[min(int(share), len(whole) - 1)] * (share % 1)
    assert found[: length // 2].sum() == pytest.approx(before, rel=1e-9, abs=1e-3)
    assert found.sum() == pytest.approx(whole.sum(), rel=1e-9, abs=1e-3)


def test_beside_equal_samples_one_that_differs_is_without_bounds_but_a_number():
    # On the plane the two that are equal are 0 apart, the third one 2.5 in duration and 2.5 in volume from them.
    equal, other = sample([1.0] * 2, 1.0), sample([1.0] * 12, 1.0)
    factors = local_outlier_factors([equal] * 4 + [other])
    away = np.hypot(12 / 4, 12 / 4) - np.hypot(2 / 4, 2 / 4)
    assert factors.tolist() == pytest.approx([1, 1, 1, 1, away / 1e-10])


def test_refining_puts_the_mean_between_two_values():
    found = refined(sample([1, 3, 2]))
    assert found.values.tolist() == [1, 2, 3, 2.5, 2]
    assert found.interval == 1.0


def test_the_background_is_the_mean_of_the_values_below_the_mean_of_all():
    one, other = sample([1, 2, 9]), sample([3, 0, 9])
    assert background([one, other]) == pytest.approx(1.5)
    assert without_background(one, 1.5).values.tolist() == [0, 0.5, 7.5]


@given(st.lists(st.tuples(st.integers(1, 50), st.integers(1, 50)), min_size=4, max_size=14))
def test_outlier_factors_are_those_of_scikit_learn(points):
    neighbors = pytest.importorskip("sklearn.neighbors")
    # With equal points both may take different ones for neighbours.
    points = [(1 + x + place / 100, 1 + y) for place, (x, y) in enumerate(points)]
    samples = [Sample("", np.full(round(100 * length), volume / length), 1.0) for length, volume in points]
    plane = np.array([[one.duration, one.volume] for one in samples])
    plane /= plane.mean(axis=0)
    if len(np.unique(plane, axis=0)) < len(plane):
        return
    oracle = neighbors.LocalOutlierFactor(n_neighbors=max(2, len(samples) // 2)).fit(plane)
    assert local_outlier_factors(samples) == pytest.approx(-oracle.negative_outlier_factor_, rel=1e-6)


def test_a_run_that_stands_out_is_dropped_and_at_most_a_quarter_of_them():
    lengths = [100, 101, 102, 99, 100, 103, 98, 180, 260, 350]
    samples = [sample(np.ones(length)) for length in lengths]
    dropped = outliers(local_outlier_factors(samples), samples)
    assert np.flatnonzero(dropped).tolist() == [8, 9]
    assert not outliers(np.array([1.0, 9.0, 1.0]), samples[-3:]).any()


def test_a_run_that_hardly_differs_is_none_that_stands_out():
    samples = [sample(np.ones(length)) for length in (3900, 3900, 3900, 3901, 3900, 3900, 3880, 3900)]
    factors = local_outlier_factors(samples)
    assert factors.max() > 1.5
    assert not outliers(factors, samples).any()


def test_the_usual_interval_is_round():
    assert usual_interval([20.5, 24.3]) == 0.1
    assert usual_interval([7.0]) == 0.05
    assert usual_interval([2000.0]) == 10.0
