"""How near a signature is to the true one."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from iostrata.runs.signatures.coincidence import BusyStretch, coincidences
from iostrata.runs.signatures.signature import Signature
from made import Application, true_peaks, true_signature
from scipy.signal import correlate

NEAR_S = 15.0
"""A burst of a signature within this of a true one, or within half of its length, is that one."""
USUAL_LAG_S = 6.0
"""By which a burst of one run usually lies apart from the same of another."""


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
    hidden: tuple[float, ...]
    """Of each burst missed: how probable samples as busy as at its true time and length are anywhere, by chance."""


def judged(signature: Signature, application: Application) -> Judged:
    """Compare a signature with the application alone: both correlations, volume share, bursts and their timing."""
    true = true_signature(application, signature.interval_s)
    cross, coefficient = correlations(signature.signature, true)
    found = np.array([burst.peak_s for burst in signature.bursts])
    missed, errors, taken = [], [], set()
    for start, end in true_peaks(application):
        middle, room = (start + end) / 2, max(NEAR_S, (end - start) / 2)
        distance = np.abs(found - middle)
        if not len(found) or distance.min() > room:
            missed.append((start, end))
            continue
        taken.add(int(distance.argmin()))
        errors.append(float(distance.min()))
    return Judged(
        cross,
        coefficient,
        signature.volume / sum(application.volumes),
        len(missed),
        len(found) - len(taken),
        float(np.mean(errors)) if errors else np.nan,
        len(application.volumes),
        tuple(by_chance(signature, application, one) for one in missed),
    )


def by_chance(signature: Signature, application: Application, burst: tuple[float, float]) -> float:
    """Return how probable it is that samples are by chance as busy as at a burst, for one who knows all of them."""
    step = signature.interval_s
    places = [(round(start / step), round(end / step)) for start, end in true_peaks(application)]
    own = (round(burst[0] / step), round(burst[1] / step))
    stretch = BusyStretch(*own, round(USUAL_LAG_S / step))
    others = [one for one in places if one != own]
    least = signature.parameters.supporting_samples
    return float(coincidences(signature.prepared, [stretch], others, least)[0])


def correlations(one: npt.NDArray[np.float64], other: npt.NDArray[np.float64]) -> tuple[float, float]:
    """Return the largest cross correlation over all lags and that at lag 0, of deviations from the means."""
    length = max(len(one), len(other))
    first, second = (np.pad(values, (0, length - len(values))) for values in (one, other))
    first, second = first - first.mean(), second - second.mean()
    scale = np.sqrt((first @ first) * (second @ second))
    if scale == 0:
        return 0.0, 0.0
    return float(correlate(first, second, method="fft").max() / scale), float(first @ second / scale)
