"""Two trains of bursts at the same time."""

import numpy as np

from .bursts import clock, draw_style, make_bursts
from .signal_input import SignalInput, Truth

RATIOS = {"1.1": 1.1, "1.25": 1.25, "4/3": 4 / 3, "1.5": 1.5, "2": 2.0, "e": float(np.e), "3": 3.0, "10": 10.0}


def two_trains(rng: np.random.Generator, ratio: float) -> SignalInput:
    """Two trains whose periods have a ratio; the shorter is 10 to 100 s; 10 to 40 cycles of the longer (8 to 15 at 10).

    Each has a shape and a length of its own (1 to 10 % of the shorter period), volumes differ by up to 4 times, and
    jitter is up to 1 % about the clock. Which train is first, and where, is random.
    """
    fast = float(np.exp(rng.uniform(np.log(10), np.log(100))))
    slow = ratio * fast
    cycles = int(rng.integers(8, 16) if ratio > 5 else rng.integers(10, 41))
    window = cycles * slow
    jitter = float(rng.choice((0.0, 0.002, 0.01)))
    trains = []
    for period, volume in ((fast, 1e9), (slow, 1e9 * 4 ** rng.uniform(-1, 1))):
        first = rng.uniform(0.02, 0.9) * period
        starts = first + clock(rng, int((window - first - 0.15 * fast) / period) + 1, period, jitter)
        starts = starts[starts < window - 0.12 * fast]
        trains.append(make_bursts(rng, starts, rng.uniform(0.01, 0.1) * fast, volume, draw_style(rng, spread=0.1)))
    moved = [float(train.volume.sum()) for train in trains]
    periods = (fast, slow) if moved[0] >= moved[1] else (slow, fast)
    start, end, volume = (
        np.concatenate([getattr(train, name) for train in trains]) for name in ("start", "end", "volume")
    )
    return SignalInput(start, end, volume, (0.0, window), Truth(periods=periods))
