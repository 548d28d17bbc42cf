"""OTF2 archives as a source: partitions of processes, read by either engine and matched into blocks of operations."""

import itertools
import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import Any, Final

import numpy as np

from ..model.arrays import Ints, Mask, RowsOfIds
from ..model.events import IoEvents
from ..model.stream.calls import EventBatch, FollowsCalls, Regions
from ..model.stream.source import Block, Partition, ProcessSource
from .archive import Archive, open_archive, pick_engine
from .definitions.read import read_regions
from .matching.implausible import ImplausibleEvents

_EVENTS_PER_FILE: Final = 1 << 10
"""What opening a location's files costs, in events walked."""

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

    Raises
    ------
    SelectionError
        If there is no such engine, or it cannot read this archive.
    """

    def __init__(self, archive: Archive, engine: str = "auto") -> None:
        self.archive = archive
        self.definitions = archive.definitions
        self.path: Path = archive.anchor.path
        self.engine: str = pick_engine(engine, archive.anchor)

    def __getstate__(self) -> dict[str, Any]:
        # What is read and what it is read into stay where they are.
        return {name: vars(self)[name] for name in ("archive", "definitions", "path", "engine")}

    @property
    def held(self) -> int:
        """Bytes in memory beside the definitions: none, events are read from their files."""
        return 0

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
        self,
        partition: Partition,
        calls: FollowsCalls | None = None,
        done: Callable[[int], None] | None = None,
    ) -> Iterator[Block]:
        """Read a partition, as `Source.read`."""
        # The compiled matching costs the time to load numba.
        from .matching.matcher import Matcher

        matcher = Matcher(self.definitions, self._shared, self._handles, partition.most_operations, calls is not None)
        walk = self._walk(calls is not None)
        implausible = ImplausibleEvents(self.definitions)
        for several, batches in self._runs(walk, partition, done):
            for batch in map(implausible.leave_out, batches):
                paths = None if calls is None else calls.add(batch.events, batch.regions)
                yield from matcher.add(batch.events, several, paths)
            if several:
                yield from matcher.end_process()
        counts, expected = walk.counts, walk.expected
        rows = np.sort(partition.locations)
        block = replace(
            matcher.end(),
            events=sum(counts[rows].tolist()),
            expected=sum(expected[rows].tolist()),
            miscounted=int((expected[rows] != self.definitions.locations.events[rows]).sum()),
            damage=implausible.damage(walk.damage(rows), expected, counts),
        )
        kept = self.archive.kept
        if kept is not None and not partition.number:
            block = replace(
                block,
                expected=block.expected + kept.lost,
                damage=(*block.damage, *kept.losses),
                irregular=kept.irregular,
            )
        yield block

    def calls(self, partition: Partition, done: Callable[[int], None] | None = None) -> Iterator[EventBatch]:
        """Read the I/O events of a partition with Enter and Leave, location by location, as `Source.calls`."""
        if not self.tells_calls:
            return
        implausible = ImplausibleEvents(self.definitions)
        for _, batches in self._runs(self._walk(True), partition, done):
            yield from map(implausible.leave_out, batches)

    def events(self, partition: Partition, done: Callable[[int], None] | None = None) -> Iterator[IoEvents]:
        """Read the I/O events of a partition as they are, location by location."""
        for _, batches in self._runs(self.walk, partition, done):
            yield from (batch.events for batch in batches)

    @cached_property
    def regions(self) -> Regions:
        """The functions and other regions that the archive defines."""
        return read_regions(self.archive.anchor)

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
                walks[regions] = self._new_walk(regions)
            return walks[regions]

    def _new_walk(self, regions: bool) -> Any:
        if self.engine == "direct":
            from .direct.walk import DirectWalk

            return DirectWalk(self.archive.anchor, self.definitions, self.regions.id.tolist() if regions else ())
        from .library.engine import LibraryWalk

        return LibraryWalk(self.archive.anchor, self.definitions, regions)

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


def open_source(path: str | os.PathLike[str], engine: str = "auto") -> Otf2Source:
    """Open the archive at `path`, an anchor or a folder with exactly one.

    Raises TraceError if there is no usable archive, UnsupportedTraceError if no engine here reads it, SelectionError if
    the `engine` does not.
    """
    return Otf2Source(open_archive(path), engine)
