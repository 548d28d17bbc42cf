"""How improbable it is that samples are busy at the same time: right on noise, small where all are, in any order."""

from itertools import product

import numpy as np
import pytest
from iostrata.runs.signatures.coincidence import BusyStretch, coincidences
from iostrata.runs.signatures.sample import Sample

LENGTH = 600


def of_others(count, random):
    """Return samples of other jobs' bursts only."""
    made = []
    for place in range(count):
        values = random.gamma(2.0, 0.2, LENGTH)
        for _ in range(random.poisson(8)):
            at, width = random.integers(LENGTH), random.integers(4, 30)
            values[at : at + width] += random.uniform(2, 12)
        made.append(Sample(str(place), values, 1.0))
    return made


def with_bursts(samples, *places, width=16):
    for sample in samples:
        for at in places:
            sample.values[at : at + width] += 10
    return samples


@pytest.mark.parametrize("least", [3, 4])
def test_jobs_that_have_nothing_in_common_rarely_seem_to(least):
    random = np.random.default_rng(11)
    everywhere = [BusyStretch(start, start + 16, 4) for start in range(0, LENGTH - 16, 4)]
    lowest = [coincidences(of_others(4, random), everywhere, (), least).min() for _ in range(60)]
    # One in 20 by its word; what is usual is learnt from ten bursts a sample, so by measurement somewhat more.
    assert np.mean(np.array(lowest) <= 0.05) <= 0.12


def test_a_burst_of_all_samples_is_no_chance_and_the_rest_is():
    samples = with_bursts(of_others(4, np.random.default_rng(2)), 100, 300, 500)
    stretches = [BusyStretch(start, start + 16, 4) for start in (100, 200, 300, 400, 500)]
    known = [(100, 116), (500, 516)]
    found = coincidences(samples, stretches, known, 4)
    assert found[2] < 0.001
    assert found[[1, 3]].min() > 0.2
    # What is known to be no chance makes the others less probable, as does every sample that has them.
    assert found[2] < coincidences(samples, stretches, (), 4)[2]
    assert found[2] < coincidences(samples[:3], stretches, known, 3)[2]


def test_the_order_of_the_samples_and_the_unit_make_no_difference():
    samples = with_bursts(of_others(5, np.random.default_rng(4)), 300)
    stretches = [BusyStretch(300, 316, 3), BusyStretch(50, 90, 10), BusyStretch(0, 1, 1), BusyStretch(590, 640, 20)]
    found = coincidences(samples, stretches, (), 4)
    again = [Sample(one.name, one.values * 1e9, one.interval) for one in samples[::-1]]
    assert coincidences(again, stretches, (), 4) == pytest.approx(found)


def test_the_probability_is_that_of_enough_independent_samples():
    """Single values, so that no window or lag comes in between: the shares are counted by hand."""
    random = np.random.default_rng(8)
    samples = [Sample(str(place), random.permutation(np.arange(200.0)), 1.0) for place in range(3)]
    for sample in samples:
        sample.values[[50, int(np.argmax(sample.values == 190.0))]] = sample.values[
            [int(np.argmax(sample.values == 190.0)), 50]
        ]
    (found,) = coincidences(samples, [BusyStretch(50, 51, 0)], (), 2)
    # Of 199 other values 9 are higher; and the place itself is counted once.
    share = 10 / 200
    expected = sum(
        np.prod([share if one else 1 - share for one in ways]) for ways in product((0, 1), repeat=3) if sum(ways) >= 2
    )
    assert found == pytest.approx(min(1.0, expected * 4 * 200))


def test_sorting_and_counting_say_the_same(monkeypatch):
    samples = with_bursts(of_others(5, np.random.default_rng(6)), 100, 400)
    stretches = [BusyStretch(start, start + 16, 3) for start in range(0, LENGTH - 16, 7)]
    sorted_once = coincidences(samples, stretches, ((100, 116),), 4)
    monkeypatch.setattr("iostrata.runs.signatures.coincidence.FEW_LEVELS", 10**6)
    assert coincidences(samples, stretches, ((100, 116),), 4).tolist() == sorted_once.tolist()
