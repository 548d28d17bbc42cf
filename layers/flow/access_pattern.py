"""What operations do one after the other, each process's with a file: in order, in strides, again, how fast."""

from collections.abc import Iterator, Sequence
from enum import IntEnum
from typing import Final

import numpy as np

from ...model.arrays import Ints, Links, Mask, Unsigned
from ...model.codes import UNDEFINED_UINT64, IoFlag, IoMode
from ...model.document import Record
from ...model.keyed import KeyedSums, rows_beyond
from ...model.operations import Operations
from ...model.ranges import RangeUnion
from ...model.sums import NOBODY, Sums, added, keyed, nested
from ..attribution.attribution import Attributed, TraceBlock
from ..attribution.file_positions import FollowedGaps
from ..selection.window import Amounts, completed_bytes, whole_and_part, zeros_like_amounts
from .calls import ALIGNMENT

_COUNTED: Final = ("sequential", "strided", "random", "first", "unknown", "located_bytes")
_MOST_PLACES: Final = 1 << 16
_LARGEST: Final = np.uint64(2**62)
"""Offsets from here on are damaged; below, sums of offset and size stay within int64."""


class AccessPattern(Record):
    """Access pattern of operations of one direction.

    Each operation is compared with the one before it of the same process on the same file.

    Attributes
    ----------
    sequential : int
        Operations that start where the one before ended.
    strided : int
        Others that begin as far from the end of the one before as that did from its own.
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


class AccessSums(Sums):
    """Access patterns of operations, added up: each process's with a file by themselves, what they cover together.

    Parameters
    ----------
    absolute : bool
        Whether offsets count from the start of the file. Those of MPI-IO count from the start of the file view, which
        each rank sets for itself and no record tells (MPI 4.1, §14.3).
    exact : bool
        Whether all stretches of files are kept, however many there are.
    """

    absolute: bool
    exact: bool
    _counts: Ints = added(lambda _sums: np.zeros(len(_COUNTED), np.int64))
    _covered: int = added(0)
    _ranges: RangeUnion = nested(lambda sums: RangeUnion(sums.exact))

    def prepare(self) -> None:
        self._own = RangeUnion(self.exact)
        self._gaps = FollowedGaps()

    def add(self, operations: Operations, file: Links, offset: Unsigned) -> None:
        """Add operations of one direction, (n,), in the order of their begins.

        With the file of each, −1 where unknown, and where in it the operation begins, undefined where unknown.
        Those of a process come one after the other, until `finish`.
        """
        at, size, known = _ranges(operations, file, offset)
        process, of_file = operations.process[known].astype(np.int64), file[known].astype(np.int64)
        stream = (process << 32) + of_file
        first, apart, _, strided = self._gaps.follow(stream, np.zeros_like(stream), at, size)
        numbers = len(at) - int(first.sum() + apart.sum()), strided.sum(), apart.sum() - strided.sum(), first.sum()
        self._counts += np.array([*numbers, len(operations) - len(at), size.sum()], np.int64)
        if self.absolute:
            self._ranges.add(of_file, at, at + size)
            self._own.add(stream, at, at + size)

    def pattern(self) -> AccessPattern:
        """Return the pattern."""
        counts = dict(zip(_COUNTED, self._counts.tolist(), strict=True))
        located = counts["located_bytes"]
        repeated = located - self._covered - self._own.length
        overlapping = max(0, located - self._ranges.length)
        if not self.absolute:
            return AccessPattern(**counts, repeated_bytes=None, overlapping_bytes=None)
        return AccessPattern(**counts, repeated_bytes=repeated, overlapping_bytes=overlapping)

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Forget what is kept of processes of which more may come: of all but those that are going on."""
        if self._gaps.finish(going_on):
            self._covered += self._own.released(going_on)


class ReadBackSums(Sums):
    """How many bytes processes read in places that they had begun to write themselves.

    Reads count from the begin of the process's first write to the file on, each of them: what is read twice counts
    twice. With more than 2^16 places where reads begin or end, beyond two of each process and file, they are rounded
    outwards, unless `exact`.
    """

    exact: bool
    _bytes: int = added(0)

    def prepare(self) -> None:
        self._shift, self._written = 0, NOBODY
        self._reads, self._writes = KeyedSums.none(2, "change"), RangeUnion(self.exact)

    def add(self, operations: Operations, file: Links, offset: Unsigned) -> None:
        """Add reads and writes of one layer, as `AccessSums.add`."""
        at, size, known = _ranges(operations, file, offset)
        process = operations.process[known].astype(np.int64)
        key = (process << 32) + file[known]
        writes = operations.mode[known] == IoMode.WRITE
        streams, stream = np.unique(key, return_inverse=True)
        first = np.where(np.isin(streams, self._written), -1, len(stream))
        place = np.arange(len(stream))
        np.minimum.at(first, stream[writes], place[writes])
        reads = (operations.mode[known] == IoMode.READ) & (place > first[stream])
        self._written = np.union1d(self._written, key[writes])
        self._writes.add(key[writes], at[writes], (at + size)[writes])
        ends = np.append(at[reads], (at + size)[reads])
        change = np.repeat(np.array([1, -1]), len(ends) // 2)
        self._take(KeyedSums([np.append(key[reads], key[reads]), ends], {"change": change}))

    @property
    def bytes(self) -> int:
        """The number of bytes."""
        return self._bytes + _covered(self._reads, self._writes)

    def finish(self, going_on: Ints = NOBODY) -> None:
        """As `AccessSums.finish`."""
        if not (~np.isin(self._written >> 32, going_on)).any():
            return
        self._written = self._written[np.isin(self._written >> 32, going_on)]
        stays = np.isin(self._reads.keys[0] >> 32, going_on)
        self._bytes += _covered(self._reads.taken(~stays), self._writes)
        self._reads = self._reads.taken(stays)
        self._shift = self._shift if len(self._reads) else 0
        self._writes.released(going_on)

    def _take(self, fresh: KeyedSums) -> None:
        """Add places where more or fewer reads go on than before."""
        reads = self._reads.merged(fresh)
        while True:
            # Reads that follow one another leave no place between them.
            reads = reads.taken(reads["change"] != 0)
            if self.exact or rows_beyond(reads.keys[:1], 2) <= _MOST_PLACES:
                break
            self._shift += 1
            group, at = reads.keys
            begins = reads["change"] > 0
            at = np.where(begins, at >> self._shift, -(-at >> self._shift)) << self._shift
            reads = KeyedSums((group, at), reads.values)
        self._reads = reads


def _covered(reads: KeyedSums, writes: RangeUnion) -> int:
    """Return how many bytes of reads, changes by group and place, lie within what was written."""
    group, begin, end = writes.covered()
    one, none = np.ones(len(group), np.int64), np.zeros(len(reads), np.int64)
    keys = [np.concatenate((reads.keys[0], group, group)), np.concatenate((reads.keys[1], begin, end))]
    values = {"reads": np.concatenate((reads["change"], 0 * one, 0 * one)), "writes": np.concatenate((none, one, -one))}
    both = KeyedSums(keys, values)
    same = np.diff(both.keys[0]) == 0
    within = same & (np.cumsum(both["writes"])[:-1] > 0)
    return int((np.cumsum(both["reads"])[:-1] * np.diff(both.keys[1]))[within].sum())


def _ranges(operations: Operations, file: Links, offset: Unsigned) -> tuple[Ints, Ints, Mask]:
    """Return offsets and sizes of the operations that have them, int64 (m,), and which these are, bool (n,)."""
    moved = completed_bytes(operations)
    known = (offset < _LARGEST) & (operations.moved != UNDEFINED_UINT64) & (file >= 0)
    return offset[known].astype(np.int64), moved[known].astype(np.int64), known


_VALUES: Final = ("count", "bytes", "ticks", "begin", "end")
_BY_OTHERS: Final = -2
"""Stands for the mode of a write that another layer makes: flushes put it out, and no transfer is before or after."""


class Deed(IntEnum):
    """What an operation does beside those around it; transfers are seen several times, by order and by place."""

    GOES_ON = 0
    """A transfer in the direction of the one before on the file, or the first there."""
    TURNS = 1
    """A transfer in the other direction than the one before."""
    FLUSHES = 2
    """A flush after writes, also by layers above or for them, or one that has a lower layer write; its bytes are what
    that writes."""
    FLUSHES_NOTHING = 3
    """A flush after none that writes nothing."""
    READS_ALIGNED = 4
    """A request of at least `ALIGNMENT` bytes that begins at a multiple of it."""
    WRITES_ALIGNED = 5
    READS_BESIDE = 6
    """One that begins elsewhere."""
    WRITES_BESIDE = 7
    READS_NEXT = 8
    """A read that begins where the one before of its process and file ended, or the first one."""
    WRITES_NEXT = 9
    READS_APART = 10
    """One that begins elsewhere; those below are among these."""
    WRITES_APART = 11
    READS_BACK = 12
    """One that begins before the one before ended."""
    WRITES_BACK = 13
    READS_IN_STRIDES = 14
    """One as far from the one before as that was from its own."""
    WRITES_IN_STRIDES = 15


class Access(Record):
    """Where requests of a layer and direction lie in their files.

    Each is compared with the one before of its process, file and direction.

    Attributes
    ----------
    layer, direction : str
    above : str or None
        The layer right above that makes these requests, None for those that the program makes itself.
    operations : int
        Those whose place is known, as the trace has it or as it follows from opens, seeks and transfers.
    consecutive : int
        Those that begin where the one before ended, and first ones.
    strided : int
        Others that are as far from the one before as that was from its own.
    random : int
        All others.
    backward : int or None
        Those of strided and random ones that begin before the one before ended; known of the program's own.
    """

    layer: str
    direction: str
    above: str | None
    operations: int
    consecutive: int
    strided: int
    random: int
    backward: int | None

    @property
    def shares(self) -> dict[str, float]:
        """The shares of the requests of each kind, in words."""
        kinds = {"consecutive": self.consecutive, "in strides": self.strided, "random": self.random}
        return {kind: count / self.operations for kind, count in kinds.items()}

    @property
    def name(self) -> str:
        """What makes the requests, in words: ``POSIX write below MPI-IO``."""
        return f"{self.layer} {self.direction}" + (f" below {self.above}" if self.above else "")


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

    def prepare(self) -> None:
        self._streams = self._modes = self._unflushed = NOBODY
        self._gaps = FollowedGaps()

    def add(self, traffic: TraceBlock, rows: Ints, others: Ints, offset: Unsigned) -> None:
        """Add operations, rows of `traffic` in the order of their begins, and where in the file they are.

        Those of a process come one after the other, until `finish`. `others` are writes and flushes of the same files
        that are not the layer's own: what flushes put out.
        """
        begin, end = traffic.times(rows)
        operations = traffic.operations
        process, mode = operations.process[rows].astype(np.int64), traffic.mode[rows].astype(np.int64)
        size, _ = whole_and_part(traffic.moved[rows])
        if (mode == IoMode.FLUSH).any():
            size += whole_and_part(written_in_flushes(traffic, traffic.moved)[rows])[0]
        columns = (np.ones(len(rows), np.int64), size, end - begin, begin, end)
        file = traffic.file[rows].astype(np.int64)
        deed = np.full(len(rows), -1)
        known, transfer = np.flatnonzero(file >= 0), mode != IoMode.FLUSH
        if not transfer.all():
            # What a flush of a folder puts out are names, which nothing counts.
            known = known[transfer[known] | ~traffic.scope.folders[file[known]]]
        deed[known] = self._followed(traffic, rows, known, others, (file[known], mode[known], size[known]))
        self._count((deed, process), columns, deed >= 0)
        if self.absolute:
            beside = offset % np.uint64(ALIGNMENT) != 0
            deed = np.where(beside, Deed.READS_BESIDE, Deed.READS_ALIGNED) + (mode == IoMode.WRITE)
            placed = transfer & (offset < _LARGEST)
            self._count((deed, process), columns, placed & (size >= ALIGNMENT))
            placed &= file >= 0
            apart, back, strided = (np.zeros(len(rows), np.bool_) for _ in range(3))
            stream = (process[placed] << 32) + file[placed]
            _, apart[placed], back[placed], strided[placed] = self._gaps.follow(
                stream, mode[placed], offset[placed].astype(np.int64), size[placed]
            )
            writes = (mode == IoMode.WRITE).astype(np.int64)
            for deed_there, there in (
                (Deed.READS_NEXT, placed & ~apart),
                (Deed.READS_APART, apart),
                (Deed.READS_BACK, back),
                (Deed.READS_IN_STRIDES, strided),
            ):
                self._count((deed_there + writes, process), columns, there)
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
        columns = self._streams, self._modes, self._unflushed
        self._streams, self._modes, self._unflushed = (column[stays] for column in columns)
        self._gaps.finish(going_on)

    def accesses(self, layer: str) -> Iterator[Access]:
        """Give where reads and writes lie in their files, as far as it is known."""
        for mode, direction in enumerate(("read", "write")):
            deeds = Deed.READS_NEXT, Deed.READS_APART, Deed.READS_BACK, Deed.READS_IN_STRIDES
            masks = (self.deeds.keys[0] == deed + mode for deed in deeds)
            after, apart, back, strided = (int(self.deeds["count"][mask].sum()) for mask in masks)
            if after + apart:
                yield Access(layer, direction, None, after + apart, after, strided, apart - strided, back)

    def _count(self, keys: tuple[Ints, Ints], columns: tuple[Ints, ...], there: Mask) -> None:
        rows = np.flatnonzero(there)
        self.deeds = self.deeds.merged(_sums([key[rows] for key in keys], columns, rows))

    def _followed(
        self, traffic: TraceBlock, rows: Ints, known: Ints, others: Ints, columns: tuple[Ints, Ints, Ints]
    ) -> Ints:
        """Return the `Deed` of the `known` of some rows, with the writes and flushes of `others` between them."""
        others = others[traffic.file[others] >= 0]
        modes = traffic.mode[others].astype(np.int64)
        of_others = (
            traffic.file[others].astype(np.int64),
            np.where(modes == IoMode.FLUSH, IoMode.FLUSH, _BY_OTHERS),
            whole_and_part(traffic.moved[others])[0],
        )
        both = np.append(rows[known], others)
        order = np.argsort(both, kind="stable")
        file, mode, size = (np.append(*pair)[order] for pair in zip(columns, of_others, strict=True))
        stream = (traffic.operations.process[both[order]].astype(np.int64) << 32) + file
        found = np.empty(len(both), np.int64)
        found[order] = self._follow(stream, mode, size)
        return found[: len(known)]

    def _follow(self, stream: Ints, mode: Ints, size: Ints) -> Ints:
        """Return the `Deed` of operations by the order in their stream, and keep how each stream ends."""
        # What is known of a stream goes before its operations, as one that wrote what is not flushed.
        count = len(self._streams)
        both = np.append(self._streams, stream)
        modes = np.append(self._modes, mode)
        written = np.append(self._unflushed, np.where(mode == IoMode.READ, 0, size))
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


def written_in_flushes(operations: Attributed, moved: Amounts) -> Amounts:
    """Return the bytes, of those `moved`, that lower layers write in each flush, such as what a library keeps; (n,).

    What one of them writes in turn for another is not told again.
    """
    found, parent = zeros_like_amounts(moved, len(moved)), operations.attribution.parent
    flush, write = operations.mode == IoMode.FLUSH, operations.mode == IoMode.WRITE
    rows = np.flatnonzero(write & (parent >= 0) & flush[parent])
    above = parent[rows]
    # A flush of one layer may flush the next one, whose writes are its own, too.
    while len(rows):
        np.add.at(found, above, moved[rows])
        higher = parent[above]
        on = (higher >= 0) & flush[higher]
        rows, above = rows[on], higher[on]
    return found


def _sums(keys: Sequence[Ints], columns: tuple[Ints, ...], rows: Ints) -> KeyedSums:
    return KeyedSums(list(keys), {name: column[rows] for name, column in zip(_VALUES, columns, strict=True)})
