"""Windows of a trace that is summed up while it is read: its true start and end are only known when all is read."""

from math import isfinite
from typing import Final

from ..otf2io.definitions import Definitions
from .window import NO_LENGTH, TickWindow, select_window

_UNKNOWN_LENGTH: Final = 2**20
"""Ticks that bins cover at first where a trace does not tell its length; they widen as operations come."""


def bounded_windows(
    definitions: Definitions, window: tuple[float | None, float | None] | None
) -> tuple[TickWindow, TickWindow]:
    """Return what of the time counts while operations come, and what of it bins should cover at first.

    The first is open, up to `NO_LENGTH`, at an edge that is not given: operations may lie outside of what the clock
    properties tell. Once the extent of all operations is known, `select_window` of `whole_window` has what was counted,
    except for operations without duration at an end that lies behind the clock's but before the last operation.

    Raises
    ------
    SelectionError
        As `select_window`, for a window that cannot be one whatever the operations are.
    """
    whole = whole_window(definitions, None)
    second = whole.ticks_per_second
    unknown = definitions.clock.length >= NO_LENGTH
    start, end = (None, None) if window is None else _edges(window)
    # Refuses what makes no sense; what lies behind the clock's end may still have operations.
    far = TickWindow(-NO_LENGTH, NO_LENGTH, True, second)
    select_window(far, window)
    low = -NO_LENGTH if start is None else _tick(start, second)
    high = NO_LENGTH if end is None else _tick(end, second)
    first = max(0, low)
    last = first + _UNKNOWN_LENGTH if unknown else whole.end
    if end is not None and (unknown or high < last):
        last = high
    return TickWindow(low, high, high >= whole.end or unknown, second), TickWindow(
        first, max(last, first + 1), True, second
    )


def whole_window(definitions: Definitions, extent: tuple[int, int] | None) -> TickWindow:
    """Return what `trace_window` gives for operations of that extent; None for no operations."""
    clock = definitions.clock
    start, end = 0, clock.length if clock.length < NO_LENGTH else 0
    if extent is not None:
        start, end = min(start, extent[0]), max(end, extent[1])
    return TickWindow(start, max(end, start + 1), True, clock.ticks_per_second)


def _edges(window: tuple[float | None, float | None]) -> tuple[float | None, float | None]:
    """Return the edges as numbers where they are some; what is no window is refused by `select_window`."""
    try:
        start, end = window
        return None if start is None else float(start), None if end is None else float(end)
    except (TypeError, ValueError):
        return None, None


def _tick(edge: float, ticks_per_second: int) -> int:
    return max(-NO_LENGTH, min(round(edge * ticks_per_second), NO_LENGTH)) if isfinite(edge) else 0
