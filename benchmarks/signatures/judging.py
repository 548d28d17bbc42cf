"""How near a signature is to the true one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iostrata.runs.signatures.signature import Signature
from made import Application, true_peaks, true_signature
from scipy.signal import correlate

NEAR_S = 15.0
"""A burst of a signature within this of a true one, or within half of its length, is that one."""


@dataclass(frozen=True)
class Judged:
    """How near a signature is to the true one."""

    cross_correlation: float
    coefficient: float
    volume: float
    missed: int
    false: int
    timing_s: float
    bursts: int


def judged(signature: Signature, application: Application) -> Judged:
    """Compare a signature with the application alone: both correlations, volume share, bursts and their timing."""
    true = true_signature(application, signature.interval_s)
    cross, coefficient = correlations(signature.signature, true)
    found = np.array([burst.peak_s for burst in signature.bursts])
    missed, errors, taken = 0, [], set()
    for start, end in true_peaks(application):
        middle, room = (start + end) / 2, max(NEAR_S, (end - start) / 2)
        distance = np.abs(found - middle)
        if not len(found) or distance.min() > room:
            missed += 1
            continue
        taken.add(int(distance.argmin()))
        errors.append(float(distance.min()))
    return Judged(
        cross,
        coefficient,
        signature.volume / sum(application.volumes),
        missed,
        len(found) - len(taken),
        float(np.mean(errors)) if errors else np.nan,
        len(application.volumes),
    )


def correlations(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest cross correlation over all lags and that at lag 0, of deviations from the means."""
    length = max(len(one), len(other))
    first, second = (np.pad(values, (0, length - len(values))) for values in (one, other))
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    if scale == 0:
        return 0.0, 0.0
    return float(correlate(first, second, method="fft").max() / scale), float(first @ second / scale)
