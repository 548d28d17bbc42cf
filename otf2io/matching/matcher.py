"""Blocks of operations out of batches of events, as they are read."""

from collections.abc import Iterator
from typing import Any, Final, cast

import numpy as np

from ...model.arrays import Links, Mask, Rows, RowsOfIds, columns_as, empty_columns
from ...model.codes import IoRecord, Status
from ...model.definitions import Definitions
from ...model.events import EventColumns, IoEvents
from ...model.operations import OperationColumns, Operations
from ...model.stream.source import Block
from .kernel import (
    BEGIN,
    DROPPED,
    IN_FLIGHT,
    KEYS,
    LEFT_OUT,
    LOCATION,
    NONE,
    ROWS,
    SMALLEST,
    UNMATCHED,
    WAITING,
    WaitingEvents,
    end_location,
    mark_in_flight,
    match_rows,
    move_keys,
    open_keys,
    renumber,
)
from .ordering import rows_by_begin
from .threads import match_threads

ENOUGH: Final = 1 << 17
"""Operations of a block: of several processes, or of a part of one, between moments at which none is in flight."""

_SLICE: Final = 1 << 16
_ROWS: Final = 1 << 12
_NEVER: Final = 2**62


class Matcher:
    """Matches the events of some processes, location by location; not for several threads at once.

    Parameters
    ----------
    shared : bool (locations,)
        Whether the location's process has other locations with events.
    handles : RowsOfIds
        Of the trace's handles.
    most : int or None
        Operations beyond which a block is cut, even where some are in flight; None where all of them fit.
    paths : bool
        Whether the call path of each event comes with it.
    """

    def __init__(
        self, definitions: Definitions, shared: Mask, handles: RowsOfIds, most: int | None = None, paths: bool = False
    ) -> None:
        self._definitions = definitions
        self._shared = shared
        self._handles = handles
        self._most = most
        self._enough = ENOUGH if most is None else min(ENOUGH, max(1, most // 2))
        self._keys = open_keys(SMALLEST)
        self._found = empty_columns(OperationColumns, _ROWS)
        self._paths = paths
        self._path = np.empty(_ROWS if paths else 0, np.int32)
        self._waiting = empty_columns(WaitingEvents, 0)
        self._metadata: list[IoEvents] = []
        self._metadata_paths: list[Links] = [np.empty(0, np.int32)]
        self._io_events = self._cut = self._given_up = 0

    def add(self, events: IoEvents, several: bool = False, paths: Links | None = None) -> Iterator[Block]:
        """Match a batch of events; blocks come as they are complete.

        Parameters
        ----------
        several : bool
            Whether they are of a process with several locations, of which more may come.
        paths : int32 (n,), optional
            The call path in which each event happened.
        """
        columns = columns_as(EventColumns, events)
        counts = self._keys.counts
        enough = _NEVER if several and self._most is not None else self._enough
        first = 0
        while first < len(events):
            last = min(first + _SLICE, len(events))
            self._make_room(last - first)
            row = counts[ROWS]
            reached = match_rows(columns, first, last, self._shared, enough, self._keys, self._found, self._waiting)
            if paths is not None:
                begins = events.kind[first:reached] == IoRecord.OPERATION_BEGIN
                self._path[row : counts[ROWS]] = paths[first:reached][begins]
            self._note(events, first, reached, paths)
            first = reached
            if 2 * counts[KEYS] >= len(self._keys.used):
                larger = open_keys(2 * len(self._keys.used), counts)
                move_keys(self._keys, larger)
                self._keys = larger
            elif reached < last and not counts[KEYS] and len(self._keys.used) > SMALLEST:
                self._keys = open_keys(SMALLEST, counts)
            if counts[ROWS] >= enough and not counts[IN_FLIGHT] and not counts[WAITING]:
                yield self._block()
            elif self._most is not None and counts[ROWS] >= 2 * self._most:
                yield self._cut_block()

    def end_process(self) -> Iterator[Block]:
        """Say that no more events of the present process will come; gives a block where there is enough for one."""
        end_location(self._keys, self._found)
        self._keys.counts[LOCATION] = NONE
        if self._keys.counts[ROWS] >= self._enough:
            yield self._block()

    def end(self) -> Block:
        """Return what is left, which may be nothing."""
        end_location(self._keys, self._found)
        self._keys.counts[LOCATION] = NONE
        return self._block()

    def _note(self, events: IoEvents, first: int, last: int, paths: Links | None) -> None:
        """Keep the metadata events among some of the rows."""
        kind = events.kind[first:last]
        other = np.flatnonzero((kind < IoRecord.OPERATION_BEGIN) | (kind > IoRecord.OPERATION_CANCELLED))
        if len(other):
            self._metadata.append(events.take(first + other))
            if paths is not None:
                self._metadata_paths.append(paths[first + other])
        self._io_events += last - first

    def _make_room(self, events: int) -> None:
        rows, waiting = self._keys.counts[ROWS], self._keys.counts[WAITING]
        if rows + events > len(self._found.begin):
            larger = empty_columns(OperationColumns, max(rows + events, 2 * len(self._found.begin)))
            _copy(self._found, larger, rows)
            self._found = larger
            if self._paths:
                self._path = np.resize(self._path, len(larger.begin))
        if waiting + events > len(self._waiting.kind) and self._shared.any():
            more = empty_columns(WaitingEvents, max(waiting + events, 2 * len(self._waiting.kind)))
            _copy(self._waiting, more, waiting)
            self._waiting = more

    def _match_threads(self) -> None:
        counts = self._keys.counts
        if counts[WAITING]:
            waiting: Any = (column[: counts[WAITING]] for column in self._waiting)
            counts[UNMATCHED] += match_threads(
                type(self._waiting)(*waiting), self._definitions, self._found, int(counts[ROWS])
            )
            counts[WAITING] = 0

    def _block(self) -> Block:
        """Return all operations so far; none is in flight."""
        self._match_threads()
        block = self._taken(np.arange(self._keys.counts[ROWS]))
        self._keys.counts[ROWS] = 0
        # What a key of a process with several locations was last used for is gone.
        self._keys.last[:] = NONE
        return block

    def _cut_block(self) -> Block:
        """Return the operations that ended; those in flight are carried over, or given up where they are too many."""
        counts = self._keys.counts
        rows = int(counts[ROWS])
        began = self._waiting.row[: counts[WAITING]][self._waiting.kind[: counts[WAITING]] == BEGIN]
        self._match_threads()
        self._given_up += int((self._found.status[began] == Status.NEVER_COMPLETED).sum())
        marked = np.zeros(rows, np.bool_)
        mark_in_flight(self._keys, self._found, marked)
        open_rows = np.flatnonzero(marked)
        if self._most is not None and len(open_rows) > self._most:
            self._given_up += len(open_rows)
            end_location(self._keys, self._found)
            return self._block()
        place_of = np.full(rows, NONE, np.int32)
        place_of[open_rows] = np.arange(len(open_rows))
        carried: Any = [column[open_rows] for column in cast(Any, self._found)]
        renumber(self._keys, OperationColumns(*carried), len(open_rows), place_of)
        paths = self._path[open_rows] if self._paths else self._path
        block = self._taken(np.flatnonzero(~marked))
        _copy(carried, self._found, len(open_rows))
        self._path[: len(paths)] = paths
        counts[ROWS] = len(open_rows)
        self._cut = 1
        return block

    def _taken(self, rows: Rows) -> Block:
        """Return a block of some operations, ordered."""
        found, counts = self._found, self._keys.counts
        if counts[DROPPED]:
            rows = rows[found.status[rows] != LEFT_OUT]
        location = found.location[rows]
        identity = self._definitions.locations.id[location]
        if (identity[1:] < identity[:-1]).any():
            # Rows of a location stand in the order of its file.
            rows = rows[np.argsort(identity, kind="stable")]
        rows = rows_by_begin(found.begin, rows)
        columns = cast(Any, empty_columns(OperationColumns, len(rows)))._asdict()
        for name, column in columns.items():
            np.take(getattr(found, name), rows, out=column, mode="clip")
        columns["handle"] = self._handles.rows(columns["handle"])
        operations = Operations(**columns, process=self._definitions.locations.group[columns["location"]])
        metadata = IoEvents.concatenate(self._metadata) if self._metadata else IoEvents.empty()
        block = Block(
            operations,
            metadata,
            self._io_events - 2 * int(counts[DROPPED]),
            int(counts[UNMATCHED]),
            cut=self._cut,
            given_up=self._given_up,
            path=self._path[rows] if self._paths else None,
            metadata_path=np.concatenate(self._metadata_paths) if self._paths else None,
        )
        counts[UNMATCHED] = counts[DROPPED] = 0
        self._metadata, self._metadata_paths = [], [np.empty(0, np.int32)]
        self._io_events = self._cut = self._given_up = 0
        return block


def _copy(old: Any, new: Any, rows: int) -> None:
    for source, target in zip(old, new, strict=True):
        target[:rows] = source[:rows]
