"""In which share of a stretch a period holds, by the sliding correlation of the DFT × DWT hybrid (Frontiers'25, §5.3).

Evidence for a regime that was found by other means: its phases are not used. Bins of a 24th of the period are the
approximation by Haar's wavelet at the level that shows the period, so that no transform is needed.
"""

import numpy as np

from ...model.arrays import Floats
from ...model.errors import SelectionError

BINS_PER_PERIOD = 24
"""So that a short burst which jitter moves into the next bin stays within the tolerated change of phase, an 18th."""
FEWEST_PERIODS = 2.5
"""Shortest stretch, in periods: below it, there are not three bursts."""
SAME = 0.1
"""Share by which the period that holds may differ from the one asked for."""
MOST_PERIODS = 4096
"""Longest stretch, in periods, that is looked at as a whole."""
PIECES, PERIODS_IN_PIECE = 16, 256
"""Of a longer one, evenly spread parts."""


def holding_share(times: Floats, cumulative: Floats, start: float, end: float, period: float) -> float | None:
    """Measure for which share of a stretch its period holds.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume of a signal, times in s; a time may occur twice.
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
    See `iostrata.analysis.timefrequency.validity`. O(p log n) for n vertices and p periods, of which no more than 4096
    count.
    """
    count = (end - start) / period
    if not FEWEST_PERIODS <= count < np.inf:
        return None
    if count <= MOST_PERIODS:
        return _share(times, cumulative, start, end, period)
    length = PERIODS_IN_PIECE * period
    starts = np.linspace(start, end - length, PIECES).tolist()
    return float(np.mean([_share(times, cumulative, low, low + length, period) for low in starts]))


def _share(times: Floats, cumulative: Floats, start: float, end: float, period: float) -> float:
    # Half a period more on either side, so that the first and the last burst have their windows.
    found = _holding(times, cumulative, start - 0.5 * period, end + 0.5 * period, period)
    inside = sum(max(0.0, min(high, end) - max(low, start)) for low, high in found)
    return float(min(1.0, inside / (end - start)))


def _holding(
    times: Floats, cumulative: Floats, start: float, end: float, period: float
) -> tuple[tuple[float, float], ...]:
    from .validity import validity

    fs = BINS_PER_PERIOD / period
    bins = int(np.ceil((end - start) * fs))
    # Volume that moves in no time is at both vertices of its time; either bin may have it.
    volume = np.interp(start + np.arange(bins + 1) / fs, times, cumulative)
    values: Floats = np.asarray(np.maximum(np.diff(volume), 0.0) * fs, dtype=np.float64)
    try:
        found = validity(values, values, fs, period, start)
    except SelectionError:
        return ()
    return found.intervals if abs(found.period / period - 1) <= SAME else ()
