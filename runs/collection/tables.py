"""The tables of a collection in Arrow's types, and a collection that is there.

The module needs pyarrow; import it inside the function that uses it.
"""

import functools
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from datetime import datetime
from pathlib import Path
from types import NoneType
from typing import Any, Final, cast, get_args, get_origin, get_type_hints

from ...model.errors import TraceError, import_library
from ...model.metrics import metrics_of
from .names import matching
from .rows import READ, ROWS_OF, TABLES, JobRow, Row, Run

SUFFIX: Final = ".parquet"
_ROWS_AT_ONCE: Final = 1 << 10
"""Of a table that become objects at once."""
PENDING: Final = ".pending"
"""Folder in a collection with what was read and is not yet in the tables, a folder a batch."""
SCHEMA_VERSION: Final = 1


def arrow() -> Any:
    """Return pyarrow with ``compute``, ``csv`` and ``parquet``; MissingLibraryError where it is not installed."""
    for module in ("pyarrow.compute", "pyarrow.csv", "pyarrow.parquet"):
        import_library(module)
    return import_library("pyarrow")


@functools.cache
def schema(table: str) -> Any:
    """Return the ``pyarrow.Schema`` of one of `TABLES`."""
    pyarrow = arrow()
    kinds = {
        str: pyarrow.string(),
        int: pyarrow.int64(),
        float: pyarrow.float64(),
        bool: pyarrow.bool_(),
        datetime: pyarrow.timestamp("ms", tz="UTC"),
    }
    metrics = {one.name: one for one in metrics_of(TABLES[table])}
    columns = []
    for name, hint in get_type_hints(TABLES[table]).items():
        parts = get_args(hint) or (hint,)
        (kind,) = (kinds[part] for part in parts if part not in (NoneType, Ellipsis))
        if get_origin(hint) is tuple:
            kind = pyarrow.list_(kind)
        about = {"long_name": metrics[name].sentence, "units": metrics[name].unit} if name in metrics else None
        columns.append(pyarrow.field(name, kind, nullable=NoneType in parts, metadata=about))
    return pyarrow.schema(columns, metadata={"schema_version": str(SCHEMA_VERSION)})


def table_of(table: str, rows: Iterable[Row]) -> Any:
    """Return rows of one of `TABLES` as a ``pyarrow.Table``."""
    rows = list(rows)
    columns = {field.name: [getattr(row, field.name) for row in rows] for field in fields(TABLES[table])}
    return arrow().table(columns, schema=schema(table))


def is_collection(path: str | os.PathLike[str]) -> bool:
    """Tell whether there is a collection at `path`, or one that is not finished."""
    folder = Path(path)
    return (folder / f"job{SUFFIX}").is_file() or (folder / PENDING).is_dir()


def table_files(folder: Path, table: str) -> tuple[Path | None, list[Path]]:
    """Return the file of a table, None where there is none, and the files of the batches that are not yet in it."""
    whole = folder / f"{table}{SUFFIX}"
    batches = sorted(one for one in (folder / PENDING).glob("*") if one.is_dir() and not one.name.startswith("."))
    return whole if whole.is_file() else None, [one / f"{table}{SUFFIX}" for one in batches]


@contextmanager
def reading(path: Path) -> Iterator[None]:
    """Say in one line what is wrong with a table; raises TraceError."""
    try:
        yield
    except (OSError, ValueError, KeyError, NotImplementedError) as error:
        if isinstance(error, TraceError):
            raise
        reason = " ".join(str(error).split())[:200]
        raise TraceError(f"cannot read the table {path}: {reason}; collect the runs again") from None


class Collection:
    """The runs in a folder that ``iostrata collect`` wrote, those of an unfinished call among them.

    Raises TraceError if there is no collection, or its tables cannot be used.

    Parameters
    ----------
    path : path
        The folder.
    patterns : iterable of str
        Shell patterns: only runs that one of them matches, as `matching` has it, are returned.
    """

    def __init__(self, path: str | os.PathLike[str], patterns: Iterable[str] = ("*",)) -> None:
        self.path = Path(path)
        self._patterns = tuple(patterns)
        if not is_collection(self.path):
            raise TraceError(f"no collection in {self.path}: no job.parquet; make one with iostrata collect")

    @functools.cached_property
    def jobs(self) -> tuple[JobRow, ...]:
        """All runs, those that failed too, ordered by their key; of one that was read twice the later reading."""
        rows = {row.job: cast(JobRow, row) for row in self._rows("job", None)}
        if "*" in self._patterns:
            return tuple(rows[job] for job in sorted(rows))
        return tuple(rows[job] for job in sorted(matching({job: rows[job].name for job in rows}, self._patterns)))

    @property
    def known(self) -> dict[str, tuple[str, str]]:
        """Content and settings of all runs that could be read, by their key; nothing else of them is kept."""
        found: dict[str, tuple[str, str]] = {}
        for part in self.parts("job"):
            columns = (part[name].to_pylist() for name in ("job", "status", "content", "settings"))
            for job, status, content, settings in zip(*columns, strict=True):
                if status == READ and content and settings:
                    # Nearly all have the same settings.
                    found[job] = content, sys.intern(settings)
        return found

    def outdated(self) -> frozenset[str]:
        """Return the runs that failed in an earlier call, in whose folder there is a trace since that could be read.

        A folder of event files is read as a trace as long as there is no anchor, while they are being written.
        """
        failed, folders = set[str](), set[str]()
        for part in self.parts("job"):
            for job, status in zip(part["job"].to_pylist(), part["status"].to_pylist(), strict=True):
                if status == READ:
                    folders.add(job.rpartition("/")[0])
                else:
                    failed.add(job)
        fresh = {job for batch in table_files(self.path, "job")[1] for job in _column(batch, "job")}
        return frozenset(failed & folders - fresh)

    def table(self, name: str) -> Any:
        """Return one of the tables as a ``pyarrow.Table``."""
        parts = list(self.parts(name))
        return arrow().concat_tables(parts) if parts else schema(name).empty_table()

    def parts(self, name: str) -> Iterator[Any]:
        """Give one of the tables part by part, as ``pyarrow.Table``; the parts are as large as what was read at once.

        A run that a later batch holds again is left out before.
        """
        yield from self._parts(name, self._chosen)

    @property
    def _chosen(self) -> frozenset[str] | None:
        return None if "*" in self._patterns else frozenset(job.job for job in self.jobs)

    def _parts(self, name: str, jobs: frozenset[str] | None) -> Iterator[Any]:
        pyarrow = arrow()
        whole, batches = table_files(self.path, name)
        if whole is None and not batches and table_files(self.path, "job")[0] is not None:
            raise TraceError(f"{self.path / (name + SUFFIX)} is missing; collect the runs into a new folder")
        wanted = None if jobs is None else pyarrow.array(sorted(jobs), pyarrow.string())
        job_batches = enumerate(table_files(self.path, "job")[1], 1)
        last = {job: place for place, batch in job_batches for job in _column(batch, "job")}
        for place, file in enumerate([whole, *batches]):
            for part in () if file is None else _row_groups(file, name):
                later = [job for job in part["job"].unique().to_pylist() if last.get(job, place) > place]
                if later:
                    part = without_jobs(part, later)
                if wanted is not None:
                    part = part.filter(pyarrow.compute.is_in(part["job"], wanted))
                if part.num_rows:
                    yield part

    def runs(self, tables: Iterable[str] = tuple(TABLES), jobs: Iterable[str] | None = None) -> tuple[Run, ...]:
        """Return runs, ordered by their key.

        Parameters
        ----------
        tables : iterable of str
            Those that are needed: what the others hold stays empty.
        jobs : iterable of str, optional
            Keys; all runs without it.
        """
        chosen = self._chosen if jobs is None else frozenset(jobs)
        rows: dict[str, dict[str, list[Any]]] = {}
        for table in set(tables) - {"job"}:
            for row in self._rows(table, chosen):
                rows.setdefault(row.job, {}).setdefault(table, []).append(row)
        found = [(job, rows.get(job.job, {})) for job in self.jobs if chosen is None or job.job in chosen]
        return tuple(Run(job, **{ROWS_OF[table]: tuple(own) for table, own in of.items()}) for job, of in found)

    def _rows(self, table: str, jobs: frozenset[str] | None) -> Iterator[Row]:
        kind: Any = TABLES[table]
        # Texts, and lists of them, come again and again: each is held once.
        known: dict[Any, Any] = {}
        for part in self._parts(table, jobs):
            for batch in part.to_batches(max_chunksize=_ROWS_AT_ONCE):
                for row in batch.to_pylist():
                    yield kind(**{name: _held_once(value, known) for name, value in row.items()})


def _held_once(value: Any, known: dict[Any, Any]) -> Any:
    """Return a value that equals one that was seen before as that one; lists as tuples."""
    if isinstance(value, list):
        value = tuple(value)
        if not (value and isinstance(value[0], str)):
            return value
    return known.setdefault(value, value) if isinstance(value, str | tuple) else value


def without_jobs(part: Any, jobs: Iterable[str]) -> Any:
    """Return the rows of a ``pyarrow.Table`` that are of other runs."""
    pyarrow = arrow()
    held = pyarrow.compute.is_in(part["job"], pyarrow.array(sorted(jobs), pyarrow.string()))
    return part.filter(pyarrow.compute.invert(held))


def _row_groups(file: Path, table: str) -> Iterator[Any]:
    """Give the row groups of a file of a table; TraceError if it cannot be read, or is of another version."""
    with reading(file), arrow().parquet.ParquetFile(file) as opened:
        expected = schema(table)
        written = (opened.schema_arrow.metadata or {}).get(b"schema_version", b"").decode(errors="replace")
        if written not in ("", str(SCHEMA_VERSION)) or not {*expected.names} <= {*opened.schema_arrow.names}:
            raise TraceError(f"{file} is of another version of iostrata; collect the runs into a new folder")
        for group in range(opened.num_row_groups):
            part = opened.read_row_group(group, columns=expected.names).cast(expected)
            # Texts that are no UTF-8, lists that reach out of their values: nobody has looked yet.
            part.validate(full=True)
            yield part
            # What one was read with is not kept for the next, which is of another size.
            del part
            arrow().default_memory_pool().release_unused()


def _column(file: Path, name: str) -> list[Any]:
    with reading(file):
        found: list[Any] = arrow().parquet.read_table(file, columns=[name])[name].to_pylist()
    return found
