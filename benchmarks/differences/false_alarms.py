"""How often ``diff`` finds a change that matters where nothing was changed, and how often where I/O takes longer.

Runs are made: a program of two layers that writes and reads in phases, whose times vary from run to run and from phase
to phase by noise of several shapes and strengths. Writes a section of benchmarks/RESULTS.md; takes ten minutes.
"""

import argparse
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from iostrata.runs.collection.rows import READ, JobRow, LayerRow, Run
from iostrata.runs.differences.difference import diff_runs

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from results import write_section

Rng = np.random.Generator
PHASES = 10
SIDES = ((1, 1), (1, 5), (2, 2), (3, 3), (5, 5), (10, 10))


def lognormal(rng: Rng) -> float:
    """A factor as a shared file system gives it: 1.3 times as long or short in two of three runs."""
    return float(np.exp(0.25 * rng.standard_normal()))


def heavy(rng: Rng) -> float:
    """Mostly quiet, now and then many times as long (Student's t with two degrees of freedom)."""
    return float(np.exp(0.15 * abs(rng.standard_t(2))))


def two_humps(rng: Rng) -> float:
    """A neighbour that is there, or not, in half of the runs."""
    return float((1.0 if rng.random() < 0.5 else 1.8) * np.exp(0.03 * rng.standard_normal()))


def rare(rng: Rng) -> float:
    """One run in ten takes three times as long."""
    return float((3.0 if rng.random() < 0.1 else 1.0) * np.exp(0.05 * rng.standard_normal()))


def quiet(rng: Rng) -> float:
    """A machine of one's own."""
    return float(np.exp(0.02 * rng.standard_normal()))


def uniform(rng: Rng) -> float:
    """Anything between one and two."""
    return float(rng.uniform(1, 2))


SHAPES: dict[str, Callable[[Rng], float]] = {
    one.__name__: one for one in (quiet, lognormal, uniform, heavy, two_humps, rare)
}


def made_run(rng: Rng, noise: Callable[[Rng], float], number: int, slower: float = 1.0) -> Run:
    """Return a run of the program; `slower` is by what its I/O takes longer."""
    own = noise(rng)
    rows = list(_rows(rng, noise, own * slower, f"run{number}"))
    duration = 20.0 + sum(row.busy_s or 0.0 for row in rows)
    job = JobRow(
        job=f"run{number}", name=f"run{number}", status=READ, duration_s=duration, ranks=8, nodes=2,
        io_s=sum(row.busy_s or 0.0 for row in rows), layers=("MPI-IO", "POSIX"), operations=640,
    )  # fmt: skip
    return Run(job, tuple(rows))


def _rows(rng: Rng, noise: Callable[[Rng], float], factor: float, job: str) -> Iterator[LayerRow]:
    for layer, scale in (("MPI-IO", 0.2), ("POSIX", 0.05)):
        for direction in ("write", "read"):
            # Phases of one run share its noise, and have some of their own.
            lengths = np.array([scale * factor * noise(rng) for _ in range(PHASES)])
            starts = 2.0 * np.arange(PHASES) + np.cumsum(np.append(0.0, lengths[:-1]))
            busy = float(lengths.sum())
            periodic = bool(rng.random() < 0.6)
            yield LayerRow(
                job=job, layer=layer, direction=direction, operations=320, bytes=1.6e8, busy_s=busy, summed_s=8 * busy,
                bandwidth=1.6e8 / busy, files=1, handles=8, ranks=8, request_p50=524288, amplification=1.0,
                collective_operations=320, non_blocking_operations=0, periodic=periodic,
                period_s=float(np.diff(starts).mean()) if periodic else None, phases=PHASES,
                phase_start_s=tuple(starts), phase_end_s=tuple(starts + lengths), phase_bytes=(1.6e7,) * PHASES,
            )  # fmt: skip


def alarms(seed: int, shape: str, sides: tuple[int, int], trials: int, slower: float = 1.0) -> float:
    """Return the share of comparisons in which a change matters."""
    rng = np.random.default_rng(seed)
    found = 0
    for _ in range(trials):
        before = [made_run(rng, SHAPES[shape], number) for number in range(sides[0])]
        after = [made_run(rng, SHAPES[shape], 100 + number, slower) for number in range(sides[1])]
        found += bool(diff_runs(before, after).mattering)
    return found / trials


def main() -> None:
    """Write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=400)
    chosen = parser.parse_args()
    lines = [f"{chosen.trials} comparisons each; the first runs of a row are one side, those after it the other.", ""]
    for slower in (1.0, 1.5, 3.0):
        lines += [f"I/O takes {slower:g} times as long:" if slower > 1 else "Nothing was changed:", ""]
        lines += [f"| noise | {' | '.join(f'{a} and {b}' for a, b in SIDES)} |", "|---" * (len(SIDES) + 1) + "|"]
        for shape in SHAPES:
            shares = [alarms(chosen.seed, shape, sides, chosen.trials, slower) for sides in SIDES]
            lines.append(f"| {shape.replace('_', ' ')} | {' | '.join(f'{share:.1%}' for share in shares)} |")
            print(lines[-1], flush=True)
        lines.append("")
    write_section("What diff says of made runs (`python benchmarks/differences/false_alarms.py`)", "\n".join(lines))


if __name__ == "__main__":
    main()
