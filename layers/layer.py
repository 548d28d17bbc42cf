"""One layer of a trace: the operations of one paradigm, with their signals and statistics."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from ..model.arrays import Ticks
from ..model.codes import UNDEFINED_TIME
from ..model.definitions import Definitions, Paradigm
from ..model.errors import SelectionError
from ..model.operations import Operations, view
from ..signals.construction import StepSignal, level_signal, step_signal_from_ticks
from .handles.metadata import MetadataEvents
from .handles.stack import Lineages
from .mappings import statistics_table
from .parts import LayerParts, layer_parts
from .protocols import AnyLayer
from .selection.directions import check_quantity, check_traffic, is_of_direction
from .selection.window import TickWindow, completed_bytes
from .summary.accumulator import OperationSums


@dataclass(frozen=True, eq=False)
class Layer(AnyLayer):
    """Operations of one layer, or of a part of it, on the selected files within the trace's window.

    Attributes
    ----------
    name : str
        Identification of the paradigm: ``MPI-IO``, ``POSIX``.
    paradigm : Paradigm
    definitions : Definitions
        Of the trace.
    trace_operations : Operations
        All operations of the trace.
    rows : intp (n,)
        Which of them are the layer's.
    order : tuple of str
        Names of all layers, highest first.
    lineages : Lineages
        Of the trace's handles.
    trace_metadata : MetadataEvents
        All metadata events of the trace.
    metadata_rows : intp (m,)
        Which of them are the layer's.
    tick_window : TickWindow
    trace_sums : OperationSums
        Over all operations of the trace.
    part : str
        Which part of the layer it is, such as ``rank 3``; empty for the whole layer.
    """

    name: str
    paradigm: Paradigm
    definitions: Definitions
    trace_operations: Operations
    rows: npt.NDArray[np.intp]
    order: tuple[str, ...]
    lineages: Lineages
    trace_metadata: MetadataEvents
    metadata_rows: npt.NDArray[np.intp]
    tick_window: TickWindow
    trace_sums: OperationSums
    part: str = ""

    def __repr__(self) -> str:
        moved = [f"{way} {self.sums.bytes(self._categories(way, 'all'))} bytes" for way in self.directions]
        parts = [f"{len(self.rows)} operations", *moved]
        return f"<Layer {self._title}: {', '.join(parts)}>"

    def _repr_html_(self) -> str:
        return statistics_table([self])

    @cached_property
    def sums(self) -> OperationSums:  # type: ignore[override]
        """Sums over the operations of the trace, or of the part of the layer."""
        return self.trace_sums.over(self.operations) if self.part else self.trace_sums

    @cached_property
    def operations(self) -> Operations:
        """The layer's operations, flushes among them."""
        return self.trace_operations if self._all_rows else view(self.trace_operations, self.rows)

    @cached_property
    def own(self) -> npt.NDArray[np.bool_]:
        """Whether each operation is the program's own, bool (n,): no ancestor of its handle is of a higher layer."""
        return self._of_lineages(self.lineages_of("own"))

    @cached_property
    def metadata_events(self) -> MetadataEvents:
        """The layer's metadata events."""
        return self.trace_metadata.take(self.metadata_rows)

    def bandwidth(self, direction: str, traffic: str = "all", below: str | None = None) -> StepSignal:
        """Return the aggregate bandwidth in bytes per second.

        Each completed operation spreads its bytes evenly over the time from its begin to its end. Operations whose
        bytes are zero or unknown contribute nothing.

        Parameters
        ----------
        direction : {"read", "write", "total"}
        traffic : {"all", "own", "inherited"}
            Own traffic goes through handles without an ancestor of a higher layer.
        below : str, optional
            Only what went through handles that descend from one of this higher layer.

        Raises
        ------
        SelectionError
            If there is no such direction, traffic or layer.
        """
        mask = self._mask(direction, traffic)
        if below is not None:
            mask = mask & self._of_lineages(self.lineages_of("all", below))
        operations = view(self.operations, mask)
        # The signal itself cuts what the window cuts, so it is given the whole bytes.
        moved = completed_bytes(operations)
        moving = moved > 0
        kept = view(operations, moving)
        return self._rate(kept.begin, self.tick_window.ends(kept), moved[moving], self._named(direction, traffic))

    def operation_rate(self, direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return operations per second; each that ended counts one, spread evenly from its begin to its end."""
        operations = self._chosen(direction, traffic)
        ended = view(operations, operations.end != UNDEFINED_TIME)
        name = f"{self._named(direction, traffic)} operations"
        return self._rate(ended.begin, self.tick_window.ends(ended), np.ones(len(ended)), name, "s-1")

    def metadata_rate(self) -> StepSignal:
        """Return metadata events per second: handles made and destroyed, seeks, status changes, deletions, locks."""
        times = self.metadata_events.time
        return self._rate(times, times, np.ones(len(times)), f"{self._title} metadata events", "s-1")

    def in_flight(self, direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return the number of operations under way; one that never completed is so to the window's end."""
        operations = self._chosen(direction, traffic)
        begin, end = self.tick_window.clipped(operations)
        resolution = self.tick_window.ticks_per_second
        name = f"{self._named(direction, traffic)} operations in flight"
        return level_signal(begin / resolution, end / resolution, window=self.window, name=name)

    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return the signal of a quantity by its name.

        Parameters
        ----------
        quantity : {"bandwidth", "operations", "metadata", "in-flight"}
            `bandwidth`, `operation_rate`, `metadata_rate` or `in_flight`.
        direction, traffic : str
            As in `bandwidth`; metadata events have neither, so they take ``total`` and ``all`` only.

        Raises
        ------
        SelectionError
            If there is no such quantity, direction or traffic, or metadata events are asked for by one of them.
        """
        self._check_quantity(quantity, direction, traffic)
        if quantity == "metadata":
            return self.metadata_rate()
        if quantity == "bandwidth":
            return self.bandwidth(direction, traffic)
        return (
            self.operation_rate(direction, traffic) if quantity == "operations" else self.in_flight(direction, traffic)
        )

    def contributions(
        self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all"
    ) -> tuple[npt.NDArray[np.intp], npt.NDArray[Any]]:
        """Return what each operation, or metadata event, adds to the volume of `signal`.

        Parameters
        ----------
        quantity, direction, traffic : str
            As in `signal`.

        Returns
        -------
        rows : intp (k,)
            Places in `rows`, or for ``metadata`` in `metadata_rows`.
        amounts : uint64 or float64 (k,)
            Bytes, operations, events, or seconds under way.

        Raises
        ------
        SelectionError
            As `signal`.
        """
        self._check_quantity(quantity, direction, traffic)
        if quantity == "metadata":
            return np.arange(len(self.metadata_rows)), np.ones(len(self.metadata_rows))
        mask = self._mask(direction, traffic)
        if quantity == "operations":
            mask = mask & (self.operations.end != UNDEFINED_TIME)
        operations = view(self.operations, mask)
        if quantity == "bandwidth":
            return np.flatnonzero(mask), self.tick_window.bytes_within(operations)
        begin, end = self.tick_window.clipped(operations)
        if quantity == "in-flight":
            return np.flatnonzero(mask), (end - begin) / self.tick_window.ticks_per_second
        length = self.tick_window.ends(operations) - operations.begin
        return np.flatnonzero(mask), np.where(length > 0, (end - begin) / np.maximum(length, 1), 1.0)

    def rows_of(self, direction: str, traffic: str = "all") -> npt.NDArray[np.intp]:
        """Return which operations of the trace are the layer's in a direction, intp, ascending.

        Raises
        ------
        SelectionError
            If there is no such direction or traffic.
        """
        return self.rows[self._mask(direction, traffic)]

    def by(self, key: str) -> "LayerParts[Layer]":
        """Return the parts of the layer by file, file system, rank, node or handle.

        Parameters
        ----------
        key : {"file", "filesystem", "rank", "node", "handle"}

        Returns
        -------
        LayerParts
            A mapping from file name, file system, rank, node or handle id to a `Layer` of its operations only; None
            stands for those that have none.

        Raises
        ------
        SelectionError
            If there is no such key.

        Examples
        --------
        >>> trace = open_trace("fixtures/ckpt4")  # doctest: +SKIP
        >>> trace.layers["POSIX"].by("rank")[0].bandwidth("write")  # doctest: +SKIP
        StepSignal('POSIX rank 0 write', …)
        """
        return layer_parts(self, key)

    def narrowed(self, operations: npt.NDArray[np.intp], metadata_events: npt.NDArray[np.intp], part: str) -> "Layer":
        """Return the part of the layer that has some of its operations and metadata events only.

        Parameters
        ----------
        operations, metadata_events : intp (k,), intp (l,)
            Places in `operations` and in `metadata_events`.
        part : str
            What the part is called.
        """
        return replace(self, rows=self.rows[operations], metadata_rows=self.metadata_rows[metadata_events], part=part)

    def _of_lineages(self, chosen: list[int]) -> npt.NDArray[np.bool_]:
        """Return which operations are of some lineages, bool (n,)."""
        return np.isin(self.lineages.of_handle, chosen)[self.operations.handle]

    @property
    def _all_rows(self) -> bool:
        return len(self.rows) == len(self.trace_operations)

    @property
    def _title(self) -> str:
        return f"{self.name} {self.part}" if self.part else self.name

    def _rate(
        self, begin: Ticks, end: Ticks, volume: npt.NDArray[Any], name: str, unit: str = "byte s-1"
    ) -> StepSignal:
        """Return the signal of volumes that are each spread over [begin, end]."""
        second = self.tick_window.ticks_per_second
        return step_signal_from_ticks(begin, end, volume, second, window=self.window, unit=unit, name=name)

    def _named(self, direction: str, traffic: str) -> str:
        """Return the name of a signal: layer, direction, and the traffic unless it is all."""
        return f"{self._title} {direction}" if traffic == "all" else f"{self._title} {direction} ({traffic})"

    def _chosen(self, direction: str, traffic: str) -> Operations:
        """Return the operations of a direction and traffic."""
        return view(self.operations, self._mask(direction, traffic))

    def _check_quantity(self, quantity: str, direction: str, traffic: str) -> None:
        check_quantity(quantity)
        if quantity == "metadata" and (direction, traffic) != ("total", "all"):
            raise SelectionError("metadata events have neither direction nor traffic: leave them out")

    def _mask(self, direction: str, traffic: str) -> npt.NDArray[np.bool_]:
        """Return which operations are of a direction and traffic, bool (n,)."""
        mask = is_of_direction(self.operations.mode, direction)
        check_traffic(traffic)
        return mask if traffic == "all" else mask & (self.own == (traffic == "own"))
