"""What ``iostrata collect`` prints."""

from typing import Final

from rich.console import Console

from ...model.quantities import bytes_text, counted
from ...model.text import printable
from ..collection import CollectionWritten

_SHOWN: Final = 10


def print_collected(written: CollectionWritten, out: Console) -> None:
    """Print what became of the traces, and what can be done with them now."""
    done = [f"{counted(written.read, 'trace')} read"]
    if written.unchanged:
        done.append(f"{written.unchanged:,} unchanged since the last call")
    if written.failed:
        done.append(f"{len(written.failed):,} that cannot be used")
    out.print(", ".join(done), highlight=False, soft_wrap=True)
    for one in written.failed[:_SHOWN]:
        text = one.reason if one.job in one.reason else f"{one.job}: {one.reason}"
        out.print(f"  {text}", highlight=False, markup=False)
    if len(written.failed) > _SHOWN:
        out.print(f"  and {len(written.failed) - _SHOWN:,} more; the table job says why", highlight=False)
    folder = printable(written.path)
    runs = counted(written.runs, "run")
    out.print(f"{folder}: {runs} in 5 tables, {bytes_text(written.bytes)}", highlight=False, markup=False)
    out.print(f"Next: iostrata report {folder} -o runs.html", highlight=False, markup=False)
