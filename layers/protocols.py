"""What a trace is to functions that take any: read in full or in bounded memory; and documents about it."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np
import numpy.typing as npt

from ..model.codes import IoMode
from ..model.damage import DamageReport, damage_entry
from ..model.definitions import Definitions
from ..model.document import SCHEMA_VERSION, Document
from ..model.errors import SelectionError
from ..model.events import IoEvents
from ..model.operations import Operations
from ..signals.step import StepSignal
from .handles.forest import HandleForest, handle_forest
from .handles.lifetimes import Lifetimes
from .handles.metadata import MetadataEvents
from .selection.directions import DIRECTIONS, check_traffic, modes_of
from .selection.files import FileSelection
from .selection.window import NO_LENGTH, TickWindow, trace_window
from .statistics.counts import ValueCounts
from .statistics.statistics import LayerStatistics, SetAside
from .summary.accumulator import OperationSums, categories_of
from .summary.busy_time import BusyTime
from .summary.tables import CANCELLED, MODES, NEVER, OPERATIONS, UNDEFINED

if TYPE_CHECKING:
    from .attribution.calls.calls import Calls
    from .attribution.traffic import Traffic
    from .flow.balance import LayerBalance, TimeSplit
    from .flow.cells import Cells
    from .flow.flow import Flow
    from .flow.hidden import HiddenTraffic
    from .flow.sums import Limits, RelationSums
    from .handles.stack import Lineages
    from .handles.sums import HandleSums


class AnyLayer(ABC):
    """Base of layers, `iostrata.layers.layer.Layer` and `iostrata.layers.summary.layer.BinnedLayer`.

    Attributes
    ----------
    name : str
        Identification of the paradigm.
    tick_window : TickWindow
        Part of the trace's time that signals and statistics are of.
    order : tuple of str
        Names of all layers of the trace, highest first.
    lineages : Lineages
        Of the trace's handles.
    sums : OperationSums
        Over the operations of the layer, those of other layers perhaps among them.
    """

    name: str
    tick_window: TickWindow
    order: tuple[str, ...]
    lineages: "Lineages"
    sums: OperationSums

    @property
    def window(self) -> tuple[float, float]:
        """Start and end of the signals in s from the trace's start."""
        return self.tick_window.seconds

    @property
    def directions(self) -> tuple[str, ...]:
        """Those of ``read`` and ``write`` that have operations."""
        return tuple(way for way in DIRECTIONS if self._count(self._categories(way, "all"), OPERATIONS))

    @property
    def flushes(self) -> int:
        """Number of flushes; they move no bytes and have no direction."""
        return self._count(categories_of(self.lineages_of(), [IoMode.FLUSH]), OPERATIONS)

    @property
    def flush_busy_s(self) -> float:
        """Time in s in which at least one flush that ended was under way."""
        busy = self._busy(categories_of(self.lineages_of(), [IoMode.FLUSH]))
        return busy.length / self.tick_window.ticks_per_second

    def lineages_of(self, traffic: str = "all", below: str | None = None) -> list[int]:
        """Return the lineages of the layer, of own or inherited traffic only, or of handles below another layer only.

        Raises SelectionError if there is no such traffic, or no layer `below`.
        """
        check_traffic(traffic)
        if below is not None and below not in self.order:
            raise SelectionError(f"no layer {below!r} in this trace; there are {', '.join(self.order)}")
        row = self.order.index(self.name)
        return self.lineages.chosen(row, traffic, None if below is None else self.order.index(below))

    @abstractmethod
    def bandwidth(self, direction: str, traffic: str = "all", below: str | None = None) -> StepSignal:
        """Return the aggregate bandwidth in bytes per second."""

    @abstractmethod
    def signal(self, quantity: str = "bandwidth", direction: str = "total", traffic: str = "all") -> StepSignal:
        """Return the signal of a quantity by its name."""

    def request_counts(self, direction: str) -> ValueCounts:
        """Return how often each size was asked for, over the operations whose request the trace knows."""
        return self._requests(self._categories(direction, "all"))

    def statistics(self, direction: str, traffic: str = "all") -> LayerStatistics:
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
        categories = self._categories(direction, traffic)
        own = sorted({*categories} & {*self._categories(direction, "own")})
        sums, second = self.sums.sums, self.tick_window.ticks_per_second
        moved, own_moved = self.sums.bytes(categories), self.sums.bytes(own)
        here = sums.handle_used[:, list(modes_of(direction))].any(axis=1) & self._handles(categories)
        files = np.unique(self.sums.definitions.handles.file[here])
        busy = self._busy(categories)
        return LayerStatistics(
            layer=self.name,
            direction=direction,
            operations=self._count(categories, OPERATIONS),
            bytes=moved,
            busy_s=busy.length / second,
            summed_s=self.sums.summed_ticks(categories) / second,
            files=int((files >= 0).sum()),
            handles=int(here.sum()),
            ranks=int(sums.processes[categories].any(axis=0).sum()),
            own_operations=self._count(own, OPERATIONS),
            own_bytes=float(own_moved) if isinstance(moved, float) else own_moved,
            undefined_bytes_operations=self._count(categories, UNDEFINED),
            cancelled_operations=self._count(categories, CANCELLED),
            never_completed_operations=self._count(categories, NEVER),
            request_bytes=self._requests(categories).quantiles(),
            busy_step_s=busy.step / second,
        )

    def _categories(self, direction: str, traffic: str) -> list[int]:
        return categories_of(self.lineages_of(traffic), modes_of(direction))

    def _count(self, categories: list[int], column: int) -> int:
        return int(self.sums.sums.counts[categories, column].sum())

    def _requests(self, categories: list[int]) -> ValueCounts:
        requests = ValueCounts(self.sums.exact)
        for category in self._wide(categories):
            if category in self.sums.requests:
                requests.merge(self.sums.requests[category])
        return requests

    def _busy(self, categories: list[int]) -> BusyTime:
        union = BusyTime(*self.sums.covered, self.sums.exact)
        for category in self._wide(categories):
            union.merge(self.sums.busy[category])
        return union

    def _wide(self, categories: list[int]) -> list[int]:
        return np.unique(self.sums.wide[categories]).tolist() if categories else []

    def _handles(self, categories: list[int]) -> npt.NDArray[np.bool_]:
        """Return whether each handle is of one of the categories, whatever its mode."""
        return np.isin(self.sums.category_of_handle, [category - category % MODES for category in categories])


AnyLayerT = TypeVar("AnyLayerT", bound=AnyLayer, covariant=True)


class HasLayers(Protocol[AnyLayerT]):
    """Whatever has layers."""

    @property
    def layers(self) -> Mapping[str, AnyLayerT]:
        """The layers by name, highest first."""


class BlockSums(Protocol):
    """What blocks are added to."""

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:
        """Add operations and metadata events of some processes."""

    def merge(self, other: Any) -> None:
        """Add the sums of another one of its kind, over other processes."""


BlockSumsT = TypeVar("BlockSumsT", bound=BlockSums)


class AnyTrace(ABC):
    """Base of traces, `iostrata.layers.trace.Trace` and `iostrata.layers.summary.trace.BinnedTrace`.

    Attributes
    ----------
    path : Path
        The archive's anchor.
    damage : DamageReport
        What is lost.
    engine : str
        What read the events.
    events_total : int
        Events of any kind that were read.
    unmatched_events : int
        Events that end, issue or test an operation without a begin; they count nowhere else.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and what is set aside are of.
    selection : FileSelection
        Which handles are selected.
    sums : OperationSums
        Over all operations.
    """

    path: Path
    definitions: Definitions
    damage: DamageReport
    engine: str
    events_total: int
    unmatched_events: int
    tick_window: TickWindow
    selection: FileSelection
    sums: OperationSums

    @property
    @abstractmethod
    def layers(self) -> Mapping[str, AnyLayer]:
        """The layers by name, highest first."""

    @cached_property
    def handles(self) -> HandleForest:
        """The forest of all I/O handles, of all files; without their lifetimes where operations are not kept.

        There, at an edge that the window leaves open, metadata events outside of the time of all operations count too.
        """
        return handle_forest(
            self.definitions,
            self.order,
            self.selection,
            self.sums.sums.handle_operations,
            self.sums.handle_bytes(IoMode.READ),
            self.sums.handle_bytes(IoMode.WRITE),
            self.handle_sums.events,
            self.handle_sums.ranks,
            self.handle_sums.lifetime_counts,
            self.lifetimes,
        )

    @property
    def lifetimes(self) -> Lifetimes | None:
        """Lifetimes of all handles; None where operations are not kept."""
        return None

    @cached_property
    def set_aside(self) -> SetAside:
        """What is not selected of the operations within the window, summed over the layers."""
        sums = self.sums.sums
        files = np.unique(self.definitions.handles.file[sums.aside_used])
        return SetAside(
            int(sums.aside.sum()),
            self.sums.bytes([self.sums.categories]),
            int((files >= 0).sum()),
            self.selection.named(sums.aside),
        )

    @property
    @abstractmethod
    def io_events(self) -> int:
        """Number of I/O events that were read."""

    @property
    @abstractmethod
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""

    @property
    @abstractmethod
    def order(self) -> tuple[str, ...]:
        """Names of the layers, highest first."""

    @property
    def traffic(self) -> "Traffic | None":
        """All operations beside what the numbers between layers need of them; None where they are not kept."""
        return None

    @property
    @abstractmethod
    def calls(self) -> "Calls | None":
        """What the calls took, as their Enter and Leave tell; None where the trace does not record them."""

    @property
    @abstractmethod
    def function_names(self) -> tuple[str, ...]:
        """The I/O functions that the trace defines; SelectionError where it is not known who called what."""

    @abstractmethod
    def operation_blocks(
        self, functions: bool
    ) -> "Iterator[tuple[Traffic, npt.NDArray[np.int64], npt.NDArray[np.int32], int]]":
        """Give all operations in one or several blocks.

        Each with the number of the collective call of each operation, the row of its function in `function_names` (−1
        for none, and where `functions` are not asked for), and the number of the block's first operation.
        """

    @abstractmethod
    def blocks(self) -> "Iterator[tuple[Operations, IoEvents]]":
        """Give all operations and metadata events, of all files and times, as `Block` has them, in one or several."""

    @abstractmethod
    def sum_blocks(self, make: "Callable[[], BlockSumsT]") -> "BlockSumsT":
        """Return sums over the blocks of the trace; where operations are not kept it is read once more.

        Parameters
        ----------
        make : callable
            Gives empty sums, with ``add(operations, metadata)`` for a block and ``merge(other)`` for sums over other
            processes. The blocks of a process come one after the other.
        """

    @property
    @abstractmethod
    def handle_sums(self) -> "HandleSums":
        """What metadata events and the lifetimes of handles add up to."""

    @abstractmethod
    def relations_with(
        self,
        directions: tuple[str, ...] = DIRECTIONS,
        limits: "Limits | None" = None,
        pairs: tuple[tuple[int, int], ...] | None = None,
    ) -> "RelationSums":
        """Add up what the layers are to each other: flows of some directions, limits and pairs of layers."""

    @cached_property
    def relations(self) -> "RelationSums":
        """What the layers are to each other, added up over all operations."""
        return self.relations_with()

    @cached_property
    def cells(self) -> "Cells":
        """The operations of each kind taken together."""
        return self.relations.table()

    @property
    def balances(self) -> "tuple[LayerBalance, ...]":
        """For each layer and direction with operations, which of them have a parent, and which have none."""
        return self.relations.balances(self.cells)

    @property
    def time_splits(self) -> "tuple[TimeSplit, ...]":
        """For each layer and direction with layers below, in which layer the time of its operations is spent."""
        return self.relations.time_splits(self.cells)

    @cached_property
    def hidden(self) -> "tuple[HiddenTraffic, ...]":
        """Bytes that have no operation above although a layer above caused them, or none below."""
        return self.relations.hidden(self.cells)

    @cached_property
    def flows(self) -> "tuple[Flow, ...]":
        """The flows, read and write, of all pairs of layers that the handles connect."""
        return self.relations.all_flows(self.cells, self.traffic)

    def flows_of(self, directions: tuple[str, ...]) -> "tuple[Flow, ...]":
        """Return the flows of some directions, of all pairs of layers that the handles connect."""
        if set(directions) <= set(DIRECTIONS):
            return tuple(flow for flow in self.flows if flow.direction in directions)
        sums = self.relations_with(directions)
        return sums.all_flows(sums.table(), self.traffic)

    def flow(self, upper: str, lower: str, direction: str = "total") -> "Flow":
        """Return what became of the operations of one layer in a layer below it, adjacent or not.

        Parameters
        ----------
        upper, lower : str
            Names of layers.
        direction : {"read", "write", "total"}

        Raises
        ------
        SelectionError
            If the trace has no such layer, `upper` does not stand above `lower`, or there is no such direction.
        """
        modes_of(direction)
        for name in (upper, lower):
            if name not in self.order:
                raise SelectionError(f"no layer {name!r} in this trace; there are {', '.join(self.order) or 'none'}")
        high, low = self.order.index(upper), self.order.index(lower)
        if high >= low:
            raise SelectionError(f"layer {upper} does not stand above {lower}; the order is {', '.join(self.order)}")
        known: tuple[Flow, ...] = self.__dict__.get("flows", ())
        for flow in known:
            if (flow.upper, flow.lower, flow.direction) == (upper, lower, direction):
                return flow
        sums = self.relations_with((direction,), pairs=((high, low),))
        return sums.flow(sums.table(), high, low, direction, self.traffic)

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""
        return None

    def check_frequency(self, fs: float) -> None:
        """Do nothing unless bins of 1/`fs` seconds are finer than those that the trace was read into.

        Raises SelectionError if they are.
        """
        if self.resolution is not None and fs * self.resolution > 1 + 1e-6:
            raise SelectionError(
                f"bins of {1 / fs:.6g} s are finer than those that were kept, of {self.resolution:.6g} s: read the "
                "trace with this frequency or with more memory"
            )

    @cached_property
    def duration(self) -> float:
        """Length of the trace in s, as its clock properties give it; where they give none, up to the last operation."""
        clock = self.definitions.clock
        return clock.duration if clock.length < NO_LENGTH else trace_window(clock, self.extent).seconds[1]

    @property
    def files(self) -> str:
        """What files are selected: ``application``, ``all`` or a pattern."""
        return self.selection.files

    @property
    def window(self) -> tuple[float, float]:
        """Start and end in s from the trace's start of `tick_window`.

        Without a selection it is 0 to `duration`, extended by operations that lie outside of it.
        """
        return self.tick_window.seconds

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return self.definitions.process_count

    @property
    def nodes(self) -> int:
        """Number of compute nodes that have processes."""
        return self.definitions.node_count

    @property
    def locations(self) -> int:
        """Number of locations."""
        return len(self.definitions.locations.id)


def document(trace: AnyTrace, **parts: object) -> Document:
    """Return a document about a trace: what every one begins with, its own `parts`, and what the trace has lost."""
    return {
        "schema_version": SCHEMA_VERSION,
        "trace": {
            "path": str(trace.path),
            "duration_s": trace.duration,
            "locations": trace.locations,
            "ranks": trace.ranks,
            "nodes": trace.nodes,
            "events": trace.events_total,
            "io_events": trace.io_events,
            "window_s": trace.window,
            "files": trace.files,
            "engine": trace.engine,
            "recorder": trace.definitions.recording.recorder,
            "not_recorded": list(trace.definitions.recording.missing),
            **({} if trace.resolution is None else {"resolution_s": trace.resolution}),
        },
        **parts,
        "damage": damage_entry(trace.damage),
    }
