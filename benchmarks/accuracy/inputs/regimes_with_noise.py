"""Bursts whose period changes from regime to regime, with the truth."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from .signal_input import SignalInput, TrueRegime, Truth

FEWEST_CYCLES, MOST_CYCLES = 8, 24
SMALLEST_RATIO, LARGEST_RATIO = 1.2, 5.0
MOST_JITTER = 0.05
NOISES = ("none", "background", "small operations", "both")


@dataclass(frozen=True, eq=False)
class Run:
    """One made signal: intervals of I/O in s with their volume, the window, and the truth.

    Attributes
    ----------
    start, end, volume : float64 (n,)
        Operations.
    window : (float, float)
        In s.
    boundaries : float64 (r - 1,)
        First burst of each regime but the first, in s.
    periods : float64 (r,)
        Period of each regime in s.
    noise : str
        One of `NOISES`.
    lasts : float64 (r,)
        Last burst of each regime in s.
    """

    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]
    volume: npt.NDArray[np.float64]
    window: tuple[float, float]
    boundaries: npt.NDArray[np.float64]
    periods: npt.NDArray[np.float64]
    noise: str
    lasts: npt.NDArray[np.float64]


def noisy_regimes(rng: np.random.Generator, count: int) -> SignalInput:
    """Return a run of some regimes of 8 to 24 cycles, with the noise of `make_run`, as an input with its truth."""
    run = make_run(rng, count)
    edges = [*run.boundaries.tolist(), float("nan")]
    first = float(run.start[0])
    regimes = []
    for start, after, period, last in zip([first, *edges[:-1]], edges, run.periods.tolist(), run.lasts, strict=True):
        regimes.append(TrueRegime(start, last if np.isnan(after) else after - period, period, float("nan")))
    return SignalInput(run.start, run.end, run.volume, run.window, several(regimes))


def several(regimes: list[TrueRegime]) -> Truth:
    """Return the truth of regimes of unknown volumes; the main period is that of the longest."""
    order = sorted(regimes, key=lambda one: one.start - one.last)
    return Truth((order[0].period,), tuple(one.period for one in order[1:]), regimes=tuple(regimes))


def make_run(rng: np.random.Generator, regimes: int) -> Run:
    """Make a run of some regimes, each of 8 to 24 cycles.

    Neighbouring periods have a ratio of 1.2 to 5 (log-uniform, up or down). Jitter is up to 5 %, either of the time
    from burst to burst or of each burst about its place on a clock. Duty cycles are 2 to 50 % and, like the volume of a
    burst, of each regime by itself or of the whole run.
    """
    periods = [float(np.exp(rng.uniform(np.log(2), np.log(50))))]
    for _ in range(regimes - 1):
        ratio = np.exp(rng.uniform(np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO)))
        periods.append(periods[-1] * (ratio if rng.random() < 0.5 else 1 / ratio))
    jitter, drifting = rng.uniform(0, MOST_JITTER), rng.random() < 0.5
    same_duty, same_volume = rng.random() < 0.5, rng.random() < 0.5
    duty, volume = rng.uniform(0.02, 0.5), 1e9
    at = rng.uniform(0, 1) * periods[0]
    starts, ends, volumes, boundaries = [], [], [], []
    for number, period in enumerate(periods):
        cycles = int(rng.integers(FEWEST_CYCLES, MOST_CYCLES + 1))
        if number and not same_duty:
            duty = rng.uniform(0.02, 0.5)
        if number and not same_volume:
            volume = 1e9 * float(np.exp(rng.uniform(-1, 1)))
        deviates = jitter * period * np.clip(rng.normal(size=cycles), -2.5, 2.5)
        intervals = period + deviates if drifting else np.full(cycles, period)
        clock = at + np.concatenate(([0.0], np.cumsum(intervals)))
        begins = clock[:-1] if drifting else clock[:-1] + deviates / np.sqrt(2)
        if number:
            boundaries.append(float(begins[0]))
        lengths = duty * period * rng.uniform(0.9, 1.1, cycles)
        starts.append(begins)
        ends.append(begins + lengths)
        volumes.append(volume * rng.uniform(0.8, 1.2, cycles))
        at = float(clock[-1])
    begin, end, moved = (np.concatenate(parts) for parts in (starts, ends, volumes))
    window = (0.0, at + rng.uniform(0, 1) * periods[-1])
    begin, end = np.clip(begin, 0, window[1]), np.clip(end, 0, window[1])
    lasts = np.array([float(part[-1]) for part in starts])
    noise = str(rng.choice(NOISES))
    shortest = min(periods)
    if noise in ("background", "both"):
        edges = np.linspace(0, window[1], max(2, int(4 * window[1] / shortest)))
        level = rng.uniform(0.02, 0.2) * moved.sum() / window[1]
        rates = level * rng.exponential(1.0, edges.size - 1)
        begin, end = np.append(begin, edges[:-1]), np.append(end, edges[1:])
        moved = np.append(moved, rates * np.diff(edges))
    if noise in ("small operations", "both"):
        count = int(rng.poisson(0.5 * window[1] / shortest))
        places = rng.uniform(0, window[1], count)
        begin, end = np.append(begin, places), np.append(end, np.minimum(places + 0.02 * shortest, window[1]))
        moved = np.append(moved, volumes[0].min() * rng.uniform(0.001, 0.05, count))
    return Run(begin, end, moved, window, np.array(boundaries), np.array(periods), noise, lasts)
