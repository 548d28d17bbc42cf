"""How often each size was asked for, counted while operations come."""

from typing import Final

import numpy as np
import numpy.typing as npt

from ...model.codes import UNDEFINED_UINT64
from ...model.kernels import compiled, hashed, random_seed
from ..statistics.statistics import RequestBytes

_SIZES: Final = 1 << 16
_MOST: Final = 3 * _SIZES // 4
_DIGITS: Final = 10
"""Binary digits that are left of a size where there are too many sizes; it then grows by less than 0.2 %."""
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)


class RequestCounts:
    """Counts by size; memory does not follow the number of requests or of sizes.

    Attributes
    ----------
    rounded : bool
        Whether there were more than some 49,000 sizes, so that all were rounded up to ten binary digits.
    least, most : int or None
        The smallest and the largest size, never rounded.
    """

    def __init__(self) -> None:
        self._sizes = np.zeros(_SIZES, np.uint64)
        self._counts = np.zeros(_SIZES, np.int64)
        self._used = 0
        self._seed = random_seed()
        self.rounded = False
        self.least: int | None = None
        self.most: int | None = None

    def add(self, requested: npt.NDArray[np.uint64], weight: npt.NDArray[np.int64] | None = None) -> None:
        """Count sizes; those that the trace does not know are left out."""
        known = requested != _UNKNOWN
        if not known.all():
            requested = requested[known]
            weight = None if weight is None else weight[known]
        if not len(requested):
            return
        low, high = int(requested.min()), int(requested.max())
        self.least = low if self.least is None else min(self.least, low)
        self.most = high if self.most is None else max(self.most, high)
        weights = np.ones(len(requested), np.int64) if weight is None else weight
        done = 0
        while True:
            done, self._used = _count(
                requested, weights, done, self.rounded, self._sizes, self._counts, self._used, self._seed
            )
            if done == len(requested):
                return
            self._round()

    def joined(self, other: "RequestCounts") -> "RequestCounts":
        """Return the counts of both."""
        both = RequestCounts()
        both.rounded = self.rounded or other.rounded
        for part in (self, other):
            used = part._counts > 0
            both.add(part._sizes[used], part._counts[used])
        both.least = min((part.least for part in (self, other) if part.least is not None), default=None)
        both.most = max((part.most for part in (self, other) if part.most is not None), default=None)
        return both

    def quantiles(self) -> RequestBytes:
        """Return smallest, median, nine-tenths and largest size, as `RequestBytes` says."""
        used = np.flatnonzero(self._counts)
        if self.least is None or self.most is None:
            return RequestBytes(None, None, None, None)
        order = used[np.argsort(self._sizes[used])]
        sizes, running = self._sizes[order], np.cumsum(self._counts[order])
        count = int(running[-1])
        p50, p90 = (
            min(int(sizes[np.searchsorted(running, -(-count * share // 100))]), self.most) for share in (50, 90)
        )
        return RequestBytes(self.least, p50, p90, self.most)

    def _round(self) -> None:
        used = self._counts > 0
        sizes, counts = self._sizes[used], self._counts[used]
        self._sizes[:] = 0
        self._counts[:] = 0
        self.rounded = True
        _, self._used = _count(sizes, counts, 0, True, self._sizes, self._counts, 0, self._seed)


@compiled
def _count(
    sizes: npt.NDArray[np.uint64],
    weights: npt.NDArray[np.int64],
    first: int,
    rounded: bool,
    known: npt.NDArray[np.uint64],
    counts: npt.NDArray[np.int64],
    used: int,
    seed: np.uint64,
) -> tuple[int, int]:
    """Count sizes from row `first` on in a table with linear probing; return the row where it is full, and its use."""
    mask = len(known) - 1
    for row in range(first, len(sizes)):
        size = sizes[row]
        if rounded:
            size = _rounded_up(size)
        place = np.int64(hashed(size, seed)) & mask
        while counts[place] > 0 and known[place] != size:
            place = (place + 1) & mask
        if counts[place] == 0:
            if used == _MOST and not rounded:
                return row, used
            known[place] = size
            used += 1
        counts[place] += weights[row]
    return len(sizes), used


@compiled
def _rounded_up(size: np.uint64) -> np.uint64:
    """Return `size` with its ten first binary digits, rounded up."""
    shift = np.uint64(0)
    rest = size
    while rest >= np.uint64(1 << _DIGITS):
        rest = (rest + np.uint64(1)) >> np.uint64(1)
        shift += np.uint64(1)
    return rest << shift
