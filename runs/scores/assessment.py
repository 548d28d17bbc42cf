"""Scores of jobs: Job-I/O-Problem-Time, Utilization, Balance, and the rankings (Betke & Kunkel, sections 3.4, 6)."""

import math
from collections.abc import Iterable, Mapping
from typing import ClassVar, Final

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.document import Record
from .accounting import JobAccount
from .blocks import METRICS, MetricBlock
from .limits import MetricLimits

DEFAULT_THRESHOLD: Final = 1.0
"""A job segment is I/O-intensive where its JScore is above, as the paper prints it."""
SHORT_SEGMENTS: Final = 3
"""Jobs of up to so many segments are ranked after all others: a share of one or two segments says little.

The paper ranks jobs of more than 30 minutes (Fig. 9), three of its segments.
"""
RANKINGS: Final = ("problem_score", "io_intensity", "cost_s")


class JobScore(Record):
    """What a job's I/O is worth looking at.

    Attributes
    ----------
    job : str
    problem_time : float
        Share of the segments that are I/O-intensive.
    utilization : float
        Mean over these of the highest metric score, summed over file systems; 0 without any.
    balance : float or None
        Mean over these of mean node score / highest node score: 1 where all nodes do the same; None without any.
    problem_score, io_intensity : float
    segments, intensive_segments : int
    nodes : int
        That have data.
    filesystems : int
        On which an intensive segment has a score.
    available_share : float
        Of the values of all metrics that have limits, the share that is there.
    duration_s : float
    metrics : tuple of str
        Those that score in at least half as many values as the one that scores in most: jobs with the same are alike.
    account : JobAccount or None
        What the batch system knew of it.
    cost_s : float or None
        Time in I/O in s, over all ranks, of a run of a collection.
    io_share : float or None
        Share of such a run that the rank which is longest in I/O spends in it.
    cause : str or None
        What makes that time, or where most of it is spent.
    """

    OPTIONAL: ClassVar = frozenset({"account", "cost_s", "io_share", "cause"})

    job: str
    problem_time: float
    utilization: float
    balance: float | None
    problem_score: float
    io_intensity: float
    segments: int
    intensive_segments: int
    nodes: int
    filesystems: int
    available_share: float
    duration_s: float
    metrics: tuple[str, ...] = ()
    account: JobAccount | None = None
    cost_s: float | None = None
    io_share: float | None = None
    cause: str | None = None


class Alike(Record):
    """Jobs that score in the same metrics: how many, and the one that is ranked first."""

    metrics: tuple[str, ...]
    jobs: int
    first: str


def groups(jobs: Iterable[JobScore]) -> tuple[Alike, ...]:
    """Return the groups of jobs that are alike, the largest first; jobs without any score are in none."""
    found: dict[tuple[str, ...], list[str]] = {}
    for one in jobs:
        if one.metrics:
            found.setdefault(one.metrics, []).append(one.job)
    alike = (Alike(metrics, len(names), names[0]) for metrics, names in found.items())
    return tuple(sorted(alike, key=lambda one: -one.jobs))


class Ranking(Frozen):
    """Jobs in their order.

    Attributes
    ----------
    jobs : list of JobScore
    limits : MetricLimits
        That they were scored by.
    order : str
        The field that they are ranked by, one of `RANKINGS`.
    threshold : float
        JScore above which a segment is intensive.
    short : float
        Jobs that are not longer come after those that are, in s.
    left_out : int
        Jobs that are too short to be ranked.
    """

    jobs: list[JobScore]
    limits: MetricLimits
    order: str
    threshold: float
    short: float
    left_out: int

    @property
    def busy(self) -> list[JobScore]:
        """Jobs with intensive segments."""
        return [one for one in self.jobs if one.intensive_segments]

    @property
    def listed(self) -> list[JobScore]:
        """Jobs that have something to be ranked by."""
        return [one for one in self.jobs if one.cost_s] if self.order == "cost_s" else self.busy


def problem_score(problem_time: float, utilization: float, balance: float, filesystems: int) -> float:
    """Return (1 − B) · PT · U / F: bad balance, for long, at a high load of each file system.

    The paper's formula is a picture that is lost; this one gives 2.85 for its job of about 2.9.
    """
    return (1 - balance) * problem_time * utilization / filesystems if filesystems else 0.0


def io_intensity(problem_time: float, utilization: float, balance: float, nodes: int) -> float:
    """Return B · PT · U · nodes: high load by many nodes; the paper's job of about 29.9 gives 30.4."""
    return balance * problem_time * utilization * nodes


def assess(
    blocks: Iterable[MetricBlock],
    limits: MetricLimits,
    *,
    threshold: float = DEFAULT_THRESHOLD,
    allocated: Mapping[str, int] | None = None,
) -> list[JobScore]:
    """Return the scores of jobs in their order.

    Parameters
    ----------
    blocks : iterable of MetricBlock
        With segments of the length that the limits are for.
    limits : MetricLimits
    threshold : float
        Of the JScore.
    allocated : mapping of str to int, optional
        Nodes that a job was given; those without data count as missing.
    """
    return [one for block in blocks for one in _assessed(block, limits, threshold, allocated or {})]


def block_scores(block: MetricBlock, limits: MetricLimits) -> Floats:
    """Return the MScore of each value of a block, float64 (m,): 0, 1 or Z; NaN where value or limit is missing."""
    low, high = (bound[block.metric_of_values] for bound in limits.bounds)
    scores = np.where(block.values > high, limits.critical, (block.values > low).astype(np.float64))
    scores[np.isnan(block.values) | np.isnan(low)] = np.nan
    return scores


def _assessed(
    block: MetricBlock, limits: MetricLimits, threshold: float, allocated: Mapping[str, int]
) -> list[JobScore]:
    from .kernels import assess_jobs

    begin, scores = np.searchsorted(block.job, np.arange(len(block.jobs) + 1)), block_scores(block, limits)
    series = block.node, block.filesystem, block.first, block.offset
    intensive, nodes, utilization, balance, used, there = assess_jobs(
        begin, *series, scores, block.segments, block.idle, len(block.filesystems), float(threshold)
    )
    metrics = len(limits.limits)
    pairs = np.unique(block.job * len(block.filesystems) + block.filesystem)
    systems = np.bincount(pairs // max(1, len(block.filesystems)), minlength=len(block.jobs))
    found, profiles = [], _profiles(block, scores)
    ends = (block.segments, block.duration, block.idle, systems)
    columns = (column.tolist() for column in (*ends, intensive, nodes, utilization, balance, used, there))
    for job, profile, segments, duration, idle, known, busy, count, load, even, filesystems, values in zip(
        block.jobs, profiles, *columns, strict=True
    ):
        time = busy / segments if segments else 0.0
        level = 0.0 if math.isnan(even) else even
        expected = max(count - idle, allocated.get(job, 0)) * known * metrics * segments
        share = min(1.0, values / expected) if expected else 0.0
        known_balance = None if math.isnan(even) else even
        score, intensity = problem_score(time, load, level, filesystems), io_intensity(time, load, level, count)
        judged = time, load, known_balance, score, intensity
        found.append(JobScore(job, *judged, segments, busy, count, filesystems, share, duration, profile))
    return found


def _profiles(block: MetricBlock, scores: Floats) -> list[tuple[str, ...]]:
    """Return of each job the metrics that score in many of its values."""
    job = np.repeat(block.job, np.diff(block.offset))
    place = (job * len(METRICS) + block.metric_of_values)[scores > 0]
    often = np.bincount(place, minlength=len(block.jobs) * len(METRICS)).reshape(-1, len(METRICS))
    many = (often > 0) & (2 * often >= often.max(axis=1, keepdims=True))
    return [tuple(METRICS[column] for column in np.flatnonzero(row).tolist()) for row in many]


def ranked(
    scores: Iterable[JobScore], by: str = "problem_score", least_duration: float = 0.0, short: float = 0.0
) -> list[JobScore]:
    """Return jobs that ran for at least some time, those of the highest value first, of equal ones what costs most.

    Parameters
    ----------
    by : {"problem_score", "io_intensity", "cost_s"}
    least_duration : float
        In s; shorter ones are left out.
    short : float
        In s; jobs that are not longer come after those that are. Those of value 0 come last in any case.
    """

    def place(one: JobScore) -> tuple[bool, bool, float, float, str]:
        value = getattr(one, by) or 0.0
        # Time that was lost was lost in a short job, too; a share of one or two segments says little.
        late = by != "cost_s" and one.duration_s <= short
        return value <= 0, late, -value, -(one.cost_s or 0.0), one.job

    return sorted((one for one in scores if one.duration_s >= least_duration), key=place)
