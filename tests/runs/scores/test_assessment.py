"""Scores of jobs: the paper's example, and what must not change them."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from iostrata.runs.scores.assessment import assess, io_intensity, problem_score, ranked
from iostrata.runs.scores.blocks import METRICS, MetricBlock
from iostrata.runs.scores.limits import MetricLimits

LIMITS = MetricLimits(dict.fromkeys(METRICS, (1.0, 10.0)), critical=4.0)
VALUE = {0: 0.5, 1: 5.0, 4: 50.0}
"""A value for each score."""


def block(values, metrics=METRICS, idle=0):
    """Return a job from values by node, file system, metric and segment, float64 (n, f, m, s); NaN is missing."""
    nodes, systems, count, segments = values.shape
    series = nodes * systems * count
    node, system, metric = np.unravel_index(np.arange(series), (nodes, systems, count))
    return MetricBlock(
        jobs=("job",),
        filesystems=tuple(f"fs{place}" for place in range(systems)),
        node_names=tuple(f"n{place}" for place in range(nodes)),
        job=np.zeros(series, np.int64),
        node=node,
        filesystem=system,
        metric=np.array([METRICS.index(metrics[one]) for one in metric]),
        first=np.zeros(series, np.int64),
        offset=np.arange(series + 1) * segments,
        values=values.reshape(-1).astype(np.float64),
        segments=np.array([segments]),
        duration=np.array([600.0 * segments]),
        idle=np.array([idle]),
    )


def test_the_papers_example():
    # Section 3.5: 4 nodes, 6 segments, of which 0 and 5 are intensive, 2 file systems, maxima 4 and 1.
    values = np.full((4, 2, 13, 6), VALUE[0])
    values[0, :, 3, 0] = VALUE[4]
    values[:, :, 3, 5] = VALUE[1]
    (found,) = assess([block(values)], LIMITS)
    assert found.utilization == 5
    assert found.problem_time == pytest.approx(1 / 3)
    assert found.balance == 0.625
    assert (found.segments, found.intensive_segments, found.nodes, found.filesystems) == (6, 2, 4, 2)
    assert found.available_share == 1


def test_the_papers_two_jobs():
    assert io_intensity(0.6, 3.9, 1.0, 13) == pytest.approx(30.42)
    assert problem_score(0.8, 7.5, 0.05, 2) == pytest.approx(2.85)


def slow(values, threshold=1.0):
    """Return Problem-Time, Utilization and Balance as sections 3.3 and 3.4 say it, by loops."""
    scores = np.where(values > 10, 4.0, np.where(values > 1, 1.0, 0.0))
    node = scores.sum(axis=(1, 2))
    intensive = np.flatnonzero(node.sum(axis=0) > threshold)
    if not len(intensive):
        return 0.0, 0.0, None
    utilization = sum(scores[:, system, :, intensive].max(axis=(1, 2)).mean() for system in range(scores.shape[1]))
    balance = np.mean([node[:, one].mean() / node[:, one].max() for one in intensive])
    return len(intensive) / values.shape[3], utilization, balance


JOBS = st.tuples(st.integers(1, 4), st.integers(1, 3), st.integers(1, 5), st.integers(1, 6), st.integers(0, 2**32 - 1))


def made(shape):
    *shape, seed = shape
    return np.random.default_rng(seed).choice(list(VALUE.values()), shape, p=[0.85, 0.1, 0.05])


@given(JOBS, st.sampled_from([0.0, 1.0, 3.0]))
def test_scores_are_those_of_the_slow_way(shape, threshold):
    values = made(shape)
    (found,) = assess([block(values)], LIMITS, threshold=threshold)
    time, utilization, balance = slow(values, threshold)
    assert found.problem_time == pytest.approx(time)
    assert found.utilization == pytest.approx(utilization)
    assert found.balance == (None if balance is None else pytest.approx(balance))


@given(JOBS, st.integers(1, 5))
def test_idle_nodes_lower_balance_alone(shape, more):
    values = made(shape)
    (before,) = assess([block(values)], LIMITS)
    zeros = np.zeros((more, *values.shape[1:]))
    (after,) = assess([block(np.concatenate([values, zeros]))], LIMITS)
    (told,) = assess([block(values, idle=more)], LIMITS)
    nodes = len(values)
    for one in (after, told):
        assert one.problem_time == before.problem_time
        assert one.utilization == before.utilization
        assert one.nodes == nodes + more
        if before.balance is not None:
            assert one.balance == pytest.approx(before.balance * nodes / (nodes + more))


@given(JOBS)
def test_a_metric_that_is_missing_is_as_one_without_a_score(shape):
    values = made(shape)
    without, quiet = values.copy(), values.copy()
    without[:, :, 0] = np.nan
    quiet[:, :, 0] = 0
    (absent,) = assess([block(without)], LIMITS)
    (silent,) = assess([block(quiet)], LIMITS)
    if values.shape[2] > 1:
        assert (absent.problem_time, absent.utilization) == (silent.problem_time, silent.utilization)
        assert absent.balance == silent.balance
    assert absent.available_share < silent.available_share


@given(JOBS, st.floats(1e-3, 1e6))
def test_other_units_change_nothing(shape, scale):
    values = made(shape)
    scaled = MetricLimits(
        {metric: (scale * low, scale * high) for metric, (low, high) in LIMITS.limits.items()}, critical=4.0
    )
    assert assess([block(values)], LIMITS) == assess([block(values * scale)], scaled)


def test_a_job_stays_found_without_what_the_file_system_client_counts():
    values = np.full((4, 1, 13, 6), VALUE[0])
    values[0, 0, :, :] = VALUE[4]
    names = [metric for metric in METRICS if not metric.startswith("osc_")]
    kept = [METRICS.index(name) for name in names]
    (whole,) = assess([block(values)], LIMITS)
    (part,) = assess([block(values[:, :, kept], names)], LIMITS)
    assert part.problem_score == whole.problem_score
    assert part.available_share == pytest.approx(9 / 13)


def test_nodes_that_were_allocated_and_have_no_data_are_told():
    (found,) = assess([block(made((2, 1, 13, 5, 1)))], LIMITS, allocated={"job": 4})
    assert found.available_share == 0.5


def test_where_the_lower_limit_is_0_any_operation_is_high():
    limits = MetricLimits({"md_file_delete": (0.0, 0.41)}, critical=4.0)
    values = np.zeros((2, 1, 1, 3))
    values[:, 0, 0, 1] = 0.001
    (found,) = assess([block(values, ("md_file_delete",))], limits)
    assert (found.intensive_segments, found.utilization) == (1, 1.0)


def test_jobs_are_ranked_by_value_and_then_by_name():
    jobs = assess([block(made((3, 1, 4, 5, seed))) for seed in range(9)], LIMITS)
    order = ranked(jobs, "io_intensity")
    assert [one.io_intensity for one in order] == sorted((one.io_intensity for one in jobs), reverse=True)
    assert ranked(jobs, least_duration=1e9) == []


def test_short_jobs_come_after_longer_ones_and_idle_ones_last():
    jobs = [
        replace(one, job=name, duration_s=duration, problem_score=score)
        for one, (name, duration, score) in zip(
            assess([block(made((3, 1, 4, 5, 1)))], LIMITS) * 5,
            [
                ("short", 1800.0, 3.9),
                ("long", 1801.0, 0.5),
                ("idle", 9000.0, 0.0),
                ("longer", 9000.0, 2.0),
                ("brief", 600.0, 4.0),
            ],
            strict=True,
        )
    ]
    assert [one.job for one in ranked(jobs, short=1800.0)] == ["longer", "long", "brief", "short", "idle"]
    assert [one.job for one in ranked(jobs)] == ["brief", "short", "longer", "long", "idle"]
