"""Who gets the bandwidth: the sets and priorities of Set-10, and policies to compare it with, as weighted queues."""

from collections.abc import Sequence
from typing import Final

import numpy as np

from ...analysis.set_10 import LONGEST, SHORTEST, set_numbers, set_priorities
from ...model.arrays import Floats, Frozen, Ints
from ...model.document import Record
from .jobs import Workload

POLICIES: Final = ("fair", "exclusive", "set-10", "clairvoyant")


class Set(Record):
    """Jobs of like periods.

    Attributes
    ----------
    set : int or None
        Its number i: periods of 10^(i - 1/2) to 10^(i + 1/2) s; None for jobs without a period.
    priority : float
        10^-i: sets that do I/O at the same time share the bandwidth in proportion to it.
    exclusive : bool
        Whether one of its jobs at a time does I/O, first come, first served, which then has all that the set has; if
        not, each of its jobs counts as a set.
    period_s : (float, float) or None
        Periods from and to which jobs belong to it, in s.
    jobs : tuple of str
    """

    set: int | None
    priority: float
    exclusive: bool
    period_s: tuple[float, float] | None
    jobs: tuple[str, ...]


class Queues(Frozen):
    """Queues whose first phases share the bandwidth.

    Attributes
    ----------
    queue : int64 (phases,)
        The queue of each phase.
    weight : float64 (queues,)
    """

    queue: Ints
    weight: Floats


def sets_of(names: Sequence[str], periods: Floats) -> tuple[Set, ...]:
    """Return the sets of jobs by their periods in s (NaN: none), the highest priority first."""
    numbers = set_numbers(periods)
    priorities = set_priorities(numbers)
    found = []
    for number in np.unique(numbers).tolist():
        missing = np.isnan(number)
        rows = np.flatnonzero(np.isnan(numbers) if missing else numbers == number).tolist()
        of_set = None if missing else int(number)
        within = None if missing else (10 ** (number - 0.5), 10 ** (number + 0.5))
        jobs = tuple(names[row] for row in rows)
        found.append(Set(of_set, float(priorities[rows[0]]), not missing, within, jobs))
    return tuple(found)


def queues_of(workload: Workload, policy: str, error: float = 0.0, random: np.random.Generator | None = None) -> Queues:
    """Return the queues that a policy puts the phases of a workload into.

    Parameters
    ----------
    workload : Workload
    policy : {"fair", "exclusive", "set-10", "clairvoyant"}
        All that do I/O share the bandwidth equally; one does I/O at a time, first come, first served; Set-10 with the
        periods that the scheduler knows; Set-10 with the mean time between phases that each job really has.
    error : float
        For ``set-10``: at each phase the period told is too long or too short by this share of it, one as often as the
        other (FTIO, IPDPS'24, section IV, "Set-10 + error": 0.5).
    random : Generator, optional
        Decides which.
    """
    job = workload.job_of_phase
    if policy == "fair":
        return Queues(job, np.ones(len(workload.names)))
    if policy == "exclusive":
        return Queues(np.zeros(len(job), np.int64), np.ones(1))
    periods = (workload.period if policy == "set-10" else workload.characteristic_time)[job]
    if policy == "set-10" and error > 0:
        random = random or np.random.default_rng(0)
        periods = periods * (1 + error * random.choice((-1.0, 1.0), len(job)))
    numbers = set_numbers(np.clip(periods, SHORTEST, LONGEST))
    known = np.unique(numbers[~np.isnan(numbers)])
    # Behind the queues of the sets there is one for each job, which those without a period stand in.
    queue = np.where(np.isnan(numbers), len(known) + job, np.searchsorted(known, numbers))
    return Queues(queue, set_priorities(np.append(known, np.full(len(workload.names), np.nan))))
