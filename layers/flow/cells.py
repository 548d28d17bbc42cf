"""Operations of one kind taken together: what flows, balances and findings need of a trace, in a table that merges."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Self

import numpy as np

from ...model.arrays import Array, Codes, Ints, Links, Mask, Octets, Rows
from ...model.codes import UNDEFINED_UINT64, IoFlag
from ...model.sums import Sums, either
from ..attribution.attribution import Attributed, Attribution, TraceBlock
from ..handles.scope import Scope
from ..selection.window import FRACTION, Amounts, whole_and_part

_FLAGS: Final = np.uint32(IoFlag.COLLECTIVE | IoFlag.NON_BLOCKING)
_MODE, _FLAG, _WITHIN, _INFERRED, _MOVING, _SMALL, _LARGE, _BARE, _BESIDE = 0, 8, 12, 13, 14, 15, 16, 17, 18
"""Where the bits of a kind stand."""
_EARLY, _SPLIT, _LAYERS = 20, 36, 16
"""Where the bits begin that there are one a layer of, and of how many layers."""


class CellColumns(NamedTuple):
    """What is known of each cell, or of each operation that is put into one; int64 (n,)."""

    parent: Ints
    handle: Ints
    process: Ints
    bits: Ints
    operations: Ints
    whole: Ints
    part: Ints
    ticks: Ints
    begin: Ints
    end: Ints


class CellSums(Sums):
    """Cells that operations are added to; memory follows the handles that each process uses, not the operations.

    Operations are of one kind where process, handle, mode, flags and the other bits are the same, and the operations
    above them are of one kind too. So a cell has a parent, as an operation has.
    """

    cut: bool = either(False)

    def prepare(self) -> None:
        from ...model.kernels import random_seed

        self._seed = random_seed()
        self._make_room(1 << 8)

    def _make_room(self, cells: int) -> None:
        self._columns = CellColumns(*np.zeros((len(CellColumns._fields), cells), np.int64))
        # With most of its places free, the next free one is near.
        self._table = np.full(4 * cells, -1, np.int64)
        self.used = 0

    def add(self, traffic: TraceBlock, small: float, early: Ints, split: Ints) -> None:
        """Add operations.

        Parameters
        ----------
        small : float
            Size in bytes below which a request is small.
        early : int64 (n,)
            Layers, one bit each, whose format an operation serves before its process first writes the file there.
        split : int64 (n,)
            Layers, one bit each, in which an operation became several.
        """
        operations, rows = traffic.operations, np.arange(len(traffic.operations))
        within, moved = traffic.within, traffic.moved
        self.cut |= moved.dtype != np.uint64
        whole, part = whole_and_part(moved)
        begin, end = operations.begin, operations.begin
        ticks = np.zeros(len(rows), np.int64)
        if within.all():
            begin, end = traffic.times(rows)
            ticks = end - begin
        elif within.any():
            begin, end = begin.copy(), end.copy()
            begin[within], end[within] = traffic.times(rows[within])
            ticks = np.where(within, end - begin, 0)
        bare = np.ones(len(rows), np.bool_)
        parent = traffic.attribution.parent
        bare[parent[parent >= 0]] = False
        size = operations.size
        known, is_small = size != UNDEFINED_UINT64, size < small
        locations = traffic.definitions.locations
        beside = np.ones(len(locations.group), np.bool_)
        beside[locations.first] = False
        bits = operations.mode.astype(np.int64)
        bits |= (operations.flags & _FLAGS).astype(np.int64) << _FLAG
        conditions = {
            _WITHIN: within,
            _INFERRED: traffic.attribution.inferred,
            _MOVING: moved > 0,
            _SMALL: known & is_small,
            _LARGE: known & ~is_small,
            _BARE: bare,
            _BESIDE: beside[operations.location],
        }
        for place, condition in conditions.items():
            bits |= condition.astype(np.int64) << place
        bits |= (early & (2**_LAYERS - 1)) << _EARLY | (split & (2**_LAYERS - 1)) << _SPLIT
        handle, process = operations.handle.astype(np.int64), operations.process.astype(np.int64)
        self._take(CellColumns(parent, handle, process, bits, within.astype(np.int64), whole, part, ticks, begin, end))

    def absorb(self, other: Self) -> None:
        """Add the cells of `other`."""
        self._take(other.columns)

    @property
    def columns(self) -> CellColumns:
        """The cells there are; a parent stands before its children."""
        return CellColumns(*(column[: self.used] for column in self._columns))

    def _take(self, rows: CellColumns) -> None:
        from .flow_kernels import add_to_cells

        cell_of_row = np.empty(len(rows.handle), np.int64)
        done = 0
        while True:
            done, self.used = add_to_cells(rows, done, cell_of_row, self._table, self._columns, self.used, self._seed)
            if done == len(cell_of_row):
                return
            # Twice the room, in which the cells are rows of their own.
            known = self.columns
            self._make_room(2 * len(known.handle))
            self._take(known)


def _bit(place: int, doc: str) -> Any:
    """Return the property that tells which cells have a bit."""
    return property(lambda cells: cells.has(place), doc=doc)


@dataclass(frozen=True, eq=False)
class Cells(Attributed):
    """The cells of a trace, columns of shape (n,), with what tells of each where it stands."""

    scope: Scope
    sums: CellSums

    @cached_property
    def columns(self) -> CellColumns:
        """The sums."""
        return self.sums.columns

    @cached_property
    def handle(self) -> Links:
        return self.columns.handle.astype(np.int32)

    @cached_property
    def mode(self) -> Octets:
        return (self.columns.bits & 0xFF).astype(np.uint8)

    @cached_property
    def attribution(self) -> Attribution:
        """The parent of each cell."""
        return Attribution(self.at_handles(self.stack.layer), self.columns.parent, self.has(_INFERRED))

    @cached_property
    def process(self) -> Links:
        """Row of the process, int32."""
        return self.columns.process.astype(np.int32)

    @cached_property
    def flags(self) -> Codes:
        """`IoFlag`, uint32."""
        return (self.columns.bits >> _FLAG & 0xF).astype(np.uint32)

    within = _bit(_WITHIN, "Whether the operations overlap the window.")
    moving = _bit(_MOVING, "Whether they moved bytes.")
    small = _bit(_SMALL, "Whether they asked for less than what is small.")
    bare = _bit(_BARE, "Whether no operation of a lower layer ran inside.")
    beside = _bit(_BESIDE, "Whether another thread than the first one of the process began them.")

    @cached_property
    def selected(self) -> Mask:
        """Whether they overlap the window and are on a selected file."""
        return np.asarray(self.within & (self.selection.reason_of(self.handle) < 0))

    @property
    def sized(self) -> Mask:
        """Whether the trace knows what they asked for."""
        return self.has(_SMALL) | self.has(_LARGE)

    def early(self, layer: int) -> Mask:
        """Return whether they serve the format of a layer before their process first writes the file there."""
        return self.has(_EARLY + layer) if layer < _LAYERS else np.zeros(len(self.handle), np.bool_)

    def split(self, layer: int) -> Mask:
        """Return whether each became several in a layer."""
        return self.has(_SPLIT + layer) if layer < _LAYERS else np.zeros(len(self.handle), np.bool_)

    @cached_property
    def moved(self) -> Amounts:
        """Bytes within the window; float64 where it cuts an operation of the trace."""
        whole, part = self.columns.whole, self.columns.part
        return np.asarray(whole + part / FRACTION) if self.sums.cut else whole.astype(np.uint64)

    def has(self, place: int) -> Mask:
        """Return which have a bit."""
        return np.asarray(self.columns.bits >> place & 1 == 1)

    def of(self, layer: str, direction: str) -> Mask:
        """Return which are of a layer and direction on selected files within the window."""
        shown = self.selected & (self.layer == self.layer_row(layer))
        return np.asarray(shown & self.of_direction(direction), np.bool_)

    def operations(self, cells: Array) -> int:
        """Return the number of operations in some cells, a mask or rows."""
        return int(self.columns.operations[cells].sum())

    def bytes(self, cells: Array) -> int | float:
        """Return the bytes that the operations in some cells moved; an int where they are whole."""
        return self.amount(int(self.columns.whole[cells].sum()), int(self.columns.part[cells].sum()))

    def amount(self, whole: int, part: int) -> int | float:
        """Return a sum of bytes: an int, or a float where the window cuts an operation of the trace."""
        return whole + part / FRACTION if self.sums.cut else whole

    def seconds(self, cells: Array) -> float:
        """Return the sum of the durations of the operations in some cells in s."""
        return int(self.columns.ticks[cells].sum()) / self.window.ticks_per_second

    def handles(self, cells: Array) -> Links:
        """Return the distinct handles of some cells."""
        return np.unique(self.handle[cells])

    def extent(self, cells: Array) -> tuple[float, float]:
        """Return the first begin and the last end within the window of some cells, at least one, in s."""
        second = self.window.ticks_per_second
        return int(self.columns.begin[cells].min()) / second, int(self.columns.end[cells].max()) / second


def layer_bits(marks: Iterable[tuple[int, Rows]], rows: int) -> Ints:
    """Return a number a row with the bit of each layer that marks it."""
    bits = np.zeros(rows, np.int64)
    for layer, marked in marks:
        if layer < _LAYERS:
            bits[marked] |= 1 << layer
    return bits
