"""``iostrata layers``."""

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..options import (
    Seconds,
    direction_option,
    files_option,
    json_option,
    layer_option,
    memory_option,
    reading_options,
    trace_argument,
    traffic_option,
    window_option,
)

if TYPE_CHECKING:
    from ...layers.protocols import AnyTrace


@click.command(epilog="Example: iostrata layers traces.otf2 --direction write --window 10:60")
@trace_argument
@layer_option
@direction_option
@traffic_option
@click.option(
    "--by",
    type=click.Choice(["file", "filesystem", "rank", "node", "handle", "function"]),
    help="Also split the layers: operations of each kind (metadata too), bytes and time by file, file system, rank, "
    "compute node, handle or the I/O function that was called (read by the engine direct only). All directions "
    "and all traffic are shown.",
)
@window_option
@files_option
@reading_options
@memory_option
@json_option
def command(
    trace: Path,
    layers: tuple[str, ...],
    direction: str | None,
    traffic: str,
    by: str | None,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    memory: int | None,
    as_json: bool,
) -> None:
    """Show what each I/O layer did: operations, bytes, time, requests.

    One row per layer and direction, the highest layer first. Bytes are those moved by completed operations, with
    decimal prefixes (1 MB = 1,000,000 B); busy is the time in s in which at least one operation was under way; own is
    the share of bytes that the program moved by calling this layer itself.
    """
    from ...analysis.comparison.layer_periods import chosen_layers
    from ...layers.selection.directions import DIRECTIONS
    from ..reading import read_bins, read_trace

    opened: AnyTrace
    table = None
    if memory is not None:
        if by is not None:
            raise click.UsageError("--memory keeps no operations, which --by needs: leave one of them out")
        opened = read_bins(trace, memory, "auto", engine, workers, files, window, 300)
    else:
        opened = full = read_trace(trace, engine, workers, files, window)
        # What cannot be split is refused before anything is printed.
        table = full.breakdown(by).of_layers(tuple(one.name for one in chosen_layers(full, layers))) if by else None
    chosen = chosen_layers(opened, layers)
    directions = DIRECTIONS if direction is None else (direction,)
    if as_json:
        from ...export.json.documents import layers_document
        from ...export.json.text import json_text

        document = layers_document(opened, chosen, directions, traffic)
        if table is not None:
            from ...export.json.documents import breakdown_entry

            document["breakdown"] = breakdown_entry(table)
        click.echo(json_text(document))
    else:
        from ...export.terminal.console import stdout_console
        from ...export.terminal.layers import print_layers

        console = stdout_console()
        print_layers(opened, chosen, directions, console, traffic)
        if table is not None:
            from ...export.terminal.breakdown import print_breakdown

            console.print()
            print_breakdown(table, console)
