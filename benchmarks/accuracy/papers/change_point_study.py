"""The own partition against the change-point library ruptures, on trains of intervals.

pip install ruptures; PYTHONPATH=benchmarks python benchmarks/accuracy/papers/change_point_study.py
"""

import time

import numpy as np
import ruptures
from iostrata.analysis.phases.regimes import divide
from results import write_section

SEEDS = range(20_000, 20_150)
KINDS = ("regular", "one phase in ten missing")


def train(seed: int, regimes: int, missing: bool) -> tuple[np.ndarray, np.ndarray]:
    """Make intervals of regimes of 8 to 24 cycles with ratios of 1.2 to 5 and up to 5 % jitter, and the true cuts."""
    rng = np.random.default_rng([seed, regimes, missing])
    period, jitter, parts = 1.0, rng.uniform(0, 0.05), []
    for _ in range(regimes):
        count = int(rng.integers(8, 25))
        parts.append(period * (1 + jitter * np.clip(rng.normal(size=count), -2.5, 2.5)))
        period *= float(np.exp(rng.choice([-1, 1]) * rng.uniform(np.log(1.2), np.log(5))))
    if missing:
        # Where a phase is missing two intervals become one.
        for number, part in enumerate(parts):
            whole = np.cumsum(part)
            gone = rng.random(part.size) < 0.1
            gone[-1] = False
            parts[number] = np.diff(np.concatenate(([0.0], whole[~gone])))
    return np.concatenate(parts), np.cumsum([part.size for part in parts])[:-1]


def by_ruptures(model: str):
    """Return ruptures' PELT on the logarithms, with the penalty of the Bayesian information criterion."""

    def cut(intervals: np.ndarray) -> list[int]:
        logs = np.log(intervals)
        # Of the noise, by the differences; for a mean alone two parameters a cut, for mean and variance three.
        variance = max(float(np.median(np.abs(np.diff(logs))) / 0.6745 / np.sqrt(2)), 1e-3) ** 2
        penalty = 2 * variance * np.log(logs.size) if model == "l2" else 3 * np.log(logs.size)
        if model == "rbf":
            return ruptures.KernelCPD(kernel="rbf", min_size=3).fit(logs[:, None]).predict(pen=np.log(logs.size))[:-1]
        return ruptures.Pelt(model=model, min_size=3, jump=1).fit(logs[:, None]).predict(pen=penalty)[:-1]

    return cut


def main() -> None:
    """Measure and write the section."""
    methods = {
        "iostrata": lambda intervals: [first for first, _ in divide(intervals)][1:],
        "ruptures, PELT, mean": by_ruptures("l2"),
        "ruptures, PELT, mean and variance": by_ruptures("normal"),
        "ruptures, kernel (rbf)": by_ruptures("rbf"),
    }
    methods["iostrata"](np.ones(16))
    lines = [
        "| trains | method | right number | cuts within one interval | stationary split | ms a train |",
        "|---|---|---|---|---|---|",
    ]
    for kind in KINDS:
        for name, cut in methods.items():
            right, near, cuts, split, seconds, count = 0, 0, 0, 0, 0.0, 0
            for seed in SEEDS:
                for regimes in (1, 2, 3, 4):
                    intervals, truth = train(seed, regimes, kind != KINDS[0])
                    begin = time.perf_counter()
                    found = list(cut(intervals))
                    seconds += time.perf_counter() - begin
                    count += 1
                    right += len(found) == regimes - 1
                    split += regimes == 1 and len(found) > 0
                    cuts += truth.size
                    near += sum(any(abs(at - place) <= 1 for place in found) for at in truth)
            lines.append(
                f"| {kind} | {name} | {right / count:.1%} | {near / cuts:.1%} | {split / len(SEEDS):.1%} "
                f"| {1000 * seconds / count:.2f} |"
            )
    text = (
        f"Trains of intervals alone, without the search for phases: 1 to 4 regimes, {len(SEEDS)} seeds of each number. "
        "ruptures gets the logarithms and penalties of the Bayesian information criterion; the kernel has the median "
        "heuristic and ln n.\n\n" + "\n".join(lines)
    )
    write_section("Cutting a train into regimes, beside ruptures", text)
    print(text)


if __name__ == "__main__":
    main()
