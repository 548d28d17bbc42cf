"""The page of many runs: which deserve a look, how they are distributed, a row each, with links to their reports."""

import hashlib
import os
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast
from urllib.parse import quote

import numpy as np

from ...analysis.findings.rule import SEVERITIES
from ...layers.opening import open_trace
from ...model.arrays import Floats
from ...model.document import Document, read_document
from ...model.errors import IostrataError, OutputError
from ...model.metrics import FORMATS, Kind, metrics_of
from ...model.quantities import bytes_text, count_text, counted, level_text, percent_text, rate_text, seconds_text
from ...runs.collection.names import distinct_names
from ...runs.collection.rows import FindingRow, JobRow, Run, SignalRow
from ...runs.collection.tables import Collection
from ..atomic import output_error
from ..encoding import packed
from ..page import document as page
from ..page.html import write_page
from ..report.write import write_report
from ..written import Written

MOST_ROWS: Final = 1500
"""Runs that the page lists, those with the highest cost."""
_MOST_FAILED: Final = 200
_MOST_BYTES: Final = 5_000_000
_SPARK_BINS: Final = 64
_LOWEST_BAR: Final = 32
_BINS: Final = 24
_MOST_SCORES: Final = 2**28
"""Bytes of a file of scores that are read."""

Scores = Mapping[str, float]
"""Problem-Scores by the key of a run, in the order of assess."""


def _columns(*names: str) -> dict[str, page.TableColumn]:
    """Return columns for metrics of jobs by their names."""
    metrics = {one.name: one for one in metrics_of(JobRow)}
    return {name: page.TableColumn.of_metric(metrics[name]) for name in names}


_JOB: Final = _columns(
    *("cost_s", "io_s", "io_share", "duration_s", "ranks", "bytes_read", "bytes_written", "operations"),
    "metadata_operations",
)
_SHARE: Final = replace(_JOB["io_share"], kind="share")
_DISTRIBUTED: Final = ("duration_s", "io_s", "bytes_written", "bytes_read", "operations", "metadata_operations")


def _named(run: Run, name: str, report: str | None) -> page.Cell:
    """Return what a run is called, with a link to its report and its worst finding."""
    worst = min(run.findings, key=lambda one: SEVERITIES.index(one.severity), default=None)
    notes = [("info" if worst is None else worst.severity, _cause(run.job, worst))]
    shown = f"{name} (damaged)" if run.job.damaged else name
    href = None if report is None else quote(report)
    return {"value": shown, "title": run.job.job, "notes": notes, "order": name, "href": href}


def _cause(job: JobRow, worst: FindingRow | None) -> str:
    """Return what makes the time of a run's I/O, in words."""
    if job.cause or worst is None:
        return job.cause or ("no finding" if job.operations else "no I/O")
    return f"{worst.id}: {worst.text}"


def _by_severity(job: JobRow) -> page.Cell:
    order = 1e6 * (job.critical or 0) + 1e3 * (job.warnings or 0) + (job.findings or 0)
    return {"value": job.findings, "order": order}


def _over_time(run: Run) -> page.Cell:
    found = spark_curves(run.signals)
    if found is None:
        return None
    layer, top, curves = found
    about = f"{layer} over {seconds_text(run.job.duration_s or 0.0)}, up to {rate_text(top)}"
    return {"value": {"about": about, "curves": curves}}


def write_ranking(
    collection: Collection,
    path: str | os.PathLike[str],
    *,
    scores: Scores | None = None,
    reports: Mapping[str, str] | None = None,
    by_scores: bool = True,
) -> Written:
    """Write the page of all runs of a collection.

    Parameters
    ----------
    collection : Collection
    path : path
        Of the page; one that is there is replaced.
    scores : mapping, optional
        The Problem-Score of each run, by its key, in the order of ``iostrata assess``.
    reports : mapping, optional
        Of a run, by its key, the path of its report from the folder of the page.
    by_scores : bool
        Whether runs are in the order of the scores; else, and without a score, by the time that I/O took.

    Raises
    ------
    TraceError
        If the tables cannot be read.
    OutputError
        If the page cannot be written.
    """
    known = scores or {}, reports or {}
    pages = (ranking_page(collection, *known, MOST_ROWS >> halved, by_scores) for halved in range(8))
    written = write_page(pages, path, f"iostrata: {len(collection.jobs):,} runs", most_bytes=_MOST_BYTES)
    return replace(written, rows=len(collection.jobs))


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Return the scores of jobs in a file that ``iostrata assess --json`` wrote, by job, in its order.

    Raises TraceError if the file is none.
    """

    def scores(document: Document) -> Scores:
        return {str(job["job"]): float(job["problem_score"]) for job in document["jobs"]}

    return read_document(Path(path), "scores that 'iostrata assess --json' has written", scores, _MOST_SCORES)


def ranking_page(
    collection: Collection, scores: Scores, reports: Mapping[str, str], most: int = MOST_ROWS, by_scores: bool = True
) -> page.PageDocument:
    """Return the page with the first `most` runs; parameters as of `write_ranking`."""
    jobs = collection.jobs
    names = distinct_names({job.job: job.name for job in jobs})
    usable = [job for job in jobs if job.usable]
    failed = [job for job in jobs if not job.usable]
    # The order of assess, which puts short jobs after longer ones, is not that of the bare scores.
    place_of = {job: place for place, job in enumerate(scores) if scores[job] > 0 and by_scores}
    by_scores = bool(place_of)
    usable.sort(key=lambda job: (place_of.get(job.job, len(scores)), -(job.cost_s or 0.0), job.job))
    runs = {run.job.job: run for run in collection.runs(("finding", "signal"), [job.job for job in usable[:most]])}
    lists = {"runs": (usable, most), "failed": (failed, _MOST_FAILED)}
    order = "Runs by Problem-Score, then by time lost in I/O" if by_scores else "Runs by time lost in I/O, all ranks"
    sections = (
        page.Section("ranking", "Ranking", order, _ranking(usable, runs, names, scores, reports, by_scores)),
        page.Section("distributions", "Distributions", "How the runs are distributed", _distributions(usable)),
        page.Section("findings", "Findings", "Findings over all runs", _findings(collection, names)),
        page.Section("failed", "Not read", "Traces that could not be read", _failed(failed, names)),
    )
    title = f"I/O of {counted(len(jobs), 'run')}"
    cut = {name: len(found) for name, (found, kept) in lists.items() if len(found) > kept}
    headline = _headline(usable, names, scores if by_scores else {})
    return page.PageDocument(title, sections, _facts(usable, failed), headline=headline, cut=cut)


def _ranking(
    usable: Sequence[JobRow],
    runs: Mapping[str, Run],
    names: Mapping[str, str],
    scores: Scores,
    reports: Mapping[str, str],
    by_scores: bool,
) -> list[page.PageBlock]:
    """Return the table of those of the usable jobs that are in `runs`, which are the first of them."""
    jobs = usable[: len(runs)]
    if not jobs:
        return []
    # The order of assess, which puts short jobs after longer ones.
    score_of = {
        job.job: {"value": score, "order": -place if by_scores else score}
        for place, job in enumerate(jobs)
        if (score := scores.get(job.job)) is not None and (score > 0 or by_scores)
    }
    problem = "Problem-Score (Betke & Kunkel, ISC’20) as iostrata assess gives it."
    # What they are ranked by comes first.
    first, other = page.TableColumn("Problem", lambda job: score_of.get(job.job), "ratio", problem), _JOB["cost_s"]
    columns = [
        page.TableColumn("Run", lambda job: _named(runs[job.job], names[job.job], reports.get(job.job)), "text"),
        page.TableColumn("Over time", lambda job: _over_time(runs[job.job]), "spark"),
        *((first, other) if by_scores else (other, first)),
        _SHARE,
        # What is left out has distributions; the cause has to have room.
        *(_JOB[name] for name in ("duration_s", "ranks", "bytes_read", "bytes_written", "operations")),
        page.TableColumn("Findings", _by_severity, "count", "Critical ones count first, then warnings."),
    ]
    known = [column for column in columns if any(column.of(job) is not None for job in jobs)]
    blocks: list[page.PageBlock] = [
        page.Table(known, jobs, ranked="run"),
        page.Legend([("read", "reads"), ("write", "writes")]),
    ]
    if len(jobs) < len(usable):
        text = f"{len(jobs):,} of {len(usable):,} runs are in this page, those that cost most; the tables have all."
        blocks.append(page.Paragraph(text, muted=True))
    return blocks


def spark_curves(signals: Sequence[SignalRow]) -> tuple[str, float, list[dict[str, Any]]] | None:
    """Return the layer that moved most, its highest rate, and both directions in few bins between 0 and 255.

    None where nothing was moved.
    """
    volumes: dict[str, float] = {}
    for signal in signals:
        volumes[signal.layer] = volumes.get(signal.layer, 0.0) + sum(signal.values) * signal.bin_s
    if not any(volumes.values()):
        return None
    layer = max(volumes, key=lambda name: volumes[name])
    own = [one for one in signals if one.layer == layer and one.direction in ("read", "write")]
    curves = {one.direction: np.array(one.values).reshape(_SPARK_BINS, -1).mean(axis=1) for one in own}
    top = max(float(curve.max()) for curve in curves.values())
    # What is there stays in sight.
    heights = {
        name: np.where(curve > 0, np.maximum(np.rint(255 * curve / top), _LOWEST_BAR), 0)
        for name, curve in sorted(curves.items())
    }
    return layer, top, [{"tone": name, "values": packed(height, "u1")} for name, height in heights.items()]


def _distributions(usable: Sequence[JobRow]) -> list[page.PageBlock]:
    columns = *(_JOB[name] for name in _DISTRIBUTED), _SHARE
    found = [_distribution(column, [column.of(job) for job in usable]) for column in columns]
    charts = [chart for chart in found if chart is not None]
    return [page.Paragraph("Number of runs in bins of equal ratio."), page.Beside(charts)] if charts else []


def _distribution(column: page.TableColumn, values: Sequence[Any]) -> page.Chart | None:
    known = np.array([value for value in values if value is not None], np.float64)
    some = known[known > 0]
    if len(known) < 2 or not len(some):
        return None
    text = level_text if column.kind == "count" else FORMATS[cast(Kind, column.kind)]
    low, high = float(some.min()), float(some.max())
    # One value has a bin of its own width.
    if high / low < 1.01:
        low, high = low * 0.9, high * 1.1
    edges: Floats = np.geomspace(low, high, _BINS + 1)
    edges[0], edges[-1] = low, high
    counts, _ = np.histogram(some, edges)
    used = np.flatnonzero(counts)
    texts = [f"{text(edges[bin])} to {text(edges[bin + 1])}: {counted(int(counts[bin]), 'run')}" for bin in used]
    bars = page.Series(
        "boxes", "read", edges[used], np.zeros(len(used)), edges[used + 1], counts[used], texts=texts, gap=1
    )
    zeros = int((known == 0).sum())
    rest = f"{counted(zeros, 'run')} without any" if zeros else counted(len(known), "run")
    caption = f"median {text(np.median(known))}, nine tenths below {text(np.quantile(known, 0.9))}; {rest}"
    x = page.Axis(column.kind, scale="log", ends=(low, high))
    return page.Chart(column.title, x, page.Axis("count"), [bars], caption, height=90, heading=True)


def _findings(collection: Collection, names: Mapping[str, str]) -> list[page.PageBlock]:
    """Return each finding with the number of runs that have it and one of them."""
    runs: dict[tuple[str, str], set[str]] = {}
    example: dict[tuple[str, str], FindingRow] = {}
    for part in collection.parts("finding"):
        for row in part.to_pylist():
            finding = FindingRow(**row)
            key = (finding.id, finding.severity)
            runs.setdefault(key, set()).add(finding.job)
            example.setdefault(key, finding)
    order = sorted(runs, key=lambda key: (SEVERITIES.index(key[1]), -len(runs[key])))
    total = len(collection.jobs)
    columns = (
        page.TableColumn("Finding", lambda key: key[0], "text"),
        page.TableColumn("Severity", lambda key: key[1], "text"),
        page.TableColumn("Runs", lambda key: len(runs[key])),
        page.TableColumn("of all", lambda key: len(runs[key]) / total, "share"),
        page.TableColumn("For example", lambda key: f"{names.get(example[key].job, '')}: {example[key].text}", "text"),
    )
    return [page.Table(columns, order)] if order else []


def _failed(failed: Sequence[JobRow], names: Mapping[str, str]) -> list[page.PageBlock]:
    if not failed:
        return []
    columns = (
        page.TableColumn("Trace", lambda job: {"value": names[job.job], "title": job.job}, "text"),
        page.TableColumn("Why", "reason", "text"),
    )
    blocks: list[page.PageBlock] = [page.Table(columns, failed[:_MOST_FAILED])]
    if len(failed) > _MOST_FAILED:
        blocks.append(page.Paragraph(f"{_MOST_FAILED} of {len(failed):,} are shown.", muted=True))
    return blocks


_SUMS: Final = ("duration_s", "bytes_written", "bytes_read", "damaged")


def _facts(usable: Sequence[JobRow], failed: Sequence[JobRow]) -> list[dict[str, str]]:
    sums = {name: sum(getattr(job, name) or 0 for job in usable) for name in _SUMS}
    facts = {
        "Traces read": count_text(len(usable)),
        "not read": count_text(len(failed)) if failed else "",
        "Length in all": seconds_text(sums["duration_s"]) if usable else "",
        "Bytes written": bytes_text(sums["bytes_written"]) if usable else "",
        "read": bytes_text(sums["bytes_read"]) if usable else "",
        "Damaged traces": count_text(sums["damaged"]) if sums["damaged"] else "",
    }
    return [{"name": name, "value": value} for name, value in facts.items() if value]


def _headline(usable: Sequence[JobRow], names: Mapping[str, str], scores: Scores) -> list[str]:
    """Return the first sentences: who costs most, what is found most."""
    if not usable:
        return ["None of the traces could be read."]
    said = []
    score = scores.get(usable[0].job, 0.0)
    if score > 0:
        rest = any(scores.get(job.job, 0.0) <= 0 for job in usable)
        said.append(
            f"{names[usable[0].job]} comes first in the ranking of assess, with a Problem-Score of {score:.3g}"
            f"{'; those without one follow by what I/O costs' if rest else ''}."
        )
    costs = {job.job: job.cost_s or 0.0 for job in usable}
    if any(costs.values()):
        first = max(costs, key=lambda job: costs[job])
        said.append(
            f"{names[first]} spends the most time in I/O, {seconds_text(costs[first])} over all its ranks, "
            f"{percent_text(costs[first] / sum(costs.values()))} of what all runs spend."
        )
    return [*said, _most_findings(usable, names)]


def _most_findings(usable: Sequence[JobRow], names: Mapping[str, str]) -> str:
    """Return the sentence about the run with the most serious findings."""
    serious = [job for job in usable if job.critical or job.warnings]
    if not serious:
        return "No run has a warning or a critical finding."
    worst = max(serious, key=lambda job: (job.critical or 0, job.warnings or 0))
    found = ((worst.critical or 0, "critical finding"), (worst.warnings or 0, "warning"))
    told = [counted(count, noun) for count, noun in found if count]
    return (
        f"{counted(len(serious), 'run')} of {len(usable):,} {'has' if len(serious) == 1 else 'have'} warnings or "
        f"critical findings; {names[worst.job]} has the most, {' and '.join(told)}."
    )


_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def report_folder(beside: Path) -> Path:
    """Return the folder of the reports of a page: its name without the suffix, and ``_reports``."""
    return beside.with_name(f"{beside.stem}_reports")


def report_name(job: JobRow) -> str:
    """Return the file name of a run's report: of its name what is safe in one, and a hash of its key."""
    safe = _UNSAFE.sub("_", job.name).strip("._")[:60]
    return f"{safe or 'run'}-{hashlib.blake2b(job.job.encode(), digest_size=5).hexdigest()}.html"


def known_reports(collection: Collection, beside: Path) -> dict[str, str]:
    """Return of each run whose report is there its path from the folder of the page, by the run's key."""
    folder = report_folder(beside)
    try:
        there = set(os.listdir(folder))
    except OSError:
        return {}
    names = {job.job: report_name(job) for job in collection.jobs if job.usable}
    return {job: f"{folder.name}/{name}" for job, name in names.items() if name in there}


def write_reports(
    collection: Collection,
    beside: Path,
    *,
    engine: str = "auto",
    calls: str = "auto",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, ...]:
    """Write the report of each run, at most as many as the page lists, those that I/O costs most.

    Raises OutputError if the folder cannot be written. Returns why there is no report of a run, a sentence each.
    """
    folder = report_folder(beside)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    jobs = sorted((job for job in collection.jobs if job.usable), key=lambda job: -(job.cost_s or 0.0))
    failed = []
    for done, job in enumerate(jobs[:MOST_ROWS]):
        if progress is not None:
            progress(done, len(jobs))
        target = folder / report_name(job)
        try:
            if target.exists() and target.stat().st_mtime > Path(job.job).stat().st_mtime:
                continue
            write_report(open_trace(Path(job.job), engine=engine, calls=calls, workers=workers), target)
        except OutputError:
            raise
        except (IostrataError, OSError, MemoryError) as error:
            failed.append(f"{job.name}: {error}")
    return tuple(failed)
