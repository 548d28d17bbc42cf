"""The accuracy study: every class of inputs, our method beside FTIO on the same inputs, judged by the truth.

    python benchmarks/accuracy/study.py                              # 200 seeds a class, to docs/accuracy.md
    python benchmarks/accuracy/study.py --seeds 30 --classes null period/drift --no-peer   # a part, to build/accuracy
    python benchmarks/accuracy/study.py --classes recordings         # nothing but real recordings and times
    python benchmarks/accuracy/study.py --again                      # the document anew, from the last run's results
    python benchmarks/accuracy/study.py --list                       # names of the classes

Ours runs with default arguments. A full run writes docs/accuracy.md and docs/figures/; a part of it, or one with fewer
seeds, writes the same into build/accuracy. Every judged answer is a line of build/accuracy/results.jsonl.
"""

import argparse
import contextlib
import json
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from ftio_peer import Peer, prepare
from inputs.catalogue import FIRST_SEED, catalogue, chosen
from inputs.verdict_pairs import BASES, pairs
from judging import judge, verdict_changed
from methods import Method, ftio, ours, ours_at_one_hertz
from recordings.judged import SHARED, judged_recordings
from tables.document import write_document
from timing import measured_times

DOCS = Path(__file__).resolve().parents[2] / "docs"
FULL = 200
#: Of each of the 35 points of the sweep.
MOST_TRACES = 100
Row = dict[str, Any]


@dataclass(frozen=True)
class Settings:
    """What a worker needs: name of our method, FTIO's environment or None and of how many inputs, the first seed."""

    method: str
    environment: Path | None
    first_seed: int
    peer_seeds: int = FULL


_methods: dict[str, Method] = {}
_settings = Settings("auto", None, FIRST_SEED)


def _begin(settings: Settings) -> None:
    """Make the methods of a worker and compile ours."""
    global _settings
    _settings = settings
    _methods[settings.method] = ours(settings.method)
    catalogue_input = catalogue()["period/plain"].input(0)
    _methods[settings.method](catalogue_input)
    if settings.environment is not None:
        _methods["FTIO 0.0.9"] = ftio(Peer(settings.environment))


def _judge_one(task: tuple[str, int]) -> list[Row]:
    """Judge all methods on one input."""
    name, number = task
    if name == "pairs":
        return _judge_pairs(number)
    one = catalogue()[name]
    given = one.input(_settings.first_seed + number)
    methods = dict(_methods)
    if number >= _settings.peer_seeds:
        methods.pop("FTIO 0.0.9", None)
    if one.family == "sweep":
        methods[f"{_settings.method}, 1 Hz samples"] = ours_at_one_hertz(_settings.method)
        methods["ftio method"] = ours("ftio")
    rows = []
    for method, ask in methods.items():
        answer = ask(given)
        if answer is not None:
            about = {"class": name, "family": one.family, "number": number, "method": method}
            rows.append(about | judge(answer, given, one.family))
    return rows


def _judge_pairs(number: int) -> list[Row]:
    rows = []
    rng = np.random.default_rng([_settings.first_seed, number, 72])
    before: dict[tuple[str, str], Any] = {}
    for base, change, given, changed in pairs(rng):
        for method, ask in _methods.items():
            if (base, method) not in before:
                before[base, method] = ask(given)
            first, second = before[base, method], ask(changed)
            if first is not None and second is not None:
                about = {"class": f"pairs/{change}", "family": "pairs", "number": number, "method": method}
                rows.append(about | {"base": base, "changed": verdict_changed(first, second)})
    return rows


def tasks(patterns: list[str], seeds: int) -> list[tuple[str, int]]:
    """Return every class with the numbers of its inputs; pairs are 12 bases a number."""
    named = [pattern for pattern in patterns if pattern not in ("pairs", "recordings")]
    classes = chosen(named) if named or not patterns else []
    found = [
        (one.name, number)
        for one in classes
        for number in range(min(seeds, MOST_TRACES) if one.family == "sweep" else seeds)
    ]
    if not patterns or "pairs" in patterns:
        found += [("pairs", number) for number in range(-(-seeds // len(BASES)))]
    return found


def judged(work: list[tuple[str, int]], settings: Settings, processes: int) -> Iterator[Row]:
    """Yield the rows of all tasks, in their order whatever the number of processes."""
    begin, said = time.monotonic(), 0.0
    with contextlib.ExitStack() as stack:
        if processes > 1:
            pool = stack.enter_context(multiprocessing.Pool(processes, _begin, (settings,)))
            answers: Iterator[list[Row]] = pool.imap(_judge_one, work, chunksize=4)
        else:
            _begin(settings)
            answers = map(_judge_one, work)
        for number, rows in enumerate(answers, 1):
            yield from rows
            if time.monotonic() - said > 30:
                said = time.monotonic()
                print(f"{number} of {len(work)} inputs, {said - begin:.0f} s", file=sys.stderr, flush=True)


def _run(arguments: argparse.Namespace, results: Path, others: Path) -> None:
    """Judge everything that is asked for and write it into two files."""
    environment = None if arguments.no_peer else arguments.ftio_environment
    if environment is not None:
        prepare(environment)
    settings = Settings(arguments.method, environment, arguments.first_seed, arguments.peer_seeds)
    work = tasks(arguments.classes, arguments.seeds)
    with results.open("w") as file:
        for row in judged(work, settings, arguments.processes) if work else ():
            file.write(json.dumps(row, default=float) + "\n")
    further: dict[str, Any] = {"recordings": [], "times": {}}
    if not arguments.no_recordings and (not arguments.classes or "recordings" in arguments.classes):
        further["recordings"] = list(judged_recordings(arguments.method, arguments.recordings))
        further["times"] = measured_times(arguments.method)
    others.write_text(json.dumps(further, default=float))


def main() -> None:
    """Run the study and write the report."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=FULL, help="inputs a class")
    parser.add_argument("--peer-seeds", type=int, default=FULL, help="inputs a class that FTIO is asked about as well")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--method", default="auto", help="which of our methods")
    parser.add_argument("--classes", nargs="*", default=[], help="beginnings or patterns of names, pairs, recordings")
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--no-peer", action="store_true", help="leave FTIO itself out")
    parser.add_argument("--no-recordings", action="store_true", help="leave real recordings and times out")
    parser.add_argument("--recordings", type=Path, default=SHARED, help="folder of real recordings")
    parser.add_argument("--again", action="store_true", help="write the document from the results of the last run")
    parser.add_argument("--ftio-environment", type=Path, default=Path("build/ftio"))
    parser.add_argument("--build", type=Path, default=Path("build/accuracy"))
    parser.add_argument("--list", action="store_true", help="print the names of the classes and end")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join([*catalogue(), "pairs"]))
        return
    arguments.build.mkdir(parents=True, exist_ok=True)
    results, others = arguments.build / "results.jsonl", arguments.build / "recordings.json"
    if not arguments.again:
        _run(arguments, results, others)
    rows: list[Row] = [json.loads(line) for line in results.read_text().splitlines()]
    further = json.loads(others.read_text())
    full = not arguments.classes and arguments.seeds >= FULL and not arguments.no_peer and arguments.method == "auto"
    target = DOCS if full else arguments.build
    write_document(
        rows,
        further["recordings"],
        further["times"],
        target,
        arguments.method,
        (arguments.seeds, min(arguments.seeds, arguments.peer_seeds)),
        arguments.first_seed,
    )
    print(f"wrote {target / 'accuracy.md'}")


if __name__ == "__main__":
    main()
