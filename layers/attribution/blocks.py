"""All I/O of a trace block by block: kept as one, or read once more."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.events import IoEvents
from ...model.operations import Operations
from ..handles.metadata import MetadataEvents, metadata_events
from ..selection.files import FileSelection
from ..selection.window import TickWindow
from ..summary.reading import BlockSumsT, Reading
from .attribution import Attribution, attribute_operations
from .traffic import Traffic


class Kept(NamedTuple):
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
    definitions : Definitions
    order : tuple of str
        Layers, highest first.
    selection : FileSelection
    window : TickWindow
        What counts.
    in_memory : Kept or None
        All operations, which are then one block; None where the trace was read in bounded memory.
    known_reading : Reading or None
        How the trace is read once more; None where it was made by hand.
    """

    path: Path
    definitions: Definitions
    order: tuple[str, ...]
    selection: FileSelection
    window: TickWindow
    in_memory: Kept | None
    known_reading: Reading | None

    @property
    def kept(self) -> Kept:
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

    @property
    def exact(self) -> bool:
        """Whether sums need not be rounded, as all operations are there."""
        return self.in_memory is not None

    @property
    def counted(self) -> tuple[Definitions, tuple[str, ...], FileSelection, TickWindow]:
        """What all sums are told."""
        return self.definitions, self.order, self.selection, self.window

    @cached_property
    def metadata(self) -> MetadataEvents:
        """I/O events that move no data; raises as `kept`."""
        return metadata_events(self.kept.other_events, self.definitions)

    @cached_property
    def attribution(self) -> Attribution:
        """The parent of each operation in a higher layer; raises as `kept`."""
        return attribute_operations(self.kept.operations, self.definitions, self.order)

    @cached_property
    def traffic(self) -> Traffic:
        """All operations beside what the numbers between layers need of them; raises as `kept`."""
        return self.traffic_of(self.kept.operations, self.attribution)

    @property
    def known_traffic(self) -> Traffic | None:
        """The same; None where operations are not kept."""
        return None if self.in_memory is None else self.traffic

    def traffic_of(self, operations: Operations, attribution: Attribution | None = None) -> Traffic:
        """Return operations of whole processes beside what the numbers between layers need of them."""
        found = attribution or attribute_operations(operations, self.definitions, self.order)
        return Traffic(operations, self.definitions, self.order, found, self.selection, self.window)

    def __iter__(self) -> Iterator[tuple[Operations, IoEvents]]:
        if self.in_memory is not None:
            return iter([self.in_memory])
        return ((block.operations, block.metadata) for block in self.reading.blocks())

    def summed(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        """Return sums over the blocks; see `iostrata.layers.trace.Trace.sum_blocks`."""
        if self.in_memory is None:
            return self.reading.summed(make)
        sums = make()
        sums.add(self.in_memory.operations, self.metadata)
        return sums
