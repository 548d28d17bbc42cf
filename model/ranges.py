"""The union of intervals: what they cover together, group by group; of time or of files."""

from collections.abc import Callable
from typing import Final, NamedTuple, Self

import numpy as np

from .arrays import Floats, Ints, Mask
from .keyed import KeyedSums, rows_beyond
from .sums import Sums, largest

MOST_STRETCHES: Final = 1 << 16
"""Those that are kept beyond the first of each group."""


class Coverage(NamedTuple):
    """Stretches by group and begin, which neither overlap nor touch within a group."""

    group: Ints
    """int64 (n,)"""
    begin: Ints
    """int64 (n,)"""
    end: Ints
    """int64 (n,)"""

    @classmethod
    def of(cls, group: Ints, begin: Ints, end: Ints) -> Self:
        """Return what intervals [begin, end), of groups and in any order, cover together."""
        from .range_kernels import union_in_order

        several = bool((group[1:] != group[:-1]).any())
        if not several and not (begin[1:] < begin[:-1]).any():
            return cls(*union_in_order(group, begin, end))
        # A stable sort of runs that are each in order is a merge.
        order = np.lexsort((begin, group)) if several else np.argsort(begin, kind="stable")
        return cls(*union_in_order(group[order], begin[order], end[order]))

    @property
    def length(self) -> int:
        """How much is covered in all."""
        return int((self.end - self.begin).sum())

    def lengths(self, groups: Ints) -> Ints:
        """Return how much of each of some groups is covered, int64 (n,)."""
        return KeyedSums([self.group], {"length": self.end - self.begin}).at([groups], "length")

    def until(self, group: int, times: Ints | Floats) -> Floats:
        """Return how much of a group is covered until each of some times, float64 (n,)."""
        first, last = np.searchsorted(self.group, (group, group + 1))
        begin, end = self.begin[first:last], self.end[first:last]
        if first == last:
            return np.zeros(len(times))
        covered = np.cumsum(end - begin)
        edges, sums = np.stack((begin, end), 1).ravel(), np.stack((covered - (end - begin), covered), 1).ravel()
        return np.asarray(np.interp(times, edges, sums), np.float64)

    def taken(self, rows: Mask | slice) -> Self:
        """Return some stretches."""
        return type(self)(*(column[rows] for column in self))

    def joined(self, group: Ints, begin: Ints, end: Ints) -> Self:
        """Return what is covered together with some intervals."""
        from .range_kernels import union_of_two

        fresh = self.of(group, begin, end)
        if not len(self.group) or not len(fresh.group):
            return fresh if len(fresh.group) else self
        return type(self)(*union_of_two(*self, *fresh))


NOTHING: Final = Coverage(*(np.zeros(0, np.int64) for _ in Coverage._fields))


class RangeUnion(Sums):
    """What ranges of several groups cover together, added up: bytes of files, or time.

    With more than 2^16 stretches beyond the first of each group, begins are rounded down and ends up to multiples of a
    power of two, unless `exact`.

    Attributes
    ----------
    shift : int
        Binary logarithm of what ranges are rounded to.
    """

    exact: bool
    shift: int = largest(0)

    def prepare(self) -> None:
        self._known = NOTHING
        self._waiting: list[Coverage] = []

    def covered(self) -> Coverage:
        """Return what is covered."""
        # More than one thread may ask.
        if waiting := self._waiting:
            group, begin, end = (np.concatenate(columns) for columns in zip(*waiting, strict=True))
            self._set(self._known.joined(group, begin, end))
        return self._known

    def _set(self, known: Coverage) -> None:
        self._known, self._waiting = known, []

    def lengths(self, groups: Ints) -> Ints:
        """Return how much of each of some groups is covered, int64 (n,)."""
        return self.covered().lengths(groups)

    @property
    def length(self) -> int:
        """How much is covered in all."""
        return self.covered().length

    def add(self, group: Ints, begin: Ints, end: Ints, shift: int = 0) -> None:
        """Add ranges [begin, end) of groups, which may be rounded to multiples of ``2^shift`` already."""
        if shift > self.shift:
            self._round(shift)
        self._waiting.append(Coverage(group, begin, end))
        # Joining goes through all that there is.
        waiting = sum(len(one.group) for one in self._waiting)
        if self.exact and waiting <= max(MOST_STRETCHES, len(self._known.group)):
            return
        while not self.exact and rows_beyond(self.covered()[:1], 1) > MOST_STRETCHES:
            self._round(self.shift + 1)

    def _round(self, shift: int) -> None:
        self.shift = shift
        known, low, high = self.covered()
        self._set(Coverage.of(known, low >> shift << shift, -(-high >> shift << shift)))

    def absorb(self, other: Self) -> None:
        """Add the ranges of `other`."""
        self.add(*other.covered())

    def released(self, processes: Ints) -> int:
        """Forget the ranges of all other processes, of which groups are the upper half, and return their length."""
        over = ~np.isin(self.covered().group >> 32, processes)
        gone = self.covered().taken(over)
        self._set(self.covered().taken(~over))
        self.shift = self.shift if len(self.covered().group) else 0
        return gone.length

    def part(self, first: int, behind: int) -> Self:
        """Return the ranges of the groups from `first` on, up to the one before `behind`."""
        union = self.empty()
        union.shift = self.shift
        union._set(self.covered().taken(slice(*np.searchsorted(self.covered().group, (first, behind)))))
        return union

    def regrouped(self, groups: Callable[[Ints], Ints]) -> Self:
        """Return the same ranges of other groups, of which several may become one."""
        union = self.empty()
        union.shift = self.shift
        union.add(groups(self.covered().group), *self.covered()[1:])
        return union
