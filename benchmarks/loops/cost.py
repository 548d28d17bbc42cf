"""Time of loops beside that of layers: ``python benchmarks/loops/cost.py [--operations N] [--turns N]``.

An archive of two layers is written, in which each call of MPI-IO makes one of POSIX, in iterations of a thousand calls
a rank. Each command is a process of its own; beside it stand the parts of one process that does it all, after a small
archive, so that kernels are loaded.
"""

import argparse
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import iostrata
import numpy as np
from iostrata.analysis.loops.find import find_loops
from iostrata.model.codes import UNDEFINED_TIME, UNDEFINED_UINT8, UNDEFINED_UINT32
from iostrata.model.definitions import (
    Clock,
    Definitions,
    Files,
    Handles,
    LocationGroups,
    Locations,
    Paradigm,
    SystemTree,
)
from iostrata.model.events import IoEvents
from iostrata.model.operations import Operations
from iostrata.otf2io.writing.archive import write_archive

RANKS, CALLS, BLOCK = 16, 1000, 1 << 13
STEP, PAUSE = 10_000, 5_000_000
"""Ticks of 1 ns from call to call, and between iterations."""


def _definitions(length: int) -> Definitions:
    ranks, both = np.arange(RANKS, dtype=np.int32), 2 * RANKS
    names = tuple(f"rank {number}" for number in ranks)
    ones, one, root = np.ones(RANKS, np.uint8), np.zeros(1, np.uint32), np.full(1, -1, np.int32)
    # The first handle of each rank is of MPI-IO, the second of POSIX, below it.
    paradigm = np.tile(np.arange(2, dtype=np.int32), RANKS)
    parent = np.where(paradigm, np.arange(both) - 1, -1).astype(np.int32)
    zeros, undefined = np.zeros(both, np.uint32), np.full(both, UNDEFINED_UINT32, np.uint32)
    return Definitions(
        Clock(10**9, 0, length, None),
        SystemTree(one, ("machine",), ("machine",), root),
        LocationGroups(ranks.astype(np.uint32), names, ones, np.zeros(RANKS, np.int32), ranks),
        Locations(ranks.astype(np.uint64), names, ones, np.zeros(RANKS, np.uint64), ranks),
        (Paradigm(0, "MPI-IO", "MPI I/O", True, False, ()), Paradigm(1, "POSIX", "POSIX I/O", False, True, ())),
        Files(one, ("/scratch/a.dat",), np.zeros(1, np.bool_), root, ({},)),
        Handles(
            np.arange(both, dtype=np.uint32), ("",) * both, np.zeros(both, np.int32), paradigm, zeros, undefined,
            parent, np.zeros(both, np.bool_), np.full(both, UNDEFINED_UINT8, np.uint8), zeros,
        ),
        (),
        (),
        {},
    )  # fmt: skip


def _blocks(calls: int) -> Iterator[tuple[Operations, IoEvents]]:
    """Yield the operations of all ranks for so many calls of each."""
    for first in range(0, calls, BLOCK):
        call = np.arange(first, min(first + BLOCK, calls))
        number, rank, layer = (
            one.ravel() for one in np.meshgrid(call, np.arange(RANKS, dtype=np.int32), np.arange(2), indexing="ij")
        )
        begin = number * STEP + number // CALLS * PAUSE + layer * 1000
        # Ranks are not at the same tick, and what is below ends first.
        begin, rows = begin + 10 * rank, len(number)
        size, zeros = np.full(rows, 4096, np.uint64), np.zeros(rows, np.uint8)
        handle = (2 * rank + layer).astype(np.int32)
        order = np.argsort(begin, kind="stable")
        columns = (
            rank, rank, rank, handle, zeros + np.uint8(1), zeros.astype(np.uint32), begin,
            np.full(rows, UNDEFINED_TIME), begin + 8000 - 2000 * layer, size, size,
            (number * RANKS + rank).astype(np.uint64) * 4096, number.astype(np.uint64), zeros.astype(np.uint32), zeros,
        )  # fmt: skip
        yield Operations(*(column[order] for column in columns)), IoEvents.empty()


def write(folder: Path, operations: int) -> Path:
    """Write an archive, and return its anchor."""
    calls = operations // (2 * RANKS)
    write_archive(folder / "traces", _definitions(calls * STEP + (calls // CALLS + 1) * PAUSE), _blocks(calls))
    return next(folder.glob("**/*.otf2"))


def parts(anchor: Path, small: Path) -> None:
    """Print the time of each part in a process that has read a small archive before."""
    for path in (small, anchor):
        marks = [(time.perf_counter(), time.process_time())]
        trace = iostrata.open_trace(path)
        marks.append((time.perf_counter(), time.process_time()))
        for layer in trace.layers.values():
            layer.statistics("total")
        marks.append((time.perf_counter(), time.process_time()))
        found = find_loops(trace)
        marks.append((time.perf_counter(), time.process_time()))
    # The last one may be cut short.
    (loop,) = found.outermost
    assert abs(loop.count - len(trace.operations) / (2 * RANKS * CALLS)) < 1
    for name, before, after in zip(("opened", "layers", "loops"), marks, marks[1:], strict=False):
        print(f"| {name} | {after[0] - before[0]:.2f} | {after[1] - before[1]:.2f} |")


def command(*words: str) -> tuple[float, float]:
    """Return the wall time and the processor time in s of a command."""
    before, started = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    subprocess.run([sys.executable, "-m", "iostrata.cli", *words], check=True, stdout=subprocess.DEVNULL)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return time.perf_counter() - started, used


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--operations", type=int, default=10_000_000)
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--parts", nargs=2, type=Path)
    given = parser.parse_args()
    if given.parts:
        parts(*given.parts)
        return
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        anchor, small = write(folder / "large", given.operations), write(folder / "small", 2 * RANKS * CALLS * 4)
        print("| what | s | s of processor time |\n|---|---|---|")
        for word in ("layers", "loops"):
            took = [command(word, str(anchor)) for _ in range(given.turns)]
            wall, used = (statistics.median(column) for column in zip(*took, strict=True))
            print(f"| `iostrata {word}` | {wall:.2f} | {used:.2f} |", flush=True)
        for _ in range(given.turns):
            subprocess.run([sys.executable, __file__, "--parts", str(anchor), str(small)], check=True)
        print(f"{given.operations:,} operations; load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
