"""The terminal view of a file that was written."""

from rich.text import Text

from ...model.quantities import bytes_text, counted, frequency_text, seconds_text
from ...model.text import printable
from ..written import Written


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
    line = f"wrote {printable(str(written.path))}: {', '.join(told)}"
    if written.slices is not None and written.gap_s:
        line += f" in {counted(written.slices, 'slice')}, those closer than {seconds_text(written.gap_s)} as one"
    cut = [
        f"  not all shown: {entries:,} {printable(name).replace('_', ' ')}"
        for name, entries in (written.cut or {}).items()
    ]
    return Text("\n".join([line, *cut]))
