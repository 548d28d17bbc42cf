"""``iostrata periods``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .options import (
    Frequency,
    Seconds,
    direction_option,
    files_option,
    filter_option,
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
    from ..export.layer_periods import LayerPeriod, PartsLeftOut

PARTS_SHOWN: Final = 8
PARTS_IN_JSON: Final = 1000


@click.command(epilog="Example: iostrata periods traces.otf2 --layer MPI-IO --direction write --by rank")
@trace_argument
@click.option(
    "--signal",
    "quantity",
    type=click.Choice(["bandwidth", "operations", "metadata", "in-flight"]),
    default="bandwidth",
    show_default=True,
    help="What is looked at: bytes per second, operations per second, metadata events (opens, closes, seeks, …) per "
    "second, or the number of operations under way. Metadata events have neither direction nor traffic.",
)
@click.option(
    "--by",
    type=click.Choice(["file", "filesystem", "rank", "node"]),
    help="Split each layer by file, file system, rank or compute node: one verdict per part, the largest first.",
)
@click.option(
    "--parts",
    metavar="N",
    type=click.IntRange(min=1),
    help="With --by: how many parts of a layer and direction are analysed, the largest first; the rest is named and "
    f"not analysed.  [default: {PARTS_SHOWN}; with --json {PARTS_IN_JSON}]",
)
@layer_option
@direction_option
@traffic_option
@method_option
@frequency_option
@filter_option
@window_option
@files_option
@reading_options
@json_option
def command(
    trace: Path,
    quantity: str,
    by: str | None,
    parts: int | None,
    layers: tuple[str, ...],
    direction: str | None,
    traffic: str,
    method: str,
    fs: Frequency,
    filter: str | None,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Show each layer's bandwidth over time and its period.

    One verdict per layer and direction that moved bytes: the period in s with its uncertainty and the confidence in it
    (0 to 1), or why there is none. Bandwidths are in B/s with decimal prefixes (1 MB/s = 1,000,000 B/s).

    Substantial I/O is what runs above the signal's mean: R_IO is its share of the time, B_IO its mean value, and its
    stretches are the phases. The periodicity score, 0 to 1, says how much the periods are alike in their volume and in
    their share of substantial I/O: 1 where all are the same.

    In JSON, unit is that of the signal (byte s-1, s-1, or 1 for operations in flight). Volumes are its integral over
    time: bytes, or for the other signals volume, a number of operations or events, or the summed time in operations in
    s.
    """
    if parts is not None and by is None:
        raise click.UsageError("--parts says how many parts are analysed, so it needs --by")
    if quantity == "metadata" and (direction is not None or traffic != "all"):
        raise click.UsageError("--signal metadata has neither --direction nor --traffic: leave them out")
    from ..export.layer_periods import DIRECTIONS, chosen_layers, layer_periods, part_periods
    from .progress import Progress
    from .reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    chosen = chosen_layers(opened, layers)
    directions = DIRECTIONS if direction is None else (direction,)
    if parts is None:
        parts = PARTS_IN_JSON if as_json else PARTS_SHOWN
    periods: list[LayerPeriod | PartsLeftOut] = []
    with Progress("detecting periods") as progress:
        progress(0, 0)
        found = (
            layer_periods(chosen, directions, traffic, method, fs, quantity, filter)
            if by is None
            else part_periods(chosen, by, parts, directions, traffic, method, fs, quantity, filter)
        )
        for period in found:
            periods.append(period)
            progress(len(periods), 0)
    if as_json:
        from ..export.documents import periods_document
        from ..export.json_text import json_text

        click.echo(json_text(periods_document(opened, periods)))
    else:
        from ..export.terminal.console import stdout_console
        from ..export.terminal.periods import print_periods

        print_periods(opened, periods, stdout_console(), traffic, quantity)
