"""Opening a trace: its events read, matched and split into layers."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, Literal

from ..model.budget import memory_given
from ..model.errors import SelectionError
from ..model.stream.columns import CollectedOperations
from ..model.stream.mapping import Progress, cluster_of, map_partitions
from ..model.stream.source import Block, Partition, Source, Tally
from ..model.sums import Sums, nested
from ..signals.samples import bin_count
from .attribution.attribution import TraceBlock
from .attribution.stream import KeptEvents, Reading, Stream
from .flow.relations import RelationSums
from .handles.scope import Scope
from .handles.stack import layer_order
from .handles.sums import HandleSums
from .selection.directions import DIRECTIONS
from .selection.files import DEFAULT_RULES, FileSelection, select_files
from .selection.source import open_timed_source
from .selection.window import Seconds, TickWindow, bounded_windows, select_window, trace_window
from .statistics.grouping import grouping
from .summary.accumulator import OperationSums
from .summary.bins import BinGrid
from .summary.memory import BYTES_PER_HANDLE, MOST_BINS, MemoryPlan, plan_memory
from .summary.tables import MODES
from .trace import Trace, TraceSums, trace_of

BinsPerSecond = float | Literal["auto"]


@dataclass(frozen=True)
class Purpose:
    """What a trace that is read in bounded memory will be used for.

    Attributes
    ----------
    handle_bytes : int
        What to set aside of the memory for each handle of the trace.
    relations : bool
        Whether to add up what layers are to each other in the same pass; else their first use reads the trace again.
    parts : (str, int), optional
        By which key the layers will be split, and how many parts of each in a direction will have signals; see
        `TraceSums.parts`.
    """

    handle_bytes: int = BYTES_PER_HANDLE
    relations: bool = False
    parts: tuple[str, int] | None = None


ANYTHING: Final = Purpose()


class FirstSums(Sums):
    """What the first reading of a trace that is not kept adds up, beside `OperationSums`.

    Attributes
    ----------
    tally : Tally
        What the blocks say beside operations and metadata events.
    handles : HandleSums
    relations : RelationSums or None
        What layers are to each other, if asked for.
    """

    scope: Scope
    with_relations: bool
    most_calls: int | None
    tally: Tally = nested(lambda _sums: Tally())
    handles: HandleSums = nested(lambda sums: HandleSums(sums.scope))
    relations: RelationSums | None = nested(
        lambda sums: RelationSums(sums.scope, most_calls=sums.most_calls) if sums.with_relations else None
    )

    def add(self, block: TraceBlock) -> None:
        """Add a block that was read."""
        if block.block is not None:
            self.tally.add(block.block)
        self.handles.add(block)
        if self.relations is not None:
            self.relations.add(block)


def open_trace(
    path: str | Path,
    *,
    memory: int | None = None,
    fs: BinsPerSecond = "auto",
    engine: str = "auto",
    calls: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Seconds | None = None,
    progress: Progress | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
    client: Any = None,
    purpose: Purpose = ANYTHING,
) -> Trace:
    """Read a trace, an OTF2 archive or what another recorder wrote, and split its I/O into layers.

    Parameters
    ----------
    path : str or Path
        The anchor (``*.otf2``), or a folder that holds exactly one.
    memory : int, optional
        Bytes that the process may take in all. With it the events are not kept but summed up while they are read, into
        bandwidths in bins of time and statistics; the result has no operations.
    fs : float or "auto"
        With `memory`: bins per second (Hz). Each such bin is a whole number of the result's bins, so that sampling at
        `fs` loses nothing. "auto": as many bins as the memory allows. Without `memory` signals are exact and there is
        nothing to choose: `fs` then belongs to `detect_period`, ``signal.sample`` and whatever else samples.
    engine : {"auto", "direct", "library"}
        What reads the events; both give the same rows.
    calls : {"auto", "all", "off"}
        Whether the calls of netCDF, HDF5, PnetCDF and others that an archive has as regions, without I/O records of
        that library, become operations, handles and a layer; "all": of libraries with I/O records, too, calls that
        have none.
    workers : int, optional
        Threads that read.
    files : str
        ``application``: what `rules` do not set aside; ``all``; or a shell pattern for full file names.
    window : (start, end) in s from the trace's start, optional
        As in `Trace.select`.
    progress : callable, optional
        Called with the events done and the events in total.
    rules : iterable of (pattern, reason)
        Which files are set aside; see `FileRule`.
    client : distributed.Client or str, optional
        A running Dask cluster, or the address of its scheduler, whose workers read instead of threads here. They need
        the same versions of Python and iostrata, and see the trace under the same path.
    purpose : Purpose
        With `memory`: what the trace will be used for, so that memory is set aside for it.

    Raises
    ------
    TraceError
        If the archive cannot be read, or nothing of its events.
    SelectionError
        If files, window, engine, memory or `fs` make no sense.
    ClusterError
        If the cluster does not answer, goes away, or has workers that cannot do the work.

    Examples
    --------
    >>> trace = open_trace("fixtures/ckpt4")  # doctest: +SKIP
    >>> trace.layers["MPI-IO"].statistics("write").bytes  # doctest: +SKIP
    167772160
    """
    if memory is None and fs != "auto":
        raise SelectionError("fs bounds the bins that are kept with memory=: without it, give fs to what samples")
    with memory_given(memory):
        source = open_timed_source(path, engine, calls)
    # What can be refused is refused before the events are read.
    selection = select_files(source.definitions, files, rules)
    if memory is None:
        reading = Reading(source, None, source.worker_count(workers), client)
        return _kept_trace(reading, selection, window, progress)
    counted, covered = bounded_windows(source.definitions, window)
    order = layer_order(source.definitions)
    scope = Scope(source.definitions, order, selection, counted, (covered.start, covered.end))
    plan = _memory_plan(memory, source, scope, workers, purpose)
    grid = BinGrid(MODES * len(scope.lineages), plan.bins, *_origin_and_unit(covered, plan, fs), scope.covered)
    reading = Reading(source, plan.events_waiting * 400, plan.workers, client, plan.calls)
    return _added_trace(reading, OperationSums(scope, grid), window, progress, purpose)


def _kept_trace(reading: Reading, selection: FileSelection, window: Seconds | None, progress: Progress | None) -> Trace:
    """Read a trace and keep its blocks."""
    source, tally = reading.source, Tally()
    kept = _kept_blocks(reading, tally, progress)
    tally.damage.check_something_read(source.path)
    chosen = select_window(trace_window(source.definitions.clock, kept.operations.extent), window)
    order, covered = layer_order(source.definitions), (chosen.start, chosen.end)
    scope = Scope(source.definitions, order, selection, chosen, covered, exact=True)
    stream = Stream(source.path, source.engine, scope, reading, kept)
    return trace_of(stream, tally)


def _added_trace(
    reading: Reading, operations: OperationSums, window: Seconds | None, progress: Progress | None, purpose: Purpose
) -> Trace:
    """Read a trace and keep what its blocks add up to."""
    source, counted = reading.source, operations.scope
    make = functools.partial(FirstSums, counted, purpose.relations, reading.most_calls)
    found = reading.summed(counted, make, operations, progress)
    found.tally.damage.check_something_read(source.path)
    # The true start and end are known now.
    whole = trace_window(source.definitions.clock, operations.extent)
    scope = replace(counted, window=select_window(whole, window))
    operations.take_scope(scope)
    if found.relations is not None:
        found.relations.scope = scope
    known = {"operations": operations, "handles": found.handles, "relations": found.relations}
    stream = Stream(source.path, source.engine, scope, reading)
    return Trace(stream, TraceSums(stream, known), found.tally)


def _kept_blocks(reading: Reading, tally: Tally, progress: Progress | None) -> KeptEvents:
    """Read all operations and other I/O events."""
    source, threads = reading.source, reading.workers
    collected, total = CollectedOperations(source.definitions), sum(source.definitions.locations.events.tolist())
    with cluster_of(reading.client, source.path) as cluster:
        partitions = source.partitions(None, threads if cluster is None else cluster.workers)
        read = functools.partial(_blocks, source)
        for blocks in map_partitions(read, partitions, total, threads, progress, cluster):
            for block in blocks:
                collected.add(block)
                tally.add(block)
    (other_events, _), operations = collected.metadata(), collected.operations()
    return KeptEvents(operations, other_events)


def _blocks(source: Source, partition: Partition, done: Callable[[int], None]) -> list[Block]:
    return list(source.read(partition, done=done))


def _memory_plan(memory: int, source: Source, scope: Scope, workers: int | None, purpose: Purpose) -> MemoryPlan:
    """Share out the memory; SelectionError where it is not enough."""
    lineages, of_parts = scope.lineages, 0
    if purpose.parts is not None:
        by, most = purpose.parts
        of_parts = min(most, len(grouping(scope.definitions, by).keys)) * len(DIRECTIONS) * len(scope.order)
    signals, kinds = 2 * len(lineages) + of_parts, 2 * len(set(lineages.traffic))
    try:
        return plan_memory(memory, source, signals, workers, purpose.handle_bytes, kinds, purpose.relations)
    except SelectionError as error:
        if not of_parts:
            raise
        raise SelectionError(
            f"{error}, or look at fewer parts with --parts: {of_parts:,} signals are too many"
        ) from None


def _origin_and_unit(window: TickWindow, plan: MemoryPlan, fs: BinsPerSecond) -> tuple[int, float]:
    """Return where a bin begins, and of what widths of bins are powers of two; both in ticks."""
    if fs == "auto":
        # Nothing is known of what lies between two ticks.
        return 0, 1.0
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
    halves = max(1, min(plan.bins // needed, int(window.ticks_per_second / fs))).bit_length() - 1
    return window.start, window.ticks_per_second / (fs * (1 << halves))
