"""How well a confidence does what it says."""

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
BINS = 10


def reliability(confidence: Floats, right: Floats) -> tuple[Floats, Floats, npt.NDArray[np.int64]]:
    """Return mean confidence, share right and count of ten bins of equal mass."""
    order = np.argsort(confidence, kind="stable")
    parts = [part for part in np.array_split(order, BINS) if part.size]
    return (
        np.array([confidence[part].mean() for part in parts]),
        np.array([right[part].mean() for part in parts]),
        np.array([part.size for part in parts]),
    )


def calibration_error(confidence: Floats, right: Floats) -> float:
    """Return the expected calibration error over ten bins of equal mass."""
    said, true, count = reliability(confidence, right)
    return float(np.sum(count * np.abs(said - true)) / count.sum())


def area_under_curve(confidence: Floats, right: Floats) -> float | None:
    """Return the probability that a right result has more confidence than a wrong one; None without one of each."""
    from scipy.stats import rankdata

    good = int(right.sum())
    bad = right.size - good
    if not good or not bad:
        return None
    ranks = rankdata(confidence)
    return float((ranks[right > 0].sum() - good * (good + 1) / 2) / (good * bad))


def brier_skill(confidence: Floats, right: Floats) -> float | None:
    """Return 1 - Brier score / that of always saying the share that is right; None where that is never wrong."""
    share = float(right.mean())
    reference = share * (1 - share)
    return None if reference == 0 else 1 - float(np.mean((confidence - right) ** 2)) / reference
