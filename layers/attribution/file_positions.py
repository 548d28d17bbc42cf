"""Where transfers are in their files: offsets that records lack, by opens, seeks and transfers, and how they follow."""

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Integers, Ints, Mask, Rows, Unsigned
from ...model.codes import APPEND, UNDEFINED_UINT64, IoMode, IoRecord
from ...model.operations import followed_places, view
from ...model.sums import NOBODY
from ..selection.window import completed_bytes
from .attribution import TraceBlock

_LAYER: Final = "POSIX"
"""Of streams of ISO C not all calls are recorded: Score-P has no record of ``fprintf``."""
_SETS: Final = (IoRecord.CREATE_HANDLE, IoRecord.DESTROY_HANDLE, IoRecord.DUPLICATE_HANDLE, IoRecord.SEEK)
_APPENDS: Final = (IoRecord.CREATE_HANDLE, IoRecord.CHANGE_STATUS_FLAGS)
_HANDLE: Final = 2**32 - 1
"""Bits of a key that are the handle."""
LARGEST: Final = np.uint64(2**62)
"""Bytes from here on are damaged or unknown."""
_NO_GAP: Final = np.iinfo(np.int64).min


class FilePositions:
    """Follows the position of each file descriptor of POSIX, as ``open``, ``lseek``, ``read`` and ``write`` move it.

    A file is opened at its start, and a seek tells where it went. Unknown is, until the next seek, where a descriptor
    is that was duplicated, that has appended, or that moved data of unknown size; and what two threads move through one
    at once. Sources: POSIX.1-2017, ``open``, ``lseek``, ``read``, ``write``; OTF2, ``IoCreateHandle`` and ``IoSeek``.
    """

    def __init__(self) -> None:
        self._key = self._place = self._appending = NOBODY

    def offsets(self, block: TraceBlock) -> Unsigned:
        """Return where each operation begins, as recorded or else as followed, uint64 (n,); undefined where unknown.

        Blocks of a process come in their order, until `finish`.
        """
        operations = block.operations
        keys, times, places = self._settings(block)
        rows = self._followed(block, np.append(self._key, keys) & _HANDLE)
        own = _keys(operations.process[rows], operations.handle[rows])
        mode, moved = operations.mode[rows], operations.moved[rows]
        appended = (mode == IoMode.WRITE) & np.isin(own, self._appending)
        steps = np.where(appended | (moved >= LARGEST), -1, np.minimum(moved, LARGEST).astype(np.int64))
        first = len(self._key) + len(keys)
        keys = np.concatenate((self._key, keys, own))
        times = np.concatenate((np.full(len(self._key), np.iinfo(np.int64).min), times, operations.begin[rows]))
        order = np.lexsort((times, keys))
        sets = order < first
        places = np.concatenate((self._place, places, np.full(len(rows), -1)))[order]
        steps = np.concatenate((np.zeros(first, np.int64), steps))[order]
        found = followed_places(keys[order], sets, places, steps)
        self._keep(keys[order], np.where(sets, places, np.where((found < 0) | (steps < 0), -1, found + steps)))
        transfers = np.flatnonzero(~sets)
        row = rows[order[transfers] - first]
        unknown = (found[transfers] < 0) | appended[order[transfers] - first]
        unknown |= _at_once(keys[order[transfers]], operations.begin[row], operations.end[row])
        offsets = operations.offset.copy()
        offsets[row] = np.where(unknown, np.uint64(UNDEFINED_UINT64), found[transfers].astype(np.uint64))
        return offsets

    def finish(self, going_on: Ints = NOBODY) -> None:
        """Forget what is kept of processes of which more may come: of all but those that are going on."""
        stays = np.isin(self._key >> 32, going_on)
        self._key, self._place = self._key[stays], self._place[stays]
        self._appending = self._appending[np.isin(self._appending >> 32, going_on)]

    def _followed(self, block: TraceBlock, handles: Ints) -> Rows:
        """Return the rows of reads and writes that tell no offset, through `handles`, whose place may be known."""
        if not len(handles) or _LAYER not in block.layers or block.definitions.recording.handles != "recorded":
            return np.zeros(0, np.intp)
        known = np.zeros(len(block.stack.layer) + 1, np.bool_)
        known[handles] = True
        known[:-1] &= block.stack.layer == block.layer_row(_LAYER)
        there = known[block.handle] & (block.operations.offset >= LARGEST)
        return np.flatnonzero(there & ((block.mode == IoMode.READ) | (block.mode == IoMode.WRITE)))

    def _settings(self, block: TraceBlock) -> tuple[Ints, Ints, Ints]:
        """Return the handle, time and new place of all that sets one, and note handles that append."""
        events, metadata = block.other_events, block.metadata
        keys = _keys(metadata.process, metadata.handle)
        appends = np.isin(events.kind, _APPENDS) & (events.flags & np.uint32(APPEND) != 0)
        self._appending = np.union1d(self._appending, keys[appends])
        sets = np.flatnonzero(np.isin(events.kind, _SETS) & (metadata.handle >= 0))
        kind, offset = events.kind[sets], events.offset[sets]
        sought = np.where((kind == IoRecord.SEEK) & (offset < LARGEST), offset, 0).astype(np.int64)
        known = (kind == IoRecord.CREATE_HANDLE) | ((kind == IoRecord.SEEK) & (offset < LARGEST))
        copies = sets[(kind == IoRecord.DUPLICATE_HANDLE) & (metadata.new_handle[sets] >= 0)]
        copied = _keys(metadata.process[copies], metadata.new_handle[copies])
        return (
            np.append(keys[sets], copied),
            np.append(events.time[sets], events.time[copies]),
            np.append(np.where(known, sought, -1), np.full(len(copies), -1)),
        )

    def _keep(self, keys: Ints, places: Ints) -> None:
        last = np.flatnonzero(np.diff(keys, append=-1) != 0)
        known = last[places[last] >= 0]
        self._key, self._place = keys[known], places[known]


class FollowedGaps:
    """Follows how far from the end of the one before each transfer begins, of its stream and kind."""

    def __init__(self) -> None:
        self._latest = np.zeros((4, 0), np.int64)

    def follow(self, stream: Ints, kind: Ints, begin: Ints, size: Ints) -> tuple[Mask, Mask, Mask, Mask]:
        """Return what transfers do: the first, apart from the end of the one before, back from it, apart in strides.

        Parameters
        ----------
        stream, kind : int64 (n,)
            Those of both the same follow one another; the upper half of a stream is its process, until `finish`.
        begin, size : int64 (n,)
            In bytes.

        Returns
        -------
        bool (n,) each
            The last two are among those apart; in strides is one as far from the one before as that was from its own.
        """
        fresh = np.stack((stream, kind, begin + size, np.full(len(begin), _NO_GAP)))
        both = np.append(self._latest, fresh, axis=1)
        begin = np.append(np.zeros(self._latest.shape[1], np.int64), begin)
        order = np.lexsort((both[1], both[0]))
        stream, kind, end, gap = both[:, order]
        again = np.append(False, (stream[1:] == stream[:-1]) & (kind[1:] == kind[:-1]))[: len(order)]
        gap[again] = begin[order][again] - end[np.flatnonzero(again) - 1]
        before = np.where(again, np.roll(gap, 1), _NO_GAP)
        known = self._latest.shape[1]
        self._latest = np.stack((stream, kind, end, gap))[:, ~np.append(again[1:], False)[: len(order)]]
        found = np.empty((2, len(order)), np.int64)
        found[:, order] = gap, before
        gap, before = found[:, known:]
        first = gap == _NO_GAP
        apart = (gap != 0) & ~first
        return first, apart, apart & (gap < 0), apart & (gap == before)

    def finish(self, going_on: Ints = NOBODY) -> bool:
        """As `FilePositions.finish`; tell whether there was anything to forget."""
        stays = np.isin(self._latest[0] >> 32, going_on)
        self._latest = self._latest[:, stays]
        return not stays.all()


class AccessKinds:
    """Tells block by block which transfers go on where the one before of their process, file and kind ended.

    Parameters
    ----------
    layers : sequence of str
        Names by the rows that blocks have.
    """

    NAMES: Final = ("consecutive", "strided", "random")

    def __init__(self, layers: Sequence[str]) -> None:
        self._layers, self._positions, self._gaps = layers, FilePositions(), FollowedGaps()

    def of(self, block: TraceBlock, rows: Rows) -> npt.NDArray[np.int8]:
        """Return the place in `NAMES` of operations in some rows of a block; −1 where it is not known, or no transfer.

        Blocks of a process come in their order.
        """
        operations = view(block.operations, rows)
        process, file = operations.process.astype(np.int64), block.file[rows].astype(np.int64)
        going_on = np.unique(block.operations.process).astype(np.int64)
        self._positions.finish(going_on)
        self._gaps.finish(going_on)
        offset, mode = self._positions.offsets(block)[rows], operations.mode
        # The last place is of operations that are in no layer, whose layer is −1.
        absolute = np.array([*map(block.absolute_offsets, self._layers), False], np.bool_)
        moves = (mode == IoMode.READ) | (mode == IoMode.WRITE)
        placed = moves & (offset < LARGEST) & (file >= 0) & absolute[block.layer[rows]]
        kind = block.layer[rows].astype(np.int64) * len(IoMode) + mode
        stream, moved = (process << 32) + file, completed_bytes(operations).astype(np.int64)
        _, apart, _, strided = self._gaps.follow(
            stream[placed], kind[placed], offset[placed].astype(np.int64), moved[placed]
        )
        found = np.full(len(rows), -1, np.int8)
        found[placed] = np.where(strided, 1, np.where(apart, 2, 0))
        return found


def _keys(process: Integers, handle: Integers) -> Ints:
    return (process.astype(np.int64) << 32) + handle


def _at_once(keys: Ints, begin: Ints, end: Ints) -> Mask:
    """Return which of calls in their order go on at the same time as the one before or behind through the same."""
    both = np.zeros(len(keys) + 1, np.bool_)
    both[1:-1] = (keys[1:] == keys[:-1]) & (begin[1:] < end[:-1])
    found: Mask = both[1:] | both[:-1]
    return found
