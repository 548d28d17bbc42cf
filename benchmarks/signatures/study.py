"""Signatures of IOR_A, IOR_B and IOR_C out of noisy samples: IOSI, IOSI without preprocessing, and time warping.

``python benchmarks/signatures/study.py [seeds]`` writes a table for benchmarks/RESULTS.md. Thresholds were chosen with
seeds below 100; what is told comes from seeds from 100 on. With the folder of repeated recordings in
``IOSTRATA_RECORDINGS`` (``sig_run1`` …) these are tried too.
"""

import os
import sys
import time
from dataclasses import dataclass
from pathlib import Path

import iostrata
import numpy as np
import numpy.typing as npt
from iostrata.runs.signatures.sample import Sample
from iostrata.runs.signatures.signature import Signature, extract_signature
from iostrata.runs.signatures.traces import common_layer, run_signals, trace_samples
from made import APPLICATIONS, USUAL, Application, Noise, samples, true_peaks, true_signature
from scipy.signal import correlate

FIRST_SEED = 100
METHODS = ("iosi", "plain", "dtw")
NEAR_S = 15.0
"""A burst of a signature within this of a true one, or within half of its length, is that one."""


@dataclass(frozen=True)
class Judged:
    """How near a signature is to the true one."""

    cross_correlation: float
    coefficient: float
    volume: float
    missed: int
    false: int
    timing_s: float


def judged(signature: Signature, application: Application) -> Judged:
    """Compare a signature with the application alone: both correlations, volume share, bursts and their timing."""
    true = true_signature(application, signature.interval_s)
    cross, coefficient = correlations(signature.signature, true)
    found = np.array([burst.peak_s for burst in signature.bursts])
    missed, errors, taken = 0, [], set()
    for start, end in true_peaks(application):
        middle, room = (start + end) / 2, max(NEAR_S, (end - start) / 2)
        distance = np.abs(found - middle)
        if not len(found) or distance.min() > room:
            missed += 1
            continue
        taken.add(int(distance.argmin()))
        errors.append(float(distance.min()))
    return Judged(
        cross,
        coefficient,
        signature.volume / sum(application.volumes),
        missed,
        len(found) - len(taken),
        float(np.mean(errors)) if errors else np.nan,
    )


def correlations(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest cross correlation over all lags and that at lag 0, of deviations from the means."""
    length = max(len(one), len(other))
    first, second = (np.pad(values, (0, length - len(values))) for values in (one, other))
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    if scale == 0:
        return 0.0, 0.0
    return float(correlate(first, second, method="fft").max() / scale), float(first @ second / scale)


def row(results: list[Judged]) -> str:
    """Return the means over results as cells of a table."""
    mean = {name: np.nanmean([getattr(one, name) for one in results]) for name in Judged.__dataclass_fields__}
    least = min(one.cross_correlation for one in results)
    return (
        f"{mean['cross_correlation']:.3f} | {least:.2f} | {mean['coefficient']:.3f} | {mean['volume']:.2f} | "
        f"{sum(one.missed for one in results)} | {sum(one.false for one in results)} | {mean['timing_s']:.1f} s"
    )


def tried(application: Application, seeds: int, noise: Noise = USUAL, **options: object) -> list[Judged]:
    """Return what becomes of an application over seeds, with 5 to 10 samples."""
    found = []
    for seed in range(FIRST_SEED, FIRST_SEED + seeds):
        made = samples(application, 5 + seed % 6, seed, noise)
        found.append(judged(extract_signature(made, **options), application))
    return found


def main() -> None:
    seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    print(f"### IOSI and its baselines, {seeds} seeds of 5 to 10 samples\n")
    header = "cross correlation | least | coefficient | volume | missed | false | timing"
    print(f"| application | method | {header} |\n|---|---|---|---|---|---|---|---|---|")
    for application in APPLICATIONS:
        for method in METHODS:
            bursts = len(application.volumes) * seeds
            print(
                f"| {application.name} ({bursts} bursts) | {method} | {row(tried(application, seeds, method=method))} |"
            )
    print("\nTwice as many bursts of other jobs, which no threshold was chosen with:\n")
    print(f"| application | method | {header} |\n|---|---|---|---|---|---|---|---|---|")
    loud = Noise(bursts_per_hour=2 * USUAL.bursts_per_hour, background=2 * USUAL.background)
    for application in APPLICATIONS:
        for method in METHODS:
            print(f"| {application.name} | {method} | {row(tried(application, seeds, loud, method=method))} |")
    sensitivity(seeds)
    durations()
    recordings()


def sensitivity(seeds: int) -> None:
    """Print what level, γ and κ do, over all applications."""
    print("\n### Sensitivity, over the three applications\n")
    print("| option | cross correlation | least | coefficient | volume | missed | false | timing |")
    print("|---|---|---|---|---|---|---|---|")
    settings = [{"level": level} for level in (1, 2, 3, 4)]
    settings += [{"gamma": share} for share in (0.3, 0.5, 0.7, 0.9)]
    settings += [{"kappa": share} for share in (0.5, 0.7, 0.8, 0.9, 1.0)]
    for options in settings:
        options_for = {"gamma": min(0.5, options["kappa"]), **options} if "kappa" in options else options
        results = [one for application in APPLICATIONS for one in tried(application, seeds, **options_for)]
        print(f"| {', '.join(f'{name} {value:g}' for name, value in options.items())} | {row(results)} |")


def durations() -> None:
    """Print how long both methods take over the number and length of the samples (CPU time of this process)."""
    print("\n### Time in s of CPU\n\n| samples × values | IOSI | time warping |\n|---|---|---|")
    longer = Application("IOR_A", (128e9,) * 13, 300.0)
    extract_signature(samples(APPLICATIONS[0], 3, 1))
    extract_signature(samples(APPLICATIONS[0], 3, 1), method="dtw")
    base = samples(longer, 32, 1)
    for count, times in ((4, 1), (8, 1), (16, 1), (32, 1), (8, 2), (8, 4)):
        chosen = [Sample(one.name, np.tile(one.values[:2000], times), one.interval) for one in base[:count]]
        told = []
        for method in ("iosi", "dtw"):
            if method == "dtw" and times > 2:
                told.append("–")
                continue
            start = time.process_time()
            extract_signature(chosen, method=method)
            told.append(f"{time.process_time() - start:.2f}")
        print(f"| {count} × {2000 * times:,} | {' | '.join(told)} |")


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
