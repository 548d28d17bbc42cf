"""Write a page that shows a trace or many runs: one HTML file."""

from pathlib import Path

import click

from ...model.document import SCHEMA_VERSION
from ...model.text import printable
from .. import request as cli
from ..options import FREQUENCY, LAYERS, MEMORY, METHOD, READING, TRAFFIC, option, output_option
from ..progress import Progress

PAGE = output_option(
    "OUT.html",
    "The page; one that is there already is replaced once the new one is complete. Without it the page is named "
    "after the trace and goes into the current folder, where none must be yet.",
)

SCORES = option(
    "--scores FILE",
    "Of a collection: rank the runs by the Problem-Scores in this file, which iostrata assess --json has written. "
    " [default: those of iostrata assess at its defaults]",
)

EACH = option(
    "--each",
    "Of a collection: also write the report of each run that the page lists, into a folder beside the page, and "
    "link to it. Reads the traces again; reports that are there and newer than their trace stay.",
)


@cli.trace_command(
    "report traces.otf2 -o report.html", PAGE, SCORES, EACH, LAYERS, TRAFFIC, METHOD, FREQUENCY, *READING, MEMORY
)
def command(request: cli.Request, out: Path | None, scores: Path | None, each: bool) -> None:
    """The page is OUT.html, or named after the folder of the trace. Of a collection, the folder that iostrata collect
    has written, the page ranks its runs, or with FOLDER:PATTERN in place of TRACE those whose name matches.

    It loads nothing, so it can be opened without a network and sent to others; it is at most 2 MB, and says what it
    leaves out. Bandwidths are in B/s with decimal prefixes (1 MB/s = 1,000,000 B/s), times in seconds from the trace's
    start.
    """
    from ...model.errors import TraceError
    from ...runs.collection.chosen import folder_and_pattern
    from ...runs.collection.tables import is_collection

    folder, pattern = folder_and_pattern(request.trace)
    if out is None:
        out = _named_after(folder)
    if is_collection(folder):
        cli.refuse_for_tables([folder], traces=each)
        cli.refuse_given("is for the page of a trace", "layers", "traffic", "fs", "memory", "dask")
        _report_runs(request, out, scores, each)
        return
    if pattern != "*":
        raise TraceError(cli.several_text(folder))
    if scores is not None or each:
        raise click.UsageError("--scores and --each are for a collection, the folder that iostrata collect has written")
    from ...export.report.write import write_report

    trace = request.open(relations=True)
    with Progress("drawing the report") as progress:
        written = write_report(trace, out, **request.named("layers", "traffic", "method", "fs"), progress=progress)
    cli.print_written(trace, written, request.as_json)


def _named_after(trace: Path) -> Path:
    """Return the page of a trace in the current folder; that must not be there."""
    folder = trace if trace.is_dir() else trace.parent
    # An archive of any name lies in a folder of its own; other recorders write files beside each other.
    name = folder.resolve().name if trace.is_dir() or trace.suffix == ".otf2" else trace.name.partition(".")[0]
    page = Path(f"{name or 'report'}.html")
    if page.exists():
        raise click.UsageError(f"{printable(str(page))} is there already: name the page, -o OUT.html")
    return page


def _report_runs(request: cli.Request, out: Path, scores: Path | None, each: bool) -> None:
    """Write the page of a collection."""
    from ...export.runs.ranking_page import Scores, known_reports, read_scores, write_ranking, write_reports
    from ...model.quantities import bytes_text, counted
    from ...runs.collection.chosen import chosen_runs

    (collection,) = chosen_runs([request.trace]).collections
    known: Scores
    if scores is None:
        from ...runs.scores.tables import scores_of_runs

        known = {one.job: one.problem_score for one in scores_of_runs(collection)}
    else:
        known = read_scores(scores)
    failed: tuple[str, ...] = ()
    if each:
        with Progress("writing reports") as progress:
            failed = write_reports(collection, out, **request.named("engine", "calls", "workers"), progress=progress)
    for text in failed:
        cli.warn(f"no report: {text}")
    reports = known_reports(collection, out)
    written = write_ranking(collection, out, scores=known, reports=reports, by_scores=scores is not None)
    if request.as_json:
        cli.print_json({"schema_version": SCHEMA_VERSION, "output": written.to_dict()})
    else:
        what = f"{bytes_text(written.bytes)}, {counted(written.rows or 0, 'run')}"
        cli.console().print(f"wrote {printable(str(out))}: {what}")
