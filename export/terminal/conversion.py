"""The terminal view of ``iostrata convert``: what was written where, on one line."""

from rich.text import Text

from ..annotation import WrittenArchive
from ..hdf5 import WrittenFile
from ..perfetto import WrittenEvents
from ..written import WrittenTable
from .names import printable
from .units import bytes_text, counted, frequency_text, seconds_text


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
