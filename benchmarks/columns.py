"""Time and memory of all operations in full columns: ``python benchmarks/columns.py --folder FOLDER``.

Each turn is a process of its own, which opens a small archive first, so that kernels and libraries are there; what the
large one takes beyond that, in processor time and in peak memory, is divided by its operations. The walk alone goes
through the same events on one thread, in batches that are forgotten; what the columns hold is the size of their arrays.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
from pathlib import Path
from typing import Any

from generate import SHAPES
from reading import archive_of, read_all_files
from results import write_section

TITLE = "Full columns"
SMALL = Path(__file__).parents[1] / "fixtures" / "serial1"
CODE = """
import json, resource, sys, time
import iostrata
from iostrata.otf2io.archive import open_archive
from iostrata.otf2io.source import Otf2Source

def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return usage.ru_utime + usage.ru_stime, int(peak.split()[1]) * 1024, time.perf_counter()

def look(trace):
    for layer in trace.layers.values():
        for direction in layer.directions:
            layer.statistics(direction)

def walk(path):
    source = Otf2Source(open_archive(path), "direct")
    for partition in source.partitions(None, 1):
        for _ in source.events(partition):
            pass

look(iostrata.open_trace(sys.argv[1]))
walk(sys.argv[1])
start = used()
if sys.argv[3] == "walk":
    walk(sys.argv[2])
    print(json.dumps({"start": start, "walked": used()}))
    raise SystemExit
trace = iostrata.open_trace(sys.argv[2], workers=int(sys.argv[3]))
opened = used()
look(trace)
looked = used()
held = sum(getattr(trace.operations, name).nbytes for name in trace.operations.__dataclass_fields__)
print(json.dumps({
    "operations": len(trace.operations), "held": held, "start": start, "opened": opened, "looked": looked
}))
"""


def median_cost(turns: list[dict[str, list[float]]], after: str) -> list[float]:
    """Return what was taken since the start: processor time in s, peak memory in bytes, time in s."""
    return [statistics.median(one[after][row] - one["start"][row] for one in turns) for row in range(3)]


def main() -> None:
    """Read the command line, measure, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archive is written")
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shape = dataclasses.replace(SHAPES["io"], events=2 * options.operations // SHAPES["io"].locations)
    archive = archive_of(options.folder, "io", shape)
    turns: dict[str, list[Any]] = {"walk": [], "1": [], "2": []}
    for _ in range(options.rounds):
        for name, found in turns.items():
            read_all_files(archive)
            command = [sys.executable, "-c", CODE, str(SMALL), str(archive), name]
            found.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
    count, held = turns["1"][0]["operations"], turns["1"][0]["held"]
    walked = median_cost(turns["walk"], "walked")
    lines = [
        "| | threads | bytes an operation | ns of processors an operation | × the walk alone | s |",
        "|---|---|---|---|---|---|",
        f"| the walk alone | 1 | | {walked[0] / count * 1e9:.0f} | 1 | {walked[2]:.2f} |",
    ]
    for workers in ("1", "2"):
        for name, after in (("open_trace", "opened"), ("and its statistics", "looked")):
            processor, memory, wall = median_cost(turns[workers], after)
            lines.append(
                f"| {name} | {workers} | {memory / count:.0f} | {processor / count * 1e9:.0f} "
                f"| {processor / walked[0]:.2f} | {wall:.2f} |"
            )
    lines.append(f"\nThe columns hold {held / count:.0f} bytes an operation; the rest of the peak is work on them.")
    print("\n".join(lines))
    if not options.only_print:
        body = (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n".join(lines)
        write_section(TITLE, f"{body}\n\nMedians of {options.rounds} rounds; {count:,} operations.")


if __name__ == "__main__":
    main()
