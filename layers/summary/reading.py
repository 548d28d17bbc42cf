"""What a trace is read into in bounded memory, and how it is read once more."""

import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar, cast

from ...model.operations import Operations
from ...model.stream.calls import FollowsCalls
from ...model.stream.mapping import Progress, cluster_of, map_partitions, reduce_partitions
from ...model.stream.source import Block, Partition, Source, Tally
from ..handles.metadata import MetadataEvents, metadata_events


class BlockSums(Protocol):
    """What blocks are added to."""

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:
        """Add operations and metadata events of some processes."""

    def merge(self, other: Any) -> None:
        """Add the sums of another one of its kind, over other processes."""


Result = TypeVar("Result")
BlockSumsT = TypeVar("BlockSumsT", bound=BlockSums)
FollowsCallsT = TypeVar("FollowsCallsT", bound=FollowsCalls)


@dataclass(frozen=True, eq=False)
class Reading:
    """How a trace is read in bounded memory, to do so again.

    Attributes
    ----------
    source : Source
    covered : (int, int)
        Ticks between which most of the operations lie.
    memory : int or None
        Bytes for the blocks that are in work on `workers` threads; None for no bound.
    client : distributed.Client, str or None
        The cluster that reads instead of threads here.
    """

    source: Source
    covered: tuple[int, int]
    memory: int | None
    workers: int
    client: object = None

    def blocks(self) -> Iterator[Block]:
        """Read the trace block by block, in one thread."""
        return (block for block, _ in self.followed_blocks(None))

    def followed_blocks(self, make: Callable[[], FollowsCallsT] | None) -> Iterator[tuple[Block, FollowsCallsT | None]]:
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
            return reduce_partitions(read, merge, partitions, 0, self.workers, cluster=cluster)

    def summed(
        self,
        make: Callable[[], BlockSumsT],
        also: "BinnedSums | None" = None,
        progress: Progress | None = None,
    ) -> BlockSumsT:
        """Read the trace and return sums over its blocks.

        Parameters
        ----------
        make : callable
            Gives empty sums; each partition has its own, which are then merged.
        also : BinnedSums, optional
            To what each block is added too: one for all here, as it takes much memory, one a partition on a cluster.
        """
        if self.client is not None:
            with cluster_of(self.client, self.source.path) as cluster:
                return self._summed_there(make, also, cluster, progress)
        lock = threading.Lock()

        def read(partition: Partition, done: Callable[[int], None]) -> BlockSumsT:
            sums = make()
            for block in self.source.read(partition, done=done):
                sums.add(block.operations, metadata_events(block.metadata, self.source.definitions))
                if also is not None:
                    with lock:
                        also.add(block)
            return sums

        total = sum(self.source.definitions.locations.events.tolist())
        partitions = self.source.partitions(self.memory, self.workers)
        whole = make()
        for part in map_partitions(read, partitions, total, self.workers, progress):
            whole.merge(part)
        return whole

    def _summed_there(
        self,
        make: Callable[[], BlockSumsT],
        also: "BinnedSums | None",
        cluster: Any,
        progress: Progress | None,
    ) -> BlockSumsT:
        """Do the same on a cluster, whose threads have as much memory as those here would have."""
        source = self.source

        def read(partitions: Sequence[Partition]) -> tuple[Any, BinnedSums | None]:
            whole, bins = make(), None if also is None else BinnedSums(also.sums.empty(), Tally())
            for partition in partitions:
                sums = make()
                for block in source.read(partition):
                    sums.add(block.operations, metadata_events(block.metadata, source.definitions))
                    if bins is not None:
                        bins.add(block)
                whole.merge(sums)
            return whole, bins

        partitions = source.partitions(self.memory and self.memory // self.workers * cluster.workers, cluster.workers)
        sums, bins = cluster.reduce(read, merge_both, partitions, progress, (source.definitions,))
        if also is not None and bins is not None:
            also.merge(bins)
        return cast(BlockSumsT, sums)


class WideSums(Protocol):
    """Sums over operations that take much memory."""

    def add(self, operations: Operations) -> None:
        """Add operations, in any order."""

    def empty(self) -> Any:
        """Return the same sums over no operations."""

    def merge(self, other: Any) -> None:
        """Add the sums of another one of its kind."""


class NoSums:
    """Nothing to add up beside `BinnedSums`."""

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:
        """Do nothing."""

    def merge(self, other: "NoSums") -> None:
        """Do nothing."""


@dataclass(frozen=True, eq=False)
class BinnedSums:
    """Sums over operations, in bins of time and otherwise, and what else the blocks say."""

    sums: WideSums
    tally: Tally

    def add(self, block: Block) -> None:
        """Add a block, in any order."""
        self.sums.add(block.operations)
        self.tally.add(block)

    def merge(self, other: "BinnedSums") -> None:
        """Add the sums over other blocks."""
        self.sums.merge(other.sums)
        self.tally.add(other.tally)


def merge_both(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    """Return two kinds of sums, each merged; the second may not be there."""
    one[0].merge(other[0])
    if one[1] is not None and other[1] is not None:
        one[1].merge(other[1])
    return one
