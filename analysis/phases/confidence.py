"""How sure to be of a period: the share of results like it that lie within 10 % of the truth.

One logistic map of what the decision knows. Its coefficients were fitted (maximum likelihood, ridge) to made signals of
all classes of the accuracy study, with and without a period, on seeds below 10,000; those of the figures lie above.
"""

import math

import numpy as np

from ...model.arrays import Floats
from .decision import Decision
from .stretches import PulseTrain

COEFFICIENTS = (-0.04, 0.79, -0.01, -15.63, -0.86, 4.13, -0.08, -20.84, -5.7, -4.65)
"""Of a constant and of the nine `features`."""


def features(decision: Decision, train: PulseTrain | None, bin_width: float) -> Floats:
    """Return what the confidence depends on; float64 (9,).

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
        return np.array([0.0, 0.0, 0.0, 0.0, 1.0, -math.log10(max(p_value, 1e-12)), bin_width / period, 0.0, 0.0])
    gain = math.log1p(max(train.gain + train.bursts.log_weight, 0.0))
    together = float(decision.kind == "concurrent")
    shape = train.jitter, together, decision.explained
    bins, paired = bin_width / train.period, float(train.joined > 1)
    return np.array([gain, train.bursts.log_weight, *shape, 0.0, bins, paired, abs(train.drift)])


def confidence(decision: Decision, train: PulseTrain | None, bin_width: float) -> float:
    """Return the confidence in a train or, without, in a spectral line; in [0, 1]. Parameters as of `features`."""
    constant, *slopes = COEFFICIENTS
    return 1 / (1 + math.exp(-constant - float(features(decision, train, bin_width) @ np.array(slopes))))
