"""Step signals from intervals, events, levels, ticks of a trace's clock, and samples."""

import numpy as np
import numpy.typing as npt

from ..model.arrays import Floats, differences
from ..model.errors import SelectionError
from .intervals import checked_intervals, checked_times, checked_window, spread_intervals
from .step import StepSignal, swept


def step_signal_from_ticks(
    begin: npt.ArrayLike,
    end: npt.ArrayLike,
    volume: npt.ArrayLike,
    ticks_per_second: float,
    window: tuple[float, float] | None = None,
    unit: str = "byte s-1",
    name: str = "",
) -> StepSignal:
    """Return `step_signal` of intervals in ticks since the trace's start.

    Durations and shares are taken in ticks, where they are exact, and only the breakpoints are turned into seconds. At
    100 000 s, seconds as float64 know a duration of one nanosecond to 1 % only: the rate of such a step gives way, its
    volume does not. A step shorter than float64 can tell becomes an impulse. Raises SelectionError as `step_signal`, or
    if `ticks_per_second` is not a finite number above 0.

    Parameters
    ----------
    begin, end : array-like of int64 (n,)
        Ticks since the trace's start; each operation has both (no ``UNDEFINED_TIME``).
    volume : array-like (n,)
        As in `step_signal`; uint64 bytes are welcome.
    ticks_per_second : float
        Resolution of the trace's clock.
    window : (float, float), optional
        In seconds, as in `step_signal`.
    unit, name : str
        Of the signal.
    """
    if not (np.isfinite(ticks_per_second) and ticks_per_second > 0):
        raise SelectionError(
            f"clock resolution {ticks_per_second!r} is not a finite number of ticks above 0 per second"
        )
    resolution = float(ticks_per_second)
    intervals = checked_intervals(begin, end, volume, undefined_ticks=True)
    if window is None:
        low, high = checked_window(None, intervals)
        seconds = checked_window((low / resolution, high / resolution))
    else:
        seconds = checked_window(window)
        low, high = (_nearby_tick(edge * resolution) for edge in seconds)
    over_ticks = swept(spread_intervals(*intervals, low, high), (low, high), unit, name)
    return _in_seconds(over_ticks, resolution, seconds)


def _nearby_tick(edge: float) -> float:
    """Return the whole tick that `edge` misses by the rounding of seconds only, else `edge`."""
    whole = float(np.rint(edge))
    return whole if abs(edge - whole) <= 4 * np.spacing(abs(edge)) else edge


def _in_seconds(signal: StepSignal, resolution: float, window: tuple[float, float]) -> StepSignal:
    """Return a signal over ticks as one over seconds with the same volume in each step."""
    times = np.clip(signal.times / resolution, *window)
    times[0], times[-1] = window
    width = differences(times)
    volumes = signal.values * differences(signal.times)
    wide = width > 0
    at = np.clip(signal.impulse_times / resolution, *window)
    at[signal.impulse_times == signal.times[0]] = window[0]
    at[signal.impulse_times == signal.times[-1]] = window[1]
    short = ~wide & (volumes > 0)
    impulse_times, row = np.unique(np.concatenate((at, times[:-1][short])), return_inverse=True)
    impulse_volumes = np.zeros(len(impulse_times))
    np.add.at(impulse_volumes, row, np.concatenate((signal.impulse_volumes, volumes[short])))
    # Of breakpoints at one time the last has the volume up to and including all of them.
    last_there = np.append(wide, True)
    steps, at_once = (times[last_there], volumes[wide] / width[wide]), (impulse_times, impulse_volumes)
    return StepSignal(*steps, *at_once, signal.cumulative[last_there], signal.unit, signal.name)


LARGEST_SAMPLE = 1e140
"""Largest absolute sample: the square of the sum of as many as memory holds stays finite."""


def signal_of_samples(values: Floats, fs: float, start: float, unit: str) -> tuple[StepSignal, float]:
    """Make a step signal of samples, and return what was taken off them so that none is negative.

    Raises SelectionError if a sample is too large to be squared.

    Parameters
    ----------
    values : float64 (n,)
        Finite.
    fs : float
        Sampling frequency in Hz.
    start : float
        Beginning of the first sample in s.

    Returns
    -------
    StepSignal, float
        And the smallest sample where it is negative, else 0.
    """

    baseline = min(float(values.min()), 0.0)
    if np.abs(values).max() > LARGEST_SAMPLE:
        raise SelectionError(f"samples beyond {LARGEST_SAMPLE:g} have no power in float64: scale them down")
    values = values - baseline
    times, cumulative = start + np.arange(values.size + 1) / fs, np.concatenate(([0.0], np.cumsum(values / fs)))
    signal = StepSignal(times, values, np.zeros(0), np.zeros(0), cumulative, unit)
    return signal, baseline


__all__ = ["StepSignal", "event_signal", "level_signal", "step_signal", "step_signal_from_ticks"]


def step_signal(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    volume: npt.ArrayLike,
    *,
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
    start: npt.ArrayLike, end: npt.ArrayLike, *, window: tuple[float, float] | None = None, name: str = ""
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


def event_signal(times: npt.ArrayLike, *, window: tuple[float, float] | None = None, name: str = "") -> StepSignal:
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
    return step_signal(at, at, np.ones(len(at)), window=window, unit="s-1", name=name)
