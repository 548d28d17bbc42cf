"""How well a schedule served its jobs: stretch, I/O slowdown and utilization."""

from dataclasses import dataclass

import numpy as np

from ...model.arrays import Floats
from .simulation import Simulated


@dataclass(frozen=True, eq=False)
class Metrics:
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
    with np.errstate(invalid="ignore", divide="ignore"):
        stretch = (computed + taken) / (computed + alone)
        slowdown = np.where(alone > 0, taken / alone, np.nan)
        held = float(work.nodes @ (computed + taken))
    computing = float(work.nodes @ computed)
    return Metrics(stretch, slowdown, computing / held if held > 0 else float("nan"))


def _geometric_mean(values: Floats) -> float:
    known = values[~np.isnan(values)]
    return float(np.exp(np.log(known).mean())) if len(known) else float("nan")
