"""The page of many runs: which deserve a look, how they are distributed, a row each, with links to their reports."""

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

import numpy as np
import numpy.typing as npt

from ...analysis.findings.rule import SEVERITIES
from ...model.document import checked_document, plain
from ...model.errors import TraceError
from ...model.quantities import bytes_text, counted, percent_text, seconds_text
from ...runs.collection.names import distinct_names
from ...runs.collection.rows import FindingRow, JobRow, Run, SignalRow
from ...runs.collection.tables import Collection
from ..atomic import atomic_file
from ..encoding import packed, without_long_text
from ..report.page import BASE, page
from ..written import Written

MOST_ROWS: Final = 1500
"""Runs that the page lists, those with the highest cost."""
_MOST_FAILED: Final = 200
_MOST_BYTES: Final = 5_000_000
_SPARK_BINS: Final = 64
_LOWEST_BAR: Final = 32
_BINS: Final = 24
_CHARACTERS: Final = 240
_MOST_SCORES: Final = 2**28
"""Bytes of a file of scores that are read."""

_DISTRIBUTIONS: Final = (
    ("Length of the run", "s", lambda job: job.duration_s),
    ("I/O time", "s", lambda job: job.io_s),
    ("Share of the run in I/O", "share", lambda job: _share(job)),
    ("Bytes written", "B", lambda job: job.bytes_written),
    ("Bytes read", "B", lambda job: job.bytes_read),
    ("Operations", "", lambda job: job.operations),
    ("Metadata operations", "", lambda job: job.metadata_operations),
)

Scores = Mapping[str, Mapping[str, Any]]


def write_ranking(
    collection: Collection,
    path: str | os.PathLike[str],
    *,
    scores: Scores | None = None,
    reports: Mapping[str, str] | None = None,
) -> Written:
    """Write the page of all runs of a collection.

    Parameters
    ----------
    collection : Collection
    path : path
        Of the page; one that is there is replaced.
    scores : mapping, optional
        Of each run, by its key, what ``iostrata assess`` says, in its order, as `read_scores` gives it.
    reports : mapping, optional
        Of a run, by its key, the path of its report from the folder of the page.

    Raises
    ------
    TraceError
        If the tables cannot be read.
    OutputError
        If the page cannot be written.
    """
    most = MOST_ROWS
    with atomic_file(path) as temporary:
        while True:
            contents = ranking_contents(collection, scores or {}, reports or {}, most)
            text = page(contents, f"iostrata: {contents['total']:,} runs", (*BASE, "ranking.js")).encode()
            if len(text) <= _MOST_BYTES or most < 16:
                break
            most //= 2
        temporary.write_bytes(text)
    return Written(Path(path), len(text), rows=contents["total"], cut=contents["cut"])


def read_scores(path: str | os.PathLike[str]) -> Scores:
    """Return the scores of jobs in a file that ``iostrata assess --json`` wrote, by job, in its order.

    Raises TraceError if the file is none.
    """
    try:
        if os.stat(path).st_size > _MOST_SCORES:
            raise ValueError(f"it is larger than {bytes_text(_MOST_SCORES)}")
        jobs = checked_document(json.loads(Path(path).read_bytes()))["jobs"]
        return {str(job["job"]): {"problem_score": float(job["problem_score"])} for job in jobs}
    except (OSError, ValueError, KeyError, TypeError, RecursionError) as error:
        reason = (error.strerror if isinstance(error, OSError) else None) or str(error) or type(error).__name__
        raise TraceError(
            f"no scores in {os.fspath(path)}: {reason[:200]}; give a file that iostrata assess --json has written"
        ) from None


def ranking_contents(
    collection: Collection, scores: Scores, reports: Mapping[str, str], most: int = MOST_ROWS
) -> dict[str, Any]:
    """Return the document that the page holds."""
    jobs = collection.jobs
    names = distinct_names({job.job: job.name for job in jobs})
    usable = [job for job in jobs if job.usable]
    failed = [job for job in jobs if not job.usable]
    # The order of assess, which puts short jobs after longer ones, is not that of the bare scores.
    place_of = {job: place for place, job in enumerate(scores) if scores[job].get("problem_score", 0.0) > 0}
    usable.sort(key=lambda job: (place_of.get(job.job, len(scores)), -_cost(job), job.job))
    listed = usable[:most]
    cut = {}
    if len(usable) > len(listed):
        cut["runs"] = len(usable)
    if len(failed) > _MOST_FAILED:
        cut["failed"] = len(failed)
    runs = {run.job.job: run for run in collection.runs(("finding", "signal"), [job.job for job in listed])}
    contents = {
        "total": len(jobs),
        "facts": _facts(usable, failed),
        "headline": _headline(usable, names, scores),
        "runs": [
            {"place": place, **_row(runs[job.job], names[job.job], scores.get(job.job, {}), reports.get(job.job))}
            for place, job in enumerate(listed)
        ],
        "distributions": [
            found for title, unit, value in _DISTRIBUTIONS
            if (found := _distribution(title, unit, [value(job) for job in usable])) is not None
        ],
        "findings": _findings(collection, names),
        "failed": [{"name": names[job.job], "job": job.job, "reason": job.reason} for job in failed[:_MOST_FAILED]],
        "cut": cut,
        "definitions": {},
    }  # fmt: skip
    return {"schema_version": 1, **without_long_text(plain(contents), _CHARACTERS)}


def _cost(job: JobRow) -> float:
    """Return the time in the program's own operations, summed over all ranks, in s."""
    return (job.rank_io_s or 0.0) * (job.ranks or 0)


def _share(job: JobRow) -> float | None:
    return job.io_s / job.duration_s if job.io_s is not None and job.duration_s else None


def _score(job: JobRow, scores: Scores) -> float:
    return float(scores.get(job.job, {}).get("problem_score", 0.0))


def _row(run: Run, name: str, score: Mapping[str, Any], report: str | None) -> dict[str, Any]:
    job = run.job
    worst = min(run.findings, key=lambda one: SEVERITIES.index(one.severity), default=None)
    return {
        "job": job.job,
        "name": name,
        "report": None if report is None else quote(report),
        "cost_s": _cost(job),
        "io_s": job.io_s,
        "share": _share(job),
        "duration_s": job.duration_s,
        "ranks": job.ranks,
        "bytes_read": job.bytes_read,
        "bytes_written": job.bytes_written,
        "operations": job.operations,
        "metadata_operations": job.metadata_operations,
        "findings": job.findings,
        "critical": job.critical,
        "warnings": job.warnings,
        "damaged": job.damaged,
        "top": None if worst is None or worst.severity == "info" else {"severity": worst.severity, "text": worst.text},
        "spark": _spark(run.signals),
        **score,
    }


def _spark(signals: Sequence[SignalRow]) -> dict[str, Any] | None:
    """Return both directions of the layer that moved most, in few bins between 0 and 255; None where none moved any."""
    volumes: dict[str, float] = {}
    for signal in signals:
        volumes[signal.layer] = volumes.get(signal.layer, 0.0) + sum(signal.values) * signal.bin_s
    if not any(volumes.values()):
        return None
    layer = max(volumes, key=lambda name: volumes[name])
    curves = {name: np.zeros(_SPARK_BINS) for name in ("read", "write")}
    for signal in signals:
        if signal.layer == layer and signal.direction in curves:
            curves[signal.direction] = np.array(signal.values).reshape(_SPARK_BINS, -1).mean(axis=1)
    top = max(float(curve.max()) for curve in curves.values())
    return {
        "layer": layer,
        "top": top,
        # What is there stays in sight.
        **{
            name: packed(np.where(curve > 0, np.maximum(np.rint(255 * curve / top), _LOWEST_BAR), 0), "u1")
            for name, curve in curves.items()
        },
    }


def _distribution(title: str, unit: str, values: Sequence[float | None]) -> dict[str, Any] | None:
    known = np.array([value for value in values if value is not None], np.float64)
    some = known[known > 0]
    if len(known) < 2 or not len(some):
        return None
    low, high = float(some.min()), float(some.max())
    # One value has a bin of its own width.
    if high / low < 1.01:
        low, high = low * 0.9, high * 1.1
    edges: npt.NDArray[np.float64] = np.geomspace(low, high, _BINS + 1)
    edges[0], edges[-1] = low, high
    counts, _ = np.histogram(some, edges)
    return {
        "title": title,
        "unit": unit,
        "edges": edges,
        "counts": counts,
        "median": float(np.median(known)),
        "p90": float(np.quantile(known, 0.9)),
        "zero": int((known == 0).sum()),
        "total": len(known),
    }


def _findings(collection: Collection, names: Mapping[str, str]) -> list[dict[str, Any]]:
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
    return [
        {
            "id": key[0],
            "severity": key[1],
            "runs": len(runs[key]),
            "name": names.get(example[key].job, ""),
            "text": example[key].text,
        }
        for key in order
    ]


def _facts(usable: Sequence[JobRow], failed: Sequence[JobRow]) -> list[tuple[str, str]]:
    facts = [("Traces read", f"{len(usable):,}")]
    if failed:
        facts.append(("not read", f"{len(failed):,}"))
    if usable:
        facts.append(("Length in all", seconds_text(sum(job.duration_s or 0.0 for job in usable))))
        facts.append(("Bytes written", bytes_text(sum(job.bytes_written or 0.0 for job in usable))))
        facts.append(("read", bytes_text(sum(job.bytes_read or 0.0 for job in usable))))
    damaged = sum(bool(job.damaged) for job in usable)
    return [*facts, ("Damaged traces", f"{damaged:,}")] if damaged else facts


def _headline(usable: Sequence[JobRow], names: Mapping[str, str], scores: Scores) -> list[str]:
    """Return the first sentences: who costs most, what is found most."""
    if not usable:
        return ["None of the traces could be read."]
    said = []
    if scores and _score(usable[0], scores) > 0:
        score = _score(usable[0], scores)
        said.append(
            f"{names[usable[0].job]} comes first in the ranking of assess, with a Problem-Score of {score:.3g}."
        )
    by_cost = sorted(usable, key=_cost, reverse=True)
    total = sum(map(_cost, usable))
    if total > 0:
        first = by_cost[0]
        said.append(
            f"{names[first.job]} spends the most time in I/O, {seconds_text(_cost(first))} over all its ranks, "
            f"{percent_text(_cost(first) / total)} of what all runs spend."
        )
    serious = [job for job in usable if job.critical or job.warnings]
    if serious:
        worst = max(serious, key=lambda job: (job.critical or 0, job.warnings or 0))
        told = [
            counted(count, noun)
            for count, noun in ((worst.critical or 0, "critical finding"), (worst.warnings or 0, "warning"))
            if count
        ]
        said.append(
            f"{counted(len(serious), 'run')} of {len(usable):,} {'has' if len(serious) == 1 else 'have'} warnings or "
            f"critical findings; {names[worst.job]} has the most, {' and '.join(told)}."
        )
    else:
        said.append("No run has a warning or a critical finding.")
    return said
