"""All classes of made inputs by name, with the family that says how they are judged."""

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatch
from functools import partial

import numpy as np

from . import changing_period, irregular_bursts, one_period
from .concurrent import RATIOS, two_trains
from .first_study import TUNING, first_study
from .harder_regimes import harder_input, wandering_input
from .irregular_bursts import BURSTS
from .noise import NOISES, late_sampler, noise, rounded_counter
from .regimes_with_noise import noisy_regimes
from .signal_input import NO_PERIOD, SignalInput, as_samples
from .weak_points import WEAK

#: Seeds of the figures begin here; those of tuning lie below.
FIRST_SEED = 12_000_000

Make = Callable[[np.random.Generator], SignalInput]


@dataclass(frozen=True)
class InputClass:
    """A class of inputs.

    Attributes
    ----------
    name : str
        Such as "null/white, steps" or "period/missing".
    family : str
        "null", "period", "regimes", "stationary", "concurrent", or "sweep" of the semi-synthetic traces.
    make : callable
        Of a random generator.
    numbered : callable or None
        Instead of `make`: of the number of an input, for those whose seeds are fixed since the first study.
    """

    name: str
    family: str
    make: Make
    numbered: Callable[[int], SignalInput] | None = None

    def input(self, seed: int) -> SignalInput:
        """Return the input of a seed."""
        if self.numbered is not None:
            return self.numbered(seed - FIRST_SEED if seed >= FIRST_SEED else TUNING + seed)
        return self.make(np.random.default_rng([seed, zlib.crc32(self.name.encode())]))


def _sampled(make: Make, rng: np.random.Generator) -> SignalInput:
    given = make(rng)
    low, high = given.window
    # Intervals: 300 to 2000 samples; bins: themselves.
    fs = given.fs if given.start.size > 1 and given.fs != 1.0 else 1.0
    if not np.allclose(np.diff(given.start), 1 / fs, rtol=0.1):
        fs = rng.uniform(300, 2000) / (high - low)
    return as_samples(given, fs)


def undersampled(rng: np.random.Generator) -> SignalInput:
    """Return plain bursts of one period in bins of 1.35 to 1.95 a period, of which nothing can be concluded.

    With fewer than 4/3 bins a period the bins show an alias of more than four bins, which nothing tells from a period.
    """
    given = one_period.plain(rng)
    fs = rng.uniform(1.35, 1.95) / given.truth.periods[0]
    bins = as_samples(given, fs)
    return SignalInput(bins.start, bins.end, bins.volume, bins.window, NO_PERIOD, None, fs)


def _nulls() -> dict[str, Make]:
    made: dict[str, Make] = {name: partial(noise, name) for name in NOISES}
    made |= BURSTS
    made |= {f"rounded counter {width} s": partial(rounded_counter, width=float(width)) for width in (1, 5, 60)}
    made |= {
        f"times rounded to {width} s": partial(irregular_bursts.rounded_times, width=float(width))
        for width in (1, 5, 60)
    }
    made["late sampler"] = late_sampler
    made["undersampled"] = undersampled
    return made


def catalogue() -> dict[str, InputClass]:
    """Return all classes by name."""
    classes = []
    for name, make in _nulls().items():
        classes.append(InputClass(f"null/{name}, steps", "null", make))
        classes.append(InputClass(f"null/{name}, samples", "null", partial(_sampled, make)))
    one: dict[str, Make] = {
        "plain": one_period.plain,
        "plain, samples": partial(_sampled_finely, one_period.plain),
        "missing": one_period.missing,
        "drift": one_period.drift,
        "alternating": one_period.alternating,
        "long phases": one_period.long_phases,
        "every k-th larger": one_period.kth_larger,
        "small among large": one_period.small_among_large,
        "steady background": partial(one_period.background, steady=True),
        "irregular background": partial(one_period.background, steady=False),
        "ramps and stragglers": one_period.ramps_and_stragglers,
        "think time": one_period.think_time,
        "short pulses": one_period.short_pulses,
    }
    classes += [InputClass(f"period/{name}", "period", make) for name, make in one.items()]
    several: dict[str, Make] = {}
    for count in (2, 3, 4):
        several[f"{count}, adjoining"] = partial(changing_period.regimes, count=count, pauses=False)
        several[f"{count}, pauses"] = partial(changing_period.regimes, count=count, pauses=True)
    several["example"] = changing_period.example
    several["interrupted"] = changing_period.interrupted
    several["small after large"] = changing_period.small_after_large
    classes += [InputClass(f"regimes/{name}", "regimes", make) for name, make in several.items()]
    classes.append(InputClass("stationary/jitter up to 30 %", "stationary", one_period.stationary))
    classes += [
        InputClass(f"concurrent/ratio {name}", "concurrent", partial(two_trains, ratio=ratio))
        for name, ratio in RATIOS.items()
    ]
    for count in (1, 2, 3, 4):
        family = "regimes" if count > 1 else "stationary"
        classes.append(InputClass(f"{family}/{count}, noise", family, partial(noisy_regimes, count=count)))
        classes.append(InputClass(f"{family}/{count}, harder", family, partial(harder_input, count=count)))
    classes.append(InputClass("null/wandering interval, steps", "null", wandering_input))
    classes += [InputClass(name, family, one_period.plain, make) for name, family, make in first_study()]
    classes += [InputClass(f"weak/{name}", family, make) for name, (family, make) in WEAK.items()]
    return {one.name: one for one in classes}


def _sampled_finely(make: Make, rng: np.random.Generator) -> SignalInput:
    given = make(rng)
    return as_samples(given, rng.uniform(6, 30) / given.truth.periods[0])


def chosen(patterns: list[str]) -> list[InputClass]:
    """Return the classes whose name matches one of the shell patterns or begins with one; all without patterns."""
    found = [
        one
        for name, one in catalogue().items()
        if not patterns or any(fnmatch(name, pattern) or name.startswith(pattern) for pattern in patterns)
    ]
    if not found and patterns:
        raise SystemExit(f"no class of inputs matches {', '.join(patterns)}")
    return found
