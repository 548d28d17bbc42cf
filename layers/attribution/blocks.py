"""All I/O of a trace block by block: kept as one, or read once more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Links, Rows
from ...model.errors import SelectionError
from ...model.events import IoEvents
from ...model.operations import Operations, view
from ..handles.metadata import MetadataEvents, metadata_events
from ..handles.scope import Scope
from ..summary.reading import BlockSumsT, Reading
from .attribution import Attribution, attribute_operations
from .traffic import Traffic, TrafficSums

AT_ONCE: Final = 2**19
"""Operations that are kept of which whole processes are added up together: what that takes is small beside them."""
MOST_PARTS: Final = 16
"""Parts that they are divided into: sums grow with what they hold, and so does merging two of them."""


class KeptEvents(NamedTuple):
    """All I/O of a trace, of all files and times."""

    operations: Operations
    other_events: IoEvents
    """I/O events that are none of an operation."""


@dataclass(frozen=True, eq=False)
class Blocks:
    """All I/O of a trace, of all files and times, and what of it counts.

    Attributes
    ----------
    path : Path
        For messages.
    scope : Scope
        What counts.
    in_memory : KeptEvents or None
        All operations; None where the trace was read in bounded memory.
    known_reading : Reading or None
        How the trace is read once more; None where it was made by hand.
    """

    path: Path
    scope: Scope
    in_memory: KeptEvents | None
    known_reading: Reading | None

    @property
    def kept(self) -> KeptEvents:
        """All operations and other events; SelectionError where the trace was read in bounded memory."""
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
    def metadata(self) -> MetadataEvents:
        """I/O events that move no data; raises as `kept`."""
        return metadata_events(self.kept.other_events, self.scope.definitions)

    @cached_property
    def attribution(self) -> Attribution:
        """The parent of each operation in a higher layer; raises as `kept`."""
        return attribute_operations(self.kept.operations, self.scope.definitions, self.scope.stack)

    @cached_property
    def traffic(self) -> Traffic:
        """All operations beside what the numbers between layers need of them; raises as `kept`."""
        return Traffic(self.scope, self.kept.operations, self.attribution)

    @property
    def known_traffic(self) -> Traffic | None:
        """The same; None where operations are not kept."""
        return None if self.in_memory is None else self.traffic

    def traffic_parts(self) -> Iterator[tuple[Traffic, MetadataEvents]]:
        """Give `traffic` and `metadata` in parts of whole processes; raises as `kept`."""
        if not self._part.any():
            yield self.traffic, self.metadata
            return
        whole, place = self.attribution, np.empty(len(self.kept.operations), np.int64)
        for rows, event_rows in zip(*self._rows_of_parts, strict=True):
            place[rows] = np.arange(len(rows))
            parent = whole.parent[rows]
            parent = np.where(parent < 0, -1, place[parent])
            found = Attribution(whole.layer[rows], parent, whole.inferred[rows])
            yield Traffic(self.scope, view(self.kept.operations, rows), found), self.metadata.take(event_rows)

    @cached_property
    def _part(self) -> Ints:
        """Number of the part that each process is in, int64 (groups + 1,), the first where it is not known (−1).

        A part has at most `AT_ONCE` operations, or a `MOST_PARTS`-th of all, unless a process has more.
        """
        count = np.bincount(self.kept.operations.process + 1, minlength=len(self.scope.definitions.groups.id) + 1)
        size = max(AT_ONCE, -(-len(self.kept.operations) // MOST_PARTS))
        return np.unique((np.cumsum(count) - 1) // size, return_inverse=True)[1].astype(np.int64)

    @cached_property
    def _rows_of_parts(self) -> tuple[list[Rows], list[Rows]]:
        """Rows of the operations of each part, and of its metadata events."""
        operations, events = (self._split(columns.process) for columns in (self.kept.operations, self.metadata))
        return operations, events

    def _split(self, process: Links) -> list[Rows]:
        """Return the rows of each part, of columns with a process in each row."""
        # Numbers of 16 bits are sorted in one go.
        part = self._part.astype(np.int16)[process + 1]
        sizes = np.bincount(part, minlength=int(self._part.max()) + 1)
        return np.split(np.argsort(part, kind="stable"), np.cumsum(sizes)[:-1])

    def __iter__(self) -> Iterator[tuple[Operations, IoEvents]]:
        if self.in_memory is not None:
            return iter([self.in_memory])
        return ((block.operations, block.metadata) for block in self.reading.blocks())

    def summed(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        """Return sums over the blocks; see `iostrata.layers.trace.Trace.sum_blocks`."""
        if self.in_memory is None:
            return self.reading.summed(make)
        sums = make()
        if isinstance(sums, TrafficSums):
            for traffic, events in self.traffic_parts():
                sums.add_traffic(traffic, events)
        elif self._part.any():
            for rows, event_rows in zip(*self._rows_of_parts, strict=True):
                sums.add(view(self.in_memory.operations, rows), self.metadata.take(event_rows))
        else:
            sums.add(self.in_memory.operations, self.metadata)
        return sums
