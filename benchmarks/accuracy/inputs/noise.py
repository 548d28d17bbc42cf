"""Random signals in bins: noise of several colours, walks, trends, telegraph and shot noise, rounded counters.

None of them has a period. Each returns rates of adjoining bins (never negative) and the bins' width in s.
"""

from collections.abc import Callable

import numpy as np

from .signal_input import Floats, SignalInput, as_bins

WIDTHS = (0.5, 1.0, 5.0, 10.0, 60.0)


def _count(rng: np.random.Generator) -> int:
    return int(np.exp(rng.uniform(np.log(120), np.log(2000))))


def _recursive(rng: np.random.Generator, memory: tuple[float, ...], moving: tuple[float, ...], count: int) -> Floats:
    """Return an ARMA process; its first samples are left out."""
    from scipy.signal import lfilter

    noise = rng.normal(size=count + 300)
    made = lfilter(np.concatenate(([1.0], moving)), np.concatenate(([1.0], -np.array(memory))), noise)
    return np.asarray(made, dtype=float)[300:]


def _positive(rng: np.random.Generator, values: Floats) -> Floats:
    """Return a rate: magnitude, exponential, distance from the lowest, or cut at zero."""
    scaled = values / (values.std() or 1.0)
    match int(rng.integers(4)):
        case 0:
            return np.abs(scaled)
        case 1:
            return np.exp(scaled)
        case 2:
            return np.asarray(scaled - scaled.min())
        case _:
            return np.maximum(scaled, 0.0)


def white(rng: np.random.Generator, count: int) -> Floats:
    """Independent normal or uniform rates."""
    values = rng.normal(size=count) if rng.random() < 0.5 else rng.uniform(-1, 1, count)
    return np.abs(values) if rng.random() < 0.5 else np.asarray(values - values.min())


def exponential(rng: np.random.Generator, count: int) -> Floats:
    """Independent exponential rates, in half of the signals gamma or log-normal ones."""
    match int(rng.integers(4)):
        case 0:
            return rng.gamma(rng.uniform(0.3, 3.0), size=count)
        case 1:
            return rng.lognormal(0.0, rng.uniform(0.3, 1.5), count)
        case _:
            return rng.exponential(size=count)


def autoregressive(rng: np.random.Generator, count: int) -> Floats:
    """AR(1) with a memory of 0.3 to 0.99."""
    return _positive(rng, _recursive(rng, (float(rng.uniform(0.3, 0.99)),), (), count))


def arma(rng: np.random.Generator, count: int) -> Floats:
    """ARMA(2, 1) with real roots, so that it does not swing."""
    one, other = rng.uniform(0.2, 0.95), rng.uniform(-0.5, 0.9)
    return _positive(rng, _recursive(rng, (one + other, -one * other), (float(rng.uniform(-0.8, 0.8)),), count))


def one_over_f(rng: np.random.Generator, count: int) -> Floats:
    """Noise whose power falls with f to the power of -0.5 to -2."""
    lines = np.arange(1, count // 2 + 1, dtype=float)
    spectrum = lines ** (-rng.uniform(0.5, 2.0) / 2) * (rng.normal(size=lines.size) + 1j * rng.normal(size=lines.size))
    return _positive(rng, np.fft.irfft(np.concatenate(([0.0], spectrum)), count))


def random_walk(rng: np.random.Generator, count: int) -> Floats:
    """Sum of independent steps."""
    return _positive(rng, np.cumsum(rng.normal(size=count)))


def trend(rng: np.random.Generator, count: int) -> Floats:
    """A ramp, a parabola, an exponential decay, a saturation or less than two slow swings, with noise."""
    at = np.linspace(0.0, 1.0, count)
    slow = [
        at,
        (at - rng.uniform()) ** 2,
        np.exp(-at * rng.uniform(1, 10)),
        1 - np.exp(-at * rng.uniform(1, 10)),
        1 + np.sin(2 * np.pi * at * rng.uniform(0.3, 1.8) + rng.uniform(0, 6)),
        (at > rng.uniform(0.1, 0.9)).astype(float),
    ][int(rng.integers(6))]
    if rng.random() < 0.3:
        slow = 1 - slow / max(float(slow.max()), 1e-12)
    return np.maximum(slow + rng.choice((0.0, 0.02, 0.1, 0.5)) * rng.normal(size=count), 0.0)


def telegraph(rng: np.random.Generator, count: int) -> Floats:
    """Two or three levels with exponential stays of 2 to 40 bins."""
    high, low = rng.uniform(2, 40), rng.uniform(2, 40)
    values, level = np.empty(count), int(rng.integers(2))
    at = 0
    levels = (0.0 if rng.random() < 0.7 else 0.3, 1.0)
    while at < count:
        stay = 1 + int(rng.exponential(high if level else low))
        values[at : at + stay] = levels[level] * (1.0 if rng.random() < 0.8 else 1.5)
        at, level = at + stay, 1 - level
    return values


def shot(rng: np.random.Generator, count: int) -> Floats:
    """Poisson events, each an exponential or rectangular pulse of 2 to 30 bins."""
    events = rng.poisson(rng.uniform(0.02, 0.3), count) * rng.choice((np.ones(count), rng.exponential(size=count)))
    length = int(rng.uniform(2, 30))
    pulse = np.exp(-np.arange(6 * length) / length) if rng.random() < 0.5 else np.ones(length)
    return np.asarray(np.convolve(events, pulse)[:count])


def flicker_with_gaps(rng: np.random.Generator, count: int) -> Floats:
    """Log-normal noise that is silent in random stretches, as of a shared server."""
    return exponential(rng, count) * telegraph(rng, count)


NOISES: dict[str, Callable[[np.random.Generator, int], Floats]] = {
    "white": white,
    "exponential": exponential,
    "AR": autoregressive,
    "ARMA": arma,
    "1/f": one_over_f,
    "random walk": random_walk,
    "trend": trend,
    "telegraph": telegraph,
    "shot noise": shot,
    "noise with silent stretches": flicker_with_gaps,
}


def noise(name: str, rng: np.random.Generator) -> SignalInput:
    """Return 120 to 2000 bins of a kind of noise; bins of 0.5 to 60 s; 1e6 bytes/s on average."""
    values = NOISES[name](rng, _count(rng))
    return as_bins(1e6 * values / (values.mean() or 1.0), float(rng.choice(WIDTHS)))


def late_sampler(rng: np.random.Generator) -> SignalInput:
    """Return a kind of noise in bins that are nearly of one width.

    Their edges are rounded, late by up to 3 % of a bin, always a little late, or those of operations that last a bin.
    """
    bins = noise(str(rng.choice(list(NOISES))), rng)
    width, count = 1 / bins.fs, bins.start.size
    edges = rng.uniform(0, 1e6) + width * np.arange(count + 1)
    late = width * np.exp(rng.uniform(np.log(1e-4), np.log(0.03)))
    match int(rng.integers(4)):
        case 0:
            edges = late * np.round(edges / late)
        case 1:
            edges = edges + late * rng.uniform(size=count + 1)
        case 2:
            edges = edges + np.cumsum(late * rng.exponential(size=count + 1))
    end = edges[:-1] + np.diff(edges)
    volume, window = bins.volume / width * np.diff(edges), (float(edges[0]), float(end[-1]))
    return SignalInput(edges[:-1], end, volume, window, fs=bins.fs)


def rounded_counter(rng: np.random.Generator, width: float) -> SignalInput:
    """Return what a counter that holds whole units, read every `width` s, says of irregular activity.

    The mean is 0.05 to 20 units a bin, of white, autoregressive or Poisson burst activity.
    """
    count = _count(rng)
    level = np.exp(rng.uniform(np.log(0.05), np.log(20)))
    match int(rng.integers(3)):
        case 0:
            units = rng.poisson(level, count).astype(float)
        case 1:
            rate = autoregressive(rng, count)
            units = np.round(level * rate / (rate.mean() or 1.0))
        case _:
            # The counter itself is cut to whole units, so that a remainder is carried on.
            rate = exponential(rng, count) * (rng.random(count) < rng.uniform(0.1, 1.0))
            units = np.diff(np.floor(np.cumsum(np.append(0.0, level * rate / (rate.mean() or 1.0)))))
    return as_bins(units * 1e6 / width, width)
