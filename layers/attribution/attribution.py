"""Attribution: which operation of a higher layer each operation belongs to, and what is formed of both."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cache, cached_property
from threading import Lock
from typing import Final, Self

import numpy as np

from ...model.arrays import Frozen, Integers, Ints, Links, Mask, Octets, Rows, column_at, nearest_marked
from ...model.codes import PROCESS, IoFlag, Status
from ...model.definitions import Definitions
from ...model.operations import Operations, OperationsView, view
from ...model.stream.source import Block
from ..handles.scope import Scope, ScopedBlock
from ..handles.stack import HandleStack, layer_name, layer_place
from ..selection.directions import is_of_direction
from ..selection.files import FileSelection
from ..selection.window import Amounts, TickWindow, zeros_like_amounts
from .collectives import CallSequences, call_sequences, collective_calls

_ONCE: Final = Lock()


class Attribution(Frozen):
    """Operations and their parents, columns over the rows of all operations of a trace, shape (n,).

    Attributes
    ----------
    layer : int32
        Layer of each operation counted from the highest, −1 where its handle or paradigm is undefined.
    parent : int64
        Row of the parent operation, which is of a higher layer; −1 where there is none.
    inferred : bool
        Whether the parent does not follow from the handles and the thread together: see `attribute_operations`.
    """

    layer: Links
    parent: Ints
    inferred: Mask

    def ancestor_in(self, layer: int) -> tuple[Ints, Mask]:
        """Return the ancestor of each operation in one layer.

        Parameters
        ----------
        layer : int
            Counted from the highest.

        Returns
        -------
        ancestor : int64 (n,)
            Row of the nearest ancestor operation in that layer, −1 where there is none.
        inferred : bool (n,)
            Whether a parent on the way to it is inferred; False where there is none.
        """
        ancestor, inferred = self.parent.copy(), self.inferred.copy()
        # Parents are of a higher layer, so this ends after as many rounds as there are layers.
        while len(rows := np.flatnonzero((ancestor >= 0) & (self.layer[ancestor] > layer))):
            inferred[rows] |= self.inferred[ancestor[rows]]
            ancestor[rows] = self.parent[ancestor[rows]]
        ancestor[(ancestor >= 0) & (self.layer[ancestor] != layer)] = -1
        return ancestor, inferred & (ancestor >= 0)


def attribute_operations(operations: Operations, definitions: Definitions, stack: HandleStack) -> Attribution:
    """Find the parent of each operation: the innermost operation of a higher layer that it belongs to.

    "Innermost" is the one last begun. Three rules are tried, in this order:

    1. On the same thread, an operation in flight when this one begins, on an ancestor of its handle that is of a higher
       layer, or on what was opened in that within its layer, as a data set is in a file. Ancestors of the same or a
       lower layer, such as ``fcntl(F_DUPFD)`` leaves behind, do not count.
    2. The same on another thread of the process, where a library lets a helper thread work. *Inferred*.
    3. For a handle without an ancestor of a higher layer: a call of a higher layer on the same thread that encloses
       this operation's call. The call of a non-blocking operation lasts until it is issued, for what the program
       does while it is under way is not part of it. *Inferred*.

    An operation is in flight from its begin to its end, for ever where it never ended; one that ends with the tick in
    which another begins holds that one only if it ends with the same tick. A call of unknown end encloses nothing.

    Parameters
    ----------
    operations : Operations (n,)
        All of a trace, ordered by begin.
    stack : HandleStack
        Where the handles stand.

    Notes
    -----
    O(n) after a counting sort, times the number of ancestors of a handle that are of a higher layer and were used,
    which the depth of the software stack bounds.
    """
    from .attribution_kernel import Tree, enclose_on_ancestors, enclosing_calls, places_in_stack, rows_by_key

    handle = operations.handle
    family = handle_families(stack)
    places = handle, operations.location, stack.layer, stack.higher, family
    layer, inherits, asked, used, user = places_in_stack(*places)
    parent, inferred = np.full(len(operations), -1, np.int64), np.zeros(len(operations), np.bool_)
    if not (inherits.any() or asked.any()):
        return Attribution(layer, parent, inferred)

    rank, ancestor = _ranked_ancestors(stack, family[used])
    tree, columns = Tree(family, rank, ancestor), (operations.begin, operations.end)

    if asked.any() or not _each_of_one_thread(ancestor, user):
        # In the order of threads memory is read from its start to its end, which takes half the time.
        threads, start = rows_by_key(operations.location, len(definitions.locations.id))
    else:
        threads, start = np.zeros(0, np.int64), np.array([0, len(operations)])
    enclose_on_ancestors(threads, start, inherits, handle, tree, *columns, parent)
    orphaned = inherits & (parent < 0)
    if orphaned.any() and (orphaned := orphaned & _in_processes_of_several_threads(operations)).any():
        processes = rows_by_key(operations.process, len(definitions.groups.id))
        enclose_on_ancestors(*processes, orphaned, handle, tree, *columns, parent)
        inferred |= orphaned & (parent >= 0)

    if asked.any():
        begin, end = operations.begin[threads], call_ends(operations)[threads]
        found = enclosing_calls(start, asked[threads], layer[threads], int(rank.max(initial=0)) + 1, begin, end)
        within = threads[found >= 0]
        parent[within] = threads[found[found >= 0]]
        inferred[within] = True
    return Attribution(layer, parent, inferred)


def handle_families(stack: HandleStack) -> Links:
    """Return the handle that each came from within its layer, such as the file of a data set; int32 (handles,)."""
    parent, rows = stack.parent, np.arange(len(stack.parent), dtype=np.int32)
    first = (parent < 0) | (stack.layer[parent] != stack.layer)
    return np.where(first, rows, nearest_marked(parent, first)).astype(np.int32)


def _each_of_one_thread(ancestor: Links, user: Links) -> bool:
    """Tell whether one thread uses each family of handles and its nearest used ancestor, so that no other is in flight.

    Then so it is with all ancestors, and the order of threads is that of time.
    """
    own, above = user[ancestor >= 0], user[ancestor[ancestor >= 0]]
    return bool((user != -2).all() and ((own == above) | (own < 0) | (above < 0)).all())


def _ranked_ancestors(stack: HandleStack, used: Links) -> tuple[Links, Links]:
    """Return the rank of each handle, the lower the higher its layer, and its nearest ancestor that was used."""
    # A handle of an undefined paradigm is below all.
    layers = stack.layer.max(initial=-1) + 1
    rank = np.where(stack.layer < 0, layers, stack.layer).astype(np.int32)
    marked = np.zeros(len(rank), np.bool_)
    marked[used] = True
    return rank, nearest_marked(stack.parent, marked & (rank < rank.max(initial=0)))


def call_ends(operations: Operations) -> Ints:
    """Return when the call that began each operation returned, ``UNDEFINED_TIME`` where the trace does not tell."""
    non_blocking = (operations.flags & np.uint32(IoFlag.NON_BLOCKING)) != 0
    return np.where(non_blocking, operations.issued, operations.end)


def _in_processes_of_several_threads(operations: Operations) -> Mask:
    """Return whether an operation's process has operations on more than one thread, bool (n,)."""
    process, location = operations.process, operations.location
    # Of no process, −1, the last place is.
    count = int(process.max(initial=-1)) + 2
    one_of, several = np.full(count, -1, np.int32), np.zeros(count, np.bool_)
    one_of[process] = location
    several[process[one_of[process] != location]] = True
    several[-1] = False
    return several[process]


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
    def mode(self) -> Octets:
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


class TraceBlock(ScopedBlock, Attributed):
    """Operations of whole processes with their parents, and the columns that flows and balances share.

    Attributes
    ----------
    block : Block or None
        What was read; None where the operations are kept.
    whole : TraceBlock or None
        Of what a part with a view of its operations is, which knows the parents of all.
    """

    block: Block | None = None
    whole: "TraceBlock | None" = None

    @classmethod
    def of(cls, scope: Scope, block: Block) -> Self:
        """Return a block that was read."""
        return cls(scope, block.operations, block.metadata, block)

    @cached_property
    def attribution(self) -> Attribution:
        if self.whole is None:
            return attribute_operations(self.operations, self.definitions, self.stack)
        from .attribution_kernel import parents_within

        whole, rows = self.stored
        all_of = whole.attribution_once
        return Attribution(all_of.layer[rows], parents_within(all_of.parent, rows), all_of.inferred[rows])

    @property
    def attribution_once(self) -> Attribution:
        """The same, for threads that are at work on parts of it and ask for it at the same time."""
        with _ONCE:
            return self.attribution

    @property
    def stored(self) -> "tuple[TraceBlock, Rows]":
        """The block that holds the columns of the operations, and which of its rows are those of this one."""
        if self.whole is None or not isinstance(self.operations, OperationsView):
            return self, np.arange(len(self.operations))
        return self.whole, self.operations.rows

    @property
    def handle(self) -> Links:
        return self.operations.handle

    @property
    def mode(self) -> Octets:
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

    def times(self, rows: Integers) -> tuple[Ints, Ints]:
        """Return begin and end of the part of some operations within the window, int64 (m,).

        All of them overlap the window. One that never ended takes no time.
        """
        begin, end = self._clipped
        return begin[rows], end[rows]

    @cached_property
    def _clipped(self) -> tuple[Ints, Ints]:
        """Begin and end of the part within the window of all that overlap it."""
        begin, end = self.window.clipped(self.operations)
        never = self.operations.status == Status.NEVER_COMPLETED
        return begin, np.where(never, begin, end) if never.any() else end
