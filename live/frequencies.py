"""What FTIO predicts while a job runs (IPDPS'24, §II-D): frequency intervals with probabilities, in a window."""

from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from ..analysis.detect import detect_period
from ..analysis.results.result import PeriodResult
from ..model.quantities import seconds_text
from ..signals.construction import StepSignal

HITS: Final = 3
"""Dominant frequencies in a row after which the window is cut to as many of the last period."""
MOST_PREDICTIONS: Final = 1000
"""Predictions that are remembered, the latest ones."""


@dataclass(frozen=True)
class Prediction:
    """The dominant frequency in Hz, or None, of a window of so many seconds."""

    frequency: float | None
    window: float


def frequency_intervals(predictions: list[Prediction]) -> tuple[tuple[float, float, float], ...]:
    """Return lowest and highest frequency in Hz of each cluster and its probability, the likeliest first.

    Parameters
    ----------
    predictions : list of Prediction

    Notes
    -----
    "Our approach merges the dominant frequencies using DBSCAN with eps set to the difference between the time windows"
    (§II-D): of frequencies that is the difference of their resolutions, 1 over the window. In one dimension, and with
    two predictions to a cluster, DBSCAN joins neighbours that are at most eps apart. The probability is the number of
    predictions in a cluster over that of all.
    """
    found = [one for one in predictions if one.frequency is not None]
    if not found:
        return ()
    resolution = 1 / np.array([one.window for one in found])
    eps = float(np.abs(np.diff(resolution)).max(initial=0.0))
    frequency = np.sort([one.frequency or 0.0 for one in found])
    # Equal frequencies differ by rounding.
    cuts = np.flatnonzero(np.diff(frequency) > max(eps, 1e-9 * float(frequency[-1]))) + 1
    clusters = [part for part in np.split(frequency, cuts) if part.size >= 2 or frequency.size == 1]
    clusters.sort(key=lambda part: -part.size)
    return tuple((float(part[0]), float(part[-1]), part.size / len(predictions)) for part in clusters)


class FtioPredictor:
    """FTIO's method on the end of a signal, again and again, and what follows from all predictions so far."""

    def __init__(self) -> None:
        self._predictions: deque[Prediction] = deque(maxlen=MOST_PREDICTIONS)
        self._hits = 0
        self._begin: float | None = None
        self.since = 0.0
        """Where the window began of which the latest verdict is, in s."""

    def predict(self, window: Callable[[float], StepSignal], begin: float) -> PeriodResult:
        """Return the method's verdict, of `window` from a time in s on, of a run that began at another.

        Three periods have but a few frequencies, of which none may stand out: then it is that of the whole run.
        """
        low = begin if self._begin is None else max(self._begin, begin)
        signal = window(low)
        result = detect_period(signal, "ftio")
        if result.period is None and low > begin:
            cut, signal = signal, window(begin)
            result = detect_period(signal, "ftio")
            short = seconds_text(cut.duration)
            reason = f"Nothing stands out of the last {short}; of the whole run: {result.reason}"
            result = replace(result, reason=reason)
        self.since = signal.window[0]
        self._predictions.append(Prediction(result.frequency, signal.duration))
        self._hits = self._hits + 1 if result.period is not None else 0
        adapts = result.period is not None and self._hits >= HITS
        self._begin = signal.window[1] - HITS * (result.period or 0.0) if adapts else None
        return result

    @property
    def intervals(self) -> tuple[tuple[float, float, float], ...]:
        """`frequency_intervals` of all predictions."""
        return frequency_intervals(list(self._predictions))
