"""The terminal view of ``iostrata info``."""

from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...model.quantities import count_text, counted, frequency_text, seconds_text
from ...model.recording import OTF2
from ...model.stream.summary import TraceSummary, start_time
from ...model.text import printable
from .console import folded_column, name_column, plain_table, print_counters, print_damage

_NODES_SHOWN: Final = 4
_DEEPEST_TREE: Final = 8
_ROOMY: Final = 80
"""Columns from which on there is room between the columns of the table."""


def print_info(summary: TraceSummary, console: Console) -> None:
    """Print what a trace defines: a block of facts, then a table of its paradigms, then what was only counted."""
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="bold")
    facts.add_column(overflow="fold")
    for name, value in _facts(summary):
        facts.add_row(name, Text(value))
    console.print(facts)
    if summary.paradigms:
        console.print()
        console.print(_paradigms(summary, gap=2 if console.width >= _ROOMY else 1))
    print_counters(summary.definitions.recording, console)
    if summary.damage is not None and summary.damage.damaged:
        console.print()
        print_damage(summary.damage, console)


def _facts(summary: TraceSummary) -> list[tuple[str, str]]:
    definitions = summary.definitions
    recording = definitions.recording
    clock = definitions.clock
    start = start_time(clock)
    # Files of other recorders have no definitions to promise anything, and neither ticks nor communicators.
    native = recording.recorder == OTF2.recorder or bool(recording.kept_in)
    clock_text = f", clock of {frequency_text(clock.ticks_per_second)}" if native else ""
    noun = "interval" if recording.rows in ("intervals", "extents") else "I/O event"
    events = f"{counted(summary.events, noun)} in the file"
    if native:
        events = f"{count_text(summary.events)} promised by the definitions, of all kinds"
    kept = f"; kept in {recording.kept_in}" if recording.kept_in else ""
    facts = [
        ("trace", printable(str(summary.path))),
        ("format", printable(recording.format + kept)),
        ("start", start if start is not None else "not recorded"),
        ("duration", seconds_text(clock.duration) + clock_text),
        (
            "processes",
            recording.told(f"{counted(summary.ranks, 'rank')} with {counted(summary.locations, 'location')}")
            + (f" on {counted(summary.nodes, 'node')}" if recording.knows("nodes") else ""),
        ),
        *_system_tree(summary),
        ("events", events),
        *_files_and_handles(summary),
    ]
    if native:
        facts.append(("communicators", count_text(len(summary.communicators))))
    for system, mount, count in summary.files_per_system:
        place = " on ".join(printable(part) for part in (system, mount) if part)
        facts.append(("file system", f"{place or 'unnamed'}: {counted(count, 'file')}"))
    if recording.missing:
        facts.append(("not recorded", printable(", ".join(recording.missing))))
    if recording.handles == "inferred":
        facts.append(("inferred", "handles and what hangs below them, from the names of files"))
    facts += [("note", printable(note)) for note in recording.notes]
    return facts


def _system_tree(summary: TraceSummary) -> list[tuple[str, str]]:
    """Return a line for each node that has processes, the first few by name."""
    nodes, ranks = summary.definitions.system_tree, summary.ranks_of_nodes
    used = [row for row, count in enumerate(ranks) if count]
    facts = []
    for row in used[:_NODES_SHOWN]:
        path = [row]
        while (above := int(nodes.parent[path[-1]])) >= 0 and len(path) < _DEEPEST_TREE:
            path.append(above)
        names = " / ".join(printable(f"{nodes.class_name[one]} {nodes.name[one]}".strip()) for one in reversed(path))
        facts.append(("system tree", f"{names}: {summary.definitions.recording.told(counted(ranks[row], 'rank'))}"))
    if len(used) > _NODES_SHOWN:
        facts.append(("system tree", f"and {counted(len(used) - _NODES_SHOWN, 'further node')}; --json has them all"))
    return facts


def _files_and_handles(summary: TraceSummary) -> list[tuple[str, str]]:
    """Return how many there are; nothing where nobody knows: what stands in their place is one for each layer."""
    definitions = summary.definitions
    if definitions.recording.reason("handles"):
        return []
    directories = int(definitions.files.directory.sum())
    kinds = f", {count_text(directories)} of them directories" if directories else ""
    handles = (
        f"{count_text(len(definitions.handles.id))}: {count_text(summary.handle_roots)} without a parent, "
        f"{count_text(summary.handles_precreated)} pre-created, "
        f"{count_text(summary.handles_without_file)} without a file"
    )
    return [("files", count_text(len(definitions.files.name)) + kinds), ("handles", handles)]


def _paradigms(summary: TraceSummary, gap: int) -> Table:
    known = not summary.definitions.recording.reason("handles")
    names = folded_column("paradigm", 8), folded_column("name"), name_column("class")
    numbers = ("handles", "roots", "files") if known else ()
    table = plain_table(*names, *numbers, folded_column("properties", 10), gap=gap)
    for counts in summary.paradigms:
        paradigm = counts.paradigm
        table.add_row(
            Text(printable(paradigm.identification)),
            Text(printable(paradigm.name)),
            ("parallel" if paradigm.parallel else "serial") + (", OS" if paradigm.os else ""),
            *(count_text(one) for one in (counts.handles, counts.roots, counts.files) if known),
            Text(", ".join(f"{printable(key)} {printable(value)}" for key, value in paradigm.properties)),
        )
    return table
