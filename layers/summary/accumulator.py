"""Sums over the operations of a trace while it is being read: all that layers and handles need of them."""

from collections.abc import Iterable
from typing import Any, Final

import numpy as np

from ...model.arrays import Unsigned, empty_columns
from ...model.codes import UNDEFINED_UINT64, IoMode, Status
from ...model.operations import Operations
from ...model.sums import Sums, by_key, nested, reduced
from ..handles.scope import Scope
from ..selection.window import Amounts
from ..statistics.distribution import ValueCounts
from .bins import BinGrid
from .busy_time import BusyTime
from .tables import MODES, HandleCategories, Kept, OperationColumns, OperationTables, merged_tables, new_sums

_ROWS: Final = 1 << 16


class OperationSums(Sums):
    """Everything that is kept of the operations that are added; memory follows bins, layers, handles and processes.

    Parameters
    ----------
    scope : Scope
        What counts.
    bins : BinGrid, optional
        Bins like which there are some for the bandwidths, with a signal for each category; where operations are kept,
        they tell them exactly.
    """

    scope: Scope
    bins: BinGrid | None = None
    sums: OperationTables = reduced(lambda one: one.no_tables(), merged_tables)
    busy: dict[int, BusyTime] = by_key(lambda one: {category: one.no_time() for category in one.wide.tolist()})
    requests: dict[int, ValueCounts] = by_key()
    grid: BinGrid | None = nested(lambda one: None if one.bins is None else one.bins.empty())

    def __post_init__(self) -> None:
        selection, lineages = self.scope.selection, self.scope.lineages
        self.categories = len(lineages) * MODES
        # What takes much memory is kept by layer, own or inherited, and mode only.
        wider = {kind: number for number, kind in enumerate(dict.fromkeys(lineages.traffic))}
        kinds = [wider[kind] for kind in lineages.traffic]
        self.wide = np.array(categories_of(kinds, range(MODES)), np.int32)
        shown = selection.selected & (lineages.of_handle >= 0)
        self.category_of_handle = np.where(shown, lineages.of_handle * MODES, -1).astype(np.int32)
        definitions = self.scope.definitions
        called = [one.identification in definitions.recording.called for one in definitions.paradigms]
        self._called = np.append(np.append(called, False).astype(np.bool_)[definitions.handles.paradigm], False)
        self._reasons = np.append(selection.handle_reason, selection.undefined_handle).astype(np.int32)
        super().__post_init__()

    def no_tables(self) -> OperationTables:
        """Return empty tables, with a category for what is set aside."""
        definitions = self.scope.definitions
        processes, handles = len(definitions.groups.id), len(definitions.handles.id)
        return new_sums(self.categories + 1, processes, handles, len(self.scope.selection.reasons))

    def no_time(self) -> BusyTime:
        """Return no busy time."""
        return BusyTime(*self.scope.covered, self.scope.exact)

    def add_operations(self, operations: Operations) -> None:
        """Add operations, in any order."""
        kept = empty_columns(Kept, min(len(operations), _ROWS))
        for first in range(0, len(operations), _ROWS):
            self._add_rows(operations, slice(first, first + _ROWS), kept)

    def take_scope(self, scope: Scope) -> None:
        """Take the scope with its true window, which is known when all is added, and cover it with bins."""
        self.scope = scope
        if self.grid is not None:
            self.grid.cover(scope.window)

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        first, last = self.sums.extent.tolist()
        return (first, last) if first <= last else None

    def handle_bytes(self, mode: int) -> Amounts:
        """Return the bytes read or written through each handle, uint64; float64 where the window cuts operations."""
        whole, part = self.sums.handle_bytes[:, mode].T
        return np.asarray(whole + part * 2.0**-32) if self.sums.any_cut[0] else whole.astype(np.uint64)

    def request_counts(self, categories: Iterable[int]) -> ValueCounts:
        """Return how often each size was asked for in `categories`."""
        found = ValueCounts(self.scope.exact)
        for category in self._wide(categories):
            if category in self.requests:
                found.merge(self.requests[category])
        return found

    def busy_time(self, categories: Iterable[int]) -> BusyTime:
        """Return when an operation of `categories` that ended was under way."""
        found = self._wide(categories)
        if len(found) == 1:
            return self.busy[found[0]]
        union = self.no_time()
        for category in found:
            union.merge(self.busy[category])
        return union

    def _wide(self, categories: Iterable[int]) -> list[int]:
        return sorted({int(self.wide[category]) for category in categories})

    def _add_rows(self, operations: Operations, rows: slice, kept: Kept) -> None:
        from .kernels import add_operations

        columns = OperationColumns(*(getattr(operations, name)[rows] for name in OperationColumns._fields))
        count, window = len(columns.begin), self.scope.window
        of_handles = HandleCategories(self.category_of_handle, self._reasons, self.categories)
        add_operations(columns, of_handles, window.start, window.end, window.closed, self.sums, kept)
        columns_kept: Any = (column[:count] for column in kept)
        part = Kept(*columns_kept)
        wide = np.append(self.wide, -1)[part.category]
        # Sixteen bits are sorted in linear time; masks would go through all rows for each category.
        order: Any = slice(None)
        if count and (wide != wide[0]).any():
            order = np.argsort(wide.astype(np.int16) if len(self.busy) < 2**15 else wide, kind="stable")
        ordered = wide[order]
        edges = np.append(0, np.flatnonzero(ordered[1:] != ordered[:-1]) + 1)[:count]
        categories = ordered[edges]
        begin, end, requested = part.begin[order], part.end[order], self._requests(operations, rows, part)[order]
        ended = columns.status != Status.NEVER_COMPLETED
        ended = ended if ended.all() else ended[order]
        for category, first, last in zip(categories.tolist(), edges, np.append(edges[1:], count), strict=True):
            if category < 0:
                continue
            lasting = ended[first:last]
            # What waits there must not lie in the room of the rows that come next.
            own = (one[first:last].copy() if lasting.all() else one[first:last][lasting] for one in (begin, end))
            self.busy[category].add(*own)
            if category % MODES != IoMode.FLUSH:
                if category not in self.requests:
                    self.requests[category] = ValueCounts(self.scope.exact)
                self.requests[category].add(requested[first:last])
        if self.grid is not None:
            found = np.flatnonzero(np.bincount(part.category[part.category >= 0]))
            self.grid.add(part, count, found[found % MODES != IoMode.FLUSH])

    def _requests(self, operations: Operations, rows: slice, part: Kept) -> Unsigned:
        """Return the bytes that operations requested; those that are only the least that calls moved are added up."""
        requested = operations.requested[rows]
        if not self._called.any():
            return requested
        least = self._called[operations.handle[rows]] & (operations.moved[rows] == UNDEFINED_UINT64)
        whole = least & (part.category >= 0) & (operations.status[rows] == Status.COMPLETE)
        whole &= (requested != UNDEFINED_UINT64) & (operations.begin[rows] >= self.scope.window.start)
        whole &= operations.end[rows] <= self.scope.window.end
        np.add.at(self.sums.least, part.category[whole], requested[whole].astype(np.int64))
        return np.where(least, np.uint64(UNDEFINED_UINT64), requested)


def categories_of(lineages: Iterable[int], modes: Iterable[int]) -> list[int]:
    """Return the categories of the operations of some lineages and modes."""
    return [lineage * MODES + mode for lineage in lineages for mode in modes]
