"""Of the regimes that auto gives at a confidence, how many have the period within 10 % of the truth?

PYTHONPATH=benchmarks python benchmarks/regimes/confidence_study.py
"""

import argparse
from itertools import pairwise

import numpy as np
from harder_signals import HarderRun, harder_run, wandering_run
from iostrata.analysis.detect import detect_period
from iostrata.signals.construction import step_signal
from regime_signals import FIGURES, Run, make_run
from results import write_section

CLOSE = 0.1
EDGES = (0.0, 0.8, 0.9, 0.95, 0.98, 0.99, 1.0)
KINDS = ("regimes", "harder regimes", "one period, harder", "wandering period")


def stretches_of(run: Run) -> tuple[tuple[float, float, float], ...]:
    """Return start, end and period of each regime of a run."""
    edges = [run.window[0], *run.boundaries.tolist(), run.window[1]]
    return tuple(zip(edges[:-1], edges[1:], run.periods.tolist(), strict=True))


def judged(run: Run | HarderRun, wandering: bool = False) -> list[tuple[float, float, bool]]:
    """Return confidence, share in which the period holds, and whether it is right, of each of several regimes.

    The truth is that of the stretch which a regime shares most time with; a regime of a wandering run is right where
    the period is within 10 % of all its intervals.
    """
    truth = run.stretches if isinstance(run, HarderRun) else stretches_of(run)
    regimes = detect_period(step_signal(run.start, run.end, run.volume, window=run.window)).regimes
    rows = []
    for regime in regimes if len(regimes) > 1 else ():
        shared = [(min(regime.end, b) - max(regime.start, a), period) for a, b, period in truth]
        own = [period for time, period in shared if time > 0] if wandering else [max(shared)[1]]
        right = all(abs(regime.period / period - 1) <= CLOSE for period in own)
        rows.append((regime.confidence or 0.0, regime.valid_share or 0.0, right))
    return rows


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=300, help="for each kind and number of regimes")
    seeds = range(FIGURES + 500_000, FIGURES + 500_000 + parser.parse_args().seeds)
    found = {
        KINDS[0]: [row for seed in seeds for count in (2, 3, 4) for row in judged(make_run(seed, count))],
        KINDS[1]: [row for seed in seeds for count in (2, 3, 4) for row in judged(harder_run(seed, count))],
        KINDS[2]: [row for seed in seeds for row in judged(harder_run(seed, 1))],
        KINDS[3]: [row for seed in seeds for row in judged(wandering_run(seed), wandering=True)],
    }
    lines = [
        "| runs | regimes | right | mean confidence | mean share in which the period holds |",
        "|---|---|---|---|---|",
    ]
    for kind, rows in found.items():
        if not rows:
            lines.append(f"| {kind} | 0 | – | – | – |")
            continue
        said, held, right = np.array(rows, dtype=np.float64).T
        lines.append(f"| {kind} | {said.size} | {right.mean():.1%} | {said.mean():.1%} | {held.mean():.1%} |")
    said, held, right = np.array(found[KINDS[0]] + found[KINDS[1]], dtype=np.float64).T
    bins = ["| confidence | regimes | mean confidence | right |", "|---|---|---|---|"]
    error = 0.0
    for low, high in pairwise(EDGES):
        inside = (said >= low) & (said < high)
        if inside.any():
            mean, share = said[inside].mean(), right[inside].mean()
            error += abs(mean - share) * inside.sum() / said.size
            bins.append(f"| {low:g} to {high:g} | {inside.sum()} | {mean:.1%} | {share:.1%} |")
    longer = held >= 0.5
    text = (
        f"Regimes of runs in which auto finds several; {len(seeds)} seeds for each number of regimes, disjoint from "
        "those for tuning. *Regimes* are those of the study of regimes; *harder* ones have jitter up to 30 %, up "
        "to 15 % of their bursts missing, ratios from 1.15 on, 6 to 29 cycles, duty cycles up to 60 % and "
        "background I/O up to as much as the bursts; of *one period, harder* there should be none. "
        "A *wandering* period changes by 15 % at random from burst to burst: a regime is right there if "
        "its period is within 10 % of every interval in it, elsewhere within 10 % of the truth.\n\n"
        + "\n".join(lines)
        + "\n\nThe first two kinds by confidence:\n\n"
        + "\n".join(bins)
        + f"\n\nExpected calibration error {error:.1%}. Where the period holds for less than half of the regime, "
        f"{right[~longer].mean():.1%} of {int((~longer).sum())} are right; elsewhere {right[longer].mean():.1%} of "
        f"{int(longer.sum())}."
    )
    write_section("Confidence in a regime", text)
    print(text)


if __name__ == "__main__":
    main()
