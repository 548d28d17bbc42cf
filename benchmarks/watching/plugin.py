"""What the plugin for Score-P costs a program that writes and reads as IOR does, beside the same program without it.

    SCOREP=/prefix python benchmarks/watching/plugin.py [turns]     # to RESULTS.md

Runs without a plugin, with one whose functions return at once, and with ours take turns, all with tracing; of each turn
the differences to the run without are taken, and their medians are told with the middle half of them.
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
TURNS = 11
PLUGINS = ("", "nothing", "iostrata")
PHASES = 20
KINDS = {"512 B": (512, 4000), "4 KiB": (4096, 4000), "64 KiB": (65536, 500), "1 MiB": (2**20, 40)}
"""Bytes of a call, and calls of a phase in each direction."""


def built(scorep: Path, folder: Path) -> Path:
    """Build plugin and program into a folder; return the program."""
    quiet = {"check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["make", "-C", SOURCES, f"SCOREP={scorep}", f"OUT={folder}"], **quiet)
    empty = ["gcc", "-O2", "-shared", "-fPIC", f"-I{scorep / 'include'}", "-o"]
    subprocess.run([*empty, folder / "libscorep_substrate_nothing.so", HERE / "nothing.c"], **quiet)
    command = [scorep / "bin" / "scorep", "--nocompiler", "--mpp=none", "--io=runtime:posix"]
    path = f"{scorep / 'bin'}:{os.environ['PATH']}"
    compiled = ["gcc", "-O2", "-o", "writer", HERE / "writer.c"]
    subprocess.run([*command, *compiled], cwd=folder, env={**os.environ, "PATH": path}, **quiet)
    return folder / "writer"


def per_call(program: Path, folder: Path, kind: str, plugin: str) -> float:
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
        **({"SCOREP_SUBSTRATE_PLUGINS": plugin, "IOSTRATA_LIVE": str(live)} if plugin else {}),
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
    turns = int(sys.argv[1]) if len(sys.argv) > 1 else TURNS
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        program = built(scorep, folder)
        for kind in KINDS:
            found = np.array([[per_call(program, folder, kind, plugin) for plugin in PLUGINS] for _ in range(turns)])
            without = float(np.median(found[:, 0]))
            told = [f"{kind}", f"{without:,.0f} ns"]
            for more in (found[:, 1:] - found[:, :1]).T:
                low, middle, high = np.quantile(more, (0.25, 0.5, 0.75))
                told += [f"{middle:+,.0f} ns ({low:+,.0f} to {high:+,.0f})", f"{middle / without:+.1%}"]
            rows.append(f"| {' | '.join(told)} |")
            print(rows[-1], flush=True)
    body = "\n".join(
        [
            f"Files of a process written call by call and read back, {PHASES} times, recorded by Score-P with tracing; "
            f"processor time of a call, medians of {turns} turns, and the middle half of their differences.",
            "",
            "| bytes a call | without a plugin | more with one that does nothing | share | more with ours | share |",
            "|---|---|---|---|---|---|",
            *rows,
        ]
    )
    write_section("What the plugin for Score-P costs", body)


if __name__ == "__main__":
    main()
