"""Time in which something was under way, summed up while operations come."""

from typing import TYPE_CHECKING, Final

import numpy as np

from ...model.arrays import Ticks

if TYPE_CHECKING:
    from .busy_points import BusyPoints

MOST_STRETCHES: Final = 1 << 17
"""Stretches that are kept exactly; where there are more, points in time are looked at instead."""

_WAITING: Final = 1 << 16


class BusyTime:
    """The length of the union of intervals, exact up to `MOST_STRETCHES` stretches that do not touch.

    Parameters
    ----------
    start, end : int
        Ticks within which most intervals lie.
    exact : bool
        Whether all stretches are kept, however many there are.
    points : int, optional
        As in `BusyPoints`.
    """

    def __init__(self, start: int, end: int, exact: bool = False, points: int | None = None) -> None:
        self._window = start, end
        self._number = points
        self._exact = exact
        self._begin = np.empty(0, np.int64)
        self._end = np.empty(0, np.int64)
        self._waiting: list[tuple[Ticks, Ticks]] = []
        self._rows_waiting = 0
        self._points: BusyPoints | None = None

    @property
    def length(self) -> int:
        """Ticks in which at least one interval was open."""
        self._settle()
        return self._points.length if self._points is not None else int((self._end - self._begin).sum())

    @property
    def step(self) -> int:
        """Distance in ticks of the points that were looked at; 0 where the length is exact."""
        self._settle()
        step = self._points.step if self._points is not None else 0
        return step if step > 1 else 0

    def add(self, begin: Ticks, end: Ticks) -> None:
        """Add intervals [begin, end] in any order."""
        lasting = end > begin
        if lasting.any():
            self._waiting.append((begin[lasting], end[lasting]))
            self._rows_waiting += int(lasting.sum())
            if self._rows_waiting >= _WAITING:
                self._settle()

    def merge(self, other: "BusyTime") -> None:
        """Add the intervals of `other`."""
        self._settle()
        other._settle()
        if other._points is not None:
            self._points = other._points.joined(self._points or other._points)
            waiting, self._begin, self._end = (self._begin, self._end), np.empty(0, np.int64), np.empty(0, np.int64)
            self.add(*waiting)
        self.add(other._begin, other._end)

    def _settle(self) -> None:
        """Take in what waits."""
        if not self._waiting:
            return
        begin, end = (np.concatenate(side) for side in zip(*self._waiting, strict=True))
        self._waiting.clear()
        self._rows_waiting = 0
        begin, end = _union(begin, end)
        if self._points is None:
            begin, end = _union(np.concatenate((self._begin, begin)), np.concatenate((self._end, end)))
            if self._exact or len(begin) <= MOST_STRETCHES:
                self._begin, self._end = begin, end
                return
            from .busy_points import BusyPoints

            self._points = BusyPoints(*self._window, self._number)
            self._begin = self._end = np.empty(0, np.int64)
        self._points.add(begin, end)


def _union(begin: Ticks, end: Ticks) -> tuple[Ticks, Ticks]:
    """Return the stretches that intervals cover together, in the order of time."""
    # A stable sort of runs that are each in order is a merge.
    order = np.argsort(begin, kind="stable")
    begin, reached = begin[order], np.maximum.accumulate(end[order])
    separate = begin[1:] > reached[:-1]
    return begin[np.concatenate(([True], separate))], reached[np.concatenate((separate, [True]))]
