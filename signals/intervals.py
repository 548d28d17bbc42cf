"""Intervals made ready for the sweep: checked, clipped to the window, and separated from impulses."""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from ..model.arrays import Floats
from ..model.errors import SelectionError

# Rates above this become impulses, so that no sum of rates overflows.
_MOST_RATE = 1e290
# Ticks of real traces are far smaller; "undefined" is far larger.
_MOST_TICKS = 2.0**62


class ClippedIntervals(NamedTuple):
    """Intervals and impulses within a window.

    Attributes
    ----------
    start, end, rate, volume : float64 (n,)
        Intervals of positive duration and positive rate. The volume is ``rate * (end - start)`` to rounding; the
        cumulative volume is anchored to it where nothing is open.
    point, point_volume : float64 (m,)
        Impulses ordered by time.
    """

    start: Floats
    end: Floats
    rate: Floats
    volume: Floats
    point: Floats
    point_volume: Floats


def checked_times(times: npt.ArrayLike, what: str = "times") -> Floats:
    """Return `times` as contiguous float64 (n,); SelectionError unless they are finite numbers in one dimension."""
    try:
        # Adding zero turns −0.0 into 0.0, which compare equal but differ in a bit.
        array = np.ascontiguousarray(times, dtype=np.float64) + 0.0
    except (TypeError, ValueError) as error:
        raise SelectionError(f"{what} of a signal are not numbers: {error}") from None
    if np.ndim(times) != 1:
        raise SelectionError(f"{what} of a signal have {np.ndim(times)} dimensions, not one")
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        raise SelectionError(f"{what} of a signal are not finite at row {wrong[0]}: {array[wrong[0]]}")
    return array


def checked_intervals(
    start: npt.ArrayLike, end: npt.ArrayLike, volume: npt.ArrayLike, undefined_ticks: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Return the intervals as float64 (n,) each.

    With `undefined_ticks` the times are ticks, and those that mean "undefined" are refused. Raises SelectionError if
    lengths differ, a number is not finite, an end lies before its start, or a volume is negative.
    """
    starts, ends, volumes = checked_times(start, "starts"), checked_times(end, "ends"), checked_times(volume, "volumes")
    if not len(starts) == len(ends) == len(volumes):
        raise SelectionError(f"intervals have {len(starts)} starts, {len(ends)} ends and {len(volumes)} volumes")
    if undefined_ticks:
        for what, ticks in (("start", starts), ("end", ends)):
            wrong = np.flatnonzero(np.abs(ticks) >= _MOST_TICKS)
            if len(wrong):
                raise SelectionError(f"interval {wrong[0]} has no {what} (undefined time): leave it out")
    wrong = np.flatnonzero(ends < starts)
    if len(wrong):
        row = wrong[0]
        raise SelectionError(f"interval {row} ends at {ends[row]:.17g}, before its start at {starts[row]:.17g}")
    wrong = np.flatnonzero(volumes < 0)
    if len(wrong):
        raise SelectionError(f"interval {wrong[0]} has the negative volume {volumes[wrong[0]]:.17g}")
    with np.errstate(over="ignore"):
        sound = not len(starts) or (np.isfinite(volumes.sum()) and np.isfinite(ends.max() - starts.min()))
    if not sound:
        raise SelectionError("volumes or times of a signal are too large to add up in float64")
    return starts, ends, volumes


def checked_window(
    window: tuple[float, float] | None, intervals: tuple[Floats, Floats, Floats] | None = None
) -> tuple[float, float]:
    """Return the window's start and end, without a window those of the intervals.

    Raises SelectionError if the window is not two finite numbers, the first below the second, or there is neither
    window nor interval.
    """
    if window is None:
        if intervals is None or not len(intervals[0]):
            raise SelectionError("a signal without intervals needs a window: give its start and end in seconds")
        window = float(intervals[0].min()), float(intervals[1].max())
    try:
        low, high = (float(edge) + 0.0 for edge in window)
    except (TypeError, ValueError):
        raise SelectionError(f"window {window!r} is not a start and an end in seconds") from None
    if not (low < high and np.isfinite(high - low)):
        raise SelectionError(f"window {low:.17g}:{high:.17g} is empty or not finite: its start must lie below its end")
    return low, high


def spread_intervals(start: Floats, end: Floats, volume: Floats, low: float, high: float) -> ClippedIntervals:
    """Clip intervals to [low, high] in proportion and separate those without duration, kept where within [low, high].

    Intervals without volume are left out.
    """
    length = end - start
    with np.errstate(divide="ignore", over="ignore", invalid="ignore"):
        rate = volume / length
    point = ~(rate <= _MOST_RATE)
    kept = point & (volume > 0) & (start >= low) & (start <= high)
    order = np.argsort(start[kept])
    point_start, point_volume = start[kept][order], volume[kept][order]

    kept = ~point & (volume > 0) & (start < high) & (end > low)
    if not kept.all():
        start, end, volume, rate, length = start[kept], end[kept], volume[kept], rate[kept], length[kept]
    first, last = np.maximum(start, low), np.minimum(end, high)
    # What is not cut has a share of exactly one.
    return ClippedIntervals(first, last, rate, volume * ((last - first) / length), point_start, point_volume)
