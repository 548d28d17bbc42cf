"""The single reports that a page of many runs links to, in a folder beside it."""

import hashlib
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ...layers.opening import open_trace
from ...model.errors import IostrataError, OutputError
from ...runs.collection.rows import JobRow
from ...runs.collection.tables import Collection
from ..atomic import output_error
from ..report.write import write_report

_MOST: Final = 1500
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]+")


def report_folder(page: Path) -> Path:
    """Return the folder of the reports of a page: its name without the suffix, and ``_reports``."""
    return page.with_name(f"{page.stem}_reports")


def report_name(job: JobRow) -> str:
    """Return the file name of a run's report: of its name what is safe in one, and a hash of its key."""
    safe = _UNSAFE.sub("_", job.name).strip("._")[:60]
    return f"{safe or 'run'}-{hashlib.blake2b(job.job.encode(), digest_size=5).hexdigest()}.html"


def known_reports(collection: Collection, page: Path) -> dict[str, str]:
    """Return of each run whose report is there its path from the folder of the page, by the run's key."""
    folder = report_folder(page)
    try:
        there = set(os.listdir(folder))
    except OSError:
        return {}
    names = {job.job: report_name(job) for job in collection.jobs if job.usable}
    return {job: f"{folder.name}/{name}" for job, name in names.items() if name in there}


def write_reports(
    collection: Collection,
    page: Path,
    *,
    engine: str = "auto",
    calls: str = "auto",
    workers: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[str, ...]:
    """Write the report of each run, at most 1500, those that I/O costs most.

    Raises OutputError if the folder cannot be written. Returns why there is no report of a run, a sentence each.
    """
    folder = report_folder(page)
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise output_error(folder, error) from error
    jobs = sorted(
        (job for job in collection.jobs if job.usable), key=lambda job: -(job.rank_io_s or 0) * (job.ranks or 0)
    )
    failed = []
    for done, job in enumerate(jobs[:_MOST]):
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
