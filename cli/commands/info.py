"""``iostrata info``."""

from ..request import Request, console, print_json, trace_command


@trace_command("info scorep-run")
def command(request: Request) -> None:
    """Summarise what a trace defines, without reading its events.

    Processes, nodes, I/O paradigms, files and handles; times in seconds.
    """
    from ...otf2io.archive import open_archive
    from ...otf2io.summary import summarise

    summary = summarise(open_archive(request.trace))
    if request.as_json:
        from ...export.json.documents import info_document

        print_json(info_document(summary))
    else:
        from ...export.terminal.info import print_info

        print_info(summary, console())
