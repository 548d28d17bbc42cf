"""Signatures of IOR_A, IOR_B and IOR_C out of noisy samples: IOSI, IOSI without preprocessing, and time warping.

``python benchmarks/signatures/study.py [seeds]`` writes a table for benchmarks/RESULTS.md. Thresholds were chosen with
seeds below 100; what is told comes from seeds from 100 on. With the folder of repeated recordings in
``IOSTRATA_RECORDINGS`` (``sig_run1`` …) these are tried too. With matplotlib it draws the pictures of docs/figures/.
"""

import os
import sys
import time
from pathlib import Path

import iostrata
import numpy as np
from figures import draw_figures
from iostrata.runs.signatures.sample import Sample
from iostrata.runs.signatures.signature import extract_signature
from iostrata.runs.signatures.traces import common_layer, run_signals, trace_samples
from judging import Judged, judged
from made import APPLICATIONS, USUAL, Application, Noise, samples

FIRST_SEED = 100
OTHER_SEEDS = (300, 340, 400, 500, 600, 700)
TWICE = Noise(bursts_per_hour=2 * USUAL.bursts_per_hour, background=2 * USUAL.background)
UNEVEN = Noise(unevenness=0.5, uneven_s=2.0)
METHODS = ("iosi", "plain", "dtw")
FIGURES = Path(__file__).parents[2] / "docs" / "figures"
LEVELS, GAMMAS, KAPPAS = (1, 2, 3, 4), (0.3, 0.5, 0.7, 0.9), (0.5, 0.7, 0.8, 0.9, 1.0)
LENGTHS = ((4, 1), (8, 1), (16, 1), (32, 1), (8, 2), (8, 4))
"""Samples, and how many times 2000 values each of them has."""
Results = dict[str, list[Judged]]


def row(results: list[Judged]) -> str:
    """Return the means over results as cells of a table."""
    names = ("cross_correlation", "coefficient", "volume", "timing_s")
    mean = {name: np.nanmean([getattr(one, name) for one in results]) for name in names}
    least = min(one.cross_correlation for one in results)
    return (
        f"{mean['cross_correlation']:.3f} | {least:.2f} | {mean['coefficient']:.3f} | {mean['volume']:.2f} | "
        f"{sum(one.missed for one in results)} | {sum(one.false for one in results)} | {mean['timing_s']:.1f} s"
    )


def tried(
    application: Application, seeds: int, noise: Noise = USUAL, first: int = FIRST_SEED, **options: object
) -> list[Judged]:
    """Return what becomes of an application over seeds, with 5 to 10 samples."""
    found = []
    for seed in range(first, first + seeds):
        made = samples(application, 5 + seed % 6, seed, noise)
        found.append(judged(extract_signature(made, **options), application))
    return found


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"### IOSI and its baselines, {seeds} seeds of 5 to 10 samples\n")
    measures = baselines(seeds)
    print("\nTwice as many bursts of other jobs, which no threshold was chosen with:\n")
    baselines(seeds, TWICE)
    perfect(measures)
    other_seeds(seeds)
    options = sensitivity(seeds, {name: measures[name, "iosi"] for name, method in measures if method == "iosi"})
    levels(seeds)
    times = durations()
    recordings()
    for path in draw_figures(measures, options, times, FIGURES):
        print(f"wrote {path}")


def baselines(seeds: int, noise: Noise = USUAL) -> dict[tuple[str, str], list[Judged]]:
    """Print and return what becomes of each application by each method."""
    header = "cross correlation | least | coefficient | volume | missed | false | timing"
    print(f"| application | method | {header} |\n|---|---|---|---|---|---|---|---|---|")
    found = {}
    for application in APPLICATIONS:
        for method in METHODS:
            found[application.name, method] = results = tried(application, seeds, noise, method=method)
            bursts = sum(one.bursts for one in results)
            print(f"| {application.name} ({bursts} bursts) | {method} | {row(results)} |")
    return found


def perfect(measures: dict[tuple[str, str], list[Judged]]) -> None:
    """Print how many times time warping's coefficients IOSI has, and a signature without any fault would have."""
    print("\n### Times the coefficient of time warping\n")
    print("| application | IOSI | a perfect one | 5 times or more: IOSI | a perfect one |\n|---|---|---|---|---|")
    for application in APPLICATIONS:
        own, warped = (
            np.array([one.coefficient for one in measures[application.name, method]]) for method in ("iosi", "dtw")
        )
        # By mean over mean; where warping's is below 0 any is as much better as one likes.
        often = [100 * np.mean(several >= 5 * np.maximum(warped, 0)) for several in (own, np.ones(len(own)))]
        print(
            f"| {application.name} | {own.mean() / warped.mean():.1f} | {1 / warped.mean():.1f} | "
            f"{often[0]:.0f} % of the seeds | {often[1]:.0f} % |"
        )


def other_seeds(seeds: int) -> None:
    """Print what is missed on more seeds, and whether one who knows the truth could tell it from chance."""
    print("\n### Bursts missed on other seeds\n")
    print("| seeds | bursts | missed | false | chance of those, time and length known |\n|---|---|---|---|---|")
    for first in OTHER_SEEDS:
        found = [one for application in APPLICATIONS for one in tried(application, seeds, first=first)]
        hidden = sorted(chance for one in found for chance in one.hidden)
        told = ", ".join(f"{chance:.2g}" for chance in hidden) or "–"
        bursts, missed, false = (sum(getattr(one, name) for one in found) for name in ("bursts", "missed", "false"))
        print(f"| {first} to {first + seeds - 1} | {bursts} | {missed} | {false} | {told} |")


def sensitivity(seeds: int, usual: Results) -> dict[tuple[str, float], Results]:
    """Print and return what level, γ and κ do; `usual` are the results with the defaults."""
    print("\n### Sensitivity, over the three applications\n")
    print("| option | cross correlation | least | coefficient | volume | missed | false | timing |")
    print("|---|---|---|---|---|---|---|---|")
    found: dict[tuple[str, float], Results] = {}
    for name, values, default in (("level", LEVELS, 2), ("gamma", GAMMAS, 0.5), ("kappa", KAPPAS, 0.9)):
        for value in values:
            if value == default:
                results = usual
            else:
                # A unit that is dense is supported, so γ is at most κ.
                options = {"kappa": {"gamma": min(0.5, value)}, "gamma": {"kappa": max(0.9, value)}}.get(name, {})
                results = {one.name: tried(one, seeds, **{name: value}, **options) for one in APPLICATIONS}
            found[name, value] = results
            print(f"| {name} {value:g} | {row([one for several in results.values() for one in several])} |")
    return found


def levels(seeds: int) -> None:
    """Print what the level of the wavelet does where there is more to smooth than usual."""
    print("\n### Level of the wavelet beside more noise\n")
    print("| noise | level | cross correlation | least | coefficient | volume | missed | false | timing |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, noise in (
        ("twice as many bursts of other jobs", TWICE),
        ("bursts of a rate that varies by half every 2 s", UNEVEN),
    ):
        for level in LEVELS:
            results = [one for application in APPLICATIONS for one in tried(application, seeds, noise, level=level)]
            print(f"| {name} | {level} | {row(results)} |", flush=True)


def durations() -> list[tuple[int, int, float, float | None]]:
    """Print and return how long both methods take over number and length of the samples (CPU, the least of three)."""
    print("\n### Time in s of CPU\n\n| samples × values | IOSI | time warping |\n|---|---|---|")
    longer = Application("IOR_A", (128e9,) * 13, 300.0)
    extract_signature(samples(APPLICATIONS[0], 3, 1))
    extract_signature(samples(APPLICATIONS[0], 3, 1), method="dtw")
    base = samples(longer, 32, 1)
    found = []
    for count, times in LENGTHS:
        chosen = [Sample(one.name, np.tile(one.values[:2000], times), one.interval) for one in base[:count]]
        told: list[float | None] = []
        for method in ("iosi", "dtw"):
            if method == "dtw" and times > 2:
                told.append(None)
                continue
            taken = []
            for _ in range(3):
                start = time.process_time()
                extract_signature(chosen, method=method)
                taken.append(time.process_time() - start)
            told.append(min(taken))
        cells = " | ".join("–" if one is None else f"{one:.2f}" for one in told)
        print(f"| {count} × {2000 * times:,} | {cells} |")
        found.append((count, 2000 * times, told[0] or 0.0, told[1]))
    return found


def recordings() -> None:
    """Print the signature of real repeated runs, where they are."""
    folder = os.environ.get("IOSTRATA_RECORDINGS")
    if folder is None:
        return
    runs = sorted(Path(folder).glob("sig_run*"))
    print(f"\n### {len(runs)} recordings of one program beside random load\n")
    print("| layer | interval | runs used | bursts | volume | volumes of the bursts |\n|---|---|---|---|---|---|")
    traces = [iostrata.open_trace(run) for run in runs]
    for layer in ("MPI-IO", "POSIX"):
        signals = [run_signals(trace, run.name, "write") for trace, run in zip(traces, runs, strict=True)]
        for interval in (None, 0.05, 0.02):
            made = trace_samples(signals, common_layer(signals, layer), interval)
            found = extract_signature(made, recorded="program")
            true = np.mean([one.volume for one in made])
            shares = [burst.volume / (true / 10) for burst in found.bursts]
            used = sum(one.used for one in found.samples)
            print(
                f"| {layer} | {made[0].interval:g} s | {used} of {len(runs)} | {len(found.bursts)} | "
                f"{found.volume / true:.3f} | {min(shares):.2f} … {max(shares):.2f} |"
            )


if __name__ == "__main__":
    main()
