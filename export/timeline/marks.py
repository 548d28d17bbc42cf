"""Marks in time, for timelines: operations, lifetimes of handles and events, merged where there are too many."""

from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from ...analysis.comparison.layer_periods import LayerPeriod
from ...analysis.results.parts import Regime
from ...layers.attribution.calls.functions import NO_EVENT
from ...layers.attribution.calls.metadata_calls import MetadataCalls
from ...layers.handles.metadata import Lifetimes, MetadataEvents, UsedHandles, handle_lifetimes
from ...layers.handles.scope import ScopedBlock
from ...layers.selection.window import TickWindow
from ...layers.trace import Trace
from ...model.arrays import Array, Columns, Floats, Integers, Ints, Links, Octets, column_at
from ...model.codes import UNDEFINED_TIME, IoMode, IoRecord
from ...model.definitions import Definitions
from ...model.keyed import KeyedSums
from ...model.operations import Operations, view
from ...model.quantities import interval_text, seconds_text

_MarkColumns = tuple[Any, Any, Octets, Ints, Ints, Array]

KINDS: Final = ("in use", "read", "write", "flush", "open", "close", "other")
"""What a mark stands for: a handle is there, an operation, or a metadata event."""
_OPENS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DUPLICATE_HANDLE)
_OF_LIFETIMES: Final = (*_OPENS, IoRecord.DESTROY_HANDLE)
_MOST_MARKS: Final = 1 << 16
_MOST_EXACT: Final = 1 << 20
"""Operations of a trace up to which each mark is kept: more are many times of what any picture shows."""
_FINEST_GAP: Final = 2**12
_WIDEST_GAP: Final = 2**3
_SHARES: Final = [_FINEST_GAP >> halved for halved in range((_FINEST_GAP // _WIDEST_GAP).bit_length())]


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

    row: Integers
    kind: Integers
    start: Ints
    end: Ints
    count: Integers
    bytes: Floats


def held_periods(period: LayerPeriod) -> Iterator[tuple[float, float, str, Regime | None]]:
    """Give from when to when in s a period holds, what it is in words, and its regime where there are several."""
    result = period.result
    if result.period is None:
        return
    if len(result.regimes) > 1:
        for regime in result.regimes:
            yield regime.start, regime.end, f"period {seconds_text(regime.period)}", regime
    else:
        start, end = next(((one.start, one.end) for one in result.regimes), period.signal.window)
        yield start, end, f"period {interval_text(result.period, result.period_interval)}", None


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
    for gap in [0] + [length // share for share in _SHARES] + [length]:
        if int(np.count_nonzero(ahead > gap)) <= most:
            break
    first, end, count, volume = merged_across(ahead, gap, group, marks.end, marks.count, marks.bytes, groups)
    merged = Marks(marks.row[first], marks.kind[first], marks.start[first], end, count, volume)
    return merged.take(np.lexsort((merged.start, merged.kind, merged.row))[:most]), gap


class MarkSums:
    """Marks of some handles within the window, added up block by block.

    Parameters
    ----------
    key_of_handle : int64 (handles,)
        Key from 0 on that each handle's marks get, −1 for a handle that is left out.
    together : int
        Keys of one group follow each other, so many of them; where there are too many rows a key stands for its group.
    exact : bool
        Whether each mark is kept. Else, where there are more than 2^16, those of a key, process and kind that begin in
        the same stretch of time are one; stretches are 1/4096 of the window, or longer by a power of two.
    """

    def __init__(
        self, definitions: Definitions, window: TickWindow, key_of_handle: Ints, together: int, exact: bool
    ) -> None:
        self._definitions, self._window, self._together, self._exact = definitions, window, together, exact
        self._keys = np.append(key_of_handle, -1).astype(np.int32)
        self._parts: list[_MarkColumns] = []
        self._shift, self._grouped = 0, False
        self._marks = KeyedSums.none(4, "count", "bytes", "begin", "end")
        self._made: list[MetadataEvents] = []
        self._used: list[UsedHandles] = []

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        operations, metadata = block.operations, block.metadata
        self._finish(np.union1d(operations.process, metadata.process))
        self._made.append(metadata.take(np.isin(metadata.kind, _OF_LIFETIMES)))
        self._used.append(UsedHandles.of(operations))
        window, keys = self._window, self._keys
        self._take(_operations(operations, window, keys))

    def add_metadata(self, found: MetadataCalls, key_of_file: Ints) -> None:
        """Add opens, closes and other metadata operations, from Enter to Leave where these are recorded.

        `key_of_file`, int64 (n,), is the key of what names a file and has no handle, a deletion; −1 of all else.
        """
        if self._grouped:
            key_of_file = np.where(key_of_file >= 0, key_of_file - key_of_file % self._together, -1)
        key = np.where(key_of_file >= 0, key_of_file, column_at(self._keys, found.handle)).astype(np.int32)
        rows = np.flatnonzero((key >= 0) & (found.kind != NO_EVENT))
        kind = np.full(len(rows), KINDS.index("other"), np.uint8)
        kind[np.isin(found.kind[rows], np.array(_OPENS, np.uint8))] = KINDS.index("open")
        kind[found.kind[rows] == IoRecord.DESTROY_HANDLE] = KINDS.index("close")
        process = self._definitions.locations.group[found.location[rows]].astype(np.int32)
        times = found.begin[rows], found.end[rows]
        self._take(_in_time((key[rows], process, kind, *times, np.zeros(len(rows)))))

    def merge(self, other: "MarkSums") -> None:
        """Add the marks of `other`, of other processes."""
        for one in (self, other):
            one._finish(np.zeros(0, np.int32))
        self._parts += other._parts
        self._shift = max(self._shift, other._shift)
        self._marks = self._marks.merged(other._marks)
        if self._grouped or other._grouped:
            self._put_keys_together()
        self._fit()

    @property
    def gap(self) -> int:
        """How close in ticks marks were put together; 0 where each is there."""
        return (1 << self._shift) - 1

    def marks(self) -> tuple[Marks, Ints, Ints]:
        """Return the marks, whose rows are a key and a process, and these of each row; −1 for no process."""
        self._finish(np.zeros(0, np.int32))
        kind_of, key_of, process_of, _ = self._marks.keys
        merged = self._marks
        parts = [
            (key_of, process_of, kind_of.astype(np.uint8), merged["begin"], merged["end"], merged["bytes"]),
            *self._parts,
        ]
        key, process, kind, start, end, volume = (np.concatenate(columns) for columns in zip(*parts, strict=True))
        count = np.append(merged["count"], np.ones(len(key) - len(merged), np.int64)).astype(np.int32)
        keys = int(key.max(initial=0)) + 1
        pairs, row = np.unique((process + 1).astype(np.int64) * keys + key, return_inverse=True)
        marks = Marks(row, kind, start, end, count, volume.astype(np.float64))
        return marks, pairs % keys, pairs // keys - 1

    def _finish(self, going_on: Integers) -> None:
        """Add lifetimes of handles, which are known when a process is over, of all but those that are going on."""
        if not self._made:
            return
        made, used = MetadataEvents.concatenate(self._made), UsedHandles.concatenate(self._used)
        over, used_over = (~np.isin(one.process, going_on) for one in (made, used))
        self._made, self._used = [made.take(~over)], [used.take(~used_over)]
        lifetimes = handle_lifetimes(made.take(over), used.take(used_over), self._definitions)
        self._take(_in_time(_lifetimes(lifetimes, self._window, self._keys)))

    def _take(self, *parts: _MarkColumns) -> None:
        if self._exact:
            self._parts += parts
            return
        for key, process, kind, start, end, volume in parts:
            values = {"count": np.ones(len(key)), "bytes": np.rint(volume), "begin": start, "end": end}
            self._marks = self._marks.merged(KeyedSums((kind, key, process, start >> self._shift), values))
        self._fit()

    def _fit(self) -> None:
        """Make stretches longer, and at last keys fewer, until there are not too many marks."""
        widest = max(0, ((self._window.end - self._window.start) // _WIDEST_GAP).bit_length())
        while not self._exact:
            kind, key, process, _ = self._marks.keys
            self._marks = KeyedSums((kind, key, process, self._marks["begin"] >> self._shift), self._marks.values)
            if len(self._marks) <= _MOST_MARKS or (self._shift > widest and self._grouped):
                return
            if self._shift <= widest:
                finest = ((self._window.end - self._window.start) // _FINEST_GAP).bit_length() - 1
                self._shift = max(self._shift + 1, finest)
                continue
            self._put_keys_together()

    def _put_keys_together(self) -> None:
        """Let each key stand for its group."""
        self._grouped = True
        self._keys[self._keys >= 0] -= self._keys[self._keys >= 0] % self._together
        kind, key, process, begin = self._marks.keys
        self._marks = KeyedSums((kind, key - key % self._together, process, begin), self._marks.values)


def marks_of_files(trace: Trace, layers: tuple[str, ...], metadata: bool = True) -> tuple[Marks, Ints, Ints, int, int]:
    """Return the marks of some layers on the selected files, as `MarkSums.marks`, with or without metadata operations.

    Then the number of keys a layer has, and how close in ticks marks were put together. A key is the place of a layer
    in `layers` times that number, plus the row of a file + 1, or 0 for no file.
    """
    forest, definitions = trace.handles, trace.definitions
    place = np.array([layers.index(name) if name in layers else -1 for name in forest.layers] + [-1], np.int64)
    layer = place[forest.layer_row]
    shown = (layer >= 0) & trace.scope.selection.selected
    files = len(definitions.files.id) + 1
    key = np.where(shown, layer * files + definitions.handles.file + 1, -1).astype(np.int64)
    exact = trace.resolution is None and len(trace.operations) <= _MOST_EXACT
    sums = trace.stream.summed(lambda: MarkSums(definitions, trace.scope.window, key, files, exact))
    for found in trace.calls.metadata_calls() if metadata else ():
        layer_of, selected = place[found.layer], column_at(trace.scope.selection.file_reason, found.file) < 0
        deletes = (found.handle < 0) & (found.file >= 0) & (layer_of >= 0) & selected
        sums.add_metadata(found, np.where(deletes, layer_of * files + found.file + 1, -1))
    return *sums.marks(), files, sums.gap


def _in_time(columns: _MarkColumns) -> _MarkColumns:
    order = np.argsort(columns[3], kind="stable")
    key, process, kind, start, end, volume = columns
    return key[order], process[order], kind[order], start[order], end[order], volume[order]


def _operations(operations: Operations, window: TickWindow, keys: Links) -> _MarkColumns:
    chosen = window.part(operations)
    chosen = view(chosen, keys[chosen.handle] >= 0)
    kind = np.full(256, KINDS.index("other"), np.uint8)
    kind[[IoMode.READ, IoMode.WRITE, IoMode.FLUSH]] = [KINDS.index(name) for name in ("read", "write", "flush")]
    volume = window.bytes_within(chosen).astype(np.float64)
    begin, end = window.clipped(chosen)
    return keys[chosen.handle], chosen.process, kind[chosen.mode], begin, end, volume


def _lifetimes(lifetimes: Lifetimes, window: TickWindow, keys: Links) -> _MarkColumns:
    """Return the time from a handle's making to its destruction, as far as it lies in the window."""
    begin = np.where(lifetimes.created == UNDEFINED_TIME, window.start, lifetimes.created)
    end = np.where(lifetimes.destroyed == UNDEFINED_TIME, window.end, lifetimes.destroyed)
    key = keys[lifetimes.handle]
    rows = np.flatnonzero((key >= 0) & (begin <= window.end) & (end >= window.start) & (end >= begin))
    begin, end = np.maximum(begin, window.start), np.minimum(end, window.end)
    kind = np.full(len(rows), KINDS.index("in use"), np.uint8)
    return key[rows], lifetimes.process[rows].astype(np.int32), kind, begin[rows], end[rows], np.zeros(len(rows))
