"""``iostrata compare``."""

from pathlib import Path

import click

from ..options import (
    Frequency,
    Seconds,
    direction_option,
    files_option,
    frequency_option,
    json_option,
    layer_option,
    method_option,
    reading_options,
    trace_argument,
    window_option,
)


@click.command(epilog="Example: iostrata compare traces.otf2 --direction write")
@trace_argument
@layer_option
@direction_option
@method_option
@frequency_option
@window_option
@files_option
@reading_options
@json_option
def command(
    trace: Path,
    layers: tuple[str, ...],
    direction: str | None,
    method: str,
    fs: Frequency,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Show what each layer makes of the one above, with findings.

    Findings with their numbers and what helps; for each upper and lower layer bytes and their ratio, the ranks that
    moved them, the fan-out (operations below per call above; a collective call counts once) and what became of the
    period; where the time of operations goes; and the bytes that only one of two layers shows.
    """
    from ...analysis.comparison.layers import compare_layers
    from ..progress import Progress
    from ..reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    directions = ("read", "write") if direction is None else (direction,)
    with Progress("comparing layers") as progress:
        progress(0, 0)
        comparison = compare_layers(opened, layers=layers, directions=directions, method=method, fs=fs)
    if as_json:
        from ...analysis.comparison.layers import comparison_document
        from ...export.json.text import json_text

        click.echo(json_text(comparison_document(comparison)))
    else:
        from ...export.terminal.compare import print_comparison
        from ...export.terminal.console import stdout_console

        print_comparison(comparison, stdout_console())
