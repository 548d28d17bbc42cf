"""Opening a trace for a command: with progress while it is read, and warnings about what it lacks."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from .options import Frequency, Seconds
from .progress import Progress

if TYPE_CHECKING:
    from ..layers.protocols import AnyTrace
    from ..layers.summary.trace import BinnedTrace
    from ..layers.trace import Trace


def read_trace(path: Path, engine: str, workers: int | None, files: str, window: Seconds | None) -> "Trace":
    """Open the trace at `path` and warn on stderr where it is damaged or hardly anything of it counts.

    Raises
    ------
    TraceError, SelectionError
        As `open_trace`.
    """
    from ..layers.opening import open_trace

    with Progress("reading events") as progress:
        trace = open_trace(path, engine=engine, workers=workers, files=files, window=window, progress=progress)
    _warn_of_damage(trace)
    _warn_of_set_aside(trace)
    return trace


def read_bins(
    path: Path,
    memory: int,
    fs: Frequency,
    engine: str,
    workers: int | None,
    files: str,
    window: Seconds | None,
    handle_bytes: int = 2000,
) -> "BinnedTrace":
    """Read the trace at `path` in bounded memory, and warn as `read_trace` does.

    Raises
    ------
    TraceError, SelectionError
        As `read_binned_trace`.
    """
    from ..layers.summary.trace import read_binned_trace

    with Progress("reading events") as progress:
        trace = read_binned_trace(
            path,
            memory,
            fs=fs,
            engine=engine,
            workers=workers,
            files=files,
            window=window,
            progress=progress,
            handle_bytes=handle_bytes,
        )
    _warn_of_damage(trace)
    _warn_of_set_aside(trace)
    return trace


def warn(message: str) -> None:
    """Print a warning as one line on stderr."""
    from ..model.text import printable

    click.echo(f"iostrata: warning: {printable(message)}", err=True)


def _warn_of_damage(trace: "AnyTrace") -> None:
    if trace.damage.damaged:
        from ..export.terminal.notes import damage_summary

        first = trace.damage.locations[0]
        warn(f"{damage_summary(trace.damage)} (location {first.location}: {first.reason})")


def _warn_of_set_aside(trace: "AnyTrace") -> None:
    """Warn where the selection leaves nothing although the trace has operations."""
    aside = trace.set_aside
    if aside.operations and not any(layer.directions or layer.flushes for layer in trace.layers.values()):
        from ..model.units import bytes_text, counted

        what = f"{counted(aside.operations, 'operation')} ({bytes_text(aside.bytes)})"
        remedy = "--files all counts them" if trace.files == "application" else "choose other files"
        warn(f"nothing to show: all {what} are on files set aside; {remedy}")
