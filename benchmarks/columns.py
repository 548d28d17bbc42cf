"""Time and memory of all operations in full columns: ``python benchmarks/columns.py --folder FOLDER``.

Each turn is a process of its own, which opens a small archive first, so that kernels and libraries are there; what the
large one takes beyond that, in processor time and in peak memory, is divided by its operations.
"""

import argparse
import dataclasses
import json
import statistics
import subprocess
import sys
from pathlib import Path

from generate import SHAPES
from reading import archive_of, read_all_files
from results import write_section

TITLE = "Full columns"
SMALL = Path(__file__).parents[1] / "fixtures" / "serial1"
CODE = """
import json, resource, sys, time
import iostrata

def used():
    usage = resource.getrusage(resource.RUSAGE_SELF)
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmHWM"))
    return usage.ru_utime + usage.ru_stime, int(peak.split()[1]) * 1024, time.perf_counter()

def look(trace):
    for layer in trace.layers.values():
        for direction in layer.directions:
            layer.statistics(direction)

look(iostrata.open_trace(sys.argv[1]))
start = used()
trace = iostrata.open_trace(sys.argv[2], workers=int(sys.argv[3]))
opened = used()
look(trace)
looked = used()
print(json.dumps({"operations": len(trace.operations), "start": start, "opened": opened, "looked": looked}))
"""


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
    lines = ["| | threads | bytes an operation | ns of processors an operation | s |", "|---|---|---|---|---|"]
    for workers in (1, 2):
        turns = []
        for _ in range(options.rounds):
            read_all_files(archive)
            command = [sys.executable, "-c", CODE, str(SMALL), str(archive), str(workers)]
            turns.append(json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout))
        for name, before, after in (("open_trace", "start", "opened"), ("and its statistics", "start", "looked")):
            cost = [[b - a for a, b in zip(one[before], one[after], strict=True)] for one in turns]
            processor, memory, wall = (statistics.median(values) for values in zip(*cost, strict=True))
            count = turns[0]["operations"]
            lines.append(f"| {name} | {workers} | {memory / count:.0f} | {processor / count * 1e9:.0f} | {wall:.2f} |")
    print("\n".join(lines))
    if not options.only_print:
        body = (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n".join(lines)
        write_section(TITLE, f"{body}\n\nMedians of {options.rounds} rounds; {options.operations:,} operations.")


if __name__ == "__main__":
    main()
