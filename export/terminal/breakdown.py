"""The terminal view of ``iostrata layers --by``."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.attribution.breakdown import METADATA_KINDS, Breakdown
from ...model.quantities import bytes_text, count_text, counted, seconds_text
from ...model.text import printable, shortened

_ROWS_SHOWN: Final = 60
_ROOMY: Final = 120
_TITLES: Final = {
    "file": "file",
    "filesystem": "file system",
    "rank": "rank",
    "node": "node",
    "handle": "handle",
    "function": "function",
}


def print_breakdown(table: Breakdown, console: Console) -> None:
    """Print the rows of a breakdown, of each layer those with most bytes first."""
    rows = _ordered(table)
    if not rows:
        return
    roomy = console.width >= _ROOMY
    view = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2 if roomy else 1, 0, 0))
    view.add_column("layer", no_wrap=True)
    view.add_column(_TITLES[table.by], no_wrap=True)
    titles = ["reads", "writes", "metadata", "read", "written", "busy"]
    if roomy:
        titles = ["reads", "writes", "flushes", *(kind.replace("_", " ") for kind in METADATA_KINDS), "read", "written"]
        titles += ["summed", "busy", "inside calls"]
    for title in titles:
        view.add_column(title, justify="right", no_wrap=True)
    shown = rows[:_ROWS_SHOWN] if console.is_terminal else rows
    columns = {name: column.tolist() for name, column in table.columns.items()}
    for row in shown:
        of = {name: column[row] for name, column in columns.items()}
        metadata = [of[kind] for kind in METADATA_KINDS]
        # Metadata operations have no recorded duration: nothing is known of the time of a row that has no others.
        timed = of["reads"] or of["writes"] or of["flushes"]
        summed, busy = (seconds_text(of[name]) if timed else "–" for name in ("summed_s", "busy_s"))
        moved = [bytes_text(of[name]) if of[name] else "–" for name in ("bytes_read", "bytes_written")]
        if roomy:
            inside = of["inside_operations"] + of["inside_metadata"]
            counts = [of["reads"], of["writes"], of["flushes"], *metadata]
            cells = [*map(_count, counts), *moved, summed, busy, _count(inside)]
        else:
            counts = [of["reads"], of["writes"], sum(metadata)]
            cells = [*map(_count, counts), *moved, busy]
        view.add_row(Text(printable(table.layer[row]), style="bold"), _key(table.key[row], console), *cells)
    console.print(view)
    if len(shown) < len(rows):
        console.print(Text(f"and {counted(len(rows) - len(shown), 'further row')}; --json has them all"))


def _ordered(table: Breakdown) -> list[int]:
    """Return the rows by layer; files, handles and functions by their bytes, the rest in the order of the keys."""
    rows = list(range(len(table)))
    if table.by in ("file", "handle", "function"):
        read, written = table.columns["bytes_read"].tolist(), table.columns["bytes_written"].tolist()
        layers = list(dict.fromkeys(table.layer))
        rows.sort(key=lambda row: (layers.index(table.layer[row]), -(read[row] + written[row])))
    return rows


def _key(key: str | int | None, console: Console) -> Text:
    name = "(none)" if key is None else printable(str(key))
    return Text(shortened(name, max(20, console.width // 3)))


def _count(count: int) -> str:
    return count_text(count) if count else "–"
