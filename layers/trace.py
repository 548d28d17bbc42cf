"""The layered trace: an archive's I/O, split into layers."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np

from ..model.codes import IoMode
from ..model.definitions import Definitions
from ..model.errors import SelectionError
from ..model.events import IoEvents
from ..model.operations import Operations, check_rows
from ..model.stream.damage import DamageReport
from .attribution.attribution import Attribution
from .attribution.blocks import Blocks, KeptEvents
from .attribution.breakdown import Breakdown
from .attribution.callers import Callers
from .attribution.calls.calls import Calls
from .attribution.calls.chain import WaitingChain
from .attribution.calls.cost import RunCost
from .attribution.calls.overlap import Overlap
from .attribution.splitting import split
from .attribution.traffic import Traffic
from .dataset import bandwidth_dataset
from .flow.balance import LayerBalance, TimeSplit
from .flow.cells import Cells
from .flow.flow import Flow
from .flow.hidden import HiddenTraffic
from .flow.relations import flow_between, flows_of, sum_relations
from .flow.sums import DEFAULT_LIMITS, RelationSums, SizeLimits
from .handles.forest import HandleForest, handle_forest
from .handles.lifetimes import handle_lifetimes
from .handles.metadata import MetadataEvents
from .handles.order import layer_order
from .handles.scope import Scope
from .handles.sums import HandleSums
from .layer import Layer
from .mappings import LayerMapping, kept_layers
from .selection.directions import DIRECTIONS
from .selection.files import FileRule, FileSelection, select_files
from .selection.window import NO_LENGTH, TickWindow, select_window, trace_window
from .statistics.grouping import NEEDS_OF_KEYS
from .statistics.statistics import SetAside
from .summary.accumulator import OperationSums
from .summary.bins import BinGrid
from .summary.parts import BinnedParts, Counted
from .summary.reading import BlockSumsT, Reading
from .table import data_frame, operation_table

Window = tuple[float | None, float | None]


class Binned(NamedTuple):
    """All that is kept of a trace that was read in bounded memory."""

    sums: OperationSums
    grid: BinGrid
    handles: HandleSums
    relations: RelationSums | None
    """None where they were not asked for: then they are added up when they are."""


@dataclass(frozen=True, eq=False)
class Trace:
    """The I/O of an archive, or of what another recorder wrote, split into layers; the result of `open_trace`.

    Either all operations are kept, and signals are exact; or the trace was read in bounded memory, into sums and bins
    of time. What needs the operations one by one then raises SelectionError, and some of what is asked for reads the
    trace once more.

    Attributes
    ----------
    path : Path
        The archive's anchor.
    definitions : Definitions
    damage : DamageReport
        What is lost.
    engine : str
        What read the events: ``direct`` or ``library``, or the recorder.
    events_total : int
        Number of all events read, I/O or not.
    tick_window : TickWindow
        Part of the trace's time that layers, handles and `set_aside` are of.
    rules : tuple of FileRule
        Which files are no application files.
    selection : FileSelection
        Which handles are selected.
    kept : KeptEvents or None
        All operations; None where the trace was read in bounded memory.
    binned : Binned or None
        What is there in their place.
    io_events : int
        Number of all I/O events read.
    unmatched_events : int
        Events that end, issue or test an operation without a begin; they count nowhere else.
    reading : Reading or None
        How the trace is read once more; None where it was made by hand.
    """

    path: Path
    definitions: Definitions
    damage: DamageReport
    engine: str
    events_total: int
    tick_window: TickWindow
    rules: tuple[FileRule, ...]
    selection: FileSelection
    kept: KeptEvents | None = None
    binned: Binned | None = None
    io_events: int = 0
    unmatched_events: int = 0
    reading: Reading | None = None

    def __post_init__(self) -> None:
        # Of an archive, the reader has made the rows.
        if self.kept is not None and self.reading is None:
            check_rows(self.kept.operations, self.kept.other_events, self.definitions)

    def __repr__(self) -> str:
        start, end = self.window
        if self.kept is not None:
            what = f"{len(self.operations)} I/O operations, layers {', '.join(self.order) or 'none'}"
        else:
            what = f"layers {', '.join(self.order) or 'none'} in bins of {self.resolution:.6g} s"
        return (
            f"<Trace {str(self.path)!r}: {self.duration:.6g} s, {self.ranks} ranks on {self.nodes} nodes, {what}, "
            f"files {self.files}, window {start:.6g}:{end:.6g} s{', damaged' if self.damage.damaged else ''}>"
        )

    def _repr_html_(self) -> str:
        from ..model.display import html_table

        facts = [
            ("duration", f"{self.duration:.6g} s"),
            ("ranks", self.ranks),
            ("nodes", self.nodes),
            ("I/O events", self.io_events),
            ("window", "{:.6g} to {:.6g} s".format(*self.window)),
            ("files", self.files),
            ("set aside", f"{self.set_aside.operations:,} operations on {self.set_aside.files:,} files"),
        ]
        if self.damage.damaged:
            facts.append(("damaged", f"{self.damage.events_read:,} of {self.damage.events_expected:,} events read"))
        return html_table(facts, caption=f"Trace {self.path}") + self.layers._repr_html_()

    @property
    def operations(self) -> Operations:
        """All operations, of all files and times.

        Raises
        ------
        SelectionError
            If the trace was read in bounded memory.
        """
        return self._blocks.kept.operations

    @property
    def other_events(self) -> IoEvents:
        """All I/O events that are none of an operation; raises as `operations`."""
        return self._blocks.kept.other_events

    @property
    def metadata(self) -> MetadataEvents:
        """I/O events that move no data, of all files and times; raises as `operations`."""
        return self._blocks.metadata

    @cached_property
    def scope(self) -> Scope:
        """What counts, as all sums over operations ask for it."""
        window, reading = self.tick_window, self.reading
        exact = self.kept is not None
        covered = (window.start, window.end) if exact or reading is None else reading.covered
        return Scope(self.definitions, self.order, self.selection, window, covered, exact)

    @cached_property
    def _blocks(self) -> Blocks:
        return Blocks(self.path, self.scope, self.kept, self.reading)

    @cached_property
    def callers(self) -> Callers:
        """Who called the I/O, and what the calls took."""
        return Callers(self._blocks)

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        return self.sums.extent if self.kept is None else self.kept.operations.extent

    @cached_property
    def order(self) -> tuple[str, ...]:
        """Names of the layers, highest first."""
        return layer_order(self.definitions)

    @cached_property
    def sums(self) -> OperationSums:
        """Sums over all operations."""
        if self.binned is not None:
            return self.binned.sums
        sums = OperationSums(self.scope)
        sums.add(self.operations)
        return sums

    @cached_property
    def handle_sums(self) -> HandleSums:
        """What metadata events and the lifetimes of handles add up to."""
        if self.binned is not None:
            return self.binned.handles
        return self.sum_blocks(lambda: HandleSums(self.scope))

    @cached_property
    def handles(self) -> HandleForest:
        """The forest of all I/O handles, of all files; without their lifetimes where operations are not kept.

        There, at an edge that the window leaves open, metadata events outside of the time of all operations count too.
        """
        return handle_forest(
            self.handle_sums,
            self.sums.sums.handle_operations,
            self.sums.handle_bytes(IoMode.READ),
            self.sums.handle_bytes(IoMode.WRITE),
            None if self.kept is None else handle_lifetimes(self.metadata, self.operations, self.definitions),
        )

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

    @cached_property
    def layers(self) -> LayerMapping:
        """The layers by name, highest first: all paradigms that have handles."""
        window = self.tick_window
        if self.binned is not None:
            binned = self.binned
            return LayerMapping({name: Layer(name, binned.sums, window, grid=binned.grid) for name in self.order})
        return kept_layers(self.sums, self.operations, self.metadata)

    @property
    def attribution(self) -> Attribution:
        """The parent of each operation in a higher layer; of all files and times."""
        return self._blocks.attribution

    @property
    def traffic(self) -> Traffic:
        """All operations beside what the numbers between layers need of them."""
        return self._blocks.traffic

    @property
    def calls(self) -> Calls | None:
        """What the calls took, as their Enter and Leave tell; None where the trace does not record them.

        The first use reads the events of the archive once more.
        """
        return self.callers.calls

    @property
    def cost(self) -> RunCost | None:
        """What I/O costs the run, by rank; None where the trace does not record Enter and Leave."""
        return self.callers.cost

    @property
    def overlap(self) -> Overlap | None:
        """Whether non-blocking I/O overlaps computing, and how many ranks are in I/O over time.

        None where the trace does not record Enter and Leave. The first use reads the events of the archive once more.
        """
        return self.callers.overlap

    @property
    def waiting_chain(self) -> WaitingChain | None:
        """The longest chain of waiting: who comes last where all ranks wait for each other.

        None where the trace does not record Enter and Leave, or has one rank. The first use reads the events of the
        archive once more.
        """
        return self.callers.chain

    def blocks(self) -> Iterator[tuple[Operations, IoEvents]]:
        """Give all operations and metadata events, of all files and times, as `Block` has them, in one or several."""
        return iter(self._blocks)

    def sum_blocks(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        """Return sums over the blocks of the trace; where operations are not kept it is read once more.

        Parameters
        ----------
        make : callable
            Gives empty sums, with ``add(operations, metadata)`` for a block and ``merge(other)`` for sums over other
            processes. The blocks of a process come one after the other.
        """
        return self._blocks.summed(make)

    def binned_parts(self, by: str) -> BinnedParts:
        """Return the parts of the layers by a key; each use reads the trace once more.

        Raises SelectionError if there is no such key, or the trace was not read in bounded memory: see `Layer.by`.

        Parameters
        ----------
        by : {"file", "filesystem", "rank", "node", "handle"}
        """
        if self.binned is None:
            raise SelectionError("parts in bins are of a trace that was read in bounded memory")
        return BinnedParts(self._blocks.reading, Counted(self.scope, by), self.binned.grid)

    def relations_with(
        self,
        directions: tuple[str, ...] = DIRECTIONS,
        limits: SizeLimits = DEFAULT_LIMITS,
        pairs: tuple[tuple[int, int], ...] | None = None,
    ) -> RelationSums:
        """Add up what the layers are to each other: flows of some directions, limits and pairs of layers."""
        return sum_relations(self._blocks, directions, limits, pairs)

    @cached_property
    def relations(self) -> RelationSums:
        """What the layers are to each other, added up over all operations."""
        return (None if self.binned is None else self.binned.relations) or self.relations_with()

    @cached_property
    def cells(self) -> Cells:
        """The operations of each kind taken together."""
        return self.relations.table()

    @property
    def balances(self) -> tuple[LayerBalance, ...]:
        """For each layer and direction with operations, which of them have a parent, and which have none."""
        return self.relations.balances(self.cells)

    @property
    def time_splits(self) -> tuple[TimeSplit, ...]:
        """For each layer and direction with layers below, in which layer the time of its operations is spent."""
        return self.relations.time_splits(self.cells)

    @cached_property
    def hidden(self) -> tuple[HiddenTraffic, ...]:
        """Bytes that have no operation above although a layer above caused them, or none below."""
        return self.relations.hidden(self.cells)

    @cached_property
    def flows(self) -> tuple[Flow, ...]:
        """The flows, read and write, of all pairs of layers that the handles connect."""
        return self.relations.all_flows(self.cells, self._blocks.known_traffic)

    def flows_of(self, directions: tuple[str, ...]) -> tuple[Flow, ...]:
        """Return the flows of some directions, of all pairs of layers that the handles connect."""
        if set(directions) <= set(DIRECTIONS):
            return tuple(flow for flow in self.flows if flow.direction in directions)
        return flows_of(self._blocks, directions)

    def flow(self, upper: str, lower: str, direction: str = "total") -> Flow:
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
        return flow_between(self._blocks, upper, lower, direction, self.__dict__.get("flows", ()))

    def breakdown(self, by: str) -> Breakdown:
        """Split what each layer did, transfers and metadata operations, by a key.

        Parameters
        ----------
        by : {"file", "filesystem", "rank", "node", "handle", "function", "caller", "callpath"}

        Raises
        ------
        SelectionError
            If there is no such key, it is not known who called, or the recorder does not tell it.
        """
        recording = self.definitions.recording
        recording.require(self.path, f"--by {by}", *NEEDS_OF_KEYS.get(by, ()))
        table = split(self.callers, by)
        return table.of_intervals() if recording.reason("operations") else table

    @property
    def resolution(self) -> float | None:
        """Width in s of the bins that signals are made of; None where signals are exact."""
        return None if self.binned is None else self.binned.grid.width / self.definitions.clock.ticks_per_second

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

    def to_dataframe(self) -> Any:
        """Return the operations within the window, of all files, as a table, one row an operation; needs pandas.

        The columns are those that `iostrata.write_parquet` lists, without ``function``; ``operation`` is the index, to
        which ``parent`` refers.

        Examples
        --------
        >>> table = open_trace("fixtures/ckpt4").to_dataframe()  # doctest: +SKIP
        >>> table[table.selected].groupby(["layer", "rank"]).bytes_moved.sum()  # doctest: +SKIP
        """
        rows = np.flatnonzero(self.traffic.within)
        return data_frame(operation_table(self.traffic, rows)).set_index("operation")

    def to_xarray(self, *, fs: float | Literal["auto"] = "auto", traffic: str = "all") -> Any:
        """Return the bandwidths on one time axis, as the root of a file of `iostrata.write_hdf5`; needs xarray.

        Parameters
        ----------
        fs : float or "auto"
            Bins per second (Hz). "auto" takes the largest frequency that a signal asks for, at most 2^17 bins.
        traffic : {"all", "own", "inherited"}
            Which traffic of a layer counts.

        Returns
        -------
        xarray.Dataset
            ``bandwidth(layer, direction, time)`` in byte/s as means of bins, whose sum times their width is the layer's
            bytes, with ``time_bnds`` and ``abstraction_error(layer, direction)``.

        Raises
        ------
        SelectionError
            If `fs` or `traffic` makes no sense for this trace.
        """
        return bandwidth_dataset(self, fs, traffic)

    def select(self, *, files: str | None = None, window: Window | None = None) -> "Trace":
        """Return the trace with other files or another window; nothing is read again.

        Parameters
        ----------
        files : str, optional
            ``application``, ``all`` or a pattern for full names; without it the files stay.
        window : (start, end) in s from the trace's start, optional
            None in place of a number means the trace's edge; the window is cut to the trace. Operations across an edge
            count in proportion. Without it the window stays; ``(None, None)`` is the whole trace.

        Raises
        ------
        SelectionError
            If no file matches, or the window is empty or outside the trace; or the trace was read in bounded memory:
            give ``files`` and ``window`` to `open_trace`.
        """
        kept = self._blocks.kept
        selection = self.selection if files is None else select_files(self.definitions, files, self.rules)
        chosen = self.tick_window
        if window is not None:
            chosen = select_window(trace_window(self.definitions.clock, kept.operations.extent), window)
        selected = replace(self, selection=selection, tick_window=chosen)
        selected.__dict__["callers"] = self.callers.of_selection(selected._blocks)
        return selected


BinnedTrace = Trace
"""What `open_trace` returns with a bound of memory: the same, without operations."""
