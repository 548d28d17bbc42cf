"""How often loops are found as they are: ``python benchmarks/loops/study.py [--programs N] [RECORDING…]``.

Prints a table of made programs, of the same with other timing, of programs without loops, and of recordings whose steps
and pauses are shuffled.
"""

import argparse
import csv
import tempfile
from collections.abc import Iterable
from pathlib import Path

import iostrata
import numpy as np
from iostrata.analysis.loops.find import find_loops
from programs import made_program, null_program, write_table

_LARGE = 0.1
"""Share of the run from which on a loop where there is none is an error."""


def loops_of(path: Path) -> iostrata.Loops:
    return find_loops(iostrata.open_trace(path, workers=1))


def judged(seed: int, folder: Path, timing: int) -> tuple[bool, bool, list[tuple[int, str]]]:
    """Return whether the main loop is found, whether its begins are, and all loops in short."""
    program = made_program(seed)
    begins = np.array(write_table(program, folder / "made.csv", timing))
    found = loops_of(folder / "made.csv")
    mine = [
        one
        for one in found.outermost
        if one.count == program.count and any(Path(step.file).name == program.kind for step in one.body)
    ]
    # Within one step: a hundredth of a pause is more than any gap between steps.
    close = [one for one in mine if np.all(np.abs(np.array([each.begin_s for each in one.iterations]) - begins) < 0.05)]
    return bool(mine), bool(close), sorted((one.count, one.body[0].file) for one in found.outermost)


def false_loop(found: iostrata.Loops) -> bool:
    """Tell whether there is a loop that takes a tenth of the run and is no single step done many times."""
    start, end = found.trace.window
    return any(
        one.end_s - one.begin_s > _LARGE * (end - start) and (one.bits > 0 or len(one.body) > 1)
        for one in found.outermost
    )


def shuffled(trace: iostrata.Trace, path: Path, seed: int) -> bool:
    """Write what the program called, and its pauses, in random order; False where there is too little or too much."""
    rng = np.random.default_rng(seed)
    table = trace.to_dataframe()
    table = table[table.selected & table.own & table.direction.notna()]
    if len(table) < 20 or len(table) > 20_000:
        return False
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("layer", "rank", "mode", "start", "end", "bytes", "file"))
        for rank, mine in table.groupby("rank"):
            mine = mine.sort_values("begin_s")
            begin, end = mine.begin_s.to_numpy(), mine.end_s.to_numpy(dtype=float)
            gap = np.maximum(begin[1:] - np.maximum.accumulate(end)[:-1], 0)
            order, gap = rng.permutation(len(mine)), rng.permutation(np.append(gap, begin[0]))
            rows = mine.iloc[order]
            length = np.maximum((rows.end_s - rows.begin_s).to_numpy(dtype=float), 0)
            starts = np.cumsum(gap) + np.append(0, np.cumsum(length)[:-1])
            size = rows.bytes_moved.fillna(0).astype(int)
            columns = zip(rows.layer, rows.direction, starts, length, size, rows.file, strict=True)
            for layer, mode, one, long, moved, name in columns:
                writer.writerow((layer, rank, mode, f"{one:.9f}", f"{one + long:.9f}", moved, name))
    return True


def study_programs(seeds: range, folder: Path, verbose: bool) -> None:
    results, wrong = [], 0
    for seed in seeds:
        count, bounds, loops = judged(seed, folder, seed)
        again = judged(seed, folder, seed + 1)[2]
        results.append((count, bounds, loops == again))
        if verbose and not all(results[-1]):
            print(seed, results[-1], made_program(seed).count, loops, again, flush=True)
        write_table(null_program(seed), folder / "null.csv", seed)
        wrong += false_loop(loops_of(folder / "null.csv"))
    names = ("count", "bounds", "same with other timing")
    told = " | ".join(f"{name} {share:.1%}" for name, share in zip(names, np.array(results).mean(axis=0), strict=True))
    print(f"| made programs | {len(results)} | {told} |")
    print(f"| programs without loops | {len(results)} | a loop in {wrong / len(results):.1%} |")


def study_shuffled(recordings: Iterable[Path], seeds: range, folder: Path, verbose: bool) -> None:
    wrong = tried = 0
    for path in recordings:
        try:
            trace = iostrata.open_trace(path)
        except iostrata.IostrataError:
            continue
        for seed in seeds:
            if not shuffled(trace, folder / "shuffled.csv", seed):
                break
            tried += 1
            if false_loop(loops_of(folder / "shuffled.csv")):
                wrong += 1
                if verbose:
                    print("shuffled", path.name, seed, flush=True)
    print(f"| shuffled recordings | {tried} | a loop in {wrong / max(1, tried):.1%} |")


def main(arguments: Iterable[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("recordings", nargs="*", type=Path)
    parser.add_argument("--programs", type=int, default=300)
    parser.add_argument("--shuffled", type=int, default=8, help="times that each recording is shuffled")
    parser.add_argument("--first", type=int, default=10_000, help="first seed; those below were used while writing it")
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        if given.programs:
            study_programs(range(given.first, given.first + given.programs), Path(name), given.verbose)
        if given.recordings:
            seeds = range(given.first, given.first + given.shuffled)
            study_shuffled(given.recordings, seeds, Path(name), given.verbose)


if __name__ == "__main__":
    main()
