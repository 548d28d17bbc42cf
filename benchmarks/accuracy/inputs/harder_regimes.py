"""Runs whose regimes are hard to tell, and runs without any, for how sure to be of a regime."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .regimes_with_noise import several
from .signal_input import NO_PERIOD, SignalInput, TrueRegime

MOST_JITTER = 0.3
MOST_MISSING = 0.15
SMALLEST_RATIO, LARGEST_RATIO = 1.15, 5.0
BACKGROUND = (0.0, 0.1, 0.5, 1.0)
WANDERING = 0.15


@dataclass(frozen=True, eq=False)
class HarderRun:
    """Intervals of I/O in s with their volume, the window, and the truth.

    Attributes
    ----------
    start, end, volume : float64 (n,)
    window : (float, float)
        In s.
    stretches : tuple of (float, float, float)
        Start, end and period in s of each stretch with one period.
    """

    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]
    volume: npt.NDArray[np.float64]
    window: tuple[float, float]
    stretches: tuple[tuple[float, float, float], ...]


def harder_run(rng: np.random.Generator, regimes: int) -> HarderRun:
    """Make a run of some regimes of 6 to 29 cycles each.

    Neighbouring periods have a ratio of 1.15 to 5 (log-uniform, up or down); jitter is up to 30 %, of the intervals or
    about a clock; in half of the runs up to 15 % of the bursts are missing; duty cycle 2 to 60 %; the volume of a burst
    is log-normal with σ up to 0.6; background I/O has 0, 0.1, 0.5 or 1 times the bursts' volume.
    """
    periods = [float(np.exp(rng.uniform(np.log(2), np.log(50))))]
    for _ in range(regimes - 1):
        ratio = np.exp(rng.uniform(np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO)))
        periods.append(periods[-1] * (ratio if rng.random() < 0.5 else 1 / ratio))
    jitter, drifting = rng.uniform(0, MOST_JITTER), rng.random() < 0.5
    missing = rng.uniform(0, MOST_MISSING) if rng.random() < 0.5 else 0.0
    duty, spread = rng.uniform(0.02, 0.6), rng.uniform(0, 0.6)
    at = rng.uniform(0, 1) * periods[0]
    starts, ends, volumes, stretches = [], [], [], []
    for period in periods:
        count = int(rng.integers(6, 30))
        steps = period * np.maximum(1 + jitter * rng.normal(size=count), 0.1) if drifting else np.full(count, period)
        clock = at + np.concatenate(([0.0], np.cumsum(steps)))
        begins = clock[:-1] + (0.0 if drifting else jitter * period * rng.normal(size=count) / np.sqrt(2))
        stretches.append((float(at), float(clock[-1]), period))
        begins = begins[rng.random(count) >= missing]
        starts.append(begins)
        ends.append(begins + duty * period * rng.uniform(0.7, 1.3, begins.size))
        volumes.append(1e9 * np.exp(spread * rng.normal(size=begins.size)))
        at = float(clock[-1])
    begin, end, moved = (np.concatenate(parts) for parts in (starts, ends, volumes))
    window = (0.0, at + rng.uniform(0, 1) * periods[-1])
    begin, end = np.clip(begin, 0, window[1]), np.clip(end, 0, window[1])
    level = rng.choice(BACKGROUND)
    if level:
        edges = np.linspace(0, window[1], max(2, int(4 * window[1] / min(periods))))
        rates = level * moved.sum() / window[1] * rng.exponential(1.0, edges.size - 1)
        begin, end = np.append(begin, edges[:-1]), np.append(end, edges[1:])
        moved = np.append(moved, rates * np.diff(edges))
    return HarderRun(begin, end, moved, window, tuple(stretches))


def wandering_run(rng: np.random.Generator) -> HarderRun:
    """Make 20 to 149 bursts between which the logarithm of the time wanders at random, by 0.15 from one to the next."""
    intervals = np.exp(np.cumsum(rng.normal(0, WANDERING, int(rng.integers(20, 150)))))
    start = np.cumsum(intervals)
    volume = 1e9 * np.exp(0.2 * rng.normal(size=start.size))
    stretches = tuple(zip((start - intervals).tolist(), start.tolist(), intervals.tolist(), strict=True))
    window = (0.0, float(start[-1] + intervals.mean()))
    return HarderRun(start, start + 0.3 * intervals.min(), volume, window, stretches)


def harder_input(rng: np.random.Generator, count: int) -> SignalInput:
    """Return `harder_run` as an input with its truth."""
    run = harder_run(rng, count)
    regimes = [TrueRegime(start, end - period, period, float("nan")) for start, end, period in run.stretches]
    return SignalInput(run.start, run.end, run.volume, run.window, several(regimes))


def wandering_input(rng: np.random.Generator) -> SignalInput:
    """Return `wandering_run` as an input without a period."""
    run = wandering_run(rng)
    return SignalInput(run.start, run.end, run.volume, run.window, NO_PERIOD)
