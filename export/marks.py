"""Marks in time, for timelines: operations, lifetimes of handles and events, merged where there are too many."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ..layers.trace import Trace
from ..otf2io.records import UNDEFINED_TIME, IoMode, IoRecord

Ints = npt.NDArray[np.int64]

KINDS: Final = ("in use", "read", "write", "flush", "open", "close", "other")
"""What a mark stands for: a handle is there, an operation, or a metadata event."""
_OPENS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE)
_FINEST_GAP: Final = 2**12
_WIDEST_GAP: Final = 2**3


@dataclass(frozen=True, eq=False)
class Marks:
    """What happened when, columns of shape (n,).

    Attributes
    ----------
    row : int64
        Row of the timeline.
    kind : int64
        Place in `KINDS`.
    start, end : int64
        Ticks since the trace's start, within the window.
    count : int64
        Operations, lifetimes or events in the mark.
    bytes : float64
        What its operations moved.
    """

    row: Ints
    kind: Ints
    start: Ints
    end: Ints
    count: Ints
    bytes: npt.NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.row)

    def take(self, rows: npt.NDArray[np.bool_] | npt.NDArray[np.intp]) -> "Marks":
        """Return the marks at `rows`."""
        return Marks(*(getattr(self, name)[rows] for name in self.__dataclass_fields__))


def merged_marks(marks: Marks, most: int) -> tuple[Marks, int]:
    """Merge marks of one row and kind across small gaps until there are at most `most`, and give the gap used in ticks.

    Gaps grow by factors of two from 1/4096 to 1/8 of the time that the marks span. If that is not enough, each row and
    kind gets one mark, and what is still too much is left out from the end.
    """
    order = np.lexsort((marks.start, marks.kind, marks.row))
    ordered = marks.take(order)
    if len(ordered) <= most:
        return ordered, 0
    from .marks_kernel import gaps_before

    begins = np.append(True, np.diff(ordered.row * len(KINDS) + ordered.kind) != 0)
    ahead = gaps_before(begins, ordered.start, ordered.end)
    length = int(ordered.end.max() - ordered.start.min())
    gap = 0
    for gap in [0] + [length // share for share in _powers(_FINEST_GAP, _WIDEST_GAP)] + [length]:
        first = np.flatnonzero(begins | (ahead > gap))
        if len(first) <= most:
            break
    merged = Marks(
        ordered.row[first],
        ordered.kind[first],
        ordered.start[first],
        np.maximum.reduceat(ordered.end, first),
        np.add.reduceat(ordered.count, first),
        np.add.reduceat(ordered.bytes, first),
    )
    return merged.take(np.arange(min(len(merged), most))), gap


def _powers(first: int, last: int) -> list[int]:
    shares = []
    while first >= last:
        shares.append(first)
        first //= 2
    return shares


def all_marks(trace: Trace, key_of_handle: Ints) -> Marks:
    """Return every mark of some handles within the window.

    Parameters
    ----------
    trace : Trace
    key_of_handle : int64 (handles,)
        Key from 0 on that each handle's marks get, −1 for a handle that is left out.

    Returns
    -------
    Marks
        A mark's row is its key times the number of processes + 1, plus the row of its process + 1 (0 for no process).
    """
    processes = len(trace.definitions.groups.id)
    parts = [_operations(trace, key_of_handle), _lifetimes(trace, key_of_handle), _events(trace, key_of_handle)]
    columns = []
    for key, process, kind, begin, end, volume in parts:
        row = key * (processes + 1) + process + 1
        columns.append(Marks(row, kind, begin, end, np.ones(len(row), np.int64), volume))
    return Marks(*(np.concatenate([getattr(part, name) for part in columns]) for name in Marks.__dataclass_fields__))


Columns = tuple[Ints, Ints, Ints, Ints, Ints, npt.NDArray[np.float64]]


def _operations(trace: Trace, key_of_handle: Ints) -> Columns:
    window = trace.tick_window
    operations = trace.operations
    key = np.where(operations.handle >= 0, np.append(key_of_handle, -1)[operations.handle], -1)
    rows = np.flatnonzero((key >= 0) & window.overlaps(operations))
    chosen = operations.take(rows)
    kind = np.full(256, KINDS.index("other"), np.int64)
    kind[[IoMode.READ, IoMode.WRITE, IoMode.FLUSH]] = [KINDS.index(name) for name in ("read", "write", "flush")]
    volume = window.bytes_within(chosen).astype(np.float64)
    begin, end = window.clipped(chosen)
    return key[rows], chosen.process.astype(np.int64), kind[chosen.mode], begin, end, volume


def _lifetimes(trace: Trace, key_of_handle: Ints) -> Columns:
    """Return the time from a handle's making to its destruction, as far as it lies in the window."""
    window, lifetimes = trace.tick_window, trace.handles.lifetimes
    begin = np.where(lifetimes.created == UNDEFINED_TIME, window.start, lifetimes.created)
    end = np.where(lifetimes.destroyed == UNDEFINED_TIME, window.end, lifetimes.destroyed)
    key = key_of_handle[lifetimes.handle]
    rows = np.flatnonzero((key >= 0) & (begin <= window.end) & (end >= window.start) & (end >= begin))
    begin, end = np.maximum(begin, window.start), np.minimum(end, window.end)
    nothing = np.zeros(len(rows))
    kind = np.full(len(rows), KINDS.index("in use"), np.int64)
    return key[rows], lifetimes.process[rows].astype(np.int64), kind, begin[rows], end[rows], nothing


def _events(trace: Trace, key_of_handle: Ints) -> Columns:
    window, events = trace.tick_window, trace.metadata
    handle = np.where(events.new_handle >= 0, events.new_handle, events.handle)
    key = np.where(handle >= 0, np.append(key_of_handle, -1)[handle], -1)
    rows = np.flatnonzero((key >= 0) & window.contains(events.time))
    kind = np.full(len(rows), KINDS.index("other"), np.int64)
    kind[np.isin(events.kind[rows], np.array(_OPENS, np.uint8))] = KINDS.index("open")
    kind[events.kind[rows] == IoRecord.DESTROY_HANDLE] = KINDS.index("close")
    time = events.time[rows]
    return key[rows], events.process[rows].astype(np.int64), kind, time, time, np.zeros(len(rows))
