"""Call stacks over time: each call of some threads with its depth, and what its I/O was on."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ....model.arrays import Columns, RowsOfIds, column_at, empty_columns
from ....model.codes import IoMode, IoRecord
from ....model.stream.calls import EventBatch
from ....model.stream.source import Partition, Source
from ...handles.scope import Scope
from .functions import FunctionGroups

STACK_KINDS: Final = ("none", "read", "write", "flush", "open", "close", "other")
"""What a call did: nothing that left an I/O event, a transfer, or a metadata operation."""
_DEEPEST: Final = 1 << 10
"""Calls deeper than that are left out."""


@dataclass(frozen=True, eq=False)
class StackBars(Columns):
    """Calls, or calls of one function and on one handle that follow each other closely; columns of shape (n,).

    Attributes
    ----------
    location : int32
        Row in ``Definitions.locations``.
    depth : int32
        Number of calls around it.
    region : int32
        Row in ``FunctionGroups.regions``.
    handle : int32
        Row in ``Definitions.handles`` of what its I/O was on, −1 for none.
    kind : uint8
        Place in `STACK_KINDS` of what it did.
    begin, end : int64
        Enter and Leave in ticks since the trace's start, within the window.
    count : int64
        How many calls it stands for.
    """

    location: npt.NDArray[np.int32]
    depth: npt.NDArray[np.int32]
    region: npt.NDArray[np.int32]
    handle: npt.NDArray[np.int32]
    kind: npt.NDArray[np.uint8]
    begin: npt.NDArray[np.int64]
    end: npt.NDArray[np.int64]
    count: npt.NDArray[np.int64]


def stack_bars(
    source: Source,
    partitions: Sequence[Partition],
    functions: FunctionGroups,
    scope: Scope,
    locations: Sequence[int],
) -> Iterator[StackBars]:
    """Give the calls of some locations within the window, in parts; only the partitions that have them are read."""
    wanted = {int(one) for one in locations}
    walker = StackWalker(functions, scope, np.asarray(sorted(wanted), np.int64))
    for partition in partitions:
        if wanted.intersection(partition.locations):
            for batch in source.calls(partition):
                yield walker.add(batch)
            yield walker.finish()


class StackWalker:
    """Follows the calls of the chosen locations, batch by batch."""

    def __init__(self, functions: FunctionGroups, scope: Scope, locations: npt.NDArray[np.int64]) -> None:
        from . import stacks_kernel as kernel

        definitions = scope.definitions
        self._kernel, self._window, self._locations = kernel, scope.window, locations
        self._regions, self._handles = RowsOfIds(functions.regions.id), RowsOfIds(definitions.handles.id)
        self._layer_of_handle = scope.layer_rows(definitions.handles.paradigm)
        self._layer_of_region = np.where(functions.does_io, functions.layer, -2).astype(np.int32)
        self._frames = empty_columns(kernel.Frames, _DEEPEST)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._state[kernel.LOCATION] = -1

    @property
    def location(self) -> int:
        """Row of the location of which calls are open, −1 where there are none."""
        return int(self._state[self._kernel.LOCATION]) if self._state[self._kernel.DEPTH] else -1

    def add(self, batch: EventBatch) -> StackBars:
        """Take a batch, and give the calls that ended in it."""
        events, crossings = batch.events, batch.regions
        # Positions count the events of the batch, so all of these stay, and those of other threads count for nothing.
        region = self._regions.rows(crossings.region)
        chosen = np.isin(crossings.location, self._locations) & (region >= 0)
        handle = self._handles.rows(events.handle)
        columns = (events.location, events.time, _kinds(events.kind, events.mode), handle,
                   column_at(self._layer_of_handle, handle))  # fmt: skip
        kept = np.flatnonzero(np.isin(events.location, self._locations))
        position = np.searchsorted(kept, crossings.position[chosen])
        return self._walk(
            tuple(column[kept] for column in columns),
            (crossings.location[chosen], crossings.time[chosen], region[chosen], crossings.enter[chosen], position),
            False,
        )

    def finish(self) -> StackBars:
        """Give the calls that are still open, as ended by the last event."""
        empty = np.zeros(0, np.int32)
        events = (empty, empty.astype(np.int64), empty.astype(np.uint8), empty, empty)
        return self._walk(
            events, (empty, empty.astype(np.int64), empty, empty.astype(np.bool_), empty.astype(np.int64)), True
        )

    def _walk(self, events: Any, crossings: Any, over: bool) -> StackBars:
        kernel, window = self._kernel, self._window
        room = int(crossings[3].sum()) + int(self._state[kernel.DEPTH])
        bars = empty_columns(kernel.Bars, room)
        count = kernel.walk(events, crossings, self._layer_of_region, self._frames, self._state, bars, over)
        ended: Any = [*(column[:count] for column in bars), np.ones(count, np.int64)]
        found = StackBars(*ended)
        begin, end = np.maximum(found.begin, window.start), np.minimum(found.end, window.end)
        return replace(found, begin=begin, end=end).take(np.flatnonzero(begin <= end))


def _kinds(record: npt.NDArray[np.uint8], mode: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the places in `STACK_KINDS` of I/O events, 0 for those that only go on with an operation."""
    kinds = np.full(256, STACK_KINDS.index("other"), np.uint8)
    kinds[[IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE]] = STACK_KINDS.index("open")
    kinds[IoRecord.DESTROY_HANDLE] = STACK_KINDS.index("close")
    kinds[[IoRecord.OPERATION_TEST, IoRecord.OPERATION_ISSUED, IoRecord.OPERATION_COMPLETE]] = 0
    kinds[IoRecord.OPERATION_CANCELLED] = 0
    modes = np.zeros(256, np.uint8)
    modes[[IoMode.READ, IoMode.WRITE, IoMode.FLUSH]] = [STACK_KINDS.index(name) for name in ("read", "write", "flush")]
    return np.where(record == IoRecord.OPERATION_BEGIN, modes[mode], kinds[record])
