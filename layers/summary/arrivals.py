"""When each process begins and ends its operations within stretches of time."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from ...model.arrays import Ints, Mask
from ...model.codes import IoFlag
from ...model.keyed import KeyedSums
from ...model.operations import Operations, view
from ..handles.metadata import MetadataEvents
from ..selection.window import TickWindow


class Stretches(NamedTuple):
    """Stretches of time, apart and in order, in which some operations are looked at."""

    handles: Mask
    """Of which handles, bool (handles,)."""
    mode: int
    least: float
    """Bytes: smaller operations, such as a line of a log beside checkpoints, are left out."""
    start: Ints
    """Ticks, int64 (stretches,); an operation belongs to the stretch that it begins in."""
    end: Ints


class ArrivalSums:
    """Sums over operations, by place among `of`, stretch and process.

    Attributes
    ----------
    sums : KeyedSums
        How many operations, how many of them in collective calls, the first begin and the last end in ticks.
    """

    def __init__(self, window: TickWindow, of: Sequence[Stretches]) -> None:
        self._window, self._of = window, of
        self.sums = self._none()

    @staticmethod
    def _none() -> KeyedSums:
        return KeyedSums.none(3, "count", "collective", "begin", "end")

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:  # noqa: ARG002
        """Add a block."""
        found = self._none()
        for place, one in enumerate(self._of):
            rows = (operations.mode == one.mode) & np.append(one.handles, False)[operations.handle]
            chosen = view(operations, rows & self._window.overlaps(operations))
            chosen = view(chosen, self._window.bytes_within(chosen) >= one.least)
            begin, end = self._window.clipped(chosen)
            stretch = np.searchsorted(one.start, begin, side="right") - 1
            inside = (stretch >= 0) & (begin < np.append(one.end, 0)[stretch])
            collective = (chosen.flags & np.uint32(IoFlag.COLLECTIVE)) != 0
            columns = {"count": np.ones(len(begin), np.int64), "collective": collective, "begin": begin, "end": end}
            keys = np.full(len(begin), place), stretch, chosen.process
            fresh = KeyedSums([key[inside] for key in keys], {name: one[inside] for name, one in columns.items()})
            found = found.merged(fresh)
        self.sums = self.sums.merged(found)

    def merge(self, other: "ArrivalSums") -> None:
        """Add the sums of other processes."""
        self.sums = self.sums.merged(other.sums)
