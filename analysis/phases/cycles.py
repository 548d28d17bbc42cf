"""After how many bursts their sizes or their intervals repeat, as in large, small, small."""

from dataclasses import replace

import numpy as np

from ...model.arrays import Floats, differences
from .bursts import ALIKE, FEWEST_BURSTS, MOST_PERIODS, NEARLY, RELATIVE_ROUNDING, Bursts
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

    n, logs = sizes.size, np.log(np.maximum(sizes, np.finfo(np.float64).tiny))
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
    """Return a train whose intervals repeat, as of reads and writes in turn, with the bursts of each repetition as one.

    A period begins after the longest interval; bursts before the first one are left out.
    """
    own, intervals = train.bursts, differences(train.bursts.start)
    n, mean = intervals.size, intervals.mean()
    least = spread = intervals.var(ddof=1)
    for length in range(2, min(MOST_PERIODS, n // FEWEST_BURSTS) + 1) if not train.drift else ():
        place = np.arange(n) % length
        means, ends = (np.bincount(place, differences(edge)) / np.bincount(place) for edge in (own.start, own.end))
        rest = ((intervals - means[place]) ** 2).sum() / (n - length)
        # Of many in turn, nearly even, each is a period; a multiple of what they repeat after adds hardly anything.
        # Where the ends are far more even some begin early, as those that a burst of another train touches.
        uneven = min(means.std(), 4 * ends.std()) > mean * (SAME_PERIOD if length == 2 else ALIKE)
        if uneven and rest < min((1 - NEARLY) * spread, 0.5 * least):
            first = np.arange((int(np.argmax(means)) + 1) % length, len(own), length)
            last = np.minimum(first + length - 1, len(own) - 1)
            bursts = Bursts(own.start[first], own.end[last], np.add.reduceat(own.volume, first), own.log_weight)
            return replace(train, bursts=bursts, spans=np.ones(first.size - 1))
        least = min(least, rest)
    return train
