"""Names for the arrays that signatures name most, and the base of tables made of arrays."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any, Self

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

Complexes = npt.NDArray[np.complex128]

Ints = npt.NDArray[np.int64]
"""Counts, or rows of a table that may have many."""

Ticks = npt.NDArray[np.int64]
"""Times of a trace's clock."""

Rows = npt.NDArray[np.intp]
"""Places in an array, as NumPy's own functions give them."""

Links = npt.NDArray[np.int32]
"""A column of rows in another table, −1 for none."""

Mask = npt.NDArray[np.bool_]


class Columns:
    """Base of frozen dataclasses whose fields are arrays of one length, a row each."""

    def __len__(self) -> int:
        return len(getattr(self, fields(self)[0].name))  # type: ignore[arg-type]

    def take(self, rows: Mask | Rows) -> Self:
        """Return the rows at `rows` (a mask or indices)."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))  # type: ignore[arg-type]

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join at least one part in their order."""
        columns: Any = ([getattr(part, field.name) for part in parts] for field in fields(cls))  # type: ignore[arg-type]
        return cls(*map(np.concatenate, columns))
