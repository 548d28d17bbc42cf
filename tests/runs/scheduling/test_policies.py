"""Sets, priorities and queues."""

import numpy as np
import pytest
from hypothesis import strategies as st
from iostrata.runs.scheduling.policies import queues_of, sets_of
from iostrata.runs.scheduling.simulation import simulate

PERIODS = st.floats(1e-9, 1e12)


def test_what_has_no_period_waits_for_nobody_and_goes_before_nobody():
    sets = sets_of(("a", "b", "c", "d"), np.array([np.nan, 19.2, 384.0, np.nan]))
    assert [(one.set, one.jobs) for one in sets] == [(1, ("b",)), (3, ("c",)), (None, ("a", "d"))]
    assert sets[2].priority == sets[1].priority == pytest.approx(0.001)
    assert sets[2].period_s is None
    assert [one.exclusive for one in sets] == [True, True, False]
    (alone,) = sets_of(("a",), np.array([np.nan]))
    assert alone.priority == 1


def test_queues_of_each_policy(make):
    jobs = [(0, [(18, 1), (18, 1)]), (0, [(360, 24)]), (0, [(380, 4), (380, 4)]), (0, [(18, 1)]), (0, [(18, 1)])]
    workload = make(jobs, [19.0, 384.0, 384.0, np.nan, np.nan])
    fair = queues_of(workload, "fair")
    assert fair.queue.tolist() == [0, 0, 1, 2, 2, 3, 4]
    assert fair.weight.tolist() == [1] * 5
    assert queues_of(workload, "exclusive").queue.tolist() == [0] * 7
    told = queues_of(workload, "set-10")
    first, _, second, third, fourth, fifth, sixth = told.queue.tolist()
    assert second == third == fourth
    assert len({first, second, fifth, sixth}) == 4
    assert told.weight[told.queue] == pytest.approx([0.1, 0.1, *(0.001,) * 5])
    # It knows what the scheduler is not told.
    known = queues_of(workload, "clairvoyant")
    assert known.queue.tolist() == [0, 0, 1, 1, 1, 0, 0]
    assert known.weight[known.queue] == pytest.approx([0.1, 0.1, 0.001, 0.001, 0.001, 0.1, 0.1])


def test_each_job_without_a_period_stands_alone(make):
    workload = make([(0, [(18, 1)])] * 4, [np.nan, np.nan, 19.0, 384.0])
    assert len(set(queues_of(workload, "set-10").queue.tolist())) == 4


def test_where_no_period_is_known_bandwidth_is_shared_fairly(make):
    jobs = [(0, [(18, 1), (18, 1)]), (0, [(17, 24)]), (3, [(16, 4), (16, 4)])]
    workload = make(jobs)
    told, fair = queues_of(workload, "set-10"), queues_of(workload, "fair")
    assert simulate(workload, told.queue, told.weight).end.tolist() == pytest.approx(
        simulate(workload, fair.queue, fair.weight).end.tolist()
    )


def test_wrong_periods_are_too_long_as_often_as_too_short(make):
    workload = make([(0, [(360.0, 24.0)] * 4000)], [384.0])
    queues = queues_of(workload, "set-10", 0.5, np.random.default_rng(0))
    weight = queues.weight[queues.queue]
    # 192 s belong to 10^2 s, 576 s to 10^3 s.
    assert sorted(set(weight.tolist())) == pytest.approx([0.001, 0.01])
    assert np.mean(weight == 0.01) == pytest.approx(0.5, abs=0.05)


@pytest.mark.parametrize("period", [1e-12, 1e15])
def test_errors_may_lead_beyond_what_a_scheduler_is_told(make, period):
    workload = make([(0, [(period, period)])], [period])
    assert np.isfinite(queues_of(workload, "set-10").weight).all()
