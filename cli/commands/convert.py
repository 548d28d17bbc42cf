"""``iostrata convert``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ...model.text import printable
from ..options import DIRECTION, FILTER, FREQUENCY, LAYERS, MEMORY, METHOD, READING, TRAFFIC, output
from ..request import Request, print_written, trace_command

if TYPE_CHECKING:
    from ...layers.trace import Trace

HDF5_SUFFIXES: Final = (".h5", ".nc")
FTIO_SUFFIX: Final = ".ftio.jsonl"

OUT = output(known=(*HDF5_SUFFIXES, ".parquet", ".perfetto.json", ".otf2", FTIO_SUFFIX))

REWRITE = click.option(
    "--rewrite",
    is_flag=True,
    help="Write .otf2 anew from the operations of an OTF2 archive instead of copying it.",
)


@trace_command(
    "convert traces.otf2 layers.h5 --fs 10",
    OUT,
    REWRITE,
    LAYERS,
    DIRECTION,
    TRAFFIC,
    METHOD,
    FREQUENCY,
    FILTER,
    *READING,
    MEMORY,
)
def command(request: Request, out: Path, rewrite: bool) -> None:
    """Write files for other tools: HDF5, Parquet, OTF2, timelines, FTIO.

    OUT ends in .h5 or .nc, which are the same format: bandwidths as means over bins of 1/fs seconds in B/s, handles,
    periods and the comparison of the layers. In .parquet: one row an operation of any file, with the operation of a
    higher layer that it belongs to; --traffic, --method and --fs do not matter there. In .perfetto.json: a timeline for
    ui.perfetto.dev. In .ftio.jsonl: the bandwidth of one layer for FTIO, as bins of 1/fs seconds; without --layer that
    with most of the bytes that the program itself asked for.

    In .otf2, for Vampir: of an OTF2 archive a copy with phases and periods as markers; of any other trace, and with
    --rewrite, a new archive with all I/O of the trace: files, handles, operations, metadata events. To mark that one,
    convert it once more. A file that is there already is replaced once the new one is complete; an archive is not.

    With --fs auto, all bandwidths share one frequency, the highest that one of them needs, while the method chooses
    another for each period that it looks for (fs_hz of the group periods). --fs HZ sets all of them. With --filter, the
    groups periods, regimes and components are those of the filtered signals; nothing else is filtered.

    --filter is for .h5 and .nc only, --direction for .ftio.jsonl. With --memory, operations in .parquet are numbered as
    they are read.
    """
    name, kinds = out.name.lower(), " and ".join(HDF5_SUFFIXES)
    layers, traffic, method, fs = request.layers, request.traffic, request.method, request.fs
    if request.direction is not None and not name.endswith(FTIO_SUFFIX):
        raise click.UsageError(f"--direction is for {FTIO_SUFFIX}: the other files hold both")
    if rewrite and not name.endswith(".otf2"):
        raise click.UsageError("--rewrite is for .otf2: the other files are always made anew")
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
    elif name.endswith(FTIO_SUFFIX):
        from ...export.ftio import write_ftio

        if len(layers) > 1:
            raise click.UsageError(f"{FTIO_SUFFIX} holds one layer: choose it with one --layer NAME")
        written = write_ftio(trace, out, layers=layers, direction=request.direction, traffic=traffic, fs=fs)
        if not layers and len(trace.order) > 1:
            (taken,) = written.layers or ("",)
            others = ", ".join(name for name in trace.order if name != taken)
            most = "bytes" if trace.definitions.recording.handles == "absent" else "of the program's own bytes"
            why = f"{taken} moved most {most}; --layer takes another ({others})"
            click.echo(f"iostrata: note: {FTIO_SUFFIX} holds one layer: {printable(why)}", err=True)
    elif name.endswith(".otf2") and (rewrite or not _is_archive(trace)):
        from ...export.timeline.otf2_archive import write_otf2

        if layers or traffic != "all" or request.window is not None or request.files != "application":
            raise click.UsageError(
                "--layer, --traffic, --window and --files choose nothing here: a new archive holds all I/O of the trace"
            )
        written = write_otf2(trace, out)
    elif name.endswith(".otf2"):
        from ...export.timeline.otf2_markers import write_annotated

        written = write_annotated(trace, out, fs=fs, layers=layers, traffic=traffic, method=method)
    else:
        from ...export.timeline.perfetto import write_perfetto

        written = write_perfetto(trace, out, fs=fs, layers=layers, traffic=traffic, method=method)
    print_written(trace, written, request.as_json)


def _is_archive(trace: "Trace") -> bool:
    from ...otf2io.archive import ENGINES

    return trace.engine in ENGINES
