"""What became of the operations of one layer in a layer below it."""

from functools import cached_property
from typing import Annotated, Any, ClassVar, Final

import numpy as np

from ...layers.selection.directions import Direction
from ...model.arrays import Mask, column_at
from ...model.display import axes_for, html_table
from ...model.document import Document, Record, keys_of, plain
from ...model.errors import SelectionError, import_library
from ..attribution.attribution import TraceBlock
from ..statistics.distribution import Distribution
from .access_pattern import Access, AccessPattern
from .calls import FlowCollectives, FlowSums
from .cells import Cells
from .tables import FlowTable, MovingRanks, OperationClass, RequestFlow, flow_table, moving_ranks

_PARTS: Final = ("upper", "lower", "attributed", "inferred", "hidden")
_TABLES: Final = {
    "shares_upper": "upper_ranks",
    "shares_lower": "lower_ranks",
    "request_flow": "request_flow",
    "access_upper": "upper_access",
    "access_lower": "lower_access",
    "by_class": "by_class",
    "by_file": "by_file",
}
"""Larger entries of a document, and the attributes that they are."""


_LARGER: Final = {
    **keys_of(MovingRanks, "shares_upper shares_lower"),
    "request_flow": RequestFlow,
    **keys_of(AccessPattern, "access_upper access_lower"),
    **keys_of(FlowTable, "by_class by_file"),
}


def _amounts(part: str, what: str) -> tuple[Any, Any]:
    """Return the properties of a flow that tell how many operations a part of it has, and the bytes they moved."""

    def operations(flow: "Flow") -> int:
        return flow.cells.operations(flow.parts[part])

    def moved(flow: "Flow") -> int | float:
        return flow.cells.bytes(flow.parts[part])

    return property(operations, doc=f"Operations of {what}."), property(moved, doc=f"Bytes of {what}.")


class Flow(Record, eq=False, repr=False):
    """Operations of an upper and a lower layer in one direction, on the selected files within the window.

    "By descent" are the lower operations through handles that descend from a handle of the upper layer. Those of them
    that ran inside an operation of the upper layer are *attributed* to it, the rest is *hidden*: the upper layer caused
    it outside of its own operations. *Inferred* operations ran inside an operation of the upper layer although that
    does not follow from handle and thread; most of them are not by descent. Bytes are those moved, int, or float where
    the window cuts an operation. A collective call of all its ranks counts as one call.

    Attributes
    ----------
    upper, lower : str
        Names of the layers.
    direction : str
        ``read``, ``write`` or ``total``.
    adjacent : bool
        Whether most lower handles that descend from the upper layer do so without a layer in between.
    cells : Cells
        Operations of the trace by their kind.
    sums : FlowSums
        What was added up operation by operation.
    upper_access, lower_access : AccessPattern
        Of the upper operations, and of the lower ones by descent.
    traffic : TraceBlock or None
        The operations themselves; None where the trace was read in bounded memory, which does not keep them.
    """

    ENTRIES: ClassVar = (
        "upper", "lower", "adjacent", "direction", "upper_operations", "lower_operations", "upper_bytes", "lower_bytes",
        "attributed_operations", "attributed_bytes", "inferred_operations", "inferred_bytes", "hidden_operations",
        "hidden_bytes", "set_aside_operations", "set_aside_bytes", "amplification", "attributed_amplification",
        "operation_amplification", "fan_out", "call_operations", "childless_calls", "childless_bytes",
        "against_operations", "against_bytes", "upper_movers", "lower_movers", "movers", "concurrency",
        "upper_summed_s", "contained_s", "exclusive_s", "begin_lag",
    )  # fmt: skip
    KEYS: ClassVar = {
        "call_operations": "operations_beneath_call",
        "childless_calls": "calls_without_children",
        "childless_bytes": "bytes_without_children",
        "against_operations": "opposite_operations",
        "against_bytes": "opposite_bytes",
        "upper_movers": "writers_upper",
        "lower_movers": "writers_lower",
        "movers": "movers_beneath_call",
        "concurrency": "concurrency_beneath_call",
        "upper_summed_s": "summed_s",
        "begin_lag": "begin_lag_s",
    }

    upper: str
    lower: str
    direction: Direction
    adjacent: bool
    cells: Cells
    sums: FlowSums
    upper_access: AccessPattern
    lower_access: AccessPattern
    traffic: TraceBlock | None

    def __repr__(self) -> str:
        return (
            f"<Flow {self.upper} → {self.lower}, {self.direction}: {self.upper_bytes} → {self.lower_bytes} bytes, "
            f"amplification {ratio_text(self.amplification)} by descent, "
            f"{ratio_text(self.attributed_amplification)} by attribution>"
        )

    @property
    def access_below(self) -> Access | None:
        """How the lower operations go through files; None where their offsets do not count from the start of these."""
        found = self.lower_access
        consecutive = found.first + found.sequential
        operations = consecutive + found.strided + found.random
        if found.repeated_bytes is None or not operations:
            return None
        kinds = consecutive, found.strided, found.random
        return Access(self.lower, self.direction, self.upper, operations, *kinds, None)

    @cached_property
    def parts(self) -> dict[str, Mask]:
        """Which of `cells` are ``upper``, ``lower`` by descent, ``attributed``, ``inferred``, ``hidden``, ``against``.

        ``against`` are lower operations of the other direction, such as reads beneath a write, inside the upper
        operations; ``set_aside`` are by descent and on files that are not selected.
        """
        cells, high, low = self.cells, self.cells.layer_row(self.upper), self.cells.layer_row(self.lower)
        chosen = cells.of_direction(self.direction)
        ancestor, inferred = cells.ancestor_in(high)
        descends = cells.ancestor_handle_in(high) >= 0
        below = chosen & (cells.layer == low)
        shown = below & cells.selected
        upper = chosen & (cells.layer == high) & cells.selected
        opposite = {"read": "write", "write": "read"}.get(self.direction)
        against = np.zeros(len(upper), np.bool_)
        if opposite and len(upper):
            other = cells.of_direction(opposite) & cells.selected & (cells.layer == low)
            against = other & (ancestor >= 0) & upper[ancestor]
        return {
            "upper": upper,
            "lower": shown & descends,
            "attributed": shown & (ancestor >= 0) & ~inferred,
            "inferred": shown & inferred,
            "hidden": shown & descends & (ancestor < 0),
            "set_aside": below & cells.within & ~cells.selected & descends,
            "against": against,
        }

    @property
    def there(self) -> bool:
        """Whether either layer has such operations."""
        return any(self.parts[name].any() for name in ("upper", "lower", "set_aside"))

    upper_operations, upper_bytes = _amounts("upper", "the upper layer")
    lower_operations, lower_bytes = _amounts("lower", "the lower layer by descent")
    attributed_operations, attributed_bytes = _amounts(
        "attributed", "the lower layer inside operations of the upper one"
    )
    inferred_operations, inferred_bytes = _amounts(
        "inferred", "the lower layer that were inside operations of the upper one by inference only"
    )
    hidden_operations, hidden_bytes = _amounts(
        "hidden", "the lower layer by descent outside any operation of the upper one"
    )
    set_aside_operations, set_aside_bytes = _amounts(
        "set_aside", "the lower layer by descent on files that are not selected"
    )
    against_operations, against_bytes = _amounts(
        "against", "the lower layer in the other direction inside the upper ones: read for a write"
    )

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
    def upper_ranks(self) -> MovingRanks:
        """Who moved the bytes of the upper layer."""
        return moving_ranks(self.cells, self.parts["upper"])

    @cached_property
    def lower_ranks(self) -> MovingRanks:
        """Who moved the bytes of the lower layer, by descent."""
        return moving_ranks(self.cells, self.parts["lower"])

    @property
    def upper_movers(self) -> int:
        """Ranks that moved bytes of the upper layer."""
        return self.upper_ranks.movers

    @property
    def lower_movers(self) -> int:
        """Ranks that moved bytes of the lower layer, by descent."""
        return self.lower_ranks.movers

    @cached_property
    def _distributions(self) -> tuple[Distribution, Distribution, Distribution]:
        return self.sums.distributions()

    @property
    def fan_out(self) -> float | None:
        """Lower operations inside each operation of the upper layer on average; None where there are none above.

        What ran inside the upper layer's flushes counts too, as in `attributed_amplification`.
        """
        return _ratio(self.attributed_operations, self.upper_operations)

    @property
    def call_operations(self) -> Distribution:
        """Lower operations of this direction beneath each call of the upper layer; a call of all ranks is one call."""
        return self._distributions[0]

    @property
    def movers(self) -> Distribution:
        """Ranks that moved bytes in the lower layer beneath a call, over the calls beneath which any did."""
        return self._distributions[1]

    @property
    def concurrency(self) -> Distribution:
        """Most lower operations of this direction under way at once beneath a call, over the calls that have any."""
        return self._distributions[2]

    @property
    def childless_calls(self) -> int:
        """Calls of the upper layer with nothing of this direction beneath them."""
        return self.sums.childless_calls()[0]

    @property
    def childless_bytes(self) -> int | float:
        """Bytes of the calls of the upper layer with nothing of this direction beneath them."""
        return self.cells.amount(*self.sums.childless_calls()[1:])

    @cached_property
    def request_flow(self) -> RequestFlow:
        """From sizes of calls above to sizes of operations below."""
        return self.sums.request_flow(self.cells.sums.cut)

    @cached_property
    def collectives(self) -> FlowCollectives:
        """The collective calls of several ranks beneath which bytes moved."""
        return self.sums.collectives(self.cells.sums.cut)

    @property
    def upper_summed_s(self) -> float:
        """Sum of the durations of the upper operations in s, as far as the window holds them."""
        return self.cells.seconds(self.parts["upper"])

    @property
    def contained_s(self) -> float:
        """Part of `upper_summed_s` in which an operation of the lower layer, of whatever mode and file, ran inside."""
        return self.sums.contained / self.cells.window.ticks_per_second

    @property
    def exclusive_s(self) -> float:
        """Part of `upper_summed_s` in which nothing of the lower layer ran inside."""
        return self.upper_summed_s - self.contained_s

    @property
    def begin_lag(self) -> Distribution:
        """Time in s from the begin of an upper operation to that of the first lower one of this direction inside it."""
        return self.sums.lag.distribution(self.cells.window.ticks_per_second)

    @cached_property
    def by_file(self) -> FlowTable:
        """The flow by file of the upper layer; lower operations count for the file of the upper handle above them."""
        cells, high = self.cells, self.cells.layer_row(self.upper)
        above = cells.ancestor_in(high)[0]
        handle = np.where(above >= 0, cells.handle[above], cells.ancestor_handle_in(high))
        lower_file = column_at(cells.definitions.handles.file, handle)
        counted = self.parts["upper"] | self.parts["lower"] | self.parts["inferred"]
        file = np.where(cells.layer == high, cells.file, lower_file)
        keys = np.unique(file[counted])
        names = cells.definitions.files.name
        labels = tuple(names[key] if key >= 0 else "" for key in keys.tolist())
        return flow_table(self.cells, self._shown_parts, "file", labels, np.searchsorted(keys, file))

    @cached_property
    def by_class(self) -> FlowTable:
        """The flow by class of the upper operation: collective, independent, non-blocking, or none above at all."""
        cells, high = self.cells, self.cells.layer_row(self.upper)
        above = cells.ancestor_in(high)[0]
        known = np.where(above >= 0, OperationClass.of(cells.flags[above]), OperationClass.NONE)
        classes = np.where(cells.layer == high, OperationClass.of(cells.flags), known)
        return flow_table(self.cells, self._shown_parts, "class", OperationClass.LABELS, classes.astype(np.int64))

    def to_dict(self, tables: bool = True) -> Annotated[Document, _LARGER]:
        """Return the entry of ``pairs`` in ``compare --json``, without what the signals tell (lag, coherence).

        Parameters
        ----------
        tables : bool
            Whether to tell of request sizes, access patterns, ranks, files and classes of operations as well.
        """
        larger = {name: plain(getattr(self, known)) for name, known in _TABLES.items()} if tables else {}
        return {**super().to_dict(), **larger}

    def _repr_html_(self) -> str:
        rows = [
            (self.upper, self.upper_operations, self.upper_bytes, ""),
            (f"{self.lower}, by descent", self.lower_operations, self.lower_bytes, ratio_text(self.amplification)),
        ]
        ratios = {"attributed": ratio_text(self.attributed_amplification), "hidden": "", "inferred": ""}
        for name, part in ((name, self.parts[name]) for name in ratios):
            rows.append((name, self.cells.operations(part), self.cells.bytes(part), ratios[name]))
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

        Raises
        ------
        SelectionError
            If the trace was read in bounded memory, which keeps no operations.
        """
        pandas = import_library("pandas")
        traffic = self.traffic
        if traffic is None:
            raise SelectionError("a row for each operation: the trace was read in bounded memory, which keeps none")
        high, low = traffic.layer_row(self.upper), traffic.layer_row(self.lower)
        ancestor, inferred = traffic.ancestor_in(high)
        shown = traffic.of_direction(self.direction) & (traffic.layer == low) & traffic.selected
        rows = np.flatnonzero(shown & ((traffic.ancestor_handle_in(high) >= 0) | inferred))
        operations, above = traffic.operations.take(rows), ancestor[rows]
        part = np.where(inferred[rows], "inferred", np.where(above < 0, "hidden", "attributed"))
        begin, end = traffic.times(rows)
        second = traffic.window.ticks_per_second
        names = (*traffic.definitions.files.name, "")
        columns = {
            "above": above,
            "part": part,
            "rank": np.append(traffic.definitions.groups.rank, -1)[operations.process],
            "file": [names[row] for row in traffic.file[rows].tolist()],
            "begin_s": begin / second,
            "end_s": end / second,
            "bytes": traffic.moved[rows],
            "above_bytes": np.where(above >= 0, traffic.moved[above], np.uint64(0)),
        }
        return pandas.DataFrame(columns, index=pandas.Index(rows, name="operation"))

    @property
    def _shown_parts(self) -> dict[str, Mask]:
        return {name: self.parts[name] for name in _PARTS}


def are_adjacent(cells: Cells | TraceBlock, upper: int, lower: int) -> bool:
    """Return whether most handles of the lower layer below the upper one have no layer in between."""
    descends = cells.descends(upper, lower)
    shown = descends & cells.selection.selected
    handles = shown if shown.any() else descends
    above = cells.stack.layer[cells.stack.higher[handles]]
    return 2 * int((above == upper).sum()) > int(handles.sum())


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None


def ratio_text(ratio: float | None) -> str:
    """Return a ratio with four digits, or that it is undefined."""
    return "undefined" if ratio is None else f"{ratio:.4g}"
