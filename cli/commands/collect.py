"""Read many traces into Parquet tables, which say what each run did."""

import gc
from pathlib import Path
from typing import Any

import click

from ..options import POSITIVE, SETTINGS, option
from ..progress import Progress
from ..request import command_of, console, print_json, warn

UNUSABLE = 1
"""Exit code where no trace can be used."""

TRACES = click.argument("traces", nargs=-1, required=True, type=click.Path(path_type=Path))

FOLDER = option(
    "-o --output FOLDER",
    "Where the tables belong; made where there is none. Runs that are in it stay.",
    "out",
    required=True,
)

SEGMENT = option(
    "--segment SECONDS",
    "Length of a segment of the table of metrics by node; that of traces of seconds may be 0.4.",
    type=POSITIVE,
    default=5.0,
)


@command_of("collect /scratch/runs -o runs", TRACES, FOLDER, SEGMENT, *SETTINGS)
def command(
    traces: tuple[Path, ...], out: Path, workers: int | None, dask: str | None, as_json: bool, **settings: Any
) -> None:
    """TRACES are traces, folders that are searched for them, or FOLDER:PATTERN for those in it whose name matches. The
    FOLDER of -o gets the tables job, job_layer (a layer in one direction), finding, signal (bandwidth in 512 bins),
    segment (metrics by node), loop (what the program does over and over) and iteration, in bytes and seconds; any tool
    that reads Parquet can query them, and report, diff, signature and assess take FOLDER.

    What did not change since the last call is not read again, by a hash over its content. A trace that cannot be used
    is a row that says why, and a warning counts them; only where none of TRACES can be used the exit code is 1. A call
    that was interrupted goes on where it ended when it is repeated.
    """
    from ...export.collection import write_collection
    from ...model.budget import KEPT, keep_freed_memory
    from ...model.errors import TraceError
    from ...model.quantities import counted
    from ...runs.collection.chosen import chosen_runs
    from ...runs.collection.read import Settings

    chosen = chosen_runs(traces)
    for collection in chosen.collections:
        raise TraceError(f"{collection.path} is a collection already; name the traces")
    keep_freed_memory(KEPT)
    # Each trace leaves circles of objects that hold its counters.
    gc.set_threshold(700)
    with Progress("reading traces") as progress:
        written = write_collection(
            chosen.traces, out, settings=Settings(**settings), workers=workers, client=dask, progress=progress
        )
    if as_json:
        from ...model.document import SCHEMA_VERSION

        print_json({"schema_version": SCHEMA_VERSION, "output": written.to_dict()})
    else:
        from ...export.runs.collection_text import print_collected

        print_collected(written, console())
    if written.failed:
        all_failed = len(written.failed) == len(chosen.traces)
        whole = counted(len(chosen.traces), "trace")
        text = f"none of {whole} can be used" if all_failed else f"{len(written.failed):,} of {whole} cannot be used"
        kind = "error" if all_failed else "warning"
        warn(f"{text}; the table job says why", kind)
        if all_failed:
            raise click.exceptions.Exit(UNUSABLE)
