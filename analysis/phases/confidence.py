"""How sure to be of a period: the share of results like it that lie within 10 % of the truth.

One logistic map of what the decision knows. Its coefficients were fitted (maximum likelihood, ridge) to made signals of
all classes of the accuracy study, with and without a period, on seeds below 10,000; those of the figures lie above.
"""

import math

import numpy as np
import numpy.typing as npt

from .decision import Decision
from .trains import PulseTrain

COEFFICIENTS = (-5.7, 0.22, -0.13, -0.17, -12.97, -0.81, 11.27, 6.8, 0.14)
"""Of a constant and of the eight `features`."""


def features(decision: Decision, train: PulseTrain | None, bins: float) -> npt.NDArray[np.float64]:
    """Return what the confidence depends on; float64 (8,).

    Parameters
    ----------
    decision : Decision
        On the signal.
    train : PulseTrain or None
        What the confidence is asked for; None for a spectral line.
    bins : float
        Bins of a period; infinite for an exact signal.
    """
    if train is None:
        line = decision.line or (0.0, 1.0)
        return np.array([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0, -math.log10(max(line[1], 1e-12))])
    gain = max(train.gain, 0.0)
    return np.array(
        [
            math.log1p(gain),
            gain / (gain + 10),
            train.bursts.log_weight,
            train.jitter,
            float(decision.kind == "concurrent"),
            min(decision.coverage, 1.0),
            0.0,
            1.0 / bins,
        ]
    )


def confidence(decision: Decision, train: PulseTrain | None, bins: float = math.inf) -> float:
    """Return the confidence in a train or, without, in a spectral line; in [0, 1]. Parameters as of `features`."""
    constant, *slopes = COEFFICIENTS
    return 1 / (1 + math.exp(-constant - float(features(decision, train, bins) @ np.array(slopes))))
