"""From the sizes of calls above to the sizes of the operations below that they became."""

from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.document import RecordTable
from ..selection.window import Amounts

CLASSES: Final = 64
"""Class 0 and those of 2^0 to 2^62."""


@dataclass(frozen=True, eq=False)
class RequestFlow(RecordTable):
    """Lower operations by the size of their call above and their own; columns of shape (n,), only pairs that occur.

    A size s ≥ 1 is in the class of the largest power of two that it reaches, and 0 in the class 0.

    Attributes
    ----------
    upper_from, lower_from : int64
        Smallest size in bytes of the classes: 0, 1, 2, 4, 8, …
    operations : int64
        Lower operations.
    bytes : Amounts
        Bytes that they moved.
    """

    upper_from: npt.NDArray[np.int64]
    lower_from: npt.NDArray[np.int64]
    operations: npt.NDArray[np.int64]
    bytes: Amounts

    def __len__(self) -> int:
        return len(self.operations)

    @classmethod
    def of_pairs(cls, pairs: npt.NDArray[np.intp], operations: npt.NDArray[np.int64], moved: Amounts) -> "RequestFlow":
        """Return the flow of pairs that occur: the class of the call times `CLASSES`, plus that of the operation."""
        starts = np.append(0, np.left_shift(np.int64(1), np.arange(CLASSES - 1)))
        return cls(starts[pairs // CLASSES], starts[pairs % CLASSES], operations, moved)

    def matrix(self) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        """Return the classes above (m,), those below (k,) and the operations between them, int64 (m, k)."""
        upper, row = np.unique(self.upper_from, return_inverse=True)
        lower, column = np.unique(self.lower_from, return_inverse=True)
        operations = np.zeros((len(upper), len(lower)), np.int64)
        operations[row, column] = self.operations
        return upper, lower, operations

    def entry_columns(self) -> dict[str, Any]:
        sizes = {"upper_from_bytes": self.upper_from, "lower_from_bytes": self.lower_from}
        return {**sizes, "operations": self.operations, "bytes": self.bytes}


def size_class(size: Amounts) -> npt.NDArray[np.int64]:
    """Return the class of each size: 0 below 1, else one more than its binary exponent, int64 (n,)."""
    exponent = np.frexp(size.astype(np.float64))[1]
    return np.where(size >= 1, np.clip(exponent, 1, CLASSES - 1), 0).astype(np.int64)
