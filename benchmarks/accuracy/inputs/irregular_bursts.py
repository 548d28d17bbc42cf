"""Bursts without a period: Poisson and clustered times, Hawkes, heavy tails, gamma renewals, few bursts."""

from collections.abc import Callable

import numpy as np

from .bursts import SHAPES, Style, make_bursts
from .signal_input import NO_PERIOD, Floats, SignalInput

DUTIES = (0.01, 0.05, 0.1, 0.2, 0.5)
LAWS = ("constant", "log-normal", "Pareto")


def _of_law(rng: np.random.Generator, law: str, count: int) -> Floats:
    """Return positive numbers with a mean of about 1."""
    match law:
        case "constant":
            return np.ones(count)
        case "log-normal":
            return rng.lognormal(-0.5, 1.0, count)
        case "Pareto":
            return np.minimum((1 + rng.pareto(1.5, count)) / 3, 50.0)
    raise ValueError(law)


def _bursts(
    rng: np.random.Generator, starts: Floats, lengths: Floats, volumes: Floats, window: float, boxes: bool = False
) -> SignalInput:
    """Return irregular bursts within a window in s; half of the runs in a shape other than a box."""
    shape = "box" if boxes or rng.random() < 0.5 else str(rng.choice(SHAPES))
    starts = np.sort(starts)
    if not starts.size:
        starts, lengths, volumes = np.array([window / 2]), np.ones(1), np.ones(1)
    made = make_bursts(rng, starts, lengths, 1e9 * volumes, Style(shape, 8, 0.0, 0.0))
    kept = made.start < window
    end = np.minimum(made.end, window)
    return SignalInput(made.start[kept], end[kept], made.volume[kept], (0.0, window), NO_PERIOD)


def _window(rng: np.random.Generator) -> tuple[float, int]:
    """Return a window of 300 to 3000 s and a number of bursts of 10 to 150."""
    return float(rng.uniform(300, 3000)), int(np.exp(rng.uniform(np.log(10), np.log(150))))


def poisson(rng: np.random.Generator, law: str) -> SignalInput:
    """Poisson times at a duty of 1 to 50 %; volumes follow `law`, lengths too or are constant."""
    window, mean = _window(rng)
    count = max(int(rng.poisson(mean)), 1)
    duty = float(rng.choice(DUTIES))
    lengths = duty * window / mean * (_of_law(rng, law, count) if rng.random() < 0.5 else np.ones(count))
    return _bursts(rng, rng.uniform(0, window, count), lengths, _of_law(rng, law, count), window)


def uniform_times(rng: np.random.Generator) -> SignalInput:
    """Uniform times, phases of like length (0.01 to 2 % of the mean gap upwards), log-normal volumes."""
    window, count = _window(rng)
    length = window / count * np.exp(rng.uniform(np.log(0.01), np.log(0.5)))
    volumes = rng.lognormal(0.0, rng.uniform(0.3, 1.5), count)
    return _bursts(rng, rng.uniform(0, window, count), np.full(count, length), volumes, window, boxes=True)


def neyman_scott(rng: np.random.Generator) -> SignalInput:
    """Clusters at Poisson times with a Poisson number of bursts at normal distances."""
    window, mean = _window(rng)
    children = rng.uniform(2, 10)
    parents = rng.uniform(0, window, max(int(rng.poisson(mean / children)), 1))
    counts = 1 + rng.poisson(children, parents.size)
    starts = np.repeat(parents, counts) + rng.normal(0, rng.uniform(0.005, 0.05) * window, int(counts.sum()))
    starts = starts[(starts > 0) & (starts < window)]
    lengths = np.full(starts.size, window / mean * rng.choice(DUTIES[:4]))
    return _bursts(rng, starts, lengths, _of_law(rng, str(rng.choice(LAWS)), starts.size), window)


def hawkes(rng: np.random.Generator) -> SignalInput:
    """Every burst sets off further ones (0.3 to 0.8 on average) after exponential times."""
    window, mean = _window(rng)
    share, decay = rng.uniform(0.3, 0.8), window / mean * rng.uniform(0.1, 2.0)
    waiting = list(rng.uniform(0, window, max(int(rng.poisson(mean * (1 - share))), 1)))
    starts: list[float] = []
    while waiting and len(starts) < 400:
        at = waiting.pop()
        starts.append(at)
        waiting += [late for late in at + rng.exponential(decay, rng.poisson(share)) if late < window]
    times = np.array(starts)
    lengths = np.full(times.size, window / mean * rng.choice(DUTIES[:4]))
    return _bursts(rng, times, lengths, _of_law(rng, str(rng.choice(LAWS)), times.size), window)


def pareto_on_off(rng: np.random.Generator) -> SignalInput:
    """On and off in turn, both of Pareto lengths (tail index 1.2 to 1.9)."""
    window, mean = _window(rng)
    tail, duty = rng.uniform(1.2, 1.9), float(rng.choice(DUTIES))
    on = duty * (1 + rng.pareto(tail, 4 * mean))
    off = (1 - duty) * (1 + rng.pareto(tail, 4 * mean))
    scale = window / mean / (tail / (tail - 1))
    starts = scale * (np.cumsum(on + off) - on)
    kept = starts < window
    return _bursts(rng, starts[kept], scale * on[kept], on[kept] / duty, window, boxes=True)


def gamma_renewal(rng: np.random.Generator) -> SignalInput:
    """Gamma intervals with a coefficient of variation of 0.5 to 0.9."""
    window, mean = _window(rng)
    variation = rng.uniform(0.5, 0.9)
    gaps = window / mean * rng.gamma(1 / variation**2, variation**2, 3 * mean + 20)
    starts = np.cumsum(gaps)
    starts = starts[starts < window]
    lengths = np.full(starts.size, window / mean * rng.choice(DUTIES[:4]))
    return _bursts(rng, starts, lengths, _of_law(rng, str(rng.choice(LAWS)), starts.size), window)


def few(rng: np.random.Generator) -> SignalInput:
    """One to eight bursts at uniform times."""
    window, count = _window(rng)[0], int(rng.integers(1, 9))
    lengths = window * rng.uniform(0.002, 0.05) * _of_law(rng, str(rng.choice(LAWS)), count)
    return _bursts(rng, rng.uniform(0, window, count), lengths, _of_law(rng, str(rng.choice(LAWS)), count), window)


def mixture(rng: np.random.Generator) -> SignalInput:
    """Dense small operations without order and some large bursts at uniform times, as of a busy file system."""
    window, count = _window(rng)
    small, large = 10 * count, max(count // 4, 3)
    starts = np.concatenate((rng.uniform(0, window, small), rng.uniform(0, window, large)))
    lengths = np.concatenate((np.full(small, 0.02 * window / count), np.full(large, 0.5 * window / count)))
    volumes = np.concatenate((0.02 * rng.lognormal(0, 1, small), rng.lognormal(0, 0.3, large)))
    order = np.argsort(starts)
    return _bursts(rng, starts[order], lengths[order], volumes[order], window, boxes=True)


def rounded_times(rng: np.random.Generator, width: float) -> SignalInput:
    """Poisson bursts whose starts and ends a log gives in whole multiples of `width` s; mean gap 5 to 50 of these."""
    count = int(np.exp(rng.uniform(np.log(10), np.log(150))))
    window = width * round(count * rng.uniform(5, 50))
    starts = width * np.floor(np.sort(rng.uniform(0, window, count)) / width)
    lengths = width * rng.choice((0.0, 1.0, 1.0, 2.0), count)
    return _bursts(rng, starts, lengths, _of_law(rng, str(rng.choice(LAWS)), count), window + 2 * width, boxes=True)


BURSTS: dict[str, Callable[[np.random.Generator], SignalInput]] = {
    "Poisson constant": lambda rng: poisson(rng, "constant"),
    "Poisson log-normal": lambda rng: poisson(rng, "log-normal"),
    "Poisson Pareto": lambda rng: poisson(rng, "Pareto"),
    "uniform times": uniform_times,
    "Neyman-Scott": neyman_scott,
    "Hawkes": hawkes,
    "Pareto on/off": pareto_on_off,
    "gamma renewal": gamma_renewal,
    "1-8 bursts": few,
    "busy file system": mixture,
}
