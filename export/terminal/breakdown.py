"""The terminal view of ``iostrata layers --by``."""

from typing import Final

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.attribution.breakdown import METADATA_KINDS, Breakdown
from ...layers.attribution.calls.calls import Calls
from ...layers.attribution.calls.keys import CALL_KEYS
from ...model.quantities import bytes_text, count_text, counted, seconds_text
from ...model.text import printable, shortened
from .console import bounded, print_paragraph

_ROWS_SHOWN: Final = 60
_ROOMY: Final = 120
_NAMES: Final = 2
"""Columns on the left that hold names."""
_WIDEST_PIPED_KEY: Final = 120
"""Columns that a name gets at least where it goes into a pipe; a longer one stands out of its row."""
_NO_CALLERS: Final = (
    "No function of the program is recorded around its I/O: instrument it by compiler or by hand to see who calls."
)
_TITLES: Final = {
    "file": "file",
    "filesystem": "file system",
    "rank": "rank",
    "node": "node",
    "handle": "handle",
    "function": "function",
    "caller": "called by",
    "callpath": "call path",
}


def print_breakdown(table: Breakdown, console: Console) -> None:
    """Print the rows of a breakdown, of each layer those with most bytes first."""
    rows = _ordered(table)
    if not rows:
        return
    counted_rows = table.columns["reads"][0] is not None
    roomy = console.width >= _ROOMY and counted_rows
    by_function = "calls_s" in table.columns
    told = "calls_s" if by_function else "metadata_s" if "metadata_s" in table.columns else None
    titles = ["reads", "writes", "metadata", "read", "written", "busy"]
    kinds = METADATA_KINDS
    if roomy:
        # Columns without a number would push those with one off the screen.
        kinds = {kind: records for kind, records in METADATA_KINDS.items() if not told or table.columns[kind].any()}
        titles = ["reads", "writes", "flushes", *(kind.replace("_", " ") for kind in kinds), "read", "written"]
        titles += ["summed", "busy", "inside calls"]
    if by_function:
        titles += ["calls", "in calls", "exclusive"] if roomy else ["in calls"]
    elif told:
        titles += ["in metadata"]
    if not counted_rows:
        titles = ["read", "written"]
    shown = rows[:_ROWS_SHOWN] if console.is_terminal else rows
    columns = {name: column.tolist() for name, column in table.columns.items()}
    lines = [["layer", _TITLES[table.by], *titles]]
    for row in shown:
        of = {one: column[row] for one, column in columns.items()}
        moved = [bytes_text(of[one]) if of[one] else "–" for one in ("bytes_read", "bytes_written")]
        name = printable(table.layer[row]), _key(table.key[row], console)
        if not counted_rows:
            lines.append([*name, *moved])
            continue
        metadata = [of[kind] for kind in kinds]
        # What metadata operations took is in columns of its own, where it is known.
        timed = of["reads"] or of["writes"] or of["flushes"]
        summed, busy = (seconds_text(of[one]) if timed else "–" for one in ("summed_s", "busy_s"))
        if roomy:
            inside = of["inside_operations"] + of["inside_metadata"]
            counts = [of["reads"], of["writes"], of["flushes"], *metadata]
            cells = [*map(_count, counts), *moved, summed, busy, _count(inside)]
        else:
            counts = [of["reads"], of["writes"], sum(metadata)]
            cells = [*map(_count, counts), *moved, busy]
        if by_function:
            took = [seconds_text(of[one]) if of["calls"] else "–" for one in ("calls_s", "exclusive_s")]
            cells += [_count(of["calls"]), *took] if roomy else took[:1]
        elif told:
            cells.append(seconds_text(of[told]) if of[told] else "–")
        lines.append([*name, *cells])
    if bounded(console):
        console.print(_table(lines, 2 if roomy else 1))
    else:
        _write_lines(lines, console)
    if len(shown) < len(rows):
        console.print(Text(f"and {counted(len(rows) - len(shown), 'further row')}; --json has them all"))
    if table.by == "caller" and all(key is None for key in table.key):
        print_paragraph(_NO_CALLERS, console, "dim", indent=0)


def print_groups(calls: Calls, console: Console) -> None:
    """Print in which groups of functions the time was spent."""
    shown = sorted(calls.group_seconds.items(), key=lambda item: (-item[1], item[0]))
    if shown:
        told = ", ".join(f"{printable(name)} {seconds_text(took)}" for name, took in shown)
        console.print()
        print_paragraph(f"Exclusive time by group, summed over all threads: {told}", console, indent=0)


def _ordered(table: Breakdown) -> list[int]:
    """Return the rows by layer; files, handles and functions by bytes, then time, the rest in the order of the keys."""
    rows = list(range(len(table)))
    if table.by in ("file", "handle", *CALL_KEYS):
        read, written = table.columns["bytes_read"].tolist(), table.columns["bytes_written"].tolist()
        layers = list(dict.fromkeys(table.layer))
        told = (table.columns[name] for name in ("calls_s", "metadata_s") if name in table.columns)
        took = next(told, np.zeros(len(table))).tolist()
        rows.sort(key=lambda row: (layers.index(table.layer[row]), -(read[row] + written[row]), -took[row]))
    return rows


def _table(lines: list[list[str]], gap: int) -> Table:
    view = Table(box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))
    for place, title in enumerate(lines[0]):
        view.add_column(title, justify="left" if place < _NAMES else "right", no_wrap=True)
    for layer, *cells in lines[1:]:
        view.add_row(Text(layer, style="bold"), *map(Text, cells))
    return view


def _write_lines(lines: list[list[str]], console: Console) -> None:
    """Write the same as plain text; a table of rich takes milliseconds a row and fills up to the longest name."""
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    widths[1] = min(widths[1], _WIDEST_PIPED_KEY)
    for line in lines:
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        cells = [
            cell + blank if place < _NAMES else blank + cell
            for place, (cell, blank) in enumerate(zip(line, blanks, strict=True))
        ]
        console.file.write("  ".join(cells) + "\n")


def _key(key: str | int | None, console: Console) -> str:
    name = "(none)" if key is None else printable(str(key))
    return shortened(name, max(20, console.width // 3))


def _count(count: int) -> str:
    return count_text(count) if count else "–"
