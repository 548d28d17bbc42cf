"""Periods as a table: one row a signal, with how far the period may be off and from when to when it holds."""

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...analysis.comparison.alike import alike
from ...analysis.comparison.layer_periods import LayerPeriod
from ...analysis.results.result import PeriodResult
from ...model.quantities import deviation_text, range_text
from ...model.text import printable, shortened
from .console import bounded

_WIDEST_NAME: Final = 12
TITLES: Final = ("period", "conf.", "from … to")
NO_PERIOD: Final = ("–", "–", "–")


class Row(NamedTuple):
    """A row: names on the left, numbers, and the verdict, None where there is none."""

    layer: str
    direction: str
    numbers: tuple[str, ...]
    period: LayerPeriod | None


def print_rows(rows: Sequence[Row], titles: tuple[str, ...], console: Console) -> None:
    """Print a table of `rows`; `titles` are those of the numbers.

    On a terminal a layer is named once, and a period that is that of the layer above is not repeated; a pipe is for
    programs that take line by line.
    """
    width = min(_WIDEST_NAME, max(cell_len(printable(row.layer)) for row in rows))
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("layer", no_wrap=True, min_width=min(width, 8))
    table.add_column("", no_wrap=True)
    for title in (*titles, *TITLES):
        table.add_column(title, justify="right", no_wrap=True)
    previous = None
    told: list[tuple[str, LayerPeriod]] = []
    for row in rows:
        name = shortened(printable(row.layer), width)
        shown = name if name != previous or not bounded(console) else ""
        previous = name
        cells = NO_PERIOD
        if row.period is not None:
            same = _told(row, told)
            cells = (f"as {same}", "", "") if same is not None and bounded(console) else period_cells(row.period.result)
            if same is None and row.period.result.periodic:
                told.append((name, row.period))
        table.add_row(Text(shown, style="bold"), row.direction, *row.numbers, *(Text(cell) for cell in cells))
    console.print(table)


def _told(row: Row, told: Iterable[tuple[str, LayerPeriod]]) -> str | None:
    """Return the layer above whose period in the same direction is that of `row`; None where there is none."""
    if row.period is None:
        return None
    result = row.period.result
    found = (
        name
        for name, one in told
        if one.direction == row.period.direction and alike(result, one.result, one.signal.window)
    )
    return next(found, None)


def period_cells(result: PeriodResult) -> tuple[str, str, str]:
    """Return the period with how far it may be off, the confidence, and when it holds; dashes without a period.

    Of several regimes it is the one whose period is the result's; how many others there are follows it.
    """
    if not result.periodic or result.period is None:
        return NO_PERIOD
    cells = deviation_text(result.period, result.period_interval), f"{result.confidence:.2f}"
    regimes = [regime for regime in result.regimes if regime.period == result.period] or list(result.regimes)
    if not regimes:
        return (*cells, "–")
    more = len(result.regimes) - 1
    return (*cells, range_text(regimes[0].start, regimes[0].end) + (f" +{more}" if more else ""))


def notes(rows: Iterable[Row]) -> list[str]:
    """Return what explains the table where it needs that."""
    more = max((len(row.period.result.regimes) - 1 for row in rows if row.period is not None), default=0)
    text = f"+{more}: as many other stretches of the run have a period of their own; see iostrata periods"
    return [text] if more > 0 else []
