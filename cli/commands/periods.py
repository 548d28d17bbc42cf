"""``iostrata periods``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..options import (
    Frequency,
    Seconds,
    direction_option,
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
    from ...layers.layer import Layer
    from ...layers.protocols import AnyTrace

PARTS_SHOWN: Final = 8

PARTS_IN_JSON: Final = 1000

MOST_COMPONENTS: Final = 100

PICTURES: Final = (".png", ".svg", ".pdf")


def parse_picture(_context: click.Context, _option: click.Parameter, path: Path | None) -> Path | None:
    """Return `path` where its suffix names a kind of picture that can be written.

    Raises
    ------
    click.BadParameter
        If it does not.
    """
    if path is not None and path.suffix.lower() not in PICTURES:
        raise click.BadParameter(f"{str(path)!r} ends in none of the known suffixes: {', '.join(PICTURES)}")
    return path


@click.command(epilog="Example: iostrata periods traces.otf2 --layer MPI-IO --components 10 --plot periods.png")
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
@click.option(
    "--components",
    metavar="N",
    type=click.IntRange(1, MOST_COMPONENTS),
    help="Describe each signal by N cosines, too: frequency in Hz, amplitude in the signal's unit and phase in rad, "
    "fitted by bounded least squares, with the error beside that of the plain sum of the N strongest lines of the "
    "Fourier transform. Sampled at --fs, at most 2^14 times.",
)
@click.option(
    "--plot",
    "picture",
    metavar="FILE.png|.svg|.pdf",
    type=click.Path(path_type=Path),
    callback=parse_picture,
    help="Draw each signal with phases, regimes and fit, its scalogram, short-time Fourier transform and spectrum "
    "(needs matplotlib). A file that is there already is replaced once the new one is complete.",
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
@memory_option
@json_option
def command(
    trace: Path,
    quantity: str,
    by: str | None,
    parts: int | None,
    components: int | None,
    picture: Path | None,
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
    memory: int | None,
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
    if memory is not None and (by is not None or quantity != "bandwidth"):
        raise click.UsageError("--memory keeps only bandwidths of whole layers: leave out --by and --signal")
    from ...analysis.comparison.layer_periods import (
        LayerPeriod,
        PartsLeftOut,
        chosen_layers,
        layer_periods,
        part_periods,
        with_fit,
    )
    from ...layers.selection.directions import DIRECTIONS
    from ..progress import Progress
    from ..reading import read_bins, read_trace

    if picture is not None:
        from ...export.figure import check_figure_library

        check_figure_library()
    opened: AnyTrace
    whole: tuple[Layer, ...] = ()
    if memory is not None:
        opened = read_bins(trace, memory, fs, engine, workers, files, window)
    else:
        opened = full = read_trace(trace, engine, workers, files, window)
        whole = chosen_layers(full, layers)
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
            else part_periods(whole, by, parts, directions, traffic, method, fs, quantity, filter)
        )
        for period in found:
            if components is not None and isinstance(period, LayerPeriod):
                period = with_fit(period, components, fs, filter)
            periods.append(period)
            progress(len(periods), 0)
        written = None
        if picture is not None:
            from ...export.figure import write_period_figure

            shown = [period for period in periods if isinstance(period, LayerPeriod)]
            written = write_period_figure(shown, picture, fs, filter)
    if as_json:
        from ...export.json.documents import periods_document
        from ...export.json.text import json_text

        click.echo(json_text(periods_document(opened, periods, written)))
    else:
        from ...export.terminal.console import stdout_console
        from ...export.terminal.periods import print_periods

        print_periods(opened, periods, stdout_console(), traffic, quantity, written)
