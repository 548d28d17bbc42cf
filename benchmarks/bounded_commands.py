"""Commands in bounded memory on a trace and a tenth of it: ``python benchmarks/bounded_commands.py --folder FOLDER``.

The archive has two layers and collective calls in 4,096 processes. A peak that does not follow the trace is the point:
the tenth takes much the same. Each command runs once on the tenth before, which compiles what it needs.
"""

import argparse
import dataclasses
import sysconfig
import tempfile
from pathlib import Path

from generate import SHAPES
from processes import run
from reading import archive_of, read_all_files
from results import write_section

TITLE = "Commands in bounded memory (`python benchmarks/bounded_commands.py`)"
MEMORY = "1G"
COMMANDS = {
    "`compare`": ("compare", "{trace}"),
    "`report`": ("report", "{trace}", "-o", "out.html"),
    "`convert` to HDF5": ("convert", "{trace}", "out.h5"),
    "`convert` to Parquet": ("convert", "{trace}", "out.parquet"),
}


def main() -> None:
    """Read the command line, measure, and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", type=Path, default=Path("build/traces"), help="where the archives are written")
    parser.add_argument(
        "--operations", type=int, default=30_000_000, help="of the large archive; the other has a tenth"
    )
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    options.folder.mkdir(parents=True, exist_ok=True)
    shape = SHAPES["layered"]
    events = 2 * options.operations // shape.locations
    small, large = (
        archive_of(options.folder, "layered", dataclasses.replace(shape, events=count)).resolve()
        for count in (events // 10, events)
    )
    program = str(Path(sysconfig.get_path("scripts")) / "iostrata")
    lines = [
        "| command | the tenth: s | of processors | MB | the whole: s | of processors | MB | time × | peak × |",
        "|---|---|---|---|---|---|---|---|---|",
    ]
    for name, arguments in COMMANDS.items():
        runs = []
        for archive in (small, small, large):
            read_all_files(archive)
            words = [word.format(trace=archive) for word in arguments]
            with tempfile.TemporaryDirectory() as folder:
                runs.append(run([program, *words, "--memory", MEMORY], folder))
        _, less, more = runs
        lines.append(
            f"| {name} | {less.seconds:.1f} | {less.processor_seconds:.1f} | {less.peak_mb:.0f} "
            f"| {more.seconds:.1f} | {more.processor_seconds:.1f} | {more.peak_mb:.0f} "
            f"| {more.seconds / less.seconds:.1f} | {more.peak_mb / less.peak_mb:.2f} |"
        )
        print(lines[-1])
    body = (__doc__ or "").split("\n\n", 1)[1] + "\n" + "\n".join(lines)
    body += f"\n\nOne run each; `--memory {MEMORY}`, {options.operations:,} operations in {shape.locations} processes."
    if not options.only_print:
        write_section(TITLE, body)


if __name__ == "__main__":
    main()
