"""The bandwidth of one layer in one direction while a job runs: exact while it is short, then on a grid."""

from typing import Final

import numpy as np

from ..model.arrays import Floats, Rows
from ..signals.construction import StepSignal, step_signal
from .grid import Grid

EXACT: Final = 2**15
"""Operations up to which a signal is exact."""


class LiveSignal:
    """Operations of one layer and direction, added as they come; their order has no influence."""

    def __init__(self) -> None:
        self.operations = 0
        self.bytes = 0
        self._grid = Grid()
        self._exact: list[tuple[Floats, Floats, Rows]] | None = []

    def add(self, start: Floats, end: Floats, volume: Rows) -> None:
        """Add operations: start and end in s, float64 (n,), and bytes, int64 (n,)."""
        self.operations += start.size
        moving = volume > 0
        start, end, volume = start[moving], end[moving], volume[moving]
        self.bytes += int(volume.sum())
        self._grid.add(start, end, volume)
        if self._exact is not None:
            self._exact.append((start, end, volume))
            if sum(part[0].size for part in self._exact) > EXACT:
                self._exact = None

    @property
    def whole_width(self) -> float:
        """Width in s of the bins of `whole`, 0 where it is exact."""
        return self._grid.widths[0] if self._exact is None else 0.0

    def whole(self, window: tuple[float, float]) -> StepSignal:
        """Return the bandwidth of the whole run over a window in s."""
        if self._exact is None:
            return _signal(self._grid.level(0), window)
        if len(self._exact) > 1:
            columns = zip(*self._exact, strict=True)
            start, end, volume = (np.concatenate(column) for column in columns)
            self._exact = [(start, end, volume)]
        parts = self._exact or [(np.zeros(0), np.zeros(0), np.zeros(0, np.int64))]
        return _signal(parts[0], window)

    def since(self, window: tuple[float, float], width: float) -> StepSignal:
        """Return the bandwidth over a window in s, in bins of at most a width in s if they reach so far."""
        levels = self._grid.widths
        number = next((row for row, own in enumerate(levels) if own <= width), len(levels) - 1)
        while number > 0 and not self._covers(number, window[0]):
            number -= 1
        start, end, volume = self._grid.level(number)
        kept = start >= window[0]
        return _signal((start[kept], end[kept], volume[kept]), window)

    def _covers(self, number: int, time: float) -> bool:
        """Tell whether a level has all bins from a time in s on."""
        start = self._grid.level(number)[0]
        return bool(start.size and start[0] <= time) or start.size == self._grid.level(0)[0].size


def _signal(columns: tuple[Floats, Floats, Rows], window: tuple[float, float]) -> StepSignal:
    """Return the bandwidth of intervals, which reach over the window where clocks differ."""
    start, end, volume = columns
    low = min(window[0], float(start.min(initial=np.inf)))
    high = max(window[1], float(end.max(initial=-np.inf)))
    return step_signal(start, end, volume, window=(low, high if high > low else low + 1.0))
