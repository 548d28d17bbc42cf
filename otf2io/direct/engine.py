"""The engine ``direct``: I/O events by a compiled walk over the bytes of the event files.

Threads take runs of neighbouring locations from a queue, many small files or one large one, and walk them without
Python's lock. Each has a buffer of one chunk; so memory follows the rows that are kept, not the size of the trace.
"""

import itertools
import os
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.damage import LocationDamage
from ...model.definitions import Definitions
from ...model.events import EventColumns, IoEvents, empty_columns
from ..anchor import Anchor
from ..base import Progress, ProgressReport
from .walk import DirectWalk, EventBatch, RegionEvents, join_regions

_SHARE_TO_RESERVE: Final = 0.2
_RUNS_PER_WORKER: Final = 8
_MOST_EVENTS_PER_RUN: Final = 1 << 22
_EVENTS_PER_FILE: Final = 1 << 10
"""What opening a location's files costs, in events walked."""


@dataclass(frozen=True, eq=False)
class DirectRead:
    """What the engine read.

    Attributes
    ----------
    counts : uint64 (locations,)
        Number of all events read at each location.
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
        Of an archive that `iostrata.otf2io.archive.direct_obstacle` has nothing against.
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
    report = ProgressReport(sum(definitions.locations.events.tolist()), progress)

    reserve = _reserve(walk, runs)

    def read(number: int) -> list[EventBatch]:
        run = runs[number]
        columns = reserve.columns(number) if reserve is not None else None
        return list(walk.batches(run.start, run.stop, keep=True, columns=columns, done=report.add))

    if min(threads, len(runs)) <= 1:
        parts = [read(number) for number in range(len(runs))]
    else:
        with ThreadPoolExecutor(min(threads, len(runs))) as pool, report.cancelling():
            parts = list(pool.map(read, range(len(runs))))
    entered = join_regions([batch for part in parts for batch in part])
    return DirectRead(_joined(parts, reserve), entered, walk.counts, walk.damage)


@dataclass(frozen=True, eq=False)
class _Reserve:
    """Columns that the rows of all runs go to at once, run number i from `starts[i]` on.

    Memory costs more time than the walk where most events are I/O, so rows should be written only once.
    """

    whole: EventColumns
    starts: list[int]

    def columns(self, run: int) -> EventColumns:
        """Return the part of the columns that run number `run` may fill."""
        part: Any = (column[self.starts[run] : self.starts[run + 1]] for column in self.whole)
        return EventColumns(*part)


def _reserve(walk: DirectWalk, runs: Sequence[range]) -> _Reserve | None:
    """Reserve memory for all rows where a good part of the events are I/O; otherwise most of it would stay empty."""
    if walk.io_share() < _SHARE_TO_RESERVE:
        return None
    starts = [0, *itertools.accumulate(walk.room(run.start, run.stop) for run in runs)]
    try:
        return _Reserve(empty_columns(starts[-1]), starts)
    except MemoryError:
        return None


def _joined(parts: list[list[EventBatch]], reserve: _Reserve | None) -> IoEvents:
    """Return the rows of all runs; forgets `parts` on the way, column by column, so that they need not fit twice."""
    sizes = [[len(batch.events) for batch in part] for part in parts]
    rows = sum(map(sum, sizes))
    if reserve is not None and all(
        len(size) <= 1 and (sum(size) == last - first or first + sum(size) == rows)
        for size, first, last in zip(sizes, reserve.starts, reserve.starts[1:], strict=False)
    ):
        whole: Any = (column[:rows] for column in reserve.whole)
        return IoEvents(*whole)
    batches = [batch.events for part in parts for batch in part]
    pieces = [[getattr(events, field.name) for events in batches] for field in fields(IoEvents)]
    parts.clear()
    del batches, reserve
    if not rows:
        return IoEvents.empty()
    joined: Any = []
    for piece in pieces:
        joined.append(np.concatenate(piece))
        piece.clear()
    return IoEvents(*joined)


def location_runs(promised: npt.NDArray[np.float64], workers: int) -> list[range]:
    """Cut the locations into runs of about equal work, several for each worker.

    Parameters
    ----------
    promised : float64 (locations,)
        Events of each location.

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
