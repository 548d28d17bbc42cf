"""The I/O timeline: what each rank did with each file of a layer, in marks that are merged where they are too many."""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...layers.trace import Trace
from ...layers.window import TickWindow
from ...otf2io.records import UNDEFINED_TIME, IoMode, IoRecord
from .limits import Limits
from .packing import Names, packed

Ints = npt.NDArray[np.int64]

KINDS: Final = ("in use", "read", "write", "flush", "open", "close", "other")
"""What a mark stands for: a handle is there, an operation, or a metadata event."""
_OPENS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE)
_SCALE: Final = 2**32 - 1
"""The window's end in the unit of the marks; its start is 0."""
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
        From 0, the window's start, to 2^32 − 1, its end.
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


def timeline(trace: Trace, layers: tuple[str, ...], names: Names, limits: Limits) -> dict[str, Any]:
    """Return the timeline of the layers' selected files as the page holds it.

    Rows are ordered by layer, file and rank. Where there are more than the limit, those with the most bytes are kept,
    then those with the most operations. Marks of one row and kind are merged where the gap between them is below a
    share of the window, which is the smallest that meets the limit on marks.
    """
    order = {name: place for place, name in enumerate(layers)}
    forest, definitions = trace.handles, trace.definitions
    place = np.array([order.get(name, -1) for name in forest.layers] + [-1], np.int64)
    layer = place[forest.layer_row]
    shown = (layer >= 0) & trace.selection.selected
    file = definitions.handles.file.astype(np.int64)
    processes = len(definitions.groups.id)
    key_of_handle = np.where(shown, layer * (len(definitions.files.id) + 1) + file + 1, -1)

    marks = _all_marks(trace, key_of_handle, processes)
    keys, row = np.unique(marks.row, return_inverse=True)
    volume = np.bincount(row, weights=marks.bytes, minlength=len(keys))
    operations = np.bincount(row, weights=marks.count * np.isin(marks.kind, (1, 2, 3)), minlength=len(keys))
    kept = np.sort(np.lexsort((keys, -operations, -volume))[: limits.rows])
    new_row = np.full(len(keys), -1, np.int64)
    new_row[kept] = np.arange(len(kept))
    marks = Marks(new_row[row], marks.kind, marks.start, marks.end, marks.count, marks.bytes).take(new_row[row] >= 0)
    merged, gap = merged_marks(marks, limits.marks)

    files = file_labels(trace)
    of_handle, process = np.divmod(keys[kept], processes + 1)
    which, file_row = np.divmod(of_handle, len(files) + 1)
    rank = np.append(definitions.groups.rank, -1)[process - 1]
    return {
        "kinds": KINDS,
        "rows_total": len(keys),
        "marks_total": len(marks),
        "gap_s": gap / _SCALE * (trace.window[1] - trace.window[0]),
        "rows": {
            "layer": [names.number(layers[number]) for number in which.tolist()],
            "file": [names.number(files[number - 1]) if number > 0 else -1 for number in file_row.tolist()],
            "rank": rank.tolist(),
            "operations": operations[kept].astype(np.int64).tolist(),
            "bytes": volume[kept].tolist(),
        },
        "marks": {
            "row": packed(merged.row, "u2"),
            "kind": packed(merged.kind, "u1"),
            "start": packed(merged.start, "u4"),
            "end": packed(merged.end, "u4"),
            "count": packed(merged.count, "u4"),
            "bytes": packed(merged.bytes, "f4"),
        },
    }


def file_labels(trace: Trace) -> list[str]:
    """Return the name of each file, with its node where files of several nodes have the same name."""
    files, nodes = trace.definitions.files, trace.definitions.system_tree.name
    common = {name for name, count in Counter(files.name).items() if count > 1}
    return [
        f"{name} on {nodes[scope]}" if name in common and scope >= 0 else name
        for name, scope in zip(files.name, files.scope.tolist(), strict=True)
    ]


def merged_marks(marks: Marks, most: int) -> tuple[Marks, int]:
    """Merge marks of one row and kind across small gaps until there are at most `most`, and give the gap used.

    Gaps grow by factors of two from nothing to an eighth of the window. If that is not enough, each row and kind gets
    one mark, and what is still too much is left out from the end.
    """
    order = np.lexsort((marks.start, marks.kind, marks.row))
    ordered = marks.take(order)
    if len(ordered) <= most:
        return ordered, 0
    group = np.cumsum(np.append(0, np.diff(ordered.row * len(KINDS) + ordered.kind) != 0)[: len(ordered)])
    # The end reached so far within each group: groups are kept apart by more than a window.
    reached = np.maximum.accumulate(ordered.end + group * 2 * _SCALE)
    ahead = np.append(np.iinfo(np.int64).max, ordered.start[1:] + group[1:] * 2 * _SCALE - reached[:-1])
    new_group = np.append(True, np.diff(group) != 0)
    gaps = [0] + [_SCALE // share for share in _powers(_FINEST_GAP, _WIDEST_GAP)] + [2 * _SCALE]
    for gap in gaps:
        first = np.flatnonzero(new_group | (ahead > gap))
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


def _all_marks(trace: Trace, key_of_handle: Ints, processes: int) -> Marks:
    """Return every mark; their rows are keys of a layer and file, and in it the process."""
    window = trace.tick_window
    parts = [_operations(trace, key_of_handle), _lifetimes(trace, key_of_handle), _events(trace, key_of_handle)]
    columns = []
    for key, process, kind, begin, end, volume in parts:
        row = key * (processes + 1) + process + 1
        columns.append(
            Marks(row, kind, _scaled(begin, window), _scaled(end, window), np.ones(len(row), np.int64), volume)
        )
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


def _scaled(time: Ints, window: TickWindow) -> Ints:
    share = (np.clip(time, window.start, window.end) - window.start) / (window.end - window.start)
    return np.rint(share * _SCALE).astype(np.int64)
