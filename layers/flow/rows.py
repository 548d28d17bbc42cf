"""The operations of a flow within one block of a trace: what must be looked at one by one, before it is added up."""

from functools import cached_property

import numpy as np

from ...model.arrays import Ints, Rows, Ticks
from ..attribution.traffic import Traffic


class FlowRows:
    """Operations of an upper and a lower layer in one direction, on the selected files within the window.

    Parameters
    ----------
    traffic : Traffic
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

    def __init__(self, traffic: Traffic, high: int, low: int, direction: str) -> None:
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
        from ..statistics.group_kernels import most_at_once

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


def union_inside(traffic: Traffic, ancestor: Ints, rows: Rows) -> int:
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
