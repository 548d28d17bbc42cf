"""Many traces read, each into a run: in processes here, or on a Dask cluster, a few at a time."""

import functools
import multiprocessing
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from itertools import islice
from multiprocessing.context import BaseContext
from multiprocessing.process import BaseProcess
from pathlib import Path
from types import ModuleType
from typing import Final

from ...model.budget import KEPT, keep_freed_memory
from ...model.plugins import PluginWarning, warn_once
from ...model.stream.mapping import cluster_of
from .read import Settings, failed_run, job_key, read_run
from .rows import Run

_WAITING: Final = 3
"""Traces handed to each process at a time: one it reads, and the next, so that it need not wait."""
_AHEAD: Final = 64
"""Traces for each process that may be done before one that takes long."""
_SENT_AT_ONCE: Final = 16
"""Traces for each thread of a cluster at a time."""

Known = tuple[str, str] | None
Apart = tuple[Run | None, list[str]]


@dataclass(frozen=True)
class Task:
    """A trace to read, and what is known of it; small, and made to be sent away.

    `work`, `number` and `locations` are what a cluster asks of a partition: a trace is one of a list of traces.
    """

    path: Path
    known: Known = None
    number: int = 0
    work: int = 1
    locations: tuple[int, ...] = ()


def read_runs(
    paths: Iterable[str | os.PathLike[str]],
    settings: Settings,
    known: Mapping[str, tuple[str, str]],
    *,
    workers: int | None = None,
    client: object = None,
) -> Iterator[Run | None]:
    """Give what each trace says, in the order of the paths; None for one that has not changed.

    Nothing but what is worked on, and what waits for that, is in memory, however many there are.

    Parameters
    ----------
    paths : iterable of path
    settings : Settings
    known : mapping
        Content and settings by `job_key`, of traces that were read before.
    workers : int, optional
        Processes; default: one a processor. With one, and where the system has no locks between processes, traces are
        read in this process.
    client : distributed.Client or str, optional
        A Dask cluster that reads instead.

    Raises
    ------
    ClusterError
        If the cluster does not answer, goes away, or has workers that cannot do the work.
    """
    tasks = (Task(Path(path), known.get(job_key(path)), number) for number, path in enumerate(paths))
    if client is not None:
        return _on_cluster(tasks, settings, client)
    count = (workers or len(os.sched_getaffinity(0))) if _processes_can_be_started() else 1
    return (_read(settings, task) for task in tasks) if count == 1 else _in_processes(tasks, settings, count)


def _read(settings: Settings, task: Task, _done: Callable[[int], None] | None = None) -> Run | None:
    return read_run(task.path, settings, task.known)


def _on_cluster(tasks: Iterator[Task], settings: Settings, client: object) -> Iterator[Run | None]:
    first = next(tasks, None)
    if first is None:
        return
    with cluster_of(client, first.path) as cluster:
        assert cluster is not None
        size = _SENT_AT_ONCE * cluster.workers
        batch = [first, *islice(tasks, size - 1)]
        while batch:
            yield from cluster.map(functools.partial(_read, settings), batch)  # type: ignore[arg-type]
            batch = list(islice(tasks, size))


def _processes_can_be_started() -> bool:
    """Tell whether locks between processes can be made, which takes a /dev/shm that can be written to."""
    try:
        multiprocessing.get_context("spawn").Lock()
    except OSError:
        return False
    return True


def _in_processes(tasks: Iterator[Task], settings: Settings, workers: int) -> Iterator[Run | None]:
    # Forked processes would share locks that threads of ours hold.
    context = multiprocessing.get_context("spawn")
    suspects: list[Task] = []
    done: dict[int, Run | None] = {}
    awaited = 0
    while True:
        pending: dict[Future[Apart], Task] = {}
        with ProcessPoolExecutor(workers, context, _start_process) as pool:
            try:
                while True:
                    while awaited in done:
                        yield done.pop(awaited)
                        awaited += 1
                    room = min(_WAITING, _AHEAD - len(done) // workers) * workers
                    for task in islice(tasks, max(0, room - len(pending))):
                        pending[_submitted(pool, settings, task)] = task
                    if not pending:
                        return
                    for future in wait(pending, return_when=FIRST_COMPLETED).done:
                        done[pending[future].number] = _told(future)
                        del pending[future]
            except BrokenProcessPool:
                # Which of them it was is not known, so each is read alone.
                suspects = list(pending.values())
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise
        for task in suspects:
            done[task.number] = _alone(task, settings, context)


def _alone(task: Task, settings: Settings, context: BaseContext) -> Run | None:
    """Read a trace in a process of its own, which may die of it."""
    with ProcessPoolExecutor(1, context, _start_process) as pool:
        try:
            return _told(_submitted(pool, settings, task))
        except BrokenProcessPool:
            reason = "the process that read it was killed, most likely for want of memory; give --memory or less of it"
            return failed_run(task.path, reason)


def _read_apart(settings: Settings, task: Task) -> Apart:
    """Read a trace in a process whose warnings nobody would take for ours."""
    with warnings.catch_warnings(record=True) as given:
        run = _read(settings, task)
    return run, [str(one.message) for one in given if issubclass(one.category, PluginWarning)]


def _told(future: "Future[Apart]") -> Run | None:
    """Return what a process has read, and give its warnings here."""
    run, texts = future.result()
    for text in texts:
        warn_once(text)
    return run


def _submitted(pool: ProcessPoolExecutor, settings: Settings, task: Task) -> "Future[Apart]":
    """Hand a trace to the pool, which may start a process for it.

    A new process would first import the main module of this one: a script that collects runs would do so again.
    """
    main = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        return pool.submit(_read_apart, settings, task)
    finally:
        sys.modules["__main__"] = main


def _start_process() -> None:
    """Let a process end without a word when it is interrupted, and when the one that started it is gone."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    keep_freed_memory(KEPT)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    parent = multiprocessing.parent_process()
    if parent is not None:
        threading.Thread(target=_end_with, args=(parent,), daemon=True).start()


def _end_with(parent: BaseProcess) -> None:
    parent.join()
    os._exit(1)
