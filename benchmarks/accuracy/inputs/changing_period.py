"""Runs whose period changes from regime to regime, with and without pauses between them."""

import numpy as np

from .bursts import Bursts, clock, draw_style, make_bursts, mean_interval, together
from .one_period import GB, regime_of
from .signal_input import SignalInput, Truth

EXAMPLE = ((0.4, 14), (0.22, 30), (0.9, 8))


def _run(
    parts: list[Bursts],
    periods: list[float],
    around: tuple[float, float],
    fs: float = 1.0,
    merged: bool = False,
) -> SignalInput:
    """Return regimes as a signal whose window begins and ends the given times in s before and after."""
    made = together(parts)
    if not merged:
        periods = [mean_interval(part.phase_start) for part in parts]
    low = float(made.phase_start[0]) - around[0]
    high = float(made.phase_end.max()) + around[1]
    order = np.argsort([-part.volume.sum() for part in parts], kind="stable")
    truth = Truth(
        periods=(periods[order[0]],),
        also_found=tuple(periods[number] for number in order[1:]),
        regimes=tuple(
            regime_of(part.phase_start, period, part.phase_bytes) for part, period in zip(parts, periods, strict=True)
        ),
        merged=merged,
        phase_start=made.phase_start,
        phase_end=made.phase_end,
        phase_bytes=made.phase_bytes,
        bounded=True,
    )
    return SignalInput(made.start, made.end, made.volume, (low, high), truth, fs=fs)


def regimes(rng: np.random.Generator, count: int, pauses: bool) -> SignalInput:
    """Two to four regimes of 4 to 30 cycles; periods 10 to 100 s whose neighbours have a ratio of 1.25 to 5.

    Pauses of 0 to 8 of the period before (0 in one of four) lie between them if `pauses`; volumes of a phase differ by
    up to × 10 between regimes; jitter up to 5 %, of the intervals or about a clock; duty 2 to 50 %.
    """
    periods = [float(np.exp(rng.uniform(np.log(10), np.log(100))))]
    while len(periods) < count:
        ratio = float(np.exp(rng.uniform(np.log(1.25), np.log(5)) * rng.choice((-1, 1))))
        if 5 <= periods[-1] * ratio <= 200:
            periods.append(periods[-1] * ratio)
    jitter, about = float(rng.choice((0.0, 0.01, 0.03, 0.05))), bool(rng.random() < 0.5)
    style, duty = draw_style(rng, spread=0.2), rng.uniform(0.02, 0.5)
    at, parts = 0.0, []
    for number, period in enumerate(periods):
        starts = at + clock(rng, int(rng.integers(4, 31)), period, jitter, about)
        if rng.random() < 0.5:
            style, duty = draw_style(rng, spread=0.2), rng.uniform(0.02, 0.5)
        parts.append(make_bursts(rng, starts, duty * period, GB * 10 ** rng.uniform(-0.5, 0.5), style))
        at = float(starts[-1]) + period
        if pauses and number + 1 < count and rng.random() > 0.25:
            at += rng.uniform(0, 8) * period
    around = rng.uniform(0, 1, 2) * (periods[0], periods[-1])
    return _run(parts, periods, (float(around[0]), float(around[1])))


def example(rng: np.random.Generator) -> SignalInput:
    """Phases every 0.4 s (14), 0.22 s (30) and 0.9 s (8) in random order, pauses of 5 s, jitter 0 to 2 %."""
    at, parts, periods = 0.0, [], []
    jitter, length = float(rng.choice((0.0, 0.005, 0.02))), rng.uniform(0.02, 0.08)
    style = draw_style(rng, spread=0.1)
    for row in rng.permutation(3):
        period, cycles = EXAMPLE[row]
        starts = at + clock(rng, cycles, period, jitter)
        parts.append(make_bursts(rng, starts, length, 1e8 * 10 ** rng.uniform(-0.5, 0.5), style))
        periods.append(period)
        at = float(starts[-1]) + 5.0
    return _run(parts, periods, (0.2 * rng.random(), 0.2 * rng.random()), fs=50.0)


def interrupted(rng: np.random.Generator) -> SignalInput:
    """14 phases every 0.4 s, a pause of 3 s, 14 more, jitter 5 ms; scaled in half of the runs by 25 to 250.

    Two regimes of one period, or one that takes both in.
    """
    scale = 1.0 if rng.random() < 0.5 else float(np.exp(rng.uniform(np.log(25), np.log(250))))
    period = 0.4 * scale
    first = clock(rng, 14, period, 0.0125)
    second = first[-1] + 3.0 * scale + clock(rng, 14, period, 0.0125)
    style, length = draw_style(rng, spread=0.1), rng.uniform(0.05, 0.3) * period
    parts = [make_bursts(rng, starts, length, 1e8, style) for starts in (first, second)]
    around = rng.uniform(0, 1, 2) * period
    fs = 50.0 if scale == 1 else 1.0
    return _run(parts, [period, period], (float(around[0]), float(around[1])), fs, merged=True)


def small_after_large(rng: np.random.Generator) -> SignalInput:
    """Four to six large phases at one period, then 8 to 14 small ones (a tenth to a hundredth) at a shorter one."""
    period = float(np.exp(rng.uniform(np.log(20), np.log(100))))
    shorter = period / rng.uniform(1.5, 6)
    large = clock(rng, int(rng.integers(4, 7)), period, 0.01)
    small = large[-1] + rng.uniform(1, 4) * period + clock(rng, int(rng.integers(8, 15)), shorter, 0.01)
    parts = [
        make_bursts(rng, large, rng.uniform(0.05, 0.4) * period, GB, draw_style(rng, spread=0.1)),
        make_bursts(rng, small, rng.uniform(0.05, 0.3) * shorter, GB / 10 ** rng.uniform(1, 2), draw_style(rng)),
    ]
    return _run(parts, [period, shorter], (0.5 * period, 0.5 * shorter))
