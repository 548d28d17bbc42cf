"""Bandwidths of parts of layers in bounded memory: what each part moved, then the signals of those that are chosen."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from ...model.arrays import Floats, Ints
from ...model.codes import IoMode
from ...model.keyed import KeyedSums
from ...model.operations import Operations, view
from ...model.stream.source import Tally
from ...signals.step import StepSignal
from ..handles.metadata import MetadataEvents
from ..handles.scope import Scope
from ..handles.stack import handle_lineages
from ..selection.window import Amounts
from ..statistics.grouping import Key, grouping
from ..statistics.statistics import FRACTION, whole_and_part
from .bins import BinGrid
from .reading import BinnedSums, NoSums, Reading
from .tables import MODES, Kept


class PartSignal(NamedTuple):
    """A signal that is asked for."""

    categories: Sequence[int]
    """Of which operations; see `iostrata.layers.summary.tables.OperationTables`."""
    key: Key
    """Of the part."""
    name: str
    """Of the signal."""


@dataclass(frozen=True, eq=False)
class Counted:
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
        lineages = handle_lineages(self.scope.stack)
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


class PartVolumes:
    """What each part moved, by category."""

    def __init__(self, counted: Counted) -> None:
        self._counted = counted
        self._sums = KeyedSums.none(1, "whole", "part")

    def add(self, operations: Operations, _metadata: MetadataEvents) -> None:
        """Add operations of some processes."""
        group, _, moved = self._counted.transfers(operations)
        whole, part = whole_and_part(moved)
        self._sums = self._sums.merged(KeyedSums([group], {"whole": whole, "part": part}))

    def merge(self, other: "PartVolumes") -> None:
        """Add what was added up elsewhere."""
        self._sums = self._sums.merged(other._sums)

    def of(self, categories: Sequence[int]) -> dict[Key, float]:
        """Return the bytes of all parts that moved some, the largest first."""
        count = len(self._counted.keys)
        group = self._sums.keys[0]
        chosen = np.isin(group // count, categories)
        places, row = np.unique(group[chosen] % count, return_inverse=True)
        whole, part = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
        np.add.at(whole, row, self._sums["whole"][chosen])
        np.add.at(part, row, self._sums["part"][chosen])
        volumes = whole + part / FRACTION
        keys = self._counted.keys
        return {keys[places[one]]: float(volumes[one]) for one in np.argsort(-volumes, kind="stable").tolist()}


class PartBins:
    """The bandwidths of some parts in bins."""

    def __init__(self, counted: Counted, wanted: Sequence[PartSignal], grid: BinGrid) -> None:
        self._counted, self._wanted, self.grid = counted, wanted, grid
        places = {key: place for place, key in enumerate(counted.keys)}
        groups = [counted.groups(one.categories, np.array([places[one.key]])).ravel() for one in wanted]
        group = np.concatenate([np.zeros(0, np.int64), *groups])
        row = np.repeat(np.arange(len(wanted), dtype=np.int32), [len(one) for one in groups])
        order = np.argsort(group)
        self._group, self._row = group[order], row[order]

    def add(self, operations: Operations) -> None:
        """Add operations, in any order."""
        group, chosen, moved = self._counted.transfers(operations)
        place = np.minimum(np.searchsorted(self._group, group), max(len(self._group) - 1, 0))
        there = self._group[place] == group if len(self._group) else np.zeros(len(group), np.bool_)
        row = np.where(there, self._row[place] if len(self._row) else -1, -1).astype(np.int32)
        begin, end = self._counted.scope.window.clipped(chosen)
        volume: Floats = moved.astype(np.float64)
        self.grid.add(Kept(row, begin, end, volume), len(row), np.unique(row[row >= 0]))

    def empty(self) -> "PartBins":
        """Return the same bins with nothing in them."""
        return PartBins(self._counted, self._wanted, self.grid.empty())

    def merge(self, other: "PartBins") -> None:
        """Add what was added up elsewhere."""
        self.grid.merge(other.grid)


@dataclass(frozen=True, eq=False)
class BinnedParts:
    """The parts of all layers of a trace that was read in bounded memory, by one kind of key.

    The trace is read once more for what they moved, and once for their signals.
    """

    reading: Reading
    counted: Counted
    grid: BinGrid

    @cached_property
    def _volumes(self) -> PartVolumes:
        return self.reading.summed(lambda: PartVolumes(self.counted))

    def volumes(self, categories: Sequence[int]) -> dict[Key, float]:
        """Return the bytes of all parts that moved some in some categories, the largest first."""
        return self._volumes.of(categories)

    def signals(self, wanted: Sequence[PartSignal]) -> list[StepSignal]:
        """Return the bandwidths of parts, in bins as wide as those of the layers; no operation is of two of them."""
        if not wanted:
            return []
        bins = PartBins(self.counted, wanted, self.grid.empty(len(wanted)))
        self.reading.summed(NoSums, BinnedSums(bins, Tally()))
        bins.grid.cover(self.counted.scope.window)
        return [
            bins.grid.signal(np.array([row]), self.counted.scope.window, one.name) for row, one in enumerate(wanted)
        ]
