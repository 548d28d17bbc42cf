"""FTIO with outliers by the local outlier factor (Tarraf et al., IPDPS'24, §II-B2; Breunig et al., SIGMOD'00)."""

import numpy as np
from numpy.typing import NDArray

from ..criterion import OutlierCriterion
from ..scikit_learn import MOST_LINES, scikit_learn
from ..spectral_method import SpectralMethod

NEIGHBOURS = 20
"""Breunig et al. advise at least 10, and as many as objects may lie close together and still be outliers.

A train of short bursts has many strong harmonics; more than 20 of the same strength are a cluster of their own.
"""


def is_locally_sparse(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
    """Mark lines above the mean whose local outlier factor reaches ``threshold``.

    Lines are points in the plane of frequency and strength, in which the whole band is as long as one standard
    deviation of the strengths. Lines of the same strength then still lie apart, and the factor stays defined.
    1.5 is the factor from which scikit-learn, too, speaks of outliers.
    """
    plane = np.column_stack((np.arange(scores.size) / scores.size, scores))
    model = scikit_learn("neighbors", "ftio-lof").LocalOutlierFactor(n_neighbors=NEIGHBOURS, algorithm="kd_tree")
    sparse: NDArray[np.bool_] = -model.fit(plane).negative_outlier_factor_ >= threshold
    return sparse & (scores > 0.0)


detect_lof = SpectralMethod(
    "ftio-lof",
    OutlierCriterion(
        "local outlier factor",
        is_locally_sparse,
        # One line and as many neighbours as are asked for.
        lambda _threshold: 2 * (NEIGHBOURS + 1),
        threshold=1.5,
        limits=(1.0, np.inf),
        most_lines=MOST_LINES,
    ),
)
