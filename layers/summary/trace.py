"""A trace read in bounded memory: bandwidths of its layers in bins, and statistics, but no operations."""

import copy
import functools
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt

from ...model.damage import DamageReport
from ...model.definitions import Definitions
from ...model.errors import SelectionError
from ...model.events import IoEvents
from ...model.operations import Operations
from ...model.stream.mapping import Progress, cluster_of, map_partitions, reduce_partitions
from ...model.stream.source import Block, Partition, Source, Tally
from ...signals.samples import bin_count
from ..attribution.attribution import attribute_operations
from ..attribution.breakdown import FUNCTION, Breakdown, BreakdownSums
from ..attribution.calls.calls import Calls, as_calls, sum_calls
from ..attribution.calls.functions import function_groups
from ..attribution.calls.sums import CallSums
from ..attribution.collectives import CallPlaces
from ..attribution.functions import block_functions, io_function_names
from ..attribution.traffic import Traffic
from ..dataset import bandwidth_dataset
from ..flow.sums import Limits, RelationSums
from ..handles.metadata import MetadataEvents, metadata_events
from ..handles.order import layer_order
from ..handles.stack import handle_lineages, handle_stack
from ..handles.sums import HandleSums
from ..mappings import LayerMapping
from ..protocols import AnyTrace, BlockSumsT
from ..selection.directions import DIRECTIONS
from ..selection.files import DEFAULT_RULES, FileRule, FileSelection, select_files
from ..selection.source import open_timed_source
from ..selection.window import TickWindow, bounded_windows, select_window, trace_window
from .accumulator import OperationSums
from .bins import BinGrid
from .layer import BinnedLayer
from .memory import BYTES_PER_HANDLE, MOST_BINS, MemoryPlan, plan_memory
from .tables import MODES

Window = tuple[float | None, float | None]
"""As in `iostrata.layers.trace`."""


@dataclass(frozen=True, eq=False)
class BinnedTrace(AnyTrace):
    """What `open_trace` returns with a bound of memory: layers as bins and statistics; attributes as in `Trace`."""

    path: Path
    definitions: Definitions
    sums: OperationSums
    grid: BinGrid
    handle_parts: HandleSums
    known_relations: RelationSums | None
    reading: "Reading"
    damage: DamageReport
    engine: str
    events_total: int
    events_of_io: int
    tick_window: TickWindow
    selection: FileSelection
    unmatched_events: int

    def __repr__(self) -> str:
        start, end = self.window
        return (
            f"<BinnedTrace {str(self.path)!r}: {self.duration:.6g} s, {self.ranks} ranks on {self.nodes} nodes, "
            f"layers {', '.join(self.sums.order) or 'none'} in bins of {self.resolution:.6g} s, "
            f"files {self.files}, window {start:.6g}:{end:.6g} s{', damaged' if self.damage.damaged else ''}>"
        )

    @property
    def resolution(self) -> float:
        """Width in s of the bins that were kept; signals are constant within each."""
        return self.grid.width / self.definitions.clock.ticks_per_second

    @property
    def order(self) -> tuple[str, ...]:
        return self.sums.order

    @property
    def handle_sums(self) -> HandleSums:
        return self.handle_parts

    @cached_property
    def relations(self) -> RelationSums:
        """What the layers are to each other; unless that was asked for, the first use reads the trace once more."""
        return self.known_relations or self.relations_with()

    @property
    def function_names(self) -> tuple[str, ...]:
        return io_function_names(self.reading.source.regions)

    def operation_blocks(
        self, functions: bool
    ) -> Iterator[tuple[Traffic, npt.NDArray[np.int64], npt.NDArray[np.int32], int]]:
        places, first = CallPlaces(), 0
        make = self._call_sums(self.reading.source) if functions else None
        for block, sums in self.reading.followed_blocks(make):
            operations = block.operations
            found = attribute_operations(operations, self.definitions, self.order)
            traffic = Traffic(operations, self.definitions, self.order, found, self.selection, self.tick_window)
            places.finish(np.unique(operations.process).astype(np.int64))
            sequence, place = places.keys(operations, traffic.sequences)
            function = np.full(len(operations), -1, np.int32)
            if sums is not None:
                function = block_functions(block, sums).operation
            yield traffic, np.where(place >= 0, (sequence << 32) + place, -1), function, first
            first += len(operations)

    def relations_with(
        self,
        directions: tuple[str, ...] = DIRECTIONS,
        limits: Limits | None = None,
        pairs: tuple[tuple[int, int], ...] | None = None,
    ) -> RelationSums:
        known = (self.definitions, self.order, self.selection, self.tick_window, self.reading.covered)
        return self.sum_blocks(lambda: RelationSums(*known, directions, limits, pairs=pairs))

    @cached_property
    def calls(self) -> Calls | None:
        """What the calls took, as `Trace.calls`; the first use reads the trace once more."""
        source = self.reading.source
        if not source.tells_calls:
            return None
        partitions = source.partitions(self.reading.memory, self.reading.workers)
        return as_calls(
            sum_calls(source, self._call_sums(source), partitions, self.reading.workers, self.reading.client)
        )

    def _call_sums(self, source: Source) -> Callable[[], CallSums]:
        functions = function_groups(source.regions, self.order)
        known = (self.definitions, self.order, self.selection, self.tick_window, functions)
        return functools.partial(CallSums, *known)

    def breakdown(self, by: str) -> Breakdown:
        """Split what each layer did by a key, as `Trace.breakdown`; the trace is read once more."""
        known = (self.definitions, self.order, self.selection, self.tick_window)
        if by == FUNCTION:
            sums, calls = self._by_function(known)
        else:
            sums, calls = self.sum_blocks(lambda: BreakdownSums(*known, by)), self.calls
        if calls is not None:
            sums.add_calls(calls)
        return sums.breakdown()

    def _by_function(
        self, known: tuple[Definitions, tuple[str, ...], FileSelection, TickWindow]
    ) -> tuple[BreakdownSums, Calls | None]:
        source, reading = self.reading.source, self.reading
        names, make = io_function_names(source.regions), self._call_sums(source)

        def empty() -> BreakdownSums:
            return BreakdownSums(*known, FUNCTION, names)

        def read(partition: Partition, done: Callable[[int], None]) -> tuple[BreakdownSums, CallSums]:
            table, calls = empty(), make()
            for block in source.read(partition, calls, done):
                metadata = metadata_events(block.metadata, source.definitions)
                table.add(block.operations, metadata, block_functions(block, calls))
            return table, calls

        with cluster_of(reading.client, source.path) as cluster:
            partitions = source.partitions(reading.memory, reading.workers)
            if not partitions:
                return empty(), None
            table, calls = reduce_partitions(read, _merge_both, partitions, 0, reading.workers, cluster=cluster)
        return table, as_calls(calls) if source.tells_calls else None

    def blocks(self) -> Iterator[tuple[Operations, IoEvents]]:
        return ((block.operations, block.metadata) for block in self.reading.blocks())

    def sum_blocks(self, make: Callable[[], BlockSumsT]) -> BlockSumsT:
        return self.reading.summed(make)

    @property
    def io_events(self) -> int:
        """Number of I/O events read."""
        return self.events_of_io

    @property
    def extent(self) -> tuple[int, int] | None:
        """First begin and last begin or end of all operations in ticks; None where there are none."""
        return self.sums.extent

    @cached_property
    def layers(self) -> LayerMapping[BinnedLayer]:
        """The layers by name, highest first."""
        return LayerMapping(
            {name: BinnedLayer(name, self.sums, self.grid, self.tick_window) for name in self.sums.order}
        )

    def to_xarray(self, *, fs: float | Literal["auto"] = "auto", traffic: str = "all") -> Any:
        """Return the bandwidths on one time axis; as `iostrata.Trace.to_xarray`."""
        return bandwidth_dataset(self, fs, traffic)


class _Parts:
    """Sums that follow processes: of handles, and of what layers are to each other, if asked for."""

    def __init__(self, handles: HandleSums, relations: RelationSums | None) -> None:
        self.handles = handles
        self.relations = relations

    def add(self, operations: Operations, metadata: MetadataEvents) -> None:
        self.handles.add(operations, metadata)
        if self.relations is not None:
            self.relations.add(operations, metadata)

    def merge(self, other: "_Parts") -> None:
        self.handles.merge(other.handles)
        if self.relations is not None and other.relations is not None:
            self.relations.merge(other.relations)


@dataclass(frozen=True, eq=False)
class Reading:
    """How a trace is read in bounded memory, to do so again.

    Attributes
    ----------
    source : Source
    covered : (int, int)
        Ticks between which most of the operations lie.
    memory : int
        Bytes for the blocks that are in work on `workers` threads.
    client : distributed.Client, str or None
        The cluster that reads instead of threads here.
    """

    source: Source
    covered: tuple[int, int]
    memory: int
    workers: int
    client: object = None

    def blocks(self) -> Iterator[Block]:
        """Read the trace block by block, in one thread."""
        return (block for block, _ in self.followed_blocks(None))

    def followed_blocks(self, make: Callable[[], CallSums] | None) -> Iterator[tuple[Block, CallSums | None]]:
        """Read the trace block by block, in one thread, each with what followed the calls of its partition."""
        for partition in self.source.partitions(self.memory, 1):
            sums = None if make is None else make()
            for block in self.source.read(partition, sums):
                yield block, sums

    def summed(
        self,
        make: Callable[[], BlockSumsT],
        also: "BinnedSums | None" = None,
        progress: Progress | None = None,
    ) -> BlockSumsT:
        """Read the trace and return sums over its blocks.

        Parameters
        ----------
        make : callable
            Gives empty sums; each partition has its own, which are then merged.
        also : BinnedSums, optional
            To what each block is added too: one for all here, as it takes much memory, one a partition on a cluster.
        """
        if self.client is not None:
            with cluster_of(self.client, self.source.path) as cluster:
                return self._summed_there(make, also, cluster, progress)
        lock = threading.Lock()

        def read(partition: Partition, done: Callable[[int], None]) -> BlockSumsT:
            sums = make()
            for block in self.source.read(partition, done=done):
                sums.add(block.operations, metadata_events(block.metadata, self.source.definitions))
                if also is not None:
                    with lock:
                        also.add(block)
            return sums

        total = sum(self.source.definitions.locations.events.tolist())
        partitions = self.source.partitions(self.memory, self.workers)
        whole = make()
        for part in map_partitions(read, partitions, total, self.workers, progress):
            whole.merge(part)
        return whole

    def _summed_there(
        self,
        make: Callable[[], BlockSumsT],
        also: "BinnedSums | None",
        cluster: Any,
        progress: Progress | None,
    ) -> BlockSumsT:
        """Do the same on a cluster, whose threads have as much memory as those here would have."""
        source = self.source

        def read(partitions: Sequence[Partition]) -> tuple[Any, BinnedSums | None]:
            whole, bins = make(), copy.deepcopy(also, {id(source.definitions): source.definitions})
            for partition in partitions:
                sums = make()
                for block in source.read(partition):
                    sums.add(block.operations, metadata_events(block.metadata, source.definitions))
                    if bins is not None:
                        bins.add(block)
                whole.merge(sums)
            return whole, bins

        partitions = source.partitions(self.memory // self.workers * cluster.workers, cluster.workers)
        sums, bins = cluster.reduce(read, _merge_both, partitions, progress, (source.definitions,))
        if also is not None and bins is not None:
            also.merge(bins)
        return cast(BlockSumsT, sums)


@dataclass(frozen=True, eq=False)
class BinnedSums:
    """Sums over operations, in bins of time and otherwise, and what else the blocks say."""

    sums: OperationSums
    tally: Tally

    def add(self, block: Block) -> None:
        """Add a block, in any order."""
        self.sums.add(block.operations)
        self.tally.add(block)

    def merge(self, other: "BinnedSums") -> None:
        """Add the sums over other blocks."""
        self.sums.merge(other.sums)
        self.tally.add(other.tally)


def _merge_both(one: tuple[Any, Any], other: tuple[Any, Any]) -> tuple[Any, Any]:
    one[0].merge(other[0])
    if one[1] is not None and other[1] is not None:
        one[1].merge(other[1])
    return one


def read_binned_trace(
    path: str | Path,
    memory: int,
    *,
    fs: float | Literal["auto"] = "auto",
    engine: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Window | None = None,
    progress: Progress | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
    handle_bytes: int = BYTES_PER_HANDLE,
    relations: bool = False,
    client: object = None,
) -> BinnedTrace:
    """Read a trace into bins and statistics, in memory that does not follow the number of events.

    Raises TraceError if the archive cannot be read, or nothing of its events; SelectionError if files, window or `fs`
    make no sense, or the memory is not enough.

    Parameters
    ----------
    handle_bytes : int
        What to set aside of the memory for each handle of the trace.
    relations : bool
        Whether to add up what layers are to each other in the same pass; else their first use reads the trace again.
    path, memory, fs, engine, workers, files, window, progress, rules, client
        As in `open_trace`. There are at most 2^20 bins.
    """
    source = open_timed_source(path, engine)
    definitions = source.definitions
    selection = select_files(definitions, files, tuple(FileRule(*rule) for rule in rules))
    counted, covered = bounded_windows(definitions, window)
    order = layer_order(definitions)
    lineages = handle_lineages(handle_stack(definitions, order))
    plan = plan_memory(
        memory,
        source,
        2 * len(lineages),
        workers,
        handle_bytes,
        2 * len(set(lineages.traffic)),
        relations,
    )
    width, bins = _bins(covered, plan, fs)
    extent = covered.start, covered.end
    reading = Reading(source, extent, plan.events_waiting * 400, plan.workers, client)
    grid = BinGrid(MODES * len(lineages), bins, float(covered.start), width)
    sums, tally = OperationSums(definitions, order, selection, counted, extent, grid), Tally()

    known = (definitions, order, selection, counted)

    def make() -> _Parts:
        return _Parts(HandleSums(*known), RelationSums(*known, extent) if relations else None)

    parts = reading.summed(make, BinnedSums(sums, tally), progress)
    tally.damage.check_something_read(source.path)
    final = select_window(trace_window(definitions.clock, sums.extent), window)
    grid.cover(final)
    if parts.relations is not None:
        parts.relations.window = final
    return BinnedTrace(
        path=source.path,
        definitions=definitions,
        sums=sums,
        grid=grid,
        handle_parts=parts.handles,
        known_relations=parts.relations,
        reading=reading,
        damage=tally.damage,
        engine=source.engine,
        events_total=tally.events,
        events_of_io=tally.io_events,
        tick_window=final,
        selection=selection,
        unmatched_events=tally.unmatched,
    )


def _bins(window: TickWindow, plan: MemoryPlan, fs: float | Literal["auto"]) -> tuple[float, int]:
    """Return width in ticks and number of the bins that are kept."""
    length = window.end - window.start
    if fs == "auto":
        # Nothing is known of what lies between two ticks.
        return max(length / plan.bins, 1.0), plan.bins
    low, high = window.seconds
    needed = bin_count(high - low, fs)
    if needed > MOST_BINS:
        raise SelectionError(
            f"{needed} bins of {1 / fs:.6g} s are more than the {MOST_BINS} that can be kept: take a lower frequency"
        )
    if needed > plan.bins:
        raise SelectionError(
            f"{needed} bins of {1 / fs:.6g} s do not fit into the memory: give it "
            f"{-(-plan.memory_for(needed) // 10**6)}M, or take a lower frequency"
        )
    parts = max(1, min(plan.bins // needed, int(window.ticks_per_second / fs)))
    return window.ticks_per_second / (fs * parts), plan.bins
