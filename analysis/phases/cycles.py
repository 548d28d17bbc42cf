"""After how many bursts their sizes or their intervals repeat, as in large, small, small."""

from dataclasses import replace

import numpy as np

from ...model.arrays import Floats
from .bursts import FEWEST_BURSTS, MOST_PERIODS, NEARLY, Bursts
from .stretches import SAME_PERIOD, PulseTrain


def cycle_length(values: Floats, alpha: float) -> int | None:
    """Return after how many bursts their sizes, or intervals, repeat; None where they do not.

    For each length L from 2 to 12 the bursts are sorted into L classes, and an F-test asks whether the logarithms of
    their sizes differ between classes (analysis of variance), corrected for the number of lengths. The shortest
    significant cycle counts that explains nearly all of the variance.

    Parameters
    ----------
    values : float64 (n,)
        Volume of each burst in the order of time, or the time to the next.
    alpha : float
        False-alarm rate.
    """
    from scipy.special import fdtrc

    n = values.size
    logs = np.log(np.maximum(values, np.finfo(np.float64).tiny))
    logs -= logs.mean()
    total = float(logs @ logs)
    for length in range(2, min(MOST_PERIODS, n // FEWEST_BURSTS) + 1) if total > n * SAME_PERIOD**2 else ():
        place = np.arange(n) % length
        between = float((np.bincount(place, logs) ** 2 / np.bincount(place)).sum())
        ratio = between / (length - 1) / max((total - between) / (n - length), 1e-12 * total)
        if between >= NEARLY * total and MOST_PERIODS * float(fdtrc(length - 1, n - length, ratio)) < alpha:
            return length
    return None


def in_whole_periods(train: PulseTrain, alpha: float) -> PulseTrain:
    """Return a train of two bursts in turn, as reads and writes, with both as one; longer cycles are several periods.

    A period begins after the longer interval; a burst before the first one is left out.
    """
    intervals = np.diff(train.bursts.start)
    uneven = intervals.std() > SAME_PERIOD * intervals.mean() and not train.drifts
    if not uneven or cycle_length(intervals, alpha) != 2:
        return train
    first = np.arange(int(intervals[::2].mean() > intervals[1::2].mean()), len(train.bursts), 2)
    own = train.bursts
    last = np.minimum(first + 1, len(own) - 1)
    volume = np.where(last > first, own.volume[first] + own.volume[last], own.volume[first])
    bursts = Bursts(own.start[first], own.end[last], volume, own.log_weight)
    return replace(train, bursts=bursts, spans=np.ones(first.size - 1), joined=2)
