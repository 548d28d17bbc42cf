"""How sure to be of a period: the share of results like it that lie within 10 % of the truth.

One logistic map of what the decision knows. Its coefficients were fitted (maximum likelihood, ridge) to made signals of
all classes of the accuracy study, with and without a period, on seeds below 10,000; those of the figures lie above.
"""

import math

import numpy as np

from ...model.arrays import Floats
from .bursts import RELATIVE_ROUNDING
from .decision import Decision
from .stretches import PulseTrain

COEFFICIENTS = (0.73, -17.03, 5.05, -14.99)
"""Of the four `features`."""


def features(decision: Decision, train: PulseTrain | None, bin_width: float) -> Floats:
    """Return what the confidence depends on; float64 (4,).

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
        return np.array([0.0, 0.0, clear, bin_width / period])
    gain = math.log1p(max(train.gain + train.bursts.log_weight, 0.0))
    return np.array([gain, train.jitter, decision.explained, bin_width / train.period])


def confidence(decision: Decision, train: PulseTrain | None, bin_width: float) -> float:
    """Return the confidence in a train or, without, in a spectral line; in [0, 1]. Parameters as of `features`."""
    return 1 / (1 + math.exp(-float(features(decision, train, bin_width) @ np.array(COEFFICIENTS))))
