"""Collective operations, grouped across the ranks that took part in one call."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_UINT32, IoFlag
from ...model.definitions import Definitions
from ...model.operations import Operations

COMM_SELF: Final = 6
"""``OTF2_GroupType`` of the group behind ``MPI_COMM_SELF``: one id for a communicator of each process."""


@dataclass(frozen=True, eq=False)
class CollectiveCalls:
    """Which operations are one collective call.

    Attributes
    ----------
    call : int64 (n,)
        Number of the call of each operation, −1 for an operation that is not collective.
    members : int64 (calls,)
        Operations of each call.
    """

    call: npt.NDArray[np.int64]
    members: npt.NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.members)

    def units(self) -> npt.NDArray[np.int64]:
        """Return a number for each operation that the operations of one call share, int64 (n,).

        Beneath a collective call the bytes of all ranks may leave through one of them, so ratios between layers are
        formed of whole calls. Other operations stand for themselves.
        """
        alone = np.arange(len(self.call)) + len(self)
        return np.where(self.call >= 0, self.call, alone)


def collective_calls(operations: Operations, layer: npt.NDArray[np.int32], definitions: Definitions) -> CollectiveCalls:
    """Group the collective operations of all ranks into calls.

    Every rank of a communicator makes the same collective calls on a file in the same order (MPI 4.1, §14.4.2), so the
    k-th of one rank belongs to the k-th of the others. A handle without a communicator or a file stands for itself.

    Parameters
    ----------
    operations : Operations (n,)
        Ordered by begin.
    layer : int32 (n,)

    Returns
    -------
    CollectiveCalls
        Calls are numbered in the order of their first begins.
    """
    handles = definitions.handles
    rows = np.flatnonzero(((operations.flags & np.uint32(IoFlag.COLLECTIVE)) != 0) & (operations.handle >= 0))
    handle = operations.handle[rows]
    process = operations.process[rows].astype(np.int64)
    communicator = handles.communicator[handle].astype(np.int64)
    # Beyond all ids and rows there are: the handle itself.
    itself = UNDEFINED_UINT32 + 1 + handle.astype(np.int64)
    place = np.where(communicator == UNDEFINED_UINT32, itself, communicator)
    file = np.where(handles.file[handle] < 0, itself, handles.file[handle])
    alone = np.where(np.isin(communicator, _self_communicators(definitions)), process, -1)
    sequence = numbered(layer[rows].astype(np.int64), place, file, alone)
    of_rank = numbered(sequence, process)
    call = numbered_by_first(numbered(sequence, positions(of_rank)))
    result = np.full(len(operations), -1, np.int64)
    result[rows] = call
    return CollectiveCalls(result, np.bincount(call, minlength=0).astype(np.int64))


def numbered(*columns: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return a number for each row that rows of equal `columns` share, int64 (n,), from 0 and without gaps."""
    count = len(columns[0])
    result = np.zeros(count, np.int64)
    if count:
        order = np.lexsort(columns)
        differs = np.zeros(count - 1, np.bool_)
        for column in columns:
            differs |= np.diff(column[order]) != 0
        result[order] = np.append(0, np.cumsum(differs))
    return result


def distinct_pairs(
    first: npt.NDArray[np.integer], second: npt.NDArray[np.integer], count: int
) -> npt.NDArray[np.int64]:
    """Return how many distinct values of `second` there are beside each value of `first`.

    Parameters
    ----------
    first : (n,)
        From 0 on; rows of something, so that a table over them fits into memory.
    second : (n,)
        From −1 on; as `first`.
    count : int
        Length of the result, or more if `first` needs it.
    """
    from .attribution_kernel import rows_by_key
    from .group_kernels import count_distinct

    width = int(second.max(initial=-1)) + 2
    order, start = rows_by_key(first, max(count, int(first.max(initial=-1)) + 1))
    return np.asarray(count_distinct(start, order, second, width), np.int64)


def numbered_by_first(number: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the same numbering, in the order in which the numbers first occur."""
    first, inverse = np.unique(number, return_index=True, return_inverse=True)[1:]
    rank = np.empty(len(first), np.int64)
    rank[np.argsort(first)] = np.arange(len(first))
    return rank[inverse] if len(first) else number


def positions(number: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return for each row how many earlier rows have the same number, int64 (n,)."""
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    fresh = np.append(True, np.diff(ordered) != 0)[: len(order)]
    place = np.arange(len(order))
    result = np.empty(len(order), np.int64)
    result[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    return result


def _self_communicators(definitions: Definitions) -> npt.NDArray[np.int64]:
    """Return the ids of communicators of one process each."""
    kinds = {group.id: group.kind for group in definitions.location_sets}
    of_self = [
        communicator.id
        for communicator in definitions.communicators
        if communicator.group is not None and kinds.get(communicator.group) == COMM_SELF
    ]
    return np.array(of_self, np.int64)
