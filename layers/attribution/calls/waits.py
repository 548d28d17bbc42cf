"""For whom processes wait in calls that several make together, and for whom in the end.

Who comes last may be late only because it waited itself, in another call and for another process.
"""

from typing import Final, NamedTuple

import numpy as np

from ....model.arrays import Columns, Ints, Mask
from ....model.keyed import KeyedSums
from ....model.ranges import Coverage
from .walk import StackBars

_MOST: Final = 1 << 20
"""Pieces that waits are cut into; where there were more, whoever comes last is not followed further."""


class Waits(Columns):
    """When processes waited for another one; by process and begin, and none of a process overlap. Shape (n,).

    Attributes
    ----------
    process, last : int64
        Who waited, and who came last; the process is −1 for whoever is not known to wait for a certain one.
    begin, end : int64
        Ticks.
    region : int64
        Row of the function, −1 where it is not known.
    """

    process: Ints
    last: Ints
    begin: Ints
    end: Ints
    region: Ints

    @classmethod
    def of(cls, waits: "Waits") -> "Waits":
        """Return waits of any order in theirs; of those that overlap the first one counts."""
        found = waits.take(np.lexsort((waits.begin, waits.process)))
        edges = np.flatnonzero(np.append(True, np.diff(found.process) != 0))
        keep = np.ones(len(found), np.bool_)
        for first, behind in zip(edges.tolist(), [*edges[1:].tolist(), len(found)], strict=True):
            until = np.maximum.accumulate(found.end[first:behind])
            keep[first + 1 : behind] = found.begin[first + 1 : behind] >= until[:-1]
        return found.take(keep & (found.end > found.begin))

    def parted(self, covered: Coverage) -> tuple["Waits", "Waits"]:
        """Return the parts of them in which the same process is in what is `covered`, and all others."""
        own = Waits.in_calls(covered)
        parts = _cut(Pieces(np.arange(len(self)), self.process, self.begin, self.end, self.region), own)
        inside, outside = (
            Waits(self.process[one.row], self.last[one.row], one.begin, one.end, one.region) for one in parts
        )
        return inside, outside

    @classmethod
    def in_calls(cls, covered: Coverage) -> "Waits":
        """Return what is covered by process, waiting for nobody knows whom."""
        unknown = np.full(len(covered.group), -1)
        return cls(covered.group, unknown, covered.begin, covered.end, unknown)


NOBODY_WAITS: Final = Waits(*np.zeros((5, 0), np.int64))


class Pieces(Columns):
    """Stretches in which somebody waits, columns of shape (n,).

    Attributes
    ----------
    row : int64
        Which wait it is a piece of.
    cause : int64
        Process that is waited for in the end, −1 where that is not known.
    begin, end : int64
        Ticks.
    region : int64
        Row of the function in which the one that comes last waits itself meanwhile; −1 where it does not, and where
        that is not known.
    """

    row: Ints
    cause: Ints
    begin: Ints
    end: Ints
    region: Ints

    @property
    def ticks(self) -> Ints:
        """How long each is."""
        return self.end - self.begin


class Causes(NamedTuple):
    """For whom processes wait in the end."""

    waits: Waits
    """Where it is known for whom."""
    hanging: Waits
    """When processes are in calls of MPI outside of I/O that may wait, whomever for."""
    alone: Waits
    """When one process alone does not wait: of process −1, for it."""

    def traced(self, pieces: Pieces) -> Pieces:
        """Follow at each moment whom those wait for that are waited for, who are the causes given."""
        found = []
        # Whoever is waited for comes later than who waits: nobody is twice on the way.
        for _ in range(len(np.unique(self.waits.process)) + 1):
            pieces, over = _cut(pieces, self.waits)
            found.append(over)
            if not len(pieces):
                break
        ended = Pieces.concatenate([*found, pieces])
        unclear, clear = _cut(ended, self.hanging)
        return Pieces.concatenate([clear, *_cut(unclear, self.alone)])

    def most(self, pieces: Pieces, last: Ints) -> Ints:
        """Return for each row the process that is waited for longest in the end, `last` where nobody waits, int64."""
        found, traced = last.copy(), self.traced(pieces)
        rows, causes, _ = longest_by_row(traced, traced.ticks)
        found[rows] = causes
        return found


def longest_by_row(pieces: Pieces, ticks: Ints) -> tuple[Ints, Ints, Ints]:
    """Return the rows that pieces are of, the cause that each has for most ticks, and the function in which."""
    sums = KeyedSums((pieces.row, pieces.cause, pieces.region), {"ticks": ticks})
    order = np.lexsort((sums["ticks"], sums.keys[0]))
    last = order[np.append(np.diff(sums.keys[0]) != 0, True)[: len(order)]]
    return sums.keys[0][last], sums.keys[1][last], sums.keys[2][last]


UNKNOWN_CAUSES: Final = Causes(NOBODY_WAITS, NOBODY_WAITS, NOBODY_WAITS)
"""Where calls are not recorded: who comes last is waited for."""


def _cut(pieces: Pieces, waits: Waits) -> tuple[Pieces, Pieces]:
    """Return the parts in which the cause waits itself, with whom that waits for, and all others."""
    first, behind = np.zeros((2, len(pieces)), np.int64)
    order = np.argsort(pieces.cause, kind="stable")
    causes, edges = np.unique(pieces.cause[order], return_index=True)
    for cause, rows in zip(causes.tolist(), np.split(order, edges[1:]), strict=False):
        low, high = np.searchsorted(waits.process, (cause, cause + 1))
        first[rows] = low + np.searchsorted(waits.end[low:high], pieces.begin[rows], "right")
        behind[rows] = low + np.searchsorted(waits.begin[low:high], pieces.end[rows], "left")
    count = np.maximum(0, behind - first)
    if count.sum() > _MOST:
        return Pieces.empty(), pieces
    row = np.repeat(np.arange(len(pieces)), count)
    place = np.arange(len(row)) - np.repeat(np.cumsum(count) - count - first, count)
    begin, end = np.maximum(pieces.begin[row], waits.begin[place]), np.minimum(pieces.end[row], waits.end[place])
    region = np.where(pieces.region[row] >= 0, pieces.region[row], waits.region[place])
    inside = Pieces(pieces.row[row], waits.last[place], begin, end, region)
    # What lies before each, and behind the last one.
    every = np.append(row, np.arange(len(pieces)))
    starts, ends = np.append(end, pieces.begin), np.append(begin, pieces.end)
    order = np.lexsort((np.append(begin, pieces.begin - 1), every))
    order_of_ends = np.lexsort((np.append(begin, pieces.end + 1), every))
    outside = Pieces(
        pieces.row[every[order]], pieces.cause[every[order]], starts[order], ends[order_of_ends],
        pieces.region[every[order]],
    )  # fmt: skip
    return inside.take(inside.ticks > 0), outside.take(outside.ticks > 0)


def together(calls: StackBars, locations: Ints, region: int) -> tuple[Ints, Ints] | None:
    """Return begin and end of the k-th call of a function by each location, int64 (n, locations), or None.

    Where locations make it so many times each, it tells nothing.
    """
    rows = np.flatnonzero(calls.region == region)
    place = np.searchsorted(locations, calls.location[rows])
    order = np.lexsort((calls.begin[rows], place))
    counts = np.bincount(place, minlength=len(locations))
    if counts.min() != counts.max():
        return None
    rows = rows[order]
    begin, end = (column[rows].reshape(len(locations), -1).T for column in (calls.begin, calls.end))
    return begin, end


def released(begin: Ints, end: Ints) -> tuple[Ints, Ints, Mask]:
    """Return of calls that processes make together who was the last to come until each left, when, and if it waited.

    Of some calls not all wait for all, as those behind the root of a broadcast. A call that takes longer from then on
    than until then waits for no other.

    Parameters
    ----------
    begin, end : int64 (n, processes)
    """
    number = begin.shape[1]
    order = np.argsort(begin, axis=1, kind="stable")
    both = np.argsort(np.concatenate([begin, end], axis=1), axis=1, kind="stable")
    came = np.empty(both.shape, np.int64)
    np.put_along_axis(came, both, np.cumsum(both < number, axis=1), axis=1)
    who = np.take_along_axis(order, came[:, number:] - 1, axis=1)
    time = np.take_along_axis(begin, who, axis=1)
    return who, time, time - begin > end - time
