"""Rank jobs by how much their I/O deserves a look."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from .. import request as cli
from ..options import POSITIVE, option, output_option
from ..progress import Progress

if TYPE_CHECKING:
    from ...runs.collection.tables import Collection
    from ...runs.scores.accounting import Accounting, Wanted
    from ...runs.scores.assessment import JobScore
    from ...runs.scores.limits import MetricLimits
    from ...runs.scores.tables import MetricTable
    from ...runs.scores.traces import TraceJobs

    Jobs = MetricTable | TraceJobs

ORDERS: Final = {"problem-score": "problem_score", "io-intensity": "io_intensity", "time-lost": "cost_s"}
TABLES: Final = (".csv", ".parquet", ".pq")


def _quantiles(_context: click.Context, _option: click.Parameter, text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise click.BadParameter(f"{text!r} is not two numbers A,B such as 0.99,0.999") from None
    if not 0 < low < high < 1:
        raise click.BadParameter(f"{text!r} does not ascend between 0 and 1")
    return low, high


JOBS = click.argument("traces", metavar="JOBS...", nargs=-1, required=True, type=click.Path(path_type=Path))
TRAIN = option("--train", "Find the limits with these jobs, write them to -o and stop.")
LIMITS = option("--limits FILE", "Limits that --train wrote.  [default: those of the jobs themselves]", "known")
OUT = output_option(
    "OUT.json|.html",
    "With --train: where the limits belong (.json). Else: a page with distributions, rankings and the segments of "
    "the first jobs (.html).",
)
SEGMENT = option(
    "--segment S", "Length of a segment in s.  [default: that of the limits; without limits 600]", type=POSITIVE
)
QUANTILES = option(
    "--quantiles A,B",
    "Shares of all metric segments up to which I/O is low, and high; above it is critical.",
    default="0.99,0.999",
    callback=_quantiles,
)
CRITICAL = option(
    "--critical Z",
    "Score of critical I/O; high I/O has 1.  [default: the smallest ratio of both limits, rounded, at least 2]",
    type=click.FloatRange(min=1),
)
THRESHOLD = option(
    "--intensive N",
    "A segment of a job is I/O-intensive where the sum of all its scores is above N.",
    "threshold",
    type=click.FloatRange(min=0),
    default=1.0,
)
ORDER = option(
    "--order",
    "What the jobs are ranked by; time-lost is what I/O took, over all ranks, of the runs of a collection.  "
    "[default: time-lost where all jobs are runs of collections, else problem-score]",
    choices=list(ORDERS),
)
LEAST = option(
    "--least-duration S",
    "Rank only jobs that ran for at least S seconds, by their score alone.  [default: all, those of up to three "
    "segments after the longer ones]",
    type=click.FloatRange(min=0),
)


ACCOUNTING = option(
    "--accounting FILE",
    "What Slurm knew of the jobs: the output of 'sacct -P', or CSV, with JobID and State, Partition, User, "
    "Exclusive or OverSubscribe. Jobs are told with it, and may be chosen by it.",
)
STATE = option("--state NAME", "Rank jobs of this state. Repeatable.", "states", multiple=True)
PARTITION = option("--partition NAME", "Rank jobs of this partition. Repeatable.", "partitions", multiple=True)
USER = option("--user NAME", "Rank jobs of this user. Repeatable.", "users", multiple=True)
EXCLUSIVE = option("--exclusive", "Rank jobs that did not share their nodes.")


@cli.runs_command(
    "assess february.parquet --limits limits.json -o february.html",
    JOBS, TRAIN, LIMITS, OUT, SEGMENT, QUANTILES, CRITICAL, THRESHOLD, ORDER, LEAST,
    ACCOUNTING, STATE, PARTITION, USER, EXCLUSIVE,
)  # fmt: skip
def command(
    traces: tuple[Path, ...],
    request: cli.Request,
    train: bool,
    known: Path | None,
    out: Path | None,
    segment: float | None,
    quantiles: tuple[float, float],
    critical: float | None,
    threshold: float,
    order: str | None,
    least_duration: float | None,
    accounting: Path | None,
    states: tuple[str, ...],
    partitions: tuple[str, ...],
    users: tuple[str, ...],
    exclusive: bool,
) -> None:
    """JOBS are traces, folders of them, collections, FOLDER:PATTERN for the runs in either whose name matches, or
    tables of metrics (CSV or Parquet with job,node,filesystem,metric,time,value: s, and rates per second). The metrics
    of each node are averaged over segments of time, which score 0, 1 or Z by limits that were trained with many jobs
    (Betke and Kunkel, ISC'20).

    Problem-Time is the share of segments with intensive I/O, Utilization the mean of the highest score in these
    (summed over file systems), Balance how evenly nodes share it (1: all alike). Problem-Score is high for jobs
    that load file systems for long with few of their nodes, I/O-Intensity for those that do so with many.
    """
    writes_json = out is not None and out.name.lower().endswith(".json")
    wrong = {
        "--train needs -o FILE.json for the limits, and no --limits": train and not (known is None and writes_json),
        "-o FILE.json is for --train; a page ends in .html, and --json prints the scores": writes_json and not train,
    }
    cli.refuse(wrong)
    if train:
        of_scores = ("threshold", "order", "least_duration", "accounting")
        cli.refuse_given("is for the scores of jobs, and --train only finds limits", *of_scores)
    from ...runs.scores.accounting import Wanted, read_accounting
    from ...runs.scores.blocks import DEFAULT_SEGMENT_S

    if accounting is None:
        cli.refuse_given("needs --accounting, which tells it of each job", "states", "partitions", "users", "exclusive")
    wanted = Wanted(states, partitions, users, exclusive)
    accounts = None if accounting is None else read_accounting(accounting)
    if accounts is not None:
        accounts.check(wanted)
    limits = None if known is None else _known(known, critical, segment)
    length = limits.segment_s if limits is not None else segment or DEFAULT_SEGMENT_S
    tables = _sources(traces, length, request)
    limits = limits or _trained(tables, length, quantiles, critical, train)
    if train and out is not None:
        _finish_training(limits, out, request.as_json)
        return
    _assess(tables, limits, threshold, order, least_duration, accounts, wanted, out, request.as_json)


def _known(path: Path, critical: float | None, segment: float | None) -> "MetricLimits":
    """Return the limits of a file, with another Z where one was given."""
    from ...runs.scores.limits import read_limits

    cli.refuse_given("is what limits are found with, and --limits has some", "quantiles")
    limits = read_limits(path)
    if segment not in (None, limits.segment_s):
        raise click.UsageError(f"these limits are for segments of {limits.segment_s:g} s: leave --segment out")
    return limits if critical is None else replace(limits, critical=critical)


def _sources(paths: tuple[Path, ...], segment: float, request: cli.Request) -> "list[Jobs]":
    """Return where the jobs come from: each table or collection by itself, and all traces."""
    from ...runs.collection.chosen import chosen_runs

    tables: list[Path | Collection] = [path for path in paths if path.suffix.lower() in TABLES and path.is_file()]
    rest = [path for path in paths if path not in tables]
    runs = chosen_runs(rest) if rest else None
    tables += () if runs is None else runs.collections
    found: list[Jobs] = []
    if tables:
        from ...runs.scores.tables import MetricTable

        found += [MetricTable(table, segment) for table in tables]
        cli.refuse_for_tables([table.path for table in found], bool(runs and runs.traces))
    if runs is not None and runs.traces:
        from ...runs.scores.traces import TraceJobs

        told: set[Path] = set()
        found.append(TraceJobs(runs.traces, segment, lambda path: replace(request, trace=path).open(told=told)))
    return found


def _trained(
    tables: "list[Jobs]", segment: float, quantiles: tuple[float, float], critical: float | None, train: bool
) -> "MetricLimits":
    from ...runs.scores.limits import Training

    bounds = [table.most_values for table in tables]
    known = [bound for bound in bounds if bound is not None]
    training = Training(quantiles, sum(known) if len(known) == len(bounds) else None)
    with Progress("training") as progress:
        done = short = 0
        for table in tables:
            for block in table.blocks():
                training.add(block)
                done += len(block.jobs)
                short += int((block.duration < segment).sum())
                progress(done, 0)
    if train or not done:
        _warn(tables, short, done, segment)
    return training.limits(segment, critical)


def _finish_training(limits: "MetricLimits", out: Path, as_json: bool) -> None:
    from ...export.json.documents import write_json
    from ...model.document import SCHEMA_VERSION

    written = write_json(limits.to_dict(), out)
    if as_json:
        cli.print_json({**limits.to_dict(), "schema_version": SCHEMA_VERSION, "output": written.to_dict()})
    else:
        from ...export.runs.scores_text import print_limits

        print_limits(limits, cli.console())
        cli.print_files([written])


def _assess(
    tables: "list[Jobs]",
    limits: "MetricLimits",
    threshold: float,
    order: str | None,
    least_duration: float | None,
    accounts: "Accounting | None",
    wanted: "Wanted",
    out: Path | None,
    as_json: bool,
) -> None:
    from ...runs.scores.assessment import SHORT_SEGMENTS, Ranking, assess, ranked
    from ...runs.scores.tables import with_costs

    scores = []
    with Progress("assessing jobs") as progress:
        for table in tables:
            table.ignored.clear()
            table.missing = 0
            for block in table.blocks():
                scores += assess([block], limits, threshold=threshold)
                progress(len(scores), 0)
    _warn(tables, sum(one.duration_s < limits.segment_s for one in scores), len(scores), limits.segment_s)
    collections = [runs for table in tables if (runs := table.collection) is not None]
    if (order, collections) == ("time-lost", []):
        raise click.UsageError("--order time-lost is for runs of collections: collect the traces first")
    by = ORDERS[order or ("time-lost" if len(collections) == len(tables) else "problem-score")]
    short = SHORT_SEGMENTS * limits.segment_s if least_duration is None and by != "cost_s" else 0.0
    scores = with_costs(scores, collections)
    scores = scores if accounts is None else _accounted(scores, accounts, wanted)
    jobs = ranked(scores, by, least_duration or 0.0, short)
    found = Ranking(jobs, limits, by, threshold, short, len(scores) - len(jobs))
    written = None
    if out is not None:
        from ...export.runs.scores_page import write_scores_page

        written = write_scores_page(tables, found, out)
    if as_json:
        from ...export.json.runs import assess_document

        cli.print_json(assess_document(found, written))
    else:
        from ...export.runs.scores_text import print_scores

        print_scores(found, cli.console())
        cli.print_files([] if written is None else [written])


def _accounted(scores: "list[JobScore]", accounts: "Accounting", wanted: "Wanted") -> "list[JobScore]":
    """Return the jobs that are wanted, with what the batch system knew of each; warn of those that it did not know."""
    from ...model.quantities import counted
    from ...runs.scores.accounting import JobAccount

    told = [replace(one, account=accounts.of(one.job)) for one in scores]
    unknown = sum(one.account is None for one in told)
    if unknown:
        cli.warn(f"{accounts.path}: {counted(unknown, 'job')} of {len(told):,} not in it")
    found = [one for one in told if wanted.has(one.account or JobAccount())]
    if len(found) < len(told):
        cli.warn(f"{counted(len(told) - len(found), 'job')} left out, as they are not of those asked for")
    return found


def _warn(tables: "list[Jobs]", short: int, jobs: int, segment: float) -> None:
    """Say on stderr what of the tables is left out, and where most jobs are shorter than a segment."""
    from ...model.quantities import counted

    if 2 * short > jobs:
        text = f"{short:,} of {counted(jobs, 'job')} {'is' if short == 1 else 'are'} shorter than a segment"
        remedy = f"limits of {segment:g} s are not for them; train and assess with a shorter --segment"
        cli.warn(f"{text}: {remedy}")
    for table in tables:
        for name, rows in list(table.ignored.items())[:8]:
            cli.warn(f"{table.path}: {counted(rows, 'row')} of the unknown metric {name[:80]!r} ignored")
        for reason in list(table.failed.values())[:8]:
            cli.warn(f"left out: {reason}")
        if len(table.failed) > 8:
            cli.warn(f"{counted(len(table.failed), 'trace')} left out in all")
        if table.missing:
            cli.warn(f"{table.path}: {counted(table.missing, 'value')} negative or no number: taken as missing")
