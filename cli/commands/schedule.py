"""Show what scheduling I/O by period would gain for jobs together."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .. import request as cli
from ..options import CALLS, DASK, ENGINE, FILES, WORKERS, Seconds, option, output_option, parse_window, picture_option
from ..progress import Progress

if TYPE_CHECKING:
    from ...layers.selection.directions import Direction
    from ...runs.scheduling.jobs import PeriodicJob

JOBS = click.argument("traces", metavar="JOBS...", nargs=-1, required=True, type=click.Path(path_type=Path))
LAYER = option("--layer NAME", "The layer of recordings whose phases count.  [default: the lowest that has any]")
DIRECTION = option(
    "--direction",
    "Direction of their transfers.  [default: of traces both together; of documents that which moved more]",
    choices=["read", "write", "total"],
)
ITERATIONS = option(
    "--iterations N",
    "I/O phases of each job that does not say so; recordings are repeated or cut.  [default: of recordings as "
    "recorded; else 20 of the longest period]",
    type=click.IntRange(min=1),
)
START = option("--random-start", "Begin jobs without release_s at a random time in their first period, not all at 0.")
ERROR = option(
    "--error SHARE",
    "Tell Set-10 periods that are too long or too short by this share of them, such as 0.5.",
    type=click.FloatRange(0, 0.99),
    default=0.0,
)
RUNS = option(
    "--runs N",
    "Draw what is random N times, and tell the means, the least and the most.",
    type=click.IntRange(1, 1000),
    default=1,
)
SEED = option("--seed N", "Of chance.", type=click.IntRange(min=0), default=0)
MEASURED = option(
    "--window START:END",
    "Measure, and draw, only iterations that begin between these simulated times in s; either side may be left "
    "out. Leaves out how jobs that begin at once find their places.",
    callback=parse_window,
)
OUT = output_option(
    "OUT.json", "Also write the sets with their priorities and jobs, for the scheduler of a real system."
)
PLOT = picture_option("Draw when each job waits and when it has the bandwidth, a panel a policy (needs matplotlib).")


@cli.command_of(
    "schedule jobs.csv --random-start --error 0.5 --runs 10 --plot schedule.png",
    JOBS, ITERATIONS, START, ERROR, RUNS, SEED, MEASURED, OUT, PLOT, LAYER, DIRECTION, FILES, ENGINE, CALLS, WORKERS,
    DASK,
)  # fmt: skip
def command(
    traces: tuple[Path, ...],
    iterations: int | None,
    random_start: bool,
    error: float,
    runs: int,
    seed: int,
    window: Seconds | None,
    out: Path | None,
    picture: Path | None,
    layer: str | None,
    direction: "Direction | None",
    as_json: bool,
    **reading: Any,
) -> None:
    """JOBS are tables of jobs (CSV, JSON lines or Parquet with job,period_s,io_share and more, a row a job), documents
    of 'iostrata periods --json' or 'signature --json', traces, folders of traces, or FOLDER:PATTERN for those in it
    whose name matches; all of them run beside each other on one file system, whose bandwidth one job alone can use up.

    Simulated are fair share (all that do I/O share the bandwidth), exclusive (one at a time, first come, first
    served), Set-10 (jobs of like periods one at a time, sets share by priority) and clairvoyant: Set-10 with the
    period that each job really has. Stretch, I/O slowdown and utilization are as FTIO (IPDPS'24) defines them.
    """
    if not (random_start or error):
        cli.refuse_given("is of chance, which --random-start and --error bring in", "runs", "seed")
    cli.prepare_picture(picture)
    jobs = _jobs(traces, cli.Request(traces[0], **reading), layer, direction)
    from ...export.runs.schedule_files import write_schedule_figure, write_sets
    from ...runs.scheduling.comparison import compare_policies
    from ...runs.scheduling.policies import sets_of

    with Progress("simulating") as progress:
        found = compare_policies(
            jobs,
            iterations=iterations,
            random_start=random_start,
            error=error,
            window=window,
            runs=runs,
            seed=seed,
            progress=progress,
        )
    sets = sets_of(found.workload.names, found.workload.period)
    written = cli.write_all(
        (out, lambda path: write_sets(sets, path)), (picture, lambda path: write_schedule_figure(found, path, window))
    )
    if as_json:
        from ...export.json.runs import schedule_document

        cli.print_json(schedule_document(found, jobs, sets, error, written))
    else:
        from ...export.runs.schedule_text import print_schedule

        print_schedule(found, jobs, sets, error, cli.console())
        cli.print_files(written)


def _jobs(
    paths: tuple[Path, ...], request: cli.Request, layer: str | None, direction: "Direction | None"
) -> "list[PeriodicJob]":
    """Return all jobs; recordings that cannot be used are left out with a warning."""
    from ...model.errors import MissingLibraryError, SelectionError, TraceError
    from ...runs.collection.chosen import chosen_runs
    from ...runs.collection.content import trace_name
    from ...runs.scheduling.recordings import is_periods_document, named_apart, read_periods, recorded_job
    from ...runs.scheduling.tables import is_job_table, read_job_table

    found: list[PeriodicJob] = []
    failed: list[str] = []
    kinds = set[str]()
    for path in paths:
        if is_job_table(path):
            kinds.add("table")
            found += read_job_table(path)
            continue
        # What is named twice is two jobs.
        runs = chosen_runs([path])
        for collection in runs.collections:
            raise TraceError(f"{collection.path} is a collection; a schedule takes the traces themselves")
        for trace in runs.traces:
            try:
                if is_periods_document(trace):
                    kinds.add("document")
                    found.append(recorded_job(trace.stem, read_periods(trace), layer, direction))
                else:
                    kinds.add("trace")
                    document = _periods(replace(request, trace=trace), direction)
                    found.append(recorded_job(trace_name(trace), document, layer, direction))
            except (TraceError, SelectionError, MissingLibraryError, OSError) as error:
                failed.append(str(error))
    if "trace" not in kinds:
        cli.refuse_given("is of traces, and none is named", "files", "engine", "calls", "workers", "dask")
    if kinds == {"table"}:
        cli.refuse_given("is of recordings, and a table has neither", "layer", "direction")
    cli.warn_of_left_out(failed, found)
    return named_apart(found)


def _periods(request: cli.Request, direction: "Direction | None") -> Any:
    """Return the document of ``iostrata periods`` for a trace."""
    from ...analysis.comparison.iterations import loops_of
    from ...analysis.comparison.layer_periods import chosen_layers, layer_periods
    from ...export.json.documents import periods_document

    trace = request.open()
    periods = layer_periods(chosen_layers(trace), (direction or "total",), loops=loops_of(trace))
    return periods_document(trace, periods)
