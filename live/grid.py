"""What moved over time, in bounded memory however long a job runs."""

from typing import Final

import numpy as np

from ..model.arrays import Floats, Rows

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
        capacity = 2 * BINS + 2
        self._top = FINEST
        self._count = np.zeros(LEVELS, np.int64)
        self._index, self._moved = (np.zeros((LEVELS, capacity), np.int64) for _ in range(2))
        self._first, self._last = (np.zeros((LEVELS, capacity)) for _ in range(2))

    def add(self, start: Floats, end: Floats, volume: Rows) -> None:
        """Add operations: start and end in s, float64 (n,), and what they moved, int64 (n,), above 0."""
        from .kernels import add_operations

        # In the order of their starts most bins are new ones at the end.
        order = np.argsort(start, kind="stable")
        start, end, volume = start[order], end[order], volume[order]
        self._top = add_operations(
            start, end, volume, self._top, FINEST, BINS, self._count, self._index, self._moved, self._first, self._last
        )

    @property
    def widths(self) -> list[float]:
        """Widths of the levels in s, the coarsest first."""
        return [2.0**exponent for exponent in range(self._top, max(FINEST, self._top - LEVELS + 1) - 1, -1)]

    def level(self, number: int) -> tuple[Floats, Floats, Rows]:
        """Return first and last activity in s of each bin of a level, and what moved; level 0 has the whole run."""
        row = (self._top - number) % LEVELS
        size = int(self._count[row])
        kept = slice(max(size - BINS, 0), size)
        return self._first[row, kept].copy(), self._last[row, kept].copy(), self._moved[row, kept].copy()
