"""Collective operations, grouped across the ranks that took part in one call."""

import numpy as np

from ...model.arrays import Frozen, Ints, Links, Mask, RowsOfIds
from ...model.codes import UNDEFINED_UINT32, IoFlag
from ...model.definitions import Definitions, self_communicators
from ...model.keyed import KeyedSums, numbered, positions
from ...model.operations import Operations


class CallSequences(Frozen):
    """The sequences of collective calls that handles belong to, whatever process uses them.

    Every rank of a communicator makes the same collective calls on a file in the same order (MPI 4.1, §14.4.2), so the
    k-th of one rank belongs to the k-th of the others. A handle without a communicator or a file stands for itself.

    Attributes
    ----------
    of_handle : int64 (handles,)
        Number of the sequence: one a layer, communicator and file.
    alone : bool (handles,)
        Whether each process has a sequence of its own, as with ``MPI_COMM_SELF``.
    processes : int
    """

    of_handle: Ints
    alone: Mask
    processes: int

    def number(self, handle: Links, process: Links) -> Ints:
        """Return the sequence of collective operations on these handles by these processes, int64 (n,)."""
        if not len(self.alone):
            return np.zeros(len(handle), np.int64)
        own = np.where(self.alone[handle], process.astype(np.int64) + 1, 0)
        return self.of_handle[handle] * (self.processes + 2) + own

    def keys(self, operations: Operations) -> tuple[Ints, Ints]:
        """Return the sequence of each operation and its place in it, int64 (n,); −1 where it is not collective.

        Parameters
        ----------
        operations : Operations (n,)
            Ordered by begin, all of the processes that are among them.
        """
        sequence, place = (np.full(len(operations), -1, np.int64) for _ in range(2))
        rows = np.flatnonzero(((operations.flags & np.uint32(IoFlag.COLLECTIVE)) != 0) & (operations.handle >= 0))
        process = operations.process[rows]
        sequence[rows] = self.number(operations.handle[rows], process)
        place[rows] = positions(numbered(sequence[rows], process.astype(np.int64)))
        return sequence, place


class CallPlaces:
    """Places in sequences of collective calls, counted over the blocks of a process, which come one after the other."""

    def __init__(self) -> None:
        self._known = KeyedSums.none(2, "count")

    def keys(self, operations: Operations, sequences: CallSequences) -> tuple[Ints, Ints]:
        """Return what `CallSequences.keys` gives, with the operations of earlier blocks before these."""
        sequence, place = sequences.keys(operations)
        rows = np.flatnonzero(place >= 0)
        if len(rows):
            keys = sequence[rows], operations.process[rows]
            place[rows] += self._known.at(keys, "count")
            self._known = self._known.plus(keys, {"count": 1})
        return sequence, place

    def finish(self, going_on: Ints) -> None:
        """Forget the places of all processes but those that are going on."""
        self._known = self._known.taken(np.isin(self._known.keys[1], going_on))


def call_sequences(definitions: Definitions, layer: Links) -> CallSequences:
    """Return the sequences of collective calls; `layer` is that of each handle, counted from the highest."""
    handles = definitions.handles
    communicator = _originals(definitions, handles.communicator.astype(np.int64))
    # Beyond all ids and rows there are: the handle itself.
    itself = UNDEFINED_UINT32 + 1 + np.arange(len(communicator))
    place = np.where(communicator == UNDEFINED_UINT32, itself, communicator)
    file = np.where(handles.file < 0, itself, handles.file)
    alone = np.isin(communicator, self_communicators(definitions))
    return CallSequences(numbered(file, place, layer.astype(np.int64)), alone, len(definitions.groups.id))


def collective_calls(operations: Operations, sequences: CallSequences) -> Ints:
    """Return the number of the call of each operation, int64 (n,), in the order of their first begins.

    The collective operations of all ranks are grouped into calls; an operation that is not collective has −1.

    Parameters
    ----------
    operations : Operations (n,)
        Ordered by begin.
    """
    sequence, place = sequences.keys(operations)
    rows = np.flatnonzero(place >= 0)
    result = np.full(len(operations), -1, np.int64)
    result[rows] = numbered_by_first(numbered(place[rows], sequence[rows]))
    return result


def numbered_by_first(number: Ints) -> Ints:
    """Return the same numbering, in the order in which the numbers first occur."""
    first, inverse = np.unique(number, return_index=True, return_inverse=True)[1:]
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse] if len(first) else number


def _originals(definitions: Definitions, communicator: Ints) -> Ints:
    """Return the first communicator of the same group and parent as each: what opening a file makes of one.

    MPI_File_open duplicates its communicator, and ranks may come out of it with different definitions of one duplicate.
    Ranks of one group make their collective calls on a file in one order, whichever duplicate they are on.
    """
    first: dict[tuple[int, int], int] = {}
    known, original = [], []
    for one in definitions.communicators:
        if one.group is not None and one.parent is not None:
            known.append(one.id)
            original.append(first.setdefault((one.group, one.parent), one.id))
    row = RowsOfIds(np.array(known, np.uint64)).rows(communicator.astype(np.uint64))
    return np.where(row >= 0, np.array([*original, 0], np.int64)[row], communicator)
