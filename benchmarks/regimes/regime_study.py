"""Regimes found by auto in made signals of 1 to 4 regimes, and in signals of one regime that vary in other ways.

PYTHONPATH=benchmarks python benchmarks/regimes/regime_study.py
"""

import argparse
import time

import numpy as np
from iostrata.analysis.detect import detect_period
from iostrata.signals.construction import step_signal
from regime_signals import FIGURES, NOISES, Run, make_run
from results import write_section


def regimes_of(run: Run) -> list[tuple[float, float]]:
    """Return start and period of each regime that auto finds."""
    result = detect_period(step_signal(run.start, run.end, run.volume, window=run.window))
    return [(stay.start, stay.period) for stay in result.regimes]


def main() -> None:
    """Measure and write the section."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=500, help="for each number of regimes")
    seeds = range(FIGURES, FIGURES + parser.parse_args().seeds)
    begin = time.perf_counter()
    lines = [
        "| regimes | right number | boundaries within a period | all periods within 5 % |",
        "|---|---|---|---|",
    ]
    by_noise = {noise: [0, 0] for noise in NOISES}
    near_all = places_all = right_all = 0
    for count in (1, 2, 3, 4):
        right = near = places = periods = 0
        for seed in seeds:
            run = make_run(seed, count)
            found = regimes_of(run)
            starts = np.array([start for start, _ in found[1:]])
            for number, place in enumerate(run.boundaries):
                # Of the two periods that meet at a boundary, the shorter one.
                near += bool(starts.size and np.abs(starts - place).min() <= run.periods[number : number + 2].min())
                places += 1
            same = len(found) == count
            right += same
            by_noise[run.noise][0] += same
            by_noise[run.noise][1] += 1
            if same:
                own = np.array([period for _, period in found])
                periods += bool(np.abs(own / run.periods - 1).max() <= 0.05)
        share = f"{near / places:.1%}" if places else "–"
        lines.append(f"| {count} | {right / len(seeds):.1%} | {share} | {periods / len(seeds):.1%} |")
        near_all, places_all, right_all = near_all + near, places_all + places, right_all + right
    lines.append(f"| all | {right_all / (4 * len(seeds)):.1%} | {near_all / places_all:.1%} | |")
    noise = ", ".join(f"{name} {a / b:.1%}" for name, (a, b) in by_noise.items())
    cost = 1000 * (time.perf_counter() - begin) / 4 / len(seeds)
    text = (
        f"Signals of 1 to 4 regimes with 8 to 24 cycles each, {len(seeds)} of each number, seeds disjoint from those "
        "for tuning. Ratio of neighbouring periods 1.2 to 5, up or down; jitter up to 5 %, of the intervals or about "
        "a clock; duty cycle 2 to 50 % and volume of a burst (a factor of up to e either way), of the run or of each "
        "regime; half of the signals with background I/O of 2 to 20 % of the mean rate, half with small operations. "
        "A boundary is the first burst of the next regime and is found within the *shorter* of the two periods that "
        "meet there.\n\n" + "\n".join(lines) + f"\n\nRight number by noise: {noise}. {cost:.0f} ms a signal."
    )
    write_section("Regimes", text)
    print(text)


if __name__ == "__main__":
    main()
