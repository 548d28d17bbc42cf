"""Lines that every terminal view shares: what is looked at, what does not count, and what is lost."""

from collections.abc import Collection, Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.trace import Trace
from ...model.codes import MOST_EVENTS
from ...model.quantities import bytes_text, count_text, counted, seconds_text
from ...model.recording import Recording
from ...model.stream.damage import DamageReport
from ...model.text import printable
from .console import print_paragraph

_LOCATIONS_SHOWN = 8
_LONG = 100.0
"""Seconds of a run from which on one more or less is no matter."""


def print_heading(trace: Trace, console: Console) -> None:
    """Print which trace is looked at, and the window and files where they are not the usual ones."""
    console.print(Text(printable(str(trace.path)), style="bold", overflow="fold"))
    # Of a long run nobody would see the difference.
    most = "at most " if trace.definitions.recording.whole_seconds and trace.duration < _LONG else ""
    facts = [most + seconds_text(trace.duration), counted(trace.ranks, "rank")]
    if trace.definitions.recording.nodes:
        facts.append(counted(trace.nodes, "node"))
    recording = trace.definitions.recording
    counts_intervals = recording.rows == "intervals" and not recording.kept_in
    facts.append(counted(trace.io_events, "interval" if counts_intervals else "I/O event"))
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
        print_paragraph(printable(f"{recording.recorder}, {'; '.join(said)}"), console, "dim", indent=0)


def print_counters(
    recording: Recording,
    console: Console,
    layers: Collection[str] = (),
    directions: Collection[str] = ("read", "write"),
    left_out: Collection[str] = (),
) -> None:
    """Print what the recorder summed up without times, of `layers` (all where there are none) but those `left_out`."""
    if recording.counters is None:
        return
    totals = [
        one
        for one in recording.counters.totals()
        if (not layers or one.layer in layers)
        and one.layer not in left_out
        and ("total" in directions or one.direction in directions)
    ]
    if not totals:
        return
    console.print()
    table = Table(box=None, pad_edge=False, header_style="bold", padding=(0, 2, 0, 0))
    for title in ("counters", "layer", ""):
        table.add_column(title, no_wrap=True)
    for title in ("operations", "bytes", "files", "ranks"):
        table.add_column(title, justify="right", no_wrap=True)
    for one in totals:
        table.add_row(
            Text(printable(one.module), style="bold"),
            Text(printable(one.layer)),
            one.direction,
            "–" if one.operations is None else count_text(one.operations),
            "–" if one.bytes is None else bytes_text(one.bytes),
            count_text(one.files),
            "–" if one.ranks is None else count_text(one.ranks),
        )
    console.print(table)
    text = f"Counters are {recording.recorder}'s own sums of the whole run and all files, without times."
    print_paragraph(printable(text), console, "dim", indent=0)


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
    hidden = len(report.locations) - _LOCATIONS_SHOWN
    if hidden > 0:
        console.print(Text(f"and {counted(hidden, 'further damaged location')}; --json names them all", style="red"))


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
    elif lost <= 0:
        share = f"{count_text(report.events_read)} events read, {count_text(report.events_expected)} promised"
    return f"{places}: {share}; the results cover what could be read"
