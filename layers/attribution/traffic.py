"""Operations with their parents: beside each what the numbers between layers need of it."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property
from typing import Self

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Links, Mask, Rows, column_at, nearest_marked
from ...model.codes import PROCESS, Status
from ...model.definitions import Definitions
from ...model.operations import view
from ...model.stream.source import Block
from ..handles.order import layer_name, layer_place
from ..handles.scope import Scope, ScopedBlock
from ..handles.stack import HandleStack
from ..selection.directions import is_of_direction
from ..selection.files import FileSelection
from ..selection.window import Amounts, TickWindow, zeros_like_amounts
from .attribution import Attribution, attribute_operations
from .collectives import CallSequences, call_sequences, collective_calls


class Attributed(ABC):
    """Base of what has a row an operation, or a row for operations of one kind, with the row that each belongs to."""

    scope: Scope

    @property
    def definitions(self) -> Definitions:
        """Definitions of the trace."""
        return self.scope.definitions

    @property
    def layers(self) -> tuple[str, ...]:
        """Layers, highest first."""
        return self.scope.order

    @property
    def selection(self) -> FileSelection:
        """Which handles count."""
        return self.scope.selection

    @property
    def window(self) -> TickWindow:
        """Part of the trace's time that counts."""
        return self.scope.window

    @property
    @abstractmethod
    def attribution(self) -> Attribution:
        """Layer and parent of each operation."""

    @property
    @abstractmethod
    def handle(self) -> Links:
        """Row of each operation's handle, −1 where undefined, int32 (n,)."""

    @property
    @abstractmethod
    def mode(self) -> npt.NDArray[np.uint8]:
        """`IoMode` of each operation, uint8 (n,)."""

    @property
    def layer(self) -> Links:
        """Layer of each operation, −1 where undefined, int32 (n,)."""
        return self.attribution.layer

    @property
    def stack(self) -> HandleStack:
        """Layer, parent and nearest ancestor of a higher layer of each handle."""
        return self.scope.stack

    @cached_property
    def file(self) -> Links:
        """Row of the file of each operation's handle, −1 where there is none, int32 (n,)."""
        return self.at_handles(self.definitions.handles.file)

    @cached_property
    def own(self) -> Mask:
        """Whether an operation's handle has no ancestor of a higher layer: the program called it, bool (n,)."""
        return self.at_handles(self.stack.higher) < 0

    @cached_property
    def sequences(self) -> CallSequences:
        """The sequences of collective calls."""
        return call_sequences(self.definitions, self.stack.layer)

    @property
    def processes(self) -> Rows:
        """Rows in ``Definitions.groups`` that are processes."""
        return np.flatnonzero(self.definitions.groups.kind == PROCESS)

    def layer_row(self, name: str) -> int:
        """Return the place of a layer, 0 for the highest; raises SelectionError if the trace has no such layer."""
        return layer_place(self.layers, name)

    def of_direction(self, direction: str) -> Mask:
        """Return whether an operation is of a direction, bool (n,); ``total`` is reads and writes.

        Raises SelectionError if there is no such direction.
        """
        return is_of_direction(self.mode, direction)

    def at_handles(self, column: Links) -> Links:
        """Return a column over handles as one over operations, −1 where the handle is undefined."""
        return column_at(column, self.handle)

    @cached_property
    def ancestor_in(self) -> Callable[[int], tuple[Ints, Mask]]:
        """`Attribution.ancestor_in`, whose answers are kept for all flows from a layer."""
        return cache(self.attribution.ancestor_in)

    def ancestor_handle_in(self, layer: int) -> Links:
        """Return the nearest ancestor of each operation's handle in a layer, −1 where there is none, int32 (n,)."""
        return self.at_handles(nearest_marked(self.stack.parent, self.stack.layer == layer))

    def absolute_offsets(self, layer: str) -> bool:
        """Tell whether offsets in a layer count from the start of the file; MPI-IO counts from the file view."""
        return not any(p.parallel for p in self.definitions.paradigms if layer_name(p) == layer)

    @cached_property
    def descends(self) -> Callable[[int, int], Mask]:
        """Which handles are of the second of two layers and descend from one of the first, bool (handles,)."""

        # Not of `self`, which would keep itself and all operations of a block until cycles are looked for.
        stack = self.stack

        def found(upper: int, lower: int) -> Mask:
            below = nearest_marked(stack.parent, stack.layer == upper) >= 0
            return np.asarray(below & (stack.layer == lower), np.bool_)

        return cache(found)

    def connected(self, upper: int, lower: int) -> bool:
        """Tell whether a handle of the lower layer descends from one of the upper layer, which stands above it."""
        return upper < lower and bool(self.descends(upper, lower).any())


@dataclass(frozen=True, eq=False)
class TraceBlock(ScopedBlock, Attributed):
    """Operations of whole processes with their parents, and the columns that flows and balances share.

    Attributes
    ----------
    block : Block or None
        What was read; None where the operations are kept.
    attribute : callable or None
        Gives the parents of the operations where they are known.
    """

    block: Block | None = None
    attribute: Callable[[], Attribution] | None = None

    @classmethod
    def of(cls, scope: Scope, block: Block) -> Self:
        """Return a block that was read."""
        return cls(scope, block.operations, block.metadata, block)

    @cached_property
    def attribution(self) -> Attribution:
        if self.attribute is not None:
            return self.attribute()
        return attribute_operations(self.operations, self.definitions, self.stack)

    @property
    def handle(self) -> Links:
        return self.operations.handle

    @property
    def mode(self) -> npt.NDArray[np.uint8]:
        return self.operations.mode

    @cached_property
    def within(self) -> Mask:
        """Whether an operation overlaps the window, bool (n,)."""
        return self.window.overlaps(self.operations)

    @cached_property
    def selected(self) -> Mask:
        """Whether an operation overlaps the window and is on a selected file, bool (n,)."""
        return self.within & (self.selection.reason_of(self.operations.handle) < 0)

    @cached_property
    def moved(self) -> Amounts:
        """Bytes that each operation moved within the window, (n,)."""
        if self.within.all():
            return self.window.bytes_within(self.operations)
        part = self.window.bytes_within(view(self.operations, self.within))
        amounts = zeros_like_amounts(part, len(self.operations))
        amounts[self.within] = part
        return amounts

    @cached_property
    def calls(self) -> Ints:
        """Number of the collective call of each operation, across ranks, −1 for none, int64 (n,)."""
        return collective_calls(self.operations, self.sequences)

    def times(self, rows: npt.NDArray[np.integer]) -> tuple[Ints, Ints]:
        """Return begin and end of the part of some operations within the window, int64 (m,).

        All of them overlap the window. One that never ended takes no time.
        """
        operations = view(self.operations, np.asarray(rows, np.intp))
        begin, end = self.window.clipped(operations)
        return begin, np.where(operations.status == Status.NEVER_COMPLETED, begin, end)
