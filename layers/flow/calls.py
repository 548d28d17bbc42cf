"""What ran beneath the calls of an upper layer: how many operations, of what sizes, by whom, and for how long."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ...model.arrays import Rows
from ..attribution.collectives import distinct_pairs
from ..statistics.distribution import Distribution, distribution
from .amounts import FlowAmounts
from .collectives import FlowCollectives, flow_collectives
from .request_sizes import RequestFlow, request_flow


@dataclass(frozen=True, eq=False, repr=False)
class FlowCalls(FlowAmounts):
    """What ran beneath the calls of the upper layer; a collective call of all its ranks counts once."""

    @cached_property
    def beneath(self) -> Rows:
        """Lower operations of this direction that belong to an upper operation of this direction."""
        inside = np.flatnonzero(self._mask(self.attributed_rows) | self._mask(self.inferred_rows))
        return inside[self._mask(self.upper_rows)[self.ancestor[inside]]]

    @cached_property
    def against(self) -> Rows:
        """Lower operations of the other direction, such as reads beneath a write, inside the upper operations."""
        if self.direction == "total":
            return np.empty(0, np.intp)
        other = self.traffic.of_direction("read" if self.direction == "write" else "write")
        return self._inside(other & self.traffic.selected)

    @property
    def against_bytes(self) -> int | float:
        """Bytes of `against`: what a read-modify-write reads."""
        return self._bytes(self.against)

    @cached_property
    def units(self) -> npt.NDArray[np.int64]:
        """Number of the call of each upper operation, shared by the operations of a collective call, int64."""
        call = self.traffic.calls.units()[self.upper_rows]
        occurs = np.zeros(int(call.max(initial=-1)) + 1, np.bool_)
        occurs[call] = True
        return (np.cumsum(occurs) - 1)[call].astype(np.int64)

    @cached_property
    def fan_out_counts(self) -> npt.NDArray[np.int64]:
        """Lower operations of this direction beneath each call of the upper layer, int64 (calls,)."""
        count = int(self.units.max(initial=-1)) + 1
        return np.bincount(self._unit_of(self.beneath), minlength=count).astype(np.int64)

    @property
    def fan_out(self) -> Distribution:
        """Distribution of `fan_out_counts`; a collective call of all its ranks counts once."""
        return distribution(self.fan_out_counts)

    @property
    def childless_calls(self) -> int:
        """Calls of the upper layer with nothing of this direction beneath them."""
        return int((self.fan_out_counts == 0).sum())

    @cached_property
    def childless_bytes(self) -> int | float:
        """Bytes of the calls of the upper layer with nothing of this direction beneath them."""
        return self._bytes(self.upper_rows[self.fan_out_counts[self.units] == 0])

    @cached_property
    def request_flow(self) -> RequestFlow:
        """From sizes of calls above to sizes of operations below."""
        count = int(self.units.max(initial=-1)) + 1
        size = np.zeros(count, np.float64)
        np.add.at(size, self.units, self.traffic.moved[self.upper_rows].astype(np.float64))
        return request_flow(size[self._unit_of(self.beneath)], self.traffic.moved[self.beneath])

    @cached_property
    def collectives(self) -> FlowCollectives:
        """The collective calls of several ranks beneath which bytes moved."""
        return flow_collectives(self.traffic, self.upper_rows, self.units, self.beneath, self._unit_of(self.beneath))

    @cached_property
    def movers(self) -> Distribution:
        """Ranks that moved bytes in the lower layer beneath a call, over the calls beneath which any did."""
        rows = self.beneath[self.traffic.moved[self.beneath] > 0]
        ranks = distinct_pairs(self._unit_of(rows), self.traffic.operations.process[rows], 0)
        return distribution(ranks[ranks > 0])

    @cached_property
    def concurrency(self) -> Distribution:
        """Most lower operations of this direction under way at once beneath a call, over the calls that have any."""
        from ..attribution.attribution_kernel import rows_by_key
        from ..attribution.group_kernels import most_at_once

        unit = self._unit_of(self.beneath)
        begin, end = self._clipped(self.beneath)
        # Rows are in the order of begins; a sort that keeps it needs no second key.
        by_begin, start = rows_by_key(unit, int(unit.max(initial=-1)) + 1)
        by_time = np.argsort(end, kind="stable")
        by_end = by_time[rows_by_key(unit[by_time], len(start) - 1)[0]]
        counts = most_at_once(start, begin[by_begin], end[by_end])
        return distribution(counts[np.diff(start) > 0])

    @cached_property
    def upper_summed_s(self) -> float:
        """Sum of the durations of the upper operations in s, as far as the window holds them."""
        begin, end = self._clipped(self.upper_rows)
        return int((end - begin).sum()) / self.traffic.window.ticks_per_second

    @cached_property
    def contained_s(self) -> float:
        """Part of `upper_summed_s` in which an operation of the lower layer, of whatever mode and file, ran inside."""
        from ..attribution.group_kernels import union_by_group

        rows = self._inside(self.traffic.within)
        rows = rows[np.argsort(self.ancestor[rows], kind="stable")]
        above = self.ancestor[rows]
        begin, end = self._clipped(rows)
        low, high = self._clipped(above)
        begin, end = np.clip(begin, low, high), np.clip(end, low, high)
        covered = union_by_group(_starts(above), begin, end)
        return int(covered.sum()) / self.traffic.window.ticks_per_second

    @property
    def exclusive_s(self) -> float:
        """Part of `upper_summed_s` in which nothing of the lower layer ran inside."""
        return self.upper_summed_s - self.contained_s

    @property
    def begin_lag(self) -> Distribution:
        """Time in s from the begin of an upper operation to that of the first lower one of this direction inside it."""
        above = self.ancestor[self.beneath]
        first = np.full(len(self.ancestor), -1, np.int64)
        first[above[::-1]] = self.beneath[::-1]  # of several the one written last, which begins first
        calls = np.flatnonzero(first >= 0)
        begin = self.traffic.operations.begin
        lag = begin[first[calls]] - begin[calls]
        return distribution(lag / self.traffic.window.ticks_per_second)

    def _inside(self, mask: npt.NDArray[np.bool_]) -> Rows:
        """Return the masked operations of the lower layer that belong to one of the upper operations."""
        lower = mask & (self.traffic.layer == self.traffic.layer_row(self.lower)) & (self.ancestor >= 0)
        rows = np.flatnonzero(lower)
        return rows[self._mask(self.upper_rows)[self.ancestor[rows]]]

    def _unit_of(self, rows: Rows) -> npt.NDArray[np.int64]:
        """Return the number of the call that each of these lower operations, all `beneath`, belongs to."""
        place = np.zeros(len(self.ancestor), np.int64)
        place[self.upper_rows] = self.units
        return place[self.ancestor[rows]]

    def _clipped(self, rows: Rows | npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
        return self.traffic.times(rows)


def _starts(group: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where each run of equal numbers begins, and the length."""
    if not len(group):
        return np.zeros(1, np.int64)
    return np.append(np.flatnonzero(np.append(True, np.diff(group) != 0)), len(group)).astype(np.int64)
