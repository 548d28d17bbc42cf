"""Opening a trace: its events read, matched and split into layers."""

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

from ..model.definitions import Definitions
from ..model.errors import SelectionError
from ..model.operations import Operations
from ..model.stream.columns import CollectedOperations
from ..model.stream.mapping import Progress, cluster_of, map_partitions
from ..model.stream.source import Block, Partition, Source, Tally
from ..signals.samples import bin_count
from .attribution.blocks import KeptEvents
from .flow.sums import RelationSums
from .handles.metadata import MetadataEvents
from .handles.order import layer_order
from .handles.scope import Scope
from .handles.stack import handle_lineages
from .handles.sums import HandleSums
from .selection.directions import DIRECTIONS
from .selection.files import DEFAULT_RULES, FileRule, select_files
from .selection.source import open_timed_source
from .selection.window import TickWindow, bounded_windows, select_window, trace_window
from .statistics.grouping import grouping
from .summary.accumulator import OperationSums
from .summary.bins import BinGrid
from .summary.memory import BYTES_PER_HANDLE, MOST_BINS, MemoryPlan, plan_memory
from .summary.reading import BinnedSums, Reading
from .summary.tables import MODES
from .trace import Binned, Trace, Window


def open_trace(
    path: str | Path,
    *,
    memory: int | None = None,
    fs: float | Literal["auto"] = "auto",
    engine: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Window | None = None,
    progress: Progress | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
    client: Any = None,
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
    return read_trace(
        path,
        memory,
        fs=fs,
        engine=engine,
        workers=workers,
        files=files,
        window=window,
        progress=progress,
        rules=rules,
        client=client,
    )


def read_trace(
    path: str | Path,
    memory: int | None = None,
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
    parts: tuple[str, int] | None = None,
    client: object = None,
) -> Trace:
    """Read a trace as `open_trace`, of which the other parameters are, with what else is known of what it is for.

    Raises as `open_trace`.

    Parameters
    ----------
    handle_bytes : int
        What to set aside of the memory for each handle of the trace.
    relations : bool
        With `memory`: whether to add up what layers are to each other in the same pass; else their first use reads the
        trace again.
    parts : (str, int), optional
        With `memory`: by which key the layers will be split, and how many parts of each in a direction will have
        signals; see `Trace.binned_parts`.
    """
    source = open_timed_source(path, engine)
    definitions, tally = source.definitions, Tally()
    # What can be refused is refused before the events are read.
    table = tuple(FileRule(*rule) for rule in rules)
    selection = select_files(definitions, files, table)
    kept, binned = None, None
    if memory is None:
        threads = source.worker_count(workers)
        kept = _all_rows(source, tally, threads, progress, client)
        whole = trace_window(definitions.clock, kept.operations.extent)
        tick_window = select_window(whole, window)
        reading = Reading(source, (whole.start, whole.end), None, threads, client)
    else:
        counted, covered = bounded_windows(definitions, window)
        order = layer_order(definitions)
        scope = Scope(definitions, order, selection, counted, (covered.start, covered.end))
        lineages = handle_lineages(scope.stack)
        of_parts = _part_signals(definitions, order, parts)
        kinds = 2 * len(set(lineages.traffic))
        try:
            plan = plan_memory(memory, source, 2 * len(lineages) + of_parts, workers, handle_bytes, kinds, relations)
        except SelectionError as error:
            if not of_parts:
                raise
            raise SelectionError(
                f"{error}, or look at fewer parts with --parts: {of_parts:,} signals are too many"
            ) from None
        reading = Reading(source, scope.covered, plan.events_waiting * 400, plan.workers, client)
        grid = BinGrid(MODES * len(lineages), plan.bins, *_origin_and_unit(covered, plan, fs), scope.covered)
        sums = OperationSums(scope, grid)

        def make() -> _Parts:
            return _Parts(HandleSums(scope), RelationSums(scope) if relations else None)

        found = reading.summed(make, BinnedSums(sums, tally), progress)
        tally.damage.check_something_read(source.path)
        tick_window = select_window(trace_window(definitions.clock, sums.extent), window)
        grid.cover(tick_window)
        if found.relations is not None:
            found.relations.scope = replace(scope, window=tick_window)
        binned = Binned(sums, grid, found.handles, found.relations)
    return Trace(
        path=source.path,
        definitions=definitions,
        damage=tally.damage,
        engine=source.engine,
        events_total=tally.events,
        tick_window=tick_window,
        rules=table,
        selection=selection,
        kept=kept,
        binned=binned,
        io_events=tally.io_events,
        unmatched_events=tally.unmatched,
        reading=reading,
    )


def _all_rows(source: Source, tally: Tally, threads: int, progress: Progress | None, client: object) -> KeptEvents:
    """Read all operations and other I/O events."""
    collected, total = CollectedOperations(source.definitions), sum(source.definitions.locations.events.tolist())
    with cluster_of(client, source.path) as cluster:
        partitions = source.partitions(None, threads if cluster is None else cluster.workers)
        read = functools.partial(_blocks, source)
        for blocks in map_partitions(read, partitions, total, threads, progress, cluster):
            for block in blocks:
                collected.add(block)
                tally.add(block)
    tally.damage.check_something_read(source.path)
    (other_events, _), operations = collected.metadata(), collected.operations()
    return KeptEvents(operations, other_events)


def _blocks(source: Source, partition: Partition, done: Callable[[int], None]) -> list[Block]:
    return list(source.read(partition, done=done))


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


def _part_signals(definitions: Definitions, order: tuple[str, ...], parts: tuple[str, int] | None) -> int:
    """Return how many signals of parts there can be at most."""
    if parts is None:
        return 0
    by, most = parts
    return min(most, len(grouping(definitions, by).keys)) * len(DIRECTIONS) * len(order)


def _origin_and_unit(window: TickWindow, plan: MemoryPlan, fs: float | Literal["auto"]) -> tuple[int, float]:
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
