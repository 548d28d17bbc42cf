"""``iostrata convert``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..options import (
    Frequency,
    Seconds,
    files_option,
    filter_option,
    frequency_option,
    json_option,
    layer_option,
    memory_option,
    method_option,
    reading_options,
    trace_argument,
    traffic_option,
    window_option,
)

if TYPE_CHECKING:
    from rich.text import Text

    from ...layers.summary.trace import BinnedTrace
    from ...layers.trace import Trace
    from ...model.document import Document

HDF5_SUFFIXES: Final = (".h5", ".nc")

PARQUET_SUFFIX: Final = ".parquet"

PERFETTO_SUFFIX: Final = ".perfetto.json"

OTF2_SUFFIX: Final = ".otf2"


def parse_output(_context: click.Context, _option: click.Parameter, path: Path) -> Path:
    """Return `path` where its suffix names a kind of file that can be written.

    Raises
    ------
    click.BadParameter
        If it does not.
    """
    known = (*HDF5_SUFFIXES, PARQUET_SUFFIX, PERFETTO_SUFFIX, OTF2_SUFFIX)
    if not path.name.lower().endswith(known):
        raise click.BadParameter(f"{str(path)!r} ends in none of the known suffixes: {', '.join(known)}")
    return path


@click.command(epilog="Example: iostrata convert traces.otf2 layers.h5 --fs 10")
@trace_argument
@click.argument("out", type=click.Path(path_type=Path), callback=parse_output)
@layer_option
@traffic_option
@method_option
@frequency_option
@filter_option
@window_option
@files_option
@reading_options
@memory_option
@json_option
def command(
    trace: Path,
    out: Path,
    layers: tuple[str, ...],
    traffic: str,
    method: str,
    fs: Frequency,
    filter: str | None,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    memory: int | None,
    as_json: bool,
) -> None:
    """Write layers to HDF5/netCDF-4, operations to Parquet, or timelines.

    OUT ends in .h5 or .nc, which are the same format: bandwidths as means over bins of 1/fs seconds in B/s, handles,
    periods and the comparison of the layers. In .parquet: one row an operation of any file, with the operation of a
    higher layer that it belongs to; --traffic, --method and --fs do not matter there. In .perfetto.json: a timeline for
    ui.perfetto.dev. In .otf2: a copy of the archive with phases and periods as markers, for Vampir. A file that is
    there already is replaced once the new one is complete; an archive is not.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them. With --filter, the
    groups periods, regimes and components are those of the filtered signals; nothing else is filtered.

    With --memory, which is for .h5 and .nc only too, the file has no group comparison.
    """
    from ..reading import read_bins, read_trace

    if filter is not None and not out.name.lower().endswith(HDF5_SUFFIXES):
        raise click.UsageError(f"--filter is for {' and '.join(HDF5_SUFFIXES)}: the other files hold what happened")
    name = out.name.lower()
    if memory is not None:
        if not name.endswith(HDF5_SUFFIXES):
            kinds = " and ".join(HDF5_SUFFIXES)
            raise click.UsageError(f"--memory is for {kinds} only: it keeps no operations, which {out.name!r} needs")
        binned = read_bins(trace, memory, fs, engine, workers, files, window)
        _print(_write_layers(binned, out, layers, traffic, method, fs, filter), as_json)
        return
    opened = read_trace(trace, engine, workers, files, window)
    if name.endswith(PARQUET_SUFFIX):
        written = _write_operations(opened, out, layers)
    elif name.endswith(PERFETTO_SUFFIX):
        written = _write_events(opened, out, layers, traffic, method, fs)
    elif name.endswith(OTF2_SUFFIX):
        written = _write_archive(opened, out, layers, traffic, method, fs)
    else:
        written = _write_layers(opened, out, layers, traffic, method, fs, filter)
    _print(written, as_json)


Written = tuple["Document", "Text"]
"""What ``--json`` prints and the line that is printed without it."""


def _print(written: Written, as_json: bool) -> None:
    document, line = written
    if as_json:
        from ...export.json.text import json_text

        click.echo(json_text(document))
    else:
        from ...export.terminal.console import stdout_console

        stdout_console().print(line)


def _write_layers(
    opened: "Trace | BinnedTrace",
    out: Path,
    layers: tuple[str, ...],
    traffic: str,
    method: str,
    fs: Frequency,
    filter: str | None,
) -> Written:
    from ...export.hdf5.writer import write_hdf5
    from ...export.json.documents import conversion_document
    from ...export.terminal.written import conversion_line

    written = write_hdf5(opened, out, fs=fs, layers=layers or None, traffic=traffic, method=method, filter=filter)
    return conversion_document(opened, written), conversion_line(written)


def _write_operations(opened: "Trace", out: Path, layers: tuple[str, ...]) -> Written:
    from ...export.json.documents import table_document
    from ...export.parquet import write_parquet
    from ...export.terminal.written import table_line

    written = write_parquet(opened, out, layers=layers)
    return table_document(opened, written), table_line(written)


def _write_events(
    opened: "Trace", out: Path, layers: tuple[str, ...], traffic: str, method: str, fs: Frequency
) -> Written:
    from ...export.json.documents import events_document
    from ...export.terminal.written import events_line
    from ...export.timeline.perfetto import write_perfetto

    written = write_perfetto(opened, out, fs=fs, layers=layers or None, traffic=traffic, method=method)
    return events_document(opened, written), events_line(written)


def _write_archive(
    opened: "Trace", out: Path, layers: tuple[str, ...], traffic: str, method: str, fs: Frequency
) -> Written:
    from ...export.json.documents import archive_document
    from ...export.terminal.written import archive_line
    from ...export.timeline.otf2_markers import write_annotated

    written = write_annotated(opened, out, fs=fs, layers=layers or None, traffic=traffic, method=method)
    return archive_document(opened, written), archive_line(written)
