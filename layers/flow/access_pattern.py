"""How operations walk through their files: in order, in strides or at random, and what is read or written again."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_UINT64, IoMode
from ...model.document import Record
from ...model.operations import Operations
from ..attribution.collectives import numbered
from ..selection.window import completed_bytes

_LARGEST: Final = np.uint64(2**62)
"""Offsets from here on are damaged; below, sums of offset and size stay within int64."""


@dataclass(frozen=True)
class AccessPattern(Record):
    """Access pattern of operations of one direction.

    Each operation is compared with the one before it of the same process on the same file.

    Attributes
    ----------
    sequential : int
        Operations that start where the one before ended.
    strided : int
        Operations whose distance to the one before or behind is the same twice running.
    random : int
        All other operations that have one before.
    first : int
        Operations without one before.
    unknown : int
        Operations whose offset or size the trace does not know; they take no part in anything here.
    located_bytes : int
        Bytes of the operations that do.
    repeated_bytes : int or None
        Bytes that a process reads (or writes) where it has read (or written) before; None where the offsets do not
        count from the start of the file.
    overlapping_bytes : int or None
        Bytes read (or written) where any process has done so before; None as above.
    """

    sequential: int
    strided: int
    random: int
    first: int
    unknown: int
    located_bytes: int
    repeated_bytes: int | None
    overlapping_bytes: int | None


def access_pattern(operations: Operations, file: npt.NDArray[np.int32], absolute: bool = True) -> AccessPattern:
    """Return the access pattern of operations of one direction, in the order of their begins.

    Parameters
    ----------
    operations : Operations (n,)
    file : int32 (n,)
        File of each operation; those of −1 are unknown.
    absolute : bool
        Whether offsets count from the start of the file. Those of MPI-IO count from the start of the file view, which
        each rank sets for itself and no record tells (MPI 4.1, §14.3).
    """
    offset, size, known = _ranges(operations, file)
    process, place = operations.process[known].astype(np.int64), file[known].astype(np.int64)
    stream = numbered(process, place)
    order = np.argsort(stream, kind="stable")
    at, length, stream = offset[order], size[order], stream[order]
    same = stream[1:] == stream[:-1]
    step = np.diff(at)
    sequential = same & (step == length[:-1])
    equal = same[1:] & same[:-1] & (step[1:] == step[:-1])
    strided = np.zeros(len(same), np.bool_)
    strided[1:] |= equal
    strided[:-1] |= equal
    strided &= ~sequential
    located = int(size.sum())
    return AccessPattern(
        sequential=int(sequential.sum()),
        strided=int(strided.sum()),
        random=int((same & ~sequential & ~strided).sum()),
        first=len(at) - int(same.sum()),
        unknown=len(operations) - len(at),
        located_bytes=located,
        repeated_bytes=located - _union(numbered(process, place), offset, size) if absolute else None,
        overlapping_bytes=located - _union(place, offset, size) if absolute else None,
    )


def read_back_bytes(operations: Operations, file: npt.NDArray[np.int32]) -> int:
    """Return how many different bytes processes read in places that they had begun to write themselves.

    Reads count from the begin of the process's first write to the file on.

    Parameters
    ----------
    operations : Operations (n,)
        Reads and writes of one layer, in the order of their begins.
    file : int32 (n,)
    """
    offset, size, known = _ranges(operations, file)
    if not len(offset):
        return 0
    stream = numbered(operations.process[known].astype(np.int64), file[known].astype(np.int64))
    writes = operations.mode[known] == IoMode.WRITE
    place = np.arange(len(stream))
    first = np.full(int(stream.max()) + 1, len(stream))
    np.minimum.at(first, stream[writes], place[writes])
    reads = (operations.mode[known] == IoMode.READ) & (place > first[stream])
    both = reads | writes
    order = np.lexsort((offset[both], stream[both]))
    stream, offset, size, reads = (column[both][order] for column in (stream, offset, size, reads))
    either = _union_ordered(stream, offset, size)
    return sum(_union_ordered(stream[some], offset[some], size[some]) for some in (reads, ~reads)) - either


def _ranges(
    operations: Operations, file: npt.NDArray[np.int32]
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """Return offsets and sizes of the operations that have them, int64 (m,), and which these are, bool (n,)."""
    moved = completed_bytes(operations)
    known = (operations.offset < _LARGEST) & (operations.moved != UNDEFINED_UINT64) & (file >= 0)
    return operations.offset[known].astype(np.int64), moved[known].astype(np.int64), known


def _union(group: npt.NDArray[np.int64], offset: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> int:
    """Return the number of different bytes in ranges, those of each group for themselves."""
    order = np.lexsort((offset, group))
    return _union_ordered(group[order], offset[order], size[order])


def _union_ordered(group: npt.NDArray[np.int64], offset: npt.NDArray[np.int64], size: npt.NDArray[np.int64]) -> int:
    """Return `_union` of ranges in the order of their groups, and of their offsets within each."""
    from ..attribution.group_kernels import union_by_group

    if not len(group):
        return 0
    bounds = np.flatnonzero(np.append(True, np.diff(group) != 0))
    start = np.append(bounds, len(group)).astype(np.int64)
    return int(union_by_group(start, offset, offset + size).sum())
