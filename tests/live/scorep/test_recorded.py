"""Programs that Score-P records while the plugin tells of them: both have the same bytes, to the last one."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import iostrata
import numpy as np
import pytest

from .conftest import LAST_GUARD_S
from .test_collector import by_series, records, until_the_end

COMMAND = str(Path(sys.executable).parent / "iostrata")
OPEN_MPI = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_btl": "self,vader",
    "OMPI_MCA_btl_vader_single_copy_mechanism": "none",
    "OMPI_MCA_mpi_yield_when_idle": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
}
Build = Callable[..., Path]


def environment(plugin: Path, archive: Path, **more: str) -> dict[str, str]:
    """Return what a recorded program needs: Score-P traces into `archive`, and the plugin is on."""
    return {
        **os.environ,
        **OPEN_MPI,
        "SCOREP_ENABLE_TRACING": "true",
        "SCOREP_ENABLE_PROFILING": "false",
        "SCOREP_TOTAL_MEMORY": "64M",
        "SCOREP_EXPERIMENT_DIRECTORY": str(archive),
        "SCOREP_SUBSTRATE_PLUGINS": "iostrata",
        "LD_LIBRARY_PATH": f"{plugin}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        **more,
    }


def layers(archive: Path) -> list[dict[str, Any]]:
    """Return what the command tells of the layers of a trace."""
    done = subprocess.run([COMMAND, "layers", str(archive), "--json"], capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(done.stdout)["layers"]
    return found


@pytest.fixture(scope="session")
def mpi_program(instrumented: Build) -> Path:
    """Return the program of several ranks."""
    if shutil.which("mpirun") is None:
        pytest.skip("no mpirun")
    return instrumented("program", "mpicc", "--mpp=mpi", "--thread=pthread")


@pytest.fixture(scope="session")
def loop(instrumented: Build) -> Path:
    """Return the program that writes until it is killed."""
    return instrumented("loop", "gcc", "--mpp=none")


@pytest.mark.parametrize(("ranks", "timer"), [(2, "tsc"), (8, "clock_gettime")])
def test_live_bytes_of_each_layer_are_those_of_the_trace(
    mpi_program: Path, plugin: Path, tmp_path: Path, ranks: int, timer: str
) -> None:
    archive, live, data = tmp_path / "archive", tmp_path / "live", tmp_path / "data"
    live.mkdir()
    data.mkdir()
    done = subprocess.run(
        ["mpirun", "-n", str(ranks), str(mpi_program), str(data), "5", "60"],
        env=environment(plugin, archive, IOSTRATA_LIVE=str(live), SCOREP_TIMER=timer),
        capture_output=True,
        text=True,
        check=False,
        timeout=LAST_GUARD_S,
    )
    assert done.returncode == 0, done.stderr
    assert "iostrata" not in done.stderr
    lines = [line for path in live.iterdir() for line in records(path.read_bytes())]
    recorded = {(row["layer"], row["direction"]): row["bytes"] for row in layers(archive)}
    assert len(recorded) == 6
    assert by_series(lines) == recorded
    operations = dict.fromkeys(recorded, 0)
    for line in lines:
        if line["kind"] == "bins":
            operations[line["layer"], line["mode"]] += line["operations"]
    assert operations == {(row["layer"], row["direction"]): row["operations"] for row in layers(archive)}
    headers = [line for line in lines if line["kind"] == "header"]
    assert sorted(line["rank"] for line in headers) == list(range(ranks))
    assert {line["ranks"] for line in headers} == {ranks}
    assert [line["bytes_dropped"] for line in lines if line["kind"] == "end"] == [0] * ranks
    # What watches the lines says the same.
    done = subprocess.run([COMMAND, "watch", str(live), "--once", "--json"], capture_output=True, text=True, check=True)
    watched = {(row["layer"], row["direction"]): row["bytes"] for row in map(json.loads, done.stdout.splitlines())}
    assert watched == recorded


def test_bytes_moved_when_the_trace_says_they_did(loop: Path, plugin: Path, tmp_path: Path) -> None:
    archive, live = tmp_path / "archive", tmp_path / "live"
    live.mkdir()
    start = time.time()
    surroundings = environment(plugin, archive, IOSTRATA_LIVE=str(live), IOSTRATA_LIVE_WIDTH="0.001")
    command = [str(loop), str(tmp_path / "data"), "20000", "65536"]
    subprocess.run(command, env=surroundings, capture_output=True, check=True)
    header, *lines = records(next(live.iterdir()).read_bytes())
    assert start - 1 < header["origin"] < time.time()
    edges, moved = [], []
    for line in lines:
        if line["kind"] == "bins":
            edges += [
                line["origin"] + (line["first"] + place + 1) * line["width"] for place in range(len(line["bytes"]))
            ]
            moved += line["bytes"]
    order = np.argsort(edges)
    told = np.cumsum(np.array(moved)[order])
    signal = iostrata.open_trace(archive).layers["POSIX"].bandwidth("write")
    assert told[-1] == signal.volume
    # Both clocks are one but for where they begin: parts of the bytes are as far apart in time.
    parts = np.array([0.1, 0.3, 0.5, 0.7, 0.9]) * signal.volume
    here = np.interp(parts, told, np.array(edges)[order])
    there = np.interp(parts, signal.cumulative, signal.times)
    width = max(line["width"] for line in lines if line["kind"] == "bins")
    assert np.ptp(here - there) <= 2 * width < 0.1


def test_all_that_a_killed_program_wrote_is_told(loop: Path, plugin: Path, tmp_path: Path) -> None:
    archive, live, data = tmp_path / "archive", tmp_path / "live", tmp_path / "data"
    live.mkdir()
    with subprocess.Popen(
        [str(loop), str(data), "0", "777"], env=environment(plugin, archive, IOSTRATA_LIVE=str(live))
    ) as process:
        deadline = time.monotonic() + LAST_GUARD_S
        while not (data.exists() and data.stat().st_size > 777_000):
            assert time.monotonic() < deadline
            time.sleep(0.01)
        process.kill()
    assert process.returncode == -signal.SIGKILL
    lines = until_the_end(live / next(live.iterdir()).name)
    # The last operation may have moved its bytes and not yet returned.
    assert data.stat().st_size - by_series(lines)["POSIX", "write"] in (0, 777)


def test_a_watch_that_is_killed_and_one_that_comes_after_it(loop: Path, plugin: Path, tmp_path: Path) -> None:
    live, data = tmp_path / "live", tmp_path / "data"
    live.mkdir()
    watch = [COMMAND, "watch", str(live), "--json", "--interval", "0.1"]
    surroundings = environment(plugin, tmp_path / "archive", IOSTRATA_LIVE=str(live))
    with subprocess.Popen([str(loop), str(data), "0", "777"], env=surroundings) as process:
        with subprocess.Popen(watch, stdout=subprocess.PIPE) as first:
            assert first.stdout is not None
            early = json.loads(first.stdout.readline())
            first.kill()
        with subprocess.Popen(watch, stdout=subprocess.PIPE) as second:
            assert second.stdout is not None
            again = json.loads(second.stdout.readline())
            process.kill()
            # It ends by itself, as what is beside the program tells the end.
            rest, _ = second.communicate(timeout=LAST_GUARD_S)
    assert 0 < early["bytes"] <= again["bytes"]
    last = json.loads(rest.splitlines()[-1])
    assert (last["layer"], last["direction"], last["last"]) == ("POSIX", "write", True)
    assert not any(last["input"].values())
    assert data.stat().st_size - last["bytes"] in (0, 777)


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        ({}, "IOSTRATA_LIVE is not set"),
        ({"IOSTRATA_LIVE": "unix:" + "x" * 200}, "IOSTRATA_LIVE is too long"),
        ({"IOSTRATA_LIVE": "/nowhere/at/all"}, "bytes of operations were not told to /nowhere/at/all"),
        ({"IOSTRATA_LIVE": "unix:/nowhere/at/all"}, "bytes of operations were not told to /nowhere/at/all"),
    ],
)
def test_a_plugin_that_cannot_tell_says_so_and_the_program_runs(
    loop: Path, plugin: Path, tmp_path: Path, more: dict[str, str], complaint: str
) -> None:
    surroundings = environment(plugin, tmp_path / "archive", **more)
    if not more:
        surroundings.pop("IOSTRATA_LIVE", None)
    command = [str(loop), str(tmp_path / "data"), "100", "10"]
    done = subprocess.run(command, env=surroundings, capture_output=True, text=True, check=True)
    assert float(done.stdout.split()[0]) > 0
    assert [line for line in done.stderr.splitlines() if line.startswith("iostrata: ") and complaint in line]
    assert layers(tmp_path / "archive")[0]["bytes"] == 1100 * 10
