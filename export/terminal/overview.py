"""The terminal view of ``iostrata overview``: one screen."""

from typing import Final

from rich.console import Console
from rich.text import Text

from ...analysis.comparison.overview import Overview, OverviewRow
from ...layers.handles.metadata import metadata_text
from ...model.quantities import bytes_text, counted, rate_text, seconds_text
from ...model.text import printable, shortened
from .console import bounded, print_paragraph
from .findings import first_findings
from .notes import print_heading
from .period_table import Row, notes, print_rows

_SCREEN: Final = 23
"""Lines of a terminal of 24, one of which is the prompt's."""
_BESIDE: Final = 15
"""Lines of the screen that are not rows of the table."""
_FINDINGS: Final = 3
_FLUSHES: Final = 0.001
"""Share of the run from which on flushes have a row."""
Weighted = tuple[Row, float]
"""A row and how much it matters, for where there is not room for all."""


def print_overview(overview: Overview, console: Console) -> None:
    """Print a table of the layers and the first findings, within the lines of a terminal."""
    screen = max(_SCREEN, console.height - 1) if console.is_terminal else _SCREEN
    rows = _rows(overview)
    shown = _largest(rows, screen - _BESIDE) if bounded(console) else rows
    with console.capture() as top:
        print_heading(overview.trace, console)
        if shown:
            print_rows([row for row, _ in shown], ("bytes", "busy", "bandwidth"), console)
        for line in _below(overview, rows, shown):
            print_paragraph(line, console, "dim" if rows else "", indent=0)
        console.print()
    with console.capture() as bottom:
        for line in _tail(overview):
            print_paragraph(line, console, "dim", indent=0)
    room = screen - top.get().count("\n") - bottom.get().count("\n")
    console.file.write(top.get())
    for finding in first_findings(overview.findings, _FINDINGS, room, console) or [Text("No findings.")]:
        console.print(finding, no_wrap=True, overflow="ignore", crop=False)
    console.file.write(bottom.get())


def _below(overview: Overview, rows: list[Weighted], shown: list[Weighted]) -> list[str]:
    """Return what the table needs to be understood, and what it leaves out."""
    found = notes([row for row, _ in shown])
    if len(shown) < len(rows):
        kept = {id(row) for row, _ in shown}
        names = ", ".join(f"{printable(row.layer)} {row.direction}" for row, _ in rows if id(row) not in kept)
        found.append(shortened(f"and {names}: iostrata layers", 78))
    found += _metadata(overview, bool(rows))
    if not found and not rows:
        found.append("No bytes were moved on the selected files.")
    return found


def _rows(overview: Overview) -> list[Weighted]:
    """Return a row per layer and direction, and one for flushes that take a share of the run; each with its weight."""
    start, end = overview.trace.window
    most = max((row.statistics.bytes for row in overview.rows), default=0) or 1
    rows: list[Weighted] = []
    for layer in overview.layers:
        for row in overview.rows:
            if row.statistics.layer == layer.name:
                weight = max(row.statistics.bytes / most, row.statistics.busy_s / (end - start))
                rows.append((_row(row), weight))
        share = layer.flush_busy_s / (end - start)
        if layer.flushes and share >= _FLUSHES:
            rows.append((Row(layer.name, "flush", ("–", seconds_text(layer.flush_busy_s), "–"), None), share))
    return rows


def _row(row: OverviewRow) -> Row:
    statistics, rate = row.statistics, row.bandwidth
    busy = seconds_text(statistics.busy_s) if statistics.busy_s > 0 else "–"
    numbers = (bytes_text(statistics.bytes), busy, "–" if rate is None else rate_text(rate))
    return Row(statistics.layer, statistics.direction, numbers, row.period)


def _largest(rows: list[Weighted], most: int) -> list[Weighted]:
    """Return those that matter most, in their order."""
    order = sorted(range(len(rows)), key=lambda place: -rows[place][1])
    return [rows[place] for place in sorted(order[:most])]


def _metadata(overview: Overview, transfers: bool) -> list[str]:
    """Return what layers did that moved no bytes."""
    found = []
    for layer in overview.layers:
        kinds = {} if layer.directions else overview.trace.handle_sums.kinds_of(layer.order.index(layer.name))
        if kinds:
            found.append(f"{printable(layer.name)}: {metadata_text(kinds)}")
    return found[:1] if transfers else found[:6]


def _tail(overview: Overview) -> list[str]:
    aside = overview.trace.set_aside
    found = []
    if aside.operations:
        moved = f"{counted(aside.operations, 'operation')} with {bytes_text(aside.bytes)}"
        found.append(f"Set aside, on files not the program's: {moved}.")
    return [*found, "More: iostrata periods, compare, layers, handles or report"]
