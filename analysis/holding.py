"""In which share of a stretch a period holds, by the sliding correlation of the DFT × DWT hybrid (Frontiers'25, §5.3).

Evidence for a regime that was found by other means: its phases are not used. Bins of a twelfth of the period are the
approximation by Haar's wavelet at the level that shows the period, so that no transform is needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..otf2io.errors import SelectionError

if TYPE_CHECKING:
    from ..layers.signal import StepSignal

BINS_PER_PERIOD = 12
FEWEST_PERIODS = 2.5
"""Shortest stretch, in periods: below it, there are not three bursts."""
SAME = 0.1
"""Share by which the period that holds may differ from the one asked for."""
MOST_PERIODS = 4096
"""Longest stretch, in periods, that is looked at as a whole."""
PIECES, PERIODS_IN_PIECE = 16, 256
"""Of a longer one, evenly spread parts."""


def holding_share(signal: StepSignal, start: float, end: float, period: float) -> float | None:
    """Measure for which share of a stretch its period holds.

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    start, end : float
        The stretch, within the signal's window, in s.
    period : float
        In s, known to within a few percent.

    Returns
    -------
    float or None
        In [0, 1]; None for a stretch of less than 2.5 periods. Of more than 4096 periods, 16 parts of 256 periods
        each are looked at.

    Notes
    -----
    See `iostrata.analysis.validity`. O(n + periods) for n steps, and bounded beyond 4096 periods but for the search
    of a bin's volume.
    """
    count = (end - start) / period
    if not FEWEST_PERIODS <= count < np.inf:
        return None
    if count <= MOST_PERIODS:
        return _share(signal, start, end, period)
    length = PERIODS_IN_PIECE * period
    starts = np.linspace(start, end - length, PIECES).tolist()
    return float(np.mean([_share(signal, low, low + length, period) for low in starts]))


def _share(signal: StepSignal, start: float, end: float, period: float) -> float:
    from .validity import validity

    fs = BINS_PER_PERIOD / period
    # Half a period more on either side, so that the first and the last burst have their windows.
    first = start - 0.5 * period
    values = _averages(signal, first, fs, int(np.ceil((end - start + period) * fs)))
    try:
        found = validity(values, values, fs, period, first)
    except SelectionError:
        return 0.0
    if abs(found.period / period - 1) > SAME:
        return 0.0
    inside = sum(max(0.0, min(high, end) - max(low, start)) for low, high in found.intervals)
    return float(min(1.0, inside / (end - start)))


def _averages(signal: StepSignal, start: float, fs: float, bins: int) -> NDArray[np.float64]:
    """Return the averages of bins from ``start`` on, float64 (bins,), in the signal's unit; zero outside of it."""
    edges = start + np.arange(bins + 1) / fs
    return np.asarray(np.maximum(np.diff(signal.volume_until(edges)), 0.0) * fs)
