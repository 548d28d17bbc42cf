"""Jobs that compute and do I/O in turns on one shared bandwidth: a fluid simulation from event to event."""

from collections import deque
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np

from ...model.arrays import Floats, Frozen, Ints
from .jobs import Workload

_NEVER: Final = float("inf")


class Simulated(Frozen):
    """When each I/O phase of a workload was asked for, began and ended.

    Attributes
    ----------
    workload : Workload
    queue : int64 (phases,)
        The queue that each phase stood in.
    request, start, end : float64 (phases,)
        In s. From `request` to `start` a phase waits, from `start` to `end` it moves bytes.
    """

    workload: Workload
    queue: Ints
    request: Floats
    start: Floats
    end: Floats


def simulate(workload: Workload, queue: Ints, weight: Floats) -> Simulated:
    """Run a workload whose I/O phases stand in queues, which share the bandwidth.

    A queue serves its phases one at a time in the order of their requests (ties: of the jobs). All queues that serve
    one share the bandwidth in proportion to their weights, at all times; a queue alone has all of it. Nothing is
    rounded to steps of time: between two events (a request, an end) all shares are constant.

    Under fair share a difference in the last digit of a time grows until, after some thousand phases, others meet than
    would have met; means over the jobs stay within about 0.1 %. That is the model's, not the arithmetic's.

    What a transfer has had is kept once for all queues of a weight, so that an event costs the logarithm of the number
    of jobs, and the number of different weights.

    Parameters
    ----------
    workload : Workload
    queue : int64 (phases,)
        The queue of each phase.
    weight : float64 (queues,)
        Above 0.
    """
    weights, kind_of_queue = np.unique(weight, return_inverse=True)
    # Python's own numbers: a loop over elements of arrays takes several times as long.
    server = _Server(weights.tolist(), kind_of_queue.tolist(), queue.tolist(), workload.work.tolist())
    compute: list[float] = workload.compute.tolist()
    is_last = np.isin(np.arange(len(compute)), workload.first[1:] - 1).tolist()
    request, start, end = ([0.0] * len(compute) for _ in range(3))
    first = workload.first[:-1].tolist()
    arrivals = [(when + compute[phase], phase) for when, phase in zip(workload.release.tolist(), first, strict=True)]
    heapify(arrivals)
    now = 0.0
    while True:
        kind, duration = server.next_end()
        arrival = arrivals[0][0] if arrivals else _NEVER
        if kind < 0 and not arrivals:
            break
        then = min(now + max(duration, 0.0), arrival)
        # Of what ends at the time of a request the bandwidth is free for it.
        ends = now + max(duration, 0.0) <= arrival
        server.advance(then - now)
        now = then
        if ends:
            phase, served = server.end(kind)
            end[phase] = now
            if not is_last[phase]:
                heappush(arrivals, (now + compute[phase + 1], phase + 1))
        else:
            _, phase = heappop(arrivals)
            request[phase] = now
            served = server.ask(phase)
        if served >= 0:
            start[served] = now
    return Simulated(workload, queue, np.array(request), np.array(start), np.array(end))


class _Server:
    """Queues that share the bandwidth by their weights; what a transfer of each weight has had is one level.

    Parameters
    ----------
    weights : list of float
        The different ones.
    kinds : list of int
        Place of the weight of each queue.
    queues : list of int
        The queue of each phase.
    work : list of float
        Of each phase, in s with the whole bandwidth.
    """

    def __init__(self, weights: list[float], kinds: list[int], queues: list[int], work: list[float]) -> None:
        self._weights, self._kinds, self._queues, self._work = weights, kinds, queues, work
        self._waiting: dict[int, deque[int]] = {}
        self._served: list[list[tuple[float, int]]] = [[] for _ in weights]
        self._by_kind = list(enumerate(self._served))
        self._level = [0.0] * len(weights)
        self._total = 0.0

    def next_end(self) -> tuple[int, float]:
        """Return the weight of which a transfer ends first, and in how many s; −1 and infinity without transfers."""
        weights, level, by_kind = self._weights, self._level, self._by_kind
        total, done, least = 0.0, -1, _NEVER
        for kind, heap in by_kind:
            if heap:
                total += len(heap) * weights[kind]
        for kind, heap in by_kind:
            if heap:
                duration = (heap[0][0] - level[kind]) * (total / weights[kind])
                if duration < least:
                    done, least = kind, duration
        self._total = total
        return done, least

    def advance(self, seconds: float) -> None:
        """Let time pass, in which nothing begins or ends."""
        weights, level, total = self._weights, self._level, self._total
        if total:
            for kind, heap in self._by_kind:
                if heap:
                    level[kind] += seconds * (weights[kind] / total)

    def end(self, kind: int) -> tuple[int, int]:
        """End the first transfer of a weight; return its phase, and the one served instead, −1 for none."""
        self._level[kind], phase = heappop(self._served[kind])
        behind = self._waiting[self._queues[phase]]
        if behind:
            return phase, self._serve(behind.popleft())
        del self._waiting[self._queues[phase]]
        return phase, -1

    def ask(self, phase: int) -> int:
        """Put a phase into its queue; return it where it is served at once, else −1."""
        queue = self._queues[phase]
        if queue in self._waiting:
            self._waiting[queue].append(phase)
            return -1
        self._waiting[queue] = deque()
        return self._serve(phase)

    def _serve(self, phase: int) -> int:
        kind = self._kinds[self._queues[phase]]
        heappush(self._served[kind], (self._level[kind] + self._work[phase], phase))
        return phase
