"""Run a command as a user would and tell how long it took and how much memory it held."""

import os
import platform
import statistics
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Run:
    """One run of a command: wall time in seconds and the largest resident set in MB (1 MB = 10⁶ bytes)."""

    seconds: float
    peak_mb: float


def run(command: Sequence[str]) -> Run:
    """Run `command` with its output thrown away.

    Raises
    ------
    subprocess.CalledProcessError
        If it ends with anything but 0: a failed run has no time.
    """
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, list(command))
    return Run(seconds, usage.ru_maxrss * 1024 / 1e6)


def interleaved(commands: dict[str, Sequence[str]], rounds: int) -> dict[str, Run]:
    """Run every command once per round, after one round to warm the caches, and return the medians by name."""
    runs: dict[str, list[Run]] = {name: [] for name in commands}
    for number in range(rounds + 1):
        for name, command in commands.items():
            result = run(command)
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
