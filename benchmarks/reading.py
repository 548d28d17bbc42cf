"""Rates of reading, side by side: ``python benchmarks/reading.py --folder FOLDER``.

The contenders take turns, each in a process of its own, on archives that `generate.py` writes. Before each turn all
files are read once, so that none pays for a cache that the one before left cold.
Every one hands each I/O event over as a row (columns of bounded length, where not said otherwise); rates are events of
any kind a second, times are those of the event part. The high-level reader gets a smaller archive of the same kind.
"""

import argparse
import dataclasses
import json
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from generate import SHAPES, Shape, generate
from results import write_section

HERE = Path(__file__).parent
TITLE = "Reading events"
REFERENCE = "direct"
DESCRIPTIONS = {"io": "I/O only", "mixed": "mixed, 5 % I/O", "many": "many locations"}

Measure = Callable[[], tuple[int, float]]
"""Reads an archive once; gives its events and the seconds taken."""


def archive_of(folder: Path, name: str, shape: Shape) -> Path:
    """Return the folder of an archive of `shape`, written where it is not there yet."""
    target = folder / f"{name}-{shape.locations}x{shape.events}"
    if not (target / "traces.otf2").exists():
        generate(target, shape)
    return target


def smaller(shape: Shape) -> Shape:
    """Return a shape of at most 256 locations and about 250,000 events."""
    locations = min(shape.locations, 256)
    return dataclasses.replace(shape, locations=locations, events=min(shape.events, 250_000 // locations))


def contender(name: str, archive: Path, workers: int = 1) -> Measure:
    """Return a measurement by `readers/contenders.py`."""
    command = [sys.executable, str(HERE / "readers" / "contenders.py"), name, str(archive), "--workers", str(workers)]

    def measure() -> tuple[int, float]:
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        result = json.loads(done.stdout)
        return result["events"], result["seconds"]

    return measure


def plain_program(folder: Path) -> Path | None:
    """Compile the plain C program; None where there is no compiler or no libotf2 to build against."""
    program = folder / "plain_reader"
    command = ["cc", "-O2", str(HERE / "readers" / "plain_reader.c"), "-o", str(program), "-lotf2"]
    if shutil.which("cc") is None or subprocess.run(command, capture_output=True, check=False).returncode:
        return None
    return program


def contenders_for(archive: Path, small: Path, program: Path | None) -> dict[str, Measure]:
    """Return the measurements on `archive` by name; the high-level reader's on `small`."""
    anchor = str(archive / "traces.otf2")
    found = {
        REFERENCE: contender("direct", archive),
        "direct, 2 threads": contender("direct", archive, 2),
        "direct, matched, into full columns": contender("columns", archive),
        "library, compiled callbacks": contender("callbacks", archive),
    }
    if program is not None:

        def plain() -> tuple[int, float]:
            done = subprocess.run([str(program), anchor], capture_output=True, text=True, check=True)
            result = json.loads(done.stdout)
            return result["events"], result["seconds"]

        found["plain C program"] = plain
    if shutil.which("otf2-print") is not None:
        events, _ = found[REFERENCE]()

        def print_silently() -> tuple[int, float]:
            start = time.perf_counter()
            subprocess.run(["otf2-print", "--silent", anchor], capture_output=True, check=True)
            return events, time.perf_counter() - start

        found["otf2-print --silent (whole run)"] = print_silently
    found["high-level reader (smaller archive)"] = contender("high-level", small)
    return found


def read_all_files(archive: Path) -> None:
    """Read every file of an archive, which warms the caches of pages and of file names."""
    for path in archive.rglob("*"):
        if path.is_file():
            with path.open("rb", buffering=0) as file:
                while file.read(1 << 20):
                    pass


def measure(contenders: dict[str, Measure], archive: Path, rounds: int) -> dict[str, list[float]]:
    """Let the contenders take turns; return the rates of each in events a second, after one turn that warms up."""
    rates: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(rounds + 1):
        for name, read in contenders.items():
            read_all_files(archive)
            events, seconds = read()
            if turn:
                rates[name].append(events / seconds)
    return rates


def table(title: str, rates: dict[str, list[float]]) -> str:
    """Lay out the medians, and how many times as fast the direct engine was in the same round."""
    lines = [f"**{title}**", "", "| contender | million events/s | direct is faster by |", "|---|---|---|"]
    for name, values in rates.items():
        ratio = statistics.median(mine / theirs for mine, theirs in zip(rates[REFERENCE], values, strict=True))
        lines.append(f"| {name} | {statistics.median(values) / 1e6:.3g} | {ratio:.3g} × |")
    return "\n".join(lines)


def main() -> None:
    """Read the command line, measure, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archives are written")
    parser.add_argument("--kind", choices=sorted(SHAPES), action="append", help="may be given again; default: all")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--scale", type=float, default=1.0, help="multiplies the number of events of each location")
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    program = plain_program(options.folder)
    tables = []
    for kind in options.kind or DESCRIPTIONS:
        shape = dataclasses.replace(SHAPES[kind], events=int(SHAPES[kind].events * options.scale))
        archive = archive_of(options.folder, kind, shape)
        small = archive_of(options.folder, kind, smaller(shape))
        rates = measure(contenders_for(archive, small, program), archive, options.rounds)
        title = f"{DESCRIPTIONS[kind]}: {shape.locations} locations, {shape.locations * shape.events:,} events"
        tables.append(table(title, rates))
        print(tables[-1], end="\n\n", flush=True)
    if not options.only_print:
        write_section(TITLE, (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n\n".join(tables))


if __name__ == "__main__":
    main()
