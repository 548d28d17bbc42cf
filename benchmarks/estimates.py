"""What larger traces will take on more nodes, from rates measured here: ``python benchmarks/estimates.py``.

The bare walk gives what an event costs in processor time, ``iostrata info`` what the definitions of a location (with
eight handles) cost, and ``iostrata layers TRACE --memory 1G --workers 1`` on archives of `generate.py` with most of
either operations or files what an operation and the files of a location cost beyond that. The rest is arithmetic:
definitions are read in one place, then work is divided by cores, but takes no less than what the file system takes to
deliver the bytes; summaries are merged in a tree. The assumptions stand below the table.
"""

import argparse
import statistics
import sysconfig
import tempfile
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from generate import SHAPES, Shape
from processes import run
from reading import archive_of, contender, read_all_files
from results import write_section

TITLE = "Estimates for larger traces"
EVENTS_PER_LOCATION = 1_000_000
SHARE_OF_IO = 0.05
"""Of all events; each operation is two."""
CORES = 32
NODE_BANDWIDTH = 2e9
SYSTEM_BANDWIDTH = 50e9
OPEN_SECONDS = 0.5e-3
"""Of a file on a parallel file system, on each core; here, on a warm local disk, it is a part of the measured cost."""
PARTITION_WORK = 1 << 22
SUMMARY_BYTES = 20e6
WORKER_MEMORY = 1.0


@dataclass(frozen=True)
class Rates:
    """Processor seconds of the program's start, a location's definitions, an event, an operation, a location."""

    start: float
    definitions: float
    event: float
    operation: float
    location: float


LAYERS = ("layers", "--memory", "1G", "--workers", "1", "--json")


def seconds_of(archive: Path, folder: str, rounds: int, arguments: tuple[str, ...] = LAYERS) -> float:
    """Return the processor seconds of a command on an archive, the median of some runs."""
    program = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    command = [program, arguments[0], str(archive), *arguments[1:]]
    read_all_files(archive)
    return statistics.median(run(command, folder).processor_seconds for _ in range(rounds))


def measured(folder: Path, rounds: int) -> Rates:
    """Measure on three archives and a very small one, and solve for the rates."""
    mixed, many = SHAPES["mixed"], SHAPES["many"]
    walks = [contender("direct", archive_of(folder, "mixed", mixed))() for _ in range(rounds)]
    event = statistics.median(seconds / events for events, seconds in walks)
    rows, rest = [], []
    with tempfile.TemporaryDirectory() as place:
        small = archive_of(folder, "io", Shape(1, 1000, 1000, 1))
        start = seconds_of(small, place, rounds)
        info = [seconds_of(one, place, rounds, ("info",)) for one in (small, archive_of(folder, "many", many))]
        definitions = (info[1] - info[0]) / many.locations
        for name, shape in (("io", SHAPES["io"]), ("many", many)):
            seconds = seconds_of(archive_of(folder, name, shape), place, rounds) - start
            events = shape.locations * shape.events
            rows.append([events * shape.per_mille_io / 2000, shape.locations])
            rest.append(seconds - events * event - shape.locations * definitions)
    operation, location = np.linalg.solve(np.array(rows, float), np.array(rest)).tolist()
    return Rates(start, definitions, event, max(operation, 0.0), max(location, 0.0))


def row(rates: Rates, events: float, nodes: int, bytes_per_event: float) -> str:
    """Return a row of the table."""
    locations = max(1, events / EVENTS_PER_LOCATION)
    operations = events * SHARE_OF_IO / 2
    cores = min(nodes * CORES, max(1, locations))
    opens = 2 * locations
    compute = (events * rates.event + operations * rates.operation + locations * rates.location) / cores
    opening = opens * OPEN_SECONDS / cores
    delivery = events * bytes_per_event / min(nodes * NODE_BANDWIDTH, SYSTEM_BANDWIDTH)
    partitions = max(8 * cores, (events + 1024 * locations) / PARTITION_WORK)
    merging = np.log(max(partitions, 2)) / np.log(8) * SUMMARY_BYTES / 1e9
    total = rates.start + locations * rates.definitions + max(compute + opening, delivery) + merging
    limit = "delivery" if delivery > compute + opening else "computing"
    return (
        f"| 10^{np.log10(events):.0f} | {nodes} | {_time(total)} | {limit} | {_time(compute)} | {_time(delivery)} "
        f"| {opens:,.0f} | {opens / nodes:,.0f} | {WORKER_MEMORY * min(cores, nodes * CORES) / nodes:.0f} GB |"
    )


def _time(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 9.5 else f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def main() -> None:
    """Read the command line, measure, compute, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archives are written")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    rates = measured(options.folder, options.rounds)
    shape = SHAPES["mixed"]
    archive = archive_of(options.folder, "mixed", shape)
    size = sum(path.stat().st_size for path in (archive / "traces").glob("*.evt"))
    per_event = size / (shape.locations * shape.events)
    lines = [
        "| events | nodes | time (estimate) | limited by | computing | delivery | files opened | a node | memory |",
        "|---|---|---|---|---|---|---|---|---|",
        *(row(rates, events, nodes, per_event) for events in (1e9, 1e10, 1e11) for nodes in (1, 10, 100)),
    ]
    notes = (
        f"Measured: {rates.event * 1e9:.2g} ns an event, {rates.operation * 1e9:.3g} ns an operation, "
        f"{rates.location * 1e6:.3g} µs a location and {rates.definitions * 1e6:.3g} µs its definitions, "
        f"{rates.start:.2g} s for the start of the program; {per_event:.1f} bytes an event. "
        f"Assumed: {EVENTS_PER_LOCATION:,} events a location, {SHARE_OF_IO:.0%} of them of I/O; {CORES} cores a node, "
        f"a worker thread and {WORKER_MEMORY:.0f} GB (`--memory`) each; {NODE_BANDWIDTH / 1e9:.0f} GB/s into a node, "
        f"{SYSTEM_BANDWIDTH / 1e9:.0f} GB/s out of the file system; {OPEN_SECONDS * 1e3:.1f} ms to open a file. "
        "A process is never split over two workers. The start of the "
        "cluster is not in it."
    )
    body = (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n".join(lines) + "\n\n" + notes
    print("\n".join(lines), notes, sep="\n\n")
    if not options.only_print:
        write_section(TITLE, body)


if __name__ == "__main__":
    main()
