"""The terminal view of ``iostrata layers``."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, Final, Literal, NamedTuple

import numpy as np
from rich.cells import cell_len
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.attribution.breakdown import ACCESS, METADATA_KINDS, Breakdown
from ...layers.attribution.calls.calls import OTHER_CALLS, Calls
from ...layers.attribution.calls.cost import Overlap, RunCost, WaitingChain
from ...layers.attribution.calls.functions import CALL_KEYS
from ...layers.layer import Layer
from ...layers.selection.directions import Direction, Traffic
from ...layers.summary.statistics import LayerStatistics, with_counted
from ...layers.trace import Trace
from ...model.metrics import UNKNOWN, Metric, columns_of
from ...model.quantities import bytes_text, count_text, counted, seconds_text, share_text
from ...model.stream.source import Source, Tally
from ...model.text import printable, shortened
from .console import (
    bounded,
    folded_column,
    name_column,
    plain_table,
    print_counters,
    print_damage,
    print_heading,
    print_paragraph,
    print_recording,
    print_rest,
    print_set_aside,
)

_MOST_CALLS: Final = 6
"""Kinds of calls that are shown for a layer."""
_WIDEST_NAME: Final = 12
"""Room that a layer's name is granted before it is folded; the names of all known layers fit."""


def print_layers(
    trace: Trace,
    layers: Iterable[Layer],
    directions: Sequence[Direction],
    console: Console,
    traffic: Traffic = "all",
    split: Breakdown | None = None,
) -> None:
    """Print a row per layer and direction that had operations, highest layer first, and what does not count.

    Only operations of `traffic` are in the rows; flushes have none and are listed below, all of them. With `split`,
    there are its rows alone.
    """
    layers = tuple(layers)
    print_heading(trace, console)
    if split is not None:
        print_breakdown(split, console)
        if split.by in CALL_KEYS and trace.calls.totals is not None:
            print_groups(trace.calls.totals, console)
        print_damage(trace.damage, console)
        return
    if traffic != "all":
        console.print(Text(f"{traffic} traffic only", style="bold"))
    _print_transfers(trace, layers, directions, console, traffic)
    _print_times(trace, layers, console)
    if trace.tally.unmatched:
        console.print(Text(f"{counted(trace.tally.unmatched, 'event')} of operations that never began: not counted"))
    recording = trace.definitions.recording
    traced = () if recording.counters is None else (*trace.order, *recording.counters.layers)
    wanted = {layer.name for layer in layers} if len(layers) < len(trace.layers) else ()
    print_counters(recording, console, wanted, directions, traced)
    print_set_aside(trace, console)
    print_damage(trace.damage, console)


def _print_transfers(
    trace: Trace, layers: Collection[Layer], directions: Sequence[Direction], console: Console, traffic: Traffic
) -> None:
    """Print the rows, and what there is beside them."""
    statistics = [layer.statistics(direction, traffic) for layer in layers for direction in directions]
    if len(layers) == len(trace.layers) and traffic == "all":
        statistics = with_counted(trace.scope, statistics, directions)
    statistics = [entry for entry in statistics if entry.operations]
    if statistics:
        _print_table(statistics, console)
    else:
        what = "No transfer" if traffic == "all" else f"No transfer of {traffic} traffic"
        console.print(Text(f"{what} of these layers and directions on the selected files."))
    several, beside = len({entry.layer for entry in statistics}) > 1, list(_beside(trace, layers, statistics))
    if statistics and (several or beside or trace.calls.totals is None):
        console.print()
    if several:
        note = "A lower layer repeats the bytes of the layers above it: never add layers up."
        console.print(Text(note, style="dim"))
    for line in beside:
        print_paragraph(line, console, indent=0)


def _print_times(trace: Trace, layers: Collection[Layer], console: Console) -> None:
    """Print what calls took, and of all layers where the ranks' time goes."""
    calls = trace.calls
    if calls.totals is not None:
        _print_calls(calls.totals, [layer.name for layer in layers], console)
    if calls.cost is None or len(layers) < len(trace.layers):
        return
    _print_cost(calls.cost, console)
    if calls.chain is not None:
        _print_chain(calls.chain, console)
    if calls.non_blocking.length and calls.overlap is not None:
        _print_overlap(calls.overlap, console)


def print_counted(source: Source, layers: Collection[str], directions: Sequence[Direction], console: Console) -> None:
    """Print the counters of a recording without times, and what is known to be missing among them."""
    tally = Tally.of(source)
    definitions = source.definitions
    console.print(Text(printable(str(source.path)), style="bold", overflow="fold"))
    facts = [
        seconds_text(definitions.clock.duration),
        definitions.recording.told(counted(definitions.process_count, "rank")),
    ]
    console.print(Text(", ".join(facts)))
    print_recording(definitions.recording, console)
    print_counters(definitions.recording, console, layers, directions)
    if definitions.recording.counters is None:
        told = "none could be read" if tally.damage.damaged else "no I/O was recorded"
        console.print(Text(f"There are no counters either: {told}."))
    print_damage(tally.damage, console)


def _beside(trace: Trace, layers: Iterable[Layer], statistics: Iterable[LayerStatistics]) -> Iterator[str]:
    """Yield what there is beside the rows: operations of unknown bytes, flushes, and layers without transfers."""
    for entry in statistics:
        yield from _uncounted(entry)
    for layer in layers:
        if layer.flushes:
            flushes = f"{counted(layer.flushes, 'flush', 'flushes')}, busy for {seconds_text(layer.flush_busy_s)}"
            yield f"{printable(layer.name)}: {flushes}"
        done = "" if layer.directions else trace.sums.handles.text_of(layer.scope.order.index(layer.name))
        if done:
            yield f"{printable(layer.name)}: {done}"


def _uncounted(entry: LayerStatistics) -> Iterator[str]:
    """Yield the sentence on operations whose bytes or end are unknown."""
    if entry.undefined_bytes_operations:
        fates = [(entry.cancelled_operations, "cancelled"), (entry.never_completed_operations, "never completed")]
        told = ", ".join(f"{count_text(count)} {fate}" for count, fate in fates if count)
        unknown = counted(entry.undefined_bytes_operations, "operation")
        least = "" if entry.least_bytes is None else f", at least {bytes_text(entry.least_bytes)} in all"
        what = f"{unknown} of unknown bytes{f' ({told})' if told else ''}{least}"
        yield f"{printable(entry.layer)} {entry.direction}: {what}"


_TitledCells = tuple[str, list[str]]
"""A column: its title and the texts of its rows."""


def _print_table(statistics: list[LayerStatistics], console: Console) -> None:
    """Print all columns where they fit, else those for a narrow terminal, of these as many as fit."""
    names = [printable(entry.layer) for entry in statistics]
    name_width = min(_WIDEST_NAME, max(map(cell_len, names)))
    room = console.width - name_width - max(len(entry.direction) for entry in statistics)
    unavailable = frozenset.intersection(*(entry.unavailable for entry in statistics))
    metrics = [one for one in columns_of(LayerStatistics) if one.column and one.path[0] not in unavailable]
    narrow = [(one.narrow, [one.text(entry) for entry in statistics], one.gives_way) for one in metrics if one.narrow]
    wide = [column for one in metrics for column in _wide_columns(one, statistics)]
    columns, gap, dropped = _fitting(wide, narrow, room)
    titles = (title for title, _ in columns)
    table = plain_table(folded_column("layer", name_width), name_column(), *titles, gap=gap)
    previous = None
    for row, name in enumerate(names):
        # A terminal is for eyes, a pipe for programs that take line by line.
        shown = name if name != previous or not console.is_terminal else ""
        previous = name
        table.add_row(Text(shown, style="bold"), statistics[row].direction, *(cells[row] for _, cells in columns))
    console.print(table)
    _print_dropped(dropped, console)


def _print_dropped(dropped: list[str], console: Console) -> None:
    if dropped:
        print_paragraph(f"Too narrow for: {', '.join(dropped)}.", console, "dim", indent=0)


def _fitting(
    wide: list[_TitledCells], narrow: list[tuple[str, list[str], int]], room: int
) -> tuple[list[_TitledCells], int, list[str]]:
    """Return the columns that fit, the gap between them, and the titles of what did not fit.

    Those are the `wide` ones, else those of the `narrow`; of these the lowest numbers above 0 give way first.
    """
    if _width(wide, 2) <= room:
        return wide, 2, []
    columns = [(title, cells) for title, cells, _ in narrow]
    order = [title for title, _, gives_way in sorted(narrow, key=lambda one: one[2]) if gives_way]
    dropped: list[str] = []
    while len(dropped) < len(order) and _width(columns, 1) > room:
        dropped.append(order[len(dropped)])
        columns = [column for column in columns if column[0] != dropped[-1]]
    return columns, 1, [title.replace("\n", " ") for title in dropped]


def _wide_columns(metric: Metric, statistics: list[LayerStatistics]) -> Iterator[_TitledCells]:
    """Yield the column of a metric, and of bytes that are known exactly another one with all their digits."""
    yield metric.title, [metric.text(entry) for entry in statistics]
    # Within intervals the recorder rounds.
    if metric.path == ("bytes",) and "busy_s" not in statistics[0].unavailable:
        known = [metric.value(entry) for entry in statistics]
        yield "exactly", [UNKNOWN if one is None else f"{one:,.0f} B" for one in known]


def _print_cost(cost: RunCost, console: Console) -> None:
    """Print where the ranks' time goes, and how much of it free I/O could save."""
    if not len(cost.io) or cost.length <= 0:
        return
    whole = cost.length * len(cost.io)
    parts = (
        (cost.io, "in I/O"),
        (cost.mpi, "in MPI"),
        (cost.set_aside, "in I/O that is set aside"),
        (cost.other, "elsewhere"),
    )
    shares = ", ".join(f"{share_text(float(part.sum()), whole)} {where}" for part, where in parts if part.any())
    told = f"Where the time of {counted(len(cost.io), 'rank')} goes: {shares}"
    most = int(cost.io.argmax())
    if cost.io[most] and cost.rank[most] is not None:
        told += f"; most in I/O: rank {cost.rank[most]}, {share_text(float(cost.io[most]), cost.length)}"
    if cost.other_threads_io.any():
        told += f"; other threads than the first {seconds_text(float(cost.other_threads_io.sum()))} in I/O"
    saved = f"{seconds_text(cost.most_saved)}, {share_text(cost.most_saved, cost.length)} of the time"
    console.print()
    print_paragraph(f"{told}. Free I/O would save at most {saved}.", console, indent=0)


def _print_chain(chain: WaitingChain, console: Console) -> None:
    """Print what the longest chain of waiting consists of, and for whom the others wait."""
    whole = float((chain.end - chain.start).sum())
    waits = int((chain.waited > 0).sum())
    if not waits or whole <= 0:
        return
    parts = ((chain.io_s, "in I/O"), (chain.mpi_s, "in MPI"), (chain.other_s, "elsewhere"))
    shares = ", ".join(f"{share_text(part, whole)} {where}" for part, where in parts if part > 0)
    rank, held = next(iter(chain.held_up.items()))
    times = sum(one == rank for one in chain.cause[:-1])
    who = f"; longest for rank {rank}, {seconds_text(held)}, at {times:,} of them" if rank is not None else ""
    text = (
        f"Longest chain of waiting, over {counted(waits, 'call')} in which all ranks meet: {shares}. Ranks wait there"
    )
    text += f" for {seconds_text(float(chain.waited.sum()))}, summed up{who}."
    print_paragraph(text, console, indent=0)


def _print_overlap(overlap: Overlap, console: Console) -> None:
    """Print how much of the non-blocking I/O ran while its ranks computed."""
    whole, hidden = float(overlap.under_way.sum()), float(overlap.computing.sum())
    ranks = int((overlap.under_way > 0).sum())
    text = f"Non-blocking operations are under way for {seconds_text(whole)} on {counted(ranks, 'rank')}, summed up"
    print_paragraph(
        f"{text}: {share_text(hidden, whole)} of it beside computing, outside of I/O and MPI.", console, indent=0
    )


def _print_calls(calls: Calls, layers: Iterable[str], console: Console) -> None:
    """Print what the calls took that move no data, a line a layer, those that took longest first."""
    lines = []
    for layer in layers:
        parts = []
        for one in (one for one in calls.call_times if one.layer == layer):
            if one.kind == OTHER_CALLS:
                parts += [(each.summed_s, printable(each.function), each.calls) for each in one.functions]
            else:
                parts.append((one.summed_s, one.kind.replace("_", " "), one.calls))
        parts.sort(key=lambda part: (-part[0], part[1]))
        shown = [f"{what} {seconds_text(took)} ({count_text(often)})" for took, what, often in parts[:_MOST_CALLS]]
        if len(parts) > _MOST_CALLS:
            shown.append(f"{seconds_text(sum(took for took, _, _ in parts[_MOST_CALLS:]))} more")
        if shown:
            lines.append(f"{printable(layer)}: {', '.join(shown)}")
    if lines:
        console.print()
        console.print(Text("Time of calls that move no data, and how many, summed over all ranks", style="bold"))
        for line in lines:
            print_paragraph(line, console, indent=0)


def _width(columns: list[tuple[str, list[str]]], gap: int) -> int:
    """Return the columns of the terminal that `columns` take, each with the gap before it."""
    return sum(gap + max(map(len, (*title.split("\n"), *cells))) for title, cells in columns)


_ROWS_SHOWN: Final = 60
_NAMES: Final = 2
"""Columns on the left that hold names."""
_WIDEST_PIPED_KEY: Final = 120
"""Columns that a name gets at least where it goes into a pipe; a longer one stands out of its row."""
_NO_CALLERS: Final = (
    "No function of the program is recorded around its I/O: instrument it by compiler or by hand to see who calls."
)
_TITLES: Final = {
    "layer": "", "stream": "files", "filesystem": "file system", "caller": "called by", "callpath": "call path"
}  # fmt: skip


def print_breakdown(table: Breakdown, console: Console) -> None:
    """Print the rows of a breakdown, of each layer those with most bytes first."""
    rows = _ordered(table)
    if not rows:
        return
    shown = rows[:_ROWS_SHOWN] if console.is_terminal else rows
    layers, keys = [printable(table.layer[row]) for row in shown], [_key(table.key[row], console) for row in shown]
    names = [("layer", layers), (_TITLES.get(table.by, table.by), keys)]
    columns, gap, dropped = _fitting(*_columns_of(table, shown), console.width - _width(names, 1))
    lines = list(zip(*([title, *cells] for title, cells in (*names, *columns)), strict=True))
    if bounded(console):
        console.print(_table(lines, gap))
        _print_dropped(dropped, console)
    else:
        _write_lines(lines, console)
    print_rest(len(rows) - len(shown), "row", console)
    if table.by == "caller" and all(key is None for key in table.key):
        print_paragraph(_NO_CALLERS, console, "dim", indent=0)


class _BreakdownColumn(NamedTuple):
    """A column of a breakdown: the sum of `keys` by `text`, known where one of `known_by`, or of `keys`, is not 0.

    With `out_of`, it is the share of those. It is left out where the breakdown lacks one of `keys` or `needs`. Where
    all do not fit, those that are `roomy` are left out and those for the `narrow` shown, and of these the one that is
    the first to give way.
    """

    title: str
    keys: tuple[str, ...]
    text: Callable[[Any], str] = count_text
    room: Literal["", "narrow", "roomy"] = ""
    known_by: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    gives_way: int = 0
    out_of: tuple[str, ...] = ()

    def cell(self, row: Mapping[str, Any]) -> str:
        """Return the text of a row."""
        if any(row[key] is None for key in self.keys) or not any(row[key] for key in self.known_by or self.keys):
            return UNKNOWN
        found = sum(row[key] for key in self.keys)
        return share_text(found, sum(row[key] for key in self.out_of)) if self.out_of else self.text(found)


_OPERATIONS: Final = ("reads", "writes", "flushes")
"""What metadata operations took is in columns of its own, where it is known."""
_MOVED: Final = ("reads", "writes")
_COLUMNS: Final = (
    _BreakdownColumn("reads", ("reads",), gives_way=5),
    _BreakdownColumn("writes", ("writes",), gives_way=5),
    _BreakdownColumn("metadata", tuple(METADATA_KINDS), room="narrow", gives_way=2),
    _BreakdownColumn("flushes", ("flushes",), room="roomy"),
    *(_BreakdownColumn(kind.replace("_", " "), (kind,), room="roomy") for kind in METADATA_KINDS),
    _BreakdownColumn("read", ("bytes_read",), bytes_text),
    _BreakdownColumn("written", ("bytes_written",), bytes_text),
    _BreakdownColumn("consecutive", ACCESS[:2], known_by=_MOVED, gives_way=4, out_of=_MOVED),
    _BreakdownColumn("in strides", ACCESS[2:4], known_by=_MOVED, gives_way=3, out_of=_MOVED),
    _BreakdownColumn("random", ACCESS[4:], known_by=_MOVED, gives_way=4, out_of=_MOVED),
    _BreakdownColumn("summed", ("summed_s",), seconds_text, "roomy", _OPERATIONS),
    _BreakdownColumn("busy", ("busy_s",), seconds_text, known_by=_OPERATIONS),
    _BreakdownColumn("inside calls", ("inside_operations", "inside_metadata"), room="roomy"),
    _BreakdownColumn("calls", ("calls",), room="roomy", needs=("calls_s",)),
    _BreakdownColumn("in calls", ("calls_s",), seconds_text, known_by=("calls",), gives_way=1),
    _BreakdownColumn("exclusive", ("exclusive_s",), seconds_text, "roomy", ("calls",)),
    _BreakdownColumn("in metadata", ("metadata_s",), seconds_text, gives_way=6),
)


def _columns_of(table: Breakdown, rows: list[int]) -> tuple[list[_TitledCells], list[tuple[str, list[str], int]]]:
    """Return the wide and the narrow columns that have a number in any of some rows."""
    values = {name: column.tolist() for name, column in table.columns.items()}
    known = {name for name, column in values.items() if any(one is not None for one in column)}
    shown = [{name: column[row] for name, column in values.items()} for row in rows]
    found = [(one, [one.cell(row) for row in shown]) for one in _COLUMNS if known.issuperset(one.keys + one.needs)]
    # Columns without a number would push those with one off the screen.
    found = [(one, cells) for one, cells in found if any(cell != UNKNOWN for cell in cells)]
    wide = [(one.title, cells) for one, cells in found if one.room != "narrow"]
    return wide, [(one.title, cells, one.gives_way) for one, cells in found if one.room != "roomy"]


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
        rows.sort(key=lambda row: (layers.index(table.layer[row]), -(read[row] + written[row]), -(took[row] or 0.0)))
    return rows


def _table(lines: list[tuple[str, ...]], gap: int) -> Table:
    titles = lines[0]
    view = plain_table(*map(name_column, titles[:_NAMES]), *titles[_NAMES:], gap=gap)
    for layer, *cells in lines[1:]:
        view.add_row(Text(layer, style="bold"), *map(Text, cells))
    return view


def _write_lines(lines: list[tuple[str, ...]], console: Console) -> None:
    """Write the same as plain text; a table of rich takes milliseconds a row and fills up to the longest name."""
    widths = [max(map(cell_len, column)) for column in zip(*lines, strict=True)]
    widths[1] = min(widths[1], _WIDEST_PIPED_KEY)
    for line in lines:
        blanks = [" " * (width - cell_len(cell)) for cell, width in zip(line, widths, strict=True)]
        placed = enumerate(zip(line, blanks, strict=True))
        cells = [cell + blank if place < _NAMES else blank + cell for place, (cell, blank) in placed]
        console.file.write("  ".join(cells) + "\n")


def _key(key: str | int | None, console: Console) -> str:
    name = "(none)" if key is None else printable(str(key))
    return shortened(name, max(20, console.width // 3))
