"""Metrics of each node in segments of time, as Betke & Kunkel look at jobs (ISC'20, §3), out of a trace.

Storage servers count what system calls ask of them. Of a trace that is what POSIX and ISO C do, and the file system of
DAOS, which needs no system call.
"""

from typing import Any, Final

import numpy as np

from ...layers.handles.metadata import MetadataEvents, selected_metadata
from ...layers.handles.scope import ScopedBlock
from ...layers.selection.window import completed_bytes
from ...layers.statistics.grouping import grouping
from ...layers.trace import Trace
from ...model.arrays import Floats, Ints, Mask
from ...model.codes import METADATA_NAMES, UNDEFINED_TIME, IoMode, IoRecord
from ...model.operations import view
from ...model.ranges import RangeUnion
from ...model.recording import Recording
from ...model.sums import Sums, by_key, nested
from ...model.text import printable
from .rows import METRICS, SegmentRow

SYSTEM_LAYERS: Final = ("POSIX", "ISOC", "DFS")


def told_metrics(recording: Recording) -> tuple[str, ...]:
    """Return the metrics that a recorder tells; the others are missing, not none."""
    names = [name for name in METRICS if not name.startswith("md_") or not recording.reason("metadata")]
    return tuple(name for name in names if not name.endswith("_calls") or not recording.reason("operations"))


_KINDS: Final[dict[str, tuple[int, ...]]] = {
    "md_read": (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE),
    "md_file_delete": (IoRecord.DELETE_FILE,),
}
_KINDS["md_other"] = tuple(METADATA_NAMES.keys() - {one for kinds in _KINDS.values() for one in kinds})
_MODES: Final = {"read": IoMode.READ, "write": IoMode.WRITE}
_MOST_VALUES: Final = 2**21
"""Over all nodes, file systems and metrics."""


class SegmentSums(Sums):
    """Adds up, block by block, what each node did in each segment, metadata events, and the time in which anything ran.

    Parameters
    ----------
    trace : Trace
        Its window and its selection of files count.
    seconds : float
        Length of a segment, doubled until there are not too many of them.

    Attributes
    ----------
    metadata : dict of str to int
        Metadata events by the identification of their paradigm.
    sums : dict of (int, str) to float64 (segments,)
        By group, a node and file system, and metric.
    busy : RangeUnion
        When any operation ran, in ticks; nothing where single operations are not known.
    """

    trace: Trace
    seconds: float
    metadata: dict[str, int] = by_key()
    sums: dict[tuple[int, str], Floats] = by_key()
    busy: RangeUnion = nested(lambda _sums: RangeUnion(exact=False))

    def __post_init__(self) -> None:
        super().__post_init__()
        trace, seconds = self.trace, self.seconds
        definitions, window = trace.definitions, trace.scope.window
        nodes, systems = grouping(definitions, "node"), grouping(definitions, "filesystem")
        self._nodes, self._node_of = nodes.keys, nodes.places
        self._systems, self._system_of = systems.keys, systems.places
        groups = len(self._nodes) * len(self._systems)
        length = window.end - window.start
        width = max(1.0, seconds * window.ticks_per_second)
        while length / width * groups * len(METRICS) > _MOST_VALUES and width < length:
            width *= 2
        self._width = width
        self._count = max(1, int(np.ceil(length / width)))
        names = [paradigm.identification for paradigm in definitions.paradigms]
        self.metadata = dict.fromkeys(names, 0)
        self._told = told_metrics(definitions.recording)
        # The last is of none.
        self._of_system = np.array([*(name in SYSTEM_LAYERS for name in names), False])

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        operations, metadata = block.operations, block.metadata
        definitions, window, selection = self.trace.definitions, self.trace.scope.window, self.trace.scope.selection
        shown = view(operations, (selection.reason_of(operations.handle) < 0) & window.overlaps(operations))
        if not definitions.recording.reason("operations"):
            ended = view(shown, shown.end != UNDEFINED_TIME)
            self.busy.add(np.zeros(len(ended), np.int64), *window.clipped(ended))
        shown = view(shown, np.append(self._of_system[definitions.handles.paradigm], False)[shown.handle])
        group = self._group(definitions.handles.file[shown.handle], shown.process, shown.handle)
        begin, end = window.clipped(shown)
        # What begins before the window was called before it.
        inside = shown.begin >= window.start
        moved = completed_bytes(shown).astype(np.float64)
        length = (window.ends(shown) - shown.begin).astype(np.float64)
        for name, mode in _MODES.items():
            chosen = shown.mode == mode
            if not chosen.any():
                continue
            if f"{name}_calls" in self._told:
                self._count_events(f"{name}_calls", group[chosen & inside], begin[chosen & inside])
            moving = _rows(chosen & (moved > 0))
            self._spread(f"{name}_bytes", group[moving], begin[moving], end[moving], length[moving], moved[moving])
        self._add_metadata(metadata)

    def _add_metadata(self, metadata: MetadataEvents) -> None:
        if not len(metadata):
            return
        definitions, window = self.trace.definitions, self.trace.scope.window
        chosen = selected_metadata(metadata, self.trace.scope.selection, window)
        paradigm = metadata.paradigm[chosen & (metadata.paradigm >= 0)]
        for row, count in enumerate(np.bincount(paradigm, minlength=len(definitions.paradigms)).tolist()):
            self.metadata[definitions.paradigms[row].identification] += count
        events = metadata.take(np.flatnonzero(chosen & self._of_system[metadata.paradigm]))
        group = self._group(events.file, events.process, events.handle)
        for name, kinds in _KINDS.items():
            wanted = np.isin(events.kind, np.array(kinds, np.uint8)) & ~events.creates_file
            self._count_events(name, group[wanted], events.time[wanted])
        self._count_events("md_file_create", group[events.creates_file], events.time[events.creates_file])

    @property
    def segment_s(self) -> float:
        """Length of a segment in s, which may be longer than asked for."""
        return self._width / self.trace.scope.window.ticks_per_second

    @property
    def busy_s(self) -> float:
        """Time in s in which at least one operation of any layer was under way."""
        return self.busy.length / self.trace.scope.window.ticks_per_second

    def rows(self, job: str) -> tuple[SegmentRow, ...]:
        """Return a row for each metric of each node and file system that did anything."""
        window = self.trace.scope.window
        second = window.ticks_per_second
        lengths = np.full(self._count, self._width / second)
        lengths[-1] = max(1, window.end - window.start - self._width * (self._count - 1)) / second
        rows = []
        for group in sorted({group for group, _ in self.sums}):
            node, system = divmod(group, len(self._systems))
            for metric in self._told:
                # A metric of a node that did something else is none there, not unknown.
                values = self.sums.get((group, metric), np.zeros(self._count)) / lengths
                rows.append(
                    SegmentRow(
                        job=job,
                        node=printable(self._nodes[node] or ""),
                        filesystem=printable(self._systems[system] or ""),
                        metric=metric,
                        start_s=window.start / second,
                        segment_s=self.segment_s,
                        values=tuple(values.tolist()),
                    )
                )
        return tuple(rows)

    def _group(self, file: Any, process: Any, handle: Any) -> Ints:
        found: Ints = self._node_of(file, process, handle) * len(self._systems) + self._system_of(file, process, handle)
        return found

    def _of(self, key: tuple[int, str]) -> Floats:
        if key not in self.sums:
            self.sums[key] = np.zeros(self._count)
        return self.sums[key]

    def _segment(self, time: Ints) -> Ints:
        places = ((time - self.trace.scope.window.start) / self._width).astype(np.int64)
        return np.clip(places, 0, self._count - 1)

    def _count_events(self, metric: str, group: Ints, time: Ints) -> None:
        groups, row = _numbered(group)
        counts = np.bincount(row * self._count + self._segment(time), minlength=len(groups) * self._count)
        for one, count in zip(groups, counts.reshape(len(groups), self._count), strict=True):
            self._of((one, metric))[:] += count

    def _spread(self, metric: str, group: Ints, begin: Ints, end: Ints, length: Floats, volume: Floats) -> None:
        """Add volumes, each spread evenly over its `length` of which [begin, end] lies in the window."""
        if not len(group):
            return
        from .kernels import spread_over_segments

        groups, row = _numbered(group)
        found = np.zeros((len(groups), self._count))
        start, width = self.trace.scope.window.start, self._width
        spread_over_segments(row, begin, end, length, volume, start, width, found)
        for one, sums in zip(groups, found, strict=True):
            self._of((one, metric))[:] += sums


def _rows(chosen: Mask) -> Any:
    """Return where a mask is true; a slice, which copies nothing, where it is everywhere."""
    return slice(None) if chosen.all() else np.flatnonzero(chosen)


def _numbered(group: Ints) -> tuple[list[int], Ints]:
    """Return the groups that there are, and the place of each of `group` among them; they are small numbers."""
    there = np.bincount(group) > 0
    return np.flatnonzero(there).tolist(), group if there.all() else (np.cumsum(there) - 1).take(group)
