"""How often each number occurs: sizes, durations, operations beneath a call; counts merge by adding."""

from collections.abc import Sequence
from typing import Any, Final, Self

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_UINT64
from ...model.sums import Sums, added, largest
from ...model.sums import least as smallest
from .distribution import Distribution, RequestBytes, quantile_places

_FIRST: Final = 1 << 8
_LAST: Final = 1 << 16
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)


class ValueCounts(Sums):
    """Counts by number; memory does not follow how many are counted.

    Parameters
    ----------
    exact : bool
        Whether all different numbers are kept, however many there are.

    Attributes
    ----------
    rounded : bool
        Whether there were more than some 49,000 different numbers, so that all were rounded up to ten binary digits.
        That depends on the numbers alone, not on their order or on what was merged with what.
    least, most : int or None
        The smallest and the largest number, never rounded.
    count, sum : int
        Of all numbers, never rounded.
    """

    exact: bool = False
    count: int = added(0)
    sum: int = added(0)
    least: int | None = smallest(None)
    most: int | None = largest(None)

    def __post_init__(self) -> None:
        from ...model.kernels import random_seed

        super().__post_init__()
        self._seed = random_seed()
        self._sizes, self._counts = np.zeros(_FIRST, np.uint64), np.zeros(_FIRST, np.int64)
        self._used, self.rounded = 0, False

    def add(self, numbers: npt.NDArray[Any], weight: npt.NDArray[np.int64] | None = None) -> None:
        """Count whole numbers from 0 on, each `weight` times; ``UNDEFINED_UINT64`` is left out."""
        requested = numbers.astype(np.uint64, copy=False)
        known = requested != _UNKNOWN
        if not known.all():
            requested = requested[known]
            weight = None if weight is None else weight[known]
        if not len(requested):
            return
        weights = np.ones(len(requested), np.int64) if weight is None else weight
        self.count += int(weights.sum())
        # Sums of halves stay within int64.
        high, low = (requested >> np.uint64(32)).astype(np.int64), (requested & np.uint64(2**32 - 1)).astype(np.int64)
        self.sum += (int(high @ weights) << 32) + int(low @ weights)
        least, most = int(requested.min()), int(requested.max())
        self.least = least if self.least is None else min(self.least, least)
        self.most = most if self.most is None else max(self.most, most)
        self._take(requested, weights)

    def absorb(self, other: Self) -> None:
        """Add the counts of `other`."""
        if other.rounded and not self.rounded:
            self._rehash(len(self._sizes), True)
        used = other._counts > 0
        self._take(other._sizes[used], other._counts[used])

    def ordered(self) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.int64]]:
        """Return the different numbers in ascending order, and how often each occurs."""
        used = np.flatnonzero(self._counts)
        order = used[np.argsort(self._sizes[used])]
        return self._sizes[order], self._counts[order]

    @property
    def zeros(self) -> int:
        """How often 0 occurs."""
        sizes, counts = self.ordered()
        return int(counts[sizes == 0].sum())

    def at(self, places: Sequence[int]) -> list[int]:
        """Return the numbers at some places of all in ascending order; there is at least one."""
        sizes, counts = self.ordered()
        found = sizes[np.searchsorted(np.cumsum(counts), np.asarray(places), side="right")].tolist()
        return [
            (self.least or 0) if place == 0 else min(number, self.most or 0)
            for place, number in zip(places, found, strict=True)
        ]

    def median(self) -> float:
        """Return the median, of an even count the mean of both numbers in the middle."""
        low, high = self.at([(self.count - 1) // 2, self.count // 2])
        return (low + high) / 2

    def quantiles(self) -> RequestBytes:
        """Return smallest, median, nine-tenths and largest number, as `RequestBytes` says."""
        return RequestBytes(*self.at(quantile_places(self.count))) if self.count else RequestBytes(*[None] * 4)

    def distribution(self, unit: float = 1) -> Distribution:
        """Return the distribution of the numbers divided by `unit`."""
        if not self.count:
            return Distribution(0, None, None, None, None, None)
        found = (number / unit for number in self.at(quantile_places(self.count)))
        return Distribution(self.count, self.sum / (self.count * unit), *found)

    def _take(self, sizes: npt.NDArray[np.uint64], weights: npt.NDArray[np.int64]) -> None:
        from .counts_kernel import count_numbers

        done = 0
        while True:
            done, self._used = count_numbers(
                sizes, weights, done, self.rounded, self._sizes, self._counts, self._used, self._seed
            )
            if done == len(sizes):
                return
            # Rounded numbers are at most 28,000, so they always find room.
            grows = self.exact or len(self._sizes) < _LAST
            self._rehash(2 * len(self._sizes) if grows else _LAST, not grows)

    def _rehash(self, room: int, rounded: bool) -> None:
        used = self._counts > 0
        sizes, counts = self._sizes[used], self._counts[used]
        self._sizes, self._counts = np.zeros(room, np.uint64), np.zeros(room, np.int64)
        self.rounded |= rounded
        from .counts_kernel import count_numbers

        _, self._used = count_numbers(sizes, counts, 0, self.rounded, self._sizes, self._counts, 0, self._seed)
