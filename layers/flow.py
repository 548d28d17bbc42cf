"""What became of the operations of one layer in a layer below it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..otf2io.errors import SelectionError
from ..otf2io.row_lookup import column_at
from .access import AccessPattern, access_pattern
from .collectives import distinct_pairs
from .distribution import Distribution, distribution
from .flow_tables import FlowTable, OperationClass, flow_table
from .request_flow import RequestFlow, request_flow
from .shares import Shares, shares
from .statistics import total, total_length
from .traffic import Traffic
from .tree import nearest_marked

Rows = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Flow:
    """Operations of an upper and a lower layer in one direction, on the selected files within the window.

    "By descent" are the lower operations through handles that descend from a handle of the upper layer. Those of them
    that ran inside an operation of the upper layer are *attributed* to it, the rest is *hidden*: the upper layer caused
    it outside of its own operations. *Inferred* operations ran inside an operation of the upper layer although that
    does not follow from handle and thread; most of them are not by descent. Bytes are those moved, int, or float where
    the window cuts an operation.

    Attributes
    ----------
    upper, lower : str
        Names of the layers.
    direction : str
        ``read``, ``write`` or ``total``.
    adjacent : bool
        Whether most lower handles that descend from the upper layer do so without a layer in between.
    traffic : Traffic
        The operations of the trace, whose rows the following refer to.
    upper_rows, lower_rows : intp
        Operations of the upper layer, and those of the lower layer by descent.
    attributed_rows, inferred_rows, hidden_rows, set_aside_rows : intp
        Lower operations by what is above them; those set aside are by descent, too.
    ancestor : int64 (n,)
        Row of the upper operation that each operation of the trace belongs to, −1 where there is none.
    """

    upper: str
    lower: str
    direction: str
    adjacent: bool
    traffic: Traffic
    upper_rows: Rows
    lower_rows: Rows
    attributed_rows: Rows
    inferred_rows: Rows
    hidden_rows: Rows
    set_aside_rows: Rows
    ancestor: npt.NDArray[np.int64]

    def __repr__(self) -> str:
        return (
            f"<Flow {self.upper} → {self.lower}, {self.direction}: {self.upper_bytes} → {self.lower_bytes} bytes, "
            f"amplification {_figure(self.amplification)} by descent, "
            f"{_figure(self.attributed_amplification)} by attribution>"
        )

    @property
    def upper_operations(self) -> int:
        """Operations of the upper layer."""
        return len(self.upper_rows)

    @property
    def lower_operations(self) -> int:
        """Operations of the lower layer by descent."""
        return len(self.lower_rows)

    @property
    def upper_bytes(self) -> int | float:
        """Bytes that the upper layer moved."""
        return self._bytes(self.upper_rows)

    @property
    def lower_bytes(self) -> int | float:
        """Bytes that the lower layer moved by descent."""
        return self._bytes(self.lower_rows)

    @property
    def attributed_bytes(self) -> int | float:
        """Bytes of the lower layer inside operations of the upper one."""
        return self._bytes(self.attributed_rows)

    @property
    def inferred_bytes(self) -> int | float:
        """Bytes of the lower layer that were inside operations of the upper one by inference only."""
        return self._bytes(self.inferred_rows)

    @property
    def hidden_bytes(self) -> int | float:
        """Bytes of the lower layer by descent outside any operation of the upper one."""
        return self._bytes(self.hidden_rows)

    @property
    def set_aside_bytes(self) -> int | float:
        """Bytes of the lower layer by descent on files that are not selected."""
        return self._bytes(self.set_aside_rows)

    @property
    def amplification(self) -> float | None:
        """Bytes below by descent per byte above; None where the upper layer moved none."""
        return _ratio(self.lower_bytes, self.upper_bytes)

    @property
    def attributed_amplification(self) -> float | None:
        """Bytes below by attribution per byte above; None where the upper layer moved none."""
        return _ratio(self.attributed_bytes, self.upper_bytes)

    @property
    def operation_amplification(self) -> float | None:
        """Operations below by descent per operation above; None where there are none above."""
        return _ratio(self.lower_operations, self.upper_operations)

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
        return np.unique(self.traffic.calls.units()[self.upper_rows], return_inverse=True)[1].astype(np.int64)

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

    @property
    def upper_summed_s(self) -> float:
        """Sum of the durations of the upper operations in s, as far as the window holds them."""
        begin, end = self._clipped(self.upper_rows)
        return total_length(end - begin) / self.traffic.window.ticks_per_second

    @cached_property
    def contained_s(self) -> float:
        """Part of `upper_summed_s` in which an operation of the lower layer, of whatever mode and file, ran inside."""
        from .overlap_kernel import union_by_group

        rows = self._inside(self.traffic.within)
        rows = rows[np.argsort(self.ancestor[rows], kind="stable")]
        above = self.ancestor[rows]
        begin, end = self._clipped(rows)
        low, high = self._clipped(above)
        begin, end = np.clip(begin, low, high), np.clip(end, low, high)
        covered = union_by_group(_starts(above), begin, end)
        return total_length(covered) / self.traffic.window.ticks_per_second

    @property
    def exclusive_s(self) -> float:
        """Part of `upper_summed_s` in which nothing of the lower layer ran inside."""
        return self.upper_summed_s - self.contained_s

    @property
    def begin_lag(self) -> Distribution:
        """Time in s from the begin of an upper operation to that of the first lower one of this direction inside it."""
        above = self.ancestor[self.beneath]
        first = np.unique(above, return_index=True)[1]
        begin = self.traffic.operations.begin
        lag = begin[self.beneath[first]] - begin[above[first]]
        return distribution(lag / self.traffic.window.ticks_per_second)

    @cached_property
    def concurrency(self) -> Distribution:
        """Most lower operations of this direction under way at once beneath a call, over the calls that have any."""
        from .overlap_kernel import most_at_once

        unit = self._unit_of(self.beneath)
        begin, end = self._clipped(self.beneath)
        by_begin, by_end = np.lexsort((begin, unit)), np.lexsort((end, unit))
        return distribution(most_at_once(_starts(unit[by_begin]), begin[by_begin], end[by_end]))

    @cached_property
    def movers(self) -> Distribution:
        """Ranks that moved bytes in the lower layer beneath a call, over the calls beneath which any did."""
        rows = self.beneath[self.traffic.moved[self.beneath] > 0]
        ranks = distinct_pairs(self._unit_of(rows), self.traffic.operations.process[rows], 0)
        return distribution(ranks[ranks > 0])

    @cached_property
    def upper_shares(self) -> Shares:
        """Who moved the bytes of the upper layer."""
        return shares(self.traffic, self.upper_rows)

    @cached_property
    def lower_shares(self) -> Shares:
        """Who moved the bytes of the lower layer, by descent."""
        return shares(self.traffic, self.lower_rows)

    @cached_property
    def upper_access(self) -> AccessPattern:
        """Access pattern of the upper operations."""
        return self._access(self.upper_rows, self.upper)

    @cached_property
    def lower_access(self) -> AccessPattern:
        """Access pattern of the lower operations by descent."""
        return self._access(self.lower_rows, self.lower)

    @cached_property
    def by_file(self) -> FlowTable:
        """The flow by file of the upper layer; lower operations count for the file of the upper handle above them."""
        traffic = self.traffic
        files = traffic.definitions.files.name
        file = traffic.definitions.handles.file
        upper_handle = traffic.ancestor_handle_in(traffic.layer_row(self.upper))
        upper_file = column_at(file, traffic.operations.handle[self.upper_rows])
        below = np.flatnonzero(self._mask(self.lower_rows) | self._mask(self.inferred_rows))
        above = self.ancestor[below]
        handle = np.where(above >= 0, traffic.operations.handle[above], upper_handle[below])
        lower_file = column_at(file, handle)
        keys = np.unique(np.append(upper_file, lower_file))
        labels = tuple(files[key] if key >= 0 else "" for key in keys.tolist())
        places = (np.searchsorted(keys, upper_file), np.searchsorted(keys, lower_file))
        return self._table("file", labels, places, below)

    @cached_property
    def by_class(self) -> FlowTable:
        """The flow by class of the upper operation: collective, independent, non-blocking, or none above at all."""
        flags = self.traffic.operations.flags
        below = np.flatnonzero(self._mask(self.lower_rows) | self._mask(self.inferred_rows))
        above = self.ancestor[below]
        lower_class = np.where(above >= 0, OperationClass.of(flags[above]), OperationClass.NONE)
        places = (OperationClass.of(flags[self.upper_rows]), lower_class.astype(np.int64))
        return self._table("class", OperationClass.LABELS, places, below)

    def to_dict(self) -> dict[str, Any]:
        """Return the entry of ``pairs`` in ``compare --json``, without what the signals tell (lag, coherence)."""
        return {
            "upper": self.upper,
            "lower": self.lower,
            "adjacent": self.adjacent,
            "direction": self.direction,
            "upper_operations": self.upper_operations,
            "lower_operations": self.lower_operations,
            "upper_bytes": self.upper_bytes,
            "lower_bytes": self.lower_bytes,
            "attributed_operations": len(self.attributed_rows),
            "attributed_bytes": self.attributed_bytes,
            "inferred_operations": len(self.inferred_rows),
            "inferred_bytes": self.inferred_bytes,
            "hidden_operations": len(self.hidden_rows),
            "hidden_bytes": self.hidden_bytes,
            "set_aside_operations": len(self.set_aside_rows),
            "set_aside_bytes": self.set_aside_bytes,
            "amplification": self.amplification,
            "attributed_amplification": self.attributed_amplification,
            "operation_amplification": self.operation_amplification,
            "fan_out": self.fan_out.mean,
            "fan_out_distribution": self.fan_out.to_dict(),
            "calls_without_children": self.childless_calls,
            "bytes_without_children": self.childless_bytes,
            "opposite_operations": len(self.against),
            "opposite_bytes": self.against_bytes,
            "writers_upper": self.upper_shares.movers,
            "writers_lower": self.lower_shares.movers,
            "shares_upper": self.upper_shares.to_dict(),
            "shares_lower": self.lower_shares.to_dict(),
            "movers_beneath_call": self.movers.to_dict(),
            "concurrency_beneath_call": self.concurrency.to_dict(),
            "summed_s": self.upper_summed_s,
            "contained_s": self.contained_s,
            "exclusive_s": self.exclusive_s,
            "begin_lag_s": self.begin_lag.to_dict(),
            "request_flow": self.request_flow.to_dict(),
            "access_upper": self.upper_access.to_dict(),
            "access_lower": self.lower_access.to_dict(),
            "by_class": self.by_class.to_dict(),
            "by_file": self.by_file.to_dict(),
        }

    def _repr_html_(self) -> str:
        from .notebook import html_table

        rows = [
            (self.upper, self.upper_operations, self.upper_bytes, ""),
            (f"{self.lower}, by descent", self.lower_operations, self.lower_bytes, _figure(self.amplification)),
            ("attributed", len(self.attributed_rows), self.attributed_bytes, _figure(self.attributed_amplification)),
            ("hidden", len(self.hidden_rows), self.hidden_bytes, ""),
            ("inferred", len(self.inferred_rows), self.inferred_bytes, ""),
        ]
        header = ("", "operations", "bytes", f"per byte of {self.upper}")
        return html_table(rows, header, f"{self.upper} → {self.lower}, {self.direction}")

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the bytes of both layers as bars, the lower one split into attributed and hidden; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure without it.
        **kwargs
            For ``Axes.barh``.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        inside = self.lower_bytes - self.hidden_bytes
        ax.barh(self.upper, self.upper_bytes, **{"color": "tab:blue", **kwargs})
        ax.barh(self.lower, inside, **{"color": "tab:orange", "label": "inside its operations", **kwargs})
        outside = {"color": "tab:purple", "label": "outside of them (hidden)", **kwargs, "left": inside}
        ax.barh(self.lower, self.hidden_bytes, **outside)
        if not ax.yaxis_inverted():
            ax.invert_yaxis()
        ax.set_xlabel("bytes")
        ax.set_title(f"{self.upper} → {self.lower}, {self.direction}: {_figure(self.amplification)} by descent")
        return ax

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` of the lower operations, by descent or inferred, one row each.

        Indexed by the row of the operation in the trace: ``above``, the row of the upper operation (−1 where there is
        none), ``part`` (attributed, inferred or hidden), ``rank``, ``file``, ``begin_s``, ``end_s``, ``bytes`` and
        ``above_bytes``.
        """
        import pandas

        traffic = self.traffic
        rows = np.flatnonzero(self._mask(self.lower_rows) | self._mask(self.inferred_rows))
        operations, above = traffic.operations.take(rows), self.ancestor[rows]
        part = np.where(self._mask(self.inferred_rows)[rows], "inferred", "attributed")
        part[self._mask(self.hidden_rows)[rows]] = "hidden"
        begin, end = traffic.times(rows)
        second = traffic.window.ticks_per_second
        names = (*traffic.definitions.files.name, "")
        columns = {
            "above": above,
            "part": part,
            "rank": np.append(traffic.definitions.groups.rank, -1)[operations.process],
            "file": [names[row] for row in column_at(traffic.definitions.handles.file, operations.handle).tolist()],
            "begin_s": begin / second,
            "end_s": end / second,
            "bytes": traffic.moved[rows],
            "above_bytes": np.where(above >= 0, traffic.moved[above], np.uint64(0)),
        }
        return pandas.DataFrame(columns, index=pandas.Index(rows, name="operation"))

    def _mask(self, rows: Rows) -> npt.NDArray[np.bool_]:
        """Return which operations of the trace are among `rows`, bool (n,)."""
        mask = np.zeros(len(self.ancestor), np.bool_)
        mask[rows] = True
        return mask

    def _bytes(self, rows: Rows) -> int | float:
        return total(self.traffic.moved[rows])

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

    def _access(self, rows: Rows, layer: str) -> AccessPattern:
        operations = self.traffic.operations.take(rows)
        file = column_at(self.traffic.definitions.handles.file, operations.handle)
        return access_pattern(operations, file, absolute=self.traffic.absolute_offsets(layer))

    def _table(
        self,
        key: str,
        labels: tuple[str, ...],
        places: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]],
        below: Rows,
    ) -> FlowTable:
        rows = {
            "lower": self.lower_rows,
            "attributed": self.attributed_rows,
            "inferred": self.inferred_rows,
            "hidden": self.hidden_rows,
        }
        parts = {name: self._mask(part)[below] for name, part in rows.items()}
        moved = self.traffic.moved
        return flow_table(key, labels, places, moved[self.upper_rows], moved[below], parts)


def flow_between(traffic: Traffic, upper: str, lower: str, direction: str = "total") -> Flow:
    """Return the flow from an upper to a lower layer.

    Parameters
    ----------
    traffic : Traffic
    upper, lower : str
        Names of layers; there is no need for them to be adjacent.
    direction : {"read", "write", "total"}

    Raises
    ------
    SelectionError
        If the trace has no such layer, `upper` does not stand above `lower`, or there is no such direction.
    """
    high, low = traffic.layer_row(upper), traffic.layer_row(lower)
    if high >= low:
        raise SelectionError(f"layer {upper} does not stand above {lower}; the order is {', '.join(traffic.layers)}")
    chosen = traffic.of_direction(direction)
    ancestor, inferred = traffic.ancestor_in(high)
    descends = traffic.ancestor_handle_in(high) >= 0
    below = chosen & (traffic.layer == low)
    shown = below & traffic.selected
    return Flow(
        upper=upper,
        lower=lower,
        direction=direction,
        adjacent=_adjacent(traffic, high, low),
        traffic=traffic,
        upper_rows=np.flatnonzero(chosen & (traffic.layer == high) & traffic.selected),
        lower_rows=np.flatnonzero(shown & descends),
        attributed_rows=np.flatnonzero(shown & (ancestor >= 0) & ~inferred),
        inferred_rows=np.flatnonzero(shown & inferred),
        hidden_rows=np.flatnonzero(shown & descends & (ancestor < 0)),
        set_aside_rows=np.flatnonzero(below & traffic.within & ~traffic.selected & descends),
        ancestor=ancestor,
    )


def connected_flows(traffic: Traffic, directions: tuple[str, ...] = ("read", "write")) -> tuple[Flow, ...]:
    """Return the flows of all pairs of layers that the handles connect, where either layer has such operations."""
    flows = (
        flow_between(traffic, upper, lower, direction)
        for high, upper in enumerate(traffic.layers)
        for low, lower in enumerate(traffic.layers)
        if traffic.connected(high, low)
        for direction in directions
    )
    return tuple(flow for flow in flows if len(flow.upper_rows) or len(flow.lower_rows) or len(flow.set_aside_rows))


def _adjacent(traffic: Traffic, upper: int, lower: int) -> bool:
    """Return whether most handles of the lower layer below the upper one have no layer in between."""
    descends = (traffic.handle_layer == lower) & (
        nearest_marked(traffic.handle_parent, traffic.handle_layer == upper) >= 0
    )
    shown = descends & traffic.selection.selected
    handles = shown if shown.any() else descends
    above = traffic.handle_layer[traffic.handle_higher[handles]]
    return 2 * int((above == upper).sum()) > int(handles.sum())


def _starts(group: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return where each run of equal numbers begins, and the length."""
    if not len(group):
        return np.zeros(1, np.int64)
    return np.append(np.flatnonzero(np.append(True, np.diff(group) != 0)), len(group)).astype(np.int64)


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def _figure(ratio: float | None) -> str:
    return "undefined" if ratio is None else f"{ratio:.4g}"
