"""Opening a trace: its events read, matched and split into layers."""

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Literal, overload

from ..model.errors import SelectionError
from .selection.files import DEFAULT_RULES, FileRule, select_files
from .selection.window import select_window, trace_window
from .summary.trace import BinnedTrace, read_binned_trace
from .trace import Trace, Window

Progress = Callable[[int, int], None]


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
) -> Trace | BinnedTrace:
    """Read an OTF2 archive and split its I/O into layers.

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

    Raises
    ------
    TraceError
        If the archive cannot be read, or nothing of its events.
    SelectionError
        If files, window, engine, memory or `fs` make no sense.

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
        )
    if fs != "auto":
        raise SelectionError("fs bounds the bins that are kept with memory=: without it, give fs to what samples")
    from ..otf2io.archive import open_archive, read_events
    from ..otf2io.matching.columns import match_events

    archive = open_archive(path)
    definitions = archive.definitions
    # What can be refused is refused before the events are read.
    table = tuple(FileRule(*rule) for rule in rules)
    selection = select_files(definitions, files, table)
    read = read_events(archive, engine=engine, workers=workers, progress=progress)
    read.damage.check_something_read(archive.anchor.path)
    matching = match_events(read.events, definitions)
    operations = matching.operations
    return Trace(
        path=archive.anchor.path,
        definitions=definitions,
        events=read.events,
        operations=operations,
        damage=read.damage,
        engine=read.engine,
        events_total=int(read.counts.sum()),
        tick_window=select_window(trace_window(definitions.clock, operations.extent), window),
        rules=table,
        selection=selection,
        unmatched_events=matching.unmatched_ends + matching.unmatched_steps,
        workers=workers,
    )
