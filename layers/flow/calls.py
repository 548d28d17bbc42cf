"""What ran beneath the calls of an upper layer, added up; collective calls by their keys, across processes."""

from collections.abc import Sequence
from copy import deepcopy
from functools import cached_property
from typing import Final, Self

import numpy as np

from ...model.arrays import Frozen, Ints, Mask, Rows, Ticks, Unsigned
from ...model.codes import UNDEFINED_UINT64
from ...model.keyed import KeyedSums, rows_beyond
from ...model.sums import Sums, added, keyed, largest, nested
from ..attribution.attribution import TraceBlock
from ..handles.scope import Scope
from ..selection.window import FRACTION, Amounts, sums_by, whole_and_part
from ..statistics.distribution import Distribution, ValueCounts
from ..summary.busy_time import BusyTime
from .tables import CLASSES, RequestFlow, size_class


class FlowRows:
    """Operations of an upper and a lower layer in one direction, on the selected files within the window.

    Parameters
    ----------
    traffic : TraceBlock
        Operations of whole processes; rows and places below are in it.
    high, low : int
        Layers, counted from the highest.
    direction : {"read", "write", "total"}

    Attributes
    ----------
    upper : intp (m,)
        Operations of the upper layer.
    beneath, against : intp
        Operations of the lower layer inside of these, on selected files: of this direction, and of the other one.
    inside : intp
        All operations of the lower layer inside of these, of whatever direction and file.
    descending : bool (n,)
        Whether an operation is of the lower layer, this direction and a selected file, and its handle descends from one
        of the upper layer.
    """

    def __init__(self, traffic: TraceBlock, high: int, low: int, direction: str) -> None:
        self.traffic = traffic
        chosen = traffic.of_direction(direction)
        self.upper = np.flatnonzero(chosen & (traffic.layer == high) & traffic.selected)
        self.ancestor = traffic.ancestor_in(high)[0]
        self._place = np.full(len(self.ancestor), -1, np.int64)
        self._place[self.upper] = np.arange(len(self.upper))
        lower = np.flatnonzero(traffic.within & (traffic.layer == low) & (self.ancestor >= 0))
        self.inside = lower[self._place[self.ancestor[lower]] >= 0]
        shown = self.inside[traffic.selected[self.inside]]
        self.beneath = shown[chosen[shown]]
        opposite = {"read": "write", "write": "read"}.get(direction)
        self.against = shown[traffic.of_direction(opposite)[shown]] if opposite else shown[:0]
        self.descending = chosen & (traffic.layer == low) & traffic.selected & (traffic.ancestor_handle_in(high) >= 0)

    @cached_property
    def above(self) -> Ints:
        """Place in `upper` of the operation above each of `beneath`."""
        return self.above_of(self.beneath)

    @cached_property
    def fan(self) -> Ints:
        """Number of operations `beneath` each upper one, (m,)."""
        return np.bincount(self.above, minlength=len(self.upper)).astype(np.int64)

    def above_of(self, rows: Rows) -> Ints:
        """Return the place in `upper` of the operation above each of some operations inside."""
        return self._place[self.ancestor[rows]]

    def grouped(self, rows: Rows) -> tuple[Rows, Ints]:
        """Return some operations inside by the upper one they belong to, and where those of each begin."""
        from ..attribution.attribution_kernel import rows_by_key

        # Rows are in the order of begins, and stay so within each upper operation.
        order, start = rows_by_key(self.above_of(rows), len(self.upper))
        return rows[order], start

    def contained(self) -> int:
        """Return the time of the upper operations in which one of the lower layer ran inside, in ticks."""
        return union_inside(self.traffic, self.ancestor, self.inside)

    def most_at_once(self) -> Ints:
        """Return the most operations `beneath` each upper one that were under way at once, (m,)."""
        from .flow_kernels import most_at_once

        rows, start = self.grouped(self.beneath)
        begin, end = self.traffic.times(rows)
        group = np.repeat(np.arange(len(self.upper)), np.diff(start))
        return np.asarray(most_at_once(start, begin, end[np.lexsort((end, group))]), np.int64)

    def first_begins(self) -> Ticks:
        """Return the time from the begin of each upper operation to the first beneath it, of those that have one."""
        rows, start = self.grouped(self.beneath)
        some = self.fan > 0
        begin = self.traffic.operations.begin
        return begin[rows[start[:-1][some]]] - begin[self.upper[some]]


def union_inside(traffic: TraceBlock, ancestor: Ints, rows: Rows) -> int:
    """Return the time of the ancestors of some operations in which any of these was under way, in ticks."""
    from ...model.range_kernels import union_in_order

    if not len(rows):
        return 0
    # Rows are in the order of begins, and stay so within each ancestor.
    rows = rows[np.argsort(ancestor[rows], kind="stable")]
    above = ancestor[rows]
    begin, end = traffic.times(rows)
    low, high = traffic.times(above)
    begin, end = np.clip(begin, low, high), np.clip(end, low, high)
    _, first, last = union_in_order(above, begin, end)
    return int((last - first).sum())


_WHOLE: Final = 0.9
"""Share of a request from which on a piece is as good as all of it."""
ALIGNMENT: Final = 4096
"""Where a request that begins at a multiple of it counts as aligned."""
_MOST_STEPS: Final = 1 << 16
_POINTS_OF_CALL: Final = 3
"""To which rounding always leads: a begin, an end, and time 0 between them."""
_SHARE_WAITING: Final = 4
"""Of the points that there are may as many wait to be merged."""
_AT_ONCE: Final = 1 << 15
"""Operations that are made points of at a time: these take many times the memory."""
_BUSY_POINTS: Final = 1 << 22
_OF_POINT: Final = ("operations", "moving", "idle")
"""What begins and ends at a point: operations, those that move bytes, and ranks in the call that move none."""
_END: Final = 32
"""Bits of a number behind which ends are counted, begins before them: columns of points take most of the memory."""
_BEGINS: Final = np.int64((1 << _END) - 1)
_OF_CALL: Final = (
    "participants", "fan", "whole", "part", "movers", "pieces", "moved_whole", "moved_part", "ticks", "begin", "end",
)  # fmt: skip
_OF_CLASS: Final = ("operations", "whole", "part")


class FlowCollectives(Frozen):
    """Collective calls of the upper layer in which two ranks or more take part and beneath which bytes move.

    Columns of shape (calls,), in the order of their begins.

    Attributes
    ----------
    sequence : int64
        Calls of one number are those of one layer, communicator and file.
    participants : int64
        Distinct ranks that made the call.
    movers : int64
        Distinct ranks that moved bytes in the lower layer beneath it.
    pieces : int64
        Operations beneath it that moved bytes.
    bytes : Amounts
        What these moved.
    begin, end : int64
        First begin and last end of the ranks' operations, in ticks.
    ticks : int64
        Sum of the durations of the ranks' operations.
    transferring : int64
        Ticks in which an operation beneath it that moved bytes was under way on any rank.
    waiting : int64
        Ticks that ranks which moved nothing beneath it spent in the call meanwhile, summed over these ranks.
    """

    sequence: Ints
    participants: Ints
    movers: Ints
    pieces: Ints
    bytes: Amounts
    begin: Ticks
    end: Ticks
    ticks: Ints
    transferring: Ints
    waiting: Ints

    def __len__(self) -> int:
        return len(self.participants)


class CallSteps(Sums):
    """How many operations are under way beneath collective calls, and how many ranks wait in them: changes in time.

    With more than 2^16 points beyond three of each call, begins are rounded down and ends up to multiples of a power of
    two, the least that is enough; that depends on the points alone, not on their order or on what was merged with what.
    """

    exact: bool

    def prepare(self) -> None:
        self._shift = 0
        self._points = KeyedSums.none(3, *_OF_POINT)
        self._waiting: list[KeyedSums] = []

    def add(self, sequence: Ints, place: Ints, begin: Ticks, end: Ticks, moving: Mask, beneath: bool = True) -> None:
        """Add operations `beneath` calls, some of them `moving`; else those of ranks in them that move nothing."""
        for first in range(0, len(begin), _AT_ONCE):
            some = slice(first, first + _AT_ONCE)
            begun = np.array(np.broadcast_arrays(beneath, moving[some], not beneath), np.int64)
            calls, places = sequence[some], place[some]
            times = _rounded_times(begin[some], end[some], self._shift)
            keys = np.append(calls, calls), np.append(places, places), times
            self._wait(KeyedSums(keys, dict(zip(_OF_POINT, np.hstack((begun, begun << _END)), strict=True))))

    def absorb(self, other: Self) -> None:
        """Add the operations of `other`."""
        points, shift = other._all(), other._shift
        if shift > self._shift:
            self._points, self._shift = _rounded(self._all(), shift - self._shift, shift), shift
        self._wait(_rounded(points, self._shift - shift, self._shift))

    def settled(self) -> KeyedSums:
        """Return by call the ``most`` at once, the ``ticks`` in which one moved, those of ``waiting`` ranks then."""
        points, names = self._all(), ("most", "ticks", "waiting")
        if not len(points):
            return KeyedSums.none(2, *names)
        sequence, place, time = points.keys
        fresh = np.append(True, (np.diff(sequence) != 0) | (np.diff(place) != 0))
        first = np.flatnonzero(fresh)
        # One that ends when another begins counts no more; one without duration is open for itself.
        level = np.maximum(_under_way(points["operations"]), points["operations"] & _BEGINS > 0)
        width = np.where((_under_way(points["moving"]) > 0)[:-1] & ~fresh[1:], np.diff(time), 0)
        waiting = _under_way(points["idle"])[:-1] * width
        sums = (np.add.reduceat(np.append(ticks, 0), first) for ticks in (width, waiting))
        values = (np.maximum.reduceat(level, first), *sums)
        return KeyedSums((sequence[first], place[first]), dict(zip(names, values, strict=True)))

    def _all(self) -> KeyedSums:
        """Return all points, those that wait to be merged too."""
        if self._waiting:
            points, self._waiting = self._points.merged(*self._waiting), []
            while not self.exact and rows_beyond(points.keys[:2], _POINTS_OF_CALL) > _MOST_STEPS:
                by = _least_rounding(points, self._shift)
                self._shift += by
                points = _rounded(points, by, self._shift)
            self._points = points
        return self._points

    def _wait(self, points: KeyedSums) -> None:
        """Take points that are rounded already."""
        # Merging sorts all that there are: not before there are enough.
        self._waiting.append(points)
        share = 1 if self.exact else _SHARE_WAITING
        if sum(map(len, self._waiting)) >= max(_AT_ONCE, len(self._points) // share):
            self._all()


def _under_way(counts: Ints) -> Ints:
    """Return how many have begun and not ended behind each point."""
    return np.cumsum((counts & _BEGINS) - (counts >> _END))


def _least_rounding(points: KeyedSums, shift: int) -> int:
    """Return by how many powers of two more points must be rounded at least: begins alone are too many before."""
    begin = (points["operations"] | points["idle"]) & _BEGINS > 0
    sequence, place, time = (key[begin] for key in points.keys)
    by = 1
    while True:
        fresh = np.append(True, np.diff(time >> (shift + by)) != 0)
        fresh[1:] |= (np.diff(sequence) != 0) | (np.diff(place) != 0)
        if rows_beyond((sequence[fresh], place[fresh]), _POINTS_OF_CALL) <= _MOST_STEPS:
            return by
        by += 1


def _rounded_times(begin: Ticks, end: Ticks, shift: int) -> Ticks:
    """Return begins, rounded down to multiples of ``2**shift``, then ends, rounded up."""
    return np.append(begin >> shift << shift, -(-end >> shift << shift))


def _rounded(points: KeyedSums, by: int, shift: int) -> KeyedSums:
    """Return points on multiples of ``2**shift`` ticks, begins rounded down and ends up."""
    if not by or not len(points):
        return points
    sequence, place, time = points.keys
    keys = [np.append(sequence, sequence), np.append(place, place)]
    times = _rounded_times(time, time, shift)
    counts = {name: np.append(points[name] & _BEGINS, points[name] & ~_BEGINS) for name in _OF_POINT}
    there = (counts["operations"] | counts["idle"]) > 0
    return KeyedSums([key[there] for key in (*keys, times)], {name: one[there] for name, one in counts.items()})


def _counts() -> ValueCounts:
    return nested(lambda sums: ValueCounts(sums.scope.exact))


def _busy_time() -> BusyTime:
    return nested(lambda sums: BusyTime(sums.scope.covered[0], sums.scope.covered[1], sums.scope.exact, _BUSY_POINTS))


class FlowSums(Sums):
    """What must be added up operation by operation of one pair of layers and direction.

    Memory follows the collective calls of the run, but no other operations.

    Parameters
    ----------
    adjacent : bool
        Whether the layers are neighbours; what only such are asked for is left out elsewhere.
    """

    adjacent: bool
    scope: Scope
    contained: int = added(0)
    childless: Ints = added(lambda _sums: np.zeros(3, np.int64))
    fan: ValueCounts = _counts()
    concurrency: ValueCounts = _counts()
    lag: ValueCounts = _counts()
    split: ValueCounts = _counts()
    alone_movers: int = added(0)
    sizes: Ints = added(lambda _sums: np.zeros((3, CLASSES * CLASSES), np.int64))
    calls: KeyedSums = keyed(2, *_OF_CALL)
    classes: KeyedSums = keyed(3, *_OF_CLASS)
    steps: CallSteps = nested(lambda sums: CallSteps(sums.scope.exact))
    busy: BusyTime = _busy_time()
    busy_below: BusyTime = _busy_time()
    pieces: int = added(0)
    aligned: int = added(0)
    placed: int = added(0)
    largest: float = largest(0)

    def add(self, rows: FlowRows, split: Mask, sequence: Ints, place: Ints, offset: Unsigned) -> None:
        """Add the operations of a block.

        Parameters
        ----------
        split : bool (m,)
            Which upper operations became several.
        sequence, place : int64 (n,)
            Of all operations of the block, as from `CallSequences.keys`.
        offset : uint64 (n,)
            Where they begin in their files, as from `FilePositions.offsets`.
        """
        traffic, upper, beneath = rows.traffic, rows.upper, rows.beneath
        below = rows.descending.copy()
        below[rows.against] = True
        self.busy_below.add(*traffic.times(np.flatnonzero(below)))
        if self.adjacent:
            self.busy.add(*traffic.times(upper))
            self._add_split(rows, split, offset)
        if not len(upper):
            return
        self.contained += rows.contained()
        self.lag.add(rows.first_begins())
        collective = place[upper] >= 0
        above, moved = rows.above, traffic.moved
        asked = moved[upper]
        whole, part = whole_and_part(asked)
        alone = ~collective
        bare = alone & (rows.fan == 0)
        self.childless += [int(bare.sum()), int(whole[bare].sum()), int(part[bare].sum())]
        self.fan.add(rows.fan[alone])
        self.concurrency.add(rows.most_at_once()[alone & (rows.fan > 0)])
        moves = moved[beneath] > 0
        moving = np.bincount(above[moves], minlength=len(upper))
        self.alone_movers += int((alone & (moving > 0)).sum())
        of_alone = alone[above]
        rows_alone = beneath[of_alone]
        pair = size_class(asked[above[of_alone]]) * CLASSES + size_class(moved[rows_alone])
        for row, amounts in enumerate((np.ones(len(pair), np.int64), *whole_and_part(moved[rows_alone]))):
            np.add.at(self.sizes[row], pair, amounts)
        if collective.any():
            self._add_calls(rows, collective, sequence, place, moving)

    def idle_ticks(self, below: Sequence[Self]) -> tuple[int, int]:
        """Return how long the upper layer was busy, and for how long of it no lower one of some flows was, in ticks."""
        busy, either = self.busy.empty(), deepcopy(self.busy)
        for one in below:
            busy.merge(one.busy_below)
        either.merge(busy)
        return self.busy.length, either.length - busy.length

    def distributions(self) -> tuple[Distribution, Distribution, Distribution]:
        """Return lower operations beneath a call, ranks that moved bytes there, and operations under way at once."""
        fan, movers, concurrency = (ValueCounts(exact=True) for _ in range(3))
        fan.merge(self.fan)
        fan.add(self.calls["fan"])
        if self.alone_movers:
            movers.add(np.ones(1, np.int64), np.array([self.alone_movers]))
        movers.add(self.calls["movers"][self.calls["movers"] > 0])
        concurrency.merge(self.concurrency)
        most = self.steps.settled()["most"]
        concurrency.add(most[most > 0])
        return fan.distribution(), movers.distribution(), concurrency.distribution()

    def childless_calls(self) -> tuple[int, int, int]:
        """Return calls with nothing beneath them: how many, and their bytes, whole ones and 2^-32."""
        bare = self.calls["fan"] == 0
        count, whole, part = self.childless.tolist()
        called = (int(self.calls[name][bare].sum()) for name in ("whole", "part"))
        return count + int(bare.sum()), whole + next(called), part + next(called)

    def request_flow(self, cut: bool) -> RequestFlow:
        """Return from sizes of calls to sizes of operations beneath; `cut` says whether the window cuts any."""
        sizes = self.sizes.copy()
        sequence, place, low = self.classes.keys
        if len(self.classes):
            keys = sequence, place
            size = self.calls.at(keys, "whole") + self.calls.at(keys, "part") / FRACTION
            pair = size_class(size) * CLASSES + low
            for row, name in enumerate(_OF_CLASS):
                np.add.at(sizes[row], pair, self.classes[name])
        kept = np.flatnonzero(sizes[0])
        whole = sizes[1, kept]
        moved: Amounts = whole + sizes[2, kept] / FRACTION if cut else whole.astype(np.uint64)
        starts = np.append(0, np.left_shift(np.int64(1), np.arange(CLASSES - 1)))
        return RequestFlow(starts[kept // CLASSES], starts[kept % CLASSES], sizes[0, kept], moved)

    def collectives(self, cut: bool) -> FlowCollectives:
        """Return the collective calls of several ranks beneath which bytes moved."""
        calls = self.calls
        chosen = np.flatnonzero((calls["participants"] >= 2) & (calls["movers"] > 0))
        chosen = chosen[np.argsort(calls["begin"][chosen], kind="stable")]
        sequence, place = (key[chosen] for key in calls.keys)
        steps = self.steps.settled()
        transferring, waiting = (steps.at((sequence, place), name) for name in ("ticks", "waiting"))
        whole, part = calls["moved_whole"][chosen], calls["moved_part"][chosen]
        moved: Amounts = whole + part / FRACTION if cut else whole.astype(np.uint64)
        names = ("participants", "movers", "pieces", "begin", "end", "ticks")
        columns = {name: calls[name][chosen] for name in names}
        return FlowCollectives(sequence=sequence, bytes=moved, transferring=transferring, waiting=waiting, **columns)

    def _add_calls(self, rows: FlowRows, collective: Mask, sequence: Ints, place: Ints, moving: Ints) -> None:
        """Add the collective operations, by the call they are part of."""
        traffic, moved = rows.traffic, rows.traffic.moved
        upper = rows.upper[collective]
        begin, end = traffic.times(upper)
        below = rows.beneath[collective[rows.above]]
        above = rows.above_of(below)
        whole, part = whole_and_part(moved[below])
        sums = [sums_by(above, amounts, len(rows.upper)) for amounts in (whole, part)]
        upper_whole, upper_part = whole_and_part(moved[upper])
        pieces = moving[collective]
        columns = (
            1, rows.fan[collective], upper_whole, upper_part, pieces > 0, pieces,
            sums[0][collective], sums[1][collective], end - begin, begin, end,
        )  # fmt: skip
        keys = sequence[upper], place[upper]
        self.calls = self.calls.plus(keys, dict(zip(_OF_CALL, columns, strict=True)))
        of_call = rows.upper[above]
        keys_below = sequence[of_call], place[of_call]
        by_class = dict(zip(_OF_CLASS, (1, whole, part), strict=True))
        self.classes = self.classes.plus((*keys_below, size_class(moved[below])), by_class)
        idle = pieces == 0
        none = np.zeros(int(idle.sum()), np.bool_)
        self.steps.add(keys[0][idle], keys[1][idle], begin[idle], end[idle], none, beneath=False)
        self.steps.add(*keys_below, *traffic.times(below), moved[below] > 0)

    def _add_split(self, rows: FlowRows, split: Mask, offset: Unsigned) -> None:
        """Add the requests that became several."""
        if not split.any():
            return
        self.pieces += int(rows.fan[split].sum())
        below = rows.beneath[split[rows.above]]
        self.largest = max(self.largest, float(rows.traffic.moved[below].max()))
        self.split.add(np.rint(rows.traffic.moved[rows.upper[split]]))
        known = offset[below][offset[below] != UNDEFINED_UINT64]
        self.placed += len(known)
        self.aligned += int((known % np.uint64(ALIGNMENT) == 0).sum())


def split_operations(rows: FlowRows, least: float, pieces: float) -> Mask:
    """Return which upper operations of at least a size became several smaller ones beneath, bool (m,).

    One that moves nearly all in one piece does not: small ones beside it are the headers of a format.
    """
    moved = rows.traffic.moved.astype(np.float64)
    largest = np.zeros(len(rows.upper))
    np.maximum.at(largest, rows.above, moved[rows.beneath])
    request = moved[rows.upper]
    return np.asarray((request >= least) & (rows.fan >= pieces) & (largest < _WHOLE * request))
