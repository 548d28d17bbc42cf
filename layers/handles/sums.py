"""Metadata events and lifetimes of handles, added up block by block."""

from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints, Ticks
from ...model.definitions import Definitions
from ...model.operations import Operations
from ..selection.files import FileSelection
from ..selection.window import TickWindow
from ..statistics.keyed import KeyedSums
from .lifetimes import Origin, handle_lifetimes
from .metadata import MetadataEvents, selected_metadata
from .order import layer_rows

LIFETIMES: Final = ("created", "destroyed", "precreated", "never_created", "never_destroyed")
"""How lifetimes begin and end."""
_MOST_TIMES: Final = 1 << 18


class HandleSums:
    """Sums over the metadata events and operations of whole processes; memory follows handles and processes.

    The order in which blocks are added or merged does not matter. Times of metadata events are kept to the tick as long
    as a layer's and time's pairs are at most 2^18; else they are rounded down to multiples of a power of two.

    Attributes
    ----------
    lifetimes : int64 (5, handles)
        By `LIFETIMES`, of the whole trace.
    ranks : int64 (handles,)
        Processes that made or used it.
    events : int64 (handles,)
        Metadata events within the window that name it.
    opens : KeyedSums
        By handle and process, how often that was made within the window.
    """

    def __init__(
        self,
        definitions: Definitions,
        order: tuple[str, ...],
        selection: FileSelection,
        window: TickWindow,
        exact: bool = False,
    ) -> None:
        self._known = definitions, order, selection, window
        self._exact = exact
        self._shift = 0
        self._times = KeyedSums.none(2, "count")
        count = len(definitions.handles.id)
        self.lifetimes = np.zeros((len(LIFETIMES), count), np.int64)
        self.ranks, self.events = np.zeros(count, np.int64), np.zeros(count, np.int64)
        self.opens = KeyedSums.none(2, "count")

    def add(self, metadata: MetadataEvents, operations: Operations) -> None:
        """Add all metadata events and operations of some processes."""
        definitions, order, selection, window = self._known
        count = len(self.ranks)
        within = window.contains(metadata.time)
        self.events += np.bincount(metadata.handle[within & (metadata.handle >= 0)], minlength=count)
        found = handle_lifetimes(metadata, operations, definitions)
        self.ranks += np.bincount(found.handle[found.epoch == 0], minlength=count)
        made = (found.origin == Origin.CREATED) | (found.origin == Origin.DUPLICATED)
        still = found.never_destroyed
        conditions = (made, ~still, found.origin == Origin.PRECREATED, found.never_created, still)
        for row, condition in enumerate(conditions):
            self.lifetimes[row] += np.bincount(found.handle[condition], minlength=count)
        opened = made & window.contains(found.created)
        keys = found.handle[opened], found.process[opened]
        self.opens = self.opens.merged(KeyedSums(keys, {"count": np.ones(len(keys[0]), np.int64)}))
        layer = layer_rows(definitions, order, metadata.paradigm)
        shown = selected_metadata(metadata, selection, window) & (layer >= 0)
        self._take(layer[shown], metadata.time[shown], np.ones(int(shown.sum()), np.int64), 0)

    def merge(self, other: "HandleSums") -> None:
        """Add the sums of `other`, over other processes."""
        self.lifetimes = self.lifetimes + other.lifetimes
        self.ranks, self.events = self.ranks + other.ranks, self.events + other.events
        self.opens = self.opens.merged(other.opens)
        layer, time = other._times.keys
        self._take(layer, time, other._times["count"], other._shift)

    @property
    def lifetime_counts(self) -> npt.NDArray[Any]:
        """The counts of `lifetimes`, in place of that of pre-created ones whether there are any."""
        counts = self.lifetimes.astype(object)
        precreated = LIFETIMES.index("precreated")
        counts[precreated] = self.lifetimes[precreated] > 0
        return counts

    def times(self, layer: int) -> tuple[Ticks, Ints]:
        """Return when metadata events of a layer on selected files happened, ascending, and how many at each time."""
        rows = self._times.keys[0] == layer
        return self._times.keys[1][rows], self._times["count"][rows]

    def _take(self, layer: npt.NDArray[np.integer], time: Ticks, count: Ints, shift: int) -> None:
        self._shift = max(self._shift, shift)
        times = self._times.merged(KeyedSums((layer, time), {"count": count}))
        while True:
            layer, time = times.keys
            if self._shift:
                times = KeyedSums((layer, time >> self._shift << self._shift), times.values)
            if self._exact or len(times) <= _MOST_TIMES:
                break
            self._shift += 1
        self._times = times
