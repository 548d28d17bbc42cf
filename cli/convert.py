"""``iostrata convert``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

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

if TYPE_CHECKING:
    from ..layers.trace import Trace

HDF5_SUFFIXES: Final = (".h5", ".nc")
PARQUET_SUFFIX: Final = ".parquet"


def parse_output(_context: click.Context, _option: click.Parameter, path: Path) -> Path:
    """Return `path` where its suffix names a kind of file that can be written.

    Raises
    ------
    click.BadParameter
        If it does not.
    """
    known = (*HDF5_SUFFIXES, PARQUET_SUFFIX)
    if path.suffix.lower() not in known:
        raise click.BadParameter(f"{str(path)!r} ends in none of the known suffixes: {', '.join(known)}")
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
    """Write layers to HDF5/netCDF-4, or operations to Parquet.

    OUT ends in .h5 or .nc, which are the same format: bandwidths as means over bins of 1/fs seconds in B/s, handles,
    periods and the comparison of the layers. Or it ends in .parquet: one row an operation of any file, with the
    operation of a higher layer that it belongs to; --traffic, --method and --fs do not matter there. A file that is
    there already is replaced once the new one is complete.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them.
    """
    from .reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    if out.suffix == PARQUET_SUFFIX:
        _write_operations(opened, out, layers, as_json)
        return
    from ..export.hdf5 import write_hdf5

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


def _write_operations(opened: "Trace", out: Path, layers: tuple[str, ...], as_json: bool) -> None:
    from ..export.parquet import write_parquet

    written = write_parquet(opened, out, layers=layers)
    if as_json:
        from ..export.documents import table_document
        from ..export.json_text import json_text

        click.echo(json_text(table_document(opened, written)))
    else:
        from ..export.terminal.console import stdout_console
        from ..export.terminal.conversion import print_table_conversion

        print_table_conversion(written, stdout_console())
