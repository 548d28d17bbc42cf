"""Calls of I/O that several processes are in at one time, each waiting there for the last one to come."""

from dataclasses import replace
from functools import cached_property
from typing import Final

import numpy as np

from ....model.arrays import Columns, Ints, Links, Mask, Octets, Rows, subtree_sums
from ....model.definitions import self_communicators
from ....model.keyed import KeyedSums, numbered, positions
from ....model.ranges import Coverage
from ...handles.scope import Scope
from .functions import LEAVE_EVENTS, NO_EVENT, WAITS_FOR_ALL, WAITS_FOR_SOME, FunctionGroups, PathTree
from .waits import Causes, Pieces, longest_by_row

_MOST: Final = 1 << 20
"""Calls that are kept of a layer; where there are more, nothing is said of any."""


class SharedRows(Columns):
    """Calls that may wait for other processes, columns of shape (n,).

    Attributes
    ----------
    kind : uint8
        What it did, as in `iostrata.layers.attribution.calls.kernel.Notes`.
    process, handle, file, region : int32
        Rows, −1 where unknown.
    begin, end : int64
        Ticks.
    """

    kind: Octets
    process: Links
    handle: Links
    file: Links
    region: Links
    begin: Ints
    end: Ints


class SharedCalls:
    """Calls of one layer that may wait for other processes; those of others merge. At most 2^20 are kept."""

    def __init__(self) -> None:
        self._parts: list[SharedRows] = []
        self._count = 0

    def add(self, rows: SharedRows) -> None:
        """Add some calls."""
        self._take([rows], len(rows))

    def merge(self, other: "SharedCalls") -> None:
        """Add the calls of `other`."""
        self._take(other._parts, other._count)

    def _take(self, parts: list[SharedRows], count: int) -> None:
        self._parts += parts
        self._count += count
        if self._count > _MOST:
            self._parts.clear()

    @property
    def rows(self) -> SharedRows:
        """All of them; none where they are too many."""
        return SharedRows.concatenate(self._parts) if self._parts else SharedRows.empty()


def may_wait(paths: PathTree, functions: FunctionGroups) -> Mask:
    """Return whether calls on each path wait for other processes, bool (paths,).

    Those of MPI that are made by all processes do, and those of layers above that make such a call, or one in which
    some wait for others, if no process leaves it before all have entered (`meetings`).
    """
    names = functions.regions.name
    waits = np.array([bool(WAITS_FOR_ALL.match(name) or WAITS_FOR_SOME.match(name)) for name in names], np.bool_)
    leaves_events = [row for row, name in enumerate(functions.names) if name in LEAVE_EVENTS]
    above = functions.does_io & (functions.layer >= 0) & ~np.isin(functions.layer, leaves_events)
    return (subtree_sums(paths.parent, waits[paths.region].astype(np.int64)) > 0) & above[paths.region]


class Meetings(Columns):
    """Calls in which several processes were at one time, those of a meeting together and by when they began.

    Columns of shape (n,).

    Attributes
    ----------
    meeting : int64
        Number of the meeting, ascending.
    layer : int64
        Counted from the highest.
    kind, process, handle, file, region : int64
        As in `SharedRows`.
    begin, end : int64
        When the process entered the call and left it, in ticks.
    waited : int64
        Ticks until the last one entered it; of `without` those in which nobody did I/O that is waited for.
    cause : int64
        Process that it waits for there, −1 where that is not known: the last one, or of `without` the one for which it
        is longest in the end.
    through : int64
        Row of the function in which the last one waits itself meanwhile, −1 where it does not or where that is unknown.
    """

    meeting: Ints
    layer: Ints
    kind: Ints
    process: Ints
    handle: Ints
    file: Ints
    region: Ints
    begin: Ints
    end: Ints
    waited: Ints
    cause: Ints
    through: Ints

    @cached_property
    def final(self) -> Ints:
        """Rows of those who came last, one a meeting."""
        return np.flatnonzero(np.append(np.diff(self.meeting) != 0, True)[: len(self)])

    @cached_property
    def first(self) -> Ints:
        """Rows of those who came first, one a meeting."""
        return np.flatnonzero(np.append(True, np.diff(self.meeting) != 0)[: len(self)])

    def without(self, busy: Coverage, causes: Causes) -> "Meetings":
        """Return the same with the time left out in which the one waited for in the end was in I/O, as `busy` has it.

        Also that by which it left the call before later than the one that waits, as who moves the data of all does.
        """
        row, nowhere = np.arange(len(self)), np.full(len(self), -1)
        pieces = causes.traced(Pieces(row, self.cause, self.begin, self.begin + self.waited, nowhere))
        ticks, order = pieces.ticks, np.argsort(pieces.cause, kind="stable")
        ones, first = np.unique(pieces.cause[order], return_index=True)
        for one, rows in zip(ones.tolist(), np.split(order, first[1:]), strict=False):
            covered = busy.until(one, pieces.end[rows]) - busy.until(one, pieces.begin[rows])
            ticks[rows] -= np.minimum(np.rint(covered).astype(np.int64), ticks[rows])
        waited, cause, through = np.zeros(len(self), np.int64), self.cause.copy(), self.through.copy()
        np.add.at(waited, pieces.row, ticks)
        rows, *most = longest_by_row(pieces, ticks)
        cause[rows], through[rows] = most
        last = np.repeat(self.final, self.counts)
        later = np.where(cause == self.process[last], self._left_later(last), 0)
        return replace(self, waited=waited - np.minimum(later, waited), cause=cause, through=through)

    def _left_later(self, last: Rows) -> Ints:
        """Return by how many ticks the process in row `last` left the meeting before later than that of each row."""
        order = np.lexsort((self.begin, self.process, self.layer))
        follows = (np.diff(self.process[order]) == 0) & (np.diff(self.layer[order]) == 0)
        before = np.full(len(self), -1)
        before[order[1:]] = np.where(follows, order[:-1], -1)
        one, other = before[last], before
        same = (one >= 0) & (other >= 0) & (self.meeting[one] == self.meeting[other])
        return np.where(same, np.maximum(0, self.end[one] - self.end[other]), 0)

    def of_layer(self, layer: int) -> "Meetings":
        """Return those in calls of a layer."""
        return self.take(self.layer == layer)

    @property
    def sums(self) -> KeyedSums:
        """The ticks waited by layer, kind, process, handle, file and, where there is no event, function, else −1."""
        region = np.where(self.kind == NO_EVENT, self.region, -1)
        keys = self.layer, self.kind, self.process, self.handle, self.file, region
        return KeyedSums(keys, {"ticks": self.waited})

    @property
    def counts(self) -> Ints:
        """How many processes met, int64 (meetings,)."""
        return self.final - self.first + 1

    @cached_property
    def longest(self) -> Ints:
        """Rows of those that wait longest, one a meeting."""
        return np.lexsort((self.waited, self.meeting))[self.final]

    @property
    def median(self) -> Ints:
        """Row of the one in the middle of those that do not hold up the others, of two the later, int64 (meetings,)."""
        middle, number = self.first + (self.counts - 1) // 2, np.repeat(np.arange(len(self.final)), self.counts)
        held_up = np.where(self.cause[self.longest] >= 0, self.cause[self.longest], self.process[self.final])
        before = np.flatnonzero((self.process == held_up[number]) & (np.arange(len(self)) <= middle[number]))
        middle[number[before]] += 1
        return middle


def meetings(shared: dict[int, SharedCalls], scope: Scope) -> Meetings:
    """Return where processes met in calls that were kept by layer.

    Of a file the k-th call of a function by each process is one (MPI 4.1, §14.4.2) where no process left it before
    all had entered, and it counts where the first one waits for the last longer than the call takes from then on.
    Where processes call a function on a file so many times each that this tells nothing, and on communicators of one
    process, nobody waits for another.
    """
    known = np.append(np.isin(scope.definitions.handles.communicator, self_communicators(scope.definitions)), False)
    found = Meetings.empty()
    for layer, calls in sorted(shared.items()):
        rows = calls.rows
        number = int(found.meeting[-1]) + 1 if len(found) else 0
        found = Meetings.concatenate([found, _of_layer(layer, rows.take(~known[rows.handle]), number)])
    return found


def _of_layer(layer: int, rows: SharedRows, first: int) -> Meetings:
    rows = rows.take(np.argsort(rows.begin, kind="stable"))
    group = numbered(rows.region.astype(np.int64), rows.file.astype(np.int64))
    process = rows.process.astype(np.int64)
    pair = numbered(group, process)
    place = positions(pair)
    # As many calls by each process as by the one with most.
    most = np.zeros(int(group.max(initial=-1)) + 1, np.int64)
    np.maximum.at(most, group, place + 1)
    even = np.bincount(pair)[pair] == most[group]
    uneven = np.bincount(group, ~even, minlength=len(most)) > 0
    call = numbered(group, place)
    order = np.argsort(call, kind="stable")
    order = order[~uneven[group[order]]]
    rows, call = rows.take(order), call[order]
    if not len(rows):
        return Meetings.empty()
    edges = np.flatnonzero(np.append(True, np.diff(call) != 0))
    count = np.diff(np.append(edges, len(call)))
    last, leave = np.maximum.reduceat(rows.begin, edges), np.minimum.reduceat(rows.end, edges)
    # Ranks that come from a barrier do so at different times as well: where the call takes longer, that is part of it.
    waits = last - np.minimum.reduceat(rows.begin, edges) > leave - last
    meet = np.repeat((count > 1) & (last <= leave) & waits, count)
    number = np.repeat(np.arange(len(edges)) + first, count)
    columns = {name: getattr(rows, name)[meet].astype(np.int64) for name in ("kind", "process", "handle", "file")}
    return Meetings(
        number[meet], np.full(int(meet.sum()), layer), **columns, region=rows.region[meet].astype(np.int64),
        begin=rows.begin[meet], end=rows.end[meet], waited=(np.repeat(last, count) - rows.begin)[meet],
        cause=np.repeat(rows.process[np.append(edges[1:], len(call)) - 1], count)[meet].astype(np.int64),
        through=np.full(int(meet.sum()), -1),
    )  # fmt: skip
