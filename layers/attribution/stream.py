"""All I/O of a trace, block by block: the blocks are kept, or read each time they are asked for."""

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any, Final, NamedTuple, Protocol, TypeVar, cast

import numpy as np

from ...model.arrays import Frozen, Ints, Links, Rows
from ...model.errors import SelectionError
from ...model.events import IoEvents
from ...model.operations import Operations, view
from ...model.stream.calls import FollowsCalls
from ...model.stream.mapping import Progress, cluster_of, map_partitions, reduce_partitions
from ...model.stream.source import Block, Partition, Source
from ..handles.metadata import MetadataEvents
from ..handles.scope import Scope
from .attribution import TraceBlock

AT_ONCE: Final = 2**19
"""Operations that are kept of which whole processes are added up together: what that takes is small beside them."""
MOST_PARTS: Final = 16
"""Parts that they are divided into: sums grow with what they hold, and so does merging two of them."""
PIECE: Final = 2**17
"""Operations that are added up together where those of a process need not be: their columns fit into a cache."""
MOST_PIECES: Final = 64
"""Pieces that all are divided into, for the same reason as parts."""


class KeptEvents(NamedTuple):
    """All I/O of a trace, of all files and times."""

    operations: Operations
    other_events: IoEvents
    """I/O events that are none of an operation."""


class BlockSums(Protocol):
    """What blocks are added to."""

    def add(self, block: TraceBlock) -> None:
        """Add operations and metadata events; the blocks of a process come one after the other."""

    def merge(self, other: Any) -> None:
        """Add the sums of another one of its kind, over other processes."""


class WideSums(Protocol):
    """Sums over operations in any order that take much memory."""

    def add_operations(self, operations: Operations) -> None:
        """Add operations."""

    def empty(self) -> Any:
        """Return the same sums over no operations."""

    def merge(self, other: Any) -> None:
        """Add the sums of another one of its kind."""


Result = TypeVar("Result")
BlockSumsT = TypeVar("BlockSumsT", bound=BlockSums)
FollowsCallsT = TypeVar("FollowsCallsT", bound=FollowsCalls)


class Reading(Frozen):
    """How a trace is read, to do so again.

    Attributes
    ----------
    source : Source
    memory : int or None
        Bytes for the blocks that are in work on `workers` threads; None for no bound.
    client : distributed.Client, str or None
        The cluster that reads instead of threads here.
    most_calls : int or None
        Collective calls that may be kept until all ranks are read; None for no bound.
    """

    source: Source
    memory: int | None
    workers: int
    client: object = None
    most_calls: int | None = None

    def followed_blocks(
        self, make: Callable[[], FollowsCallsT] | None = None
    ) -> Iterator[tuple[Block, FollowsCallsT | None]]:
        """Read the trace block by block, in one thread, each with what followed the calls of its partition."""
        for partition in self.source.partitions(self.memory, 1):
            sums = None if make is None else make()
            for block in self.source.read(partition, sums):
                yield block, sums

    def reduced(
        self,
        read: Callable[[Partition, Callable[[int], None]], Result],
        merge: Callable[[Result, Result], Result],
        nothing: Callable[[], Result],
    ) -> Result:
        """Return what `merge` makes of what is `read` of each partition; `nothing` where there are none."""
        with cluster_of(self.client, self.source.path) as cluster:
            partitions = self.source.partitions(self.memory, self.workers)
            if not partitions:
                return nothing()
            return reduce_partitions(read, merge, partitions, self.workers, cluster)

    def summed(
        self,
        scope: Scope,
        make: Callable[[], BlockSumsT],
        wide: WideSums | None = None,
        progress: Progress | None = None,
    ) -> BlockSumsT:
        """Read the trace and return sums over its blocks.

        Parameters
        ----------
        make : callable
            Gives empty sums; each partition has its own, which are then merged.
        wide : WideSums, optional
            To what the operations of each block are added too: one for all here, one a task on a cluster.
        """
        if self.client is not None:
            with cluster_of(self.client, self.source.path) as cluster:
                return self._summed_there(scope, make, wide, cluster, progress)
        lock = threading.Lock()

        def read(partition: Partition, done: Callable[[int], None]) -> BlockSumsT:
            sums = make()
            for block in self.source.read(partition, done=done):
                sums.add(TraceBlock.of(scope, block))
                if wide is not None:
                    with lock:
                        wide.add_operations(block.operations)
            return sums

        total = sum(self.source.definitions.locations.events.tolist())
        partitions = self.source.partitions(self.memory, self.workers)
        whole = make()
        for part in map_partitions(read, partitions, total, self.workers, progress):
            whole.merge(part)
        return whole

    def _summed_there(
        self,
        scope: Scope,
        make: Callable[[], BlockSumsT],
        wide: WideSums | None,
        cluster: Any,
        progress: Progress | None,
    ) -> BlockSumsT:
        """Do the same on a cluster, whose threads have as much memory as those here would have."""
        source = self.source

        def read(partitions: Sequence[Partition]) -> tuple[Any, WideSums | None]:
            whole, wide_there = make(), None if wide is None else wide.empty()
            for partition in partitions:
                sums = make()
                for block in source.read(partition):
                    sums.add(TraceBlock.of(scope, block))
                    if wide_there is not None:
                        wide_there.add_operations(block.operations)
                whole.merge(sums)
            return whole, wide_there

        partitions = source.partitions(self.memory and self.memory // self.workers * cluster.workers, cluster.workers)
        sums, found = cluster.reduce(read, _merged_pairs, partitions, progress, (source.definitions,))
        if wide is not None:
            wide.merge(found)
        return cast(BlockSumsT, sums)


def _merged_pairs(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return two kinds of sums, each merged; the second may not be there."""
    for mine, theirs in zip(one, other, strict=True):
        if mine is not None:
            mine.merge(theirs)
    return one


class Stream(Frozen):
    """All I/O of a trace as blocks, of all files and times, and what of it counts.

    Attributes
    ----------
    path : Path
        The archive's anchor, or the file of another recorder.
    engine : str
        What read the events: ``direct`` or ``library``, or the recorder.
    scope : Scope
        What counts.
    known_reading : Reading or None
        How the blocks are read; None where they were made by hand.
    in_memory : KeptEvents or None
        The blocks where they are kept, as one.
    """

    path: Path
    engine: str
    scope: Scope
    known_reading: Reading | None = None
    in_memory: KeptEvents | None = None

    @property
    def kept(self) -> KeptEvents:
        """All operations and other events; SelectionError where they are not kept."""
        if self.in_memory is None:
            raise SelectionError(f"{self.path}: operations are not kept where a trace is read in bounded memory")
        return self.in_memory

    @property
    def reading(self) -> Reading:
        """How the trace is read once more; SelectionError where it was made by hand."""
        if self.known_reading is None:
            raise SelectionError(f"{self.path}: it is not known where this trace was read from")
        return self.known_reading

    @cached_property
    def whole(self) -> TraceBlock:
        """All blocks as one; raises as `kept`."""
        return TraceBlock(self.scope, *self.kept)

    def __iter__(self) -> Iterator[TraceBlock]:
        """Give the blocks: of whole processes where they are kept, else as they are read."""
        if self.in_memory is None:
            yield from (TraceBlock.of(self.scope, block) for block, _ in self.reading.followed_blocks())
        elif not self._part.any():
            yield self.whole
        else:
            yield from (self._block_of(*rows) for rows in zip(*self._rows_of_parts, strict=True))

    def summed(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        """Return sums over the blocks.

        Parameters
        ----------
        make : callable
            Gives empty sums, with ``add(block)`` and ``merge(other)`` for sums over other processes.
        """
        if self.in_memory is None:
            return self.reading.summed(self.scope, make)
        parts = list(zip(*self._rows_of_parts, strict=True)) if self._part.any() else []
        workers = 1 if self.known_reading is None else min(self.known_reading.workers, len(parts))
        if workers < 2:
            sums = make()
            for block in self:
                sums.add(block)
            return sums

        share = -(-len(parts) // workers)
        return self._added_up(make, [parts[low : low + share] for low in range(0, len(parts), share)])

    def summed_in_order(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        """Return the same of sums that look into blocks for nothing but operations up to theirs.

        Those that are kept are walked through in the order of their begins, in pieces, by each thread for some of the
        processes, as memory is read faster from begin to end.
        """
        if self.in_memory is None or len(self.kept.operations) <= AT_ONCE:
            return self.summed(make)
        processes = len(self.scope.definitions.groups.id)
        workers = 1 if self.known_reading is None else max(1, min(self.known_reading.workers, processes))
        # What no process did is with the first one.
        edges = [-1, *(processes * number // workers for number in range(1, workers)), processes]
        events = self.whole.metadata
        return self._added_up(make, [self._pieces(events, *edge) for edge in pairwise(edges)])

    def _pieces(self, events: MetadataEvents, first: int, behind: int) -> Iterator[tuple[Rows, Rows]]:
        """Give the rows of some processes' operations in pieces, and of the other events up to the next piece."""
        operations = self.kept.operations
        size = max(PIECE, -(-len(operations) // MOST_PIECES))
        starts = np.arange(0, len(operations), size)
        own = np.flatnonzero((events.process >= first) & (events.process < behind))
        piece = np.searchsorted(operations.begin[starts[1:]], events.time[own], side="right")
        order = own[np.argsort(piece, kind="stable")]
        until = np.cumsum(np.bincount(piece, minlength=len(starts)))
        for start, event_rows in zip(starts.tolist(), np.split(order, until[:-1]), strict=True):
            process = operations.process[start : start + size]
            yield start + np.flatnonzero((process >= first) & (process < behind)), event_rows

    def _added_up(self, make: Callable[[], BlockSumsT], shares: Sequence[Iterable[tuple[Rows, Rows]]]) -> BlockSumsT:
        """Return sums over blocks, of which each thread adds up a share."""

        def of_some(some: Iterable[tuple[Rows, Rows]]) -> BlockSumsT:
            sums = make()
            for rows in some:
                sums.add(self._block_of(*rows))
            return sums

        if len(shares) == 1:
            return of_some(shares[0])
        with ThreadPoolExecutor(len(shares)) as pool:
            whole, *others = pool.map(of_some, shares)
        for other in others:
            whole.merge(other)
        return whole

    def _block_of(self, rows: Rows, event_rows: Rows) -> TraceBlock:
        operations, events = self.kept
        return TraceBlock(self.scope, view(operations, rows), events.take(event_rows), whole=self.whole)

    @cached_property
    def _part(self) -> Ints:
        """Number of the part that each process is in, int64 (groups + 1,), the first where it is not known (−1).

        A part has at most `AT_ONCE` operations, or a `MOST_PARTS`-th of all, unless a process has more.
        """
        groups = len(self.scope.definitions.groups.id)
        if len(self.kept.operations) <= AT_ONCE:
            return np.zeros(groups + 1, np.int64)
        count = np.bincount(self.kept.operations.process + 1, minlength=groups + 1)
        size = max(AT_ONCE, -(-len(self.kept.operations) // MOST_PARTS))
        # What no process did may be nothing, and is no part of its own.
        full = np.maximum(np.cumsum(count) - 1, 0) // size
        return np.append(0, np.cumsum(full[1:] > full[:-1]))

    @cached_property
    def _rows_of_parts(self) -> tuple[list[Rows], list[Rows]]:
        """Rows of the operations of each part, and of its other events."""
        return self._split(self.kept.operations.process), self._split(self.whole.metadata.process)

    def _split(self, process: Links) -> list[Rows]:
        """Return the rows of each part, of columns with a process in each row."""
        # Numbers of 16 bits are sorted in one go.
        part = self._part.astype(np.int16)[process + 1]
        sizes = np.bincount(part, minlength=int(self._part.max()) + 1)
        return np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])
