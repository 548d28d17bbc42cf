"""How operations walk through their files: in order, in strides or at random, and what is read or written again."""

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints
from ...model.codes import UNDEFINED_UINT64, IoMode
from ...model.document import Record
from ...model.operations import Operations
from ..attribution.collectives import numbered
from ..selection.window import completed_bytes

_MOST_STRETCHES: Final = 1 << 17
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


class RangeUnion:
    """The bytes of files that ranges cover together.

    With more than 2^17 stretches, begins are rounded down and ends up to multiples of a power of two, unless `exact`.
    """

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._shift = 0
        self._stretches = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def __len__(self) -> int:
        return int((self._stretches[2] - self._stretches[1]).sum())

    def add(self, file: Ints, begin: Ints, end: Ints) -> None:
        """Add ranges [begin, end) of files."""
        both = (np.append(known, fresh) for known, fresh in zip(self._stretches, (file, begin, end), strict=True))
        self._stretches = _stretches(*both)
        while len(self._stretches[0]) > _MOST_STRETCHES and not self._exact:
            self._shift += 1
            group, low, high = self._stretches
            self._stretches = _stretches(
                group, low >> self._shift << self._shift, -(-high >> self._shift << self._shift)
            )

    def merge(self, other: "RangeUnion") -> None:
        """Add the ranges of `other`."""
        self._shift = max(self._shift, other._shift)
        self.add(*other._stretches)


class AccessSums:
    """Access patterns of operations, added up: each process's with a file by themselves, what they cover together.

    Parameters
    ----------
    absolute : bool
        Whether offsets count from the start of the file. Those of MPI-IO count from the start of the file view, which
        each rank sets for itself and no record tells (MPI 4.1, §14.3).
    exact : bool
        Whether all stretches of files are kept, however many there are.
    """

    def __init__(self, absolute: bool, exact: bool) -> None:
        self._absolute = absolute
        self._counts = np.zeros(7, np.int64)
        self._ranges = RangeUnion(exact)

    def add(self, operations: Operations, file: npt.NDArray[np.int32]) -> None:
        """Add operations of one direction, (n,), in the order of their begins, with the file of each, −1 where unknown.

        All of a process are added at once.
        """
        offset, size, known = _ranges(operations, file)
        process, place = operations.process[known].astype(np.int64), file[known].astype(np.int64)
        stream = numbered(process, place)
        order = np.argsort(stream, kind="stable")
        at, length, stream_of = offset[order], size[order], stream[order]
        same = stream_of[1:] == stream_of[:-1]
        step = np.diff(at)
        sequential = same & (step == length[:-1])
        equal = same[1:] & same[:-1] & (step[1:] == step[:-1])
        strided = np.zeros(len(same), np.bool_)
        strided[1:] |= equal
        strided[:-1] |= equal
        strided &= ~sequential
        counts = (sequential, strided, same & ~sequential & ~strided)
        found = [int(mask.sum()) for mask in counts]
        covered = 0
        if self._absolute:
            covered = _union(stream, offset, size)
            self._ranges.add(place, offset, offset + size)
        found += [len(at) - int(same.sum()), len(operations) - len(at), int(size.sum()), covered]
        self._counts += found

    def merge(self, other: "AccessSums") -> None:
        """Add the sums of `other`, of other processes."""
        self._counts += other._counts
        self._ranges.merge(other._ranges)

    def pattern(self) -> AccessPattern:
        """Return the pattern."""
        sequential, strided, random, first, unknown, located, covered = self._counts.tolist()
        repeated, overlapping = located - covered, max(0, located - len(self._ranges))
        known = (repeated, overlapping) if self._absolute else (None, None)
        return AccessPattern(sequential, strided, random, first, unknown, located, *known)


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

    return int(union_by_group(_starts(group), offset, offset + size).sum())


def _stretches(file: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the stretches that ranges cover, by file and begin."""
    from ..attribution.group_kernels import stretches_by_group

    order = np.lexsort((begin, file))
    start = _starts(file[order])
    group, low, high = stretches_by_group(start, begin[order], end[order])
    return file[order][start[:-1]][group], low, high


def _starts(group: Ints) -> Ints:
    """Return where each run of equal numbers begins, and the length."""
    fresh = np.flatnonzero(np.append(True, np.diff(group) != 0)) if len(group) else np.zeros(0, np.int64)
    return np.append(fresh, len(group)).astype(np.int64)
