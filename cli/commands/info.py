"""Summarise what a trace defines, without reading its events."""

from ..request import Request, console, print_json, telling_of_several, trace_command


@trace_command("info scorep-run")
def command(request: Request) -> None:
    """Processes, nodes, I/O paradigms, files and handles; times in seconds; and what its recorder does not tell, with
    the counters that it kept beside the operations.
    """
    from ...layers.selection.source import open_source
    from ...model.stream.summary import summarise

    with telling_of_several(request.trace):
        summary = summarise(open_source(request.trace))
    if request.as_json:
        from ...export.json.documents import info_document

        print_json(info_document(summary))
    else:
        from ...export.terminal.info import print_info

        print_info(summary, console())
