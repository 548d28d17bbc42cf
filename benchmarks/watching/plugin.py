"""What the plugin for Score-P costs a program that writes and reads as IOR does, beside the same program without it.

    SCOREP=/prefix python benchmarks/watching/plugin.py [pairs]     # to RESULTS.md

Runs with and without the plugin take turns, both with tracing; of each pair the difference is taken, and the median of
the differences is told with the middle half of them.
"""

import os
import shutil
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))
from results import write_section

HERE = Path(__file__).resolve().parent
SOURCES = HERE.parents[1] / "live" / "scorep"
PAIRS = 11
PHASES = 20
KINDS = {"512 B": (512, 4000), "4 KiB": (4096, 4000), "64 KiB": (65536, 500), "1 MiB": (2**20, 40)}
"""Bytes of a call, and calls of a phase in each direction."""


def built(scorep: Path, folder: Path) -> Path:
    """Build plugin and program into a folder; return the program."""
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["make", "-C", SOURCES, f"SCOREP={scorep}", f"OUT={folder}"], **quiet)
    command = [scorep / "bin" / "scorep", "--nocompiler", "--mpp=none", "--io=runtime:posix"]
    path = f"{scorep / 'bin'}:{os.environ['PATH']}"
    compiled = ["gcc", "-O2", "-o", "writer", HERE / "writer.c"]
    subprocess.run([*command, *compiled], cwd=folder, env={**os.environ, "PATH": path}, **quiet)
    return folder / "writer"


def per_call(program: Path, folder: Path, kind: str, with_plugin: bool) -> float:
    """Return the median processor time of a call in ns."""
    length, calls = KINDS[kind]
    live = folder / "live"
    live.mkdir(exist_ok=True)
    environment = {
        **os.environ,
        "SCOREP_ENABLE_TRACING": "true",
        "SCOREP_ENABLE_PROFILING": "false",
        "SCOREP_TOTAL_MEMORY": "256M",
        "SCOREP_EXPERIMENT_DIRECTORY": str(folder / "archive"),
        "LD_LIBRARY_PATH": f"{folder}:{os.environ.get('LD_LIBRARY_PATH', '')}",
        **({"SCOREP_SUBSTRATE_PLUGINS": "iostrata", "IOSTRATA_LIVE": str(live)} if with_plugin else {}),
    }
    command = [program, folder / "data", str(PHASES), str(calls), str(length)]
    done = subprocess.run(command, env=environment, check=True, capture_output=True, text=True)
    shutil.rmtree(folder / "archive", ignore_errors=True)
    return statistics.median(map(float, done.stdout.split()))


def main() -> None:
    """Measure."""
    prefix = os.environ.get("SCOREP") or shutil.which("scorep-config")
    if prefix is None:
        raise SystemExit("no Score-P: put its prefix into SCOREP")
    scorep = Path(prefix) if "SCOREP" in os.environ else Path(prefix).parents[1]
    pairs = int(sys.argv[1]) if len(sys.argv) > 1 else PAIRS
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = built(scorep, folder)
        for kind in KINDS:
            found = np.array(
                [[per_call(program, folder, kind, plugin) for plugin in (False, True)] for _ in range(pairs)]
            )
            more = found[:, 1] - found[:, 0]
            low, middle, high = np.quantile(more, (0.25, 0.5, 0.75))
            without = float(np.median(found[:, 0]))
            spread = f"{middle:+,.0f} ns ({low:+,.0f} to {high:+,.0f})"
            rows.append(f"| {kind} | {without:,.0f} ns | {spread} | {middle / without:+.1%} |")
            print(rows[-1], flush=True)
    body = "\n".join(
        [
            f"Files of a process written call by call and read back, {PHASES} times, recorded by Score-P with tracing; "
            f"processor time of a call, medians of {pairs} pairs of runs, and the middle half of their differences.",
            "",
            "| bytes a call | without the plugin | more with it | share |",
            "|---|---|---|---|",
            *rows,
        ]
    )
    write_section("What the plugin for Score-P costs", body)


if __name__ == "__main__":
    main()
