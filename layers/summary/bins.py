"""Bins of time that signals are summed up in while operations come, as wide as the trace turns out to need."""

from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from ...signals.step import StepSignal
from ..selection.window import TickWindow

if TYPE_CHECKING:
    from .tables import Kept

_SLIVER: Final = 1e-6


class BinGrid:
    """Volumes in bins of equal width, one row a category.

    Where an operation lies outside, two bins each become one, until all is covered.

    Parameters
    ----------
    categories : int
        Number of signals that may occur.
    bins : int
        An even number.
    origin : float
        Tick at which the first bin begins.
    width : float
        Of a bin in ticks.
    """

    def __init__(self, categories: int, bins: int, origin: float, width: float) -> None:
        self._row_of_category = np.full(categories, -1, np.int32)
        self._bins = bins
        self._origin = origin
        self._width = width
        self._make_rows(0)

    @property
    def width(self) -> float:
        """Width of a bin in ticks."""
        return self._width

    def add(self, kept: "Kept", count: int, categories: npt.NDArray[np.integer]) -> None:
        """Add the first `count` rows of `kept`; only of known categories and `categories`."""
        from .kernels import spread_over_bins

        for category in categories.tolist():
            self._row(category)
        done = 0
        while True:
            self._settled = False
            done = spread_over_bins(
                self._row_of_category, kept, done, count, self._volumes, self._rates, self._origin, self._width
            )
            if done == count:
                return
            self._widen(int(kept.begin[done]), int(kept.end[done]))

    def empty(self) -> "BinGrid":
        """Return the same bins as they are now, with nothing in them."""
        return BinGrid(len(self._row_of_category), self._bins, self._origin, self._width)

    def merge(self, other: "BinGrid") -> None:
        """Add the volumes of a grid that began with the same bins: both were widened by joining pairs of them."""
        other._settle()
        self._widen(other._origin, other._origin + other._bins * other._width)
        shift, joined = round((other._origin - self._origin) / other._width), round(self._width / other._width)
        for category in np.flatnonzero(other._row_of_category >= 0).tolist():
            volumes, mine = other._volumes[other._row_of_category[category]], self._volumes[self._row(category)]
            if joined == 1:
                mine += volumes
            else:
                mine += np.bincount((shift + np.arange(other._bins)) // joined, volumes, self._bins)

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

    def _widen(self, low: float, high: float) -> None:
        """Double the width of the bins until they cover tick `low` to `high`."""
        self._settle()
        half, filled = self._bins // 2, self._volumes[: self._rows]
        while low < self._origin or (high - self._origin) / self._width > self._bins:
            pairs = filled.reshape(len(filled), half, 2).sum(axis=2)
            filled[:] = 0
            if low < self._origin:
                filled[:, half:] = pairs
                self._origin -= half * 2 * self._width
            else:
                filled[:, :half] = pairs
            self._width *= 2

    def cover(self, window: TickWindow) -> None:
        """Make the bins cover all of `window`, so that `signal` has none that is wider than the others."""
        self._widen(window.start, window.end)

    def _settle(self) -> None:
        """Turn changes of the rate into volumes."""
        if self._settled:
            return
        for volumes, rates in zip(self._volumes[: self._rows], self._rates, strict=False):
            volumes += np.cumsum(rates[:-1])
            rates[:] = 0
        self._settled = True

    def signal(self, categories: npt.NDArray[np.integer], window: TickWindow, name: str) -> StepSignal:
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
        edges = (self._origin + np.arange(self._bins + 1) * self._width) / second
        # An edge that only rounding keeps from the window's own must not make a bin of almost no width.
        sliver = _SLIVER * self._width / second
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
        return StepSignal(times[changes], values[changes[:-1]], none, none, cumulative[changes], "byte s-1", name)
