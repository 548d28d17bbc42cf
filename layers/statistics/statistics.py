"""The numbers of a layer in one direction; sums of bytes are exact as long as the bytes are whole."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from ...model.arrays import Ints
from ...model.document import Record
from ..selection.window import Amounts


@dataclass(frozen=True)
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


Sums = TypeVar("Sums", bound=npt.NDArray[Any])


def sums_by(group: npt.NDArray[np.integer], amounts: Sums, count: int) -> Sums:
    """Return the sum of `amounts` (n,) by `group` (n,), shape (count,), in their own type."""
    sums = zeros_like_amounts(amounts, count)
    np.add.at(sums, group, amounts)
    return sums


def zeros_like_amounts(amounts: Sums, count: int) -> Sums:
    """Return `count` zeros of the type of `amounts`."""
    zeros: Any = np.zeros_like(amounts, shape=count)
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
