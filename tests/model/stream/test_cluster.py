"""Partitions on a cluster of two worker processes: the same as on threads, also where a worker is killed."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import fields
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from iostrata import ClusterError, TraceError, open_trace
from iostrata.cli import main
from iostrata.model.operations import Operations
from iostrata.model.stream import cluster as cluster_module
from iostrata.model.stream.cluster import Cluster
from iostrata.model.stream.mapping import map_partitions, reduce_partitions
from iostrata.model.stream.source import Partition, Tally
from iostrata.otf2io.source import Otf2Source, open_source

distributed = pytest.importorskip("distributed")

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.fixture(scope="module")
def running() -> Iterator[Any]:
    """Give a cluster of two worker processes, and stop it."""
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as started:
        yield started


@pytest.fixture
def client(running: Any) -> Iterator[Any]:
    with distributed.Client(running, set_as_default=False) as found:
        yield found


def tallied(source: Otf2Source, partition: Partition, _done: Any) -> Tally:
    tally = Tally()
    for block in source.read(partition):
        tally.add(block)
    return tally


def killing(source: Otf2Source, marker: Path, partition: Partition, done: Any) -> Tally:
    """Kill the worker that comes here first, in the middle of the partitions."""
    if partition.number == 5 and not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return tallied(source, partition, done)


def failing(_source: Otf2Source, partition: Partition, _done: Any) -> Tally:
    raise TraceError(f"partition {partition.number} is gone")


def told(tally: Tally) -> dict[str, Any]:
    """Return what a tally says, its columns as numbers."""
    rows = sorted(row for one in tally.extents for row in zip(one.row.tolist(), one.known.tolist(), strict=True))
    return {**vars(tally), "extents": rows}


def merged(one: Tally, other: Tally) -> Tally:
    one.merge(other)
    return one


@pytest.mark.parametrize("name", ["ckpt16", "broken_race_corruption"])
def test_a_full_trace_is_the_same(name: str, client: Any, fixtures: Path) -> None:
    seen: list[tuple[int, int]] = []
    here = open_trace(fixtures / name)
    there = open_trace(fixtures / name, client=client, progress=lambda *now: seen.append(now))
    for field in fields(Operations):
        np.testing.assert_array_equal(getattr(here.operations, field.name), getattr(there.operations, field.name))
    np.testing.assert_array_equal(here.stream.kept.other_events.time, there.stream.kept.other_events.time)
    assert there.damage == here.damage
    assert (there.tally.events, there.tally.io_events) == (here.tally.events, here.tally.io_events)
    assert all(done <= total for done, total in seen)


def test_reducing_is_the_same_on_threads_and_on_a_cluster(client: Any, fixtures: Path) -> None:
    source = open_source(fixtures / "ckpt16")
    partitions = source.partitions(None, 5)
    assert len(partitions) > 8
    work = partial(tallied, source)
    here = reduce_partitions(work, merged, partitions, 2)
    assert told(reduce_partitions(work, merged, partitions, cluster=Cluster(client))) == told(here)
    there = map_partitions(work, partitions, 0, cluster=Cluster(client))
    assert list(map(told, there)) == list(map(told, map_partitions(work, partitions, 0)))


def test_a_killed_worker_changes_nothing(client: Any, fixtures: Path, tmp_path: Path) -> None:
    source = open_source(fixtures / "ckpt16")
    partitions = source.partitions(None, 5)
    marker = tmp_path / "killed"
    here = reduce_partitions(partial(tallied, source), merged, partitions, 1)
    there = reduce_partitions(partial(killing, source, marker), merged, partitions, cluster=Cluster(client))
    assert marker.exists()
    assert told(there) == told(here)


def test_work_that_is_lost_with_its_worker_is_sent_anew(
    client: Any, fixtures: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = open_source(fixtures / "ckpt16")
    partitions = source.partitions(None, 5)
    scatter, sent = Cluster._scattered, []

    def lost_at_first(self: Cluster, *work: Any) -> Any:
        remote = scatter(self, *work)
        if not sent:
            remote.cancel(force=True)
        sent.append(remote)
        return remote

    monkeypatch.setattr(Cluster, "_scattered", lost_at_first)
    there = reduce_partitions(partial(tallied, source), merged, partitions, cluster=Cluster(client))
    assert len(sent) == 2
    assert told(there) == told(reduce_partitions(partial(tallied, source), merged, partitions, 1))


def unsendable(_source: Otf2Source, _partition: Partition, _done: Any) -> Any:
    return lambda: None


def test_a_result_that_cannot_be_sent_is_an_error_and_no_endless_wait(client: Any, fixtures: Path) -> None:
    source = open_source(fixtures / "ckpt4")
    with pytest.raises(TypeError, match="cannot be sent"):
        reduce_partitions(partial(unsendable, source), merged, source.partitions(None, 1)[:1], cluster=Cluster(client))


def test_what_a_partition_raises_arrives(client: Any, fixtures: Path) -> None:
    source = open_source(fixtures / "ckpt16")
    with pytest.raises(TraceError, match="is gone"):
        reduce_partitions(partial(failing, source), merged, source.partitions(None, 2), cluster=Cluster(client))


def test_workers_that_cannot_do_the_work(client: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    cluster = Cluster(client)
    here = tmp_path / "traces.otf2"
    here.write_bytes(b"one")
    cluster.check(here)
    facts = cluster_module._facts

    def other(path: str) -> dict[str, str]:
        return {**facts(path), "iostrata": "0.0.1"}

    monkeypatch.setattr(cluster._client, "run", lambda *_, **__: {"tcp://there": other(str(here))})
    with pytest.raises(ClusterError, match=r"worker tcp://there has iostrata 0\.0\.1, here is .*; install"):
        cluster.check(here)
    monkeypatch.setattr(cluster._client, "run", lambda *_, **__: {"tcp://there": facts("/nowhere/traces.otf2")})
    with pytest.raises(ClusterError, match=r"does not see .* under the same path"):
        cluster.check(here)
    absent = ModuleNotFoundError("No module named 'iostrata'")
    monkeypatch.setattr(cluster._client, "run", lambda *_, **__: {"tcp://there": absent})
    with pytest.raises(ClusterError, match="cannot run iostrata"):
        cluster.check(here)


def test_a_scheduler_that_is_not_there_is_one_line(
    fixtures: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(cluster_module, "_PATIENCE_S", 1)
    assert main(["layers", str(fixtures / "serial1"), "--dask", "tcp://127.0.0.1:9", "--json"]) == 1
    out, error = capfd.readouterr()
    assert out == ""
    assert len(error.splitlines()) == 1
    assert "no Dask scheduler answers at tcp://127.0.0.1:9" in error


def test_a_scheduler_that_goes_away_is_one_line_and_leaves_no_file(fixtures: Path, tmp_path: Path) -> None:
    # The scheduler dies when the first partition is read.
    code = """
import os, signal, sys
from distributed import LocalCluster
from iostrata.otf2io.source import Otf2Source
read = Otf2Source.read
def dying(self, partition, *more, **named):
    if partition.number == 1:
        os.kill(int(os.environ["SCHEDULER"]), signal.SIGKILL)
    return read(self, partition, *more, **named)
Otf2Source.read = dying
"""
    (tmp_path / "dying.py").write_text(code)
    environment = {**os.environ, "PYTHONPATH": f"{tmp_path}:{os.environ.get('PYTHONPATH', '')}"}
    folder = Path(sys.executable).parent
    address = tmp_path / "scheduler.json"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [folder / "dask", "scheduler", "--port", "0", "--no-dashboard", "--scheduler-file", address], **quiet
    )
    worker = subprocess.Popen(
        [folder / "dask", "worker", "--scheduler-file", address, "--no-dashboard", "--no-nanny", "--preload", "dying"],
        env={**environment, "SCHEDULER": str(scheduler.pid)},
        **quiet,
    )
    try:
        import json
        import time

        while not address.exists() or not address.read_text():
            time.sleep(0.05)
        where = json.loads(address.read_text())["address"]
        done = subprocess.run(
            [folder / "iostrata", "convert", fixtures / "ckpt16", tmp_path / "out.h5", "--dask", where],
            capture_output=True,
            text=True,
        )
    finally:
        for process in (worker, scheduler):
            process.kill()
            process.wait()
    assert (done.returncode, done.stdout) == (1, "")
    assert "went away" in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "out.h5").exists()
