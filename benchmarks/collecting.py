"""Thousands of small traces collected: time and memory by how many, and what is left of a call that is killed.

``python benchmarks/collecting.py [traces] [kills] [logs]`` writes a table for benchmarks/RESULTS.md. The traces are
links to the project's own fixtures and small made logs of Darshan, in a temporary folder; or copies of all logs of the
folder `logs`, in turn, which are read by one process, assessed and shown on a page. The last call of all is killed
(SIGKILL, the whole group of processes) so often, at times without a pattern, and repeated; then every run must be there
once, with the rows of a call that nobody killed.
"""

import importlib.util
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet

HERE = Path(__file__).resolve().parent
FIXTURES = HERE.parent / "fixtures"
ARCHIVES = ("serial1", "ckpt4_linktime", "threads2", "serial1", "nonblocking4", "serial1")
TABLES = ("job", "job_layer", "finding", "signal", "segment", "loop", "iteration")
SETTLE = 0.25
"""s between two looks at the memory."""

_SPEC = importlib.util.spec_from_file_location("recorder_files", HERE.parent / "tests" / "archives" / "recorders.py")
recorders = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(recorders)


def make(folder: Path, count: int, logs: Path | None) -> None:
    """Make traces: copies of logs; or links to fixtures, and each tenth a small log of its own."""
    known = sorted(logs.glob("*.darshan")) if logs else []
    for number in range(count):
        target = folder / f"{number % 100:02d}" / f"run{number:06d}"
        if known:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.with_suffix(".darshan").write_bytes(known[number % len(known)].read_bytes())
            continue
        if number % 10 == 9:
            target.parent.mkdir(parents=True, exist_ok=True)
            segments = [(64 * place, 64 + number, place + 0.25, place + 0.5) for place in range(8)]
            log = recorders.DarshanLog({"DXT_POSIX": (1, [recorders.dxt(7, 0, segments)])}, {7: "/scratch/x"})
            target.with_suffix(".darshan").write_bytes(bytes(log))
            continue
        source = FIXTURES / ARCHIVES[number % len(ARCHIVES)]
        for file in source.rglob("*"):
            if file.is_file():
                place = target / file.relative_to(source)
                place.parent.mkdir(parents=True, exist_ok=True)
                os.link(file, place) if os.stat(source).st_dev == os.stat(folder).st_dev else place.write_bytes(
                    file.read_bytes()
                )


def started(*arguments: str | Path) -> subprocess.Popen:
    command = [sys.executable, "-m", "iostrata.cli", *arguments]
    return subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)


def collecting(traces: Path, runs: Path, workers: int = 2) -> tuple[str | Path, ...]:
    return "collect", traces, "-o", runs, "--workers", str(workers)


def memory(group: int) -> tuple[int, int]:
    """Return bytes in memory of all processes of a group, pages they share counted once each, and of the largest."""
    sizes = [0]
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if os.getpgid(int(entry.name)) == group:
                    rollup = (entry / "smaps_rollup").read_text()
                    sizes.append(next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith("Pss:")))
            except (OSError, StopIteration):
                continue
    return sum(sizes) * 1024, max(sizes) * 1024


def measured(*arguments: str | Path) -> tuple[float, float, int, int]:
    """Run a command; return s of wall clock and of the processors, and the most memory of all processes and of one."""
    before, began = os.times(), time.perf_counter()
    process = started(*arguments)
    most = largest = 0
    while process.poll() is None:
        whole, one = memory(process.pid)
        most, largest = max(most, whole), max(largest, one)
        time.sleep(SETTLE)
    after = os.times()
    if process.returncode:
        raise SystemExit(f"{arguments[0]} ended with {process.returncode}")
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return time.perf_counter() - began, cpu, most, largest


def rows(runs: Path) -> dict[str, Counter]:
    """Return all rows of each table, as often as they are there."""
    return {
        name: Counter(map(repr, pyarrow.parquet.read_table(runs / f"{name}.parquet").to_pylist())) for name in TABLES
    }


def killed(traces: Path, runs: Path, kills: int, longest: float) -> int:
    """Collect, killed so often; return how often it really was at work when it was."""
    generator, really = random.Random(5), 0
    for _ in range(kills):
        process = started(*collecting(traces, runs))
        time.sleep(generator.uniform(0.1, 1.0) * longest)
        if process.poll() is None:
            really += 1
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
    return really


def main() -> None:
    most = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    kills = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    logs = Path(sys.argv[3]) if len(sys.argv) > 3 else None
    workers = 1 if logs else 2
    print("| traces | wall clock | CPU | CPU per trace | memory of all | of one process |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=os.environ.get("IOSTRATA_SCRATCH")) as name:
        folder = Path(name)
        for count in (most // 10, most // 4, most):
            traces = folder / f"traces{count}"
            make(traces, count, logs)
            runs = folder / f"runs{count}"
            commands = [("", collecting(traces, runs, workers))]
            if logs:
                commands += [(", assess", ("assess", runs)), (", report", ("report", runs, "-o", folder / "page.html"))]
            for name, command in commands:
                wall, cpu, whole, one = measured(*command)
                sizes = f"{whole / 1e6:.0f} MB | {one / 1e6:.0f} MB"
                print(
                    f"| {count:,}{name} | {wall:.0f} s | {cpu:.0f} s | {cpu / count * 1e3:.1f} ms | {sizes} |",
                    flush=True,
                )
        unchanged, cpu, _, _ = measured(*collecting(traces, folder / f"runs{most}", workers))
        print(
            f"| {most:,}, nothing changed | {unchanged:.0f} s | {cpu:.0f} s | {cpu / most * 1e3:.1f} ms | – | – |",
            flush=True,
        )
        if not kills:
            return
        again = folder / "killed"
        count = most // 10
        traces = folder / f"traces{count}"
        really = killed(traces, again, kills, longest=0.4 * wall * count / most + 4)
        measured(*collecting(traces, again))
        found, expected = rows(again), rows(folder / f"runs{count}")
        lost, added = (
            sum(sum((one[name] - other[name]).values()) for name in TABLES)
            for one, other in ((expected, found), (found, expected))
        )
        print(f"\nKilled {really} times while {count:,} traces were read: {lost} rows lost, {added} too many.")


if __name__ == "__main__":
    main()
