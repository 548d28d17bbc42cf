"""The two experiments of the Frontiers'25 paper (§6.3) as signals that are made from its published numbers.

The traces themselves are not public. What is published are the period, the sampling frequency, the length, the number
of checkpoints and the intervals in which the period holds; the rest is varied by the seed: duty cycle, jitter, noise,
and what happens outside the intervals.
"""

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

GB = 1e9

#: What happens outside the intervals in which the period holds.
SURROUNDINGS = ("silence", "irregular", "other period", "noise", "steady")


@dataclass(frozen=True, eq=False)
class Experiment:
    """Intervals of I/O in s with their volume in bytes, the window, and the truth."""

    name: str
    start: npt.NDArray[np.float64]
    end: npt.NDArray[np.float64]
    volume: npt.NDArray[np.float64]
    window: tuple[float, float]
    period: float
    fs: float
    valid: tuple[tuple[float, float], ...]


def _bursts(first: float, stop: float, period: float, length: float) -> npt.NDArray[np.float64]:
    starts = np.arange(first, stop - 0.5 * length, period)
    return np.stack([starts, np.minimum(starts + length, stop)], axis=1)


def _between(
    rng: np.random.Generator, kind: str, low: float, high: float, period: float, length: float
) -> list[tuple[float, float, float]]:
    """Make rows (start, end, rate relative to the bursts) of I/O in [low, high] that do not have the period."""
    if kind == "irregular":
        rows = []
        at = low + rng.uniform(0.1, 0.5) * period
        while at < high - 0.2 * length:
            stop = min(at + length * rng.uniform(0.4, 1.2), high)
            rows.append((at, stop, rng.uniform(0.5, 1.1)))
            at = stop + rng.exponential(0.7 * period)
        return rows
    if kind == "other period":
        other = period * rng.choice([0.45, 0.6, 1.7])
        inner = _bursts(low + 0.3 * other, high, other, length * other / period)
        return [(a, b, 1.0) for a, b in inner]
    if kind == "steady":
        return [(low, high, rng.uniform(0.05, 0.3))] if high > low else []
    return []


def _made(
    name: str,
    rng: np.random.Generator,
    kind: str,
    valid: tuple[tuple[float, float], ...],
    end: float,
    bursts: npt.NDArray[np.float64],
    period: float,
    fs: float,
    rate: float,
) -> Experiment:
    length = float(np.mean(bursts[:, 1] - bursts[:, 0]))
    bursts = bursts + rng.normal(0, 0.01 * period, len(bursts))[:, None]
    rows = [(a, b, rng.normal(1.0, 0.05)) for a, b in bursts]
    edges = [0.0, *(edge for pair in valid for edge in pair), end]
    for low, high in zip(edges[::2], edges[1::2], strict=True):
        rows += _between(rng, kind, low, high, period, length)
    if kind == "noise":
        step = 1.0
        at = np.arange(0.0, end - step, step)
        rows += [(t, t + step, x) for t, x in zip(at, rng.exponential(0.12, at.size), strict=True)]
    start, stop, relative = np.array(rows).T
    start, stop = np.clip(start, 0, end), np.clip(stop, 0, end)
    return Experiment(name, start, stop, relative * rate * (stop - start), (0.0, end), period, fs, valid)


def hacc(seed: int, kind: str) -> Experiment:
    """HACC-IO with 9,216 ranks: 18.01 s at 1 Hz over 180.1 s, valid in [9.88, 72.08] and [106.38, 168.28] s.

    The bursts begin with each interval and go on to its end: 3.45 periods, four bursts. The two trains are therefore
    not in phase with each other: 106.38 - 9.88 s are 5.36 periods.
    """
    rng = np.random.default_rng(seed)
    period, valid = 18.01, ((9.88, 72.08), (106.38, 168.28))
    length = rng.uniform(0.15, 0.45) * period
    bursts = np.concatenate([_bursts(low, high, period, length) for low, high in valid])
    return _made("HACC-IO", rng, kind, valid, 180.1, bursts, period, 1.0, 200 * GB)


def dlio(seed: int, kind: str, at_end: bool = False) -> Experiment:
    """DLIO: ten checkpoints of 35.4 GB, 27.65 s apart, at 10 Hz; valid in [84.54, 370.04] s.

    The interval is 10.33 periods long. As with HACC-IO, the first checkpoint begins with it; or, with ``at_end``, each
    is made at the end of its epoch, and the first one begins most of a period later. Before the interval the data is
    generated; the window ends 5 to 40 s after it.
    """
    rng = np.random.default_rng(seed)
    period, valid = 27.65, ((84.54, 370.04),)
    length = rng.uniform(0.15, 0.4) * period
    first = valid[0][0] + rng.uniform(0.0, 0.33 * period) + (period - length if at_end else 0.0)
    starts = first + period * np.arange(10)
    bursts = np.stack([starts, starts + length], axis=1)
    end = valid[0][1] + rng.uniform(5, 40)
    return _made("DLIO", rng, kind, valid, end, bursts, period, 10.0, 35.4 * GB / length)


def dlio_at_end(seed: int, kind: str) -> Experiment:
    """DLIO with each checkpoint at the end of its epoch."""
    made = dlio(seed, kind, at_end=True)
    return replace(made, name="DLIO, checkpoint at the end of its epoch")


def overlap(found: list[tuple[float, float]], truth: tuple[tuple[float, float], ...]) -> float:
    """Return intersection over union of two sets of intervals, each set disjoint."""
    both = sum(max(0.0, min(b, d) - max(a, c)) for a, b in found for c, d in truth)
    either = sum(b - a for a, b in found) + sum(d - c for c, d in truth) - both
    return both / either if either > 0 else 1.0


#: Share of a period by which a burst may be early or late and still be in step.
IN_STEP = 0.1


def with_bursts_in_step(made: Experiment) -> tuple[tuple[float, float], ...]:
    """Return the intervals, longer by each period at whose place there is another burst by chance.

    What happens outside the intervals knows nothing of the period, but some of it comes when the next burst would have
    come. Nothing in the signal tells such a burst from one that belongs to the interval but, perhaps, its size.
    """
    large = made.volume >= 0.2 * np.median(made.volume[: 8 if made.name == "HACC-IO" else 10])
    starts = np.sort(made.start[large])

    def near(at: float) -> float | None:
        distance = np.abs(starts - at)
        return float(starts[np.argmin(distance)]) if distance.min() <= IN_STEP * made.period else None

    found: list[list[float]] = []
    for low, high in made.valid:
        inside = starts[(starts >= low - IN_STEP * made.period) & (starts <= high)]
        first = near(low)
        # The first and the last burst of the interval itself, by which the next one is placed.
        begin = first if first is not None else float(inside[0])
        last = begin
        while (following := near(last + made.period)) is not None and following <= high:
            last = following
        while (before := near(begin - made.period)) is not None:
            begin, low = before, low - made.period
        while (after := near(last + made.period)) is not None:
            last, high = after, high + made.period
        found.append([max(low, made.window[0]), min(high, made.window[1])])
    joined = [found[0]]
    for low, high in found[1:]:
        if low <= joined[-1][1]:
            joined[-1][1] = max(high, joined[-1][1])
        else:
            joined.append([low, high])
    return tuple((low, high) for low, high in joined)
