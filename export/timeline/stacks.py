"""Call stacks over time: each call of some threads with its depth, and what its I/O was on."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.attribution.calls.calls import Calls
from ...layers.handles.order import layer_rows
from ...layers.trace import Trace
from ...model.arrays import Columns, RowsOfIds, column_at
from ...model.codes import IoMode, IoRecord
from ...model.stream.calls import EventBatch
from .marks import KINDS, Marks, merged_marks

_DEEPEST: Final = 1 << 10
"""Calls deeper than that are left out."""
_MOST_KEPT: Final = 1 << 18
"""Calls from which on neighbours are drawn as one while the trace is read."""


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
        Row in ``Calls.functions.regions``.
    handle : int32
        Row in ``Definitions.handles`` of what its I/O was on, −1 for none.
    kind : uint8
        Place in `iostrata.export.timeline.marks.KINDS` of what it did; 0 where it left no I/O event.
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


def io_threads(calls: Calls, locations: int) -> npt.NDArray[np.float64]:
    """Return the time in s that each location spends in calls of I/O on selected files, float64 (locations,)."""
    functions = calls.functions
    of_io = np.zeros(len(functions.names), np.bool_)
    of_io[functions.group[functions.does_io]] = True
    location, group = calls.group_ticks.keys
    return (
        np.bincount(location, calls.group_ticks["ticks"] * of_io[group], minlength=locations) / calls.ticks_per_second
    )


def call_stacks(trace: Trace, locations: Sequence[int], most: int) -> tuple[StackBars, int]:
    """Return at most about `most` bars of some locations, and across which gaps in ticks neighbours were drawn as one.

    Only the partitions that have these locations are read. None of the bars is outside of the window.
    """
    calls, reading = trace.calls, trace.reading
    if calls is None or reading is None:
        raise ValueError("the trace does not tell when functions were entered and left")
    walker = _Walker(trace, calls, np.asarray(locations, np.int64))
    wanted = {int(one) for one in locations}
    for partition in reading.source.partitions(reading.memory, reading.workers):
        if wanted.intersection(partition.locations):
            for batch in reading.source.calls(partition):
                walker.add(batch)
            walker.finish()
    return _merged(walker.bars, most, walker.gap)


class _Walker:
    """Follows the calls of the chosen locations, in bounded memory."""

    def __init__(self, trace: Trace, calls: Calls, locations: npt.NDArray[np.int64]) -> None:
        from . import stacks_kernel as kernel

        definitions, functions = trace.definitions, calls.functions
        self._kernel, self._window, self._locations = kernel, trace.tick_window, locations
        self._regions, self._handles = RowsOfIds(functions.regions.id), RowsOfIds(definitions.handles.id)
        self._layer_of_handle = layer_rows(definitions, trace.order, definitions.handles.paradigm)
        self._layer_of_region = np.where(functions.does_io, functions.layer, -2).astype(np.int32)
        frames: Any = (
            np.zeros(_DEEPEST, dtype) for dtype in (np.int32, np.int64, np.int32, np.int32, np.int32, np.uint8)
        )
        self._frames = kernel.Frames(*frames)
        self._state = np.zeros(kernel.STATE_SIZE, np.int64)
        self._state[kernel.LOCATION] = -1
        self.bars, self.gap = _no_bars(), 0

    def add(self, batch: EventBatch) -> None:
        events, crossings = batch.events, batch.regions
        # Positions count the events of the batch, so all of these stay, and those of other threads count for nothing.
        region = self._regions.rows(crossings.region)
        chosen = np.isin(crossings.location, self._locations) & (region >= 0)
        handle = self._handles.rows(events.handle)
        columns = (events.location, events.time, _kinds(events.kind, events.mode), handle,
                   column_at(self._layer_of_handle, handle))  # fmt: skip
        kept = np.flatnonzero(np.isin(events.location, self._locations))
        position = np.searchsorted(kept, crossings.position[chosen])
        self._walk(
            tuple(column[kept] for column in columns),
            (crossings.location[chosen], crossings.time[chosen], region[chosen], crossings.enter[chosen], position),
            False,
        )

    def finish(self) -> None:
        empty = np.zeros(0, np.int32)
        events = (empty, empty.astype(np.int64), empty.astype(np.uint8), empty, empty)
        self._walk(events, (empty, empty.astype(np.int64), empty, empty.astype(np.bool_), empty.astype(np.int64)), True)

    def _walk(self, events: Any, crossings: Any, over: bool) -> None:
        kernel, window = self._kernel, self._window
        room = int(crossings[3].sum()) + int(self._state[kernel.DEPTH])
        columns: Any = (np.empty(room, dtype) for dtype in _BAR_TYPES)
        bars = kernel.Bars(*columns)
        count = kernel.walk(events, crossings, self._layer_of_region, self._frames, self._state, bars, over)
        ended: Any = [*(column[:count] for column in bars), np.ones(count, np.int64)]
        found = StackBars(*ended)
        begin, end = np.maximum(found.begin, window.start), np.minimum(found.end, window.end)
        clipped = replace(found, begin=begin, end=end).take(np.flatnonzero(begin <= end))
        self.bars = StackBars.concatenate([self.bars, clipped])
        if len(self.bars) > _MOST_KEPT:
            self.bars, self.gap = _merged(self.bars, _MOST_KEPT // 2, self.gap)


def _kinds(record: npt.NDArray[np.uint8], mode: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """Return the places in `KINDS` of I/O events, 0 for those that only go on with an operation."""
    kinds = np.full(256, KINDS.index("other"), np.uint8)
    kinds[[IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE]] = KINDS.index("open")
    kinds[IoRecord.DESTROY_HANDLE] = KINDS.index("close")
    kinds[[IoRecord.OPERATION_TEST, IoRecord.OPERATION_ISSUED, IoRecord.OPERATION_COMPLETE]] = 0
    kinds[IoRecord.OPERATION_CANCELLED] = 0
    modes = np.zeros(256, np.uint8)
    modes[[IoMode.READ, IoMode.WRITE, IoMode.FLUSH]] = [KINDS.index(name) for name in ("read", "write", "flush")]
    return np.where(record == IoRecord.OPERATION_BEGIN, modes[mode], kinds[record])


def _merged(bars: StackBars, most: int, before: int) -> tuple[StackBars, int]:
    """Merge bars of one place across small gaps until there are at most `most`."""
    keys = np.stack((bars.location, bars.depth, bars.region, bars.handle, bars.kind.astype(np.int32)))
    places, row = np.unique(keys, axis=1, return_inverse=True) if len(bars) else (keys, np.zeros(0, np.int64))
    nothing = np.zeros(len(bars))
    marks = Marks(row.ravel(), np.zeros(len(bars), np.int64), bars.begin, bars.end, bars.count, nothing)
    merged, gap = merged_marks(marks, most)
    location, depth, region, handle, kind = places[:, merged.row]
    return (
        StackBars(
            location,
            depth,
            region,
            handle,
            kind.astype(np.uint8),
            merged.start,
            merged.end,
            merged.count.astype(np.int64),
        ),
        max(gap, before),
    )


_BAR_TYPES: Final = (np.int32, np.int32, np.int32, np.int32, np.uint8, np.int64, np.int64)


def _no_bars() -> StackBars:
    columns: Any = (np.empty(0, dtype) for dtype in (*_BAR_TYPES, np.int64))
    return StackBars(*columns)
