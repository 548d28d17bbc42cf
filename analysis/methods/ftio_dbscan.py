"""FTIO with the noise of DBSCAN as outliers (Tarraf et al., IPDPS'24, §II-B2)."""

import numpy as np
from numpy.typing import NDArray

from ..criterion import OutlierCriterion
from ..scikit_learn import MOST_LINES, scikit_learn
from ..spectral_method import SpectralMethod

FEWEST_NEIGHBOURS = 4
"""Points, itself included, around a point inside a cluster: twice the dimension of the plane (Sander et al., 1998).

A peak as broad as three lines is then still no cluster of its own.
"""


def is_noise(scores: NDArray[np.float64], eps: float) -> NDArray[np.bool_]:
    """Mark lines above the mean that belong to no cluster of lines.

    Lines are points in the plane of frequency and strength. The paper computes ``eps`` from the frequency step: here
    the axes are scaled so that a frequency step and a standard deviation of the strengths are both 1, and lines are
    neighbours within a distance of `eps`, by default 3 of these. On a flat background a line has the three lines to
    each side for neighbours; one that rises three standard deviations above its surroundings has none of them.

    Parameters
    ----------
    scores : float64 (n,)
        z-scores of the lines.
    eps : float
        Above 2, or single lines of the background would be noise.
    """
    plane = np.column_stack((np.arange(scores.size, dtype=np.float64), scores))
    model = scikit_learn("cluster", "ftio-dbscan").DBSCAN(eps=eps, min_samples=FEWEST_NEIGHBOURS, algorithm="kd_tree")
    noise: NDArray[np.bool_] = model.fit(plane).labels_ == -1
    return noise & (scores > 0.0)


def fewest_samples_of_dbscan(eps: float) -> int:
    """Count the samples below which no line can be noise.

    Of n z-scores one is at most n / sqrt(n - 1) above all others; that is above eps from the n given here on.
    """
    lines = int(np.floor((eps**2 + eps * np.sqrt(eps**2 - 4)) / 2)) + 1
    return 2 * max(lines, FEWEST_NEIGHBOURS + 1)


detect_dbscan = SpectralMethod(
    "ftio-dbscan",
    OutlierCriterion("distance", is_noise, fewest_samples_of_dbscan, threshold=3.0, limits=(2.0, np.inf), most_lines=MOST_LINES),
)
