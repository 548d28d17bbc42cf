"""Run a command as a user would and tell how long it took and how much memory it held."""

import os
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One run of a command: wall time in s, largest resident set in MB (1 MB = 10⁶ bytes), time of processors in s."""

    seconds: float
    peak_mb: float
    processor_seconds: float = 0.0


# A process counts the memory of the one that it was forked from as its own; so a small one starts the command.
_STARTER = """
import os, sys, time
nothing = os.open(os.devnull, os.O_RDWR)
files = [(os.POSIX_SPAWN_DUP2, nothing, 1), (os.POSIX_SPAWN_DUP2, nothing, 2)]
start = time.perf_counter()
process = os.posix_spawnp(sys.argv[1], sys.argv[1:], os.environ, file_actions=files)
_, status, usage = os.wait4(process, 0)
processors = usage.ru_utime + usage.ru_stime
print(time.perf_counter() - start, usage.ru_maxrss * 1024 / 1e6, processors, os.waitstatus_to_exitcode(status))
"""


def run(command: Sequence[str], folder: str) -> Run:
    """Run `command` in `folder`, where it may leave files, with its output thrown away.

    Raises
    ------
    subprocess.CalledProcessError
        If it ends with anything but 0: a failed run has no time.
    """
    starter = [sys.executable, "-I", "-S", "-c", _STARTER, *command]
    seconds, peak_mb, processors, status = subprocess.run(
        starter, capture_output=True, text=True, check=True, cwd=folder
    ).stdout.split()
    if int(status):
        raise subprocess.CalledProcessError(int(status), list(command))
    return Run(float(seconds), float(peak_mb), float(processors))


def interleaved(commands: dict[str, Sequence[str]], rounds: int, folder: str) -> dict[str, Run]:
    """Return the medians, by name, of runs of each command in `folder`, once a round, after one to warm the caches."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            result = run(command, folder)
            if number:
                runs[name].append(result)
    return {
        name: Run(statistics.median(r.seconds for r in results), statistics.median(r.peak_mb for r in results))
        for name, results in runs.items()
    }


def machine() -> str:
    """Return a line that tells what the figures were measured on."""
    model = platform.processor() or platform.machine()
    with open("/proc/cpuinfo") as cpuinfo:
        model = next((line.split(":", 1)[1].strip() for line in cpuinfo if line.startswith("model name")), model)
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return f"{model}, {os.cpu_count()} cores, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"
