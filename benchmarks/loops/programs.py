"""Made programs with loops whose truth is known, and programs without; as tables of operations that anything can read.

A program is told as steps (rank, mode, file, bytes) with the time from the step before; times are drawn afterwards, so
that the same program can have other timing. ``python programs.py SEED`` prints one.
"""

import csv
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import numpy as np

SIZES = (512, 4096, 65536, 100_000, 262_144, 1 << 20, 4 << 20)
INNER_GAP, PAUSE = 0.002, 0.5
"""Seconds between steps of an iteration, and between iterations, on average."""


class Step(NamedTuple):
    """One operation: who does it, what it is, and whether the program computes before it."""

    rank: int
    mode: str
    file: str
    size: int
    pause: bool = False
    iteration: int = -1


@dataclass
class Program:
    """Steps of all ranks, each rank's in their order; the truth is how often the main loop runs, and on which files."""

    ranks: int
    steps: list[Step] = field(default_factory=list)
    count: int = 0
    kind: str = ""
    jitter: float = 0.1
    pauses: float = PAUSE


def made_program(seed: int) -> Program:
    """Return a program with an outer loop, and by chance what else programs have."""
    rng = np.random.default_rng(seed)
    ranks, count = int(rng.choice([1, 2, 4, 8])), int(rng.integers(4, 40))
    numbered = bool(rng.random() < 0.4)
    program = Program(ranks, count=count, kind="out.*.dat" if numbered else "out.dat")
    program.jitter, program.pauses = float(rng.uniform(0, 0.6)), float(rng.choice([0.05, 0.5, 2.0]))
    body = _body(rng)
    lacks, adds = rng.random() < 0.3, int(rng.integers(3, 8)) if rng.random() < 0.3 else 0
    drift = 1 + float(rng.uniform(0.01, 0.05)) if rng.random() < 0.25 else 1.0
    leader = rng.random() < 0.3
    restart = int(rng.integers(1, count)) if rng.random() < 0.2 else 0
    missing = set(rng.choice(np.arange(1, count), max(1, count // 12), replace=False).tolist()) if lacks else set()
    for rank in range(ranks):
        program.steps += [Step(rank, "read", "input.cfg", 300)] * int(rng.integers(0, 4) if rank == 0 else 0)
        for iteration in range(count):
            file = f"out.{iteration}.dat" if numbered else "out.dat"
            if restart == iteration and restart:
                program.steps.append(Step(rank, "read", "restart.bin", 1 << 21, pause=True))
            mine = [(mode, int(size * drift**iteration) if size > 4096 else size) for mode, size in body]
            if iteration in missing and len(mine) > 2:
                del mine[len(mine) // 2]
            if leader and rank == 0:
                mine.append(("write", 77))
            if adds and iteration % adds == adds - 1:
                mine.append(("write", 33_333))
            for number, (mode, size) in enumerate(mine):
                program.steps.append(Step(rank, mode, file, size, number == 0, iteration))
        if rng.random() < 0.3:
            program.steps.append(Step(rank, "write", "summary.txt", 999, pause=True))
    return program


def _body(rng: np.random.Generator) -> list[tuple[str, int]]:
    """Return the steps of an iteration: one or several kinds, some in loops of their own."""
    body: list[tuple[str, int]] = []
    for _ in range(int(rng.integers(1, 4))):
        part = [(str(rng.choice(["write", "read"], p=[0.75, 0.25])), int(rng.choice(SIZES)))]
        if rng.random() < 0.3:
            part.append((str(rng.choice(["write", "read"])), int(rng.choice(SIZES))))
        body += part * int(rng.choice([1, 1, 2, 4, 8, 16]))
    return body


def null_program(seed: int) -> Program:
    """Return a program that does steps of a few kinds in random order, with pauses at random."""
    rng = np.random.default_rng(seed)
    ranks, steps = int(rng.choice([1, 2, 4])), int(rng.integers(40, 400))
    kinds = [(str(rng.choice(["write", "read"])), int(rng.choice(SIZES))) for _ in range(int(rng.integers(2, 8)))]
    if rng.random() < 0.3:
        kinds = [(mode, int(rng.integers(1, 1 << 22))) for mode, _ in kinds for _ in range(20)]
    files = [f"file{letter}.dat" for letter in ("one", "two", "three")[: int(rng.integers(1, 4))]]
    weights = rng.dirichlet(np.ones(len(kinds)) * 2)
    program = Program(ranks, jitter=1.0)
    often = float(rng.uniform(0.02, 0.4))
    for rank in range(ranks):
        for kind in rng.choice(len(kinds), steps, p=weights).tolist():
            mode, size = kinds[kind]
            file = files[int(rng.integers(len(files)))]
            program.steps.append(Step(rank, mode, file, size, bool(rng.random() < often)))
    return program


def timed(program: Program, seed: int) -> list[tuple[float, float]]:
    """Return begin and end of each step; pauses are those of all ranks together, and vary by the program's jitter."""
    rng = np.random.default_rng((seed, 1))
    times: list[tuple[float, float]] = []
    latest = np.zeros(program.ranks)
    length = {
        one: program.pauses * float(rng.lognormal(0, max(program.jitter, 1e-9)))
        for one in range(-1, max((step.iteration for step in program.steps), default=0) + 1)
    }
    for step in program.steps:
        before = float(rng.exponential(INNER_GAP if program.pauses > 0.1 else INNER_GAP / 10))
        if step.pause:
            before += length[step.iteration] if step.iteration >= 0 else float(rng.lognormal(0, 1)) * program.pauses
        begin = latest[step.rank] + before
        end = begin + step.size / 1e9 * float(rng.lognormal(0, program.jitter)) + 1e-6
        latest[step.rank] = end
        times.append((float(begin), float(end)))
    return times


def write_table(program: Program, path: Path, seed: int) -> list[float]:
    """Write a program as a table of operations, and return when the iterations of the main loop begin."""
    times = timed(program, seed)
    begins: dict[int, float] = {}
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(("layer", "rank", "mode", "start", "end", "bytes", "file"))
        for step, (begin, end) in zip(program.steps, times, strict=True):
            row = (step.mode, f"{begin:.9f}", f"{end:.9f}", step.size, f"/data/{step.file}")
            table.writerow(("POSIX", step.rank, *row))
            if step.iteration >= 0:
                begins[step.iteration] = min(begin, begins.get(step.iteration, begin))
    return [begins[one] for one in sorted(begins)]


if __name__ == "__main__":
    for line in made_program(int(sys.argv[1])).steps:
        print(*line)
