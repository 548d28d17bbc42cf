"""What ``iostrata collect`` prints."""

from typing import Final

from rich.console import Console
from rich.text import Text

from ...model.quantities import bytes_text, counted
from ...model.text import printable
from ...runs.collection.rows import TABLES
from ..collection import CollectionWritten
from ..terminal.console import print_paragraph

_SHOWN: Final = 10


def print_collected(written: CollectionWritten, out: Console) -> None:
    """Print what became of the traces, and what can be done with them now."""
    done = [f"{counted(written.read, 'trace')} read"]
    if written.unchanged:
        done.append(f"{written.unchanged:,} unchanged since the last call")
    if written.failed:
        done.append(f"{len(written.failed):,} that cannot be used")
    print_paragraph(", ".join(done), out, indent=0)
    for one in written.failed[:_SHOWN]:
        text = one.reason if one.job in one.reason else f"{one.job}: {one.reason}"
        print_paragraph(printable(text), out)
    if len(written.failed) > _SHOWN:
        print_paragraph(f"and {len(written.failed) - _SHOWN:,} more; the table job says why", out)
    folder = printable(written.path)
    runs = counted(written.runs, "run")
    print_paragraph(f"{folder}: {runs} in {len(TABLES)} tables, {bytes_text(written.bytes)}", out, indent=0)
    # To be copied, so on one line.
    out.print(Text(f"Next: iostrata report {folder} -o runs.html"), soft_wrap=True)
