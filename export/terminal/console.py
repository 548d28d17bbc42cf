"""What all terminal views share: the console, lines on the trace, its damage and findings, and what was written."""

import re
import sys
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from io import StringIO, TextIOBase
from typing import Any, Final, TextIO, cast

from rich.console import Console
from rich.table import Column, Table
from rich.text import Text

from ...analysis.findings.find import LEAST_COST, Finding
from ...layers.selection.directions import Direction
from ...layers.trace import Trace
from ...model.codes import MOST_EVENTS
from ...model.metrics import UNKNOWN
from ...model.quantities import bytes_text, count_text, counted, frequency_text, percent_text, seconds_text
from ...model.recording import Recording
from ...model.stream.damage import DamageReport
from ...model.text import printable
from ..written import Written

UNBOUNDED: Final = 1_000_000
"""Width in columns that no view fills: what goes into a pipe is neither wrapped nor cut."""
_PIPED_CURVE: Final = 100


def stdout_console(stream: TextIO | None = None, width: int | None = None) -> Console:
    """Return a console on `stream` (default: stdout).

    Colours appear on a terminal only and never where ``NO_COLOR`` is set. Nothing is taken for markup, so names out of
    a trace stay what they are.

    Parameters
    ----------
    stream : text stream, optional
    width : int, optional
        Columns; default: those of the terminal, or `UNBOUNDED` where `stream` is none.
    """
    # A process may be started without stdout.
    stream = stream or sys.stdout or StringIO()
    console = _QuietConsole(file=stream, width=width, markup=False, emoji=False, highlight=False)
    if console.is_terminal:
        return console
    console.file = cast(TextIO, _WithoutTrailingSpaces(stream))
    if width is None:
        console.width = UNBOUNDED
    return console


def plain_table(*columns: Column | str, gap: int = 2) -> Table:
    """Return a table without lines; a column that is only a title has numbers, which stand on the right.

    Parameters
    ----------
    columns : Column or str
        As `name_column` and `folded_column` return them.
    gap : int
        Blanks between columns.
    """
    made = [Column(one, justify="right", no_wrap=True) if isinstance(one, str) else one for one in columns]
    return Table(*made, box=None, pad_edge=False, header_style="bold", padding=(0, gap, 0, 0))


def fits(table: Table, console: Console) -> bool:
    """Tell whether the console has room for a table."""
    room = console.options.update(width=UNBOUNDED)
    return not bounded(console) or console.measure(table, options=room).maximum <= console.width


def fitted(table: Table, console: Console, *gives_way: str) -> Table:
    """Return a table without those columns, the first ones first, for which the console has no room."""
    for title in gives_way:
        if fits(table, console):
            break
        table.columns = [column for column in table.columns if column.header != title]
    return table


def name_column(title: str = "") -> Column:
    """Return a column of names that stay on their line."""
    return Column(title, no_wrap=True)


def folded_column(title: str = "", least: int | None = None) -> Column:
    """Return a column of names that continue on the next line, `least` wide if there are such."""
    return Column(title, overflow="fold", min_width=least)


def bounded(console: Console) -> bool:
    """Tell whether lines have to fit a terminal."""
    return console.width < UNBOUNDED


def curve_width(console: Console) -> int:
    """Return the number of columns that a curve with its labels may take."""
    return console.width if bounded(console) else _PIPED_CURVE


class _QuietConsole(Console):
    """A console that leaves it to its caller what a closed pipe means; rich would exit with 1."""

    def on_broken_pipe(self) -> None:
        raise BrokenPipeError


class _WithoutTrailingSpaces(TextIOBase):
    """A text stream that drops the blanks with which tables fill up their lines; each write ends whole lines."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    @property
    def encoding(self) -> str:  # type: ignore[override]
        return self._stream.encoding

    def write(self, text: str) -> int:
        self._stream.write("\n".join(line.rstrip(" ") for line in text.split("\n")))
        return len(text)

    def flush(self) -> None:
        self._stream.flush()


_TOGETHER: Final = re.compile(
    r"(?<=\d) (?=(?:%|[kMGTPE]?B(?:/s)?|[mµ]?s|[kMG]?Hz|ranks?|\([<>\d])(?![\w-]))|(?<=rank) (?=\d)"
)
_HELD: Final = "\ue000"
"""Stands for a blank at which no line ends; no name out of a trace has it, for `printable` writes it as an escape."""


def print_paragraph(text: Text | str, console: Console, style: str = "", indent: int = 2) -> None:
    """Print a paragraph in the width of the console, indented; as one line where that is unbounded."""
    for line in paragraph_lines(text, console, style, indent):
        console.print(line, no_wrap=True, overflow="ignore", crop=False)


def paragraph_lines(text: Text | str, console: Console, style: str = "", indent: int = 2) -> list[Text]:
    """Return the lines of a paragraph in the width of the console, indented; one line where that is unbounded."""
    whole = Text(text, style=style) if isinstance(text, str) else text.copy()
    if not bounded(console):
        return [Text.assemble(" " * indent, whole)]
    whole.plain = _TOGETHER.sub(_HELD, whole.plain)
    lines = list(whole.wrap(console, max(8, console.width - indent)))
    for line in lines:
        line.rstrip()
        line.plain = line.plain.replace(_HELD, " ")
    return [Text.assemble(" " * indent, line) for line in lines]


_LOCATIONS_SHOWN = 8
_LONG = 100.0
"""Seconds of a run from which on one more or less is no matter."""


def table_of_numbers(
    titles: Sequence[str], rows: Iterable[Sequence[str]] = (), *, names: Collection[int] = ()
) -> Table:
    """Return a table: numbers on the right, never broken; in the columns `names`, text on the left that may fold."""
    columns = (
        folded_column(title, 8 if title else None) if place in names else title for place, title in enumerate(titles)
    )
    table = plain_table(*columns)
    for row in rows:
        table.add_row(*row)
    return table


def print_heading(trace: Trace, console: Console) -> None:
    """Print which trace is looked at, and the window and files where they are not the usual ones."""
    console.print(Text(printable(str(trace.path)), style="bold", overflow="fold"))
    # Of a long run nobody would see the difference.
    most = "at most " if trace.definitions.recording.whole_seconds and trace.duration < _LONG else ""
    facts = [most + seconds_text(trace.duration), trace.definitions.recording.told(counted(trace.ranks, "rank"))]
    if trace.definitions.recording.knows("nodes"):
        facts.append(counted(trace.definitions.node_count, "node"))
    recording = trace.definitions.recording
    counts_intervals = recording.rows in ("intervals", "extents") and not recording.kept_in
    facts.append(counted(trace.tally.io_events, "interval" if counts_intervals else "I/O event"))
    if trace.resolution is not None:
        facts.append(f"signals binned ({seconds_text(trace.resolution)})")
    start, end = trace.window
    if start > 0 or end < trace.duration:
        facts.append(f"window {start:.6g} … {end:.6g} s")
    if trace.files != "application":
        facts.append(f"files {printable(trace.files)}")
    print_paragraph(", ".join(facts), console, indent=0)
    print_recording(recording, console)
    console.print()


def print_recording(recording: Recording, console: Console) -> None:
    """Print what the recorder does not tell; nothing where it tells everything."""
    said = [f"not recorded: {', '.join(recording.missing)}"] if recording.missing else []
    if recording.handles == "inferred":
        said.append("handles are inferred from names of files")
    if said:
        sign = "," if recording.missing else ":"
        print_paragraph(printable(f"{recording.recorder}{sign} {'; '.join(said)}"), console, "dim", indent=0)


def print_counters(
    recording: Recording,
    console: Console,
    layers: Collection[str] = (),
    directions: Collection[Direction] = ("read", "write"),
    left_out: Collection[str] = (),
) -> None:
    """Print what the recorder summed up without times, of `layers` (all where there are none) but those `left_out`."""
    totals = [one for one in recording.counted(layers, directions) if one.layer not in left_out]
    sums = [] if recording.counters is None else recording.counters.module_sums()
    sums = [one for one in sums if not layers or one["layer"] in layers]
    if not totals and not sums:
        return
    console.print()
    if totals:
        names = map(name_column, ("counters", "layer", ""))
        table = plain_table(*names, "operations", "bytes", "files", "ranks", "summed")
        for one in totals:
            who = Text(printable(one.module), style="bold"), Text(printable(one.layer)), one.direction
            moved, took = _known_text(one.bytes, bytes_text), _known_text(one.summed_s, seconds_text)
            operations, files, ranks = (_known_text(of, count_text) for of in (one.operations, one.files, one.ranks))
            table.add_row(*who, operations, moved, files, ranks, took)
        console.print(table)
    for module in sums:
        told = [_counter_text(name, value) for name, value in module.items() if name not in _TOLD and value]
        if told:
            print_paragraph(printable(f"{module['module']}: {', '.join(filter(None, told))}"), console, indent=2)
    text = f"Counters are {recording.recorder}'s own sums of the whole run and all files."
    print_paragraph(printable(text), console, "dim", indent=0)


def _known_text(value: Any, text: Callable[[Any], str]) -> str:
    return UNKNOWN if value is None else text(value)


_TOLD: Final = ("module", "layer", "records", "reads", "writes")


def _counter_text(name: str, value: int | float) -> str:
    """Return a sum of counters as text; of points in time nothing, which signals show."""
    if name.endswith("_timestamp"):
        return ""
    size = re.fullmatch(r"size_(read|write)_(\w+)_(\w+)", name)
    words = f"{size[1]}s of {size[2]}–{size[3]}" if size else name.replace("_", " ")
    return f"{words} {seconds_text(value) if isinstance(value, float) else count_text(value)}"


def print_rest(hidden: int, noun: str, console: Console, style: str = "") -> None:
    """Print how many more there are than were shown; nothing where there are none."""
    if hidden > 0:
        console.print(Text(f"and {counted(hidden, f'further {noun}')}; --json has them all", style=style))


def print_set_aside(trace: Trace, console: Console) -> None:
    """Print what the selection of files leaves out, and by which rule; nothing where it leaves out nothing."""
    aside = trace.set_aside
    if not aside.operations:
        return
    total = f"{counted(aside.operations, 'operation')} with {bytes_text(aside.bytes)} on {counted(aside.files, 'file')}"
    hint = "; --files all counts them" if trace.files == "application" else ""
    print_paragraph(f"Set aside: {total}{hint}", console, indent=0)
    print_counts(aside.reasons, console)


def print_counts(counts: Mapping[str, int], console: Console) -> None:
    """Print what there is how often, the most frequent first."""
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(width=0)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(overflow="fold")
    for name, count in sorted(counts.items(), key=lambda item: -item[1]):
        table.add_row("", count_text(count), Text(printable(name)), style="dim")
    console.print(table)


def print_damage(report: DamageReport, console: Console) -> None:
    """Print which locations have lost events; nothing for a sound trace.

    What the loss sums up to, `damage_summary`, is for stderr and not repeated here.
    """
    for damage in report.locations[:_LOCATIONS_SHOWN]:
        expected = "an impossible number of events"
        if damage.events_expected < MOST_EVENTS:
            expected = counted(damage.events_expected, "event")
        read = f"{count_text(damage.events_read)} of {expected} read; "
        known = read if damage.row >= 0 or damage.events_expected else ""
        text = f"Damaged {damage.place}: {known}{printable(damage.reason)}"
        print_paragraph(text, console, "red", indent=0)
    if report.irregular:
        odd = ", ".join(_of_these(count, name) for name, count in report.irregular.items())
        print_paragraph(printable(f"Odd, but counted: {odd}"), console, "dim", indent=0)
    print_rest(len(report.locations) - _LOCATIONS_SHOWN, "damaged location", console, "red")


def _of_these(count: int, name: str) -> str:
    """Return how many there are of what has a plural noun in front: ``1 operation of no duration``."""
    noun, _, rest = name.partition(" ")
    return f"{counted(count, noun.removesuffix('s'), noun)} {rest}"


def damage_summary(report: DamageReport) -> str:
    """Return in a sentence how much a damaged trace has lost."""
    places = counted(len(report.locations), "damaged location")
    lost = report.events_expected - report.events_read
    share = f"{count_text(lost)} of {counted(report.events_expected, 'event')} lost"
    if report.events_expected >= MOST_EVENTS:
        share = f"{count_text(report.events_read)} events read, the definitions promise more than any file holds"
    elif not lost:
        share = "what is lost was not counted"
    elif lost < 0:
        share = f"{count_text(report.events_read)} events read, {count_text(report.events_expected)} promised"
    return f"{places}: {share}; the results cover what could be read"


def written_lines(written: Written) -> Text:
    """Return what was written where, on one line, and below it what is left out."""
    told = [bytes_text(written.bytes)]
    if written.layers is not None:
        told += [printable(name) for name in written.layers] or ["no layers"]
    if written.bins is not None and written.fs is not None:
        told.append(f"{counted(written.bins, 'bin')} at {frequency_text(written.fs)}")
    counts = {
        "row": written.rows,
        "operation": written.operations,
        "I/O event": written.events,
        "marker": written.markers,
        "signal": written.signals,
    }
    told += [counted(count, noun) for noun, count in counts.items() if count is not None]
    beside = f" (with {printable(', '.join(written.beside))})" if written.beside else ""
    line = f"wrote {printable(str(written.path))}{beside}: {', '.join(told)}"
    if written.slices is not None and written.gap_s:
        line += f" in {counted(written.slices, 'slice')}, those closer than {seconds_text(written.gap_s)} as one"
    left_out = (written.cut or {}).items()
    cut = [f"  not all shown: {entries:,} {printable(name).replace('_', ' ')}" for name, entries in left_out]
    return Text("\n".join([line, *cut]))


_STYLES: Final = {"critical": "bold red", "warning": "bold yellow", "info": "bold"}
_LINES_OF_EACH: Final = 2


def print_findings(findings: Sequence[Finding], console: Console) -> None:
    """Print all findings with their advice, but of those that cost next to nothing only how many there are."""
    for one in findings:
        if one.is_small:
            continue
        console.print(Text.assemble((one.severity, _STYLES[one.severity]), "  ", (one.id, "bold")))
        print_paragraph(printable(one.text), console)
        print_paragraph(printable(one.advice), console, "dim")
    if rest := _rest_text([one for one in findings if one.is_small], "finding", "--json"):
        print_paragraph(rest, console, "dim", indent=0)


def first_findings(findings: Sequence[Finding], most: int, room: int, console: Console) -> list[Text]:
    """Return the lines of the first `most` findings, as many as fit into `room` lines, and a line with the others.

    Each is a heading and up to two lines of text, or one where there is little room. In a pipe they are told as they
    are. What costs next to nothing is counted among the others.
    """
    told: list[list[Text]] = []
    much = [one for one in findings if not one.is_small]
    for length in (_LINES_OF_EACH, 1):
        told = [_brief(one, length, console) for one in much[:most]]
        if not bounded(console) or sum(map(len, told)) + (len(findings) > most) <= room:
            break
    while bounded(console) and len(told) > 1 and sum(map(len, told)) + (len(findings) > len(told)) > room:
        told.pop()
    lines = [line for one in told for line in one]
    rest = _rest_text([*much[len(told) :], *(one for one in findings if one.is_small)])
    if rest:
        line = Text(rest, style="dim")
        if bounded(console):
            line.truncate(console.width, overflow="ellipsis")
        lines.append(line)
    return lines


def _rest_text(rest: Sequence[Finding], noun: str = "further finding", where: str = "") -> str:
    """Return how many findings are not shown, how many of them cost next to nothing, and the names of the others."""
    if not rest:
        return ""
    small = sum(one.is_small for one in rest)
    often = Counter(one.id for one in rest if not one.is_small or small == len(rest))
    names = ", ".join(f"{name} ({count})" if count > 1 else name for name, count in often.items())
    some = "" if small == len(rest) else f", {small} of them"
    little = f"{some} of less than {percent_text(LEAST_COST)} of the run" if small else ""
    return f"and {counted(len(rest), noun)}{little}: {names}{f'; {where} has them' if where else ''}"


def _brief(one: Finding, length: int, console: Console) -> list[Text]:
    """Return the lines of a finding, of its text no more than `length`."""
    heading = Text.assemble((one.severity, _STYLES[one.severity]), "  ", (one.id, "bold"))
    if one.cost_s is not None and one.cost_share is not None:
        cost = f", at most {seconds_text(one.cost_s)} ({percent_text(one.cost_share)}"
        whole = f"{cost} of the run)"
        heading.append(f"{cost})" if bounded(console) and len(heading) + len(whole) > console.width else whole)
    text = paragraph_lines(printable(one.statement), console)
    if bounded(console) and len(text) > length:
        text = text[:length]
        text[-1].truncate(max(8, console.width - 2))
        text[-1].append(" …")
    return [heading, *text]
