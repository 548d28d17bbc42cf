"""``iostrata convert``."""

from pathlib import Path
from typing import Final

import click

from ..options import FILTER, FREQUENCY, LAYERS, MEMORY, METHOD, READING, TRAFFIC, output
from ..request import Request, print_written, trace_command

HDF5_SUFFIXES: Final = (".h5", ".nc")

OUT = output(known=(*HDF5_SUFFIXES, ".parquet", ".perfetto.json", ".otf2"))


@trace_command(
    "convert traces.otf2 layers.h5 --fs 10", OUT, LAYERS, TRAFFIC, METHOD, FREQUENCY, FILTER, *READING, MEMORY
)
def command(request: Request, out: Path) -> None:
    """Write layers to HDF5/netCDF-4, operations to Parquet, or timelines.

    OUT ends in .h5 or .nc, which are the same format: bandwidths as means over bins of 1/fs seconds in B/s, handles,
    periods and the comparison of the layers. In .parquet: one row an operation of any file, with the operation of a
    higher layer that it belongs to; --traffic, --method and --fs do not matter there. In .perfetto.json: a timeline for
    ui.perfetto.dev. In .otf2: a copy of the archive with phases and periods as markers, for Vampir. A file that is
    there already is replaced once the new one is complete; an archive is not.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them. With --filter, the
    groups periods, regimes and components are those of the filtered signals; nothing else is filtered.

    --filter is for .h5 and .nc only. With --memory, operations in .parquet are numbered as they are read.
    """
    name, kinds = out.name.lower(), " and ".join(HDF5_SUFFIXES)
    layers, traffic, method, fs = request.layers, request.traffic, request.method, request.fs
    if name.endswith(HDF5_SUFFIXES):
        from ...export.hdf5.writer import write_hdf5

        read = request.open(relations=True)
        written = write_hdf5(read, out, fs=fs, layers=layers, traffic=traffic, method=method, filter=request.filter)
        print_written(read, written, request.as_json)
        return
    if request.filter is not None:
        raise click.UsageError(f"--filter is for {kinds}: the other files hold what happened")
    trace = request.open()
    if name.endswith(".parquet"):
        from ...export.parquet import write_parquet

        written = write_parquet(trace, out, layers=layers)
    elif name.endswith(".otf2"):
        from ...export.timeline.otf2_markers import write_annotated

        written = write_annotated(trace, out, fs=fs, layers=layers, traffic=traffic, method=method)
    else:
        from ...export.timeline.perfetto import write_perfetto

        written = write_perfetto(trace, out, fs=fs, layers=layers, traffic=traffic, method=method)
    print_written(trace, written, request.as_json)
