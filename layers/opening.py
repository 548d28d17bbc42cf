"""Opening a trace: its events read, matched and split into layers."""

import functools
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Literal, overload

from ..model.errors import SelectionError
from ..model.stream.columns import CollectedOperations
from ..model.stream.mapping import Progress, cluster_of, map_partitions
from ..model.stream.source import Block, Partition, Source, Tally
from .selection.files import DEFAULT_RULES, FileRule, select_files
from .selection.window import select_window, trace_window
from .summary.trace import BinnedTrace, read_binned_trace
from .trace import Trace, Window


@overload
def open_trace(
    path: str | Path,
    *,
    memory: None = None,
    fs: Literal["auto"] = "auto",
    engine: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Window | None = None,
    progress: Progress | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
    client: Any = None,
) -> Trace: ...
@overload
def open_trace(
    path: str | Path,
    *,
    memory: int,
    fs: float | Literal["auto"] = "auto",
    engine: str = "auto",
    workers: int | None = None,
    files: str = "application",
    window: Window | None = None,
    progress: Progress | None = None,
    rules: Iterable[tuple[str, str]] = DEFAULT_RULES,
) -> BinnedTrace: ...
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
) -> Trace | BinnedTrace:
    """Read a trace, an OTF2 archive or what another recorder wrote, and split its I/O into layers.

    Parameters
    ----------
    path : str or Path
        The anchor (``*.otf2``), or a folder that holds exactly one.
    memory : int, optional
        Bytes that the process may take in all. With it the events are not kept but summed up while they are read, into
        bandwidths in bins of time and statistics; the result is a `BinnedTrace`, which has no operations.
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
    if memory is not None:
        return read_binned_trace(
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
    if fs != "auto":
        raise SelectionError("fs bounds the bins that are kept with memory=: without it, give fs to what samples")
    from .selection.source import open_timed_source

    source = open_timed_source(path, engine)
    definitions = source.definitions
    # What can be refused is refused before the events are read.
    table = tuple(FileRule(*rule) for rule in rules)
    selection = select_files(definitions, files, table)
    collected, tally = CollectedOperations(definitions), Tally()

    threads = source.worker_count(workers)
    total = sum(definitions.locations.events.tolist())
    with cluster_of(client, source.path) as cluster:
        partitions = source.partitions(None, threads if cluster is None else cluster.workers)
        read = functools.partial(_blocks, source)
        for blocks in map_partitions(read, partitions, total, threads, progress, cluster):
            for block in blocks:
                collected.add(block)
                tally.add(block)
    tally.damage.check_something_read(source.path)
    (other_events, _), operations = collected.metadata(), collected.operations()
    return Trace(
        path=source.path,
        definitions=definitions,
        other_events=other_events,
        operations=operations,
        damage=tally.damage,
        engine=source.engine,
        events_total=tally.events,
        events_of_io=tally.io_events,
        tick_window=select_window(trace_window(definitions.clock, operations.extent), window),
        rules=table,
        selection=selection,
        unmatched_events=tally.unmatched,
        source=source,
        workers=workers,
    )


def _blocks(source: Source, partition: Partition, done: Callable[[int], None]) -> list[Block]:
    return list(source.read(partition, done=done))
