"""OTF2 archives as a source: partitions of processes, read by either engine and matched into blocks of operations."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from ..model.arrays import Codes, Ints, Mask, Rows, RowsOfIds
from ..model.errors import TraceError
from ..model.events import IoEvents
from ..model.plugins import warn_once
from ..model.quantities import counted
from ..model.stream.calls import FILE_IO, EventBatch, FollowsCalls, Regions
from ..model.stream.damage import LocationDamage
from ..model.stream.extents import EXTENT, Extents
from ..model.stream.mapping import map_partitions
from ..model.stream.source import Block, Partition, ProcessSource
from .archive import Archive, open_archive, pick_engine
from .calls.functions import FAILED, FILE, HANDLE, LIBRARIES, NAME, PARENT, CalledFunctions
from .definitions.read import read_regions, read_texts
from .files import reasons
from .matching.implausible import FAR_CALLS, ImplausibleEvents
from .matching.independent import IndependentCalls, shared_pointer_calls

if TYPE_CHECKING:
    from .calls.handles import CallHandles

_EVENTS_PER_FILE: Final = 1 << 10
"""What opening a location's files costs, in events walked."""

_LOOKED_AT: Final = 20_000_000
"""Events of an archive up to which calls with a shared file pointer are looked for among Enter and Leave. That takes as
long again as passing over these, some 15 ns each; in larger archives the recorder is believed."""
_MOST_PROMISED: Final = 2**40
_MAKING: Final = threading.Lock()
"""Held while a walk is made: it counts what is read, so all threads need the same, and `cached_property` has no lock
from Python 3.12 on."""


class Otf2Source(ProcessSource):
    """An archive as a `iostrata.model.stream.source.Source`.

    Parameters
    ----------
    archive : Archive
    engine : {"auto", "direct", "library"}
    calls : CallHandles, optional
        Handles of calls, which are among the definitions, where calls are to be operations; see `with_calls`.

    Raises
    ------
    SelectionError
        If there is no such engine, or it cannot read this archive.
    """

    def __init__(self, archive: Archive, engine: str = "auto", calls: "CallHandles | None" = None) -> None:
        self.archive = archive
        self.call_handles = calls
        self.definitions = archive.definitions
        self.path: Path = archive.anchor.path
        self.engine: str = pick_engine(engine, archive.anchor)

    def __getstate__(self) -> dict[str, Any]:
        # What is read and what it is read into stay where they are.
        return {name: vars(self)[name] for name in ("archive", "call_handles", "definitions", "path", "engine")}

    @property
    def held(self) -> int:
        """Bytes in memory beside the definitions: which handles calls opened; events are read from their files."""
        return 0 if self.call_handles is None else self.call_handles.held

    @property
    def chunk(self) -> int:
        """Size of a chunk of an event file."""
        return self.archive.anchor.event_chunk

    @property
    def work(self) -> Ints:
        """Events that each location promises, and what opening its files takes, int64 (locations,)."""
        promised = np.minimum(self.definitions.locations.events, np.uint64(_MOST_PROMISED))
        return promised.astype(np.int64) + _EVENTS_PER_FILE

    def worker_count(self, workers: int | None) -> int:
        """Return how many threads read; only one where not asked for more if callbacks hold the interpreter's lock."""
        return super().worker_count(1 if workers is None and self.engine == "library" else workers)

    def read(
        self, partition: Partition, calls: FollowsCalls | None = None, done: Callable[[int], None] | None = None
    ) -> Iterator[Block]:
        """Read a partition, as `Source.read`."""
        # The compiled matching costs the time to load numba.
        from .matching.matcher import Matcher

        matcher = Matcher(self.definitions, self._shared, self._handles, partition.most_operations, calls is not None)
        walk = self._walk(calls is not None)
        implausible = ImplausibleEvents(self.definitions)
        converted, settled = self._with_calls(calls is not None)
        for several, batches in self._runs(walk, partition, done):
            for batch in map(implausible.leave_out, map(converted, batches)):
                paths = None if calls is None else calls.add(batch.events, batch.regions)
                yield from map(settled, matcher.add(batch.events, several, paths))
            if several:
                yield from map(settled, matcher.end_process())
        block = self.accounted(settled(matcher.end()), walk, np.sort(partition.locations), implausible)
        kept = self.archive.kept
        if kept is not None and not partition.number:
            expected, damage = block.expected + kept.lost, (*block.damage, *kept.losses)
            block = replace(block, expected=expected, damage=damage, irregular=kept.irregular)
        yield block

    def accounted(self, block: Block, walk: Any, rows: Rows, implausible: ImplausibleEvents) -> Block:
        """Put into the last block of some locations, in ascending `rows`, what of their events is lost or damaged."""
        self._require_same_events(walk, rows)
        located, counts, expected = self.definitions.locations, walk.counts, walk.expected
        return replace(
            block,
            events=sum(counts[rows].tolist()),
            expected=sum(expected[rows].tolist()),
            filled=int(np.count_nonzero(expected[rows])),
            extents=self._extents(walk, rows),
            damage=implausible.damage(walk.damage(rows), expected, counts),
            miscounted=tuple(
                LocationDamage(int(located.id[row]), row, promised, events, reasons.other_count(events, promised))
                for row, promised, events in zip(
                    rows.tolist(), located.events[rows].tolist(), expected[rows].tolist(), strict=True
                )
                if promised != events
            ),
        )

    @cached_property
    def _events_read(self) -> Ints:
        """Number of events that were read of each location, −1 before, int64 (locations,)."""
        return np.full(len(self.definitions.locations.id), -1, np.int64)

    def _require_same_events(self, walk: Any, rows: Rows) -> None:
        """Remember how many events were read of the locations in `rows`; TraceError if there were others before."""
        with _MAKING:
            before = self._events_read
        read = walk.counts[rows].astype(np.int64)
        if ((before[rows] != read) & (before[rows] >= 0)).any():
            raise TraceError(f"{self.path} has changed since it was opened, or cannot be read each time; open it again")
        before[rows] = read

    def _extents(self, walk: Any, rows: Rows) -> tuple[Extents, ...]:
        """Return when the locations in `rows` begin and end, those without events left out."""
        known = rows[(walk.counts[rows] > 0) & (walk.extents["end"][rows] >= walk.extents["begin"][rows])]
        identity, process = self.definitions.locations.id, self.processes[2]
        has_first = np.isin(process[known], process[identity == 0])
        columns = known, identity[known], process[known], walk.counts[known].astype(np.int64)
        clock, extents = self.definitions.clock, walk.extents[known].astype(EXTENT)
        if self.definitions.recording.rows != "operations":
            # The last interval of time may go on when the run has ended.
            np.minimum(extents["end"], clock.length, out=extents["end"])
        return (Extents(clock, *columns, has_first, extents),)

    def calls(self, partition: Partition, done: Callable[[int], None] | None = None) -> Iterator[EventBatch]:
        """Read the I/O events of a partition with Enter and Leave, location by location, as `Source.calls`."""
        if not self.tells_calls:
            return
        implausible = ImplausibleEvents(self.definitions)
        converted, _ = self._with_calls(True)
        walk = self._walk(True)
        for _, batches in self._runs(walk, partition, done):
            yield from map(implausible.leave_out, map(converted, batches))
        self._require_same_events(walk, np.array(partition.locations, np.intp))
        if moved := implausible.crossings:
            warn_once(f"{self.path}: {counted(moved, 'Enter or Leave', 'Enter and Leave')} {FAR_CALLS}")

    def _with_calls(self, regions_wanted: bool) -> tuple[Callable[[EventBatch], EventBatch], Callable[[Block], Block]]:
        """Return what corrects the batches of a partition and puts the events of calls into them, and what completes
        its blocks.
        """
        corrected = IndependentCalls(self._independent).corrected
        if self.call_handles is None or self.archive.functions is None:
            return corrected, (lambda block: block)
        from .calls.reading import CallReader

        reader = CallReader(self.archive.functions, self.call_handles.known)
        return (lambda batch: reader.converted(corrected(batch), regions_wanted)), self.call_handles.settled

    def with_calls(self, workers: int | None = None) -> "Otf2Source":
        """Return the source with the calls of libraries that left no I/O records as operations; itself without such.

        Their handles are found by reading the events once.

        Raises TraceError if the archive can no longer be read.
        """
        functions = self.archive.functions
        if functions is None:
            return self
        from .calls.handles import handles_of_calls, joined_opens
        from .calls.kernel import CreatedHandles, OpenCalls
        from .calls.reading import CallReader, nothing_known

        # Without those that opens do not have.
        telling = np.isin(functions.code, (HANDLE, PARENT, FILE, NAME, FAILED))
        needed = replace(functions, parameter=functions.parameter[telling], code=functions.code[telling])
        walk = self._new_walk(False, needed, around=functions.region[functions.opens].tolist())
        number = self.worker_count(workers)

        def collected(partition: Partition, _done: Callable[[int], None]) -> tuple[OpenCalls, CreatedHandles]:
            reader = CallReader(needed, nothing_known(), collecting=True)
            for _, batches in self._runs(walk, partition, None):
                for batch in batches:
                    reader.converted(batch)
            return reader.collected()

        partitions = self.partitions(None, number) if functions.opens.any() else ()
        parts = map_partitions(collected, partitions, 0, number, None)
        opens, created = joined_opens(parts)
        definitions, handles = handles_of_calls(
            self.definitions, functions.libraries, opens, created, self.processes[2], read_texts(self.archive.anchor)
        )
        names = tuple(LIBRARIES[one].identification for one in functions.libraries)
        recording = replace(definitions.recording, called=names)
        archive = replace(self.archive, definitions=replace(definitions, recording=recording))
        return Otf2Source(archive, self.engine, handles)

    def events(self, partition: Partition, done: Callable[[int], None] | None = None) -> Iterator[IoEvents]:
        """Read the I/O events of a partition as they are, location by location."""
        for _, batches in self._runs(self.walk, partition, done):
            yield from (batch.events for batch in batches)

    @cached_property
    def regions(self) -> Regions:
        """The functions and other regions that the archive defines."""
        regions, functions = read_regions(self.archive.anchor), self.archive.functions
        if self.call_handles is None or functions is None:
            return regions
        rows, role, file = RowsOfIds(regions.id).rows(functions.region), regions.role.copy(), list(regions.file)
        role[rows] = FILE_IO
        for row, library in zip(rows.tolist(), functions.library.tolist(), strict=True):
            file[row] = LIBRARIES[library].identification
        return replace(regions, role=role, file=tuple(file))

    @cached_property
    def _independent(self) -> Codes:
        """Regions whose operations are told to be collective and are not; none of an archive that is too large."""
        has_mpi = any(one.identification == "MPI-IO" for one in self.definitions.paradigms)
        looked_at = has_mpi and int(self.definitions.locations.events.sum()) <= _LOOKED_AT
        return shared_pointer_calls(self.regions) if looked_at else np.empty(0, np.uint32)

    @cached_property
    def tells_calls(self) -> bool:
        """Whether the archive defines functions of I/O."""
        return bool(self.regions.does_io.any())

    @property
    def walk(self) -> Any:
        """What reads the files: a `DirectWalk` or a `LibraryWalk`."""
        return self._walk(False)

    def _walk(self, regions: bool) -> Any:
        with _MAKING:
            walks: dict[bool, Any] = vars(self).setdefault("_walks", {})
            if regions not in walks:
                walks[regions] = self._new_walk(regions, None if self.call_handles is None else self.archive.functions)
            return walks[regions]

    def _new_walk(self, regions: bool, functions: CalledFunctions | None, around: Sequence[int] = ()) -> Any:
        independent = () if len(around) else self._independent.tolist()
        if self.engine == "direct":
            from .direct.walk import DirectWalk

            called = () if functions is None else functions.region.tolist()
            parameters = () if functions is None else functions.parameter.tolist()
            wanted = self.regions.id.tolist() if regions else [*called, *independent]
            return DirectWalk(self.archive.anchor, self.definitions, wanted, parameters, around)
        from .library.engine import LibraryWalk

        every = regions or functions is not None
        return LibraryWalk(self.archive.anchor, self.definitions, every or frozenset(independent))

    @cached_property
    def _handles(self) -> RowsOfIds:
        return RowsOfIds(self.definitions.handles.id)

    @cached_property
    def _shared(self) -> Mask:
        """Whether a location's process has other locations with events, bool (locations,)."""
        process = self.processes[2]
        active = np.bincount(process[self.definitions.locations.events > 0], minlength=len(process))
        return np.asarray(active[process] > 1, np.bool_)

    def _runs(
        self, walk: Any, partition: Partition, done: Callable[[int], None] | None
    ) -> Iterator[tuple[bool, Iterator[EventBatch]]]:
        """Walk runs of neighbouring locations: many processes of one location at once, or one process of several."""
        rows = np.array(partition.locations, np.intp)
        walk.start_again(rows)
        alone = np.where(self._shared[rows], self.processes[2][rows], -1)
        for part in np.split(rows, np.flatnonzero(np.diff(alone)) + 1):
            pieces = np.split(part, np.flatnonzero(np.diff(part) != 1) + 1)
            batches = (walk.batches(int(piece[0]), int(piece[-1]) + 1, done=done) for piece in pieces)
            yield bool(self._shared[part[0]]), itertools.chain.from_iterable(batches)


def open_source(path: str | os.PathLike[str], engine: str = "auto", calls: str = "off") -> Otf2Source:
    """Open the archive at `path`, an anchor or a folder with exactly one; with `calls` "auto" see `with_calls`,
    with "all" calls of libraries with I/O records become operations, too, where a call has none.

    Raises TraceError if there is no usable archive, UnsupportedTraceError if no engine here reads it, SelectionError if
    the `engine` does not.
    """
    source = Otf2Source(open_archive(path, calls == "all"), engine)
    return source if calls == "off" else source.with_calls()
