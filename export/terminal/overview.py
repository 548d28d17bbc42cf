"""The terminal view of ``iostrata overview``: one screen."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Final

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from ...analysis.comparison.overview import Overview, OverviewRow
from ...analysis.comparison.story import Segment
from ...analysis.findings.find import no_findings
from ...layers.summary.statistics import LayerStatistics
from ...model.metrics import UNKNOWN, Metric, metrics_of
from ...model.quantities import bytes_text, counted, range_text, seconds_text
from ...model.text import printable
from .console import bounded, first_findings, print_heading, print_paragraph
from .periods import Row, notes, print_rows

_SCREEN: Final = 23
"""Lines of a terminal of 24, one of which is the prompt's."""
_BESIDE: Final = 16
"""Lines of the screen that are not rows of the table, two of them the first sentence's."""
_COLUMNS: Final = 80
_FINDINGS: Final = 3
_SEGMENTS: Final = 3
_FLUSHES: Final = 0.001
"""Share of the run from which on flushes, and transfers of no bytes, have a row."""
Weighted = tuple[Row, float]
"""A row and how much it matters, for where there is not room for all."""


def print_overview(overview: Overview, console: Console) -> None:
    """Print a table of the layers and the first findings, within the lines of a terminal."""
    screen = max(_SCREEN, console.height - 1) if console.is_terminal else _SCREEN
    rows = _rows(overview)
    told = min(len(overview.story), _SEGMENTS + 1)
    shown = _largest(rows, screen - _BESIDE - max(0, told - 1)) if bounded(console) else rows
    with console.capture() as top:
        print_heading(overview.trace, console)
        first, *others = overview.opening
        headline = Text(printable(first), style="bold")
        print_paragraph(headline, console, indent=0)
        for sentence in others:
            print_paragraph(f"{printable(sentence)}.", console, indent=0)
        console.print()
        if shown:
            print_rows([row for row, _ in shown], tuple(_columns(overview)), console)
        for line in _below(overview, rows, shown):
            print_paragraph(line, console, "dim" if rows else "", indent=0)
        console.print()
        spare = screen - _BESIDE - max(0, told - 1) - len(shown)
        longer = max(0, len(headline.wrap(console, console.width)) - 2)
        if _print_story(overview.story, console, max(1, _SEGMENTS + max(0, spare) - longer)):
            console.print()
    with console.capture() as bottom:
        for line in _tail(overview, "ISOC" in overview.trace.order and "ISOC" in top.get()):
            print_paragraph(line, console, "dim", indent=0)
    room = screen - top.get().count("\n") - bottom.get().count("\n")
    console.file.write(top.get())
    found = first_findings(overview.findings, _FINDINGS, room, console)
    for finding in found or [Text(no_findings(overview.trace.definitions.recording))]:
        console.print(finding, no_wrap=True, overflow="ignore", crop=False)
    console.file.write(bottom.get())


def _print_story(story: Sequence[Segment], console: Console, lines: int) -> bool:
    """Print what the I/O was from when to when, in as many lines as there are for it what recurs and moves most."""
    if not story:
        return False
    order = sorted(range(len(story)), key=lambda place: _interest(story[place]), reverse=True)
    # One more than fit is as long as the line that would count it.
    most = len(story) if not bounded(console) or len(story) == lines + 1 else lines
    shown = sorted(order[:most])
    times = [range_text(story[place].start, story[place].end) for place in shown]
    width = max(map(len, times))
    for time, place in zip(times, shown, strict=True):
        text = printable(story[place].text)
        if bounded(console) and story[place].kind == "loop":
            text = _with_pace(text, console.width - width - 2)
        line = Text.assemble((f"{time:>{width}}", "dim"), f"  {text}")
        if bounded(console):
            line.truncate(console.width, overflow="ellipsis")
        console.print(line, no_wrap=True, overflow="ignore", crop=False)
    if len(shown) < len(story):
        rest = counted(len(story) - len(shown), "further stretch", "further stretches")
        loops = any(story[place].kind == "loop" for place in order[most:])
        where = "iostrata loops has them" if loops else "--json has them all"
        console.print(Text(f"{'':{width}}  and {rest} of the run; {where}", style="dim"))
    return True


def _with_pace(text: str, columns: int) -> str:
    """Return a loop in so many columns: where they are too few without what it moves, or the last steps and who.

    What it moves stays where steps are left out anyhow and have as much room as that.
    """
    steps, _, behind = text.rpartition(")")
    pace, *amounts, who = behind.split("; ") if ";" in behind else (behind, "")
    for short in (text, f"{steps}){pace}; {who}"):
        if cell_len(short) <= columns:
            return short
    pace = pace.partition(", with every ")[0]
    whole = "; ".join([pace, *amounts])
    pace = whole if 2 * cell_len(whole) < columns else pace
    head = Text(steps)
    head.truncate(columns - cell_len(pace) - 2)
    # Half a step would be another one: "write 2…" of 256 KiB.
    end = head.plain.rfind(", ") + 1 or head.plain.rfind(" ")
    return f"{head.plain[:end]} …){pace}"


def _interest(segment: Segment) -> tuple[bool, float, float]:
    """Return what comes first of a story: what recurs and moves most, and of the rest what is long."""
    recurs = segment.period is not None or segment.kind == "loop"
    return recurs, segment.bytes if recurs else segment.direction is not None, segment.end - segment.start


def _below(overview: Overview, rows: list[Weighted], shown: list[Weighted]) -> list[str]:
    """Return what the table needs to be understood, and what it leaves out."""
    found = notes([row for row, _ in shown])
    if len(shown) < len(rows):
        kept = {id(row) for row, _ in shown}
        names = ", ".join(f"{printable(row.layer)} {row.direction}" for row, _ in rows if id(row) not in kept)
        few = f"and {names}: iostrata layers"
        rest = f"and {counted(len(rows) - len(shown), 'further row')}: iostrata layers"
        found.append(few if len(few) < _COLUMNS else rest)
    found += _metadata(overview, bool(rows))
    if not found and not rows:
        found.append("No bytes were moved on the selected files.")
    return found


def _rows(overview: Overview) -> list[Weighted]:
    """Return a row per layer and direction, and one for flushes that take a share of the run; each with its weight."""
    start, end = overview.trace.window
    columns = _columns(overview).values()
    most_bytes = max((row.statistics.bytes for row in overview.rows), default=0)
    most = most_bytes or 1
    rows: list[Weighted] = []
    layers = {layer.name: layer for layer in overview.layers}
    for name in dict.fromkeys((*(row.statistics.layer for row in overview.rows), *layers)):
        for row in overview.rows:
            moves = row.statistics.bytes or (row.statistics.busy_s or 0) >= _FLUSHES * (end - start)
            if row.statistics.layer == name and (moves or not most_bytes):
                weight = max(row.statistics.bytes / most, (row.statistics.busy_s or 0) / (end - start))
                rows.append((_row(row, columns), weight))
        if (layer := layers.get(name)) is None:
            # Counters are all there is of it.
            continue
        share = layer.flush_busy_s / (end - start)
        if layer.flushes and share >= _FLUSHES:
            rows.append((Row(layer.name, "flush", ("–", seconds_text(layer.flush_busy_s), "–"), None), share))
    return rows


def _columns(overview: Overview) -> dict[str, Metric]:
    """Return the numbers that are shown by their titles: by times of operations, else by those of the slowest rank."""
    counted = any(row.statistics.slowest_s is not None for row in overview.rows)
    names = ("bytes", "slowest_s", "slowest_bandwidth") if counted else ("bytes", "busy_s", "bandwidth")
    slowest = overview.trace.definitions.recording.told("slowest rank")
    titles = ("bytes", slowest, "bandwidth") if counted else ("bytes", "busy", "bandwidth")
    known = {one.name: one for one in metrics_of(LayerStatistics)}
    return {title: known[name] for title, name in zip(titles, names, strict=True)}


def _row(row: OverviewRow, columns: Iterable[Metric]) -> Row:
    statistics = row.statistics
    idle = [UNKNOWN if one.name == "busy_s" and not statistics.busy_s else one.text(statistics) for one in columns]
    return Row(statistics.layer, statistics.direction, tuple(idle), row.period)


def _largest(rows: list[Weighted], most: int) -> list[Weighted]:
    """Return those that matter most, in their order."""
    order = sorted(range(len(rows)), key=lambda place: -rows[place][1])
    return [rows[place] for place in sorted(order[:most])]


def _metadata(overview: Overview, transfers: bool) -> list[str]:
    """Return what layers did that moved no bytes."""
    found = []
    for layer in overview.layers:
        done = "" if layer.directions else overview.trace.sums.handles.text_of(layer.scope.order.index(layer.name))
        if done:
            found.append(f"{printable(layer.name)}: {done}")
    return found[:1] if transfers else found[:6]


def _tail(overview: Overview, isoc: bool) -> list[str]:
    """Return where there is more, what the name ISOC means where it stands above, and what does not count."""
    aside = overview.trace.set_aside
    needs = {"loops": ("operations",), "handles": ("operations", "handles")}
    known = overview.trace.definitions.recording.knows
    commands = ("loops", "periods", "compare", "layers", "handles", "report")
    more = f"More: {', '.join(one for one in commands if known(*needs.get(one, ())))}"
    if isoc:
        more += "; ISOC: C's stdio"
    if not aside.operations:
        return [more]
    reasons: Counter[str] = Counter()
    for name, count in aside.reasons.items():
        reasons[name.partition(": ")[2] or name.partition(" (")[0]] += count
    moved = f", {bytes_text(aside.bytes)}" if aside.bytes else ""
    most = "".join(f" (most: {name})" for name, _ in reasons.most_common(1))
    return [f"{more}; set aside: {counted(aside.operations, 'operation')}{moved}{most}"]
