"""The event-driven simulation against one that looks at every job at every step, and what it has to conserve."""

from heapq import heappop, heappush

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from iostrata.runs.scheduling import simulation
from iostrata.runs.scheduling.simulation import simulate

# Numbers without common divisors, so that few events fall together by accident of the test; some do on purpose.
PHASE = st.tuples(st.integers(0, 40), st.integers(1, 30))
JOB = st.tuples(st.integers(0, 50), st.lists(PHASE, min_size=1, max_size=5))
WEIGHTS = st.lists(st.sampled_from([1, 7, 10, 100, 1000]), min_size=4, max_size=4)


@st.composite
def cases(draw):
    jobs = draw(st.lists(JOB, min_size=1, max_size=6))
    queues = [[draw(st.integers(0, 3)) for _ in phases] for _, phases in jobs]
    return jobs, queues, draw(WEIGHTS)


def run(make, case):
    jobs, queues, weights = case
    return simulate(make(jobs), np.array([one for several in queues for one in several]), np.array(weights, float))


def received(found, weights):
    """Return what each phase has of the whole bandwidth, in s, if all that are served share it by their weights."""
    times = np.unique(np.concatenate([found.start, found.end]))
    served = (found.start[:, None] <= times[:-1]) & (found.end[:, None] >= times[1:])
    claim = served * np.asarray(weights, float)[found.queue][:, None]
    total = claim.sum(axis=0)
    return (claim / np.where(total > 0, total, 1)) @ np.diff(times)


@given(cases())
@example(([(0, [(5, 3), (5, 3)]), (0, [(5, 3), (5, 3)]), (0, [(5, 4)])], [[0, 0], [0, 0], [1]], [1, 1, 1, 1]))
def test_it_is_what_looking_at_every_job_at_every_step_gives(make, stepped, case):
    found = run(make, case)
    truth = np.array([[float(time) for time in phase] for phase in stepped(*case)])
    # Where a request falls on an end to the last digit, rounding may order them the other way: times stay the same.
    np.testing.assert_allclose(found.request, truth[:, 0], rtol=1e-9)
    np.testing.assert_allclose(found.end, truth[:, 2], rtol=1e-9)
    np.testing.assert_allclose(found.start, truth[:, 1], rtol=1e-9)


@given(cases())
def test_no_byte_is_moved_twice_and_the_capacity_is_never_exceeded(make, case):
    found = run(make, case)
    # Each phase gets its work, no more and no less, between its start and its end.
    np.testing.assert_allclose(received(found, case[2]), found.workload.work, rtol=1e-9, atol=1e-9)
    # One of a queue at a time, in the order of requests.
    for queue in np.unique(found.queue):
        rows = np.flatnonzero(found.queue == queue)
        rows = rows[np.argsort(found.start[rows], kind="stable")]
        assert (found.start[rows][1:] >= found.end[rows][:-1] - 1e-9).all()
        assert (np.diff(found.request[rows]) >= -1e-9).all()
    # A job asks again when it has computed.
    for begin, end in zip(found.workload.first[:-1], found.workload.first[1:], strict=True):
        ready = found.request[begin:end] - found.workload.compute[begin:end]
        np.testing.assert_allclose(ready[1:], found.end[begin : end - 1], rtol=1e-9, atol=1e-9)
    assert (found.end >= found.start).all()
    assert (found.start >= found.request).all()


def test_work_is_conserved_over_the_run(make):
    random = np.random.default_rng(4)
    jobs = [
        (random.uniform(0, 50), [(random.exponential(30), random.exponential(1)) for _ in range(40)]) for _ in range(60)
    ]
    workload = make(jobs)
    weights = 10.0 ** -np.arange(7)
    found = simulate(workload, workload.job_of_phase % 7, weights)
    assert received(found, weights).sum() == pytest.approx(workload.work.sum(), rel=1e-9)


@pytest.mark.parametrize("scale", [1e-8, 1.0, 1e8])
def test_priorities_that_are_twenty_powers_of_ten_apart_lose_no_digits(make, stepped, scale):
    # Never does an end fall on a request, where the last digit would decide who is served, and by how much.
    jobs = [(0, [(0, 10**9)]), (3001, [(1009, 2999)] * 50), (7001, [(2003, 5009)] * 50)]
    queues = [[0], [1] * 50, [2] * 50]
    truth = np.array([float(end) for _, _, end in stepped(jobs, queues, [1, 10**10, 10**20])])
    workload = make([(release * scale, [(c * scale, w * scale) for c, w in phases]) for release, phases in jobs])
    found = simulate(workload, np.array([one for several in queues for one in several]), np.array([1e-10, 1, 1e10]))
    np.testing.assert_allclose(found.end, truth * scale, rtol=1e-9)


def test_the_number_of_events_looked_at_grows_with_the_phases_alone(make, monkeypatch):
    """Jobs that all wait cost nothing until it is their turn."""
    counts = []
    for jobs in (200, 400, 800):
        calls = []
        monkeypatch.setattr(simulation, "heappop", lambda heap, calls=calls: calls.append(1) or heappop(heap))
        monkeypatch.setattr(simulation, "heappush", lambda *item, calls=calls: calls.append(1) or heappush(*item))
        workload = make([(0.0, [(1.0, 1.0)] * 3) for _ in range(jobs)])
        simulation.simulate(workload, workload.job_of_phase, np.ones(jobs))
        counts.append(len(calls) / (3 * jobs))
    assert max(counts) <= 4
