"""What operations do one after the other, each process's with a file, and how long those of each size take."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Final

import numpy as np

from ...model.arrays import Ints, Mask, column_at
from ...model.codes import IoFlag, IoMode
from ...model.keyed import KeyedSums
from ...model.sums import NOBODY, Sums, keyed
from ..attribution.traffic import Traffic
from ..statistics.statistics import whole_and_part
from .calls import ALIGNMENT

_VALUES: Final = ("count", "bytes", "ticks", "begin", "end")
_LARGEST: Final = np.uint64(2**62)
"""Offsets from here on are damaged."""


class Deed(IntEnum):
    """What an operation does beside those around it; transfers are seen twice, by order and by place."""

    GOES_ON = 0
    """A transfer in the direction of the one before on the file, or the first there."""
    TURNS = 1
    """A transfer in the other direction than the one before."""
    FLUSHES = 2
    """A flush after writes."""
    FLUSHES_NOTHING = 3
    """A flush after next to none."""
    READS_ALIGNED = 4
    """A request of at least `ALIGNMENT` bytes that begins at a multiple of it."""
    WRITES_ALIGNED = 5
    READS_BESIDE = 6
    """One that begins elsewhere."""
    WRITES_BESIDE = 7


class StreamSums(Sums):
    """Sums over operations of a layer, by process; memory follows processes and files, not operations.

    Parameters
    ----------
    next_to_nothing : float
        Bytes written up to which a flush has next to nothing to put out.
    absolute : bool
        Whether offsets count from the start of the file.

    Attributes
    ----------
    deeds : KeyedSums
        By `Deed` and process.
    paces : KeyedSums
        By mode, size as a power of two, half-octave of time per byte, and process: transfers that took time, but no
        collective ones.
    """

    next_to_nothing: float
    absolute: bool
    deeds: KeyedSums = keyed(2, *_VALUES)
    paces: KeyedSums = keyed(4, *_VALUES)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._streams = self._modes = self._unflushed = NOBODY

    def add(self, traffic: Traffic, rows: Ints) -> None:
        """Add operations, rows of `traffic` in the order of their begins.

        Those of a process come one after the other, until `finish`.
        """
        begin, end = traffic.times(rows)
        size, _ = whole_and_part(traffic.moved[rows])
        operations = traffic.operations
        process, mode = operations.process[rows].astype(np.int64), traffic.mode[rows].astype(np.int64)
        columns = (np.ones(len(rows), np.int64), size, end - begin, begin, end)
        file = column_at(traffic.definitions.handles.file, operations.handle[rows]).astype(np.int64)
        deed = np.full(len(rows), -1)
        known = np.flatnonzero(file >= 0)
        deed[known] = self._follow((process[known] << 32) + file[known], mode[known], size[known])
        self._count((deed, process), columns, deed >= 0)
        transfer = mode != IoMode.FLUSH
        if self.absolute:
            offset = operations.offset[rows]
            beside = offset % np.uint64(ALIGNMENT) != 0
            deed = np.where(beside, Deed.READS_BESIDE, Deed.READS_ALIGNED) + (mode == IoMode.WRITE)
            self._count((deed, process), columns, transfer & (offset < _LARGEST) & (size >= ALIGNMENT))
        # In a collective call a rank is as slow as the others make it.
        alone = (operations.flags[rows] & np.uint32(IoFlag.COLLECTIVE)) == 0
        timed = np.flatnonzero(transfer & alone & (end > begin) & (size > 0))
        power = np.log2(size[timed]).astype(np.int64)
        pace = np.floor(2 * np.log2((end - begin)[timed] / size[timed])).astype(np.int64)
        keys = mode[timed], power, pace, process[timed]
        self.paces = self.paces.merged(_sums(keys, columns, timed))

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Forget what is kept of processes of which more may come: of all but those that are going on."""
        stays = np.isin(self._streams >> 32, going_on)
        self._streams, self._modes, self._unflushed = (
            column[stays] for column in (self._streams, self._modes, self._unflushed)
        )

    def _count(self, keys: tuple[Ints, Ints], columns: tuple[Ints, ...], there: Mask) -> None:
        rows = np.flatnonzero(there)
        self.deeds = self.deeds.merged(_sums([key[rows] for key in keys], columns, rows))

    def _follow(self, stream: Ints, mode: Ints, size: Ints) -> Ints:
        """Return the `Deed` of operations by the order in their stream, and keep how each stream ends."""
        # What is known of a stream goes before its operations, as one that wrote what is not flushed.
        count = len(self._streams)
        both = np.append(self._streams, stream)
        modes = np.append(self._modes, mode)
        written = np.append(self._unflushed, np.where(mode == IoMode.WRITE, size, 0))
        order = np.argsort(both, kind="stable")
        both, modes, written = both[order], modes[order], written[order]
        fresh = np.append(True, both[1:] != both[:-1])[: len(both)]
        deed = np.full(len(both), int(Deed.GOES_ON))
        moves = np.flatnonzero((modes == IoMode.READ) | (modes == IoMode.WRITE))
        turns = (both[moves[1:]] == both[moves[:-1]]) & (modes[moves[1:]] != modes[moves[:-1]])
        deed[moves[1:][turns]] = Deed.TURNS
        until = np.cumsum(written)
        number = np.cumsum(fresh) - 1
        base = (until - written)[fresh]
        flushes = np.flatnonzero(modes == IoMode.FLUSH)
        before = base[number[flushes]]
        again = both[flushes[1:]] == both[flushes[:-1]]
        before[1:][again] = until[flushes[:-1]][again]
        deed[flushes] = np.where(until[flushes] - before <= self.next_to_nothing, Deed.FLUSHES_NOTHING, Deed.FLUSHES)
        ends = np.append(np.flatnonzero(fresh)[1:], len(both))[: int(fresh.sum())] - 1
        last_mode, last_flushed = np.full(len(ends), -1), base.copy()
        last_mode[number[moves]] = modes[moves]
        last_flushed[number[flushes]] = until[flushes]
        self._streams, self._modes, self._unflushed = both[ends], last_mode, until[ends] - last_flushed
        found = np.empty(len(both), np.int64)
        found[order] = deed
        return found[count:]


def _sums(keys: Sequence[Ints], columns: tuple[Ints, ...], rows: Ints) -> KeyedSums:
    return KeyedSums(list(keys), {name: column[rows] for name, column in zip(_VALUES, columns, strict=True)})
