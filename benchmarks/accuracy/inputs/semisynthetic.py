"""Semi-synthetic traces after the study of FTIO (IPDPS'24, §III-A), from seeds.

A trace is a number of iterations, each a compute phase of t_cpu ~ N(µ, σ) cut at zero, followed by an I/O phase in
which every process writes its share, process k a time δ_k ~ Exp(φ) after the first. The paper cuts its I/O phases out
of 99 recorded runs of IOR, which are not public; here their durations are drawn so that they have the published mean
(10.4 s) and range (10.22 to 13.34 s). Noise is one more process that writes at 0.5 or 1 GB/s in bursts, about every
2.2 s.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

GIGABYTE = 1e9
PROCESSES = 32
ITERATIONS = 20
REQUESTS = 70
SHARE = 3.5 * GIGABYTE
NOISE_RATE = {"none": 0.0, "low": 0.5, "high": 1.0}


@dataclass(frozen=True)
class Point:
    """One point of the sweep: which sweep it belongs to, µ in s, σ/µ, φ in s, and the noise."""

    sweep: str
    compute: float
    variation: float
    delay: float
    noise: str

    @property
    def hard(self) -> bool:
        """Whether it is of the part that is hard to judge: σ/µ ≥ 0.5 or φ ≥ 5."""
        return self.variation >= 0.5 or self.delay >= 5

    @property
    def name(self) -> str:
        """What varies, with its value."""
        value = {"t_cpu": self.compute, "φ": self.delay, "σ/µ": self.variation}[self.sweep]
        return f"{self.sweep} = {value:g}, noise {self.noise}"


@dataclass(frozen=True, eq=False)
class Run:
    """Intervals of one trace with its truth.

    Attributes
    ----------
    start, end, volume : float64 (n,)
        Of every request; s and bytes.
    window : float
        End of the window in s; it starts at 0.
    mean_interval : float
        Mean time between the starts of phases in s: the truth.
    mean_iteration : float
        Mean of compute plus I/O time in s, the truth as the paper defines it.
    """

    start: Floats
    end: Floats
    volume: Floats
    window: float
    mean_interval: float
    mean_iteration: float


def points() -> list[Point]:
    """Return the 35 points of the study."""
    found = [Point("t_cpu", float(compute), 0.0, 0.0, noise) for noise in NOISE_RATE for compute in (1, 5, 11, 22, 44)]
    found += [Point("φ", 11.0, 0.0, float(delay), noise) for noise in NOISE_RATE for delay in (0, 2, 5, 11, 22)]
    found += [Point("σ/µ", 11.0, variation, 0.0, "none") for variation in (0.0, 0.25, 0.5, 1.0, 2.0)]
    return found


def seed_of(point: int, trace: int) -> int:
    """Return the seed of a trace of the figures; those used for tuning lie ten million above."""
    return 1_000_000 + 1000 * point + trace


def _requests(rng: np.random.Generator, begin: float, duration: float, count: int) -> tuple[Floats, Floats]:
    """Cut a stretch into back-to-back requests of unequal durations."""
    weights = rng.gamma(20.0, 1.0, count)
    ends = begin + duration * np.cumsum(weights) / weights.sum()
    return np.concatenate(([begin], ends[:-1])), ends


def generate(point: Point, seed: int) -> Run:
    """Generate one trace; the same seed gives the same trace.

    The window ends a random 0 to 1.5 mean iterations after the last request. Without that tail the window would be
    20 iterations exactly, and any grid over it would hold the truth.
    """
    rng = np.random.default_rng(seed)
    deviation = point.variation * point.compute
    starts: list[Floats] = []
    ends: list[Floats] = []
    volumes: list[Floats] = []
    phase_starts, iterations = [], []
    now = 0.0
    for _ in range(ITERATIONS):
        compute = point.compute if deviation == 0 else -1.0
        while compute <= 0:
            compute = rng.normal(point.compute, deviation)
        begin = now + compute
        longest = 10.22 + min(rng.gamma(1.0, 0.19), 3.12)
        durations = longest * rng.uniform(0.93, 1.0, PROCESSES)
        durations[rng.integers(PROCESSES)] = longest
        delays = rng.exponential(point.delay, PROCESSES) if point.delay > 0 else np.zeros(PROCESSES)
        delays[0] = 0.0
        last = begin
        for delay, duration in zip(delays, durations, strict=True):
            one, other = _requests(rng, begin + delay, duration, REQUESTS)
            starts.append(one)
            ends.append(other)
            volumes.append(np.full(REQUESTS, SHARE / REQUESTS))
            last = max(last, float(other[-1]))
        phase_starts.append(begin)
        iterations.append(last - now)
        now = last
    if point.noise != "none":
        rate = NOISE_RATE[point.noise] * GIGABYTE
        at = 0.0
        while at < now:
            period, duty = rng.normal(2.2, 0.1), rng.uniform(0.5, 1.0)
            for _ in range(10):
                if at >= now:
                    break
                volume = rate * rng.uniform(0.9, 1.1) * period * duty
                one, other = _requests(rng, at, period * duty, 10)
                starts.append(one)
                ends.append(other)
                volumes.append(np.full(10, volume / 10))
                at += period
    mean_iteration = float(np.mean(iterations))
    start, end = np.concatenate(starts), np.concatenate(ends)
    tail = np.random.default_rng([seed, 77]).uniform(0.0, 1.5) * mean_iteration
    return Run(
        start,
        end,
        np.concatenate(volumes),
        float(end.max()) + tail,
        float(np.diff(phase_starts).mean()),
        mean_iteration,
    )
