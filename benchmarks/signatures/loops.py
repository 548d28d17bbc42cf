"""Signatures of traces by loops: programs whose iterations are known, beside the matching of bursts in their order.

A program writes two kinds of files, each so often and so much; its runs are delayed by other factors, vary in every
pause and transfer, and some go on for longer. Writes a section of benchmarks/RESULTS.md; takes some minutes.
"""

import argparse
import sys
import tempfile
from itertools import product
from pathlib import Path

import iostrata
import numpy as np
from iostrata.runs.signatures.loops import loops_signature
from iostrata.runs.signatures.signature import Signature, extract_signature
from iostrata.runs.signatures.traces import RunSignals, common_layer, run_signals, trace_samples

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from results import write_section

RANKS, RUNS, RATE, KIB = 4, 4, 1e8, 1024
NAMES = (("dump.bin", "restart.bin"), ("0.bin", "1.bin"))
"""Names that differ in a number only are one kind of file."""
RATIOS, COUNTS = (1, 4, 16), (4, 20, 100, 400)
Parts = list[tuple[int, int, int]]
"""Of each kind of file how many iterations, of how many blocks, of how many bytes."""


def made(folder: Path, name: str, parts: Parts, rng: np.random.Generator, files: tuple[str, str]) -> RunSignals:
    """Write a run of a program as a table and return its signals."""
    rows, now, compute = ["layer,rank,mode,start,end,bytes,file"], 0.1, rng.uniform(0.05, 0.3)
    for number, (count, blocks, size) in enumerate(parts):
        for _ in range(count):
            now += compute * float(rng.lognormal(0, 0.5))
            for _ in range(blocks):
                took = size / RATE * float(rng.lognormal(0, 0.3))
                told = f"write,{now:.6f},{now + took:.6f},{size},{files[number]}"
                rows += [f"POSIX,{rank},{told}" for rank in range(RANKS)]
                now += took + 1e-5
    path = folder / f"{name}.csv"
    path.write_text("\n".join(rows))
    return run_signals(iostrata.open_trace(path), name, name, "write")


def program(rng: np.random.Generator, count: int, ratio: int) -> list[Parts]:
    """Return what each run of a made program does; one in two goes on for longer at its end."""
    blocks, size = rng.integers(1, 5, 2), 64 * KIB * int(rng.integers(1, 5))
    first = (count, int(blocks[0]), size * ratio)
    longer = [int(rng.integers(0, max(2, count // 4))) * int(rng.random() < 0.5) for _ in range(RUNS)]
    return [[first, (count + more, int(blocks[1]), size)] for more in longer]


def right(found: Signature | None, runs: list[Parts]) -> bool:
    """Tell whether a signature has all iterations that all runs have, each with its bytes, and has dropped no run."""
    if found is None or not all(use.used for use in found.samples):
        return False
    common = [(min(run[place][0] for run in runs), *runs[0][place][1:]) for place in range(2)]
    volumes = sorted(RANKS * blocks * size for count, blocks, size in common for _ in range(count))
    told = sorted(burst.volume for burst in found.bursts)
    return len(told) == len(volumes) and bool(np.allclose(told, volumes, rtol=0.01))


def main() -> None:
    """Write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=10)
    chosen = parser.parse_args()
    lines = [
        f"{chosen.trials} programs each, {RUNS} runs of every one, seed {chosen.seed}: in how many all bursts are "
        "there, each with its bytes, and no run is left out.",
        "",
        "| files | iterations | large to small | by loops | bursts in their order |",
        "|---|---|---|---|---|",
    ]
    for files, count, ratio in product(NAMES, COUNTS, RATIOS):
        rng = np.random.default_rng([chosen.seed, count, ratio])
        hits = np.zeros(2, np.int64)
        for _ in range(chosen.trials):
            runs = program(rng, count, ratio)
            with tempfile.TemporaryDirectory() as folder:
                signals = [made(Path(folder), f"run{n}", parts, rng, files) for n, parts in enumerate(runs)]
            layer = common_layer(signals)
            samples = trace_samples(signals, layer)
            hits[0] += right(loops_signature(signals, samples, layer, "write"), runs)
            hits[1] += right(extract_signature(samples, recorded="program"), runs)
        lines.append(f"| {' and '.join(files)} | 2 × {count} | {ratio} : 1 | {hits[0]} | {hits[1]} |")
        print(lines[-1], flush=True)
    write_section("Signatures by loops (`python benchmarks/signatures/loops.py`)", "\n".join(lines))


if __name__ == "__main__":
    main()
