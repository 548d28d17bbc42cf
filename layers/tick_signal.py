"""Step signals from intervals in ticks of the trace's clock."""

import numpy as np
import numpy.typing as npt

from ..otf2io.errors import SelectionError
from .spread import checked_intervals, checked_window, spread_intervals
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
    volume does not. A step shorter than float64 can tell becomes an impulse.

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

    Raises
    ------
    SelectionError
        As `step_signal`, or if `ticks_per_second` is not a finite number above 0.
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
    width = np.diff(times)
    volumes = signal.values * np.diff(signal.times)
    wide = width > 0
    at = np.clip(signal.impulse_times / resolution, *window)
    at[signal.impulse_times == signal.times[0]] = window[0]
    at[signal.impulse_times == signal.times[-1]] = window[1]
    short = ~wide & (volumes > 0)
    impulse_times, row = np.unique(np.concatenate((at, times[:-1][short])), return_inverse=True)
    at_once = np.concatenate((signal.impulse_volumes, volumes[short]))
    impulse_volumes = np.zeros(len(impulse_times))
    np.add.at(impulse_volumes, row, at_once)
    # Of breakpoints at one time the last has the volume up to and including all of them.
    last_there = np.append(wide, True)
    return StepSignal(
        times[last_there],
        volumes[wide] / width[wide],
        impulse_times,
        impulse_volumes,
        signal.cumulative[last_there],
        signal.unit,
        signal.name,
    )
