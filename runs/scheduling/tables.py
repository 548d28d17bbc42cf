"""A table of jobs: CSV, JSON lines or Parquet, a row a job."""

import csv
import json
import math
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from ...analysis.set_10 import LONGEST, SHORTEST
from ...model.errors import TraceError, import_library
from ...model.text import printable, shortened
from ..collection.csv_rows import csv_rows
from .jobs import PeriodicJob

OF_JOBS: Final = ("period_s", "known_period_s", "io_share", "io_time_s")
"""Columns that only a table of jobs has."""
SUFFIXES: Final = (".csv", ".jsonl", ".ndjson", ".parquet", ".pq")
MOST_JOBS: Final = 2**17
MOST_NODES: Final = 1e9
_LONGEST_LINE: Final = 2**20
_LONGEST_NAME: Final = 1000
_NUMBERS: Final = {
    "period_s": (SHORTEST, LONGEST),
    "io_share": (0.0, 1.0),
    "io_time_s": (0.0, LONGEST),
    "bytes": (0.0, 2.0**63),
    "bandwidth": (1e-3, 2.0**63),
    "release_s": (0.0, LONGEST),
    "iterations": (1.0, 2.0**31),
    "compute_jitter": (0.0, 2.0),
    "nodes": (1e-3, MOST_NODES),
    "known_period_s": (SHORTEST, LONGEST),
}
"""Columns of numbers, and from and to which they make sense."""


def is_job_table(path: Path) -> bool:
    """Tell whether a file is a table of jobs: it has a column ``job``, and one of times or shares of I/O.

    Raises OSError if it cannot be read.
    """
    suffix = path.suffix.lower()
    if suffix not in SUFFIXES or not path.is_file():
        return False
    if suffix in (".parquet", ".pq"):
        with _sound_parquet(path) as table:
            names = table.schema_arrow.names
    else:
        with path.open(encoding="utf-8-sig", errors="replace", newline="") as file:
            line = file.readline(_LONGEST_LINE)
        try:
            names = [name.strip() for name in next(csv.reader([line]), [])] if suffix == ".csv" else json.loads(line)
        except (ValueError, csv.Error, RecursionError):
            return False
    return isinstance(names, list | dict) and "job" in names and not set(OF_JOBS).isdisjoint(names)


def read_job_table(path: str | os.PathLike[str]) -> list[PeriodicJob]:
    """Read a table of jobs.

    ==================  ===================================================================================
    ``job``             name, each once
    ``period_s``        mean time in s from one I/O phase to the next where the job is alone
    ``io_share``        share of the period that I/O takes with the whole bandwidth, in (0, 1)
    ``io_time_s``       instead of the share: the time in s that an I/O phase takes with it
    ``bytes``           instead of it, with ``bandwidth`` (bytes/s): what an I/O phase moves
    ``iterations``      number of I/O phases
    ``release_s``       when the job begins, in s
    ``compute_jitter``  coefficient of variation of the time from one I/O phase to the next, 0 where empty
    ``nodes``           compute nodes that it holds, 1 where empty
    ``known_period_s``  what the scheduler knows in place of ``period_s``; where empty it knows of no period
    ==================  ===================================================================================

    The first two and one of the ways to say how long I/O takes are needed. Where ``iterations`` or ``release_s`` is
    empty or left out, `make_workload` decides.

    Raises
    ------
    TraceError
        If a row has no sense, or the file cannot be read.
    """
    path = Path(path)
    jobs: list[PeriodicJob] = []
    seen: set[str] = set()
    for place, row in _rows(path):
        job = _job(path, place, row)
        if job.name in seen:
            raise TraceError(f"{path}: {place}: the job {_shown(job.name)} is there already; name each job once")
        seen.add(job.name)
        jobs.append(job)
        if len(jobs) > MOST_JOBS:
            raise TraceError(f"{path}: more than {MOST_JOBS:,} jobs; give a part of them")
    if not jobs:
        raise TraceError(f"{path}: a table without jobs")
    return jobs


def _rows(path: Path) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Give each row, and where it stands in words."""
    suffix = path.suffix.lower()
    if suffix == ".csv":
        rows = csv_rows(path)
        header = [name.strip() for name in next(rows, (0, []))[1]]
        yield from ((f"line {line}", dict(zip(header, cells, strict=False))) for line, cells in rows)
    elif suffix in (".parquet", ".pq"):
        with _sound_parquet(path) as file:
            wanted = [name for name in ("job", *_NUMBERS) if name in file.schema_arrow.names]
            count = 0
            for batch in file.iter_batches(columns=wanted):
                for row in batch.to_pylist():
                    count += 1
                    yield f"row {count}", row
    else:
        with path.open(encoding="utf-8-sig", errors="replace") as file:
            number = 0
            while line := file.readline(_LONGEST_LINE):
                number += 1
                if not line.strip():
                    continue
                try:
                    row = json.loads(line)
                except (ValueError, RecursionError):
                    row = None
                if not isinstance(row, dict):
                    raise TraceError(f"{path}: line {number} is not a JSON object")
                yield f"line {number}", row


@contextmanager
def _sound_parquet(path: Path) -> Iterator[Any]:
    """Open a Parquet file; whatever is wrong with it is a TraceError."""
    parquet, pyarrow = import_library("pyarrow.parquet", path), import_library("pyarrow")
    try:
        with parquet.ParquetFile(path) as file:
            yield file
    except TraceError:
        raise
    except (pyarrow.ArrowException, ValueError, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        raise TraceError(f"{path}: not a sound Parquet file") from None


def _job(path: Path, place: str, row: Mapping[str, Any]) -> PeriodicJob:
    name = str(row.get("job") or "").strip()[:_LONGEST_NAME]
    if not name:
        raise TraceError(f"{path}: {place}: no name in the column 'job'")
    numbers = {column: _number(path, place, column, row.get(column)) for column in _NUMBERS}
    period = numbers["period_s"]
    if period is None:
        raise TraceError(f"{path}: {place}: no period_s; what the scheduler does not know is an empty known_period_s")
    io_time = _io_time(numbers, period)
    if io_time is None or not 0 < io_time < period:
        raise TraceError(
            f"{path}: {place}: {'unknown I/O' if io_time is None else f'I/O of {io_time:g} s'} in a period of "
            f"{period:g} s; give io_share, io_time_s, or bytes and bandwidth, so that a part of the period is I/O"
        )
    iterations = numbers["iterations"]
    job = PeriodicJob(
        name=name,
        compute=np.array([period - io_time]),
        work=np.array([io_time]),
        period=numbers["known_period_s"] if "known_period_s" in row else period,
        iterations=None if iterations is None else int(iterations),
        release=numbers["release_s"],
        jitter=numbers["compute_jitter"] or 0.0,
    )
    return job if numbers["nodes"] is None else replace(job, nodes=numbers["nodes"])


def _io_time(numbers: Mapping[str, float | None], period: float) -> float | None:
    if numbers["io_time_s"] is not None:
        return numbers["io_time_s"]
    if numbers["io_share"] is not None:
        return numbers["io_share"] * period
    if numbers["bytes"] is not None and numbers["bandwidth"] is not None:
        return numbers["bytes"] / numbers["bandwidth"]
    return None


def _number(path: Path, place: str, column: str, value: object) -> float | None:
    """Return a number of a cell; None where it is empty."""
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    low, high = _NUMBERS[column]
    try:
        if isinstance(value, bool) or not isinstance(value, str | int | float):
            raise ValueError
        number = float(value)
        if math.isnan(number):
            # Tables of pandas leave cells empty so.
            return None
        if not low <= number <= high or (column == "iterations" and number != int(number)):
            raise ValueError
    except (ValueError, OverflowError):
        kind = "a whole number" if column == "iterations" else "a number"
        raise TraceError(
            f"{path}: {place}: {column} is {_shown(str(value))}, not {kind} from {low:g} to {high:g}"
        ) from None
    return number


def _shown(text: str) -> str:
    return f"'{shortened(printable(text), 60)}'"
