"""Bandwidths of parts of layers in bounded memory: what each part moved, then the signals of those that are chosen."""

from collections.abc import Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...model.arrays import Floats, Frozen, Ints
from ...model.codes import IoMode
from ...model.keyed import KeyedSums
from ...model.operations import Operations, view
from ...model.sums import Sums, keyed, nested
from ...signals.step import StepSignal
from ..attribution.stream import Stream
from ..handles.scope import Scope, ScopedBlock
from ..selection.window import FRACTION, Amounts, sums_by, whole_and_part
from ..statistics.grouping import Key, grouping
from .bins import BinGrid
from .tables import MODES, Kept


class PartSignal(NamedTuple):
    """A signal that is asked for."""

    categories: Sequence[int]
    """Of which operations; see `iostrata.layers.summary.tables.OperationTables`."""
    key: Key
    """Of the part."""
    name: str
    """Of the signal."""


class Counted(Frozen):
    """Which operations count, and for which part."""

    scope: Scope
    by: str

    @cached_property
    def keys(self) -> list[Key]:
        """All keys that there can be."""
        return grouping(self.scope.definitions, self.by).keys

    @cached_property
    def category_of_handle(self) -> Ints:
        """Category of reads, −1 where a handle does not count, int64 (handles,)."""
        lineages = self.scope.lineages
        counted = self.scope.selection.selected & (lineages.of_handle >= 0)
        return np.where(counted, lineages.of_handle.astype(np.int64) * MODES, -1)

    def transfers(self, operations: Operations) -> tuple[Ints, Operations, Amounts]:
        """Return the group of each operation that moved bytes, category and part, these operations, and their bytes."""
        known = (operations.handle >= 0) & (operations.mode < IoMode.FLUSH)
        known &= np.append(self.category_of_handle, -1)[operations.handle] >= 0
        chosen = view(operations, known & self.scope.window.overlaps(operations))
        moved = self.scope.window.bytes_within(chosen)
        chosen, moved = view(chosen, moved > 0), moved[moved > 0]
        file = self.scope.definitions.handles.file[chosen.handle]
        place = grouping(self.scope.definitions, self.by).places(file, chosen.process, chosen.handle)
        category = self.category_of_handle[chosen.handle] + chosen.mode
        return category * len(self.keys) + place, chosen, moved

    def groups(self, categories: Sequence[int], places: Ints) -> Ints:
        """Return the groups of some categories of each part, int64 (categories, places)."""
        return np.array(categories, np.int64)[:, np.newaxis] * len(self.keys) + places


class PartVolumes(Sums):
    """What each part moved, by category."""

    counted: Counted
    sums: KeyedSums = keyed(1, "whole", "part")

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        group, _, moved = self.counted.transfers(block.operations)
        whole, part = whole_and_part(moved)
        self.sums = self.sums.merged(KeyedSums([group], {"whole": whole, "part": part}))

    def of(self, categories: Sequence[int]) -> dict[Key, float]:
        """Return the bytes of all parts that moved some, the largest first."""
        count = len(self.counted.keys)
        group = self.sums.keys[0]
        chosen = np.isin(group // count, categories)
        places, row = np.unique(group[chosen] % count, return_inverse=True)
        whole, part = (sums_by(row, self.sums[name][chosen], len(places)) for name in ("whole", "part"))
        volumes = whole + part / FRACTION
        keys = self.counted.keys
        return {keys[places[one]]: float(volumes[one]) for one in np.argsort(-volumes, kind="stable").tolist()}


class PartBins(Sums):
    """The bandwidths of some parts in bins."""

    counted: Counted
    wanted: Sequence[PartSignal]
    like: BinGrid
    grid: BinGrid = nested(lambda one: one.like.empty(len(one.wanted)))

    def prepare(self) -> None:
        places = {key: place for place, key in enumerate(self.counted.keys)}
        groups = [self.counted.groups(one.categories, np.array([places[one.key]])).ravel() for one in self.wanted]
        group = np.concatenate([np.zeros(0, np.int64), *groups])
        row = np.repeat(np.arange(len(self.wanted), dtype=np.int32), [len(one) for one in groups])
        order = np.argsort(group)
        self._group, self._row = group[order], row[order]

    def add_operations(self, operations: Operations) -> None:
        """Add operations, in any order."""
        group, chosen, moved = self.counted.transfers(operations)
        place = np.minimum(np.searchsorted(self._group, group), max(len(self._group) - 1, 0))
        there = self._group[place] == group if len(self._group) else np.zeros(len(group), np.bool_)
        row = np.where(there, self._row[place] if len(self._row) else -1, -1).astype(np.int32)
        begin, end = self.counted.scope.window.clipped(chosen)
        volume: Floats = moved.astype(np.float64)
        self.grid.add(Kept(row, begin, end, volume), len(row), np.unique(row[row >= 0]))


class BinnedParts(Frozen):
    """The parts of all layers of a trace that was read in bounded memory, by one kind of key.

    The trace is read once more for what they moved, and once for their signals.
    """

    stream: Stream
    counted: Counted
    grid: BinGrid

    @cached_property
    def _volumes(self) -> PartVolumes:
        return self.stream.summed(lambda: PartVolumes(self.counted))

    def volumes(self, categories: Sequence[int]) -> dict[Key, float]:
        """Return the bytes of all parts that moved some in some categories, the largest first."""
        return self._volumes.of(categories)

    def signals(self, wanted: Sequence[PartSignal]) -> list[StepSignal]:
        """Return the bandwidths of parts, in bins as wide as those of the layers; no operation is of two of them."""
        if not wanted:
            return []
        bins, scope = PartBins(self.counted, wanted, self.grid), self.counted.scope
        self.stream.reading.summed(scope, NoSums, bins)
        bins.grid.cover(scope.window)
        return [bins.grid.signal(np.array([row]), scope.window, one.name) for row, one in enumerate(wanted)]


class NoSums(Sums):
    """Nothing to add up beside sums that take much memory."""

    def add(self, block: ScopedBlock) -> None:
        """Do nothing."""
