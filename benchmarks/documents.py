"""The JSON of commands, however a trace is read: ``python benchmarks/documents.py ARCHIVES…``.

Each archive is read in full and in bounded memory, each of them on one thread, on two, from 1, 2 and 7 partitions whose
processes are dealt out in turn, and by two worker processes of a Dask cluster. All documents of a command must be the
same to the last digit; between full and bounded all but what comes of binned signals. With ``--rotate`` each command of
an archive is read in full in one of these ways and in bounded memory in another, in turn, one of them Dask's.

Commands on several runs get the archive and the one before. Of ``collect`` the tables are compared.
"""

import argparse
import contextlib
import functools
import io
import json
import re
import sys
import tempfile
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
    ("overview",),
    ("layers",),
    ("handles",),
    ("periods",),
    ("compare",),
    ("layers", "--window", "0.1:0.35"),
    ("handles", "--window", "0.1:0.35"),
    ("layers", "--files", "all", "--traffic", "own"),
    *(
        ("layers", "--by", key)
        for key in ("file", "filesystem", "rank", "node", "handle", "function", "caller", "callpath")
    ),
    *(("periods", "--by", key, "--parts", "4") for key in ("file", "rank")),
)
OF_RUNS = (("collect",), ("diff",), ("assess",), ("signature",))
"""They take several archives, and have no ``--memory`` or choose by it how each is read."""
MEMORY = ("--memory", "1500M")
BINNED = re.compile(
    r"resolution|signals$|(upper_|lower_)?(period_s|period_interval_s|confidence|modulation)$|period$|overview$|verdict$|"
    r"coherence$|lag_s$|contained_s$|verdict_reason$|stretches$"
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


def document(command: tuple[str, ...], archives: tuple[Path, ...], *more: str) -> str:
    """Return what a command prints, or with which words it refuses."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        code = run([*command, *map(str, archives), "--json", *more])
    return out.getvalue() if code == 0 else err.getvalue()


def tables(command: tuple[str, ...], archives: tuple[Path, ...], *more: str) -> str:
    """Return the rows of the tables that ``collect`` writes."""
    from pyarrow import parquet

    with tempfile.TemporaryDirectory() as folder:
        told = document((*command, "-o", folder), archives, *more)
        # The order of the rows is that in which processes are done.
        rows = {
            path.name: sorted(map(str, parquet.read_table(path).to_pylist()))
            for path in sorted(Path(folder).glob("*.parquet"))
        }
        return f"{told.replace(folder, '')}\n{rows}"


def without_bins(value: Any) -> Any:
    """Return a document without what comes of signals."""
    if isinstance(value, dict):
        return {key: without_bins(one) for key, one in value.items() if not BINNED.match(key)}
    return [without_bins(one) for one in value] if isinstance(value, list) else value


def ways_of(address: str) -> dict[str, tuple[int | None, tuple[str, ...]]]:
    """Return ways to read a trace: number of partitions that its processes are dealt out to, and options."""
    dealt: dict[str, tuple[int | None, tuple[str, ...]]] = {
        f"{number} partitions": (number, ()) for number in (1, 2, 7)
    }
    return {"Dask": (None, ("--dask", address)), "two threads": (None, ("--workers", "2")), **dealt}


def chosen_ways(turn: int | None, address: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the ways of reading in full and in bounded memory: all, or in a turn Dask's and one more."""
    ways = ways_of(address)
    if turn is None:
        return ways, ways
    other = list(ways)[1 + turn % (len(ways) - 1)]
    pair = {"Dask": ways["Dask"]}, {other: ways[other]}
    return pair if turn // 4 % 2 else pair[::-1]


def told_in(ways: dict[str, Any], tell: Callable[..., str], *bound: str) -> dict[str, str]:
    """Return a document for each way to read."""
    told = {}
    for name, (number, more) in ways.items():
        with contextlib.nullcontext() if number is None else dealt_out(number):
            told[name] = tell(*bound, *(more or ("--workers", "1")))
    return told


def compared(archive: Path, before: Path, address: str, turn: int | None) -> tuple[int, list[str]]:
    """Return how many documents were compared, and which differ."""
    count, wrong = 0, []
    for place, command in enumerate(COMMANDS):
        known, told = functools.partial(document, command, (archive,)), {}
        ways = chosen_ways(None if turn is None else turn + place, address)
        for kind, bound, some in (("full", (), ways[0]), ("bounded", MEMORY, ways[1])):
            told[kind] = known(*bound, "--workers", "1")
            found = told_in(some, known, *bound)
            count += len(found)
            wrong += [f"{' '.join(command)}, {kind}, {name}" for name, text in found.items() if text != told[kind]]
        if command[0] in ("periods", "overview") or not told["full"].startswith("{"):
            if told["full"].startswith("{") != told["bounded"].startswith("{"):
                wrong.append(f"{' '.join(command)}, refused in bounded memory or in full only")
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
    for place, command in enumerate(OF_RUNS):
        known = functools.partial(tables if command == ("collect",) else document, command, (before, archive))
        whole = known("--workers", "1")
        ways = chosen_ways(None if turn is None else turn + place, address)
        found = told_in(ways[0] | ways[1], known)
        count += len(found)
        wrong += [f"{' '.join(command)}, {name}" for name, text in found.items() if text != whole]
    return count, wrong


def main() -> None:
    """Read the command line, compare, and write the section."""
    from distributed import LocalCluster

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("archives", nargs="+", type=Path)
    parser.add_argument("--rotate", action="store_true", help="two ways to read for each command, in turn")
    parser.add_argument("--only-print", action="store_true", help="leave RESULTS.md as it is")
    options = parser.parse_args()
    total, wrong = 0, []
    with LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50) as cluster:
        for place, archive in enumerate(options.archives):
            before, turn = options.archives[place - 1], place if options.rotate else None
            count, differing = compared(archive, before, cluster.scheduler_address, turn)
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
