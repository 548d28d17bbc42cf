"""Windows of time in ticks: of a trace in full, and of one that is summed up while it is read.

The true start and end of the latter are only known when all is read.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any, Final, TypeVar

import numpy as np

from ...model.arrays import Array, Floats, Integers, Ints, Mask, Ticks, Unsigned
from ...model.codes import UNDEFINED_TIME, UNDEFINED_UINT64, Status
from ...model.definitions import Clock, Definitions
from ...model.document import Record
from ...model.errors import SelectionError
from ...model.operations import Operations, view

Amounts = Unsigned | Floats
"""Bytes: uint64 where they are whole, float64 where a window cuts operations."""

Seconds = tuple[float | None, float | None]
"""Start and end in s from the trace's start; None is the trace's own."""

NO_LENGTH: Final = 2**62
"""Ticks from which on a clock's length is not believed; below, differences of times fit into int64."""


@dataclass(frozen=True)
class TickWindow:
    """Part of a trace's time, from `start` (included) to `end`.

    Attributes
    ----------
    start, end : int
        Ticks since the trace's start.
    closed : bool
        Whether `end` belongs to it, as at the trace's end; elsewhere it belongs to the window that follows.
    """

    start: int
    end: int
    closed: bool
    ticks_per_second: int

    @property
    def seconds(self) -> tuple[float, float]:
        """Start and end in s from the trace's start."""
        return self.start / self.ticks_per_second, self.end / self.ticks_per_second

    def contains(self, time: Ticks) -> Mask:
        """Return whether each time lies in the window."""
        before = time <= self.end if self.closed else time < self.end
        return (time >= self.start) & before

    def ends(self, operations: Operations) -> Ticks:
        """Return the end of each operation, int64 (n,), never before its begin.

        One that the trace does not end lasts until the window's end.
        """
        if not (operations.end < operations.begin).any():
            return operations.end
        # The undefined time is the least of all.
        end = np.where(operations.end == UNDEFINED_TIME, self.end, operations.end)
        return np.maximum(end, operations.begin)

    def overlaps(self, operations: Operations) -> Mask:
        """Return which operations have time in common with the window, bool (n,); one without duration lies in it."""
        begin, end = operations.begin, self.ends(operations)
        if self.closed and begin.min(initial=self.start) >= self.start and end.max(initial=self.end) <= self.end:
            return np.ones(len(begin), np.bool_)
        lasting = end > begin
        return np.where(lasting, (begin < self.end) & (end > self.start), self.contains(begin))

    def part(self, operations: Operations) -> Operations:
        """Return the operations that overlap the window; without a copy where all do."""
        mask = self.overlaps(operations)
        return view(operations, mask)

    def clipped(self, operations: Operations) -> tuple[Ticks, Ticks]:
        """Return begin and end of the part of each operation in the window; all of them overlap it.

        They may be columns of the operations and are not to be written to.
        """
        begin, end = operations.begin, self.ends(operations)
        if begin.min(initial=self.start) < self.start:
            begin = np.maximum(begin, self.start)
        if end.max(initial=self.end) > self.end:
            end = np.minimum(end, self.end)
        return begin, end

    def bytes_within(self, operations: Operations) -> Amounts:
        """Return the bytes that each operation moved within the window, all of them overlapping it, evenly over time.

        The type is uint64 where the window cuts no operation that moved bytes, else float64.
        """
        moved = completed_bytes(operations)
        begin, end = self.clipped(operations)
        length = self.ends(operations) - operations.begin
        cut = (end - begin < length) & (moved > 0)
        if not cut.any():
            return moved
        within = moved.astype(np.float64)
        within[cut] *= (end - begin)[cut] / length[cut]
        return within


def completed_bytes(operations: Operations) -> Unsigned:
    """Return the bytes that each operation moved, uint64 (n,): 0 unless it completed and the trace knows them.

    They may be a column of the operations and are not to be written to.
    """
    known = (operations.status == Status.COMPLETE) & (operations.moved != UNDEFINED_UINT64)
    return operations.moved if known.all() else np.where(known, operations.moved, np.uint64(0))


def trace_window(clock: Clock, extent: tuple[int, int] | None) -> TickWindow:
    """Return the whole time of a trace: its own start and end, and any operation that lies outside of them.

    Corrected clocks can move an event a little past the trace's edge, and a trace can lack its length. A length of 2^62
    ticks or more, such as one that the trace leaves undefined, is none: the last operation is the end.

    Parameters
    ----------
    extent : (int, int) or None
        First begin and last begin or end of all operations, as in ``Operations.extent``.
    """
    start, end = 0, clock.length if clock.length < NO_LENGTH else 0
    if extent is not None:
        start, end = min(start, extent[0]), max(end, extent[1])
    return TickWindow(start, max(end, start + 1), True, clock.ticks_per_second)


def select_window(whole: TickWindow, window: Seconds | None) -> TickWindow:
    """Return the window of the seconds `window`, rounded to ticks and cut to the `whole` trace.

    Raises SelectionError if these are no two numbers, the start is not before the end, or the trace has nothing between
    them.

    Parameters
    ----------
    window : (start, end) in s from the trace's start, or None
        None in place of a number, or of both, means the trace's edge.
    """
    start, end = _edges(window)
    first, last = whole.seconds
    low, high = first if start is None else start, last if end is None else end
    name = "window '{}:{}'".format(*("" if edge is None else f"{edge:.9g}" for edge in (start, end)))
    if not (isfinite(low) and isfinite(high)):
        raise SelectionError(f"{name}: give finite seconds from the trace's start")
    if None not in (start, end) and low >= high:
        raise SelectionError(f"{name}: the start must be before the end")
    if high <= first or low >= last:
        raise SelectionError(f"{name}: outside the trace, which lasts from {first:.9g} to {last:.9g} s")
    begin = whole.start if low <= first else round(low * whole.ticks_per_second)
    stop = whole.end if high >= last else round(high * whole.ticks_per_second)
    if begin >= stop:
        raise SelectionError(f"{name}: shorter than a tick of the trace's clock (1/{whole.ticks_per_second} s)")
    return TickWindow(begin, stop, whole.closed and stop == whole.end, whole.ticks_per_second)


_UNKNOWN_LENGTH: Final = 2**20
"""Ticks that bins cover at first where a trace does not tell its length; they widen as operations come."""


def bounded_windows(definitions: Definitions, window: Seconds | None) -> tuple[TickWindow, TickWindow]:
    """Return what of the time counts while operations come, and what of it bins should cover at first.

    The first is open, up to `NO_LENGTH`, at an edge that is not given: operations may lie outside of what the clock
    properties tell. Once the extent of all operations is known, `select_window` of `trace_window` has what was counted,
    except for operations without duration at an end that lies behind the clock's but before the last operation. Raises
    SelectionError as `select_window`, for a window that cannot be one whatever the operations are.
    """
    whole = trace_window(definitions.clock, None)
    second = whole.ticks_per_second
    unknown = definitions.clock.length >= NO_LENGTH
    start, end = _edges(window)
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


def _edges(window: Seconds | None) -> Seconds:
    """Return the edges as numbers, None where they are the trace's; SelectionError where they are none."""
    try:
        start, end = (None, None) if window is None else window
        return None if start is None else float(start), None if end is None else float(end)
    except (TypeError, ValueError):
        raise SelectionError(f"window {window!r}: give a start and an end in seconds") from None


def _tick(edge: float, ticks_per_second: int) -> int:
    return max(-NO_LENGTH, min(round(edge * ticks_per_second), NO_LENGTH)) if isfinite(edge) else 0


class SetAside(Record):
    """Operations and bytes that are not selected, summed over all layers: the same traffic may be seen in several.

    Attributes
    ----------
    operations : int
        Flushes among them.
    bytes : int or float
        Bytes moved, read and written.
    files : int
        Distinct files of these operations.
    reasons : mapping
        Operations by the reason why they are set aside; only reasons that occur.
    """

    operations: int
    bytes: int | float
    files: int
    reasons: Mapping[str, int]


Sums = TypeVar("Sums", bound=Array)


def sums_by(group: Integers, amounts: Sums, count: int) -> Sums:
    """Return the sum of `amounts` (n,) by `group` (n,), shape (count,), in their own type."""
    sums = zeros_like_amounts(amounts, count)
    np.add.at(sums, group, amounts)
    return sums


def zeros_like_amounts(amounts: Sums, count: int) -> Sums:
    """Return `count` zeros of the type of `amounts`."""
    zeros: Any = np.zeros(count, amounts.dtype)
    found: Sums = zeros
    return found


FRACTION: Final = 2.0**32
"""Parts of a byte in which what a window cuts is added up, so that the order does not matter."""


def whole_and_part(moved: Amounts) -> tuple[Ints, Ints]:
    """Return amounts as whole bytes and as what is left, in units of 2^-32 byte, int64 (n,) each."""
    whole = moved.astype(np.int64)
    if moved.dtype == np.uint64:
        return whole, np.zeros(len(whole), np.int64)
    return whole, ((moved - whole) * FRACTION).astype(np.int64)
