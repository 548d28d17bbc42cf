"""``iostrata convert``."""

from pathlib import Path
from typing import Final

import click

from .options import (
    Frequency,
    Seconds,
    files_option,
    frequency_option,
    json_option,
    layer_option,
    method_option,
    reading_options,
    trace_argument,
    traffic_option,
    window_option,
)

HDF5_SUFFIXES: Final = (".h5", ".nc")


def parse_output(_context: click.Context, _option: click.Parameter, path: Path) -> Path:
    """Return `path` where its suffix names a kind of file that can be written.

    Raises
    ------
    click.BadParameter
        If it does not.
    """
    if path.suffix.lower() not in HDF5_SUFFIXES:
        raise click.BadParameter(f"{str(path)!r} ends in none of the known suffixes: {', '.join(HDF5_SUFFIXES)}")
    return path


@click.command(epilog="Example: iostrata convert traces.otf2 layers.h5 --fs 10")
@trace_argument
@click.argument("out", type=click.Path(path_type=Path), callback=parse_output)
@layer_option
@traffic_option
@method_option
@frequency_option
@window_option
@files_option
@reading_options
@json_option
def command(
    trace: Path,
    out: Path,
    layers: tuple[str, ...],
    traffic: str,
    method: str,
    fs: Frequency,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Write bandwidths, handles and periods to an HDF5/netCDF-4 file.

    OUT ends in .h5 or .nc; both are the same format. Bandwidths are means over bins of 1/fs seconds in B/s. A file that
    is there already is replaced once the new one is complete.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them.
    """
    from ..export.hdf5 import write_hdf5
    from .reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    written = write_hdf5(opened, out, fs=fs, layers=layers or None, traffic=traffic, method=method)
    if as_json:
        from ..export.documents import conversion_document
        from ..export.json_text import json_text

        document = conversion_document(opened, written)
        click.echo(json_text(document))
    else:
        from ..export.terminal.console import stdout_console
        from ..export.terminal.conversion import print_conversion

        print_conversion(written, stdout_console())
