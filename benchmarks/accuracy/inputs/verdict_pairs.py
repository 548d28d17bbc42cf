"""Pairs of inputs that must get one verdict: with silence, one large read, or a window moved by 1 % added."""

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from .concurrent import two_trains
from .irregular_bursts import hawkes, poisson
from .noise import noise
from .one_period import alternating, background, drift, kth_larger, long_phases, missing, plain
from .signal_input import SignalInput

CHANGES = (
    "silence x3 before",
    "silence x3 after",
    "silence x12 before",
    "silence x12 after",
    "read of 20 phases before",
    "read of 20 x all before",
)
SHIFTS = ("window's end 1 % earlier", "window's end 1 % later")

BASES: dict[str, Callable[[np.random.Generator], SignalInput]] = {
    "plain": plain,
    "missing": missing,
    "drift": drift,
    "alternating": alternating,
    "long phases": long_phases,
    "every k-th larger": kth_larger,
    "steady background": lambda rng: background(rng, True),
    "two periods": lambda rng: two_trains(rng, float(rng.choice((4 / 3, np.e, 3.0)))),
    "Poisson": lambda rng: poisson(rng, "log-normal"),
    "Hawkes": hawkes,
    "AR": lambda rng: noise("AR", rng),
    "white": lambda rng: noise("white", rng),
}


def changed(given: SignalInput, change: str) -> SignalInput:
    """Return an input with one of the changes made; the truth is the same."""
    low, high = given.window
    length = high - low
    match change.split():
        case ["silence", times, "before"]:
            return replace(given, window=(low - int(times[1:]) * length, high))
        case ["silence", times, "after"]:
            return replace(given, window=(low, high + int(times[1:]) * length))
        case ["read", *how]:
            one = float(given.volume.sum()) / max(
                given.truth.phase_start.size if given.truth.phase_start is not None else 20, 1
            )
            moved = 20 * (float(given.volume.sum()) if "all" in how else one)
            long = 0.05 * length
            # The read ends a tenth of the window before the old start; what crosses that start is cut off first.
            start, end, volume = cut(given, (low, high))
            begin = low - 0.1 * length - long
            start, end, volume = np.append(begin, start), np.append(begin + long, end), np.append(moved, volume)
            return replace(given, start=start, end=end, volume=volume, window=(begin - 0.02 * length, high))
        case [*_, "earlier"]:
            return replace(given, window=(low, high - 0.01 * length))
        case [*_, "later"]:
            return replace(given, window=(low, high + 0.01 * length))
    raise ValueError(change)


def cut(given: SignalInput, window: tuple[float, float]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the intervals within a window in s; one across its edge counts in proportion."""
    start, end = np.maximum(given.start, window[0]), np.minimum(given.end, window[1])
    kept = end >= start
    length = np.maximum(given.end - given.start, 1e-12)
    share = np.where(given.end > given.start, np.maximum(end - start, 0) / length, 1.0)
    return start[kept], end[kept], (given.volume * share)[kept]


def pairs(rng: np.random.Generator) -> Iterator[tuple[str, str, SignalInput, SignalInput]]:
    """Yield base, change, input and changed input: each base once, with all changes."""
    for base, make in BASES.items():
        given = make(rng)
        start, end, volume = cut(given, given.window)
        given = replace(given, start=start, end=end, volume=volume)
        for change in (*CHANGES, *SHIFTS):
            yield base, change, given, changed(given, change)
