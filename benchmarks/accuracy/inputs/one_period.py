"""Signals of one period that are not plain: missing phases, drift, alternation, long phases, background and more."""

from dataclasses import replace
from typing import Any

import numpy as np

from .bursts import Bursts, clock, draw_style, make_bursts, mean_interval, together
from .signal_input import Floats, SignalInput, TrueRegime, Truth

GB = 1e9


def _period(rng: np.random.Generator) -> float:
    return float(np.exp(rng.uniform(np.log(10), np.log(100))))


def _jitter(rng: np.random.Generator) -> tuple[float, bool]:
    """Return a jitter as a share of the period, and whether it is about a clock."""
    return float(rng.choice((0.0, 0.005, 0.02, 0.05))), bool(rng.random() < 0.5)


def regime_of(starts: Floats, period: float, volumes: Floats) -> TrueRegime:
    """Return the stretch that phases from `starts` in s make up."""
    return TrueRegime(float(starts[0]), float(starts[-1]), period, float(volumes.mean()))


def placed(
    rng: np.random.Generator,
    made: Bursts,
    period: float,
    others: tuple[Floats, Floats, Floats] | None = None,
    **truth: Any,
) -> SignalInput:
    """Put bursts that begin at 0 s into a window with up to a period before and after, somewhere in time.

    `others` are operations (start, end in s, volume in bytes) that belong to no phase.
    """
    before, after = rng.uniform(0, 1, 2) * period
    origin = float(rng.choice((0.0, 0.0, rng.uniform(0, 1e4))))
    shift = origin + before
    start, end, volume = made.start, made.end, made.volume
    if others is not None:
        start, end, volume = (np.concatenate(pair) for pair in zip((start, end, volume), others, strict=True))
    window = (origin, shift + float(max(made.phase_end.max(), made.phase_start[-1] + 0.5 * period)) + after)
    start, end = start + shift, end + shift
    inside = (end >= window[0]) & (start < window[1])
    known: dict[str, Any] = {
        "periods": (period,),
        "regimes": (regime_of(made.phase_start + shift, period, made.phase_bytes),),
        "phase_start": made.phase_start + shift,
        "phase_end": made.phase_end + shift,
        "phase_bytes": made.phase_bytes,
        "bounded": others is None,
    } | truth
    return SignalInput(start[inside], end[inside], volume[inside], window, Truth(**known))


def plain(rng: np.random.Generator) -> SignalInput:
    """10 to 60 phases of a duty of 2 to 60 %, jitter up to 5 %."""
    period, (jitter, about) = _period(rng), _jitter(rng)
    starts = clock(rng, int(rng.integers(10, 61)), period, jitter, about)
    made = make_bursts(rng, starts, rng.uniform(0.02, 0.6) * period, GB, draw_style(rng))
    return placed(rng, made, mean_interval(starts))


def stationary(rng: np.random.Generator) -> SignalInput:
    """10 to 120 phases, up to 30 % jitter; a third with 10 % missing, a third of uneven volumes: one regime."""
    period = _period(rng)
    starts = clock(rng, int(rng.integers(10, 121)), period, rng.uniform(0, 0.3), bool(rng.random() < 0.5))
    mean = mean_interval(starts)
    if rng.random() < 1 / 3:
        kept = rng.random(starts.size) > 0.1
        kept[[0, -1]] = True
        starts = starts[kept]
    style = draw_style(rng, spread=1.0 if rng.random() < 1 / 3 else 0.2)
    made = make_bursts(rng, starts, rng.uniform(0.02, 0.3) * period, GB, style)
    return placed(rng, made, mean)


def missing(rng: np.random.Generator) -> SignalInput:
    """Of 15 to 60 phases on a clock, 10 to 35 % are missing."""
    period = _period(rng)
    starts = clock(rng, int(rng.integers(15, 61)), period, float(rng.choice((0.0, 0.005, 0.02, 0.04))))
    gone = rng.permutation(np.arange(1, starts.size - 1))[: round(rng.uniform(0.1, 0.35) * starts.size)]
    starts = np.delete(starts, gone)
    made = make_bursts(rng, starts, rng.uniform(0.02, 0.5) * period, GB, draw_style(rng))
    return placed(rng, made, period)


def drift(rng: np.random.Generator) -> SignalInput:
    """The interval grows or shrinks evenly, by 10 to 50 % of its mean from first to last, over 12 to 60 phases."""
    period, size = _period(rng), float(rng.uniform(0.1, 0.5) * rng.choice((-1, 1)))
    count = int(rng.integers(12, 61))
    intervals = period * (1 + size * np.linspace(-0.5, 0.5, count - 1))
    if rng.random() < 0.5:
        intervals = period * np.exp(np.linspace(-0.5, 0.5, count - 1) * np.log1p(size))
    intervals *= 1 + float(rng.choice((0.0, 0.005, 0.02))) * np.clip(rng.normal(size=count - 1), -2.5, 2.5)
    starts = np.concatenate(([0.0], np.cumsum(intervals)))
    mean = float(intervals.mean())
    made = make_bursts(rng, starts, rng.uniform(0.02, 0.4) * period, GB, draw_style(rng))
    return placed(rng, made, mean, drift=size)


def alternating(rng: np.random.Generator) -> SignalInput:
    """A large and a small phase (reads and writes) in each period, the second at 20 to 80 % of it.

    Where the second is in the middle, half of the period counts as found too.
    """
    period, cycles, ratio = _period(rng), int(rng.integers(8, 41)), float(rng.choice((1.0, 2.0, 5.0)))
    starts = clock(rng, cycles, period, float(rng.choice((0.0, 0.005, 0.02))))
    place = 0.5 if rng.random() < 1 / 3 else float(rng.choice((rng.uniform(0.2, 0.42), rng.uniform(0.58, 0.8))))
    room = min(place, 1 - place)
    large = make_bursts(rng, starts, rng.uniform(0.05, 0.6) * place * period, ratio * GB, draw_style(rng))
    behind = starts + place * period * (1 + 0.005 * rng.normal(size=cycles))
    small = make_bursts(rng, behind, rng.uniform(0.05, 0.6) * room * period, GB, draw_style(rng))
    halves = (period / 2,) if place == 0.5 else ()
    made = together([large, small])
    # Whether both phases of a cycle are one is open, so edges and volumes of phases are not judged.
    return placed(
        rng, made, period, also_found=halves, phase_start=None, phase_end=None, phase_bytes=None, bounded=False
    )


def long_phases(rng: np.random.Generator) -> SignalInput:
    """Phases of 60 to 95 % of the period."""
    period, duty = _period(rng), rng.uniform(0.6, 0.95)
    jitter = min(float(rng.choice((0.0, 0.005, 0.02))), (1 - duty) / 6)
    starts = clock(rng, int(rng.integers(10, 41)), period, jitter)
    style = draw_style(rng, ("box", "ramp up", "ramp down", "staggered ranks", "header and data", "bell"))
    lengths = duty * period * (1 + rng.choice((0.0, 0.01)) * rng.normal(size=starts.size))
    made = make_bursts(rng, starts, np.minimum(lengths, 0.97 * period), GB, replace(style, length_spread=0.0))
    return placed(rng, made, period)


def kth_larger(rng: np.random.Generator) -> SignalInput:
    """Every k-th phase (2 to 6) has 3 to 10 times the volume; k periods are not wrong, but not what is looked for."""
    period, (jitter, _), every = _period(rng), _jitter(rng), int(rng.integers(2, 7))
    starts = clock(rng, int(rng.integers(5 * every, 12 * every + 1)), period, jitter)
    larger = (np.arange(starts.size) % every == rng.integers(every)).astype(float)
    factor = rng.uniform(3, 10)
    lengths = rng.uniform(0.02, 0.3) * period * (1 + (min(factor, 2.5) - 1) * larger * (rng.random() < 0.5))
    made = make_bursts(rng, starts, lengths, GB * (1 + (factor - 1) * larger), draw_style(rng, spread=0.1))
    return placed(rng, made, period, not_wrong=(every * period,))


def small_among_large(rng: np.random.Generator) -> SignalInput:
    """Small phases on a clock, among irregular ones of ten times the volume, a tenth to a third as many."""
    period, cycles = _period(rng), int(rng.integers(12, 61))
    starts = clock(rng, cycles, period, float(rng.choice((0.0, 0.005, 0.02))))
    small = make_bursts(rng, starts, rng.uniform(0.02, 0.2) * period, GB, draw_style(rng, spread=0.1))
    count = max(2, round(cycles * rng.uniform(0.1, 0.33)))
    places = np.sort(rng.uniform(0, starts[-1], count))
    large = make_bursts(rng, places, rng.uniform(0.05, 0.5) * period, 10 * GB, draw_style(rng))
    return placed(rng, small, period, (large.start, large.end, large.volume), phase_bytes=None)


def background(rng: np.random.Generator, steady: bool) -> SignalInput:
    """Background I/O of 1 to 4 times the volume of the bursts: steady or exponential rates, walks or operations."""
    period, (jitter, about), cycles = _period(rng), _jitter(rng), int(rng.integers(12, 61))
    starts = clock(rng, cycles, period, jitter, about)
    made = make_bursts(rng, starts, rng.uniform(0.05, 0.4) * period, GB, draw_style(rng))
    length = float(made.phase_end[-1]) + 2 * period
    moved = rng.uniform(1, 4) * float(made.volume.sum())
    # From a period before the first burst to one after the last, so that it fills the window.
    edges = np.linspace(-period, length, 2 if steady else int(rng.uniform(2, 12) * cycles))
    if steady:
        rates = np.ones(1)
    elif rng.random() < 0.5:
        rates = rng.exponential(1.0, edges.size - 1)
    else:
        rates = rng.lognormal(0.0, 1.0, edges.size - 1) * (rng.random(edges.size - 1) < 0.6)
    shares = rates * np.diff(edges)
    volumes = moved * shares / max(float(shares.sum()), 1e-12)
    return placed(
        rng, made, period, (edges[:-1], edges[1:], volumes), periods=(mean_interval(starts),), phase_bytes=None
    )


def ramps_and_stragglers(rng: np.random.Generator) -> SignalInput:
    """Ramps that hold 2 to 9 % of a phase's bytes and last as long as it, or stragglers with 5 to 12.5 % after it."""
    period, cycles = _period(rng), int(rng.integers(8, 41))
    starts = clock(rng, cycles, period, float(rng.choice((0.0, 0.005, 0.02))))
    main = rng.uniform(0.05, 0.25) * period
    share = rng.uniform(0.02, 0.09) if rng.random() < 0.5 else rng.uniform(0.05, 0.125)
    extra = rng.uniform(0.3, 1.0) * main
    core = starts + (extra if (ahead := bool(rng.random() < 0.5)) else 0.0)
    begin = np.concatenate((core, starts if ahead else starts + main))
    end = np.concatenate((core + main, core if ahead else starts + main + extra))
    volume = np.repeat([GB * (1 - share), GB * share], cycles)
    made = Bursts(begin, end, volume, starts, starts + main + extra, np.full(cycles, GB))
    return placed(rng, made, period)


def think_time(rng: np.random.Generator) -> SignalInput:
    """A constant pause (jitter 1 %) from the end of each phase to the next start; lengths vary by 20 to 60 %."""
    pause, cycles = float(np.exp(rng.uniform(np.log(5), np.log(50)))), int(rng.integers(10, 41))
    length, variation = pause * rng.uniform(0.3, 2.0), rng.uniform(0.2, 0.6)
    lengths = length * rng.gamma(1 / variation**2, variation**2, cycles)
    lengths = np.maximum(lengths, 0.02 * pause)
    pauses = pause * (1 + 0.01 * np.clip(rng.normal(size=cycles), -2.5, 2.5))
    starts = np.concatenate(([0.0], np.cumsum(lengths + pauses)[:-1]))
    style = replace(draw_style(rng, ("box", "ramp up", "ramp down", "staggered ranks")), length_spread=0.0)
    made = make_bursts(rng, starts, lengths, GB, style)
    mean = float(np.diff(starts).mean())
    return placed(rng, made, mean, pause=pause)


def short_pulses(rng: np.random.Generator) -> SignalInput:
    """Exact pulses of 1 to 5 % of the period, or of 0.02 to 0.2 s every 20 s."""
    cycles = int(rng.integers(5, 101))
    period, length = (20.0, rng.uniform(0.02, 0.2)) if rng.random() < 0.5 else (_period(rng), 0.0)
    length = length or rng.uniform(0.01, 0.05) * period
    starts = period * np.arange(cycles)
    volumes = np.full(cycles, GB)
    return placed(rng, Bursts(starts, starts + length, volumes, starts, starts + length, volumes), period)
