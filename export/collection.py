"""The tables of a collection in a folder, written so that no moment at which the program ends can lose or double a run.

What is read comes in batches. A batch is a folder with a file a table, made beside its place and renamed into it, so it
is there whole or not at all. When all is read, each table is written anew from the old one and the batches, and takes
the old one's place; only then are the batches removed. Whatever is left by a program that was killed is taken up by the
next: rows of a run that a batch holds replace those of the table, so that doing it twice changes nothing.
"""

import fcntl
import os
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from time import monotonic
from typing import Final

from ..model.document import Record
from ..model.errors import OutputError
from ..runs.collection.collect import read_runs
from ..runs.collection.read import Settings
from ..runs.collection.rows import TABLES, Run
from ..runs.collection.tables import PENDING, SUFFIX, Collection, arrow, is_collection, schema, table_of, without_jobs
from .atomic import atomic_file, output_error, written_together

_MOST_RUNS: Final = 256
_MOST_NUMBERS: Final = 500_000
_SECONDS: Final = 10.0
"""A batch ends with so many runs, numbers in lists, or this long after it began."""
_GROUP_BYTES: Final = 2**23
"""Of a row group in memory."""


class FailedTrace(Record):
    """The key of a trace that could not be read, and why."""

    job: str
    reason: str


class CollectionWritten(Record):
    """What became of the traces that were to be collected.

    Attributes
    ----------
    path : str
        The folder.
    read, unchanged : int
    failed : tuple of FailedTrace
        In this call.
    runs : int
        In the collection now.
    bytes : int
        Of all tables.
    """

    path: str
    read: int
    unchanged: int
    failed: tuple[FailedTrace, ...]
    runs: int
    bytes: int


class CollectionWriter:
    """A collection that runs are added to; a context manager.

    Raises OutputError where the folder cannot be written, holds something else, or another program writes to it.

    Parameters
    ----------
    path : path
        The folder; made where there is none.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = Path(path)
        arrow()

    @contextmanager
    def opened(self) -> Iterator[None]:
        """Hold the folder for this program alone, and put what is left over into the tables at the end."""
        pending, made = self.path / PENDING, not os.path.lexists(self.path)
        with _translated(self.path):
            if self.path.is_dir() and not is_collection(self.path) and any(self.path.iterdir()):
                raise OutputError(
                    f"cannot write {str(self.path)!r}: the folder holds something else; name a new folder"
                )
            pending.mkdir(parents=True, exist_ok=True)
            lock = os.open(self.path / PENDING, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise OutputError(
                    f"cannot write {str(self.path)!r}: another program collects into it; wait until it is done"
                ) from None
            except OSError:
                # A file system without locks: the user has to see to it.
                pass
            with _translated(self.path):
                _remove_unfinished(pending)
            yield
        finally:
            os.close(lock)
            if made and [*self.path.iterdir()] == [pending]:
                # Nothing was collected, as on a full disk; a batch that was would stay.
                with suppress(OSError):
                    _remove_unfinished(pending)
                    pending.rmdir()
                    self.path.rmdir()

    @property
    def known(self) -> dict[str, tuple[str, str]]:
        """Content and settings of all runs that are there, by their key; what failed is to be tried again."""
        return Collection(self.path).known if is_collection(self.path) else {}

    def add(self, runs: Iterable[Run]) -> None:
        """Add runs, a batch after the other."""
        batch: list[Run] = []
        numbers, began = 0, monotonic()
        try:
            for run in runs:
                batch.append(run)
                numbers += sum(len(row.values) for rows in (run.signals, run.segments) for row in rows)
                if len(batch) >= _MOST_RUNS or numbers > _MOST_NUMBERS or monotonic() - began > _SECONDS:
                    done, batch = batch, []
                    self._write_batch(done)
                    numbers, began = 0, monotonic()
        finally:
            # Also what was read before an interrupt.
            if batch:
                self._write_batch(batch)

    def _write_batch(self, runs: list[Run]) -> None:
        pending = self.path / PENDING
        with _translated(self.path):
            numbers = [int(one.name) for one in pending.iterdir() if one.name.isdecimal()]
            target = pending / f"{max(numbers, default=0) + 1:08d}"
            unfinished = pending / f".{target.name}"
            unfinished.mkdir()
            for name in TABLES:
                table = table_of(name, (row for run in runs for row in run.rows(name)))
                file = unfinished / f"{name}{SUFFIX}"
                arrow().parquet.write_table(table, file, compression="zstd")
                _flush(file)
            _flush(unfinished)
            unfinished.rename(target)
            _flush(pending)

    def finish(self) -> None:
        """Put all batches into the tables."""
        pending = self.path / PENDING
        with _translated(self.path):
            batches = sorted(one for one in pending.iterdir() if one.name.isdecimal())
            if batches or not (self.path / f"job{SUFFIX}").is_file():
                collection = Collection(self.path)
                outdated = collection.outdated()
                with written_together():
                    for name in TABLES:
                        self._rewrite(collection, name, outdated)
                _flush(self.path)
            # Each is first made one that nobody reads, so that none is ever there in part.
            for batch in batches:
                shutil.rmtree(batch.rename(pending / f".{batch.name}"))

    def _rewrite(self, collection: Collection, name: str, outdated: frozenset[str]) -> None:
        pyarrow = arrow()
        with (
            atomic_file(self.path / f"{name}{SUFFIX}") as temporary,
            pyarrow.parquet.ParquetWriter(temporary, schema(name), compression="zstd") as writer,
        ):
            held, size = [], 0
            for part in collection.parts(name):
                held.append(without_jobs(part, outdated))
                size += part.nbytes
                if size > _GROUP_BYTES:
                    writer.write_table(pyarrow.concat_tables(held))
                    held, size = [], 0
            if held:
                writer.write_table(pyarrow.concat_tables(held))

    def written(self, read: int, unchanged: int, failed: Iterable[FailedTrace]) -> CollectionWritten:
        """Return what became of it."""
        size = sum((self.path / f"{name}{SUFFIX}").stat().st_size for name in TABLES)
        runs = arrow().parquet.read_metadata(self.path / f"job{SUFFIX}").num_rows
        return CollectionWritten(str(self.path), read, unchanged, tuple(failed), runs, size)


def write_collection(
    traces: Sequence[str | os.PathLike[str]],
    path: str | os.PathLike[str],
    *,
    settings: Settings | None = None,
    workers: int | None = None,
    client: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> CollectionWritten:
    """Read traces into the tables of a collection; what did not change since the last call is not read again.

    Parameters
    ----------
    traces : sequence of path
    path : path
        The folder of the collection, made where there is none; runs that are in it stay.
    settings : Settings, optional
        With what traces are read.
    workers, client
        As `iostrata.runs.read_runs` takes them.
    progress : callable, optional
        Called with the number of traces that are done, and of all.

    Raises
    ------
    OutputError
        If the folder cannot be written, holds something else, or another program writes to it.
    """
    writer = CollectionWriter(path)
    failed: list[FailedTrace] = []
    read = 0

    def fresh() -> Iterator[Run]:
        nonlocal read
        runs = read_runs(traces, settings or Settings(), writer.known, workers=workers, client=client)
        for done, run in enumerate(runs, 1):
            if progress is not None:
                progress(done, len(traces))
            if run is not None:
                read += run.job.usable
                if not run.job.usable:
                    failed.append(FailedTrace(run.job.job, run.job.reason or ""))
                yield run

    with writer.opened():
        writer.add(fresh())
        writer.finish()
        return writer.written(read, len(traces) - read - len(failed), failed)


@contextmanager
def _translated(path: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise output_error(path, error) from error


def _remove_unfinished(pending: Path) -> None:
    for unfinished in pending.glob(".*"):
        shutil.rmtree(unfinished)


def _flush(path: Path) -> None:
    """Have the disk hold what was written, so that a rename does not come before it."""
    handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
