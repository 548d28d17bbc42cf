"""What ``diff`` says of runs whose programs repeat themselves: one run a side, iterations as samples.

Runs are made: a loop whose iterations keep two layers busy, POSIX beneath MPI-IO, for times that vary from one to the
next by a jitter, and from run to run. Beside the shares in which a change is found stands what the best test of one
layer alone finds at 5 %, which knows that only this one may have changed and that runs do not differ. With
``IOSTRATA_RECORDINGS=FOLDER`` both halves of each recording's loops are compared, too. Writes a section of
benchmarks/RESULTS.md; takes five minutes.
"""

import argparse
import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from iostrata.runs import IterationRow, JobRow, LayerRow, LoopRow, Run, Settings, diff_runs, read_run
from scipy.stats import nct
from scipy.stats import t as student

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from results import write_section

STEPS = [["MPI-IO", "open", None, "/run/dump.*", 1], ["MPI-IO", "write", 1 << 20, "/run/dump.*", 4]]
LAYERS = ("MPI-IO", "POSIX")
TITLE = "What diff says of iterations (`python benchmarks/differences/iterations.py`)"
MORE = 10
"""Times as many comparisons of equal runs: of 150 one in twenty has a standard error of 1.8 %."""
CASES = (
    (10, 0.15, 0.0, "independent"),
    (10, 0.15, 0.02, "independent"),
    (10, 0.15, 0.02, "each of 8 ranks"),
    (10, 0.15, 0.03, "independent"),
    (10, 0.05, 0.02, "independent"),
    (10, 0.5, 0.02, "independent"),
    (20, 0.15, 0.02, "independent"),
    (40, 0.15, 0.02, "independent"),
    (10, 0.15, 0.02, "heavy"),
    (10, 0.15, 0.02, "slow first"),
    (10, 0.15, 0.02, "growing"),
)


def shaped(rng: np.random.Generator, count: int, jitter: float, shape: str) -> np.ndarray:
    """Return logarithms of the times of iterations."""
    noise = jitter * rng.standard_normal(count)
    if shape == "heavy":
        noise = jitter * rng.standard_t(2, count)
    if shape == "slow first":
        noise[0] += 2.0
    if shape == "growing":
        noise += np.linspace(0, 1.5, count)
    return noise


def made_run(rng: np.random.Generator, name: str, case: tuple[int, float, float, str], slower: dict[str, float]) -> Run:
    """Return a run; `slower` is by what a layer's own work takes longer."""
    count, jitter, of_run, shape = case
    factor = np.exp(of_run * rng.standard_normal())
    # Ranks with one jitter are as one; begins are the same, so that a layer is busy as long as the slowest one.
    ranks = 8 if shape == "each of 8 ranks" else 1
    lower, own = (
        slower.get(layer, 1.0) * np.exp([shaped(rng, count, jitter, shape) for _ in range(ranks)])
        for layer in ("POSIX", "MPI-IO")
    )
    times = {"MPI-IO": factor * (own + lower), "POSIX": factor * lower}
    busy = {layer: time.max(axis=0) for layer, time in times.items()}
    summed = {layer: (8 // ranks) * time.sum(axis=0) for layer, time in times.items()}
    length = busy["MPI-IO"] * (1 + 0.2 * rng.random(count))
    begin = np.cumsum(1 + 0.1 * rng.random(count)) + np.append(0, np.cumsum(length)[:-1])
    loop = LoopRow(
        job=name, loop=0, count=count, ranks=8, layers=LAYERS, text="", steps=json.dumps(STEPS), begin_s=begin[0],
        end_s=begin[-1] + length[-1], interval_s=1.2, jitter=0.1, timing="regular", bits=80.0,
        iteration_begin_s=tuple(begin), iteration_end_s=tuple(begin + length),
    )  # fmt: skip
    parts, rows = [], []
    for layer in LAYERS:
        parts.append(IterationRow(
            job=name, loop=0, layer=layer, bytes_read=(0.0,) * count, bytes_written=(3.2e7,) * count,
            operations=(32,) * count, flushes=(0,) * count, metadata_operations=(8,) * count,
            busy_s=tuple(busy[layer]), summed_s=tuple(summed[layer]),
        ))  # fmt: skip
        rows.append(LayerRow(
            job=name, layer=layer, direction="write", operations=32 * count, bytes=3.2e7 * count, ranks=8, files=1,
            busy_s=float(busy[layer].sum()), request_p50=1 << 20,
            imbalance=float(1.05 * np.exp(0.02 * rng.standard_normal())),
        ))  # fmt: skip
    job = JobRow(
        job=name, name=name, status="read", duration_s=float(begin[-1] + 2), io_s=float(length.sum()), ranks=8,
        layers=LAYERS, operations=32 * count, recorder="OTF2",
    )  # fmt: skip
    return Run(job, tuple(rows), loops=(loop,), iterations=tuple(parts))


def found(seed: int, case: tuple[int, float, float, str], slower: dict[str, float], trials: int) -> tuple[float, float]:
    """Return the shares of comparisons in which any change matters, and in which one of iterations does."""
    rng = np.random.default_rng(seed)
    told = [
        diff_runs([made_run(rng, "a", case, {})], [made_run(rng, "b", case, slower)]).mattering for _ in range(trials)
    ]
    by_iterations = sum(any(one.id == "iteration-time" for one in mattering) for mattering in told)
    return sum(map(bool, told)) / trials, by_iterations / trials


def best(count: int, jitter: float, slower: float) -> float:
    """Return in which share the best two-sided test of one layer at 5 % finds it (the power of Student's)."""
    freedom, off = 2 * count - 2, np.log(slower) / (jitter * np.sqrt(2 / count))
    limit = student.ppf(0.975, freedom)
    return float(nct.sf(limit, freedom, off) + nct.cdf(-limit, freedom, off))


def halves(run: Run) -> Iterator[Run]:
    """Give a run with the first half of the iterations of its loops, and with the second."""
    kept = [one for one in run.loops if one.count >= 8 and len(one.iteration_begin_s) == one.count]
    for side in (0, 1):
        loops, iterations = [], []
        for loop in kept:
            half = loop.count // 2
            part = slice(side * half, (side + 1) * half)
            times = {name: getattr(loop, name)[part] for name in ("iteration_begin_s", "iteration_end_s")}
            loops.append(replace(loop, count=half, **times))
            iterations += [
                replace(one, **{name: value[part] for name, value in vars(one).items() if isinstance(value, tuple)})
                for one in run.iterations
                if one.loop == loop.loop
            ]
        job = replace(run.job, job=f"{run.job.job} {side}", duration_s=None)
        yield Run(job, (), loops=tuple(loops), iterations=tuple(iterations))


def of_recordings(folder: Path) -> Iterator[str]:
    """Give what is said of both halves of each recording's loops."""
    alarms, compared = [], 0
    for trace in sorted(folder.glob("*/*/traces.otf2")):
        run = read_run(trace, Settings())
        if run is None or not run.job.usable:
            continue
        sides = list(halves(run))
        told = diff_runs(sides[:1], sides[1:])
        if any(one.id == "iteration-time" for one in told.changes):
            compared += 1
            alarms += [f"- {run.job.name}: {told.mattering[0].text}"] if told.mattering else []
    yield from ("", f"Of both halves of {compared} recordings, {len(alarms)} differ:", "", *alarms)


def main() -> None:
    """Write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--trials", type=int, default=300)
    chosen = parser.parse_args()
    lines = [
        f"{chosen.trials} comparisons each of one run a side, of equal runs {MORE} times as many, seed {chosen.seed}; "
        "all I/O takes 20 % longer, or POSIX. An iteration is a second in POSIX and one more in MPI-IO.",
        "",
        "| iterations | jitter | from run to run | times | equal: any change | all 20 % longer | POSIX 20 % longer "
        "| best test of one layer, equal runs |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in CASES:
        equal, _ = found(chosen.seed, case, {}, MORE * chosen.trials)
        both = found(chosen.seed + 1, case, dict.fromkeys(LAYERS, 1.2), chosen.trials)[1]
        lower = found(chosen.seed + 2, case, {"POSIX": 1.2}, chosen.trials)[1]
        count, jitter, of_run, shape = case
        bound = f"{best(count, jitter, 1.2):.0%}" if shape == "independent" else ""
        lines.append(
            f"| {count} | {jitter:g} | {of_run:g} | {shape} | {equal:.1%} | {both:.0%} | {lower:.0%} | {bound} |"
        )
        print(lines[-1], flush=True)
    if "IOSTRATA_RECORDINGS" in os.environ:
        lines += of_recordings(Path(os.environ["IOSTRATA_RECORDINGS"]))
    print("\n".join(lines))
    write_section(TITLE, "\n".join(lines))


if __name__ == "__main__":
    main()
