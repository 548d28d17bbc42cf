"""How sure to be of a period or a recurrence: the share of such results that lie within 10 % of the truth.

A logistic map of nine numbers that say how alike the phases are and how clearly they stand out. Its coefficients were
fitted (maximum likelihood, ridge 0.1 on standardised numbers) to 1850 semi-synthetic traces of the study, exact and at
1 Hz, weighted as if every point had 30, to 600 pulse trains and 600 trains with chunks, floors, sizes of all kinds and
start-up I/O, each of weight one half, and to 5100 signals without a period of 17 kinds, for which every result counts
as wrong and which together weigh 0.04 times the semi-synthetic ones. All seeds differ from those of the figures in
benchmarks/accuracy, where the calibration is measured.

A regime beside others has a map of its own: of how alike the intervals are, and of the share of the stretch in which
the sliding correlation says that the period holds, which knows nothing of the phases. Its coefficients were fitted to
the regimes of runs with 2 to 4 regimes as in benchmarks/regimes/regime_signals.py, which weigh 0.3 each, of harder ones
(harder_signals.py: jitter up to 30 %, one phase in seven missing, background I/O up to as much as the bursts) and of
runs with a period that wanders at random, which weigh 0.1. Seeds differ from those of the figures.
"""

import numpy as np
import numpy.typing as npt

from .trains import PhaseTrain, least_variation

REGIME_COEFFICIENTS = (-1.13, -0.58, -1.86)

NEVER_CERTAIN = 0.03
"""Keeps a share of one, and no jitter at all, from counting without limit."""


def regime_confidence(valid_share: float, jitter: float) -> float:
    """Return the calibrated confidence in the period of one of several regimes.

    Parameters
    ----------
    valid_share : float
        As of `iostrata.analysis.timefrequency.valid_share.holding_share`, in [0, 1].
    jitter : float
        Coefficient of variation of the times between its phases.

    Returns
    -------
    float
        In (0, 1).
    """
    numbers = (1.0, np.log(1.0 + NEVER_CERTAIN - valid_share), np.log(min(jitter, 2.0) + NEVER_CERTAIN))
    return float(1.0 / (1.0 + np.exp(-float(np.dot(REGIME_COEFFICIENTS, numbers)))))


Floats = npt.NDArray[np.float64]

COEFFICIENTS = (-7.55, -0.48, -11.99, -6.43, 1.03, -68.6, -73.98, 3.24, -4.1)


def features(core: PhaseTrain, jitter: float) -> Floats:
    """Return what the confidence depends on.

    Parameters
    ----------
    core : PhaseTrain
        Phases without start-up and shut-down I/O.
    jitter : float
        Coefficient of variation of the times between their starts.

    Returns
    -------
    float64 (9,)
        With j the jitter, c the contrast (up to 50), v the least variation of the phases' bytes (up to 0.5), n the
        number of phases (up to 40), m the share of phases merged into others and x⁺ = max(x, 0): 1, ln (j + 0.03),
        (j − 0.3)⁺, (j − 0.6)⁺, ln c, (ln 2.5 − ln c)⁺ (v − 0.1)⁺, (j − 0.3)⁺ (v − 0.05)⁺, ln n, and how far m is on
        its way from 0.08 to 0.10, where the count is wrong by as much.
    """
    spread = min(jitter, 2.0)
    clear = float(np.log(min(core.contrast, 50.0)))
    least = min(least_variation(core), 0.5)
    irregular = max(spread - 0.3, 0.0)
    return np.array(
        [
            1.0,
            np.log(spread + 0.03),
            irregular,
            max(spread - 0.6, 0.0),
            clear,
            max(np.log(2.5) - clear, 0.0) * max(least - 0.1, 0.0),
            irregular * max(least - 0.05, 0.0),
            np.log(min(len(core), 40)),
            min(max(merged_share(core) - 0.08, 0.0), 0.02) / 0.02,
        ]
    )


def merged_share(core: PhaseTrain) -> float:
    """Return how many more phases there would be, relative to those there are, if none held the bytes of several.

    That can be told where most phases hold the same bytes: half of them within 10 % of the median. Elsewhere it is 0.
    """
    typical = float(np.median(core.bytes))
    if typical <= 0 or float(np.median(np.abs(core.bytes - typical))) > 0.1 * typical:
        return 0.0
    return float((np.maximum(np.rint(core.bytes / typical), 1) - 1).sum()) / len(core)


def confidence(core: PhaseTrain, jitter: float) -> float:
    """Return the calibrated confidence in the mean time between these phases, in (0, 1)."""
    return float(1.0 / (1.0 + np.exp(-float(np.dot(COEFFICIENTS, features(core, jitter))))))
