"""Damage archives at random and read them by both engines: ``python benchmarks/damage/fuzz.py --count 20000``.

``--kind records`` breaks the rules of the format knowingly, ``--kind contradictions`` has sound records contradict
each other, ``--kind unusual`` makes what no recorder of I/O writes, ``--kind large`` archives that are large in one
respect (with ``--seconds 600``; what commands take on them is told by ``large.py``). ``--commands all`` runs each
command and export too and opens what they write with other readers.

A worker process makes each damaged archive from a number, reads it by the direct and the library engine and compares
the rows. Its memory is bounded; when it dies or takes too long, the case is reported and another worker goes on with
the next number. A case found here is repeated by ``--first NUMBER --count 1``.
"""

import argparse
import json
import os
import resource
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any, Final

from commands import ALL, CHEAP, COPIES, MOST, faults, turns
from contradictions import contradictory_archive
from large import large_archive
from mutations import damaged_archive
from structures import malformed_archive
from unusual import unusual_archive

MEMORY: Final = 3 * 2**30
"""Address space of a worker, the interpreter and the compiled code of about 1 GiB included."""

SECONDS: Final = 20.0
_FIRST_SECONDS: Final = 120.0
_SAID_EACH: Final = 100

KINDS: Final = {
    "bytes": damaged_archive,
    "records": malformed_archive,
    "contradictions": contradictory_archive,
    "large": large_archive,
    "unusual": unusual_archive,
}
"""What makes an archive of a number."""

RESIDENT: Final = {
    "bytes": 600 * 2**20,
    "records": 2 * 2**30,
    "contradictions": 600 * 2**20,
    "unusual": 600 * 2**20,
    "large": 5 * 2**29,
}
"""Most that a worker may hold. Libraries and compiled code of all commands are 480 MiB; a name of 10 MB, which only two
kinds have, is some 160 MiB of HDF5 (as wide as its longest name), 270 of Parquet, and that again for the readers."""

COMMANDS: Final[dict[str, Callable[[int], tuple[tuple[str, ...], ...]]]] = {
    "none": lambda _: (),
    "cheap": lambda _: CHEAP,
    "most": lambda _: MOST,
    "all": lambda _: ALL,
    "copies": lambda _: COPIES,
    "turns": turns,
}
"""What is run on the archive of a number."""


def compare(folder: Path, stage: Callable[[str], None]) -> str:
    """Read the archive in `folder` by both engines and say how they compare.

    Returns
    -------
    str
        A class of outcome; one that begins with "DIFFERENT" is a finding.
    """
    from iostrata.model.errors import TraceError
    from iostrata.otf2io.archive import open_archive

    sys.path.append(str(Path(__file__).parents[2]))
    from tests.otf2io.reading import read_events

    stage("definitions")
    try:
        # What is kept of another recorder's log is no matter of engines.
        archive = replace(open_archive(folder), kept=None)
    except TraceError:
        return "refused as a whole"
    results = {}
    for engine in ("direct", "library"):
        stage(engine)
        try:
            results[engine] = read_events(archive, engine, workers=1)
        except (TraceError, ValueError):
            results[engine] = None
    direct, library = results["direct"], results["library"]
    if direct is None or library is None:
        return "refused by the direct engine only" if library is not None else "refused by the library engine"
    stage("bounded memory")
    if not _same_when_streamed(archive, direct):
        return "DIFFERENT operations in bounded memory"
    stage("comparison")
    return _compare_reads(direct, library)


def _same_when_streamed(archive: Any, direct: Any) -> bool:
    """Tell whether operations matched in bounded memory, process by process, are those of one block."""
    import numpy as np
    from iostrata.model.stream.columns import CollectedOperations
    from iostrata.model.stream.source import Tally
    from iostrata.otf2io.source import Otf2Source

    source = Otf2Source(archive, "direct")
    found = []
    for memory, workers in ((None, 1), (1, 3)):
        collected, tally = CollectedOperations(archive.definitions), Tally()
        for partition in source.partitions(memory, workers):
            for block in source.read(partition):
                collected.add(block)
                tally.add(block)
        found.append((collected.operations(), tally))
    (whole, said), (parts, said_again) = found
    return all(np.array_equal(getattr(whole, field.name), getattr(parts, field.name)) for field in fields(whole)) and (
        said.unmatched,
        said.damage,
        said.io_events,
    ) == (said_again.unmatched, said_again.damage, said_again.io_events) == (
        said.unmatched,
        direct.damage,
        len(direct.events),
    )


def _compare_reads(direct: Any, library: Any) -> str:
    import numpy as np

    broken = {damage.row: damage.reason for damage in direct.damage.locations}
    broken_library = {damage.row: damage.reason for damage in library.damage.locations}
    classes = set()
    for row in range(len(direct.counts)):
        mine = np.flatnonzero(direct.events.location == row)
        theirs = np.flatnonzero(library.events.location == row)
        common = min(len(mine), len(theirs))
        same = np.ones(common, np.bool_)
        for column in fields(direct.events):
            name = column.name
            same &= getattr(direct.events, name)[mine[:common]] == getattr(library.events, name)[theirs[:common]]
        prefix = common if same.all() else int(np.argmin(same))
        reasons = f"at location row {row}: {broken.get(row)} / {broken_library.get(row)}"
        if row not in broken and "definition file" in broken_library.get(row, ""):
            # The library decodes local definitions that say nothing about events; the direct engine skips them.
            classes.add("direct skips a damaged definition")
            continue
        if row not in broken and (prefix < len(mine) or prefix < len(theirs)):
            return f"DIFFERENT rows {reasons}"
        if row not in broken and row in broken_library:
            # Such as an absurd time stamp of an event that is no I/O.
            classes.add("only the library finds damage, the rows are the same")
        if prefix < common:
            # Behind a damaged chunk the direct engine goes on, the library does not.
            if "garbage" not in broken[row] and "chunk" not in broken[row] and "header" not in broken[row]:
                return f"DIFFERENT rows {reasons}"
            classes.add("direct goes on behind damage")
        elif len(mine) < len(theirs):
            classes.add("direct stops earlier")
        elif len(mine) > len(theirs):
            classes.add("direct reads further")
    return " and ".join(sorted(classes)) or ("same rows, damaged" if broken else "same rows, sound")


def work(make: Callable[[int, Path], str], commands: Callable[[int], tuple[tuple[str, ...], ...]]) -> None:
    """Read numbers from the standard input, handle each, write what came of it."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    out = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)

    def say(**message: Any) -> None:
        out.write(json.dumps(message) + "\n")

    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None) as room:
        folder = Path(room) / "damaged"
        for line in sys.stdin:
            number = int(line)
            what = make(number, folder)
            say(stage="made", what=what)
            outcome = compare(folder, lambda stage: say(stage=stage))
            for command in commands(number):
                say(stage=" ".join(command))
                found = faults(folder, (command,), Path(room))
                if found:
                    outcome = "FAULT " + "; ".join(found)
                    break
            peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
            say(outcome=outcome, peak=peak)


@dataclass
class Worker:
    """A process that handles cases, with the messages it sent of the current one."""

    process: subprocess.Popen[bytes]
    cases: int = 0
    received: bytes = b""

    @classmethod
    def start(cls, kind: str, commands: str) -> "Worker":
        """Start a process for archives of a kind and one of the sets of commands."""
        command = [sys.executable, __file__, "--worker", "--kind", kind, "--commands", commands]
        return cls(subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL))

    def handle(self, number: int, seconds: float) -> tuple[str, str, int]:
        """Have a case handled; give its outcome, what was done to the archive, and the peak of memory so far."""
        assert self.process.stdin is not None
        stage, what = "start", ""
        limit = seconds if self.cases else max(seconds, _FIRST_SECONDS)
        self.cases += 1
        end = time.monotonic() + limit
        try:
            self.process.stdin.write(b"%d\n" % number)
            self.process.stdin.flush()
            while True:
                message = self._message(end)
                if message is None:
                    return f"HANG in {stage}", what, 0
                if "outcome" in message:
                    return message["outcome"], what, message["peak"]
                stage = message["stage"]
                what = message.get("what", what)
        except (EOFError, BrokenPipeError):
            return f"CRASH in {stage} with status {self.process.wait()}", what, 0

    def _message(self, end: float) -> dict[str, Any] | None:
        assert self.process.stdout is not None
        while b"\n" not in self.received:
            if not select.select([self.process.stdout], [], [], max(0.0, end - time.monotonic()))[0]:
                return None
            got = os.read(self.process.stdout.fileno(), 1 << 16)
            if not got:
                raise EOFError
            self.received += got
        line, self.received = self.received.split(b"\n", 1)
        message: dict[str, Any] = json.loads(line)
        return message

    def stop(self) -> None:
        """End the process."""
        self.process.kill()
        self.process.wait()


def run(
    kind: str, commands: str, first: int, count: int, seconds: float = SECONDS
) -> tuple[Counter[str], list[str], int]:
    """Handle `count` cases; give how often each outcome came, the findings, and the largest memory of a worker."""
    outcomes: Counter[str] = Counter()
    findings = []
    peak = 0
    worker = Worker.start(kind, commands)
    try:
        for number in range(first, first + count):
            outcome, what, memory = worker.handle(number, seconds)
            peak = max(peak, memory)
            bad = outcome.startswith(("CRASH", "HANG", "DIFFERENT", "FAULT"))
            outcomes[outcome.split(" ")[0] if bad else outcome] += 1
            if bad:
                findings.append(f"{number}: {outcome} ({what})")
                print(findings[-1], flush=True)
            if number % _SAID_EACH == _SAID_EACH - 1:
                print(f"{outcomes.total()} archives so far, {len(findings)} findings", file=sys.stderr, flush=True)
            if outcome.startswith(("CRASH", "HANG")):
                worker.stop()
                worker = Worker.start(kind, commands)
    finally:
        worker.stop()
    if peak > RESIDENT[kind]:
        findings.append(f"a worker held {peak / 2**20:.0f} MiB, more than {RESIDENT[kind] / 2**20:.0f}")
        print(findings[-1])
    return outcomes, findings, peak


def main() -> None:
    """Read the command line, run, and fail if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--kind", choices=sorted(KINDS), default="bytes", help="what is damaged")
    parser.add_argument("--commands", choices=sorted(COMMANDS), default="none", help="what is run on each archive")
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="how long a case may take")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        work(KINDS[options.kind], COMMANDS[options.commands])
        return
    begin = time.monotonic()
    outcomes, findings, peak = run(options.kind, options.commands, options.first, options.count, options.seconds)
    for outcome, times in outcomes.most_common():
        print(f"{times:7d}  {outcome}")
    print(f"{options.count} archives in {time.monotonic() - begin:.0f} s, at most {peak / 2**20:.0f} MiB")
    sys.exit(1 if findings else 0)


if __name__ == "__main__":
    main()
