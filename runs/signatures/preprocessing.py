"""Step A of IOSI: outliers among the samples, finer intervals, one duration, no background."""

from collections.abc import Sequence
from typing import Final

import numpy as np
from scipy.spatial import cKDTree

from ...model.arrays import Floats, Mask
from .sample import Sample

MOST_DROPPED: Final = 0.25
"""Share of the samples, rounded down: as many stay whatever their local outlier factors say, and at least three."""
LEAST_FACTOR: Final = 1.5
"""A mean threshold alone always drops someone; a factor below this is that of a sample among its like."""


LEAST_AWAY: Final = 0.05
"""Share of the median duration or volume: what is nearer to it does not stand out, though among samples that hardly
differ a second makes a large factor."""


def local_outlier_factors(samples: Sequence[Sample]) -> Floats:
    """Return the local outlier factor of each sample, float64 (s,), about 1 for one that is like its neighbours.

    On the plane of duration and volume, each divided by its mean, with max(2, s // 2) neighbours (Breunig et al., 2000;
    IOSI, section 5.1, which is silent on scaling and neighbours).
    """
    points = np.array([[sample.duration, sample.volume] for sample in samples], np.float64)
    neighbours = max(2, len(samples) // 2)
    if len(samples) <= neighbours:
        return np.ones(len(samples))
    mean = points.mean(axis=0)
    points = points / np.where(mean > 0, mean, 1.0)
    distance, near = map(np.asarray, cKDTree(points).query(points, neighbours + 1))
    own = near == np.arange(len(points))[:, None]
    # Of equal points the tree may name others first: what is left out is the point itself, or the farthest.
    own[~own.any(axis=1), -1] = True
    distance, near = distance[~own].reshape(-1, neighbours), near[~own].reshape(-1, neighbours)
    reach = np.maximum(distance, distance[near, -1])
    density = 1 / np.maximum(reach.mean(axis=1), 1e-10)
    factors: Floats = density[near].mean(axis=1) / density
    return factors


def outliers(factors: Floats, samples: Sequence[Sample]) -> Mask:
    """Return which samples are dropped, bool (s,): those above the mean factor and above `LEAST_FACTOR`.

    They must be `LEAST_AWAY` from the median, too. Of those the ones of the largest factors, as many as `MOST_DROPPED`
    allows.
    """
    points = np.array([[sample.duration, sample.volume] for sample in samples], np.float64)
    away = (np.abs(points - (middle := np.median(points, axis=0))) > LEAST_AWAY * middle).any(axis=1)
    dropped = (factors > factors.mean()) & (factors > LEAST_FACTOR) & away
    staying = max(3, len(factors) - int(MOST_DROPPED * len(factors)))
    dropped[np.argsort(factors, kind="stable")[:staying]] = False
    return np.asarray(dropped, np.bool_)


def refined(sample: Sample) -> Sample:
    """Return a sample of half the interval, by linear interpolation: N values become 2 N − 1."""
    count = len(sample.values)
    values = np.interp(np.arange(2 * count - 1) / 2, np.arange(count), sample.values)
    return sample.with_values(values, sample.interval / 2)


def trimmed(sample: Sample, length: int) -> Sample:
    """Return a sample of `length` values, without values at regular intervals (IOSI, section 5.1).

    Of L values exactly L − `length` are discarded, the values ⌊i L / (L − `length`)⌋: of a sample 4 % longer than the
    shortest the 1st, 26th, 51st, ….
    """
    count = len(sample.values)
    excess = count - length
    if excess <= 0:
        return sample
    return sample.with_values(np.delete(sample.values, np.arange(excess) * count // excess))


def compressed(sample: Sample, length: int) -> Sample:
    """Return a sample of `length` values whose time runs faster, with the volume of each stretch of time kept."""
    edges = np.linspace(0, len(sample.values), length + 1)
    volume = np.append(0.0, np.cumsum(sample.values))
    return sample.with_values(np.diff(np.interp(edges, np.arange(len(volume)), volume)))


def background(samples: Sequence[Sample]) -> float:
    """Return the throughput of background traffic: of all values below the mean of all, the mean."""
    values = np.concatenate([sample.values for sample in samples])
    below = values[values < values.mean()]
    return float(below.mean()) if len(below) else 0.0


def without_background(sample: Sample, level: float) -> Sample:
    """Return a sample that is lower by `level`, nowhere below 0."""
    return sample.with_values(np.maximum(sample.values - level, 0.0))
