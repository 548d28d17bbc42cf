"""A made corpus of jobs trained and assessed by the command: time, memory, shares, and where planted problems rank.

``python benchmarks/scores/study.py [jobs] [seed]`` writes a table for benchmarks/RESULTS.md. The corpus is made in a
temporary folder (1.3 GB for 100,000 jobs). Both calls are measured as processes of their own.
"""

import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

from made import PUBLISHED, write

PLANTED = 15


def measured(arguments: list[str], output: Path) -> tuple[float, float, float]:
    """Run the command with its output in a file; return s of wall clock and of CPU, and MB of memory at most."""
    start = time.perf_counter()
    child = os.fork()
    if not child:
        with output.open("wb") as file:
            os.dup2(file.fileno(), 1)
            os.execv(sys.executable, [sys.executable, "-m", "iostrata.cli", *arguments])
    _, status, usage = os.wait4(child, 0)
    if status:
        raise SystemExit(f"iostrata {' '.join(arguments)} failed")
    return time.perf_counter() - start, usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    jobs = int(sys.argv[1]) if len(sys.argv) > 1 else 100_000
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 7
    with tempfile.TemporaryDirectory() as folder:
        table, limits, scores = (Path(folder, name) for name in ("corpus.parquet", "limits.json", "scores.json"))
        kinds, values = write(table, jobs, PLANTED, seed)
        print(f"### {jobs:,} made jobs, {values:,} metric segments, {table.stat().st_size / 1e6:,.0f} MB\n")
        print("| step | wall clock | CPU | memory |\n|---|---|---|---|")
        train = ["assess", "--train", str(table), "-o", str(limits)]
        assess = ["assess", str(table), "--limits", str(limits), "--json"]
        for name, arguments, out in (("train", train, Path(os.devnull)), ("assess", assess, scores)):
            wall, cpu, memory = measured(arguments, out)
            print(f"| {name} | {wall:.1f} s | {cpu:.1f} s | {memory:,.0f} MB |")
        found = json.loads(limits.read_text())["limits"]
        print("\n| metric | published q99, q99.9 | trained |\n|---|---|---|")
        for metric, (low, high) in PUBLISHED.items():
            print(f"| {metric} | {low:.4g}, {high:.4g} | {found[metric][0]:.4g}, {found[metric][1]:.4g} |")
        ranked = json.loads(scores.read_text())["jobs"]
        busy = [one for one in ranked if one["intensive_segments"]]
        always = sum(one["problem_time"] == 1 for one in busy) / len(busy)
        print(
            f"\nUtilization 0: {1 - len(busy) / len(ranked):.1%} of the jobs; "
            f"Problem-Time 1: {always:.1%} of the others."
        )
        by_score = sorted(ranked, key=lambda one: (-one["problem_score"], one["job"]))
        for order, least, words in (
            (ranked, 0, "of all, in the order of the command"),
            (by_score, 0, "of all, by the score alone"),
            (by_score, 1800, "that run for over 30 min, by the score alone"),
        ):
            longer = [one["job"] for one in order if one["duration_s"] > least]
            places = sorted(place for place, job in enumerate(longer, 1) if job in kinds)
            first = Counter(kinds[job] for job in longer[:20] if job in kinds)
            told = ", ".join(f"{kind} {count}" for kind, count in sorted(first.items()))
            print(
                f"- Of {PLANTED} planted jobs among the first 20 {words}: {sum(first.values())} ({told}); "
                f"the last at place {places[-1]:,} of {len(longer):,}."
            )


if __name__ == "__main__":
    main()
