"""A function mapped over the partitions of a trace on a Dask cluster that is running already.

Only partitions go out and results come back. What the function holds, a source with its definitions, goes to each
worker once. A worker that dies costs what it had not handed on: Dask does that again elsewhere.
"""

import contextlib
import functools
import io
import logging
import os
import pickle
import platform
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any, Final, TypeVar

from ..budget import KEPT, keep_freed_memory
from ..errors import ClusterError, import_library
from .source import Partition

Progress = Callable[[int, int], None]
Result = TypeVar("Result")

_PATIENCE_S: Final = 15
"""How long to wait for the scheduler and the first worker."""
_MERGED_AT_ONCE: Final = 8
_TASKS_PER_WORKER: Final = 4
"""So many parts of the work has each thread of a worker, so that one that is late does not hold up all."""


def _nothing_done(_events: int) -> None:
    """Say nothing: the scheduler tells what is done."""


Work = tuple[Callable[..., Any], tuple[object, ...]]
"""A function, and large objects that its results refer to and every worker has: they are not sent with each."""


class _Part:
    """A result as it is where it was made; where it travels it is packed without what all workers have."""

    def __init__(self, shared: tuple[object, ...], result: object = None, packed: bytes | None = None) -> None:
        self._shared, self._result, self._packed = shared, result, packed

    def __reduce__(self) -> tuple[Any, ...]:
        try:
            packed = _packed(self._result, self._shared) if self._packed is None else self._packed
        except Exception as error:  # noqa: BLE001
            # Raised here, Dask would ask for the part again for ever.
            failed = TypeError(f"a result cannot be sent: {type(self._result).__name__}: {error}")
            return _Part, ((), failed)
        return _Part, ((), None, packed)

    def result(self, shared: tuple[object, ...]) -> Any:
        if isinstance(self._result, TypeError):
            raise self._result
        return self._result if self._packed is None else _unpacked(self._packed, shared)


@functools.cache
def _keep_memory() -> None:
    """Let a worker's process keep tens of MB that it has freed.

    Dask has its workers give back all above 64 KiB at once. Each array that is made for a moment then comes from the
    system, page by page, which doubles the time of everything here. These are what the C library would have arrived at
    by itself.
    """
    if "MALLOC_TRIM_THRESHOLD_" in os.environ:
        keep_freed_memory(KEPT)


def _apply(work: Work, *arguments: object) -> _Part:
    _keep_memory()
    function, shared = work
    return _Part(shared, function(*arguments))


def _warm(work: Work, *arguments: object) -> None:
    """Compile kernels, or load them, before many threads want them at once."""
    work[0](*arguments)


def _merged(merge: Callable[[Any, Any], Any], work: Work, *parts: _Part) -> _Part:
    # The first part is changed. If it is lost with this worker it is made anew, and nobody else asks for it.
    return _Part(work[1], functools.reduce(merge, (one.result(work[1]) for one in parts)))


def _packed(result: object, shared: tuple[object, ...]) -> bytes:
    places = {id(one): place for place, one in enumerate(shared)}

    class Packer(pickle.Pickler):
        def persistent_id(self, one: object) -> int | None:
            return places.get(id(one))

    stream = io.BytesIO()
    Packer(stream, protocol=pickle.HIGHEST_PROTOCOL).dump(result)
    return stream.getvalue()


def _unpacked(packed: bytes, shared: tuple[object, ...]) -> Any:
    class Unpacker(pickle.Unpickler):
        def persistent_load(self, place: int) -> object:
            return shared[place]

    return Unpacker(io.BytesIO(packed)).load()


def _facts(path: str) -> dict[str, str]:
    """Return the versions on whatever machine this runs on, and what it sees of a trace."""
    known = {"Python": ".".join(platform.python_version_tuple()[:2])}
    for name in ("iostrata", "numpy"):
        with contextlib.suppress(PackageNotFoundError):
            known[name] = version(name)
    try:
        known["trace"] = f"{os.stat(path).st_size} bytes"
    except OSError as error:
        known["trace"] = f"{error.strerror}"
    return known


class Cluster:
    """A running Dask cluster.

    Parameters
    ----------
    client : distributed.Client or str
        The address of a scheduler stands for a client of its own, which `close` closes.

    Raises
    ------
    MissingLibraryError
        If Dask is not installed.
    ClusterError
        If no scheduler answers, or no worker is there.
    """

    def __init__(self, client: Any) -> None:
        distributed = import_library("distributed")
        self._own = isinstance(client, str)
        if self._own:
            _silence()
            connect: Any = distributed.Client
            try:
                client = connect(client, timeout=_PATIENCE_S, set_as_default=False)
            except (OSError, ValueError, TypeError) as error:
                raise ClusterError(
                    f"no Dask scheduler answers at {client}: {_line(error)}; check the address and that it runs"
                ) from None
        self._client = client
        self.address = str(client.scheduler.address)
        with self._translated():
            try:
                client.wait_for_workers(1, timeout=_PATIENCE_S)
            except TimeoutError:
                self.close()
                raise ClusterError(f"the Dask cluster at {self.address} has no workers; start some") from None

    @property
    def workers(self) -> int:
        """Threads of all workers."""
        return sum(self._client.nthreads().values())

    def close(self) -> None:
        """Leave the cluster, unless the client is somebody else's."""
        if self._own:
            with contextlib.suppress(Exception):
                self._client.close(timeout=2)

    def check(self, path: Path) -> None:
        """Do nothing if all workers have the same versions as this program, and see the trace at `path`.

        Raises ClusterError if one does not, with what to do about it.
        """
        here = _facts(os.fspath(path))
        with self._translated():
            found = self._client.run(_facts, os.fspath(path), on_error="return")
        for worker, facts in sorted(found.items()):
            if isinstance(facts, BaseException):
                raise ClusterError(
                    f"worker {worker} cannot run iostrata: {_line(facts)}; install the same version there"
                )
            for name, mine in here.items():
                theirs = facts.get(name, "none")
                if theirs == mine:
                    continue
                if name == "trace":
                    raise ClusterError(
                        f"worker {worker} does not see {path} as it is here ({theirs} there, {mine} here); "
                        "workers need it under the same path"
                    )
                raise ClusterError(
                    f"worker {worker} has {name} {theirs}, here is {mine}; install the same version on both sides"
                )

    def map(
        self, function: Callable[..., Result], partitions: Sequence[Partition], progress: Progress | None = None
    ) -> Iterator[Result]:
        """Yield what a function makes of each partition, in their order."""
        with self._translated():
            work = self._scattered((function, ()), _smallest(partitions), _nothing_done)
            futures = [self._client.submit(_apply, work, one, _nothing_done, pure=False) for one in partitions]
            _report(futures, [one.work for one in partitions], progress)
            for number in range(len(futures)):
                yield futures[number].result().result(())
                # The scheduler forgets what nobody holds.
                futures[number] = None

    def reduce(
        self,
        function: Callable[[Sequence[Partition]], Result],
        merge: Callable[[Result, Result], Result],
        partitions: Sequence[Partition],
        progress: Progress | None = None,
        shared: tuple[object, ...] = (),
    ) -> Result:
        """Return what `merge` makes of the results of all partitions in any order; there is at least one.

        Parameters
        ----------
        function : callable
            Called with neighbouring partitions, all of which one worker reads.
        shared : tuple
            Objects that results refer to, and that `function` holds: they go to each worker once and never come back.
        """
        import concurrent.futures

        with self._translated():
            try:
                return self._reduced(function, merge, partitions, progress, shared)
            except concurrent.futures.CancelledError:
                # What was sent is gone with the one worker that had it; the others do all of it once it is sent anew.
                if not self.workers:
                    raise
                return self._reduced(function, merge, partitions, progress, shared)

    def _reduced(
        self,
        function: Callable[[Sequence[Partition]], Result],
        merge: Callable[[Result, Result], Result],
        partitions: Sequence[Partition],
        progress: Progress | None,
        shared: tuple[object, ...],
    ) -> Result:
        work = self._scattered((function, shared), [_smallest(partitions)])
        size = -(-len(partitions) // (_TASKS_PER_WORKER * self.workers))
        tasks = [partitions[first : first + size] for first in range(0, len(partitions), size)]
        level = [self._client.submit(_apply, work, task, pure=False) for task in tasks]
        _report(level, [sum(one.work for one in task) for task in tasks], progress)
        groups = self._where_they_are(level)
        while len(level) > 1:
            level = [
                self._client.submit(_merged, merge, work, *group, pure=False) if len(group) > 1 else group[0]
                for group in groups
            ]
            groups = [level[first : first + _MERGED_AT_ONCE] for first in range(0, len(level), _MERGED_AT_ONCE)]
        result: Result = level[0].result().result(shared)
        return result

    def _where_they_are(self, parts: Sequence[Any]) -> list[list[Any]]:
        """Return parts that are done in groups, those on one worker together: what is merged there need not travel."""
        for part in parts:
            part.exception()
        places = self._client.who_has(parts)
        groups: dict[object, list[Any]] = {}
        for part in parts:
            groups.setdefault(next(iter(places.get(part.key, ())), None), []).append(part)
        return list(groups.values())

    def _scattered(self, work: Work, *smallest: object) -> Any:
        """Send the work to all workers; where one has several threads compile kernels on the smallest part of it."""
        client = self._client
        # By itself a tuple would be taken for several things.
        (remote,) = client.scatter([work], broadcast=True, hash=False)
        several = (worker for worker, threads in client.nthreads().items() if threads > 1)
        options = {"allow_other_workers": True, "pure": False, "priority": 10}
        warm = [client.submit(_warm, remote, *smallest, workers=[worker], **options) for worker in several]
        for future in warm:
            future.result()
        return remote

    @contextmanager
    def _translated(self) -> Iterator[None]:
        """Say in one line what became of the cluster."""
        import concurrent.futures

        from distributed import KilledWorker
        from distributed.comm.core import CommClosedError

        try:
            yield
        except KilledWorker as error:
            raise ClusterError(
                f"workers of {self.address} died one after the other at the same partition ({_line(error)}); give them "
                "more memory, or --memory less"
            ) from None
        except (concurrent.futures.CancelledError, CommClosedError, ConnectionError) as error:
            raise ClusterError(
                f"the Dask cluster at {self.address} went away ({_line(error)}); start it again, then repeat this"
            ) from None


def _smallest(partitions: Sequence[Partition]) -> Partition:
    return min(partitions, key=lambda one: one.work)


def _report(futures: Sequence[Any], work: Sequence[int], progress: Progress | None) -> None:
    """Tell the work done each time a task is."""
    if progress is None:
        return
    total = sum(work)
    done = 0

    def finished(future: Any, part: int) -> None:
        nonlocal done
        if future.status == "finished":
            done += part
            progress(done, total)

    for future, part in zip(futures, work, strict=True):
        future.add_done_callback(lambda one, part=part: finished(one, part))


def _silence() -> None:
    """Keep Dask from logging at length what the error will say in a line."""
    for name in tuple(logging.root.manager.loggerDict):
        if name.split(".")[0] in ("distributed", "tornado", "asyncio"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


def _line(error: BaseException) -> str:
    """Return an error's own words in a line, or what it is called."""
    return " ".join(str(error).split())[:200] or type(error).__name__
