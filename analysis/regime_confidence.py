"""How sure to be of the period of a regime beside others: the share of such regimes that lie within 10 % of the truth.

A logistic map of how alike the intervals are, and of the share of the stretch in which the sliding correlation says
that the period holds, which knows nothing of the phases. The confidence of a whole run (`calibration`) was made for one
set of phases over all of it; of regimes it said too little.

The coefficients were fitted (maximum likelihood, ridge 0.1 on standardised numbers) to the regimes of runs with 2 to 4
regimes as in benchmarks/regimes/regime_signals.py, which weigh 0.3 each, of harder ones (harder_signals.py: jitter up
to 30 %, one phase in seven missing, background I/O up to as much as the bursts) and of runs with a period that wanders
at random, which weigh 0.1. Seeds differ from those of the figures, in benchmarks/RESULTS.md.
"""

import numpy as np

REGIME_COEFFICIENTS = (-1.13, -0.58, -1.86)
NEVER_CERTAIN = 0.03
"""Keeps a share of one, and no jitter at all, from counting without limit."""


def regime_confidence(valid_share: float, jitter: float) -> float:
    """Return the calibrated confidence in the period of one of several regimes.

    Parameters
    ----------
    valid_share : float
        As of `iostrata.analysis.holding.holding_share`, in [0, 1].
    jitter : float
        Coefficient of variation of the times between its phases.

    Returns
    -------
    float
        In (0, 1).
    """
    numbers = (1.0, np.log(1.0 + NEVER_CERTAIN - valid_share), np.log(min(jitter, 2.0) + NEVER_CERTAIN))
    return float(1.0 / (1.0 + np.exp(-float(np.dot(REGIME_COEFFICIENTS, numbers)))))
