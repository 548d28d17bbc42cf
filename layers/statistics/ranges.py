"""What ranges of several groups cover together."""

from collections.abc import Callable
from typing import Any, Final

import numpy as np

from ...model.arrays import Ints
from .keyed import KeyedSums, rows_beyond

_MOST_STRETCHES: Final = 1 << 16


class RangeUnion:
    """What ranges of several groups cover together: bytes of files, or time.

    With more than 2^16 stretches beyond the first of each group, begins are rounded down and ends up to multiples of a
    power of two, unless `exact`.
    """

    def __init__(self, exact: bool) -> None:
        self._exact = exact
        self._shift = 0
        self._stretches = (np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.int64))

    def lengths(self, groups: Ints) -> Ints:
        """Return how much of each of some groups is covered, int64 (n,)."""
        sums = KeyedSums([self._stretches[0]], {"length": self._stretches[2] - self._stretches[1]})
        return sums.at([groups], "length")

    @property
    def stretches(self) -> tuple[Ints, Ints, Ints]:
        """What is covered, stretches that do not overlap: group, begin and end, each int64 (n,)."""
        return self._stretches

    @property
    def length(self) -> int:
        """How much is covered in all."""
        return int((self._stretches[2] - self._stretches[1]).sum())

    def add(self, group: Ints, begin: Ints, end: Ints) -> None:
        """Add ranges [begin, end) of groups."""
        self._stretches = _joined(self._stretches, (group, begin, end))
        while not self._exact and rows_beyond(self._stretches[:1], 1) > _MOST_STRETCHES:
            self._shift += 1
            known, low, high = self._stretches
            self._stretches = _stretches(
                known, low >> self._shift << self._shift, -(-high >> self._shift << self._shift)
            )

    def released(self, processes: Ints) -> int:
        """Forget the ranges of all other processes, of which groups are the upper half, and return their length."""
        group, begin, end = self._stretches
        over = ~np.isin(group >> 32, processes)
        self._stretches = (group[~over], begin[~over], end[~over])
        self._shift = self._shift if len(self._stretches[0]) else 0
        return int((end - begin)[over].sum())

    def regrouped(self, groups: Callable[[Ints], Ints]) -> "RangeUnion":
        """Return the same ranges of other groups, of which several may become one."""
        union = RangeUnion(self._exact)
        union._shift = self._shift
        group, begin, end = self._stretches
        union.add(groups(group), begin, end)
        return union

    def merge(self, other: "RangeUnion") -> None:
        """Add the ranges of `other`."""
        self._shift = max(self._shift, other._shift)
        self.add(*other._stretches)


def _joined(known: tuple[Ints, Ints, Ints], fresh: tuple[Ints, Ints, Ints]) -> tuple[Ints, Ints, Ints]:
    """Return the stretches that known ones and some ranges cover; what no range reaches is not looked at again."""
    group, begin, _ = fresh
    groups, place = np.unique(group, return_inverse=True)
    if not len(groups):
        return known
    first = np.full(len(groups) + 1, np.iinfo(np.int64).max)
    np.minimum.at(first, place.ravel(), begin)
    at = np.minimum(np.searchsorted(groups, known[0]), len(groups) - 1)
    reached = (groups[at] == known[0]) & (known[2] >= first[at])
    both = [np.append(one[reached], other) for one, other in zip(known, fresh, strict=True)]
    joined = _stretches(*both)
    rest: Any = (one[~reached] for one in known)
    before = tuple(rest)
    columns: Any = tuple(np.append(one, other) for one, other in zip(before, joined, strict=True))
    if not len(before[0]) or not len(joined[0]) or before[0][-1] < joined[0][0]:
        return tuple(columns)
    order = np.lexsort((columns[1], columns[0]))
    ordered: Any = (column[order] for column in columns)
    return tuple(ordered)


def _stretches(group: Ints, begin: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the stretches that ranges cover, by group and begin."""
    from .group_kernels import stretches_by_group

    order = np.lexsort((begin, group))
    start = _starts(group[order])
    place, low, high = stretches_by_group(start, begin[order], end[order])
    return group[order][start[:-1]][place], low, high


def _starts(group: Ints) -> Ints:
    """Return where each run of equal numbers begins, and the length."""
    fresh = np.flatnonzero(np.append(True, np.diff(group) != 0)) if len(group) else np.zeros(0, np.int64)
    return np.append(fresh, len(group)).astype(np.int64)
