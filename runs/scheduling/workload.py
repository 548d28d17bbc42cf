"""A workload: jobs that compute and do I/O in turns, and the period that a scheduler knows of each."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Floats, Ints


@dataclass(frozen=True, eq=False)
class Workload:
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
