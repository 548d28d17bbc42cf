"""The call path in which each operation of a trace began."""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from ....model.arrays import Links
from ....model.errors import TraceError
from ....model.events import IoEvents
from ....model.operations import Operations
from ....model.stream.columns import PATH, CollectedOperations
from ....model.stream.mapping import map_partitions
from ....model.stream.source import Block, Partition, Source
from .calls import Calls
from .keys import PathTree


@dataclass(frozen=True, eq=False)
class CallPaths(PathTree):
    """A tree of call paths, and which of them operations and other I/O events happened in.

    Attributes
    ----------
    operation : int32 (m,)
        Path in which each operation began, −1 where none is known.
    event : int32 (k,)
        The same for the I/O events that are none of an operation.
    """

    operation: Links
    event: Links

    def __repr__(self) -> str:
        known = int((self.operation >= 0).sum())
        return f"<CallPaths: {len(self.parent):,} paths, known of {known:,} of {len(self.operation):,} operations>"


def read_call_paths(
    source: Source,
    operations: Operations,
    other_events: IoEvents,
    make: Callable[[], Calls],
    workers: int | None = None,
) -> tuple[CallPaths, Calls]:
    """Read a trace once more, now with the call paths in which its operations began; also sum up its calls.

    Raises SelectionError if the source cannot tell who called what; TraceError if the trace is not what it was when the
    operations were read.

    Parameters
    ----------
    operations, other_events : Operations, IoEvents
        All of the trace.
    workers : int, optional
        Threads that read.
    """
    regions = source.regions
    if not regions.does_io.any() or not (len(operations) or len(other_events)):
        empty = np.empty(0, np.int32)
        unknown = (np.full(len(one), -1, np.int32) for one in (operations, other_events))
        return CallPaths(regions, empty, empty, *unknown), make()
    collected = CollectedOperations(source.definitions, ("location", "begin", PATH))

    def read(partition: Partition, done: Callable[[int], None]) -> tuple[Calls, list[Block]]:
        sums = make()
        return sums, list(source.read(partition, sums, done))

    threads, whole = source.worker_count(workers), make()
    for sums, blocks in map_partitions(read, source.partitions(None, threads), 0, threads):
        places = np.append(whole.tree.placed(*sums.tree.columns[:3]), np.int32(-1))
        whole.merge(sums)
        for block in blocks:
            of_events = None if block.metadata_path is None else places[block.metadata_path]
            collected.add(replace(block, path=places[block.path], metadata_path=of_events))
    again, event = collected.metadata()
    columns = collected.columns()
    if not np.array_equal(columns["begin"], operations.begin) or not np.array_equal(again.time, other_events.time):
        raise TraceError(f"{source.path} has changed since it was opened; open it again")
    parent, region, _, _ = whole.tree.columns
    return CallPaths(regions, parent, region, columns[PATH], event), whole
