"""The terminal view of ``iostrata report``."""

from rich.console import Console
from rich.text import Text

from ..report.write import WrittenReport
from .names import printable
from .units import bytes_text


def print_report(written: WrittenReport, console: Console) -> None:
    """Print what was written where, on one line, and what is left out of it."""
    layers = ", ".join(printable(name) for name in written.layers) or "no layers"
    console.print(Text(f"wrote {printable(str(written.path))}: {bytes_text(written.bytes)}, {layers}"))
    for name, entries in written.cut.items():
        console.print(Text(f"  not all shown: {entries:,} {printable(name).replace('_', ' ')}"))
