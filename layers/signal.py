"""Step signals from intervals and events; the signal itself is in `step`, signals from ticks in `tick_signal`."""

import numpy as np
import numpy.typing as npt

from .spread import checked_intervals, checked_times, checked_window, spread_intervals
from .step import StepSignal, swept
from .tick_signal import step_signal_from_ticks

__all__ = ["StepSignal", "event_signal", "level_signal", "step_signal", "step_signal_from_ticks"]


def step_signal(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    volume: npt.ArrayLike,
    window: tuple[float, float] | None = None,
    unit: str = "byte s-1",
    name: str = "",
) -> StepSignal:
    """Return the exact step function of intervals that each spread a volume evenly over their time.

    An interval across the window's edge counts in proportion. One of zero duration is an impulse and is kept where it
    lies within the window, edges included. The order of the intervals has no influence on a single bit of the result.

    Parameters
    ----------
    start, end : array-like of float (n,)
        Interval edges in s.
    volume : array-like of float (n,)
        What each interval moved, such as bytes.
    window : (float, float), optional
        Start and end of the signal in s; without it from the first start to the last end.
    unit, name : str
        Of the signal.

    Raises
    ------
    SelectionError
        If lengths differ, a number is not finite, an end lies before its start, a volume is negative, or the window is
        empty.

    Examples
    --------
    >>> signal = step_signal([0.0, 1.0], [2.0, 3.0], [100, 100], window=(0.0, 4.0))
    >>> signal.values
    array([ 50., 100.,  50.,   0.])
    >>> signal.sample(fs=0.5).values
    array([75., 25.])
    """
    intervals = checked_intervals(start, end, volume)
    low, high = checked_window(window, intervals)
    return swept(spread_intervals(*intervals, low, high), (low, high), unit, name)


def level_signal(
    start: npt.ArrayLike, end: npt.ArrayLike, window: tuple[float, float] | None = None, name: str = ""
) -> StepSignal:
    """Return the number of intervals open at each time (operations in flight), in unit "1".

    Parameters
    ----------
    start, end : array-like of float (n,)
        Interval edges in s; an interval of zero duration is never open.
    window, name
        As in `step_signal`.

    Raises
    ------
    SelectionError
        As `step_signal`.
    """
    opened, closed, _ = checked_intervals(start, end, np.zeros(np.shape(start)))
    low, high = checked_window(window, (opened, closed, closed))
    return swept(spread_intervals(opened, closed, closed - opened, low, high), (low, high), "1", name)


def event_signal(times: npt.ArrayLike, window: tuple[float, float] | None = None, name: str = "") -> StepSignal:
    """Return the rate of events, each an impulse of volume 1, in unit "s-1"; sampled, it is events per second.

    Parameters
    ----------
    times : array-like of float (n,)
        When the events happened, in s; those outside the window do not count, its edges belong to it.
    window, name
        As in `step_signal`.

    Raises
    ------
    SelectionError
        As `step_signal`.
    """
    at = checked_times(times)
    return step_signal(at, at, np.ones(len(at)), window, "s-1", name)
