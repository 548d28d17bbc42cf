"""What a user means by runs: a trace, a folder of traces, a collection or some runs of one."""

import os
from collections.abc import Callable
from pathlib import Path

from ...model.errors import TraceError
from .collect import read_runs
from .content import find_traces
from .read import Settings
from .rows import Run
from .tables import Collection, is_collection

_MOST_RUNS = 10_000


def runs_of(
    text: str | os.PathLike[str],
    settings: Settings,
    *,
    workers: int | None = None,
    client: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Run, ...]:
    """Return the runs that a user means, also those that cannot be used.

    Parameters
    ----------
    text : str or path
        A trace; a folder that is searched for traces; a collection; or ``COLLECTION:PATTERN``, the runs of a collection
        whose name or key a shell pattern matches.
    settings : Settings
        For traces; a collection was read with settings of its own.
    workers, client
        As `read_runs` takes them.
    progress : callable, optional
        Called with the traces done and in total.

    Raises
    ------
    TraceError
        If there is nothing, or no run of the collection matches.
    """
    given = os.fspath(text)
    try:
        there = Path(given).exists()
    except (OSError, ValueError):
        there = False
    if not there and ":" in given:
        folder, _, pattern = given.rpartition(":")
        if is_collection(folder):
            return _chosen(Collection(folder), pattern)
    if is_collection(given):
        return _chosen(Collection(given), "*")
    paths = list(find_traces([given]))
    runs = []
    # A process to start takes longer than a trace to read, mostly.
    count = 1 if len(paths) < 4 else workers
    for done, run in enumerate(read_runs(paths, settings, {}, workers=count, client=client), 1):
        if progress is not None:
            progress(done, len(paths))
        if run is not None:
            runs.append(run)
    return tuple(sorted(runs, key=lambda run: run.job.job))


def _chosen(collection: Collection, pattern: str) -> tuple[Run, ...]:
    jobs = collection.select(pattern)
    if not jobs:
        raise TraceError(
            f"no run in {collection.path} matches {pattern!r}; the names are in the column name of job.parquet"
        )
    if len(jobs) > _MOST_RUNS:
        raise TraceError(f"{len(jobs):,} runs in {collection.path} are too many to compare; choose some by a pattern")
    return collection.runs(jobs, ("job", "job_layer", "finding", "signal"))
