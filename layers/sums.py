"""Sums of bytes by group, exact as long as the bytes are whole."""

import numpy as np
import numpy.typing as npt

from .window import Amounts


def sums_by(group: npt.NDArray[np.integer], amounts: Amounts, count: int) -> Amounts:
    """Return the sum of `amounts` (n,) by `group` (n,), shape (count,), in their own type."""
    sums = zeros_like_amounts(amounts, count)
    np.add.at(sums, group, amounts)
    return sums


def zeros_like_amounts(amounts: Amounts, count: int) -> Amounts:
    """Return `count` zeros of the type of `amounts`."""
    if amounts.dtype == np.uint64:
        return np.zeros(count, np.uint64)
    return np.zeros(count, np.float64)
