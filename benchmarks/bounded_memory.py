"""The whole job in bounded memory, beside the bare walk: ``python benchmarks/bounded_memory.py --folder FOLDER``.

The job is ``iostrata convert TRACE OUT.h5 --memory 500M``: every operation matched and summed into bins, statistics and
handles, periods looked for, the file written. The bare walk is the direct engine alone, with rows that are counted and
forgotten, in one thread. Start-up is the same job on an archive of the same shape with 1000 events a location. All take
turns; all files are read once before each turn.
"""

import argparse
import dataclasses
import statistics
import sysconfig
import tempfile
from pathlib import Path

from generate import SHAPES
from processes import Run, run
from reading import archive_of, contender, read_all_files
from results import write_section

TITLE = "Bounded memory"
MEMORY = "500M"
SMALLEST = 1000


def job(archive: Path, folder: str) -> Run:
    """Convert an archive as a user would."""
    program = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    return run([program, "convert", str(archive), str(Path(folder) / "out.h5"), "--memory", MEMORY], folder)


def main() -> None:
    """Read the command line, measure, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archives are written")
    parser.add_argument("--events", type=int, default=200_000_000, help="of the large archive; the other has a tenth")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shape = SHAPES["mixed"]
    archives = {
        events: archive_of(options.folder, "mixed", dataclasses.replace(shape, events=events // shape.locations))
        for events in (SMALLEST * shape.locations, options.events // 10, options.events)
    }
    jobs: dict[int, list[Run]] = {events: [] for events in archives}
    walks: dict[int, list[float]] = {events: [] for events in archives}
    with tempfile.TemporaryDirectory() as folder:
        for turn in range(options.rounds + 1):
            for events, archive in archives.items():
                read_all_files(archive)
                done = job(archive, folder)
                walked = contender("direct", archive)()[1]
                if turn:
                    jobs[events].append(done)
                    walks[events].append(walked)
    start_up = [one.seconds for one in jobs[SMALLEST * shape.locations]]
    lines = [
        "| events | of I/O | bare walk in s | whole job in s | start-up in s | (job − start-up) ÷ walk | peak in MB |",
        "|---|---|---|---|---|---|---|",
    ]
    for events in list(archives)[1:]:
        ratio = statistics.median(
            (one.seconds - start) / walk for one, start, walk in zip(jobs[events], start_up, walks[events], strict=True)
        )
        lines.append(
            f"| {events:,} | {events * shape.per_mille_io // 1000:,} | {statistics.median(walks[events]):.2f} "
            f"| {statistics.median(one.seconds for one in jobs[events]):.2f} | {statistics.median(start_up):.2f} "
            f"| {ratio:.2f} | {max(one.peak_mb for one in jobs[events]):.0f} |"
        )
    body = (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n".join(lines)
    body += f"\n\nMedians of {options.rounds} rounds, largest peaks; `--memory {MEMORY}`, {shape.locations} locations."
    print("\n".join(lines))
    if not options.only_print:
        write_section(TITLE, body)


if __name__ == "__main__":
    main()
