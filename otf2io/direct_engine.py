"""The engine ``direct``: I/O events by a compiled walk over the bytes of the event files.

Threads take runs of neighbouring locations from a queue, many small files or one large one, and walk them without
Python's lock. Each has a buffer of one chunk; so memory follows the rows that are kept, not the size of the trace.
"""

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from .anchor import Anchor
from .damage import LocationDamage
from .definitions import Definitions
from .direct_walk import DirectWalk, EventBatch, RegionEvents
from .events import IoEvents

Progress = Callable[[int, int], None]
"""Called now and then with the number of events done and of all events."""

_RUNS_PER_WORKER: Final = 8
_MOST_EVENTS_PER_RUN: Final = 1 << 22
_EVENTS_PER_FILE: Final = 1 << 10
"""What opening a location's files costs, in events walked."""


@dataclass(frozen=True, eq=False)
class DirectRead:
    """What the engine read.

    Attributes
    ----------
    events : IoEvents
    regions : RegionEvents
    counts : uint64 (locations,)
        Number of all events read at each location.
    damage : tuple of LocationDamage
    """

    events: IoEvents
    regions: RegionEvents
    counts: npt.NDArray[np.uint64]
    damage: tuple[LocationDamage, ...]


def read_directly(
    anchor: Anchor,
    definitions: Definitions,
    workers: int | None = None,
    progress: Progress | None = None,
    regions: Sequence[int] = (),
) -> DirectRead:
    """Read the I/O events of all locations from the bytes of their files.

    Parameters
    ----------
    anchor : Anchor
        Of an archive that `iostrata.otf2io.gate.direct_obstacle` has nothing against.
    definitions : Definitions
    workers : int, optional
        Threads; by default as many as there are processors to run on.
    progress : callable, optional
        ``(done_events, total_events)``, from any thread, never from two at once.
    regions : sequence of int
        Global ids of the regions whose Enter and Leave are read too.

    Returns
    -------
    DirectRead
        Rows in the order of the definitions, whatever the number of workers.
    """
    walk = DirectWalk(anchor, definitions, regions)
    promised = definitions.locations.events.astype(np.float64)
    threads = workers or len(os.sched_getaffinity(0))
    runs = location_runs(promised, threads)
    report = _ProgressReport(sum(definitions.locations.events.tolist()), progress)

    def read(run: range) -> list[EventBatch]:
        return list(walk.batches(run.start, run.stop, keep=True, done=report.add))

    if min(threads, len(runs)) <= 1:
        parts = [batch for run in runs for batch in read(run)]
    else:
        with ThreadPoolExecutor(min(threads, len(runs))) as pool:
            parts = [batch for result in pool.map(read, runs) for batch in result]
    return DirectRead(
        IoEvents.concatenate([part.events for part in parts]),
        RegionEvents.concatenate([part.regions for part in parts]),
        walk.counts,
        walk.damage,
    )


def location_runs(promised: npt.NDArray[np.float64], workers: int) -> list[range]:
    """Cut the locations into runs of about equal work, several for each worker.

    Parameters
    ----------
    promised : float64 (locations,)
        Events of each location.
    workers : int

    Returns
    -------
    list of range
        Neighbouring rows; together all of them, in order.
    """
    if not len(promised):
        return []
    work = np.cumsum(promised + _EVENTS_PER_FILE)
    size = min(work[-1] / (_RUNS_PER_WORKER * workers), _MOST_EVENTS_PER_RUN)
    starts = np.flatnonzero(np.diff(work // size, prepend=-1.0))
    return [range(first, last) for first, last in zip(starts.tolist(), [*starts[1:].tolist(), len(work)], strict=True)]


class _ProgressReport:
    """Sums up what the threads have done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._lock = threading.Lock()

    def add(self, events: int) -> None:
        """Report `events` more events."""
        if self._progress is None or not events:
            return
        with self._lock:
            self._done += events
            self._progress(self._done, self._total)
