"""A flow split up: by file, by class of the upper operation, or by sizes above and below."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from ...model.codes import IoFlag
from ...model.document import RecordTable, plain
from ..selection.window import Amounts
from ..statistics.statistics import sums_by

CLASSES: Final = 64
"""Class 0 and those of 2^0 to 2^62."""


class OperationClass:
    """Classes of operations, disjoint: a non-blocking collective operation counts as non-blocking."""

    LABELS: Final = ("collective", "independent", "non-blocking", "none")
    COLLECTIVE: Final = 0
    INDEPENDENT: Final = 1
    NON_BLOCKING: Final = 2
    NONE: Final = 3

    @classmethod
    def of(cls, flags: npt.NDArray[np.uint32]) -> npt.NDArray[np.int64]:
        """Return the class of operations with these flags, int64 (n,)."""
        non_blocking = (flags & np.uint32(IoFlag.NON_BLOCKING)) != 0
        collective = (flags & np.uint32(IoFlag.COLLECTIVE)) != 0
        blocking = np.where(collective, cls.COLLECTIVE, cls.INDEPENDENT)
        return np.where(non_blocking, cls.NON_BLOCKING, blocking).astype(np.int64)


@dataclass(frozen=True, eq=False)
class FlowTable(RecordTable):
    """A flow by key; columns of shape (n,).

    Attributes
    ----------
    key : str
        What the labels are: ``file`` or ``class``.
    operations, bytes : mapping of str to array
        By part: ``upper``, ``lower`` (by descent), ``attributed``, ``inferred``, ``hidden``.
    """

    key: str
    labels: tuple[str, ...]
    operations: Mapping[str, npt.NDArray[np.int64]]
    bytes: Mapping[str, Amounts]

    def __len__(self) -> int:
        return len(self.labels)

    def __repr__(self) -> str:
        return f"<FlowTable by {self.key}: {len(self)} rows>"

    @property
    def amplification(self) -> npt.NDArray[np.float64]:
        """Bytes below by descent per byte above, float64 (n,); NaN where there are none above."""
        above = self.bytes["upper"].astype(np.float64)
        below = self.bytes["lower"].astype(np.float64)
        ratio = np.full(len(above), np.nan)
        np.divide(below, above, out=ratio, where=above > 0)
        return ratio

    def entry_columns(self) -> dict[str, Any]:
        columns: dict[str, Any] = {self.key: self.labels}
        for part, operations in self.operations.items():
            columns |= {f"{part}_operations": operations, f"{part}_bytes": self.bytes[part]}
        return columns | {"amplification": plain(self.amplification)}

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame``, one row a label."""
        return super().to_dataframe().set_index(self.key)


def flow_table(
    key: str,
    labels: tuple[str, ...],
    places: Mapping[str, npt.NDArray[np.int64]],
    counts: Mapping[str, npt.NDArray[np.int64]],
    amounts: Mapping[str, Amounts],
) -> FlowTable:
    """Sum operations and bytes by key; keys without operations are left out.

    Parameters
    ----------
    places : mapping of str to int64 (n,)
        Of each part the rows in `labels` of what it has.
    counts, amounts : mapping of str to array (n,)
        Operations and bytes of each.
    """
    operations = {part: sums_by(place, counts[part], len(labels)) for part, place in places.items()}
    volumes = {part: sums_by(place, amounts[part], len(labels)) for part, place in places.items()}
    kept = np.flatnonzero(sum(operations.values(), np.zeros(len(labels), np.int64)) > 0)
    return FlowTable(
        key,
        tuple(labels[row] for row in kept.tolist()),
        {part: column[kept] for part, column in operations.items()},
        {part: column[kept] for part, column in volumes.items()},
    )


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
