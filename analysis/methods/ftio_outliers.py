"""FTIO with the outlier detectors of scikit-learn, which is an extra (Tarraf et al., IPDPS'24, §II-B2).

DBSCAN, isolation forests (Liu, Ting and Zhou, ICDM'08) and the local outlier factor (Breunig et al., SIGMOD'00).
"""

import numpy as np

from ...model.arrays import Floats, Mask
from ...model.errors import import_library
from ..spectral.outliers import OutlierCriterion
from .ftio import FtioMethod

MOST_LINES = 2**16
"""Lines of a spectrum that a detector is given: as many as an automatic sampling frequency ever makes.

They build trees and lists of neighbours in Python objects, for which 2^23 lines would take gigabytes.
"""


LIMITS = f"As ftio; it needs scikit-learn, and searches the lowest {MOST_LINES:,} lines of the spectrum."

FEWEST_NEIGHBOURS = 4
"""Points, itself included, around a point inside a cluster: twice the dimension of the plane (Sander et al., 1998).

A peak as broad as three lines is then still no cluster of its own.
"""


def is_noise(scores: Floats, eps: float) -> Mask:
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
    cluster = import_library("sklearn.cluster", "method 'ftio-dbscan'")
    model = cluster.DBSCAN(eps=eps, min_samples=FEWEST_NEIGHBOURS, algorithm="kd_tree")
    noise: Mask = model.fit(plane).labels_ == -1
    return noise & (scores > 0.0)


def fewest_samples_of_dbscan(eps: float) -> int:
    """Count the samples below which no line can be noise.

    Of n z-scores one is at most n / sqrt(n - 1) above all others; that is above eps from the n given here on.
    """
    lines = int(np.floor((eps**2 + eps * np.sqrt(eps**2 - 4)) / 2)) + 1
    return 2 * max(lines, FEWEST_NEIGHBOURS + 1)


class FtioDbscanMethod(FtioMethod):
    """FTIO with DBSCAN."""

    name = "ftio-dbscan"
    description = "ftio where an outlier is a line of the spectrum that belongs to no cluster of lines."
    limits = LIMITS
    criterion = OutlierCriterion(
        "distance", is_noise, fewest_samples_of_dbscan, threshold=3.0, limits=(2.0, np.inf), most_lines=MOST_LINES
    )


TREES, SUBSAMPLE = 100, 256
"""As Liu, Ting and Zhou have them."""
FEWEST_SAMPLES = 16
"""Of fewer than eight lines, each is soon alone."""


def is_isolated(scores: Floats, threshold: float) -> Mask:
    """Mark lines above the mean whose anomaly score 2^(-E(h) / c) reaches ``threshold``.

    E(h) is the mean number of random cuts that part a line from the others and c that of a random search tree. Cuts
    are along the strength alone: along the frequency, the first and the last line would be outliers of any spectrum.
    0.6 is where Liu, Ting and Zhou see potential anomalies. The random numbers are always the same.
    """
    column = scores[:, np.newaxis]
    forest = import_library("sklearn.ensemble", "method 'ftio-isolation-forest'").IsolationForest(
        n_estimators=TREES, max_samples=min(SUBSAMPLE, scores.size), random_state=0
    )
    isolated: Mask = -forest.fit(column).score_samples(column) >= threshold
    return isolated & (scores > 0.0)


class FtioIsolationForestMethod(FtioMethod):
    """FTIO with an isolation forest."""

    name = "ftio-isolation-forest"
    description = "ftio where an outlier is a line that random cuts of the powers soon part from all others."
    limits = LIMITS
    criterion = OutlierCriterion(
        "anomaly score",
        is_isolated,
        lambda _threshold: FEWEST_SAMPLES,
        threshold=0.6,
        limits=(0.0, 1.0),
        most_lines=MOST_LINES,
    )


NEIGHBOURS = 20
"""Breunig et al. advise at least 10, and as many as objects may lie close together and still be outliers.

A train of short bursts has many strong harmonics; more than 20 of the same strength are a cluster of their own.
"""


def is_locally_sparse(scores: Floats, threshold: float) -> Mask:
    """Mark lines above the mean whose local outlier factor reaches ``threshold``.

    Lines are points in the plane of frequency and strength, in which the whole band is as long as one standard
    deviation of the strengths. Lines of the same strength are then still distinct points, and the factor is defined.
    1.5 is the factor from which scikit-learn, too, takes values for outliers.
    """
    plane = np.column_stack((np.arange(scores.size) / scores.size, scores))
    neighbors = import_library("sklearn.neighbors", "method 'ftio-lof'")
    model = neighbors.LocalOutlierFactor(n_neighbors=NEIGHBOURS, algorithm="kd_tree")
    sparse: Mask = -model.fit(plane).negative_outlier_factor_ >= threshold
    return sparse & (scores > 0.0)


class FtioLofMethod(FtioMethod):
    """FTIO with the local outlier factor."""

    name = "ftio-lof"
    description = "ftio where an outlier is a line of the spectrum that lies in a sparser place than its neighbours."
    limits = LIMITS
    criterion = OutlierCriterion(
        "local outlier factor",
        is_locally_sparse,
        # One line and as many neighbours as are asked for.
        lambda _threshold: 2 * (NEIGHBOURS + 1),
        threshold=1.5,
        limits=(1.0, np.inf),
        most_lines=MOST_LINES,
    )
