"""Names for arrays, the base of tables made of them, rows by their ids, and forests whose rows name their parents.

An archive is not to be trusted: ids may be missing, and parents may go round in a circle.
"""

import functools
from collections import namedtuple
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Self, TypeVar, cast, dataclass_transform, get_args, get_type_hints

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

Octets = npt.NDArray[np.uint8]
"""Bytes of a file, or codes of which there are few."""

Codes = npt.NDArray[np.uint32]
"""Ids, or flags, as an archive has them."""

Unsigned = npt.NDArray[np.uint64]
"""Bytes, offsets and ids as an archive has them, where all bits set may mean undefined."""

Integers = npt.NDArray[np.integer]
Array = npt.NDArray[Any]
"""Of integers of any size; of anything."""


TableT = TypeVar("TableT")


@functools.cache
def column_types(table: Hashable) -> tuple[np.dtype[Any], ...]:
    """Return the types of the arrays that the fields of a table are declared to be."""
    return tuple(np.dtype(innermost(hint)) for hint in get_type_hints(table).values())


def innermost(hint: Any) -> Any:
    """Return the type of the elements that a field is declared to have."""
    # Before NumPy 2.5 an NDArray[T] is an ndarray of a shape and a dtype[T]; since then it is a name with T alone.
    while arguments := get_args(hint):
        hint = arguments[-1]
    return hint


def named_columns(table: type[TableT], name: str, *without: str, **others: object) -> type[TableT]:
    """Return the type of named tuples of a table's columns, as which compiled loops take it.

    Parameters
    ----------
    name : str
        That of the variable in the table's module by which pickles find the type.
    without : str
        Columns that are left out.
    others
        Types of columns that are others than the table's.
    """
    types = {**{column: hint for column, hint in get_type_hints(table).items() if column not in without}, **others}
    columns = cast(Any, namedtuple)(name, types, module=table.__module__)
    columns.__annotations__ = types
    return cast(type[TableT], columns)


def columns_as(kind: type[TableT], table: object, **others: object) -> TableT:
    """Return the columns of a table as named tuples of type `kind`, some of them replaced by `others`."""
    names: tuple[str, ...] = cast(Any, kind)._fields
    return kind(*(others[name] if name in others else getattr(table, name) for name in names))


def empty_columns(table: type[TableT], rows: int) -> TableT:
    """Return a table of `rows` rows, their content arbitrary."""
    return table(*(np.empty(rows, dtype) for dtype in column_types(cast(Hashable, table))))


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Frozen:
    """Base of what holds arrays, or as much, which makes frozen dataclasses of subclasses.

    Two are equal where they are the same one only: of arrays nobody asks that by chance.
    """

    def __init_subclass__(cls) -> None:
        dataclass(frozen=True, eq=False)(cls)


@dataclass_transform(frozen_default=True, eq_default=False, field_specifiers=(field,))
class Columns:
    """Base of tables, which makes frozen dataclasses of subclasses: their fields are arrays of one length, a row each.

    One that has an `__init__` of its own is left as it is.
    """

    def __init_subclass__(cls) -> None:
        if "__init__" not in vars(cls):
            dataclass(frozen=True, eq=False, repr=False)(cls)

    def __len__(self) -> int:
        return len(getattr(self, next(iter(self.__dataclass_fields__))))  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        names = ", ".join(field.name for field in fields(self))  # type: ignore[arg-type]
        return f"<{type(self).__name__}: {len(self):,} rows of {names}>"

    def take(self, rows: Mask | Rows) -> Self:
        """Return the rows at `rows` (a mask or indices)."""
        return type(self)(*(getattr(self, field.name)[rows] for field in fields(self)))  # type: ignore[arg-type]

    @classmethod
    def empty(cls) -> Self:
        """Return no rows."""
        return empty_columns(cls, 0)

    @classmethod
    def concatenate(cls, parts: Sequence[Self]) -> Self:
        """Join at least one part in their order."""
        columns: Any = ([getattr(part, field.name) for part in parts] for field in fields(cls))  # type: ignore[arg-type]
        return cls(*map(np.concatenate, columns))


class RowsOfIds:
    """Finds the rows of ids in a column of a table."""

    def __init__(self, ids: npt.NDArray[np.unsignedinteger]) -> None:
        self._count = len(ids)
        self._numbered = bool(np.array_equal(ids, np.arange(len(ids))))
        self._order = np.arange(0) if self._numbered else np.argsort(ids, kind="stable")
        self._table = ids[self._order].astype(np.uint64)

    def rows(self, wanted: npt.NDArray[np.unsignedinteger]) -> Links:
        """Return the row of each wanted id (of equal ids the first), int32, −1 where it is not among them."""
        if self._numbered:
            return np.where(wanted < self._count, wanted.astype(np.int32), np.int32(-1))
        place = np.minimum(np.searchsorted(self._table, wanted.astype(np.uint64)), len(self._table) - 1)
        return np.where(self._table[place] == wanted, self._order[place], -1).astype(np.int32)


def median(values: Floats | Ints) -> float:
    """Return what `np.median` does, which takes ten times as long for a few values; there must be one."""
    low, high = (values.size - 1) // 2, values.size // 2
    ordered = np.partition(values, (low, high))
    return 0.5 * float(ordered[low] + ordered[high])


def differences(values: Floats) -> Floats:
    """Return what `np.diff` does, which takes four times as long for a few values."""
    return values[1:] - values[:-1]


def variation(values: Floats) -> float:
    """Return the coefficient of variation, to the bit as NumPy's mean and standard deviation have it."""
    mean = values.sum() / values.size
    off = values - mean
    return float(np.sqrt((off * off).sum() / values.size) / mean)


def column_at(column: Links, rows: Links) -> Links:
    """Return ``column[rows]``, −1 where a row is out of range."""
    # As numbers without a sign, those below 0 are the largest of all.
    if len(rows) and rows.astype(np.int32, copy=False).view(np.uint32).max() < len(column):
        return column.take(rows)
    found = np.full(len(rows), -1, np.int32)
    valid = (rows >= 0) & (rows < len(column))
    found[valid] = column[rows[valid]]
    return found


def sound_parents(parent: Integers) -> tuple[Links, Mask]:
    """Return `parent` as int32 (n,) without cycles and without rows out of range, and where it was changed, bool (n,).

    Of each cycle the lowest row becomes a root. By pointer doubling (J. C. Wyllie, *The Complexity of Parallel
    Computations*, 1979), in O(n log n) whatever the shape.
    """
    count = len(parent)
    sound = np.where((parent >= 0) & (parent < count), parent, -1).astype(np.int32)
    ancestor = sound.copy()
    distance = 1
    while distance <= count and (ancestor >= 0).any():
        ancestor = np.where(ancestor >= 0, ancestor[ancestor], np.int32(-1))
        distance *= 2
    on_cycle = ancestor[ancestor >= 0]
    if len(on_cycle):
        on_cycle = np.unique(on_cycle)
        lowest = np.arange(count, dtype=np.int32)
        ahead = sound.copy()
        distance = 1
        while distance <= len(on_cycle):
            lowest[on_cycle] = np.minimum(lowest[on_cycle], lowest[ahead[on_cycle]])
            ahead[on_cycle] = ahead[ahead[on_cycle]]
            distance *= 2
        sound[on_cycle[lowest[on_cycle] == on_cycle]] = -1
    return sound, sound != np.where(parent < 0, -1, parent)


Column = TypeVar("Column", bound="np.ndarray[Any, Any]")


def depths(parent: Links) -> Links:
    """Return the number of ancestors of each row, int32 (n,); `parent` has no cycles."""
    ancestor = parent
    depth = (parent >= 0).astype(np.int32)
    while (inner := ancestor >= 0).any():
        depth = np.where(inner, depth + depth[ancestor], depth).astype(np.int32)
        ancestor = _jump(ancestor, ancestor)
    return depth


def subtree_sums(parent: Links, values: Column) -> Column:
    """Return the sum of `values` (n,) over each row and all below it, in the type of `values`."""
    ancestor = parent
    sums = values.copy()
    # Sums cover descendants nearer than 2^k; those from 2^k on are in the sums of the descendants at 2^k.
    while (inner := ancestor >= 0).any():
        below = sums[inner]
        np.add.at(sums, ancestor[inner], below)
        ancestor = _jump(ancestor, ancestor)
    return sums


def any_ancestor(parent: Links, marked: Mask) -> Mask:
    """Return whether a proper ancestor of each row is `marked`, bool (n,)."""
    return np.asarray(nearest_marked(parent, marked) >= 0, np.bool_)


def nearest_lower_rank(parent: Links, rank: Links) -> Links:
    """Return for each row its nearest proper ancestor of a lower `rank`, int32 (n,), −1 where there is none."""
    nearest = np.full(len(parent), -1, np.int32)
    for value in np.unique(rank) if (parent >= 0).any() else ():
        asking = rank == value
        nearest[asking] = nearest_marked(parent, rank < value)[asking]
    return nearest


def nearest_marked(parent: Links, marked: Mask) -> Links:
    """Return for each row its nearest proper ancestor that is `marked`, int32 (n,), −1 where there is none."""
    # Rows that answer the question stay where they are; the others step on to their parent.
    answer = np.where(marked, np.arange(len(parent), dtype=np.int32), parent)
    while not np.array_equal(further := _jump(answer, answer), answer):
        answer = further
    return _jump(parent, answer)


def _jump(start: Links, step: Links) -> Links:
    """Return `step` applied to `start`; −1 stays."""
    return np.where(start >= 0, step[start], np.int32(-1)) if len(start) else start
