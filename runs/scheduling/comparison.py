"""How well a schedule serves its jobs, and the same jobs under several policies, as often as chance asks for."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.document import Record
from ...model.errors import SelectionError
from .jobs import PeriodicJob, Workload, make_workload
from .policies import POLICIES, queues_of
from .simulation import Simulated, simulate


class Metrics(Frozen):
    """What a schedule made of its jobs (FTIO, IPDPS'24, section IV, after section V-D of Set-10's authors).

    Attributes
    ----------
    stretch : float64 (jobs,)
        Time that the job took over the time that it takes alone; NaN where nothing of it was measured.
    io_slowdown : float64 (jobs,)
        Time that its I/O took, waiting included, over the time that it takes alone.
    utilization : float
        Share of the time of all nodes in which jobs computed, of the time that jobs held them.
    """

    stretch: Floats
    io_slowdown: Floats
    utilization: float

    @property
    def mean_stretch(self) -> float:
        """Geometric mean over the jobs."""
        return _geometric_mean(self.stretch)

    @property
    def max_stretch(self) -> float:
        """That of the job that was hit worst."""
        return float(np.nanmax(self.stretch)) if not np.isnan(self.stretch).all() else float("nan")

    @property
    def mean_io_slowdown(self) -> float:
        """Geometric mean over the jobs."""
        return _geometric_mean(self.io_slowdown)


def measure(schedule: Simulated, window: tuple[float | None, float | None] | None = None) -> Metrics:
    """Measure a schedule.

    Parameters
    ----------
    schedule : Simulated
    window : (float or None, float or None), optional
        Only of iterations (computing, then I/O) that begin between two times in s, the first included.
    """
    work = schedule.workload
    jobs = len(work.names)
    begin = schedule.request - work.compute
    last = schedule.end[work.first[1:] - 1]
    low, high = window or (None, None)
    low, high = -np.inf if low is None else low, np.inf if high is None else high
    counted = (begin >= low) & (begin < high)
    job = work.job_of_phase[counted]
    rest = np.where((last >= low) & (last < high), work.rest, 0.0)
    computed = np.bincount(job, work.compute[counted], jobs) + rest
    alone = np.bincount(job, work.work[counted], jobs)
    taken = np.bincount(job, (schedule.end - schedule.request)[counted], jobs)
    # What is shorter than the last digit of a time takes none in the simulation.
    clock = np.spacing(float(schedule.end.max(initial=0.0)))
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        stretch = np.where(computed + alone > clock, (computed + taken) / (computed + alone), np.nan)
        slowdown = np.where(alone > clock, taken / alone, np.nan)
        held = float(work.nodes @ (computed + taken))
    computing = float(work.nodes @ computed)
    return Metrics(stretch, slowdown, computing / held if held > 0 else float("nan"))


def _geometric_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.exp(np.log(known).mean())) if len(known) else float("nan")


Window = tuple[float | None, float | None]


class PolicyOutcome(Record):
    """What a policy makes of the jobs: means over the runs, and the least and the most of them.

    Attributes
    ----------
    policy : str
    stretch, max_stretch, io_slowdown : float
        Of each run the geometric mean over the jobs, and the largest stretch of a job.
    utilization : float
    stretch_range, io_slowdown_range, utilization_range : (float, float)
        Over the runs.
    """

    policy: str
    stretch: float
    max_stretch: float
    io_slowdown: float
    utilization: float
    stretch_range: tuple[float, float]
    io_slowdown_range: tuple[float, float]
    utilization_range: tuple[float, float]


class PolicyComparison(Frozen):
    """Jobs under several policies.

    Attributes
    ----------
    outcomes : tuple of PolicyOutcome
        In the order of the policies.
    metrics : mapping of str to Metrics
        Of the first run, by policy.
    schedules : mapping of str to Simulated
        The first run, by policy.
    runs : int
    """

    outcomes: tuple[PolicyOutcome, ...]
    metrics: Mapping[str, Metrics]
    schedules: Mapping[str, Simulated]
    runs: int

    @property
    def workload(self) -> Workload:
        """The workload of the first run."""
        return next(iter(self.schedules.values())).workload

    def outcome(self, policy: str) -> PolicyOutcome:
        """Return what a policy makes of the jobs."""
        return next(one for one in self.outcomes if one.policy == policy)


def compare_policies(
    jobs: Sequence[PeriodicJob],
    policies: Sequence[str] = POLICIES,
    *,
    iterations: int | None = None,
    random_start: bool = False,
    error: float = 0.0,
    window: Window | None = None,
    runs: int = 1,
    seed: int = 0,
    progress: Callable[[int, int], None] | None = None,
) -> PolicyComparison:
    """Simulate jobs under several policies.

    Parameters
    ----------
    jobs : sequence of PeriodicJob
    policies : sequence of str
        Of `POLICIES`.
    iterations : int, optional
    random_start : bool
        As in `make_workload`.
    error : float
        Wrong periods for Set-10, as in `queues_of`.
    window : (float or None, float or None), optional
        What is measured, as in `measure`.
    runs : int
        Each draws anew what is random.
    seed : int
        Of the first run; the next ones follow it.
    progress : callable, optional
        Called with the simulations that are done and their number.

    Raises
    ------
    SelectionError
        If there are no jobs or too many phases, or no iteration begins in the window.
    """
    if not jobs:
        raise SelectionError("no jobs to schedule")
    found: dict[str, list[Metrics]] = {policy: [] for policy in policies}
    schedules: dict[str, Simulated] = {}
    for run in range(runs):
        random = np.random.default_rng((seed, run))
        workload = make_workload(jobs, random, iterations, random_start)
        for place, policy in enumerate(policies):
            if progress is not None:
                progress(run * len(policies) + place, runs * len(policies))
            queues = queues_of(workload, policy, error, random)
            schedule = simulate(workload, queues.queue, queues.weight)
            found[policy].append(measure(schedule, window))
            if run == 0:
                schedules[policy] = schedule
    if all(np.isnan(one.utilization) for several in found.values() for one in several):
        raise SelectionError("no iteration begins in this window: all jobs are over, or there is none yet")
    outcomes = tuple(_outcome(policy, several) for policy, several in found.items())
    return PolicyComparison(outcomes, {policy: several[0] for policy, several in found.items()}, schedules, runs)


def _outcome(policy: str, several: Sequence[Metrics]) -> PolicyOutcome:
    columns = {
        "stretch": [one.mean_stretch for one in several],
        "io_slowdown": [one.mean_io_slowdown for one in several],
        "utilization": [one.utilization for one in several],
    }
    found: dict[str, Any] = {name: float(np.mean(values)) for name, values in columns.items()}
    found |= {f"{name}_range": (min(values), max(values)) for name, values in columns.items()}
    return PolicyOutcome(policy, max_stretch=float(np.mean([one.max_stretch for one in several])), **found)
