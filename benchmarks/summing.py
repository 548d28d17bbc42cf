"""A log of Darshan collected, beside what PyDarshan takes to read all of it into data frames and add them up.

``python benchmarks/summing.py FOLDER [rounds]`` reads each log of a folder in turn by ``collect``'s function, which
gives sums, periods, findings and their cost, and by pydarshan (darshan on PyPI), which gives sums. Both are warm; the
least of all rounds counts, as another program on the same processor only adds to a reading.
"""

import os
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

import darshan
from iostrata.runs.collection.read import Settings, read_run
from results import write_section

SETTINGS = Settings()
TITLE = "A log collected, beside PyDarshan (`python benchmarks/summing.py FOLDER`)"
COUNTED = {"POSIX", "MPI-IO", "STDIO", "H5F", "H5D", "PNETCDF_FILE", "PNETCDF_VAR", "DFS"}
"""Modules of which PyDarshan makes data frames of counters."""


def summed(log: Path) -> dict[str, object]:
    """Return the sums of all counters of each module, as PyDarshan's users make them."""
    report = darshan.DarshanReport(str(log), read_all=True)
    sums: dict[str, object] = {}
    for name in COUNTED.intersection(report.records):
        for part, frame in report.records[name].to_df().items():
            sums[f"{name} {part}"] = frame.sum(numeric_only=True)
    return sums


def collected(log: Path) -> object:
    """Return the rows of a log that ``collect`` writes."""
    return read_run(log, SETTINGS)


def least(ways: dict[str, Callable[[Path], object]], log: Path, rounds: int) -> dict[str, float]:
    """Return the least time of each way in ms, one after the other in each round."""
    found = dict.fromkeys(ways, float("inf"))
    for _ in range(rounds + 1):
        for name, way in ways.items():
            begin = time.process_time()
            way(log)
            found[name] = min(found[name], 1e3 * (time.process_time() - begin))
    return found


def main() -> None:
    """Write a row for each log, and the mean of all, into RESULTS.md."""
    warnings.simplefilter("ignore")
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 10
    ways = {"collect": collected, "pydarshan": summed}
    lines = ["| log | collect | pydarshan's frames and sums | ratio |", "|---|---|---|---|"]
    rows = []
    for log in sorted(Path(sys.argv[1]).glob("*.darshan")):
        times = least(ways, log, rounds)
        rows.append([times[name] for name in ways])
        lines.append(f"| {log.stem} | {rows[-1][0]:.1f} ms | {rows[-1][1]:.1f} ms | {rows[-1][1] / rows[-1][0]:.1f} |")
    ours, theirs = (sum(column) / len(rows) for column in zip(*rows, strict=True))
    lines.append(f"| mean | {ours:.1f} ms | {theirs:.1f} ms | {theirs / ours:.1f} |")
    load = ", ".join(f"{one:.0f}" for one in os.getloadavg())
    told = f"Processor time, the least of {rounds + 1} rounds in turn; the load was {load}."
    write_section(TITLE, f"{told}\n\n" + "\n".join(lines))


if __name__ == "__main__":
    main()
