"""Bins of time that signals are summed up in while operations come, as wide as the trace turns out to need."""

from collections.abc import Callable
from typing import Any, Final, Self

import numpy as np

from ...model.arrays import Floats, Integers
from ...model.sums import Sums
from ...signals.step import StepSignal
from ..selection.window import TickWindow
from .tables import BinPlaces, Kept

_SLIVER: Final = 1e-6


class BinGrid(Sums):
    """Volumes in bins of equal width, one row a category.

    All edges are multiples of the width from one origin, and widths are powers of two of a unit. Where an operation
    lies outside, two bins each become one, until all is covered; what comes out depends on the operations alone.

    Parameters
    ----------
    categories : int
        Number of signals that may occur.
    bins : int
        Most bins of each signal, at most 2^20.
    origin : int
        A tick at which a bin begins, however wide bins are.
    unit : float
        Narrowest width of a bin in ticks.
    covered : (int, int)
        First and last tick that the bins cover at first.
    """

    categories: int
    bins: int
    origin: int
    unit: float
    covered: tuple[int, int]

    def prepare(self) -> None:
        self._row_of_category = np.full(self.categories, -1, np.int32)
        # What happens at the very end of the last bin begins another one.
        self._bins = self.bins + 1
        self._level = 0
        self._extent = self._units(*self.covered)
        self._first = self._placed()
        self._make_rows(0)

    @property
    def width(self) -> float:
        """Width of a bin in ticks."""
        return self.unit * 2.0**self._level

    def add(self, kept: Kept, count: int, categories: Integers) -> None:
        """Add the first `count` rows of `kept`; only of known categories and `categories`."""
        from .kernels import spread_over_bins

        for category in categories.tolist():
            self._row(category)
        done = 0
        while True:
            self._settled = False
            places = BinPlaces(self.origin, self.unit, 2.0**self._level, self._first)
            done = spread_over_bins(
                self._row_of_category, kept, done, count, self._volumes, self._rates, places, self._extent
            )
            if done == count:
                return
            self._widen(self._units(int(kept.begin[done]), int(kept.end[done])))

    def empty(self, categories: int | None = None) -> Self:
        """Return bins that cover the same, with nothing in them; of as many categories, or of another number."""
        count = self.categories if categories is None else categories
        grid = type(self)(count, self.bins, self.origin, self.unit, self.covered)
        grid._extent = self._extent.copy()
        grid._first = grid._placed()
        return grid

    def absorb(self, other: Self) -> None:
        """Add the volumes of a grid with the same origin and unit."""
        other._settle()
        self._widen(other._extent)
        moved = other._moved_to(self._level, self._first)
        for category in np.flatnonzero(other._row_of_category >= 0).tolist():
            self._volumes[self._row(category)] += moved(other._volumes[other._row_of_category[category]])

    def __getstate__(self) -> dict[str, Any]:
        # Most of the bins of a part of a trace are often empty.
        self._settle()
        volumes = self._volumes[: self._rows]
        places = np.flatnonzero(volumes).astype(np.int32 if volumes.size < 2**31 else np.int64)
        kept = {name: value for name, value in vars(self).items() if name not in ("_volumes", "_rates")}
        return {**kept, "filled": (places, volumes.ravel()[places])}

    def __setstate__(self, state: dict[str, Any]) -> None:
        places, volumes = state.pop("filled")
        vars(self).update(state)
        self._make_rows(self._rows)
        self._volumes.ravel()[places] = volumes

    def _row(self, category: int) -> int:
        """Return the row of a category, a new one where it has none."""
        if self._row_of_category[category] < 0:
            self._row_of_category[category] = self._rows
            self._rows += 1
        return int(self._row_of_category[category])

    def _make_rows(self, rows: int) -> None:
        """Make room for all categories, the first `rows` of which occur; what is never written to takes no memory."""
        categories = len(self._row_of_category)
        self._rows, self._settled = rows, True
        self._volumes, self._rates = np.zeros((categories, self._bins)), np.zeros((categories, self._bins + 1))

    def _units(self, low: int, high: int) -> Floats:
        """Return from where on bins cover ticks `low` to `high`, and before which, in units from the origin."""
        begin, end = ((float(tick) - self.origin) / self.unit for tick in (low, high))
        return np.array([begin, end if end > begin else np.nextafter(begin, np.inf)])

    def _placed(self) -> int:
        """Double the width of the bins until they can cover the extent; return the number of the first from the origin.

        What is left over is shared out to both sides, so that few operations outside make bins move.
        """
        while True:
            low, high = np.floor(self._extent[0] * 0.5**self._level), np.ceil(self._extent[1] * 0.5**self._level)
            if high - low <= self._bins:
                return int(low) - (self._bins - int(high - low)) // 2
            self._level += 1

    def _moved_to(self, level: int, first: int) -> Callable[[Floats], Floats]:
        """Return what puts volumes into bins of a level at least as high, in which all that is there has a place."""
        if (level, first) == (self._level, self._first):
            return np.asarray
        there = (np.arange(self._bins) + self._first >> level - self._level) - first

        def moved(volumes: Floats) -> Floats:
            filled = np.flatnonzero(volumes)
            return np.asarray(np.bincount(there[filled], volumes[filled], self._bins), np.float64)

        return moved

    def _widen(self, extent: Floats) -> None:
        """Make the bins cover `extent`, too."""
        self._settle()
        low, high = min(self._extent[0], extent[0]), max(self._extent[1], extent[1])
        level, first = self._level, self._first
        self._extent[:] = low, high
        inside = first <= np.floor(low * 0.5**level) and np.ceil(high * 0.5**level) <= first + self._bins
        if inside:
            return
        place = self._placed()
        wider, self._level = self._level, level
        moved = self._moved_to(wider, place)
        for volumes in self._volumes[: self._rows]:
            volumes[:] = moved(volumes)
        self._level, self._first = wider, place

    def cover(self, window: TickWindow) -> None:
        """Make the bins cover all of `window`, so that `signal` has none that is wider than the others."""
        self._widen(self._units(window.start, window.end))

    def _settle(self) -> None:
        """Turn changes of the rate into volumes."""
        if self._settled:
            return
        for volumes, rates in zip(self._volumes[: self._rows], self._rates, strict=False):
            volumes += np.cumsum(rates[:-1])
            rates[:] = 0
        self._settled = True

    def signal(self, categories: Integers, window: TickWindow, name: str) -> StepSignal:
        """Return the bandwidth of all of `categories` over `window`, which has all of their volume and is covered.

        It is constant in each bin; bins with the same bandwidth are one step.
        """
        self._settle()
        rows = self._row_of_category[categories]
        volumes = np.zeros(self._bins)
        for row in rows[rows >= 0]:
            volumes += self._volumes[row]
        second = window.ticks_per_second
        low, high = window.seconds
        edges = (self.origin + (self._first + np.arange(self._bins + 1)) * self.width) / second
        # An edge that only rounding keeps from the window's own must not make a bin of almost no width.
        sliver = _SLIVER * self.width / second
        first = max(0, int(np.searchsorted(edges, low + sliver, side="right")) - 1)
        last = max(first + 1, int(np.searchsorted(edges[:-1], high - sliver, side="left")))
        times, inside = edges[first : last + 1], volumes[first:last].copy()
        inside[0] += volumes[:first].sum()
        inside[-1] += volumes[last:].sum()
        times[0], times[-1] = low, high
        # Beyond 2^37 bytes a bin sums round, and where there is nothing they may end a little below zero.
        inside = np.maximum(inside, 0.0)
        values = inside / np.diff(times)
        changes = np.concatenate(([True], (values[1:] != values[:-1]), [True]))
        cumulative = np.concatenate(([0.0], np.cumsum(inside)))
        none = np.empty(0)
        return StepSignal(
            times[changes], values[changes[:-1]], none, none, cumulative[changes], "byte s-1", name, self.width / second
        )
