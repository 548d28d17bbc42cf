"""The JSON of commands, however a trace is read: ``python benchmarks/documents.py ARCHIVES…``.

Each archive is read in full and in bounded memory, each of them on one thread, on two, from 1, 2 and 7 partitions whose
processes are dealt out in turn, and by two worker processes of a Dask cluster. All documents of a command must be the
same to the last digit; between full and bounded all but what comes of binned signals.
"""

import argparse
import contextlib
import io
import json
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from iostrata.cli import main as run
from iostrata.inputs.source import RowSource
from iostrata.model.stream.source import Partition
from iostrata.otf2io.source import Otf2Source
from results import write_section

TITLE = "The same documents however a trace is read"
COMMANDS = (
    ("layers",),
    ("handles",),
    ("periods",),
    ("compare",),
    ("layers", "--window", "0.1:0.35"),
    ("handles", "--window", "0.1:0.35"),
    ("layers", "--files", "all", "--traffic", "own"),
    *(("layers", "--by", key) for key in ("file", "filesystem", "rank", "node", "handle", "function")),
)
MEMORY = ("--memory", "1500M")
BINNED = re.compile(
    r"resolution|(upper_|lower_)?(period_s|period_interval_s|confidence|modulation)$|period$|overview$|verdict$|"
    r"coherence$|lag_s$|contained_s$"
)
"""Keys of what comes of signals, which are exact or binned."""


@contextmanager
def dealt_out(number: int) -> Iterator[None]:
    """Cut every trace into `number` partitions meanwhile, with its processes dealt out in turn."""
    before: dict[Any, Callable[..., tuple[Partition, ...]]] = {}
    for kind in (Otf2Source, RowSource):
        before[kind] = kind.partitions

        def partitions(
            self: Any, memory: int | None = None, workers: int | None = None, kind: Any = kind
        ) -> tuple[Partition, ...]:
            most = before[kind](self, memory, workers)
            single = before[kind](self, memory, max(1, len(self.definitions.groups.id)))
            parts = [single[first::number] for first in range(min(number, len(single)))]
            return tuple(
                Partition(
                    place,
                    tuple(row for one in part for row in one.locations),
                    sum(one.work for one in part),
                    most[0].most_operations,
                )
                for place, part in enumerate(parts)
            )

        kind.partitions = partitions  # type: ignore[method-assign,assignment]
    try:
        yield
    finally:
        for kind, method in before.items():
            kind.partitions = method


def document(command: tuple[str, ...], archive: Path, *more: str) -> str:
    """Return what a command prints, or with which words it refuses."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*command, str(archive), "--json", *more])
    return out.getvalue() if code == 0 else err.getvalue()


def without_bins(value: Any) -> Any:
    """Return a document without what comes of signals."""
    if isinstance(value, dict):
        return {key: without_bins(one) for key, one in value.items() if not BINNED.match(key)}
    return [without_bins(one) for one in value] if isinstance(value, list) else value


def compared(archive: Path, address: str) -> tuple[int, list[str]]:
    """Return how many documents were compared, and which differ."""
    count, wrong = 0, []
    for command in COMMANDS:
        told = {}
        for kind, bound in (("full", ()), ("bounded", MEMORY)):
            ways = {"two threads": ("--workers", "2"), "Dask": ("--dask", address)}
            told[kind] = document(command, archive, *bound, "--workers", "1")
            found = {name: document(command, archive, *bound, *more) for name, more in ways.items()}
            for number in (1, 2, 7):
                with dealt_out(number):
                    found[f"{number} partitions"] = document(command, archive, *bound)
            count += len(found)
            wrong += [f"{' '.join(command)}, {kind}, {name}" for name, text in found.items() if text != told[kind]]
        if command[0] == "periods" or not told["full"].startswith("{"):
            continue
        count += 1
        full, bounded = (without_bins(json.loads(told[kind])) for kind in ("full", "bounded"))
        if command[0] == "compare":
            # Findings name periods and times of signals in their words.
            full, bounded = (
                {**one, "findings": [finding["id"] for finding in one["findings"]]} for one in (full, bounded)
            )
        if full != bounded:
            wrong.append(f"{' '.join(command)}, full and bounded")
    return count, wrong


def main() -> None:
    """Read the command line, compare, and write the section."""
    from distributed import LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    total, wrong = 0, []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        for archive in options.archives:
            count, differing = compared(archive, cluster.scheduler_address)
            total += count
            wrong += [f"{archive.name}: {one}" for one in differing]
            print(archive.name, count, *differing, sep="\n  ", flush=True)
    if not options.only_print:
        told = "".join(f"- {one}\n" for one in wrong) or "None differs.\n"
        text = (__doc__ or "").split("\n\n", 1)[1]
        write_section(TITLE, f"{text}\n{total:,} documents of {len(options.archives)} archives compared.\n\n{told}")
    sys.exit(bool(wrong))


if __name__ == "__main__":
    main()
