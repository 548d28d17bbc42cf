"""The terminal view of ``iostrata assess``."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...model.quantities import count_text, counted, percent_text, rate_text, seconds_text, share_text
from ...model.text import printable, shortened
from ...runs.collection.content import trace_name
from ...runs.collection.names import distinct_names
from ...runs.scores.accounting import JobAccount
from ...runs.scores.assessment import JobScore, Ranking, groups
from ...runs.scores.limits import MetricLimits
from ..terminal.console import fitted, print_paragraph, print_rest, table_of_numbers

TITLES: Final = {"problem_score": "Problem-Score", "io_intensity": "I/O-Intensity", "cost_s": "time lost in I/O"}


_GIVE_WAY: Final = ("data", "nodes", "segments", "util.", "batch system", "balance", "score", "share")
"""Columns that are left out where there is no room, the first ones first."""
_SHOWN: Final = 20
_GROUPS_SHOWN: Final = 5
_GAP: Final = 2
"""Blanks between columns."""


def account_text(one: JobScore) -> str:
    """Return what the batch system knew of a job."""
    known = one.account or JobAccount()
    parts = (known.user, known.partition, known.state, "exclusive" if known.exclusive else None)
    return ", ".join(printable(part) for part in parts if part)


def value_text(metric: str, value: float) -> str:
    """Return a value of a metric with its unit: bytes per second, or operations per second."""
    return rate_text(value) if metric.endswith("_bytes") else f"{value:.4g}/s"


def print_limits(limits: MetricLimits, console: Console) -> None:
    """Print the limits of each metric."""
    console.print(_limits_table(limits))
    low, high = limits.quantiles
    text = (
        f"trained with {counted(limits.jobs, 'job')}, segments of {seconds_text(limits.segment_s)}: up to the quantile "
        f"{low:g} I/O is low (score 0), up to {high:g} high (1), above critical ({limits.critical:g})"
    )
    print_paragraph(text, console, "dim", indent=0)


def print_scores(found: Ranking, console: Console) -> None:
    """Print the first jobs of the ranking, and how all are distributed."""
    jobs, busy, limits, order = found.jobs, found.busy, found.limits, found.order
    facts = f"{counted(len(jobs), 'job')}, {count_text(len(busy))} with intensive I/O"
    over = ", over all ranks" if order == "cost_s" else ""
    print_paragraph(f"{facts}, ranked by {TITLES[order]}{over}", console, "bold", indent=0)
    if listed := found.listed:
        shown = listed[:_SHOWN]
        by_cost = order == "cost_s"
        table = _cost_table(shown, console) if by_cost else _ranking_table(shown, order, console.width)
        console.print(fitted(table, console, *_GIVE_WAY))
        print_rest(len(listed) - _SHOWN, "job", console)
    else:
        print_paragraph("No job has a segment with intensive I/O.", console, indent=0)
    for one in [one for one in groups(busy) if one.jobs > 1][:_GROUPS_SHOWN]:
        alike = f"{counted(one.jobs, 'job')} alike, in {', '.join(one.metrics)}; the first is {printable(one.first)}"
        print_paragraph(alike, console, indent=0)
    print_paragraph(_shares_text(jobs, busy, found.left_out), console, indent=0)
    late = 0 if order == "cost_s" else sum(one.duration_s <= found.short for one in busy)
    if 0 < late < len(busy):
        verb = "comes" if late == 1 else "come"
        text = f"{counted(late, 'job')} of up to {seconds_text(found.short)} {verb} after the longer ones; "
        print_paragraph(f"{text}--least-duration 0 ranks all by their score alone.", console, indent=0)
    if jobs and max(one.segments for one in jobs) == 1:
        text = (
            f"All jobs are shorter than a segment of {seconds_text(limits.segment_s)}: a shorter --segment tells more."
        )
        print_paragraph(text, console, "yellow", indent=0)
    where = "share of the segments with intensive I/O"
    columns = (
        "time lost: in calls of I/O, flushes and opens too, over all ranks; share: of the run, that the rank longest "
        f"in I/O spends in it; score: Problem-Score, where time is the {where}"
        if order == "cost_s"
        else f"data: share of the values that are there; time: {where}"
    )
    text = (
        f"{columns}; util.: mean of the highest score there (0, 1 or {limits.critical:g}), summed over file systems; "
        "balance: 1 where all nodes do alike. Problem-Score (1 − balance) · time · util. / file systems; I/O-Intensity "
        "balance · time · util. · nodes."
    )
    print_paragraph(text, console, "dim", indent=0)


def _cost_table(jobs: Sequence[JobScore], console: Console) -> Table:
    """Return what the I/O of runs of collections takes, and in the room that is left why.

    Names are as short as tells them apart.
    """
    known = any(one.account is not None for one in jobs)
    names = job_names(jobs)
    rows = [
        (
            str(number),
            shortened(printable(names[one.job]), max(8, console.width // 4)),
            seconds_text(one.cost_s or 0.0),
            "–" if one.io_share is None else percent_text(one.io_share),
            f"{one.problem_score:.3g}",
            *((account_text(one),) if known else ()),
        )
        for number, one in enumerate(jobs, start=1)
    ]
    titles = ("", "job", "time lost", "share", "score", *(("batch system",) if known else ()))
    used = console.measure(table_of_numbers(titles, rows, names=(1, 5))).maximum
    room = max(len("cause"), console.width - used - _GAP)
    causes = [Text(printable(one.cause or "–")) for one in jobs]
    for cause in causes:
        cause.truncate(room, overflow="ellipsis")
    told = ((*row, cause.plain) for row, cause in zip(rows, causes, strict=True))
    return table_of_numbers((*titles, "cause"), told, names=(1, 5, 6))


def job_names(jobs: Sequence[JobScore]) -> dict[str, str]:
    """Return what jobs are called; keys of runs are paths."""
    return distinct_names({one.job: trace_name(Path(one.job)) if "/" in one.job else one.job for one in jobs})


def _ranking_table(busy: Sequence[JobScore], order: str, width: int) -> Table:
    known = any(one.account is not None for one in busy)
    names = job_names(busy)
    rows = (
        (
            str(number),
            shortened(printable(names[one.job]), max(16, width - (92 if known else 62))),
            f"{getattr(one, order):.3g}",
            share_text(one.problem_time, 1),
            f"{one.utilization:.2f}",
            "–" if one.balance is None else f"{one.balance:.2f}",
            str(one.nodes),
            f"{one.intensive_segments}/{one.segments}",
            share_text(one.available_share, 1),
            *((account_text(one),) if known else ()),
        )
        for number, one in enumerate(busy, start=1)
    )
    titles = ("", "job", "score", "time", "util.", "balance", "nodes", "segments", "data")
    return table_of_numbers((*titles, "batch system") if known else titles, rows, names=(1, 9) if known else (1,))


def _shares_text(jobs: Sequence[JobScore], busy: Sequence[JobScore], left_out: int) -> str:
    """Return which share of the jobs has no intensive segment, or nothing else, and how many are left out."""
    parts = [f"{share_text(len(jobs) - len(busy), len(jobs))} of the jobs have no intensive segment"]
    if busy:
        always = sum(one.problem_time == 1 for one in busy)
        parts += [f"in {share_text(always, len(busy))} of the others every segment is intensive"] if always else []
    if left_out:
        parts.append(f"{counted(left_out, 'job')} too short to be ranked")
    return "; ".join(parts) + "."


def _limits_table(limits: MetricLimits) -> Table:
    low, high = limits.quantiles
    rows = (
        (
            metric,
            value_text(metric, lower),
            value_text(metric, upper),
            "–" if limits.values is None else count_text(limits.values.get(metric, 0)),
        )
        for metric, (lower, upper) in limits.limits.items()
    )
    return table_of_numbers(("metric", f"q{100 * low:g}", f"q{100 * high:g}", "segments"), rows, names=(0,))
