"""The terminal view of ``iostrata layers``."""

from collections.abc import Iterable, Iterator, Sequence

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.layer import Layer
from ...layers.statistics import LayerStatistics
from ...layers.trace import Trace
from .names import printable
from .notes import print_damage, print_heading, print_set_aside
from .units import bytes_text, count_text, counted, rate_text, seconds_text, share_text

_ROOMY = 120
"""Columns from which on the table has room for more than the essentials."""


def print_layers(trace: Trace, layers: Iterable[Layer], directions: Sequence[str], console: Console) -> None:
    """Print a row per layer and direction that had operations, highest layer first, and what does not count."""
    layers = tuple(layers)
    statistics = [layer.statistics(direction) for layer in layers for direction in directions]
    statistics = [entry for entry in statistics if entry.operations]
    print_heading(trace, console)
    if statistics:
        console.print(_table(statistics, console.width >= _ROOMY, repeat=not console.is_terminal))
        console.print()
        if len({entry.layer for entry in statistics}) > 1:
            note = "A lower layer repeats the bytes of the layers above it: never add layers up."
            console.print(Text(note, style="dim"))
    else:
        console.print("No operation of these layers and directions on the selected files.")
    for entry in statistics:
        for line in _uncounted(entry):
            console.print(Text(line))
    for layer in layers:
        if layer.flushes:
            flushes = f"{counted(layer.flushes, 'flush', 'flushes')}, busy for {seconds_text(layer.flush_busy_s)}"
            console.print(Text(f"{printable(layer.name)}: {flushes}"))
    print_set_aside(trace, console)
    print_damage(trace.damage, console)


def _uncounted(entry: LayerStatistics) -> Iterator[str]:
    """Yield the sentence on operations of which bytes or end are not known."""
    if entry.undefined_bytes_operations:
        fates = [(entry.cancelled_operations, "cancelled"), (entry.never_completed_operations, "never completed")]
        told = ", ".join(f"{count_text(count)} {fate}" for count, fate in fates if count)
        unknown = counted(entry.undefined_bytes_operations, "operation")
        yield f"{printable(entry.layer)} {entry.direction}: {unknown} of unknown bytes{f' ({told})' if told else ''}"


def _table(statistics: list[LayerStatistics], roomy: bool, repeat: bool) -> Table:
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2 if roomy else 1, 0, 0))
    table.add_column("layer", overflow="fold", min_width=6)
    table.add_column("", no_wrap=True)
    titles = ["operations", "bytes", "busy", "mean while\nbusy", "request\nmedian", "ranks", "files", "own"]
    if roomy:
        titles = ["operations", "bytes", "exactly", "busy", "summed", "mean while busy", "request min", "median"]
        titles += ["90 %", "max", "ranks", "files", "handles", "own bytes"]
    for title in titles:
        table.add_column(title, justify="right", no_wrap=True)
    previous = None
    for entry in statistics:
        name = Text(printable(entry.layer) if repeat or entry.layer != previous else "", style="bold")
        previous = entry.layer
        table.add_row(name, entry.direction, *(_roomy_cells(entry) if roomy else _cells(entry)))
    return table


def _cells(entry: LayerStatistics) -> list[str]:
    return [
        count_text(entry.operations),
        bytes_text(entry.bytes),
        seconds_text(entry.busy_s),
        _mean(entry),
        _size(entry.request_bytes.p50),
        count_text(entry.ranks),
        count_text(entry.files),
        share_text(entry.own_bytes, entry.bytes),
    ]


def _roomy_cells(entry: LayerStatistics) -> list[str]:
    request = entry.request_bytes
    return [
        count_text(entry.operations),
        bytes_text(entry.bytes),
        f"{entry.bytes:,.0f} B",
        seconds_text(entry.busy_s),
        seconds_text(entry.summed_s),
        _mean(entry),
        *map(_size, (request.min, request.p50, request.p90, request.max)),
        count_text(entry.ranks),
        count_text(entry.files),
        count_text(entry.handles),
        share_text(entry.own_bytes, entry.bytes),
    ]


def _mean(entry: LayerStatistics) -> str:
    return rate_text(entry.bytes / entry.busy_s) if entry.busy_s > 0 else "–"


def _size(size: int | None) -> str:
    return "–" if size is None else bytes_text(size)
