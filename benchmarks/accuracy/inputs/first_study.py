"""The inputs and seeds of the first study: signals at 1 Hz over 800 s, pulse trains, 20 s then 50 s, two clocks."""

from collections.abc import Callable
from functools import partial

import numpy as np

from . import semisynthetic
from .signal_input import Floats, SignalInput, TrueRegime, Truth, as_bins

SAMPLES = 800
DUTIES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9)
CYCLES = (5, 10, 20, 50, 200)
FIRST_SEED = 2_000_000
TUNING = 10_000_000

Seeded = Callable[[int], SignalInput]


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


def _periodic(start: Floats, end: Floats, volume: Floats, window: float, truth: Truth) -> SignalInput:
    return SignalInput(start, end, volume, (0.0, window), truth)


def pulse_train(seed: int, duty: float, cycles: int) -> SignalInput:
    """Return an exact train of pulses of a random period of 20 to 100 s, with idle time before and after."""
    rng = np.random.default_rng(seed)
    period = rng.uniform(20.0, 100.0)
    start = period * (np.arange(cycles) + rng.uniform(0.0, 1.0))
    end, volume = start + duty * period, np.full(cycles, 1e9)
    regimes = (TrueRegime(float(start[0]), float(start[-1]), period, 1e9),)
    truth = Truth((period,), (), (), regimes, False, start, end, volume, True)
    return _periodic(start, end, volume, float(end[-1]) + rng.uniform(0.0, 1.5) * period, truth)


def two_regimes(seed: int) -> SignalInput:
    """Return bursts of 4 s with a period of 20 s at first and 50 s later."""
    rng = np.random.default_rng(seed)
    first, second = int(rng.integers(8, 30)), int(rng.integers(6, 20))
    start = rng.uniform(0.0, 20.0) + np.concatenate((20.0 * np.arange(first), 20.0 * first + 50.0 * np.arange(second)))
    window = float(start[-1]) + 4.0 + rng.uniform(0.0, 50.0)
    # The burst in which they meet belongs to both.
    regimes = (
        TrueRegime(float(start[0]), float(start[first - 1]), 20.0, 4e9),
        TrueRegime(float(start[first]), float(start[-1]), 50.0, 4e9),
    )
    volume = np.full(start.size, 4e9)
    truth = Truth((20.0,), (50.0,), (), regimes, False, start, start + 4.0, volume, True)
    return _periodic(start, start + 4.0, volume, window, truth)


def two_clocks(seed: int) -> SignalInput:
    """Return two trains at the same time; the ratio of their periods is not near an integer, nor its inverse."""
    rng = np.random.default_rng(seed)
    slow = rng.uniform(60.0, 600.0)
    ratio = rng.integers(1, 5) + rng.uniform(0.2, 0.8)
    fast = float(slow / ratio)
    window = 15.0 * slow
    large = np.arange(rng.uniform(0.0, slow), window - slow / 4, slow)
    small = np.arange(rng.uniform(0.0, fast), window - fast / 4, fast)
    width = rng.uniform(0.01, 0.05) * fast
    size = rng.uniform(1.0, 4.0)
    start = np.concatenate((large, small))
    lengths = np.concatenate((np.full(large.size, size * width), np.full(small.size, width)))
    order = np.argsort(start)
    periods = (slow, fast) if size * large.size >= small.size else (fast, slow)
    return _periodic(start[order], (start + lengths)[order], 1e9 * lengths[order], window, Truth(periods))


def sweep(seed: int, row: int) -> SignalInput:
    """Return a trace of a point of the semi-synthetic sweep; the truth is the mean time between phase starts."""
    run = semisynthetic.generate(semisynthetic.points()[row], seed)
    bytes_of_phases = np.full(semisynthetic.ITERATIONS, semisynthetic.PROCESSES * semisynthetic.SHARE)
    return _periodic(
        run.start, run.end, run.volume, run.window, Truth((run.mean_interval,), phase_bytes=bytes_of_phases)
    )


def _of(signals: Callable[[int], dict[str, Floats]], name: str, number: int) -> SignalInput:
    return as_bins(signals(FIRST_SEED + number)[name], 1.0)


def _pulses(duty: float, number: int) -> SignalInput:
    return pulse_train(FIRST_SEED + 10_000 + number // len(CYCLES), duty, CYCLES[number % len(CYCLES)])


def _shifted(make: Callable[[int], SignalInput], number: int) -> SignalInput:
    return make(FIRST_SEED + 20_000 + number)


def _sweep(row: int, number: int) -> SignalInput:
    return sweep(semisynthetic.seed_of(row, number), row)


def first_study() -> list[tuple[str, str, Seeded]]:
    """Return name, family and generator of each class; a generator takes the number of the input, from 0 on."""
    found: list[tuple[str, str, Seeded]] = []
    for signals in (random_signals, few_bursts):
        found += [(f"null 800 s/{name}", "null", partial(_of, signals, name)) for name in signals(0)]
    found += [(f"pulses/duty {100 * duty:g} %", "period", partial(_pulses, duty)) for duty in DUTIES]
    found.append(("regimes/20 s then 50 s", "regimes", partial(_shifted, two_regimes)))
    found.append(("concurrent/other ratios", "concurrent", partial(_shifted, two_clocks)))
    found += [
        (f"sweep/{point.name}", "sweep", partial(_sweep, row)) for row, point in enumerate(semisynthetic.points())
    ]
    return found
