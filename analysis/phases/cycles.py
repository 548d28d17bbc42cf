"""After how many bursts their sizes or their intervals repeat, as in large, small, small."""

from dataclasses import replace

import numpy as np

from ...model.arrays import Floats
from .bursts import FEWEST_BURSTS, MOST_PERIODS, NEARLY, RELATIVE_ROUNDING, Bursts
from .stretches import SAME_PERIOD, PulseTrain


def cycle_length(sizes: Floats, alpha: float) -> int | None:
    """Return after how many bursts their sizes repeat; None where they do not.

    For each length L from 2 to 12 the bursts are sorted into L classes with a mean of the logarithm of their size each;
    the length of the least n ln(rest) + L ln n is taken (Schwarz 1978). An F-test asks whether its classes differ
    (analysis of variance), corrected for the number of lengths.

    Parameters
    ----------
    sizes : float64 (n,)
        Volume of each burst in the order of time.
    alpha : float
        False-alarm rate.
    """
    from scipy.special import fdtrc

    n = sizes.size
    logs = np.log(np.maximum(sizes, np.finfo(np.float64).tiny))
    logs -= logs.mean()
    total = float(logs @ logs)
    lengths = np.arange(2, min(MOST_PERIODS, n // FEWEST_BURSTS) + 1)
    if total <= n * SAME_PERIOD**2 or lengths.size == 0:
        return None
    places = [np.arange(n) % length for length in lengths]
    between = np.array([float((np.bincount(place, logs) ** 2 / np.bincount(place)).sum()) for place in places])
    rest = np.maximum(total - between, RELATIVE_ROUNDING * total)
    best = int(np.argmin(n * np.log(rest) + lengths * np.log(n)))
    freedom = int(lengths[best]) - 1, n - int(lengths[best])
    chance = fdtrc(*freedom, between[best] / freedom[0] * freedom[1] / rest[best])
    return int(lengths[best]) if MOST_PERIODS * chance < alpha else None


def in_whole_periods(train: PulseTrain) -> PulseTrain:
    """Return a train of two bursts in turn, as reads and writes, with both as one; longer cycles are several periods.

    A period begins after the longer interval; a burst before the first one is left out.
    """
    intervals = np.diff(train.bursts.start)
    apart = 0.5 * float(intervals[::2].mean() - intervals[1::2].mean())
    uneven = apart**2 > NEARLY * intervals.var() and abs(apart) > SAME_PERIOD * intervals.mean()
    if not uneven or train.drifts or intervals.size < 2 * FEWEST_BURSTS:
        return train
    first = np.arange(int(apart > 0), len(train.bursts), 2)
    own = train.bursts
    last = np.minimum(first + 1, len(own) - 1)
    bursts = Bursts(own.start[first], own.end[last], np.add.reduceat(own.volume, first), own.log_weight)
    return replace(train, bursts=bursts, spans=np.ones(first.size - 1))
