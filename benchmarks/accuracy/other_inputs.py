"""Signals without a period, trains of pulses, regimes, and several clocks at the same time; all from seeds."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

SAMPLES = 800
DUTIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
CYCLES = (5, 10, 20, 50, 200)
# The seeds of tuning lie above.
FIRST_SEED = 2_000_000


@dataclass(frozen=True, eq=False)
class Intervals:
    """Bursts: start, end (s) and volume (bytes), the window's end and the true periods (s)."""

    start: Floats
    end: Floats
    volume: Floats
    window: float
    periods: tuple[float, ...]


def _autoregressive(rng: np.random.Generator, memory: float) -> Floats:
    noise = rng.normal(size=SAMPLES + 200)
    for row in range(1, noise.size):
        noise[row] += memory * noise[row - 1]
    return noise[200:]


def _bursts(starts: Floats, width: float) -> Floats:
    x = np.zeros(SAMPLES)
    for start in starts:
        x[int(start) : int(start + width)] += 1.0
    return x


def _span(first: int, stop: int) -> Floats:
    x = np.zeros(SAMPLES)
    x[first:stop] = 1.0
    return x


def random_signals(seed: int) -> dict[str, Floats]:
    """Return one signal of every random kind without a period, at 1 Hz over 800 s."""
    rng = np.random.default_rng(seed)
    return {
        "white noise": np.abs(rng.normal(size=SAMPLES)),
        "exponential noise": rng.exponential(size=SAMPLES),
        "random walk": np.abs(np.cumsum(rng.normal(size=SAMPLES))),
        "AR(1) noise, 0.9": np.abs(_autoregressive(rng, 0.9)),
        "AR(1) noise, 0.5": np.abs(_autoregressive(rng, 0.5)),
        "Poisson bursts of 5 s, mean gap 40 s": _bursts(
            np.sort(rng.uniform(0, SAMPLES, rng.poisson(SAMPLES / 40))), 5.0
        ),
        "Poisson bursts of 10 s, mean gap 20 s": _bursts(
            np.sort(rng.uniform(0, SAMPLES, rng.poisson(SAMPLES / 20))), 10.0
        ),
    }


def few_bursts(seed: int) -> dict[str, Floats]:
    """Return signals that can have no period, whatever the seed."""
    rng = np.random.default_rng(seed)
    third = SAMPLES // 3
    where = rng.integers(0, third - 60, 3)
    width = int(rng.integers(5, 60))
    singles = [_span(int(place) + third * k, int(place) + third * k + width) for k, place in enumerate(where)]
    return {
        "one burst": singles[int(rng.integers(3))],
        "two bursts": singles[0] + singles[2],
        "three bursts": singles[0] + singles[1] + singles[2],
        "burst at start and end": _span(0, width) + _span(SAMPLES - width, SAMPLES),
        "ramp": np.arange(SAMPLES) * rng.uniform(0.1, 10.0),
        "constant": np.full(SAMPLES, rng.uniform(0.1, 10.0)),
        "empty": np.zeros(SAMPLES),
    }


def pulse_train(seed: int, duty: float, cycles: int) -> Intervals:
    """Return an exact train of pulses of a random period of 20 to 100 s, with idle time before and after."""
    rng = np.random.default_rng(seed)
    period = rng.uniform(20.0, 100.0)
    start = period * (np.arange(cycles) + rng.uniform(0.0, 1.0))
    end = start + duty * period
    return Intervals(start, end, np.full(cycles, 1e9), float(end[-1]) + rng.uniform(0.0, 1.5) * period, (period,))


def two_regimes(seed: int) -> Intervals:
    """Return bursts of 4 s with a period of 20 s at first and 50 s later."""
    rng = np.random.default_rng(seed)
    first, second = int(rng.integers(8, 30)), int(rng.integers(6, 20))
    start = rng.uniform(0.0, 20.0) + np.concatenate((20.0 * np.arange(first), 20.0 * first + 50.0 * np.arange(second)))
    window = float(start[-1]) + 4.0 + rng.uniform(0.0, 50.0)
    return Intervals(start, start + 4.0, np.full(start.size, 4e9), window, (20.0, 50.0))


def two_clocks(seed: int) -> Intervals:
    """Return two trains at the same time; the ratio of their periods is not near an integer, nor its inverse."""
    rng = np.random.default_rng(seed)
    slow = rng.uniform(60.0, 600.0)
    ratio = rng.integers(1, 5) + rng.uniform(0.2, 0.8)
    fast = slow / ratio
    window = 15.0 * slow
    large = np.arange(rng.uniform(0.0, slow), window - slow / 4, slow)
    small = np.arange(rng.uniform(0.0, fast), window - fast / 4, fast)
    width = rng.uniform(0.01, 0.05) * fast
    size = rng.uniform(1.0, 4.0)
    start = np.concatenate((large, small))
    lengths = np.concatenate((np.full(large.size, size * width), np.full(small.size, width)))
    order = np.argsort(start)
    return Intervals(start[order], (start + lengths)[order], 1e9 * lengths[order], window, (slow, fast))
