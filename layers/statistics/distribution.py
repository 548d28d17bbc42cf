"""How often each number occurs, sizes, durations, operations beneath a call, and distributions in a few numbers."""

from collections.abc import Sequence
from typing import Final, Self

import numpy as np
import numpy.typing as npt

from ...model.arrays import Array, Ints, Unsigned
from ...model.codes import UNDEFINED_UINT64
from ...model.document import Record
from ...model.keyed import KeyedSums
from ...model.metrics import metric
from ...model.sums import Sums, added, largest, least


class Distribution(Record):
    """Count, mean and quantiles of numbers; None where there are none.

    The quantiles are numbers that occur: the smallest one that at least that share of the numbers does not exceed.
    """

    count: int
    mean: float | None
    min: float | None
    p50: float | None
    p90: float | None
    max: float | None


class RequestBytes(Record):
    """Sizes of requests in bytes, over the operations whose request the trace knows; None where there are none.

    The quantiles are sizes that occur: the smallest one that at least that share of the requests does not exceed.
    """

    min: int | None = metric("Smallest request.", unit="byte", title="request min", adds="none")
    p50: int | None = metric(
        "Size that half of the requests do not exceed.",
        unit="byte",
        title="median",
        adds="none",
        narrow="request\nmedian",
        gives_way=3,
    )
    p90: int | None = metric(
        "Size that nine tenths of the requests do not exceed.", unit="byte", title="90 %", adds="none"
    )
    max: int | None = metric("Largest request.", unit="byte", title="max", adds="largest")


def quantile_places(count: int) -> list[int]:
    """Return where minimum, median, nine tenths and maximum stand among at least one ordered number."""
    return [0, -(-count * 50 // 100) - 1, -(-count * 90 // 100) - 1, count - 1]


def distribution(values: npt.NDArray[np.generic]) -> Distribution:
    """Return the distribution of `values` (n,), which are finite."""
    count = len(values)
    if not count:
        return Distribution(0, None, None, None, None, None)
    numbers = values.astype(np.float64)
    places = quantile_places(count)
    ordered = np.partition(numbers, places)
    return Distribution(count, float(numbers.mean()), *(float(ordered[place]) for place in places))


_MOST_NUMBERS: Final = 49_152
"""Different numbers that are kept as they are."""
_DIGITS: Final = 10
"""Binary digits that are left of a number where there are more; it then grows by less than 0.2 %."""
_UNKNOWN: Final = np.uint64(UNDEFINED_UINT64)


class ValueCounts(Sums):
    """Counts by number; memory does not follow how many are counted.

    Parameters
    ----------
    exact : bool
        Whether all different numbers are kept, however many there are.

    Attributes
    ----------
    least, most : int or None
        The smallest and the largest number, never rounded.
    count, sum : int
        Of all numbers, never rounded.
    """

    exact: bool = False
    count: int = added(0)
    sum: int = added(0)
    least: int | None = least(None)
    most: int | None = largest(None)

    def prepare(self) -> None:
        self._known, self._waiting, self._rounded = KeyedSums.none(1, "count"), list[KeyedSums](), False

    def add(self, numbers: Array, weight: Ints | None = None) -> None:
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
        if weight is None:
            requested, weights = np.unique(requested, return_counts=True)
        self._take(KeyedSums([requested], {"count": weights}))

    def absorb(self, other: Self) -> None:
        """Add the counts of `other`."""
        self._take(other._settled())
        self._rounded |= other._rounded

    @property
    def rounded(self) -> bool:
        """Whether there were more than some 49,000 different numbers, so that all were rounded up to ten binary digits.

        That depends on the numbers alone, not on their order or on what was merged with what.
        """
        self._settled()
        return self._rounded

    def ordered(self) -> tuple[Unsigned, Ints]:
        """Return the different numbers in ascending order, and how often each occurs."""
        known = self._settled()
        numbers = known.keys[0].view(np.uint64)
        order = np.argsort(numbers, kind="stable")
        return numbers[order], known["count"][order]

    @property
    def zeros(self) -> int:
        """How often 0 occurs."""
        sizes, counts = self.ordered()
        return int(counts[sizes == 0].sum())

    def at(self, places: Sequence[int]) -> list[int]:
        """Return the numbers at some places of all in ascending order; there is at least one."""
        sizes, counts = self.ordered()
        found = sizes[np.searchsorted(np.cumsum(counts), np.asarray(places), side="right")].tolist()
        told = zip(places, found, strict=True)
        return [(self.least or 0) if place == 0 else min(number, self.most or 0) for place, number in told]

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

    def _take(self, counts: KeyedSums) -> None:
        # Merging sorts all that there are: not before there are as many again.
        self._waiting.append(counts)
        if sum(map(len, self._waiting)) >= max(_MOST_NUMBERS, len(self._known)):
            self._settled()

    def _settled(self) -> KeyedSums:
        """Return all counts, those that wait to be merged too."""
        if self._waiting:
            self._known, self._waiting = self._known.merged(*self._waiting), []
            self._rounded |= not self.exact and len(self._known) > _MOST_NUMBERS
            if self._rounded:
                self._known = KeyedSums([_rounded_up(self._known.keys[0].view(np.uint64))], self._known.values)
        return self._known


def _rounded_up(numbers: Unsigned) -> Unsigned:
    """Return numbers with their first binary digits, rounded up."""
    shift = np.maximum(np.frexp(numbers.astype(np.float64))[1] - _DIGITS, 0).astype(np.uint64)
    whole = numbers >> shift
    rounded: Unsigned = (whole + (whole << shift != numbers)) << shift
    return rounded
