"""Columns and names in the form in which the page holds them: short, and safe whatever a trace says."""

from base64 import b64encode
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

TYPES = {"u1": np.uint8, "u2": np.uint16, "u4": np.uint32, "i4": np.int32, "f4": np.float32, "f8": np.float64}

_NOTE = 28
"""Room for what stands in place of the middle of a name."""


def packed(values: npt.ArrayLike, kind: str) -> dict[str, str]:
    """Return an array as its type and its little-endian bytes in base64.

    Parameters
    ----------
    values : array-like, one dimension
    kind : {"u1", "u2", "u4", "i4", "f4", "f8"}
    """
    column = np.ascontiguousarray(np.asarray(values).astype(TYPES[kind]))
    return {"type": kind, "data": b64encode(column.astype(column.dtype.newbyteorder("<")).tobytes()).decode("ascii")}


def shortened(name: str, characters: int) -> str:
    """Return `name`, without its middle where it is longer than `characters`; the cut says how much it took.

    >>> shortened("a" * 50 + "b" * 50, 40)
    'aaaaaa…[88 characters]…bbbbbb'
    """
    if len(name) <= characters:
        return name
    kept = max(1, (characters - _NOTE) // 2)
    return f"{name[:kept]}…[{len(name) - 2 * kept:,} characters]…{name[-kept:]}"


class Names:
    """A table of names that are referred to by number, each held once."""

    def __init__(self, characters: int) -> None:
        self._characters = characters
        self._number: dict[str, int] = {}

    def number(self, name: str | None) -> int:
        """Return the number of `name`, which is added where it is new; −1 for None."""
        return -1 if name is None else self._number.setdefault(name, len(self._number))

    def numbers(self, names: Iterable[str | None]) -> list[int]:
        """Return the number of each name."""
        return [self.number(name) for name in names]

    def table(self) -> list[str]:
        """Return the names by number, long ones shortened."""
        return [shortened(name, self._characters) for name in self._number]


def without_long_text(value: Any, characters: int) -> Any:
    """Return a document of plain values with every long string in it shortened, keys too, but not packed columns."""
    if isinstance(value, str):
        return shortened(value, characters)
    if isinstance(value, dict):
        if value.keys() == {"type", "data"}:
            return value
        return {shortened(str(key), characters): without_long_text(item, characters) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [without_long_text(item, characters) for item in value]
    return value
