"""What became of the operations of one layer in a layer below it."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ...model.arrays import Rows
from ...model.display import axes_for, html_table
from ...model.errors import SelectionError
from ...model.rows import column_at
from ..attribution.traffic import Traffic
from ..selection.directions import DIRECTIONS
from .amounts import ratio_text
from .calls import FlowCalls
from .tables import FlowTable, OperationClass, flow_table


@dataclass(frozen=True, eq=False, repr=False)
class Flow(FlowCalls):
    """Operations of an upper and a lower layer in one direction: see `FlowAmounts` for what its rows are."""

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

    def to_dict(self, tables: bool = True) -> dict[str, Any]:
        """Return the entry of ``pairs`` in ``compare --json``, without what the signals tell (lag, coherence).

        Parameters
        ----------
        tables : bool
            Whether to tell of request sizes, access patterns, ranks, files and classes of operations as well.
        """
        numbers: dict[str, Any] = {
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
            "writers_upper": self.upper_ranks.movers,
            "writers_lower": self.lower_ranks.movers,
            "movers_beneath_call": self.movers.to_dict(),
            "concurrency_beneath_call": self.concurrency.to_dict(),
            "summed_s": self.upper_summed_s,
            "contained_s": self.contained_s,
            "exclusive_s": self.exclusive_s,
            "begin_lag_s": self.begin_lag.to_dict(),
        }
        if not tables:
            return numbers
        return {
            **numbers,
            "shares_upper": self.upper_ranks.to_dict(),
            "shares_lower": self.lower_ranks.to_dict(),
            "request_flow": self.request_flow.to_dict(),
            "access_upper": self.upper_access.to_dict(),
            "access_lower": self.lower_access.to_dict(),
            "by_class": self.by_class.to_dict(),
            "by_file": self.by_file.to_dict(),
        }

    def _repr_html_(self) -> str:

        rows = [
            (self.upper, self.upper_operations, self.upper_bytes, ""),
            (f"{self.lower}, by descent", self.lower_operations, self.lower_bytes, ratio_text(self.amplification)),
            ("attributed", len(self.attributed_rows), self.attributed_bytes, ratio_text(self.attributed_amplification)),
            ("hidden", len(self.hidden_rows), self.hidden_bytes, ""),
            ("inferred", len(self.inferred_rows), self.inferred_bytes, ""),
        ]
        header = ("", "operations", "bytes", f"per byte of {self.upper}")
        return html_table(rows, header, f"{self.upper} → {self.lower}, {self.direction}")

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the bytes of both layers as bars, the lower one split into attributed and hidden; needs matplotlib.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.barh``.
        """
        ax = axes_for(ax, "bytes")
        inside = self.lower_bytes - self.hidden_bytes
        ax.barh(self.upper, self.upper_bytes, **{"color": "tab:blue", "label": f"asked of {self.upper}", **kwargs})
        ax.barh(self.lower, inside, **{"color": "tab:orange", "label": f"inside {self.upper} operations", **kwargs})
        outside = {"color": "tab:purple", "label": "outside of them (hidden)", **kwargs, "left": inside}
        ax.barh(self.lower, self.hidden_bytes, **outside)
        if not ax.yaxis_inverted():
            ax.invert_yaxis()
        # Room for the legend above the bars: any of them may extend to the right end.
        ax.set_ylim(top=-0.9)
        ax.legend(fontsize="small", loc="upper left", ncols=3)
        ax.set_title(f"{self.upper} → {self.lower}, {self.direction}: {ratio_text(self.amplification)} by descent")
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

    Raises SelectionError if the trace has no such layer, `upper` does not stand above `lower`, or there is no such
    direction.

    Parameters
    ----------
    upper, lower : str
        Names of layers; there is no need for them to be adjacent.
    direction : {"read", "write", "total"}
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


def connected_flows(traffic: Traffic, directions: tuple[str, ...] = DIRECTIONS) -> tuple[Flow, ...]:
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
    descends = traffic.descends(upper, lower)
    shown = descends & traffic.selection.selected
    handles = shown if shown.any() else descends
    above = traffic.stack.layer[traffic.stack.higher[handles]]
    return 2 * int((above == upper).sum()) > int(handles.sum())
