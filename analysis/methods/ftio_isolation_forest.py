"""FTIO with the outliers of an isolation forest (Tarraf et al., IPDPS'24, §II-B2; Liu, Ting and Zhou, ICDM'08)."""

import numpy as np
from numpy.typing import NDArray

from ..criterion import OutlierCriterion
from ..scikit_learn import MOST_LINES, scikit_learn
from ..spectral_method import SpectralMethod

TREES, SUBSAMPLE = 100, 256
"""As Liu, Ting and Zhou have them."""
FEWEST_SAMPLES = 16
"""Of fewer than eight lines, each is soon alone."""


def is_isolated(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Mark lines above the mean whose anomaly score 2^(-E(h) / c) reaches ``threshold``.

    E(h) is the mean number of random cuts that part a line from the others and c that of a random search tree. Cuts
    are along the strength alone: along the frequency, the first and the last line would be outliers of any spectrum.
    0.6 is where Liu, Ting and Zhou begin to speak of potential anomalies. The random numbers are always the same.
    """
    column = scores[:, np.newaxis]
    forest = scikit_learn("ensemble", "ftio-isolation-forest").IsolationForest(
        n_estimators=TREES, max_samples=min(SUBSAMPLE, scores.size), random_state=0
    )
    isolated: NDArray[np.bool_] = -forest.fit(column).score_samples(column) >= threshold
    return isolated & (scores > 0.0)


detect_isolation_forest = SpectralMethod(
    "ftio-isolation-forest",
    OutlierCriterion(
        "anomaly score",
        is_isolated,
        lambda _threshold: FEWEST_SAMPLES,
        threshold=0.6,
        limits=(0.0, 1.0),
        most_lines=MOST_LINES,
    ),
)
