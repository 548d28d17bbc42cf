"""Two worker processes of a Dask cluster beside two threads: ``python benchmarks/cluster.py --folder FOLDER``.

Both read the same archive in bounded memory on two processors: two threads of this process, and the workers of a
`distributed.LocalCluster` with a thread each. Before anything is measured the cluster is started, and both have read
the archive once, so that kernels are loaded; then they take turns. What is told is the time from the call to the
answer, and the processor time of this process, which has the scheduler, and of the workers.
"""

import argparse
import dataclasses
import statistics
import time
from pathlib import Path
from typing import Final

from distributed import Client, LocalCluster
from generate import SHAPES
from iostrata.layers.opening import Purpose, open_trace
from reading import archive_of, read_all_files
from results import write_section

TITLE: Final = "Two worker processes of a Dask cluster beside two threads"
MEMORY: Final = 1_000_000_000
MOST: Final = 1.15
QUESTIONS: Final = {"layers": False, "compare": True}
"""Commands, and whether they ask what the layers are to each other."""


@dataclasses.dataclass(frozen=True)
class Turn:
    """Wall time and processor time of all processes in s."""

    seconds: float
    processors: float


def turn(archive: Path, relations: bool, everyone: Client, client: Client | None) -> Turn:
    """Read the archive once, with a client on its workers."""
    read_all_files(archive)
    before = time.process_time() + sum(everyone.run(time.process_time).values())
    start = time.perf_counter()
    trace = open_trace(archive, memory=MEMORY, workers=2, client=client, purpose=Purpose(relations=relations))
    for layer in trace.layers.values():
        for direction in layer.directions:
            layer.statistics(direction)
    if relations:
        assert trace.flows
    seconds = time.perf_counter() - start
    return Turn(seconds, time.process_time() + sum(everyone.run(time.process_time).values()) - before)


def section(turns: dict[str, dict[str, list[Turn]]], archive: str) -> str:
    """Return the table, with medians."""
    lines = [
        "| command | two threads in s | two workers in s | ratio | processor time: threads | workers | ratio |",
        "|---|---|---|---|---|---|---|",
    ]
    for question, both in turns.items():
        threads, workers = both["threads"], both["workers"]
        cells = [question]
        for what in ("seconds", "processors"):
            pairs = [(getattr(one, what), getattr(other, what)) for one, other in zip(threads, workers, strict=True)]
            numbers = [statistics.median(column) for column in zip(*pairs, strict=True)]
            ratio = statistics.median(other / one for one, other in pairs)
            cells += [f"{number:.2f}" for number in (*numbers, ratio)]
        lines.append(f"| {' | '.join(cells)} |")
    rounds = len(turns["layers"]["threads"])
    lines += ["", f"{archive}; medians of {rounds} rounds, of the ratios too; at most {MOST} is wanted."]
    return "\n".join(lines)


def main() -> None:
    """Read the command line, measure, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archive is written")
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    layered = SHAPES["layered"]
    shape = dataclasses.replace(layered, events=options.events // layered.locations)
    archive = archive_of(options.folder, "layered", shape)
    turns: dict[str, dict[str, list[Turn]]] = {name: {"threads": [], "workers": []} for name in QUESTIONS}
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        for number in range(options.rounds + 1):
            for question, relations in QUESTIONS.items():
                for way, asked in (("threads", None), ("workers", client)):
                    done = turn(archive, relations, client, asked)
                    print(number, question, way, done, flush=True)
                    if number:
                        turns[question][way].append(done)
    body = section(turns, f"{shape.locations * shape.events:,} events of {shape.locations:,} processes, all of I/O")
    print(body)
    if not options.only_print:
        write_section(TITLE, (__doc__ or "").split("\n\n", 1)[1] + "\n" + body)


if __name__ == "__main__":
    main()
