"""Recordings with loops replayed through `watch`: whether the next phase is foretold, and what it was like.

    python benchmarks/loops/foretold.py FOLDER...      # each has recordings; prints a table
    python benchmarks/loops/foretold.py --programs FIRST COUNT    # made programs, by the iterations that they have

Layers and directions whose loop `periods` goes by, from the begin of the loop's third iteration to that of its last:
updates at default options in which the next phase is foretold, with operations and bytes (within a factor of two); and
for each phase, the first time that it is, whether it began between the times that were told, and moved what was told,
beside the probability. That many operations came is told by a longer interval behind them than among them.
"""

import contextlib
import math
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

import iostrata
import numpy as np
from iostrata.analysis.comparison.iterations import loops_of
from iostrata.live.answer import Answer
from iostrata.live.following import replay, trace_columns
from iostrata.live.job import LiveJob
from iostrata.live.records.intake import Key, Spans
from iostrata.model.arrays import Floats, Rows
from programs import made_program, timed, write_table

FEWEST = 4
"""Iterations from which on there is a next one after the third."""
WIDEST = 2.0
"""Largest over smallest of the bytes told up to which they say something."""


class Phase(NamedTuple):
    """A phase that was foretold: the stated probability, and whether its begin, bytes and operations were as told."""

    stated: float
    begin: bool
    bytes: bool
    operations: bool


@dataclass
class Foretold:
    """What was foretold of a layer in a direction."""

    name: str
    updates: int = 0
    told: int = 0
    with_steps: int = 0
    phases: list[Phase] = field(default_factory=list)

    def row(self) -> str:
        """Return a row of the table."""
        shares = [f"{part / max(self.updates, 1):6.1%}" for part in (self.told, self.with_steps)]
        means = [f"{np.mean(column):5.2f}" for column in zip(*self.phases, strict=True)] or ["    –"] * 4
        return f"{self.name:44} {self.updates:7} {' '.join(shares)} {len(self.phases):6} {' '.join(means)}"


def _as_told(one: Answer, start: Floats, volume: Rows) -> tuple[bool, bool]:
    """Tell whether the operations that came moved what was told, and were as many."""
    if one.next_bytes is None or one.next_operations is None:
        return False, False
    fewest, most = one.next_operations_range or (one.next_operations, one.next_operations)
    low, high = one.next_bytes_range or (one.next_bytes, one.next_bytes)
    if most < 1 or fewest > len(start):
        return False, False
    # As many: what follows them is further away than they are among themselves.
    gaps = np.append(np.diff(start[: most + 1]), math.inf)[:most]
    counts = 1 + np.flatnonzero(gaps > np.append(0.0, np.maximum.accumulate(gaps)[:-1]))
    counts = counts[counts >= fewest]
    came = int(counts[-1]) if counts.size else most
    return low <= int(volume[:came].sum()) <= high, counts.size > 0


def judged(name: str, begins: Floats, answers: list[Answer], moved: Spans) -> Foretold:
    """Compare what was said of a layer in a direction with what it did."""
    found, latest = Foretold(name), -1
    order = np.argsort(moved.start, kind="stable")
    start, volume = moved.start[order], moved.volume[order]
    # An operation is known once it has ended.
    known = float(moved.end[moved.start >= begins[2] - 1e-9].min())
    for one in answers:
        if not known <= one.time < begins[-1]:
            continue
        found.updates += 1
        found.told += one.next_start is not None
        low, high = one.next_bytes_range or (1, 1)
        whole = one.next_operations is not None and high <= WIDEST * low
        found.with_steps += one.next_start is not None and whole
        if one.next_start is None or one.in_phase or one.as_of is not None or latest == one.phases:
            continue
        latest = one.phases
        row = int(np.searchsorted(start, one.time, side="right"))
        came = float(start[row]) if row < len(start) else math.inf
        within = one.next_start[0] <= came <= one.next_start[1]
        found.phases.append(Phase(one.probability or 0.0, within, *_as_told(one, start[row:], volume[row:])))
    return found


def of_recording(path: Path) -> Iterator[Foretold]:
    """Replay a recording, and yield what is foretold in each layer and direction that has a loop."""
    trace = iostrata.open_trace(path)
    loops = loops_of(trace)
    if loops is None:
        return
    moved: dict[Key, Spans] = dict(trace_columns(trace))
    main = {key: loops.deciding(key.layer, key.direction)[:1] for key in moved}
    main = {key: one for key, one in main.items() if one and len(one[0]) >= FEWEST}
    if not main:
        return
    answers = answers_of(trace)
    for key, (passes,) in main.items():
        mine = [one for one in answers if (one.layer, one.direction) == (key.layer, key.direction)]
        yield judged(f"{path.name} {key.layer} {key.direction} {len(passes)}", passes.begin, mine, moved[key])


def answers_of(trace: iostrata.Trace) -> list[Answer]:
    """Replay a recording; return all that is said before its end."""
    return [one for update in replay(LiveJob(share=None), trace, None) for one in update.answers if not update.last]


def of_program(seed: int, folder: Path) -> Iterator[Foretold]:
    """Yield the same of a made program, by when its iterations begin in a direction."""
    program, path = made_program(seed), folder / f"{seed}.csv"
    write_table(program, path, seed)
    trace = iostrata.open_trace(path)
    answers = answers_of(trace)
    for key, moved in trace_columns(trace):
        begins: dict[int, float] = {}
        for step, (begin, _) in zip(program.steps, timed(program, seed), strict=True):
            if step.iteration >= 0 and step.mode == key.direction:
                begins[step.iteration] = min(begin, begins.get(step.iteration, begin))
        if len(begins) >= FEWEST:
            mine = [one for one in answers if (one.layer, one.direction) == (key.layer, key.direction)]
            yield judged(f"{seed} {key.direction} {len(begins)}", np.sort(list(begins.values())), mine, moved)


def found_in(arguments: list[str], folder: Path) -> Iterator[Foretold]:
    """Yield all that is foretold in recordings or programs, as they are named."""
    if arguments[0] == "--programs":
        for seed in range(int(arguments[1]), int(arguments[1]) + int(arguments[2])):
            yield from of_program(seed, folder)
        return
    for path in sorted(one for name in arguments for one in Path(name).iterdir() if one.is_dir()):
        with contextlib.suppress(iostrata.IostrataError):
            yield from of_recording(path)


def main(arguments: list[str]) -> None:
    """Print the table."""
    print("recording, layer, direction, iterations      updates  told  steps phases stated begin bytes operations")
    every = Foretold("all")
    with tempfile.TemporaryDirectory() as folder:
        for found in found_in(arguments, Path(folder)):
            print(found.row(), flush=True)
            every.updates += found.updates
            every.told += found.told
            every.with_steps += found.with_steps
            every.phases += found.phases
    print(every.row())


if __name__ == "__main__":
    main(sys.argv[1:])
