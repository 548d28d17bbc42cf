"""Marks in time, for timelines: operations, lifetimes of handles and events, merged where there are too many."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...layers.trace import Trace
from ...model.arrays import Columns
from ...model.codes import UNDEFINED_TIME, IoMode, IoRecord
from ...model.operations import view
from ...model.rows import column_at

Ints = npt.NDArray[np.int64]

KINDS: Final = ("in use", "read", "write", "flush", "open", "close", "other")
"""What a mark stands for: a handle is there, an operation, or a metadata event."""
_OPENS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE)
_FINEST_GAP: Final = 2**12
_WIDEST_GAP: Final = 2**3


@dataclass(frozen=True, eq=False)
class Marks(Columns):
    """What happened when, columns of shape (n,).

    Attributes
    ----------
    row : integer
        Row of the timeline.
    kind : integer
        Place in `KINDS`.
    start, end : int64
        Ticks since the trace's start, within the window.
    count : integer
        Operations, lifetimes or events in the mark.
    bytes : float64
        What its operations moved.
    """

    row: npt.NDArray[np.integer]
    kind: npt.NDArray[np.integer]
    start: Ints
    end: Ints
    count: npt.NDArray[np.integer]
    bytes: npt.NDArray[np.float64]


def merged_marks(marks: Marks, most: int) -> tuple[Marks, int]:
    """Merge marks of one row and kind across small gaps until there are at most `most`, and give the gap used in ticks.

    Gaps grow by factors of two from 1/4096 to 1/8 of the time that the marks span. If that is not enough, each row and
    kind gets one mark, and what is still too much is left out from the end. Marks come by row, kind and start.

    Parameters
    ----------
    marks : Marks
        Rows are numbers from 0, so that a table over them fits into memory.
    """
    if len(marks) <= most:
        return marks.take(np.lexsort((marks.start, marks.kind, marks.row))), 0
    from .marks_kernel import gaps_before, in_order, merged_across

    groups = (int(marks.row.max()) + 1) * len(KINDS)
    group = marks.row * len(KINDS) + marks.kind
    if not in_order(group, marks.start, groups):
        order = np.argsort(marks.start, kind="stable")
        marks, group = marks.take(order), group[order]
    ahead = gaps_before(group, marks.start, marks.end, groups)
    length = int(marks.end.max() - marks.start.min())
    gap = 0
    for gap in [0] + [length // share for share in _powers(_FINEST_GAP, _WIDEST_GAP)] + [length]:
        if int(np.count_nonzero(ahead > gap)) <= most:
            break
    first, end, count, volume = merged_across(ahead, gap, group, marks.end, marks.count, marks.bytes, groups)
    merged = Marks(marks.row[first], marks.kind[first], marks.start[first], end, count, volume)
    return merged.take(np.lexsort((merged.start, merged.kind, merged.row))[:most]), gap


def _powers(first: int, last: int) -> list[int]:
    shares = []
    while first >= last:
        shares.append(first)
        first //= 2
    return shares


def all_marks(trace: Trace, key_of_handle: Ints) -> tuple[Marks, Ints, Ints]:
    """Return every mark of some handles within the window.

    Parameters
    ----------
    key_of_handle : int64 (handles,)
        Key from 0 on that each handle's marks get, −1 for a handle that is left out.

    Returns
    -------
    marks : Marks
        A row is a key and a process.
    key, process : int64 (rows,)
        Of each row; −1 for no process.
    """
    from ...layers.attribution.attribution_kernel import rows_by_key
    from ...layers.attribution.group_kernels import number_pairs

    keys = np.append(key_of_handle, -1).astype(np.int32)
    parts = [_operations(trace, keys), _in_time(_lifetimes(trace, keys)), _in_time(_events(trace, keys))]
    key, process, kind, start, end, volume = (np.concatenate(columns) for columns in zip(*parts, strict=True))
    processes = process + 1
    order, begin = rows_by_key(processes, len(trace.definitions.groups.id) + 1)
    row, process_of, key_of = number_pairs(order, begin, key, int(keys.max(initial=-1)) + 1, len(key))
    return Marks(row, kind, start, end, np.ones(len(row), np.int32), volume), key_of, process_of - 1


def marks_of_files(trace: Trace, layers: tuple[str, ...]) -> tuple[Marks, Ints, Ints, int]:
    """Return the marks of some layers on the selected files, as `all_marks`, and the number of keys a layer has.

    A key is the place of a layer in `layers` times that number, plus the row of a file + 1, or 0 for no file.
    """
    forest, definitions = trace.handles, trace.definitions
    place = np.array([layers.index(name) if name in layers else -1 for name in forest.layers] + [-1], np.int64)
    layer = place[forest.layer_row]
    shown = (layer >= 0) & trace.selection.selected
    files = len(definitions.files.id) + 1
    key = np.where(shown, layer * files + definitions.handles.file + 1, -1)
    return *all_marks(trace, key.astype(np.int64)), files


Keys = npt.NDArray[np.int32]
_MarkColumns = tuple[Keys, npt.NDArray[np.int32], npt.NDArray[np.uint8], Ints, Ints, npt.NDArray[np.float64]]


def _in_time(columns: _MarkColumns) -> _MarkColumns:
    order = np.argsort(columns[3], kind="stable")
    key, process, kind, start, end, volume = columns
    return key[order], process[order], kind[order], start[order], end[order], volume[order]


def _operations(trace: Trace, keys: Keys) -> _MarkColumns:
    window = trace.tick_window
    chosen = window.part(trace.operations)
    chosen = view(chosen, keys[chosen.handle] >= 0)
    kind = np.full(256, KINDS.index("other"), np.uint8)
    kind[[IoMode.READ, IoMode.WRITE, IoMode.FLUSH]] = [KINDS.index(name) for name in ("read", "write", "flush")]
    volume = window.bytes_within(chosen).astype(np.float64)
    begin, end = window.clipped(chosen)
    return keys[chosen.handle], chosen.process, kind[chosen.mode], begin, end, volume


def _lifetimes(trace: Trace, keys: Keys) -> _MarkColumns:
    """Return the time from a handle's making to its destruction, as far as it lies in the window."""
    window, lifetimes = trace.tick_window, trace.handles.lifetimes
    begin = np.where(lifetimes.created == UNDEFINED_TIME, window.start, lifetimes.created)
    end = np.where(lifetimes.destroyed == UNDEFINED_TIME, window.end, lifetimes.destroyed)
    key = keys[lifetimes.handle]
    rows = np.flatnonzero((key >= 0) & (begin <= window.end) & (end >= window.start) & (end >= begin))
    begin, end = np.maximum(begin, window.start), np.minimum(end, window.end)
    kind = np.full(len(rows), KINDS.index("in use"), np.uint8)
    return key[rows], lifetimes.process[rows].astype(np.int32), kind, begin[rows], end[rows], np.zeros(len(rows))


def _events(trace: Trace, keys: Keys) -> _MarkColumns:
    window, events = trace.tick_window, trace.metadata
    handle = np.where(events.new_handle >= 0, events.new_handle, events.handle)
    key = column_at(keys, handle)
    rows = np.flatnonzero((key >= 0) & window.contains(events.time))
    kind = np.full(len(rows), KINDS.index("other"), np.uint8)
    kind[np.isin(events.kind[rows], np.array(_OPENS, np.uint8))] = KINDS.index("open")
    kind[events.kind[rows] == IoRecord.DESTROY_HANDLE] = KINDS.index("close")
    time = events.time[rows]
    return key[rows], events.process[rows].astype(np.int32), kind, time, time, np.zeros(len(rows))
