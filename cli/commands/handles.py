"""``iostrata handles``."""

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ..options import (
    Seconds,
    files_option,
    json_option,
    layer_option,
    memory_option,
    reading_options,
    trace_argument,
    window_option,
)

if TYPE_CHECKING:
    from ...layers.protocols import AnyTrace

BYTES_PER_HANDLE: Final = 6000
"""What the JSON document takes for each while it is made, as measured."""


@click.command(epilog="Example: iostrata handles traces.otf2 --files '*.nc'")
@trace_argument
@layer_option
@window_option
@files_option
@reading_options
@memory_option
@json_option
def command(
    trace: Path,
    layers: tuple[str, ...],
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    memory: int | None,
    as_json: bool,
) -> None:
    """Show the tree of I/O handles with the traffic of each.

    A handle of a lower layer hangs below the handle that it serves. Handles of one layer and file stand on one line, as
    do files that differ in numbers only; --json has each by itself, those set aside too. Bytes are those moved, with
    decimal prefixes (1 MB = 1,000,000 B).

    With --layer, handles hang below their nearest ancestor in these layers; --json picks entries and leaves their
    parents and numbers as they are.
    """
    from ...analysis.comparison.layer_periods import chosen_layers
    from ..reading import read_bins, read_trace

    opened: AnyTrace
    if memory is not None:
        opened = read_bins(trace, memory, "auto", engine, workers, files, window, BYTES_PER_HANDLE)
    else:
        opened = read_trace(trace, engine, workers, files, window)
    chosen = chosen_layers(opened, layers) if layers else None
    if as_json:
        from ...export.json.documents import handles_document
        from ...export.json.text import json_text

        click.echo(json_text(handles_document(opened, chosen)))
    else:
        from ...export.terminal.console import stdout_console
        from ...export.terminal.handles import print_handles

        print_handles(opened, stdout_console(), chosen)
