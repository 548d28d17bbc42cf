"""Time in which something was under way, summed up while operations come."""

from typing import TYPE_CHECKING, Final, Self

import numpy as np

from ...model.arrays import Ticks
from ...model.ranges import NOTHING, Coverage
from ...model.sums import Sums

if TYPE_CHECKING:
    from .busy_points import BusyPoints

MOST_STRETCHES: Final = 1 << 17
"""Stretches that are kept exactly; where there are more, points in time are looked at instead."""

_WAITING: Final = 1 << 16


class BusyTime(Sums):
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

    start: int
    end: int
    exact: bool = False
    points: int | None = None

    def prepare(self) -> None:
        self._stretches = NOTHING
        self._waiting: list[tuple[Ticks, Ticks]] = []
        self._rows_waiting = 0
        self._points: BusyPoints | None = None

    @property
    def length(self) -> int:
        """Ticks in which at least one interval was open."""
        self._settle()
        return self._points.length if self._points is not None else self._stretches.length

    @property
    def step(self) -> int:
        """Distance in ticks of the points that were looked at; 0 where the length is exact."""
        self._settle()
        step = self._points.step if self._points is not None else 0
        return step if step > 1 else 0

    def within(self, begin: int, end: int) -> int:
        """Return the ticks between two times in which at least one interval was open."""
        around, whole = self.empty(), self.empty()
        for union in (around, whole):
            union.merge(self)
            union.add(np.array([self.start, end]), np.array([begin, self.end]))
        whole.add(np.array([begin]), np.array([end]))
        return end - begin - (whole.length - around.length)

    def add(self, begin: Ticks, end: Ticks) -> None:
        """Add intervals [begin, end] in any order; they are kept, and not to be written to from then on."""
        lasting = end > begin
        if not lasting.all():
            begin, end = begin[lasting], end[lasting]
        if len(begin):
            self._waiting.append((begin, end))
            self._rows_waiting += len(begin)
            if self._rows_waiting >= _WAITING:
                self._settle()

    def absorb(self, other: Self) -> None:
        """Add the intervals of `other`."""
        self._settle()
        other._settle()
        if other._points is not None:
            self._points = other._points.joined(self._points or other._points)
            waiting, self._stretches = self._stretches, NOTHING
            self.add(waiting.begin, waiting.end)
        self.add(other._stretches.begin, other._stretches.end)

    def _settle(self) -> None:
        """Take in what waits."""
        if not self._waiting:
            return
        begin, end = (np.concatenate(side) for side in zip(*self._waiting, strict=True))
        self._waiting.clear()
        self._rows_waiting = 0
        fresh = Coverage.of(np.zeros(len(begin), np.int64), begin, end)
        if self._points is None:
            stretches = self._stretches.joined(*fresh)
            if self.exact or len(stretches.begin) <= MOST_STRETCHES:
                self._stretches = stretches
                return
            from .busy_points import BusyPoints

            self._points = BusyPoints(self.start, self.end, self.points)
            self._stretches, fresh = NOTHING, stretches
        self._points.add(fresh.begin, fresh.end)
