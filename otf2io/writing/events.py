"""The files of an archive's locations, written from blocks of operations and metadata events as they come.

Memory follows the largest block, not the trace. Blocks of a location usually follow each other in time; what a later
block has from earlier times goes to a file of its own, and such files are merged at the end.
"""

from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...model.arrays import Ints, Links, Rows, RowsOfIds, Unsigned, columns_as
from ...model.codes import UNDEFINED_TIME, UNDEFINED_UINT32, IoFlag, IoRecord, Status
from ...model.definitions import Definitions
from ...model.errors import TraceError
from ...model.events import EventColumns, IoEvents
from ...model.operations import OperationColumns, Operations
from .chunks import AT, CHUNK, EVENTS, LAST, MARGIN, NEW, NO_EVENTS, State, end_file, write_chunk
from .kernel import CHUNK_FULL, DONE, NEVER, NEXT, EventLists, put_events
from .merging import merge_files

_METADATA_KINDS: Final = tuple(
    kind for kind in IoRecord if not IoRecord.OPERATION_BEGIN <= kind <= IoRecord.OPERATION_CANCELLED
)
_LATEST: Final = 2**64 - 2


class EventFiles:
    """Writes ``<folder>/<location>.evt`` and the empty definitions beside them; not for several threads at once.

    Parameters
    ----------
    folder : Path
        There already, and empty.
    definitions : Definitions
        Of the trace.
    named : Definitions
        The same with the ids that are written; those of locations differ.
    start : int
        Time stamp of tick 0.
    attribute : int
        Id of the attribute *Offset* in the definitions that will be written.
    """

    def __init__(self, folder: Path, definitions: Definitions, named: Definitions, start: int, attribute: int) -> None:
        self._folder, self._definitions, self._named = folder, definitions, named
        self._start, self._attribute = start, attribute
        self._out = np.zeros(CHUNK + MARGIN, np.uint8)
        count = len(definitions.locations.id)
        self._first = np.tile(np.array(NEW, np.int64), (count, 1))
        self._late: dict[int, list[State]] = {}
        self._operations = 0
        self._extent: list[int] = []

    def add(self, operations: Operations, metadata: IoEvents) -> None:
        """Write the events of operations, ordered by begin, and metadata events, in the order of each location.

        An operation that several threads of a process can end does so where it did; every other one ends where it
        began, as its call returned there. Matching ids are numbered anew, so that no two operations share one. The
        times at which an operation was tested are not known; it is taken for tested when it begins.

        Raises TraceError if a time is not one of 64 bits, OSError if a file cannot be written.
        """
        metadata = self._renamed(metadata.take(np.isin(metadata.kind, _METADATA_KINDS)))
        self._check_times(operations, metadata)
        columns = _columns(operations, self._named, self._operations)
        self._operations += len(operations)
        ended = operations.status != Status.NEVER_COMPLETED
        elsewhere = columns.end_location != columns.location
        apart = np.flatnonzero(ended & (elsewhere | (columns.end > columns.begin)))[::-1]
        issued = np.flatnonzero(columns.issued > columns.begin)
        others = np.argsort(metadata.time, kind="stable")
        lists = (
            _grouped(np.arange(len(operations)), columns.location),
            _grouped(apart[np.argsort(columns.end[apart], kind="stable")], columns.end_location),
            _grouped(issued[np.argsort(columns.issued[issued], kind="stable")], columns.location),
            _grouped(others, metadata.location),
        )
        locations = np.unique(np.concatenate([one[1] for one in lists]))
        # Where each location begins and ends in each of the four lists.
        starts = np.stack([np.searchsorted(one[1], locations) for one in lists], 1).astype(np.int64)
        stops = np.stack([np.searchsorted(one[1], locations, "right") for one in lists], 1).astype(np.int64)
        rows = (one[0].astype(np.int64) for one in lists)
        listed = EventLists(columns, columns_as(EventColumns, metadata), *rows)
        for location, first, last in zip(locations.tolist(), starts, stops, strict=True):
            self._add_location(location, listed, first, last)

    def finish(self) -> Unsigned:
        """Complete all files, and return the number of events of each location, uint64 (locations,)."""
        for row, identity in enumerate(self._named.locations.id.tolist()):
            (self._folder / f"{identity}.def").write_bytes(NO_EVENTS)
            states = self._states(row)
            paths = [self._path(row, number) for number in range(len(states))]
            for path, state in zip(paths, states, strict=True):
                end_file(path, state)
            merge_files(paths)
        counts = self._first[:, EVENTS].copy()
        for row, states in self._late.items():
            counts[row] += sum(int(state[EVENTS]) for state in states)
        return counts.astype(np.uint64)

    @property
    def extent(self) -> tuple[int, int]:
        """Ticks of the first and the last event; (0, 0) where there are none."""
        return (self._extent[0], self._extent[1]) if self._extent else (0, 0)

    def _states(self, row: int) -> list[State]:
        return [self._first[row], *self._late.get(row, [])]

    def _path(self, row: int, number: int) -> Path:
        identity = int(self._named.locations.id[row])
        return self._folder / (f"{identity}.evt" if number == 0 else f"{identity}.{number}.late")

    def _renamed(self, events: IoEvents) -> IoEvents:
        """Return events with the ids that are written; those that nothing defines become undefined."""
        old, new = self._definitions, self._named

        def renamed(ids: Any, of: Any, by: Any) -> Any:
            row = RowsOfIds(np.asarray(of)).rows(ids)
            return np.where(row >= 0, np.append(by, UNDEFINED_UINT32).astype(ids.dtype)[row], UNDEFINED_UINT32)

        value, mode = events.value.copy(), events.mode.copy()
        twice, gone = (events.kind == kind for kind in (IoRecord.DUPLICATE_HANDLE, IoRecord.DELETE_FILE))
        value[twice] = renamed(value[twice], old.handles.id, new.handles.id)
        value[gone] = renamed(value[gone], old.files.id, new.files.id)
        paradigms = [np.array([one.id for one in some.paradigms], np.uint32) for some in (old, new)]
        mode[gone] = renamed(mode[gone].astype(np.uint32), *paradigms).astype(np.uint8)
        handle = renamed(events.handle, old.handles.id, new.handles.id).astype(np.uint32)
        return replace(events, handle=handle, value=value, mode=mode)

    def _check_times(self, operations: Operations, metadata: IoEvents) -> None:
        for times in (operations.begin, operations.end, metadata.time):
            known = times[times != UNDEFINED_TIME]
            if not len(known):
                continue
            self._extent += [int(known.min()), int(known.max())]
            if not 0 <= self._start + min(self._extent) <= self._start + max(self._extent) <= _LATEST:
                raise TraceError(
                    f"times from {min(self._extent)} to {max(self._extent)} ticks behind {self._start} do not fit into "
                    "an OTF2 archive, whose clock has 64 bits; check the times and their unit"
                )
        self._extent = [min(self._extent), max(self._extent)] if self._extent else []

    def _add_location(self, row: int, lists: EventLists, first: Ints, last: Ints) -> None:
        cursor = np.array([*first, 0, 0], np.int64)
        number, limit = 0, NEVER
        while True:
            states = self._states(row)
            state = states[number]
            begin, events = int(state[AT]), int(state[EVENTS])
            known = np.uint64(self._start), np.uint64(self._attribute)
            outcome = put_events(self._out, state, *known, lists, cursor, last, limit)
            if outcome == CHUNK_FULL or state[EVENTS] > events:
                write_chunk(self._path(row, number), state, self._out, begin, outcome == CHUNK_FULL)
            if outcome == DONE:
                return
            if outcome == CHUNK_FULL:
                continue
            # The first file that has nothing from later times; those before it set the limit.
            later = [int(one[LAST]) for one in states]
            number = next((n for n, time in enumerate(later) if time <= cursor[NEXT]), len(states))
            limit = min(later[:number], default=NEVER)
            if number == len(states):
                self._late.setdefault(row, []).append(np.array(NEW, np.int64))


def _columns(operations: Operations, definitions: Definitions, first: int) -> Operations:
    """Return operations as the kernel takes them."""
    identity = np.append(definitions.handles.id, np.uint32(UNDEFINED_UINT32)).astype(np.uint32)
    wandering = (operations.flags & IoFlag.NON_BLOCKING > 0) & (operations.end_location >= 0)
    end = np.maximum(operations.end, operations.begin)
    ended = operations.status != Status.NEVER_COMPLETED
    # What is issued after its end would belong to nothing.
    issued = np.maximum(np.where(ended, np.minimum(operations.issued, end), operations.issued), operations.begin)
    return columns_as(
        OperationColumns,
        operations,
        end_location=np.where(wandering, operations.end_location, operations.location),
        handle=identity[operations.handle],
        end=end,
        issued=np.where(operations.issued == UNDEFINED_TIME, UNDEFINED_TIME, issued),
        matching=np.arange(first, first + len(operations), dtype=np.uint64),
    )


def _grouped(rows: Rows, location: Links) -> tuple[Rows, Links]:
    """Return rows by their location, else in the same order, and their locations."""
    place = location[rows]
    if (place[1:] < place[:-1]).any():
        order = np.argsort(place, kind="stable")
        rows, place = rows[order], place[order]
    return rows, place
