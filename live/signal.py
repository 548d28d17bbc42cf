"""The bandwidth of one layer in one direction while a job runs: exact while it is short, then on a grid.

Memory is bounded however long the job runs.
"""

import math
from dataclasses import replace
from typing import Final

import numpy as np

from ..model.arrays import Floats, Rows
from ..signals.construction import StepSignal, step_signal
from .activity import Activity

BINS: Final = 2048
"""Bins of a level, the latest ones in which anything moved; the coarsest level has all of the run."""
LEVELS: Final = 8
"""Widths from that of the coarsest level on downwards, each half of the one before."""
FINEST: Final = -24
"""Binary logarithm of the smallest width in s; 60 ns."""


class Grid:
    """Bins of several widths, powers of two of a second, which stand at multiples of their width.

    Each knows what moved in it, and its first and last activity, between which that is spread. The coarsest level has
    the whole run: its width doubles when it would have more than `BINS` bins with activity. Each finer one has the
    latest `BINS` bins. All of it follows from the operations alone: neither their order nor when they came has any
    influence, and what moved in a bin is the same, to the byte, whether it was summed at this width or at a finer one.
    """

    def __init__(self) -> None:
        from .kernels import GridBins

        self._top = FINEST
        shape = LEVELS, 2 * BINS + 2
        whole, times = np.zeros((3, *shape), np.int64), np.zeros((2, *shape))
        self._bins = GridBins(np.zeros(LEVELS, np.int64), whole[0], whole[1], times[0], times[1], whole[2])

    def add(self, start: Floats, end: Floats, volume: Rows, operations: Rows | None = None) -> None:
        """Add what moved: start and end in s, float64 (n,), and bytes, int64 (n,), above 0; of how many operations.

        One each where that is not given.
        """
        from .kernels import add_operations

        # In the order of their starts most bins are new ones at the end.
        order = np.argsort(start, kind="stable")
        start, end, volume = start[order], end[order], volume[order]
        counts = np.ones(start.size, np.int64) if operations is None else operations[order]
        self._top = add_operations(start, end, volume, counts, self._top, FINEST, BINS, self._bins)

    @property
    def widths(self) -> list[float]:
        """Widths of the levels in s, the coarsest first."""
        return [2.0**exponent for exponent in range(self._top, max(FINEST, self._top - LEVELS + 1) - 1, -1)]

    def level(self, number: int) -> Activity:
        """Return the bins of a level with activity; level 0 has the whole run."""
        row = (self._top - number) % LEVELS
        bins, size = self._bins, int(self._bins.sizes[row])
        kept = slice(max(size - BINS, 0), size)
        first, last = bins.first[row, kept].copy(), bins.last[row, kept].copy()
        return Activity(first, last, bins.moved[row, kept].copy(), bins.operations[row, kept].copy())


EXACT: Final = 2**15
"""Operations up to which a signal is exact."""


class LiveSignal:
    """What moved in one layer and direction, added as it comes; the order has no influence.

    Attributes
    ----------
    operations, bytes : int
    records : int
        What was added: operations, or bins of them.
    end : float
        Last activity in s.
    grain : float
        Width in s of the bins that it came in last, 0 of operations: its times are known no better.
    """

    def __init__(self) -> None:
        self.operations = self.bytes = self.records = 0
        self.end = -math.inf
        self.grain = 0.0
        self._grid = Grid()
        self._exact: list[tuple[Floats, Floats, Rows]] | None = []
        self._moving = 0

    def add(self, start: Floats, end: Floats, volume: Rows, operations: Rows | None = None) -> None:
        """Add operations, or bins of some each: start and end in s, float64 (n,), and bytes, int64 (n,)."""
        self.records += start.size
        self.operations += start.size if operations is None else int(operations.sum())
        moving = volume > 0
        start, end, volume = start[moving], end[moving], volume[moving]
        self.bytes += int(volume.sum())
        self.end = max(self.end, float(end.max(initial=-math.inf)))
        self._grid.add(start, end, volume, None if operations is None else operations[moving])
        if self._exact is not None:
            self._exact.append((start, end, volume))
            self._moving += start.size
            if self._moving > EXACT:
                self._exact = None

    def whole(self, window: tuple[float, float]) -> StepSignal:
        """Return the bandwidth of the whole run over a window in s."""
        if self._exact is None:
            return bandwidth_of(self._grid.level(0), window)
        if len(self._exact) > 1:
            columns = zip(*self._exact, strict=True)
            start, end, volume = (np.concatenate(column) for column in columns)
            self._exact = [(start, end, volume)]
        parts = self._exact or [(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))]
        return _signal(*parts[0], window)

    def activity(self, gap: float | None = None) -> Activity:
        """Return what moved when, as far back as can be known with pauses of `gap` s; None for all of the run."""
        widths = self._grid.widths
        return self._grid.level(0 if gap is None else sum(width > gap for width in widths[:-1]))

    def before(self, latest: Activity) -> Activity:
        """Return what moved before activity that goes back as far as its bins do, as wider ones know it."""
        parts = [latest]
        for number in range(len(self._grid.widths) - 1, -1, -1):
            known, begin = self._grid.level(number), float(parts[0].start[0])
            if known.start[0] < begin:
                earlier = known.take(known.start < begin)
                parts.insert(0, replace(earlier, end=np.minimum(earlier.end, begin)))
        return Activity.concatenate(parts[:-1]) if len(parts) > 1 else Activity.empty()


def bandwidth_of(activity: Activity, window: tuple[float, float]) -> StepSignal:
    """Return the bandwidth of activity, which reaches over a window in s where clocks differ."""
    return _signal(activity.start, activity.end, activity.volume, window)


def _signal(start: Floats, end: Floats, volume: Rows, window: tuple[float, float]) -> StepSignal:
    low = min(window[0], float(start.min(initial=np.inf)))
    high = max(window[1], float(end.max(initial=-np.inf)))
    return step_signal(start, end, volume, window=(low, high if high > low else low + 1.0))
