"""``iostrata report``."""

from pathlib import Path

import click

from ..options import (
    Frequency,
    Seconds,
    files_option,
    frequency_option,
    json_option,
    layer_option,
    method_option,
    reading_options,
    trace_argument,
    traffic_option,
    window_option,
)


def parse_page(_context: click.Context, _option: click.Parameter, path: Path) -> Path:
    """Return `path` where it is named as a page.

    Raises
    ------
    click.BadParameter
        If it is not.
    """
    if path.suffix not in (".html", ".htm"):
        raise click.BadParameter(f"{str(path)!r} does not end in .html")
    return path


@click.command(epilog="Example: iostrata report traces.otf2 -o report.html")
@trace_argument
@click.option(
    "-o",
    "--output",
    "out",
    metavar="OUT.html",
    type=click.Path(path_type=Path),
    required=True,
    callback=parse_page,
    help="The page; one that is there already is replaced once the new one is complete.",
)
@layer_option
@traffic_option
@method_option
@frequency_option
@window_option
@files_option
@reading_options
@json_option
def command(
    trace: Path,
    out: Path,
    layers: tuple[str, ...],
    traffic: str,
    method: str,
    fs: Frequency,
    window: Seconds | None,
    files: str,
    engine: str,
    workers: int | None,
    as_json: bool,
) -> None:
    """Write a page that shows a trace: one HTML file for any browser.

    It loads nothing, so it can be opened without a network and sent to others; it is at most 5 MB, and says what it
    leaves out. Bandwidths are in B/s with decimal prefixes (1 MB/s = 1,000,000 B/s), times in seconds from the trace's
    start.
    """
    from ...export.report.write import write_report
    from ..progress import Progress
    from ..reading import read_trace

    opened = read_trace(trace, engine, workers, files, window)
    with Progress("drawing the report") as progress:
        written = write_report(
            opened, out, layers=layers or None, traffic=traffic, method=method, fs=fs, progress=progress
        )
    if as_json:
        from ...export.json.documents import report_document
        from ...export.json.text import json_text

        click.echo(json_text(report_document(opened, written)))
    else:
        from ...export.terminal.console import stdout_console
        from ...export.terminal.written import print_report

        print_report(written, stdout_console())
