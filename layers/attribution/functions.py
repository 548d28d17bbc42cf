"""Which function each I/O event and each operation was recorded in."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...model.errors import TraceError
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.stream.columns import FUNCTION, CollectedOperations
from ...model.stream.mapping import map_partitions
from ...model.stream.source import Block, Partition, Source


@dataclass(frozen=True, eq=False)
class CallingFunctions:
    """The innermost I/O function that had been entered, on the same location, when something happened.

    Attributes
    ----------
    names : tuple of str
        The I/O functions that the trace defines, such as ``write``, ``MPI_File_write_at_all`` or ``fprintf``.
    event : int32 (n,)
        Row in `names` for each I/O event that is none of an operation, −1 where no such function was entered or the
        trace does not record any.
    operation : int32 (m,)
        The same for the begin of each operation.
    """

    names: tuple[str, ...]
    event: npt.NDArray[np.int32]
    operation: npt.NDArray[np.int32]

    @classmethod
    def unknown(cls, events: int, operations: int) -> "CallingFunctions":
        """Return what holds of a trace that records no function."""
        return cls((), np.full(events, -1, np.int32), np.full(operations, -1, np.int32))

    def __repr__(self) -> str:
        known = int((self.operation >= 0).sum())
        return f"<CallingFunctions: of {known} of {len(self.operation)} operations, {len(self.names)} names>"


def read_calling_functions(
    source: Source, operations: Operations, other_events: IoEvents, workers: int | None = None
) -> CallingFunctions:
    """Read a trace once more, now with the functions in which its operations began.

    Raises SelectionError if the source does not know functions; TraceError if the trace is not what it was when the
    operations were read.

    Parameters
    ----------
    operations, other_events : Operations, IoEvents
        All of the trace.
    workers : int, optional
        Threads that read.
    """
    names = source.functions
    if not names or not (len(operations) or len(other_events)):
        return CallingFunctions(names, *(np.full(len(one), -1, np.int32) for one in (other_events, operations)))
    collected = CollectedOperations(source.definitions, ("location", "begin", FUNCTION))

    def read(partition: Partition, done: Callable[[int], None]) -> list[Block]:
        return list(source.read(partition, functions=True, done=done))

    threads = source.worker_count(workers)
    for blocks in map_partitions(read, source.partitions(None, threads), 0, threads):
        for block in blocks:
            collected.add(block)
    again, event = collected.metadata()
    columns = collected.columns()
    if not np.array_equal(columns["begin"], operations.begin) or not np.array_equal(again.time, other_events.time):
        raise TraceError(f"{source.path} has changed since it was opened; open it again")
    return CallingFunctions(names, event, columns[FUNCTION])
