"""``iostrata info``."""

from pathlib import Path

import click

from ..options import json_option, trace_argument


@click.command(epilog="Example: iostrata info scorep-run")
@trace_argument
@json_option
def command(trace: Path, as_json: bool) -> None:
    """Summarise what a trace defines, without reading its events.

    Processes, nodes, I/O paradigms, files and handles; times in seconds.
    """
    from ...otf2io.archive import open_archive
    from ...otf2io.summary import summarise

    summary = summarise(open_archive(trace))
    if as_json:
        from ...export.json.documents import info_document
        from ...export.json.text import json_text

        click.echo(json_text(info_document(summary)))
    else:
        from ...export.terminal.console import stdout_console
        from ...export.terminal.info import print_info

        print_info(summary, stdout_console())
