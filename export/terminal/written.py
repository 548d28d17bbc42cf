"""The terminal views of commands that write a file."""

from rich.console import Console
from rich.text import Text

from ...model.text import printable
from ...model.units import bytes_text, counted, frequency_text, seconds_text
from ..written import WrittenArchive, WrittenEvents, WrittenFile, WrittenReport, WrittenTable


def print_report(written: WrittenReport, console: Console) -> None:
    """Print what was written where, on one line, and what is left out of it."""
    layers = ", ".join(printable(name) for name in written.layers) or "no layers"
    console.print(Text(f"wrote {printable(str(written.path))}: {bytes_text(written.bytes)}, {layers}"))
    for name, entries in written.cut.items():
        console.print(Text(f"  not all shown: {entries:,} {printable(name).replace('_', ' ')}"))


def conversion_line(written: WrittenFile) -> Text:
    """Return the line for an HDF5 file."""
    return _line(written, f"{counted(written.bins, 'bin')} at {frequency_text(written.fs)}")


def table_line(written: WrittenTable) -> Text:
    """Return the line for a table of operations."""
    return _line(written, counted(written.rows, "operation"))


def events_line(written: WrittenEvents) -> Text:
    """Return the line for trace events."""
    what = counted(written.operations, "operation")
    if written.slices < written.operations:
        what += f" in {counted(written.slices, 'slice')}, those closer than {seconds_text(written.gap_s)} as one"
    return _line(written, what)


def archive_line(written: WrittenArchive) -> Text:
    """Return the line for an annotated archive."""
    return _line(written, counted(written.markers, "marker"))


def _line(written: WrittenFile | WrittenTable | WrittenEvents | WrittenArchive, what: str) -> Text:
    layers = ", ".join(printable(name) for name in written.layers) or "no layers"
    return Text(f"wrote {printable(str(written.path))}: {bytes_text(written.bytes)}, {layers}, {what}")
