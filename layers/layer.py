"""The layers of a trace by name: the operations of one paradigm each, with their signals and statistics."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..layers.selection.directions import Direction, Quantity, Traffic
from ..model.arrays import Array, Frozen, Mask, Rows, Ticks, column_at
from ..model.codes import UNDEFINED_TIME, IoMode
from ..model.errors import SelectionError, UnknownKeyError, import_library
from ..model.operations import Operations, view
from ..signals.construction import StepSignal, level_signal, step_signal_from_ticks
from .handles.metadata import MetadataEvents, selected_metadata
from .handles.scope import Scope, ScopedBlock
from .selection.directions import DIRECTIONS, check_quantity, check_traffic, is_of_direction, modes_of
from .selection.window import completed_bytes, sums_by
from .statistics.distribution import ValueCounts
from .statistics.grouping import Key, grouping, part_title
from .summary.accumulator import OperationSums, categories_of
from .summary.counted import counted_layer
from .summary.statistics import ChosenSums, LayerStatistics, layer_statistics, statistics_table
from .summary.tables import OPERATIONS


class LayerRows(NamedTuple):
    """Which operations and metadata events of a trace are a layer's."""

    operations: Operations
    """Of the trace."""
    rows: Rows
    """intp (n,)"""
    metadata: MetadataEvents
    """Of the trace."""
    metadata_rows: Rows
    """intp (m,)"""


class Layer(Frozen):
    """One layer, or a part of it, on the selected files within the trace's window.

    Attributes
    ----------
    name : str
        Identification of the paradigm: ``MPI-IO``, ``POSIX``.
    trace_sums : OperationSums
        Over all operations of the trace.
    kept : LayerRows or None
        Its operations; None where they are not kept, and bandwidths are in the bins of `trace_sums`.
    part : str
        Which part of the layer it is, such as ``rank 3``; empty for the whole layer.
    """

    name: str
    trace_sums: OperationSums
    kept: LayerRows | None = None
    part: str = ""

    def __repr__(self) -> str:
        moved = [f"{way} {ChosenSums(self.sums, self.categories(way, 'all')).bytes} bytes" for way in self.directions]
        count = [] if self.kept is None else [f"{len(self.rows)} operations"]
        return f"<Layer {self._title}: {', '.join(count + moved) or 'no transfers'}>"

    def _repr_html_(self) -> str:
        return statistics_table(self.statistics(direction) for direction in self.directions)

    @property
    def scope(self) -> Scope:
        """Which files, which part of the time and which layers count."""
        return self.trace_sums.scope

    @cached_property
    def sums(self) -> OperationSums:
        """Sums over the operations of the trace, or of the part of the layer."""
        if not self.part:
            return self.trace_sums
        sums = self.trace_sums.empty()
        sums.add_operations(self.operations)
        return sums

    @property
    def rows(self) -> Rows:
        """Which operations of the trace are the layer's, intp (n,)."""
        return self._rows("its operations").rows

    @cached_property
    def operations(self) -> Operations:
        """The layer's operations, flushes among them."""
        kept = self._rows("its operations")
        return kept.operations if len(kept.rows) == len(kept.operations) else view(kept.operations, kept.rows)

    @cached_property
    def metadata_events(self) -> MetadataEvents:
        """The layer's metadata events."""
        kept = self._rows("its metadata events")
        return kept.metadata.take(kept.metadata_rows)

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the signals in s from the trace's start."""
        return self.scope.window.seconds

    @cached_property
    def directions(self) -> tuple[Direction, ...]:
        """Those of ``read`` and ``write`` that have operations."""
        return tuple(way for way in DIRECTIONS if ChosenSums(self.sums, self.categories(way, "all")).count(OPERATIONS))

    @property
    def flushes(self) -> int:
        """Number of flushes; they move no bytes and have no direction."""
        return self._flush_sums.count(OPERATIONS)

    @property
    def flush_busy_s(self) -> float:
        """Time in s in which at least one flush that ended was under way."""
        return self._flush_sums.seconds(self._flush_sums.busy.length)

    def flushing_s(self, start: float, end: float) -> float:
        """Return the time in s between two times, in s, in which at least one flush that ended was under way."""
        second = self.scope.window.ticks_per_second
        return self._flush_sums.busy.within(round(start * second), round(end * second)) / second

    @cached_property
    def _flush_sums(self) -> ChosenSums:
        return ChosenSums(self.sums, categories_of(self.lineages_of(), [IoMode.FLUSH]))

    def lineages_of(self, traffic: Traffic = "all", below: str | None = None) -> list[int]:
        """Return the lineages of the layer, of own or inherited traffic only, or of handles below another layer only.

        Raises SelectionError if there is no such traffic, or no layer `below`.
        """
        check_traffic(traffic)
        if below is not None and below not in self.scope.order:
            raise SelectionError(f"no layer {below!r} in this trace; there are {', '.join(self.scope.order)}")
        row = self.scope.order.index(self.name)
        return self.scope.lineages.chosen(row, traffic, None if below is None else self.scope.order.index(below))

    def bandwidth(self, direction: Direction, traffic: Traffic = "all", below: str | None = None) -> StepSignal:
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
        grid = self.trace_sums.grid
        if grid is not None:
            categories = categories_of(self.lineages_of(traffic, below), modes_of(direction))
            return grid.signal(np.array(categories, np.int64), self.scope.window, self.named(direction, traffic))
        operations = view(self.operations, self._mask(direction, traffic, below))
        # The signal itself cuts what the window cuts, so it is given the whole bytes.
        moved = completed_bytes(operations)
        moving = moved > 0
        kept = view(operations, moving)
        moved = moved if kept is operations else moved[moving]
        return self._rate(kept.begin, self.scope.window.ends(kept), moved, self.named(direction, traffic))

    def operation_rate(self, direction: Direction = "total", traffic: Traffic = "all") -> StepSignal:
        """Return operations per second; each that ended counts one, spread evenly from its begin to its end."""
        operations = self._chosen(direction, traffic)
        ended = view(operations, operations.end != UNDEFINED_TIME)
        name = f"{self.named(direction, traffic)} operations"
        return self._rate(ended.begin, self.scope.window.ends(ended), np.ones(len(ended)), name, "s-1")

    def metadata_rate(self) -> StepSignal:
        """Return metadata events per second: handles made and destroyed, seeks, status changes, deletions, locks."""
        times = self.metadata_events.time
        return self._rate(times, times, np.ones(len(times)), f"{self._title} metadata events", "s-1")

    def in_flight(self, direction: Direction = "total", traffic: Traffic = "all") -> StepSignal:
        """Return the number of operations under way; one that never completed is so to the window's end."""
        operations = self._chosen(direction, traffic)
        begin, end = self.scope.window.clipped(operations)
        resolution = self.scope.window.ticks_per_second
        name = f"{self.named(direction, traffic)} operations in flight"
        return level_signal(begin / resolution, end / resolution, window=self.window, name=name)

    def signal(
        self, quantity: Quantity = "bandwidth", direction: Direction = "total", traffic: Traffic = "all"
    ) -> StepSignal:
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
        self.check_quantity(quantity, direction, traffic)
        if quantity == "metadata":
            return self.metadata_rate()
        if quantity == "bandwidth":
            return self.bandwidth(direction, traffic)
        made = self.operation_rate if quantity == "operations" else self.in_flight
        return made(direction, traffic)

    def contributions(
        self, quantity: Quantity = "bandwidth", direction: Direction = "total", traffic: Traffic = "all"
    ) -> tuple[Rows, Array]:
        """Return what each operation, or metadata event, adds to the volume of `signal`.

        Parameters
        ----------
        quantity, direction, traffic : str
            As in `signal`.

        Returns
        -------
        rows : intp (k,)
            Places in `operations`, or for ``metadata`` in `metadata_events`.
        amounts : uint64 or float64 (k,)
            Bytes, operations, events, or seconds under way.

        Raises
        ------
        SelectionError
            As `signal`.
        """
        self.check_quantity(quantity, direction, traffic)
        if quantity == "metadata":
            return np.arange(len(self.metadata_events)), np.ones(len(self.metadata_events))
        mask = self._mask(direction, traffic)
        if quantity == "operations":
            mask = mask & (self.operations.end != UNDEFINED_TIME)
        operations = view(self.operations, mask)
        if quantity == "bandwidth":
            return np.flatnonzero(mask), self.scope.window.bytes_within(operations)
        begin, end = self.scope.window.clipped(operations)
        if quantity == "in-flight":
            return np.flatnonzero(mask), (end - begin) / self.scope.window.ticks_per_second
        length = self.scope.window.ends(operations) - operations.begin
        return np.flatnonzero(mask), np.where(length > 0, (end - begin) / np.maximum(length, 1), 1.0)

    def rows_of(self, direction: Direction, traffic: Traffic = "all") -> Rows:
        """Return which operations of the trace are the layer's in a direction, intp, ascending.

        Raises
        ------
        SelectionError
            If there is no such direction or traffic.
        """
        return self.rows[self._mask(direction, traffic)]

    def by(self, key: str) -> "LayerParts":
        """Return the parts of the layer by file, file system, rank, node or handle.

        Parameters
        ----------
        key : {"file", "stream", "filesystem", "rank", "node", "handle"}

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
        self._rows(f"parts by {key}")
        return LayerParts(self, key)

    def narrowed(self, operations: Rows, metadata_events: Rows, part: str) -> "Layer":
        """Return the part of the layer that has some of its operations and metadata events only.

        Parameters
        ----------
        operations, metadata_events : intp (k,), intp (l,)
            Places in `operations` and in `metadata_events`.
        part : str
            What the part is called.
        """
        kept = self._rows(f"the part {part}")
        rows = kept._replace(rows=kept.rows[operations], metadata_rows=kept.metadata_rows[metadata_events])
        return replace(self, kept=rows, part=part)

    def request_counts(self, direction: Direction) -> ValueCounts:
        """Return how often each size was asked for, over the operations whose request the trace knows."""
        return self.sums.request_counts(self.categories(direction, "all"))

    def statistics(self, direction: Direction, traffic: Traffic = "all") -> LayerStatistics:
        """Return the statistics of one direction; ``total`` is read and write together.

        Where the trace was read in bounded memory, two of them can be inexact if there are very many different values:
        ``busy_s`` where there were more than 2^17 busy stretches (then ``busy_step_s`` is above 0), and p50 and p90 of
        ``request_bytes``, which are at most 0.2 % too large where there were more than 49,000 sizes.

        Parameters
        ----------
        direction : {"read", "write", "total"}
        traffic : {"all", "own", "inherited"}

        Raises
        ------
        SelectionError
            If there is no such direction or traffic.
        """
        if (direction, traffic) not in self._told:
            self._told[direction, traffic] = self._statistics(direction, traffic)
        return self._told[direction, traffic]

    @cached_property
    def _told(self) -> dict[tuple[str, str], LayerStatistics]:
        """What was asked before: several views of a trace ask for the same."""
        return {}

    def _statistics(self, direction: Direction, traffic: Traffic) -> LayerStatistics:
        categories = self.categories(direction, traffic)
        own = sorted({*categories} & {*self.categories(direction, "own")})
        whole = traffic == "all" or categories == self.categories(direction, "all")
        ways = DIRECTIONS if direction == "total" else (direction,)
        counted = counted_layer(self.scope, self.name, ways) if whole else None
        return layer_statistics(self.name, direction, ChosenSums(self.sums, categories, own), counted)

    def _rows(self, what: str) -> LayerRows:
        """Return which rows are the layer's; raise SelectionError where operations are not kept."""
        if self.kept is None:
            raise SelectionError(f"{what}: the trace was read in bounded memory, which keeps only bandwidths of layers")
        return self.kept

    @property
    def _title(self) -> str:
        return f"{self.name} {self.part}" if self.part else self.name

    def _rate(self, begin: Ticks, end: Ticks, volume: Array, name: str, unit: str = "byte s-1") -> StepSignal:
        """Return the signal of volumes that are each spread over [begin, end]."""
        second = self.scope.window.ticks_per_second
        return step_signal_from_ticks(begin, end, volume, second, window=self.window, unit=unit, name=name)

    def named(self, direction: Direction, traffic: Traffic) -> str:
        """Return the name of a signal: layer, direction, and the traffic unless it is all."""
        return f"{self._title} {direction}" if traffic == "all" else f"{self._title} {direction} ({traffic})"

    def _chosen(self, direction: Direction, traffic: Traffic) -> Operations:
        """Return the operations of a direction and traffic."""
        return view(self.operations, self._mask(direction, traffic))

    def check_quantity(self, quantity: Quantity, direction: Direction, traffic: Traffic) -> None:
        """Raise SelectionError unless there is such a signal."""
        check_quantity(quantity)
        if quantity != "bandwidth":
            self._rows(f"the signal {quantity!r}")
        if quantity == "metadata" and (direction, traffic) != ("total", "all"):
            raise SelectionError("metadata events have neither direction nor traffic: leave them out")

    def _mask(self, direction: Direction, traffic: Traffic, below: str | None = None) -> Mask:
        """Return which operations are of a direction and traffic and below a layer, bool (n,)."""
        mask, chosen = is_of_direction(self.operations.mode, direction), self.lineages_of(traffic, below)
        if (traffic, below) == ("all", None):
            return mask
        return mask & np.isin(self.scope.lineages.of_handle, chosen)[self.operations.handle]

    def categories(self, direction: Direction, traffic: Traffic) -> list[int]:
        """Return the categories of `sums` that are of a direction and traffic."""
        return categories_of(self.lineages_of(traffic), modes_of(direction))


class LayerParts(Mapping[Key, Layer]):
    """Parts of a layer by their keys, in the order of the keys; read-only. A part is made when it is asked for.

    Only keys with operations or metadata events are there; every operation and event of the layer is in one part.
    Asking for another key raises `UnknownPartError`, a SelectionError that is also a KeyError.

    Attributes
    ----------
    layer : Layer
        The whole.
    by : str
        ``file``, ``stream``, ``filesystem``, ``rank``, ``node`` or ``handle``.
    """

    def __init__(self, layer: Layer, by: str) -> None:
        groups = grouping(layer.scope.definitions, by)
        keys, places = groups.keys, groups.places
        operations, events = layer.operations, layer.metadata_events
        file = column_at(layer.scope.definitions.handles.file, operations.handle)
        group = places(file, operations.process, operations.handle)
        event_group = places(events.file, events.process, events.handle)
        there = np.unique(np.append(group, event_group))
        self.layer, self.by = layer, by
        self._number = {keys[row]: number for number, row in enumerate(there.tolist())}
        self._place, self._metadata_place = np.searchsorted(there, group), np.searchsorted(there, event_group)
        self._runs = [self._ordered(place) for place in (self._place, self._metadata_place)]

    def _ordered(self, place: Rows) -> tuple[Rows, Rows]:
        """Return rows by their part, and where those of each part begin, and the last end."""
        order = np.argsort(place, kind="stable")
        return order, np.searchsorted(place[order], np.arange(len(self) + 1))

    def __getitem__(self, key: Key) -> Layer:
        if key not in self._number:
            raise UnknownPartError(f"layer {self.layer.name} has nothing by {self.by} {key!r}")
        number = self._number[key]
        rows, events = (order[start[number] : start[number + 1]] for order, start in self._runs)
        return self.layer.narrowed(rows, events, part_title(self.by, key))

    def __iter__(self) -> Iterator[Key]:
        return iter(self._number)

    def __len__(self) -> int:
        return len(self._number)

    def __repr__(self) -> str:
        return f"<{len(self)} parts of {self.layer.name} by {self.by}>"

    def volumes(
        self, quantity: Quantity = "bandwidth", direction: Direction = "total", traffic: Traffic = "all"
    ) -> dict[Key, float]:
        """Return the volume of `Layer.signal` of each part without making the signals, the largest first.

        Raises SelectionError as `Layer.signal`.

        Parameters
        ----------
        quantity, direction, traffic : str
            As in `Layer.signal`.
        """
        rows, amounts = self.layer.contributions(quantity, direction, traffic)
        place = self._metadata_place if quantity == "metadata" else self._place
        volumes: Array = sums_by(place[rows], amounts, len(self)).astype(np.float64)
        keys = list(self._number)
        return {keys[row]: float(volumes[row]) for row in np.argsort(-volumes, kind="stable").tolist()}


class UnknownPartError(UnknownKeyError):
    """Raised when a part is asked for that a layer does not have."""


class LayerMapping(Mapping[str, Layer]):
    """Layers by name, highest first; read-only.

    Names may be written in any case where that leaves no doubt, and ISOC as STDIO. Asking for a layer that is not there
    raises `UnknownLayerError`, a SelectionError that is also a KeyError.
    """

    def __init__(self, layers: Mapping[str, Layer]) -> None:
        self._layers = dict(layers)

    def __getitem__(self, name: str) -> Layer:
        try:
            return self._layers[name]
        except KeyError:
            # Darshan calls the streams of ISO C so.
            wanted = {"stdio": "isoc"}.get(name.lower(), name.lower()) if isinstance(name, str) else name
            alike = [known for known in self._layers if known.lower() == wanted]
            if len(alike) == 1:
                return self._layers[alike[0]]
            there = ", ".join(self._layers) or "none"
            raise UnknownLayerError(f"no layer {name!r} in this trace; there are {there}") from None

    def __iter__(self) -> Iterator[str]:
        return iter(self._layers)

    def __len__(self) -> int:
        return len(self._layers)

    def __repr__(self) -> str:
        return f"<layers {', '.join(self._layers) or 'none'}>"

    def _repr_html_(self) -> str:
        return statistics_table(one.statistics(direction) for one in self.values() for direction in one.directions)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` of the statistics, one row a layer and direction that had operations."""
        pandas = import_library("pandas")
        entries = [layer.statistics(direction).to_dict() for layer in self.values() for direction in layer.directions]
        for entry in entries:
            entry.update({f"request_{key}": value for key, value in entry.pop("request_bytes").items()})
        return pandas.DataFrame(entries).set_index(["layer", "direction"]) if entries else pandas.DataFrame()


class UnknownLayerError(UnknownKeyError):
    """Raised when a layer is asked for that the trace does not have."""


def layers_of(sums: OperationSums, whole: ScopedBlock | None) -> LayerMapping:
    """Return the layers of a trace, with their operations on selected files in the window where these are kept."""
    order = sums.scope.order
    rows = [None] * len(order) if whole is None else _rows_of_layers(whole)
    return LayerMapping({name: Layer(name, sums, of) for name, of in zip(order, rows, strict=True)})


def _rows_of_layers(whole: ScopedBlock) -> list[LayerRows]:
    scope, operations, metadata = whole.scope, whole.operations, whole.metadata
    layer_row = column_at(np.where(scope.selection.selected, scope.stack.layer, np.int32(-1)), operations.handle)
    there = scope.window.overlaps(operations)
    if not there.all():
        layer_row[~there] = -1
    metadata_layer = scope.layer_rows(metadata.paradigm)
    metadata_layer[~selected_metadata(metadata, scope.selection, scope.window)] = -1
    return [
        LayerRows(operations, np.flatnonzero(layer_row == row), metadata, np.flatnonzero(metadata_layer == row))
        for row in range(len(scope.order))
    ]
