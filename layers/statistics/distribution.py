"""A distribution in a few numbers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from ...model.document import Record
from ...model.metrics import described, metric


@dataclass(frozen=True)
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


@described
@dataclass(frozen=True)
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
