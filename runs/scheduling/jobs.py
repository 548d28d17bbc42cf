"""A job that is to be scheduled, a workload, and how many jobs become one."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...model.arrays import Floats, Frozen, Ints
from ...model.errors import SelectionError

_LEAST_JITTER: Final = 1e-6
"""Below, times do not differ in any digit that is shown, and their law has no finite shape."""


class Workload(Frozen):
    """Jobs, each with its phases one after another; phase ``first[j] + k`` is the k-th of job ``j``.

    Attributes
    ----------
    names : tuple of str
    nodes : float64 (jobs,)
        Compute nodes that the job holds while it runs.
    release : float64 (jobs,)
        When it begins, in s.
    period : float64 (jobs,)
        The period that the scheduler knows, in s; NaN where it knows of none.
    first : int64 (jobs + 1,)
        First phase of each job; each has at least one.
    compute : float64 (phases,)
        Time in s that the job computes before it asks for the phase.
    work : float64 (phases,)
        Time in s that the phase takes with the whole bandwidth.
    rest : float64 (jobs,)
        Time in s that the job computes after its last phase.
    """

    names: tuple[str, ...]
    nodes: Floats
    release: Floats
    period: Floats
    first: Ints
    compute: Floats
    work: Floats
    rest: Floats

    @property
    def job_of_phase(self) -> Ints:
        """The job of each phase, int64 (phases,)."""
        return np.repeat(np.arange(len(self.names)), np.diff(self.first))

    @property
    def computing(self) -> Floats:
        """Time that each job computes in all, float64 (jobs,) in s."""
        return np.add.reduceat(self.compute, self.first[:-1]) + self.rest

    @property
    def transferring(self) -> Floats:
        """Time that all I/O of each job takes with the whole bandwidth, float64 (jobs,) in s."""
        return np.add.reduceat(self.work, self.first[:-1])

    @property
    def load(self) -> Floats:
        """Share of the bandwidth that each job takes where it is alone, float64 (jobs,)."""
        return self.transferring / (self.computing + self.transferring)

    @property
    def utilization_alone(self) -> float:
        """Share of the nodes' time in which jobs would compute if each were alone: no policy does better."""
        computing = float(self.nodes @ self.computing)
        return computing / (computing + float(self.nodes @ self.transferring))

    @property
    def characteristic_time(self) -> Floats:
        """Mean time between the starts of two I/O phases where a job is alone, float64 (jobs,) in s.

        That is w_iter of Set-10's authors, as FTIO (IPDPS'24), section IV, cites it. Of a job of one phase it is how
        long it runs.
        """
        begin = np.cumsum(self.compute + self.work) - self.work
        first, last = self.first[:-1], self.first[1:] - 1
        phases = last - first
        alone = self.computing + self.transferring
        return np.where(phases > 0, (begin[last] - begin[first]) / np.maximum(phases, 1), alone)


PERIODS_BY_DEFAULT: Final = 20
"""So many of the longest period jobs run for where nothing says how long."""
PHASES_BY_DEFAULT: Final = 2**19
"""Of all jobs: where periods are so different that there would be more, all run for a shorter time."""
MOST_PHASES: Final = 2**21


class PeriodicJob(Frozen):
    """A job that computes and does I/O in turns, over and over.

    Attributes
    ----------
    name : str
    compute, work : float64 (n,)
        Of each I/O phase: the time in s that the job computes before it, and that it takes with the whole bandwidth.
    rest : float
        Time in s that the job computes after the last of these; the n phases come again after it.
    period : float or None
        The period in s that the scheduler knows; None where it knows of none.
    iterations : int or None
        Number of I/O phases.
    release : float or None
        When the job begins, in s.
    nodes : float
        Compute nodes that it holds.
    jitter : float
        Coefficient of variation of the times that it computes.
    signal : str
        What of a recording the phases are of, such as ``POSIX total``; empty for a row of a table.
    """

    name: str
    compute: Floats
    work: Floats
    rest: float = 0.0
    period: float | None = None
    iterations: int | None = None
    release: float | None = None
    nodes: float = 1.0
    jitter: float = 0.0
    signal: str = ""

    @property
    def duration(self) -> float:
        """Time in s that the job takes for its `compute`, `work` and `rest` once, where it is alone."""
        return float(self.compute.sum() + self.work.sum()) + self.rest


def make_workload(
    jobs: Sequence[PeriodicJob], random: np.random.Generator, iterations: int | None = None, random_start: bool = False
) -> Workload:
    """Lay the phases of jobs one after another, with the times that chance decides drawn.

    Parameters
    ----------
    jobs : sequence of PeriodicJob
        At least one.
    random : Generator
        Times that jobs compute are drawn from gamma distributions with their mean and coefficient of variation.
    iterations : int, optional
        I/O phases of jobs that do not say so. Default: those that were recorded; of a row of a table as many as fit
        the longest job whose number is known, or else 20 of the longest period, or fewer where there would be more
        than 2^19 phases.
    random_start : bool
        Whether jobs without a time of release begin at a random time within their first period, not at 0.

    Raises
    ------
    SelectionError
        If there are more than 2^21 phases.
    """
    counts = _phase_counts(jobs, iterations)
    first = np.append(0, np.cumsum(counts))
    compute, work = np.empty(first[-1]), np.empty(first[-1])
    rest, release = np.empty(len(jobs)), np.empty(len(jobs))
    for row, (job, count) in enumerate(zip(jobs, counts.tolist(), strict=True)):
        place = np.arange(count) % len(job.work)
        here = slice(first[row], first[row + 1])
        work[here] = job.work[place]
        compute[here] = job.compute[place]
        again = first[row] + np.flatnonzero(place == 0)[1:]
        compute[again] += job.rest
        rest[row] = job.rest if place[-1] == len(job.work) - 1 else 0.0
        if job.jitter > _LEAST_JITTER:
            shape = job.jitter**-2
            compute[here] *= random.gamma(shape, 1 / shape, count)
        mean = job.duration / len(job.work)
        release[row] = job.release if job.release is not None else random.uniform(0, mean) if random_start else 0.0
    return Workload(
        names=tuple(job.name for job in jobs),
        nodes=np.array([job.nodes for job in jobs]),
        release=release,
        period=np.array([np.nan if job.period is None else job.period for job in jobs]),
        first=first,
        compute=compute,
        work=work,
        rest=rest,
    )


def _phase_counts(jobs: Sequence[PeriodicJob], iterations: int | None) -> Ints:
    """Return the number of phases of each job."""
    lengths = np.array([job.duration / len(job.work) for job in jobs])
    given = np.array(
        [job.iterations or iterations or (len(job.work) if job.signal else 0) for job in jobs], dtype=np.float64
    )
    if given.any():
        end = float((lengths * given).max())
    else:
        end = min(PERIODS_BY_DEFAULT * float(lengths.max()), PHASES_BY_DEFAULT / float((1 / lengths).sum()))
    counts = np.where(given > 0, given, np.maximum(np.rint(end / lengths), 1.0))
    if counts.sum() > MOST_PHASES:
        raise SelectionError(
            f"these jobs do {counts.sum():,.0f} phases of I/O, more than {MOST_PHASES:,}: give fewer --iterations"
        )
    return counts.astype(np.int64)
