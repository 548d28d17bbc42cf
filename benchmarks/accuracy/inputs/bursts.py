"""Bursts of I/O of several shapes and rank counts, from which the periodic inputs are put together."""

from dataclasses import dataclass

import numpy as np

from .signal_input import Floats

SHAPES = (
    "box",
    "ramp up",
    "ramp down",
    "exponential tail",
    "staggered ranks",
    "collective calls",
    "header and data",
    "straggler",
    "bell",
)
PARTS = 12


@dataclass(frozen=True)
class Style:
    """How the phases of a run look.

    Attributes
    ----------
    shape : str
        One of `SHAPES`.
    ranks : int
        Processes that write in "staggered ranks".
    length_spread, volume_spread : float
        Standard deviation of the logarithm of length and volume from phase to phase.
    """

    shape: str
    ranks: int
    length_spread: float
    volume_spread: float


@dataclass(frozen=True, eq=False)
class Bursts:
    """Operations (start, end in s, volume in bytes) and the phases that they make up."""

    start: Floats
    end: Floats
    volume: Floats
    phase_start: Floats
    phase_end: Floats
    phase_bytes: Floats


def draw_style(rng: np.random.Generator, shapes: tuple[str, ...] = SHAPES, spread: float = 0.3) -> Style:
    """Draw a style; half of the runs have phases of equal volume, half of equal length."""
    return Style(
        shape=str(rng.choice(shapes)),
        ranks=int(rng.choice((2, 4, 8, 16, 32))),
        length_spread=float(rng.choice((0.0, 0.03, 0.1))),
        volume_spread=float(rng.choice((0.0, 0.0, spread * rng.uniform()))),
    )


def _pieces(edges: Floats, rates: Floats) -> tuple[Floats, Floats, Floats]:
    moved = rates * np.diff(edges)
    return edges[:-1], edges[1:], moved / moved.sum()


def one_burst(rng: np.random.Generator, style: Style) -> tuple[Floats, Floats, Floats]:
    """Return start, end and share of the volume of a burst's operations; the burst lasts from 0 to 1."""
    grid = np.linspace(0.0, 1.0, PARTS + 1)
    middle = (grid[:-1] + grid[1:]) / 2
    match style.shape:
        case "box":
            return np.zeros(1), np.ones(1), np.ones(1)
        case "ramp up":
            return _pieces(grid, 0.05 + middle)
        case "ramp down":
            return _pieces(grid, 1.05 - middle)
        case "exponential tail":
            return _pieces(grid, np.exp(-4 * middle))
        case "bell":
            return _pieces(grid, np.exp(-0.5 * ((middle - 0.5) / 0.2) ** 2))
        case "staggered ranks":
            late = np.minimum(rng.exponential(0.15, style.ranks), 0.6)
            late[0] = 0.0
            ends = np.minimum(late + rng.uniform(0.3, 0.4, style.ranks), 1.0)
            ends[-1] = 1.0
            return late, ends, np.full(style.ranks, 1 / style.ranks)
        case "collective calls":
            starts = np.arange(8) / 8
            return starts, starts + 1 / 8 * rng.uniform(0.6, 1.0, 8), np.full(8, 1 / 8)
        case "header and data":
            return np.array([0.0, 0.1]), np.array([0.02, 1.0]), np.array([0.01, 0.99])
        case "straggler":
            return np.zeros(2), np.array([0.6, 1.0]), np.array([0.875, 0.125])
    raise ValueError(style.shape)


def make_bursts(
    rng: np.random.Generator, starts: Floats, length: float | Floats, volume: float | Floats, style: Style
) -> Bursts:
    """Return bursts that begin at `starts` in s, of mean length in s and mean volume in bytes, in a style."""
    lengths = length * np.exp(style.length_spread * np.clip(rng.normal(size=starts.size), -2, 2))
    volumes = volume * np.exp(style.volume_spread * np.clip(rng.normal(size=starts.size), -2.5, 2.5))
    parts = [one_burst(rng, style) for _ in range(starts.size)]
    begin = [at + long * part[0] for at, long, part in zip(starts, lengths, parts, strict=True)]
    end = [at + long * part[1] for at, long, part in zip(starts, lengths, parts, strict=True)]
    moved = [size * part[2] for size, part in zip(volumes, parts, strict=True)]
    begins, ends = np.concatenate(begin), np.concatenate(end)
    lasts = np.array([float(one.max()) for one in end])
    return Bursts(begins, ends, np.concatenate(moved), starts, lasts, volumes)


def together(parts: list[Bursts]) -> Bursts:
    """Return several groups of bursts as one, phases in the order of time."""
    joined = {name: np.concatenate([getattr(part, name) for part in parts]) for name in Bursts.__dataclass_fields__}
    order = np.argsort(joined["phase_start"], kind="stable")
    for name in ("phase_start", "phase_end", "phase_bytes"):
        joined[name] = joined[name][order]
    return Bursts(**joined)


def clock(rng: np.random.Generator, cycles: int, period: float, jitter: float, about_clock: bool = True) -> Floats:
    """Return starts in s from 0 on.

    Their deviation, `jitter` × period, is of each from its place on a clock or of each interval.
    """
    deviate = jitter * period * np.clip(rng.normal(size=cycles), -2.5, 2.5)
    starts = period * np.arange(cycles) + deviate if about_clock else np.cumsum(period + deviate)
    return np.asarray(np.sort(starts - starts[0]))


def mean_interval(starts: Floats) -> float:
    """Return the mean time from one start to the next in s: the period that the run really had."""
    return float((starts[-1] - starts[0]) / (starts.size - 1))
