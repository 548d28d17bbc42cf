"""A function mapped over the partitions of a trace, on threads here."""

import functools
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import CancelledError, Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from .source import Partition

if TYPE_CHECKING:
    from .cluster import Cluster

Progress = Callable[[int, int], None]
"""Called now and then with the number of events done and of all events."""

Result = TypeVar("Result")


class ProgressReport:
    """Sums up what the threads have done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._cancelled = False
        self._lock = threading.Lock()

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Make all threads stop at their next report if what runs inside fails or is interrupted."""
        try:
            yield
        except BaseException:
            self._cancelled = True
            raise

    def add(self, events: int) -> None:
        """Report `events` more events.

        Raises CancelledError if another thread failed or the user interrupted: it makes no sense to go on.
        """
        if self._cancelled:
            raise CancelledError
        if self._progress is None or not events:
            return
        with self._lock:
            self._done += events
            self._progress(min(self._done, self._total), self._total)


def map_partitions(
    function: Callable[[Partition, Callable[[int], None]], Result],
    partitions: Sequence[Partition],
    total: int,
    workers: int = 1,
    progress: Progress | None = None,
    cluster: "Cluster | None" = None,
) -> Iterator[Result]:
    """Yield what a function makes of each partition, in the order of the partitions.

    At most one more than there are threads is worked on, or waits to be taken, at any time.

    Parameters
    ----------
    function : callable
        Called with a partition, from any thread, and with a function that it tells the events it has done.
    total : int
        Events of all partitions, as `progress` tells them.
    workers : int
        Threads.
    progress : callable, optional
        ``(done_events, total_events)``, from any thread, never from two at once.
    cluster : Cluster, optional
        Where to work instead of on threads; the function must be one that can be sent there.
    """
    if cluster is not None and partitions:
        yield from cluster.map(function, partitions, progress)
        return
    report = ProgressReport(total, progress)
    threads = min(workers, len(partitions))
    if threads <= 1:
        for partition in partitions:
            yield function(partition, report.add)
        return
    with ThreadPoolExecutor(threads) as pool, report.cancelling():
        waiting: deque[Future[Result]] = deque()
        for partition in partitions:
            waiting.append(pool.submit(function, partition, report.add))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


@contextmanager
def cluster_of(client: object, path: Path) -> "Iterator[Cluster | None]":
    """Give the cluster of a client or at an address, None for None, once it is known that it can read the trace.

    Raises ClusterError if it cannot.
    """
    if client is None:
        yield None
        return
    from .cluster import Cluster

    cluster = Cluster(client)
    try:
        cluster.check(path)
        yield cluster
    finally:
        cluster.close()


def reduce_partitions(
    function: Callable[[Partition, Callable[[int], None]], Result],
    merge: Callable[[Result, Result], Result],
    partitions: Sequence[Partition],
    workers: int = 1,
    cluster: "Cluster | None" = None,
) -> Result:
    """Return what `merge` makes of the results of `map_partitions`, of which there is at least one.

    Neighbours are merged first, here one after the other; on a cluster as a tree, where the results are.
    """
    if cluster is not None:
        return cluster.reduce(functools.partial(_folded, function, merge), merge, partitions)
    return functools.reduce(merge, map_partitions(function, partitions, 0, workers))


def _folded(
    function: Callable[[Partition, Callable[[int], None]], Result],
    merge: Callable[[Result, Result], Result],
    partitions: Sequence[Partition],
) -> Result:
    return functools.reduce(merge, (function(one, lambda _events: None) for one in partitions))
