"""Sums by key, as tables that merge by adding."""

import math
from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from threading import Lock
from typing import Any, Final

import numpy as np

from .arrays import Array, Ints, Mask, Rows

_MOST: Final = 2**62


def in_groups(keys: Sequence[Array]) -> tuple[Rows, Mask]:
    """Return rows in the order of their keys, the first key first, and which of them begin a group of equal keys."""
    order, fresh = _in_order(keys)
    return np.arange(len(fresh)) if isinstance(order, slice) else order, fresh


def _in_order(keys: Sequence[Array]) -> tuple[Rows | slice, Mask]:
    """Return the same; rows that are in order already as a slice, by which columns are not copied."""
    fresh = np.zeros(len(keys[0]), np.bool_)
    fresh[:1] = True
    together = _as_one(keys)
    if together is None:
        order = np.lexsort(keys[::-1])
        for key in keys:
            ordered = key[order]
            fresh[1:] |= ordered[1:] != ordered[:-1]
        return order, fresh
    if (together[1:] >= together[:-1]).all():
        fresh[1:] = together[1:] != together[:-1]
        return slice(None), fresh
    order = np.argsort(together, kind="stable")
    together = together[order]
    fresh[1:] = together[1:] != together[:-1]
    return order, fresh


def _as_one(keys: Sequence[Array]) -> Ints | None:
    """Return one number for each row, in the order of its keys; None where their ranges are too wide for that."""
    if not len(keys[0]) or not all(np.issubdtype(key.dtype, np.integer) for key in keys):
        return None
    least = [int(key.min()) for key in keys]
    spans = [int(key.max()) - low + 1 for key, low in zip(keys, least, strict=True)]
    if math.prod(spans) > _MOST or max(map(abs, least)) > _MOST:
        return None
    together = keys[0].astype(np.int64) - least[0]
    for key, low, span in zip(keys[1:], least[1:], spans[1:], strict=True):
        together *= span
        together += key.astype(np.int64, copy=False) - low
    return together


def numbered(*keys: Array) -> Ints:
    """Return a number for each row that rows of equal `keys` share, in the order of the keys, from 0 without gaps."""
    order, fresh = in_groups(keys)
    number = np.empty(len(order), np.int64)
    number[order] = np.cumsum(fresh) - 1
    return number


def positions(number: Ints) -> Ints:
    """Return for each row how many earlier rows have the same number, int64 (n,)."""
    order = np.argsort(number, kind="stable")
    ordered = number[order]
    fresh = np.append(True, np.diff(ordered) != 0)[: len(order)]
    place = np.arange(len(order))
    result = np.empty(len(order), np.int64)
    result[order] = place - np.maximum.accumulate(np.where(fresh, place, 0))
    return result


def rows_beyond(keys: Sequence[Ints], free: int) -> int:
    """Return how many rows there are beyond the first `free` of each key; rows of a key stand together."""
    if not len(keys[0]):
        return 0
    changes = np.logical_or.reduce([key[1:] != key[:-1] for key in keys])
    rows = np.diff(np.flatnonzero(np.concatenate(([True], changes, [True]))))
    return int(np.maximum(rows - free, 0).sum())


def _joined(parts: "Sequence[Array]") -> Ints:
    return np.asarray(parts[0] if len(parts) == 1 else np.concatenate(parts), np.int64)


_HOW: Final[Mapping[str, Any]] = {"begin": np.minimum, "end": np.maximum}
"""Columns that are no sums: the least of ``begin``, the largest of ``end``."""


_SHARE_WAITING: Final = 4
_FEWEST_WAITING: Final = 1 << 14
"""Rows that wait to be added, the more of a share and this: adding them sorts all that there are."""


_LARGE: Final = 1 << 16
_ADDING: Final = Lock()
"""Held while sums of that many rows or more are added up, which takes several times their memory, by one thread."""


class KeyedSums:
    """A row for each key that occurs, in the order of the keys; all columns are int64.

    Parameters
    ----------
    keys : tuple of int64 (n,)
    values : mapping of str to int64 (n,)
        ``begin`` and ``end`` keep their least and largest value, all others are added up.
    """

    def __init__(self, keys: Sequence[Array], values: Mapping[str, Array]) -> None:
        self._add_up([(tuple(keys), values)])

    def _add_up(self, parts: "Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]") -> None:
        """Take the sums of all parts: columns one after the other, so that but one is there twice."""
        large = sum(len(keys[0]) for keys, _ in parts) > _LARGE
        with _ADDING if large else nullcontext():
            self._sum_up(parts)

    def _sum_up(self, parts: "Sequence[tuple[tuple[Any, ...], Mapping[str, Any]]]") -> None:
        columns = [_joined([keys[place] for keys, _ in parts]) for place in range(len(parts[0][0]))]
        order, fresh = _in_order(columns)
        first, single = np.flatnonzero(fresh), bool(fresh.all())
        kept = first if isinstance(order, slice) else order[first]
        self._keys: tuple[Ints, ...] = tuple(column[kept] for column in columns)
        del columns
        self._values: dict[str, Ints] = {}
        for name in parts[0][1]:
            ordered = _joined([values[name] for _, values in parts])[kept if single else order]
            self._values[name] = ordered if single else _HOW.get(name, np.add).reduceat(ordered, first)
        self._waiting: tuple[KeyedSums, ...] = ()

    def _settle(self) -> None:
        """Add what waits."""
        if self._waiting:
            self._add_up([(part._keys, part._values) for part in (self, *self._waiting)])

    @property
    def keys(self) -> tuple[Ints, ...]:
        """The keys, ascending."""
        self._settle()
        return self._keys

    @property
    def values(self) -> dict[str, Ints]:
        """The columns by their names."""
        self._settle()
        return self._values

    @property
    def at_most(self) -> int:
        """How many rows there are at most; those that wait may be the same."""
        return sum(len(part._keys[0]) for part in (self, *self._waiting))

    def __len__(self) -> int:
        return len(self.keys[0])

    def __getitem__(self, name: str) -> Ints:
        return self.values[name]

    def merged(self, *others: "KeyedSums") -> "KeyedSums":
        """Return the sums of all."""
        waiting = [
            *self._waiting,
            *(part for other in others for part in (other, *other._waiting) if len(part._keys[0])),
        ]
        if len(waiting) == len(self._waiting):
            return self
        found = object.__new__(KeyedSums)
        found._keys, found._values, found._waiting = self._keys, self._values, tuple(waiting)
        rows = sum(len(part._keys[0]) for part in waiting)
        if rows > max(_FEWEST_WAITING, len(self._keys[0]) // _SHARE_WAITING):
            found._settle()
        return found

    def plus(self, keys: Sequence[Array], values: Mapping[str, Any]) -> "KeyedSums":
        """Return the sums with more rows; a value that is one number stands in all of them."""
        count = len(keys[0])
        return self.merged(KeyedSums(keys, {name: np.broadcast_to(value, count) for name, value in values.items()}))

    def at(self, keys: Sequence[Array], name: str, missing: int = 0) -> Ints:
        """Return a column at some keys, `missing` where they do not occur, int64."""
        both = [np.append(known, np.asarray(key, np.int64)) for known, key in zip(self.keys, keys, strict=True)]
        count, number = len(self), numbered(*both)
        found = np.full(int(number.max(initial=-1)) + 1, missing, np.int64)
        found[number[:count]] = self[name]
        return found[number[count:]]

    def taken(self, rows: Mask) -> "KeyedSums":
        """Return some rows."""
        return KeyedSums([key[rows] for key in self.keys], {name: value[rows] for name, value in self.values.items()})

    @classmethod
    def none(cls, keys: int, *names: str) -> "KeyedSums":
        """Return a table without rows."""
        empty = np.zeros(0, np.int64)
        return cls([empty] * keys, dict.fromkeys(names, empty))
