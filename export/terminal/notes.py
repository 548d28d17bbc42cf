"""Lines that every terminal view shares: what is looked at, what does not count, and what is lost."""

from collections.abc import Mapping

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...layers.protocols import AnyTrace
from ...model.codes import MOST_EVENTS
from ...model.damage import DamageReport
from ...model.quantities import bytes_text, count_text, counted, seconds_text
from ...model.text import printable
from .console import print_paragraph

_LOCATIONS_SHOWN = 8


def print_heading(trace: AnyTrace, console: Console) -> None:
    """Print which trace is looked at, and the window and files where they are not the usual ones."""
    console.print(Text(printable(str(trace.path)), style="bold", overflow="fold"))
    facts = [seconds_text(trace.duration), counted(trace.ranks, "rank"), counted(trace.nodes, "node")]
    facts.append(counted(trace.io_events, "I/O event"))
    if trace.resolution is not None:
        facts.append(f"signals binned ({seconds_text(trace.resolution)})")
    start, end = trace.window
    if start > 0 or end < trace.duration:
        facts.append(f"window {start:.6g} … {end:.6g} s")
    if trace.files != "application":
        facts.append(f"files {printable(trace.files)}")
    print_paragraph(", ".join(facts), console, indent=0)
    console.print()


def print_set_aside(trace: AnyTrace, console: Console) -> None:
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
        read = f"{count_text(damage.events_read)} of {expected} read"
        text = f"Damaged location {damage.location}: {read}; {printable(damage.reason)}"
        print_paragraph(text, console, "red", indent=0)
    hidden = len(report.locations) - _LOCATIONS_SHOWN
    if hidden > 0:
        console.print(Text(f"and {counted(hidden, 'further damaged location')}; --json names them all", style="red"))


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
