"""The terminal view of ``iostrata convert``."""

from rich.console import Console
from rich.text import Text

from ..hdf5 import WrittenFile
from ..written import WrittenTable
from .names import printable
from .units import bytes_text, counted, frequency_text


def print_conversion(written: WrittenFile, console: Console) -> None:
    """Print what was written where, on one line."""
    layers = ", ".join(printable(name) for name in written.layers) or "no layers"
    bins = f"{counted(written.bins, 'bin')} at {frequency_text(written.fs)}"
    console.print(Text(f"wrote {printable(str(written.path))}: {bytes_text(written.bytes)}, {layers}, {bins}"))


def print_table_conversion(written: WrittenTable, console: Console) -> None:
    """Print what was written where, on one line."""
    layers = ", ".join(printable(name) for name in written.layers) or "no layers"
    rows = counted(written.rows, "operation")
    console.print(Text(f"wrote {printable(str(written.path))}: {bytes_text(written.bytes)}, {layers}, {rows}"))
