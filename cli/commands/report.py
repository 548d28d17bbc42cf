"""``iostrata report``."""

from pathlib import Path

from ..options import FREQUENCY, LAYERS, MEMORY, METHOD, READING, TRAFFIC, output
from ..progress import Progress
from ..request import Request, print_written, trace_command

PAGE = output(
    "-o",
    "--output",
    "out",
    metavar="OUT.html",
    known=(".html", ".htm"),
    required=True,
    help="The page; one that is there already is replaced once the new one is complete.",
)


@trace_command("report traces.otf2 -o report.html", PAGE, LAYERS, TRAFFIC, METHOD, FREQUENCY, *READING, MEMORY)
def command(request: Request, out: Path) -> None:
    """Write a page that shows a trace: one HTML file for any browser.

    It loads nothing, so it can be opened without a network and sent to others; it is at most 5 MB, and says what it
    leaves out. Bandwidths are in B/s with decimal prefixes (1 MB/s = 1,000,000 B/s), times in seconds from the trace's
    start.
    """
    from ...export.report.write import write_report

    trace = request.open(relations=True)
    with Progress("drawing the report") as progress:
        written = write_report(
            trace,
            out,
            layers=request.layers,
            traffic=request.traffic,
            method=request.method,
            fs=request.fs,
            progress=progress,
        )
    print_written(trace, written, request.as_json)
