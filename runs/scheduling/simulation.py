"""Jobs that compute and do I/O in turns on one shared bandwidth: a fluid simulation from event to event."""

from collections import deque
from dataclasses import dataclass
from heapq import heapify, heappop, heappush
from typing import Final

import numpy as np

from ...model.arrays import Floats, Ints
from .workload import Workload

_NEVER: Final = float("inf")


@dataclass(frozen=True, eq=False)
class Rates:
    """The share of the bandwidth that a transfer had, by the weight of its queue.

    Attributes
    ----------
    weight : float64 (weights,)
        The different weights of the queues.
    time : float64 (n,)
        When shares change, in s, ascending; the last ends all transfers.
    share : float64 (n - 1, weights)
        Share of the whole bandwidth that one transfer of a queue of that weight has between two times; 0 where there
        is none.
    transfers : int64 (n - 1, weights)
        How many transfers have it.
    """

    weight: Floats
    time: Floats
    share: Floats
    transfers: Ints


@dataclass(frozen=True, eq=False)
class Simulated:
    """When each I/O phase of a workload was asked for, began and ended.

    Attributes
    ----------
    workload : Workload
    queue : int64 (phases,)
        The queue that each phase stood in.
    request, start, end : float64 (phases,)
        In s. From `request` to `start` a phase waits, from `start` to `end` it moves bytes.
    rates : Rates or None
        Where they were asked for.
    """

    workload: Workload
    queue: Ints
    request: Floats
    start: Floats
    end: Floats
    rates: Rates | None = None


def simulate(workload: Workload, queue: Ints, weight: Floats, record_rates: bool = False) -> Simulated:
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
    record_rates : bool
        Whether the result has `Rates`; they take memory for each event.
    """
    weights, kind_of_queue = np.unique(weight, return_inverse=True)
    # Python's own numbers: a loop over elements of arrays takes several times as long.
    kinds: list[int] = kind_of_queue.tolist()
    weighing: list[float] = weights.tolist()
    queues: list[int] = queue.tolist()
    work: list[float] = workload.work.tolist()
    compute: list[float] = workload.compute.tolist()
    is_last = [False] * len(work)
    for after in workload.first[1:].tolist():
        is_last[after - 1] = True
    request, start, end = ([0.0] * len(work) for _ in range(3))
    waiting: dict[int, deque[int]] = {}
    served: list[list[tuple[float, int]]] = [[] for _ in weighing]
    level = [0.0] * len(weighing)
    times: list[float] = []
    shares: list[tuple[float, ...]] = []
    transfers: list[tuple[int, ...]] = []

    first = workload.first[:-1].tolist()
    arrivals = [(when + compute[phase], phase) for when, phase in zip(workload.release.tolist(), first, strict=True)]
    heapify(arrivals)
    now = 0.0
    while True:
        total, done, least = 0.0, -1, _NEVER
        for kind, heap in enumerate(served):
            if heap:
                total += len(heap) * weighing[kind]
        for kind, heap in enumerate(served):
            if heap:
                duration = (heap[0][0] - level[kind]) * (total / weighing[kind])
                if duration < least:
                    done, least = kind, duration
        arrival = arrivals[0][0] if arrivals else _NEVER
        if done < 0 and not arrivals:
            break
        # Of what ends at the time of a request the bandwidth is free for it.
        ends = now + max(least, 0.0) <= arrival
        then = now + max(least, 0.0) if ends else arrival
        if record_rates and then > now:
            times.append(now)
            shares.append(tuple(one / total if heap else 0.0 for one, heap in zip(weighing, served, strict=True)))
            transfers.append(tuple(map(len, served)))
        if total:
            for kind, heap in enumerate(served):
                if heap:
                    level[kind] += (then - now) * (weighing[kind] / total)
        now = then
        if ends:
            level[done], phase = heappop(served[done])
            end[phase] = now
            if not is_last[phase]:
                heappush(arrivals, (now + compute[phase + 1], phase + 1))
            behind = waiting[queues[phase]]
            if not behind:
                del waiting[queues[phase]]
                continue
            phase = behind.popleft()
        else:
            _, phase = heappop(arrivals)
            request[phase] = now
            if queues[phase] in waiting:
                waiting[queues[phase]].append(phase)
                continue
            waiting[queues[phase]] = deque()
        kind = kinds[queues[phase]]
        start[phase] = now
        heappush(served[kind], (level[kind] + work[phase], phase))
    rates = None
    if record_rates:
        size = (len(shares), len(weighing))
        rates = Rates(
            weights,
            np.array([*times, now]),
            np.array(shares, np.float64).reshape(size),
            np.array(transfers, np.int64).reshape(size),
        )
    return Simulated(workload, queue, np.array(request), np.array(start), np.array(end), rates)
