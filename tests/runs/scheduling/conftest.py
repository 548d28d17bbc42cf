"""Workloads of a few phases, and a simulation that is slow, obvious and exact."""

from collections.abc import Callable, Sequence
from fractions import Fraction

import numpy as np
import pytest
from iostrata.runs.scheduling.jobs import Workload


@pytest.fixture(scope="session")
def make() -> Callable[..., Workload]:
    """Return a function that makes a workload of (release, [(compute, work), …]) a job."""

    def workload(jobs, period=None, nodes=None) -> Workload:
        phases = [phase for _, several in jobs for phase in several]
        return Workload(
            names=tuple(f"job {number}" for number in range(len(jobs))),
            nodes=np.ones(len(jobs)) if nodes is None else np.array(nodes, np.float64),
            release=np.array([release for release, _ in jobs], np.float64),
            period=np.full(len(jobs), np.nan) if period is None else np.array(period, np.float64),
            first=np.append(0, np.cumsum([len(several) for _, several in jobs])),
            compute=np.array([compute for compute, _ in phases], np.float64),
            work=np.array([work for _, work in phases], np.float64),
            rest=np.zeros(len(jobs)),
        )

    return workload


@pytest.fixture(scope="session")
def stepped() -> Callable[..., list[tuple[Fraction, Fraction, Fraction]]]:
    """Return a simulation that looks at every job again at each step, in fractions: nothing is rounded."""

    def simulate(
        jobs: Sequence[tuple[int, Sequence[tuple[int, int]]]], queues: Sequence[Sequence[int]], weights: Sequence[int]
    ) -> list[tuple[Fraction, Fraction, Fraction]]:
        """Return (request, start, end) of each phase, job by job; weights are those of the queues."""
        now = Fraction(0)
        phase = [0] * len(jobs)
        asks = [Fraction(release + phases[0][0]) for release, phases in jobs]
        left = [Fraction(phases[0][1]) for _, phases in jobs]
        began: list[Fraction | None] = [None] * len(jobs)
        found: list[list[tuple[Fraction, Fraction, Fraction]]] = [[] for _ in jobs]
        while any(at < len(phases) for at, (_, phases) in zip(phase, jobs, strict=True)):
            running = [row for row, (_, phases) in enumerate(jobs) if phase[row] < len(phases)]
            asking = sorted((row for row in running if asks[row] <= now), key=lambda row: (asks[row], row))
            heads: dict[int, int] = {}
            for row in sorted(asking, key=lambda row: began[row] is None):
                heads.setdefault(queues[row][phase[row]], row)
            total = sum(weights[queue] for queue in heads)
            rate = {row: Fraction(weights[queue], total) for queue, row in heads.items()}
            for row in rate:
                if began[row] is None:
                    began[row] = now
            steps = [asks[row] - now for row in running if asks[row] > now]
            steps += [left[row] / rate[row] for row in rate]
            step = min(steps)
            now += step
            for row in rate:
                left[row] -= rate[row] * step
                if left[row] == 0:
                    found[row].append((asks[row], began[row] or Fraction(0), now))
                    phase[row] += 1
                    began[row] = None
                    if phase[row] < len(jobs[row][1]):
                        asks[row] = now + jobs[row][1][phase[row]][0]
                        left[row] = Fraction(jobs[row][1][phase[row]][1])
        return [one for several in found for one in several]

    return simulate
