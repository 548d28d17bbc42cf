"""``iostrata periods``."""

from pathlib import Path
from typing import TYPE_CHECKING

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
    from ..export.layer_periods import LayerPeriod


@click.command(epilog="Example: iostrata periods traces.otf2 --layer MPI-IO --direction write")
@trace_argument
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

    Substantial I/O is what runs above the signal's mean bandwidth: R_IO is its share of the time, B_IO its mean
    bandwidth, and its stretches are the phases. The periodicity score, 0 to 1, says how much the periods are alike in
    their volume and in their share of substantial I/O: 1 where all are the same.
    """
    from ..export.layer_periods import DIRECTIONS, chosen_layers, layer_periods
    from .progress import Progress
    from .reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    chosen = chosen_layers(opened, layers)
    directions = DIRECTIONS if direction is None else (direction,)
    periods: list[LayerPeriod] = []
    with Progress("detecting periods") as progress:
        for layer in chosen:
            progress(len(periods), len(chosen) * len(directions))
            periods += layer_periods([layer], directions, traffic, method, fs, filter)
    if as_json:
        from ..export.documents import periods_document
        from ..export.json_text import json_text

        click.echo(json_text(periods_document(opened, periods)))
    else:
        from ..export.terminal.console import stdout_console
        from ..export.terminal.periods import print_periods

        print_periods(opened, periods, stdout_console(), traffic)
