"""Made runs of one to four regimes, as streams of operations in the order in which they end, with the truth."""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "accuracy"))

from inputs.bursts import clock, draw_style, make_bursts, together

Floats = npt.NDArray[np.float64]

FEWEST_CYCLES, MOST_CYCLES = 8, 24
SHORTEST, LONGEST = 2.0, 60.0
SMALLEST_RATIO, LARGEST_RATIO = 1.2, 5.0
MOST_JITTER = 0.05
NOISES = ("none", "none", "background", "small operations")


@dataclass(frozen=True, eq=False)
class Run:
    """Operations in the order of their ends, start and end of each phase, and the regime of each, all in s.

    Attributes
    ----------
    start, end, volume : float64 (n,)
    phase_start, phase_end : float64 (k,)
    regime : int64 (k,)
    periods : tuple of float
        One a regime.
    """

    start: Floats
    end: Floats
    volume: npt.NDArray[np.int64]
    phase_start: Floats
    phase_end: Floats
    regime: npt.NDArray[np.int64]
    periods: tuple[float, ...]


def made_run(seed: int, regimes: int) -> Run:
    """Return a run whose neighbouring periods have a ratio of 1.2 to 5, up or down."""
    rng = np.random.default_rng([seed, regimes, 77])
    periods = [float(np.exp(rng.uniform(np.log(SHORTEST), np.log(LONGEST))))]
    for _ in range(regimes - 1):
        ratio = float(np.exp(rng.uniform(np.log(SMALLEST_RATIO), np.log(LARGEST_RATIO))))
        periods.append(periods[-1] * (ratio if rng.random() < 0.5 else 1 / ratio))
    jitter, about_clock = rng.uniform(0, MOST_JITTER), bool(rng.random() < 0.5)
    same_style = rng.random() < 0.5
    style, duty = draw_style(rng), rng.uniform(0.02, 0.5)
    at, parts, numbers = rng.uniform(0, 1) * periods[0], [], []
    for number, period in enumerate(periods):
        if number and not same_style:
            style, duty = draw_style(rng), rng.uniform(0.02, 0.5)
        cycles = int(rng.integers(FEWEST_CYCLES, MOST_CYCLES + 1))
        starts = at + clock(rng, cycles, period, jitter, about_clock)
        parts.append(make_bursts(rng, starts, duty * period, 1e9, style))
        numbers += [number] * cycles
        at = float(starts[-1]) + period
    whole = together(parts)
    start, end, volume = whole.start, whole.end, whole.volume
    noise, last = str(rng.choice(NOISES)), float(end.max())
    if noise == "background":
        edges = np.linspace(0, last, max(2, int(4 * last / min(periods))))
        rates = rng.uniform(0.02, 0.2) * volume.sum() / last * rng.exponential(1.0, edges.size - 1)
        start, end = np.append(start, edges[:-1]), np.append(end, edges[1:])
        volume = np.append(volume, rates * np.diff(edges))
    if noise == "small operations":
        count = int(rng.poisson(0.5 * last / min(periods)))
        places = rng.uniform(0, last, count)
        start, end = np.append(start, places), np.append(end, places + 0.02 * min(periods))
        volume = np.append(volume, 1e9 * rng.uniform(0.001, 0.05, count))
    order = np.argsort(end, kind="stable")
    moved = np.rint(volume).astype(np.int64)
    return Run(
        start[order],
        end[order],
        moved[order],
        whole.phase_start,
        whole.phase_end,
        np.array(numbers),
        tuple(periods),
    )
