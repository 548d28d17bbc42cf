"""How sure to be of a period: the share of results like it that lie within 10 % of the truth.

One logistic map of what the decision knows. Its coefficients were fitted (maximum likelihood, ridge) to made signals of
all classes of the accuracy study, with and without a period, on seeds 21,000 to 21,080; those of the figures lie above.
"""

import math

import numpy as np

from ...model.arrays import Floats, differences
from ..results.result import fewest_more, is_certain
from .bursts import FEWEST_BURSTS, RELATIVE_ROUNDING, Bursts, clipped
from .decision import MOST_GAIN, Decision, decide, without
from .stretches import PulseTrain

COEFFICIENTS = (0.78, -6.39, 3.41, -0.75, -8.28)
"""Of the five `features`."""


def features(decision: Decision, train: PulseTrain | None, bin_width: float) -> Floats:
    """Return what the confidence depends on; float64 (5,).

    Parameters
    ----------
    decision : Decision
        On the signal.
    train : PulseTrain or None
        What the confidence is asked for; None for a spectral line.
    bin_width : float
        In s, of a signal that is made of bins; else 0.
    """
    if train is None:
        period, p_value = decision.line or (math.inf, 1.0)
        # A line stands for all bursts once its p-value is as small as rounding.
        clear = math.log(max(p_value, RELATIVE_ROUNDING)) / math.log(RELATIVE_ROUNDING)
        return np.array([0.0, 0.0, clear, bin_width / period, 0.0])
    gain = math.log1p(max(train.gain + train.bursts.log_weight, 0.0))
    return np.array([gain, train.jitter, decision.explained, bin_width / train.period, min(train.error, 2.0)])


def confidence(decision: Decision, train: PulseTrain | None, bin_width: float) -> float:
    """Return the confidence in a train or, without, in a spectral line; in [0, 1]. Parameters as of `features`."""
    return 1 / (1 + math.exp(-float(features(decision, train, bin_width) @ np.array(COEFFICIENTS))))


def decided(times: Floats, cumulative: Floats, alpha: float, width: float = 0.0) -> Decision:
    """Return the decision on a signal, without periods that are rather wrong than right; parameters as of `decide`.

    What comes again, as of a second run, is no more evidence than when it came first.
    """
    found = decide(times, cumulative, alpha, width)
    while unlikely := [one for one in found.trains if confidence(found, one, width) < 0.5]:
        found = without(found, unlikely)
    if found.trains and found.gain < MOST_GAIN and (again := found.main.again(-math.log(alpha))) < math.inf:
        first = decided(*clipped(times, cumulative, float(times[0]), again), alpha, width)
        found = found if first.trains else without(found, found.trains)
    return found


def more_to_settle(decision: Decision, train: PulseTrain, bin_width: float) -> int:
    """Return how many more bursts, with the intervals of a train again, would make its period certain.

    Four times as many as there are where none do.
    """
    intervals = differences(train.bursts.start)

    def settles(more: int) -> bool:
        n = intervals.size + more
        start = train.start + np.append(0.0, np.cumsum(np.resize(intervals, n)))
        bursts, gain = Bursts(start, start, start, train.bursts.log_weight), train.gain * n / intervals.size
        longer = PulseTrain(bursts, np.resize(train.spans, n), gain)
        return is_certain(confidence(decision, longer, bin_width), longer.error)

    return fewest_more(settles, FEWEST_BURSTS * len(train.bursts))
