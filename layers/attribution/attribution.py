"""Attribution: which operation of a higher layer each operation belongs to."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from ...model.arrays import Ints, Links, Mask, Rows, column_at, nearest_marked
from ...model.codes import UNDEFINED_TIME, IoFlag
from ...model.definitions import Definitions
from ...model.operations import Operations
from ..handles.stack import HandleStack

FOREVER: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, eq=False)
class Attribution:
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

    def __len__(self) -> int:
        return len(self.parent)

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
       layer. Ancestors of the same or a lower layer, such as ``fcntl(F_DUPFD)`` leaves behind, do not count.
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
    from .attribution_kernel import enclosing_calls, enclosing_on_ancestors, rows_by_key

    layer, defined = column_at(stack.layer, operations.handle), operations.handle >= 0

    rank, ancestor = _ranked_ancestors(stack, operations.handle[defined])
    inherits = column_at(stack.higher, operations.handle) >= 0

    # In the order of threads memory is read from its start to its end, which takes half the time.
    threads, start = rows_by_key(operations.location, len(definitions.locations.id))
    parent, inferred = np.full(len(operations), -1, np.int64), np.zeros(len(operations), np.bool_)

    def search(rows: Ints, first: Ints, asked: Mask) -> Rows:
        """Find the parents of the `asked` operations in the segments of some rows; return whose were found."""
        end = operations.end[rows]
        end = np.where(end == UNDEFINED_TIME, FOREVER, end)
        handle, begin = operations.handle[rows], operations.begin[rows]
        found = enclosing_on_ancestors(first, asked[rows], handle, rank, ancestor, begin, end)
        parent[rows[found >= 0]] = rows[found[found >= 0]]
        return rows[found >= 0]

    search(threads, start, inherits)
    orphaned = inherits & (parent < 0)
    if orphaned.any() and (orphaned := orphaned & _in_processes_of_several_threads(operations)).any():
        inferred[search(*rows_by_key(operations.process, len(definitions.groups.id)), orphaned)] = True

    asked = defined & ~inherits & (layer > 0)
    if asked.any():
        begin, end = operations.begin[threads], call_ends(operations)[threads]
        found = enclosing_calls(start, asked[threads], layer[threads], int(rank.max(initial=0)) + 1, begin, end)
        within = threads[found >= 0]
        parent[within] = threads[found[found >= 0]]
        inferred[within] = True
    return Attribution(layer, parent, inferred)


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
    one_of, several = (
        np.full(int(process.max(initial=-1)) + 2, -1, np.int32),
        np.zeros(int(process.max(initial=-1)) + 2, np.bool_),
    )
    one_of[process] = location
    several[process[one_of[process] != location]] = True
    several[-1] = False
    return several[process]
