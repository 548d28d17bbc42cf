"""Jobs become a workload."""

import numpy as np
import pytest
from iostrata import SelectionError
from iostrata.runs.scheduling.jobs import PeriodicJob, make_workload


def random():
    return np.random.default_rng(0)


def row(period, **more):
    return PeriodicJob("row", np.array([period * 0.9]), np.array([period * 0.1]), period=period, **more)


RECORDED = PeriodicJob("recorded", np.array([1.0, 2.0, 3.0]), np.array([0.1, 0.2, 0.3]), rest=4.0, signal="POSIX total")


def test_a_recording_is_what_was_recorded():
    work = make_workload([RECORDED], random())
    assert work.compute.tolist() == [1, 2, 3]
    assert work.work.tolist() == [0.1, 0.2, 0.3]
    assert work.rest.tolist() == [4]
    # Its phases begin at 1, 3.1 and 6.3 s.
    assert work.characteristic_time == pytest.approx([(6.3 - 1) / 2])


def test_a_recording_is_repeated_and_cut():
    work = make_workload([RECORDED], random(), iterations=5)
    # It begins again after its rest.
    assert work.compute.tolist() == [1, 2, 3, 4 + 1, 2]
    assert work.work.tolist() == [0.1, 0.2, 0.3, 0.1, 0.2]
    assert work.rest.tolist() == [0]
    assert make_workload([RECORDED], random(), iterations=6).rest.tolist() == [4]


def test_jobs_run_as_long_as_the_longest():
    work = make_workload([row(10.0), row(200.0)], random())
    assert np.diff(work.first).tolist() == [400, 20]
    work = make_workload([row(10.0), row(200.0, iterations=3), row(50.0, iterations=2)], random())
    assert np.diff(work.first).tolist() == [60, 3, 2]
    work = make_workload([row(1.0), RECORDED], random())
    assert np.diff(work.first).tolist() == [11, 3]


def test_periods_far_apart_make_no_endless_simulation():
    work = make_workload([row(1e-3), row(1e9)], random())
    assert len(work.work) <= 2**19 + 1
    with pytest.raises(SelectionError, match="fewer --iterations"):
        make_workload([row(1e-3), row(1e9, iterations=20)], random())


def test_what_a_job_computes_varies_about_its_mean():
    work = make_workload([row(10.0, jitter=0.3), row(10.0)], random(), iterations=20_000)
    drawn = work.compute[:20_000]
    assert drawn.mean() == pytest.approx(9, rel=0.02)
    assert drawn.std() / drawn.mean() == pytest.approx(0.3, rel=0.05)
    assert (drawn > 0).all()
    assert (work.compute[20_000:] == 9).all()
    assert (make_workload([row(10.0, jitter=1e-200)], random(), iterations=20).compute == 9).all()


def test_when_jobs_begin():
    jobs = [row(10.0, release=7.0)] + [row(10.0)] * 200
    assert make_workload(jobs, random()).release.tolist() == [7.0] + [0.0] * 200
    release = make_workload(jobs, random(), random_start=True).release
    assert release[0] == 7
    assert 0 <= release[1:].min() < 1 < 9 < release[1:].max() < 10


def test_load_and_bound():
    work = make_workload([row(10.0, nodes=1.0), row(20.0, nodes=5.0)], random(), iterations=2)
    assert work.load == pytest.approx([0.1, 0.1])
    assert work.utilization_alone == pytest.approx(0.9)
