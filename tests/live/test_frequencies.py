"""FTIO's frequency intervals: the paper's definition, and scikit-learn's DBSCAN as oracle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from iostrata.live.frequencies import Prediction, frequency_intervals
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans


def test_predictions_that_agree_are_one_interval():
    told = [Prediction(0.1, 50.0), Prediction(0.101, 60.0), Prediction(None, 65.0), Prediction(0.25, 70.0)]
    ((low, high, probability),) = frequency_intervals(told)
    assert (low, high, probability) == (0.1, 0.101, 0.5)
    assert frequency_intervals([Prediction(None, 5.0)]) == frequency_intervals([]) == ()


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(0.01, 1.0), st.floats(10.0, 500.0)), min_size=2, max_size=30))
def test_clusters_are_those_of_dbscan(rows):
    cluster = pytest.importorskip("sklearn.cluster")
    told = [Prediction(*row) for row in rows]
    eps = np.abs(np.diff([1 / window for _, window in rows])).max()
    if eps < 1e-8:
        return
    frequency = np.array([one for one, _ in rows])
    labels = cluster.DBSCAN(eps=eps, min_samples=2).fit(frequency[:, None]).labels_
    expected = sorted(
        (frequency[labels == label].min(), frequency[labels == label].max(), np.mean(labels == label))
        for label in set(labels.tolist()) - {-1}
    )
    assert sorted(frequency_intervals(told)) == [pytest.approx(one) for one in expected]


def test_a_perfect_train_stays_periodic_after_its_window_was_cut():
    job, said = LiveJob(share=None, method="ftio"), []
    for phase in range(40):
        start = 10.0 * phase + 0.1 * np.arange(10)
        job.add(Key("POSIX", "write"), Spans(start, start + 0.1, np.full(10, 2**20)))
        (answer,) = job.answers(0.0, 10.0 * phase + 9.5)
        said.append(answer)
    assert all(one.periodic and one.period == pytest.approx(10, rel=0.02) for one in said[8:])
    # Three periods are no spectrum in which a line stands out; that is said, and what the whole run shows.
    assert "of the last 4" in said[-1].reason
    assert "of the whole run: One frequency stands out" in said[-1].reason
