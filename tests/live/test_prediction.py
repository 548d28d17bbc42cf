"""The next phase: its law is that of the two models, and stated shares of starts lie in its intervals."""

import numpy as np
import pytest
from iostrata.analysis.phases.bursts import Bursts
from iostrata.analysis.phases.stretches import PulseTrain
from iostrata.live import prediction
from iostrata.live.prediction import COVERED, NextPhase, TrackRecord, next_phase, start_law
from scipy import stats


def train_of(starts, spans=None):
    starts = np.asarray(starts, float)
    spans = np.ones(starts.size - 1) if spans is None else np.asarray(spans, float)
    return PulseTrain(Bursts(starts, starts + 0.1, np.ones(starts.size)), spans, 10.0)


LAWS = {
    "normal": lambda rng, n: rng.normal(size=n),
    "uniform": lambda rng, n: rng.uniform(-1.7, 1.7, n),
    "heavy tails": lambda rng, n: rng.standard_t(3, n),
    "lopsided": lambda rng, n: rng.exponential(1, n) - 1,
}


@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("about_clock", [True, False])
def test_nine_starts_in_ten_lie_in_the_interval(law, about_clock):
    rng = np.random.default_rng(7)
    hits = []
    for _ in range(400):
        n = int(rng.integers(4, 40))
        jitter = rng.uniform(0.0005, 0.06)
        off = jitter * LAWS[law](rng, n + 1)
        starts = 5.0 * (np.arange(n + 1) + (off if about_clock else np.cumsum(off)))
        if np.diff(starts).min() <= 0.5:
            continue
        found = next_phase(start_law(train_of(starts[:-1])), float(starts[-2]) + 0.1)
        hits.append(found.earliest <= starts[-1] <= found.latest)
    assert len(hits) > 350
    assert np.mean(hits) == pytest.approx(COVERED, abs=0.045)


def test_the_law_is_that_of_a_line_and_of_a_mean(monkeypatch):
    monkeypatch.setattr(prediction, "PRIOR_INTERVALS", 0.0)
    rng = np.random.default_rng(2)
    starts = 3.0 * np.arange(12) + rng.normal(0, 0.1, 12)
    law = start_law(train_of(starts))
    x = np.arange(12.0)
    line = stats.linregress(x, starts)
    deviation = np.sqrt(np.sum((starts - line.intercept - line.slope * x) ** 2) / 10)
    spread = deviation * np.sqrt(1 + 1 / 12 + (12 - x.mean()) ** 2 / np.sum((x - x.mean()) ** 2))
    intervals = np.diff(starts)
    assert law.mean == pytest.approx([line.intercept + 12 * line.slope, starts[-1] + intervals.mean()])
    assert law.scale == pytest.approx([spread, intervals.std(ddof=1) * np.sqrt(1 + 1 / 11)])
    assert law.freedom == 10


def test_clocks_are_told_from_starts_that_follow_one_another():
    rng = np.random.default_rng(4)
    off = rng.normal(0, 0.05, 30)
    assert start_law(train_of(np.arange(30) + off)).weight[0] > 0.9
    assert start_law(train_of(np.arange(30) + np.cumsum(off))).weight[0] < 0.1


def test_times_and_probabilities_belong_to_each_other():
    rng = np.random.default_rng(5)
    law = start_law(train_of(np.cumsum(rng.normal(4, 0.2, 15))))
    for turn in (0, 2):
        for pair in ((0.001, 0.05), (0.3, 0.5), (0.77, 0.999)):
            assert [law.passed(time, turn) for time in law.times(*pair, turn)] == pytest.approx(pair, abs=1e-6)


def test_equal_intervals_are_nearly_sure():
    found = next_phase(start_law(train_of(np.arange(8.0))), 7.1)
    assert 7.999 < found.earliest < 8.0 < found.latest < 8.001
    assert 0.8 < found.probability < 0.9


def test_a_phase_that_does_not_come_is_missing_or_the_regime_is_over():
    rng = np.random.default_rng(6)
    spans = np.array([1, 1, 2, 1, 3, 1, 1, 2, 1, 1])
    places = np.append(0.0, np.cumsum(spans))
    law = start_law(train_of(10 * places + rng.normal(0, 0.1, 11), spans))
    on_time, late = next_phase(law, 140.5), next_phase(law, 151.0)
    assert on_time.earliest < 150.0 < on_time.latest
    assert late.earliest < 160.0 < late.latest
    assert late.probability < on_time.probability
    steady = start_law(train_of(10 * np.arange(11.0) + rng.normal(0, 0.1, 11)))
    assert next_phase(steady, 112.0) is None


def test_a_start_beyond_all_digits_of_its_law_leaves_times_finite():
    """A long row of equal intervals makes the next one so sure that a late start has the share 1 of all."""
    starts = np.arange(80) * 0.08
    starts[60] += 0.03
    law = start_law(train_of(starts))
    assert law.record[-1] == 1
    for now in np.linspace(starts[-1] + 0.001, starts[-1] + 0.2, 50):
        found = next_phase(law, float(now))
        assert found is None or np.isfinite([found.earliest, found.latest]).all()
    assert np.isfinite([law.times(level, 1 - level) for level in (1e-9, 0.01, 0.5)]).all()


def test_the_next_start_after_another_interval_is_likely_another_interval_away():
    """Another regime and a stray start are both thought possible; two such intervals leave hardly a doubt."""
    rng = np.random.default_rng(5)
    before = np.cumsum(rng.normal(10, 0.1, 15))
    shares, hits, steady = [], 0, []
    for interval in np.exp(rng.uniform(np.log(2), np.log(7), 40)):
        later = before[-1] + interval * np.arange(1, 4) + rng.normal(0, 0.01 * interval, 3)
        once, twice = (start_law(train_of(np.append(before, later[:count]))) for count in (1, 2))
        shares.append((once.changed, twice.changed))
        found = next_phase(twice, float(later[1]) + 0.1 * interval)
        hits += found.earliest <= later[2] <= found.latest and found.probability > 0.5
        steady.append(start_law(train_of(np.cumsum(rng.normal(10, 0.3, 15)))).changed)
    first, second = np.mean(shares, axis=0)
    assert 0.4 < first < second
    assert second > 0.75
    assert hits >= 34
    assert np.mean(steady) < 0.03


def test_what_did_not_come_true_takes_probability_away():
    record = TrackRecord()
    for phase in range(10):
        said = NextPhase(phase + 0.9, phase + 1.1, 0.9)
        record.said(said, phase + 0.5)
        record.said(NextPhase(0.0, 99.0, 0.9), phase + 0.6)
        record.came(np.array([phase + 0.4, phase + (1.0 if phase < 5 else 1.4)]))
        told = record.corrected(said).probability
        assert told == 0.9 if phase < 5 else told < 0.9
    assert told == pytest.approx(0.6, abs=0.1)
