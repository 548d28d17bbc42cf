"""When each process begins and ends its operations within stretches of time."""

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from ...model.arrays import Ints, Mask
from ...model.codes import IoFlag
from ...model.keyed import KeyedSums
from ...model.operations import view
from ...model.sums import Sums, keyed
from ..handles.scope import ScopedBlock

_COLUMNS: Final = ("count", "collective", "begin", "end")


class Stretches(NamedTuple):
    """Stretches of time in order, in which some operations are looked at; at most a tick is part of two."""

    handles: Mask
    """Of which handles, bool (handles,)."""
    mode: int
    least: float
    """Bytes: smaller operations, such as a line of a log beside checkpoints, are left out."""
    start: Ints
    """Ticks, int64 (stretches,); an operation belongs to the last stretch that it begins in, or at the end of."""
    end: Ints


class ArrivalSums(Sums):
    """Sums over operations, by place among `of`, stretch and process.

    Attributes
    ----------
    sums : KeyedSums
        How many operations, how many of them in collective calls, the first begin and the last end in ticks.
    """

    of: Sequence[Stretches]
    sums: KeyedSums = keyed(3, *_COLUMNS)

    def add(self, block: ScopedBlock) -> None:
        """Add a block."""
        operations, window = block.operations, block.scope.window
        for place, one in enumerate(self.of):
            rows = (operations.mode == one.mode) & np.append(one.handles, False)[operations.handle]
            chosen = view(operations, rows & window.overlaps(operations))
            chosen = view(chosen, window.bytes_within(chosen) >= one.least)
            begin, end = window.clipped(chosen)
            stretch = np.searchsorted(one.start, begin, side="right") - 1
            inside = (stretch >= 0) & (begin <= np.append(one.end, 0)[stretch])
            collective = (chosen.flags & np.uint32(IoFlag.COLLECTIVE)) != 0
            keys = np.full(len(begin), place), stretch, chosen.process
            columns = {"collective": collective, "begin": begin, "end": end}
            values = {"count": 1, **{name: column[inside] for name, column in columns.items()}}
            self.sums = self.sums.plus([key[inside] for key in keys], values)
