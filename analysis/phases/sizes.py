"""After how many bursts their sizes repeat, as in large, small, small."""

import numpy as np

from ...model.arrays import Floats

LONGEST_CYCLE, EXPLAINED = 12, 0.8
"""Bursts after which sizes repeat at most, and share of the variance of ln volume that a cycle explains."""


def size_cycle(sizes: Floats, alpha: float) -> int | None:
    """Return after how many bursts their sizes repeat; None where they do not.

    For each length L from 2 to 12 the bursts are sorted into L classes, and an F-test asks whether the logarithms of
    their sizes differ between classes (analysis of variance), corrected for the number of lengths. The shortest
    significant cycle counts that explains 80 % of the variance.

    Parameters
    ----------
    sizes : float64 (n,)
        Volume of each burst in the order of time.
    alpha : float
        False-alarm rate.
    """
    from scipy.special import fdtrc

    n = sizes.size
    logs = np.log(np.maximum(sizes, np.finfo(np.float64).tiny))
    logs -= logs.mean()
    total = float(logs @ logs)
    # Sizes that differ by less than 3 % are equal.
    for length in range(2, min(LONGEST_CYCLE, n // 3) + 1) if total > n * 0.03**2 and n >= 8 else ():
        place = np.arange(n) % length
        between = float((np.bincount(place, logs) ** 2 / np.bincount(place)).sum())
        ratio = between / (length - 1) / max((total - between) / (n - length), 1e-12 * total)
        if between >= EXPLAINED * total and LONGEST_CYCLE * float(fdtrc(length - 1, n - length, ratio)) < alpha:
            return length
    return None
