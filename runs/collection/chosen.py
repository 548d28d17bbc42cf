"""What a user means by runs: traces, folders of them, collections, or those of either with some name."""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

from ...model.errors import TraceError
from .collect import read_runs
from .content import find_traces, trace_name
from .names import matching
from .read import Settings, job_key
from .rows import Run
from .tables import Collection, is_collection

_MOST_RUNS = 10_000
_MOST_NAMED = 5


@dataclass(frozen=True)
class ChosenRuns:
    """Runs that a user means, each once.

    Attributes
    ----------
    collections : tuple of Collection
        Each with the runs of it that are meant.
    traces : tuple of Path
        All else, in the order in which they were named.
    """

    collections: tuple[Collection, ...]
    traces: tuple[Path, ...]


def chosen_runs(texts: Iterable[str | os.PathLike[str]]) -> ChosenRuns:
    """Return the runs that a user means.

    Parameters
    ----------
    texts : iterable of str or path
        Each a trace; a folder that is searched for traces; a collection; or ``FOLDER:PATTERN``, the runs of a folder or
        collection that a shell pattern matches: their name, what they are called beside those of the same name, or
        their whole path.

    Raises
    ------
    TraceError
        If there is nothing, or nothing matches.
    """
    patterns: dict[Path, list[str]] = {}
    traces: dict[Path, None] = {}
    wanting: list[str | os.PathLike[str]] = []
    for text in texts:
        folder, pattern = folder_and_pattern(text)
        if is_collection(folder):
            same = next((one for one in patterns if one.samefile(folder)), folder)
            patterns.setdefault(same, []).append(pattern)
        elif pattern == "*":
            wanting.append(folder)
        else:
            traces.update(dict.fromkeys(_matching_traces(folder, pattern)))
    collections = []
    for folder, wanted in patterns.items():
        collections.append(Collection(folder, wanted))
        for pattern in wanted:
            if not Collection(folder, [pattern]).jobs:
                raise TraceError(
                    f"no run in {folder} matches {pattern!r}; the names are in the column name of job.parquet"
                )
    if wanting:
        traces.update(dict.fromkeys(find_traces(wanting)))
    return ChosenRuns(tuple(collections), tuple(traces))


def folder_and_pattern(text: str | os.PathLike[str]) -> tuple[Path, str]:
    """Return the folder and the pattern of ``FOLDER:PATTERN``; of any other path the path itself and ``*``."""
    given = os.fspath(text)
    try:
        if not os.path.lexists(given):
            for place in (place for place, letter in enumerate(given) if letter == ":"):
                if os.path.isdir(given[:place]):
                    return Path(given[:place]), given[place + 1 :]
    except ValueError:
        pass
    return Path(given), "*"


def _matching_traces(folder: Path, pattern: str) -> list[Path]:
    """Return the traces below a folder that a pattern matches."""
    found = {job_key(trace): trace for trace in find_traces([folder])}
    names = {key: trace_name(trace) for key, trace in found.items()}
    chosen = matching(names, [pattern])
    if not chosen:
        known = sorted(set(names.values()))
        more = f" and {len(known) - _MOST_NAMED} more" if len(known) > _MOST_NAMED else ""
        raise TraceError(
            f"no trace in the folder {folder} matches {pattern!r}; there are {', '.join(known[:_MOST_NAMED])}{more}"
        )
    return [found[key] for key in chosen]


def read_chosen(
    text: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    workers: int | None = None,
    client: object = None,
    progress: Callable[[int, int], None] | None = None,
) -> tuple[Run, ...]:
    """Return the runs that a user means, also those that cannot be used, ordered by their key.

    Parameters
    ----------
    text : str or path
        As one of those of `chosen_runs`.
    settings : Settings, optional
        For traces; a collection was read with settings of its own.
    workers, client
        As `read_runs` takes them.
    progress : callable, optional
        Called with the traces done and in total.

    Raises
    ------
    TraceError
        As `chosen_runs`, or if a collection has too many runs to compare.
    """
    chosen = chosen_runs([text])
    runs: list[Run] = []
    for collection in chosen.collections:
        if len(collection.jobs) > _MOST_RUNS:
            raise TraceError(
                f"{len(collection.jobs):,} runs in {collection.path} are too many to compare; choose some by a pattern"
            )
        runs += collection.runs(("job_layer", "finding", "signal", "loop", "iteration"))
    # A process to start takes longer than a trace to read, mostly.
    count = 1 if len(chosen.traces) < 4 else workers
    for done, run in enumerate(read_runs(chosen.traces, settings or Settings(), {}, workers=count, client=client), 1):
        if progress is not None:
            progress(done, len(chosen.traces))
        if run is not None:
            runs.append(run)
    return tuple(sorted(runs, key=lambda run: run.job.job))
