"""Operations in bounded memory: batches of those that ended, while the events are still being read.

Threads walk runs of neighbouring locations and match what they read at once; nobody keeps events. Only what a location
cannot decide alone waits for the end: non-blocking operations of processes with several threads.
"""

import os
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_UINT32, IoRecord
from ...model.damage import LocationDamage
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.events import EventColumns, IoEvents
from ...model.operations import OperationBatch, OperationColumns, operation_columns
from ..anchor import Anchor
from ..base import Progress, ProgressReport
from ..direct.engine import location_runs
from ..direct.walk import DirectWalk
from ..implausible import ImplausibleEvents
from .columns import match_events
from .kernel import UNMATCHED_ENDS, UNMATCHED_STEPS, end_location, match_rows, move_operations, open_operations

MOST_IN_FLIGHT: Final = 1 << 16
"""Operations in flight at one location beyond which all of them are given up, as never completed; 10 MB a thread."""

MOST_WAITING: Final = 1 << 20
"""Events that wait for other threads of their process: 48 MB, and eight times that while they are matched."""

_FIRST_IN_FLIGHT: Final = 1 << 10
_ROWS: Final = 1 << 16
_USUAL_RECORD: Final = 8
"""Bytes that few I/O records stay below."""


@dataclass(frozen=True, eq=False)
class StreamedRead:
    """What is left to say when all operations have been handed on.

    Attributes
    ----------
    counts : uint64 (locations,)
        Number of all events read at each location.
    unmatched_events : int
        Events that end, issue or test an operation whose begin was not found. Where threads of a process use one key
        for blocking and for non-blocking operations, an issued or test event can count that `match_events` ties to a
        blocking operation, and the other way round; that changes no operation.
    """

    counts: npt.NDArray[np.uint64]
    io_events: int
    damage: tuple[LocationDamage, ...]
    unmatched_events: int


def stream_operations(
    anchor: Anchor,
    definitions: Definitions,
    consume: Callable[[OperationBatch], None],
    workers: int | None = None,
    progress: Progress | None = None,
    most_waiting: int | None = None,
) -> StreamedRead:
    """Read all operations of an archive, each handed on once, in no particular order.

    They are those of `match_events` on all events, unless a location has more than `MOST_IN_FLIGHT` operations in
    flight. Memory follows the largest chunk of the event files, the number of threads, and the number of operations in
    flight, not the number of events. Raises SelectionError if more events than that must wait.

    Parameters
    ----------
    anchor : Anchor
        Of an archive that `iostrata.otf2io.archive.direct_obstacle` has nothing against.
    consume : callable
        Called with each `OperationBatch`, from any thread, never from two at once.
    workers : int, optional
        Threads; by default as many as there are processors to run on.
    progress : callable, optional
        ``(done_events, total_events)``, from any thread, never from two at once.
    most_waiting : int, optional
        Events that may wait for other threads of their process; `MOST_WAITING` unless given.
    """
    walk = DirectWalk(anchor, definitions)
    threads = workers or len(os.sched_getaffinity(0))
    runs = location_runs(definitions.locations.events.astype(np.float64), threads)
    report = ProgressReport(sum(definitions.locations.events.tolist()), progress)
    shared = _in_processes_of_several_locations(definitions)
    most = MOST_WAITING if most_waiting is None else most_waiting
    collected = _Collected(consume, most)
    implausible = ImplausibleEvents(definitions)
    # The walk hands rows on as soon as another chunk might not find room.
    rows = _ROWS + anchor.event_chunk // _USUAL_RECORD
    # Threads take a matcher from here and put it back.
    matchers: list[_Matcher] = []

    def read(run: range) -> None:
        try:
            matcher = matchers.pop()
        except IndexError:
            matcher = _Matcher(shared, implausible, collected)
        with closing(walk.batches(run.start, run.stop, rows, done=report.add)) as batches:
            for batch in batches:
                matcher.add(batch.events)
        matcher.end()
        matchers.append(matcher)

    if min(threads, len(runs)) <= 1:
        for run in runs:
            read(run)
    else:
        with ThreadPoolExecutor(min(threads, len(runs))) as pool, report.cancelling():
            for _ in pool.map(read, runs):
                pass
    collected.unmatched += sum(matcher.unmatched for matcher in matchers)
    collected.match_rest(definitions)
    damage = implausible.damage(walk.damage, walk.counts)
    return StreamedRead(walk.counts, collected.io_events, damage, collected.unmatched)


class _Collected:
    """What all threads found: operations go on to `consume`, events that wait stay here."""

    def __init__(self, consume: Callable[[OperationBatch], None], most_waiting: int) -> None:
        self._consume = consume
        self._most_waiting = most_waiting
        self._lock = threading.Lock()
        self._waiting: list[IoEvents] = []
        self._rows_waiting = 0
        self.io_events = 0
        self.unmatched = 0

    def add(self, operations: OperationColumns, metadata: IoEvents, waiting: IoEvents, events: int) -> None:
        with self._lock:
            self.io_events += events
            self._rows_waiting += len(waiting)
            if self._rows_waiting > self._most_waiting:
                raise SelectionError(
                    f"more than {self._most_waiting} events of non-blocking operations in processes of several "
                    "threads: these are matched when all of them have been read; give more memory, or set no bound"
                )
            if len(waiting):
                self._waiting.append(waiting)
            if len(operations.begin) or len(metadata):
                self._consume(OperationBatch(operations, metadata))

    def match_rest(self, definitions: Definitions) -> None:
        """Match the events that wait, now that those of all threads are there."""
        if not self._waiting:
            return
        matching = match_events(IoEvents.concatenate(self._waiting), definitions)
        self._waiting.clear()
        self.unmatched += matching.unmatched_ends + matching.unmatched_steps
        found = matching.operations
        identity = np.append(definitions.handles.id, np.uint32(UNDEFINED_UINT32))
        columns = OperationColumns(
            found.location, identity[found.handle], found.mode, found.status, found.begin, found.end, found.requested,
            found.moved,
        )  # fmt: skip
        self._consume(OperationBatch(columns, IoEvents.empty()))


class _Matcher:
    """The operations in flight of one thread, and memory for those that end."""

    def __init__(self, shared: npt.NDArray[np.bool_], implausible: ImplausibleEvents, collected: _Collected) -> None:
        self._shared = shared
        self._implausible = implausible
        self._collected = collected
        self._state = open_operations(_FIRST_IN_FLIGHT)
        self._found = operation_columns(_ROWS + _FIRST_IN_FLIGHT)
        self._waiting = np.empty(_ROWS, np.int64)

    @property
    def unmatched(self) -> int:
        return int(self._state.counts[UNMATCHED_ENDS] + self._state.counts[UNMATCHED_STEPS])

    def add(self, events: IoEvents) -> None:
        """Match the events of one batch of the walk; memory follows `_ROWS`, however long it is."""
        events = self._implausible.without(events)
        columns = EventColumns(
            events.location, events.kind, events.time, events.handle, events.mode, events.flags, events.matching,
            events.value, events.offset,
        )  # fmt: skip
        first = 0
        while first < len(events):
            last = min(first + _ROWS, len(events))
            count, others, reached = match_rows(
                columns, first, last, self._shared, self._state, self._found, self._waiting
            )
            kind = events.kind[first:reached]
            other_kinds = (kind < IoRecord.OPERATION_BEGIN) | (kind > IoRecord.OPERATION_CANCELLED)
            metadata = events.take(first + np.flatnonzero(other_kinds))
            self._collected.add(self._part(count), metadata, events.take(self._waiting[:others]), reached - first)
            first = reached
            if reached < last:
                self._make_room()

    def end(self) -> None:
        """Hand on what is still in flight as never completed."""
        count = end_location(self._state, self._found, 0)
        if count:
            self._collected.add(self._part(count), IoEvents.empty(), IoEvents.empty(), 0)

    def _make_room(self) -> None:
        most = len(self._state.begin)
        if most >= MOST_IN_FLIGHT:
            self.end()
            return
        larger = open_operations(2 * most)
        move_operations(self._state, larger)
        self._state = larger
        self._found = operation_columns(_ROWS + 2 * most)

    def _part(self, count: int) -> OperationColumns:
        part: Any = (column[:count] for column in self._found)
        return OperationColumns(*part)


def _in_processes_of_several_locations(definitions: Definitions) -> npt.NDArray[np.bool_]:
    """Return whether a location's process has other locations with events, bool (locations,)."""
    group = definitions.locations.group
    active = (group >= 0) & (definitions.locations.events > 0)
    count = np.bincount(group[active], minlength=len(definitions.groups.id))
    several = np.zeros(len(group), np.bool_)
    several[group >= 0] = count[group[group >= 0]] > 1
    return several
