"""DFT × DWT: the dominant frequency of the wavelet approximation, and the intervals in which it holds."""

from typing import Final

import numpy as np

from ...model.arrays import Floats
from ...model.quantities import SamplingFrequency
from ...signals.construction import StepSignal
from ..registry import FALSE_ALARM_RATE, THRESHOLD, TOLERANCE, MethodOption, PeriodMethod
from ..results.evidence import HybridEvidence
from ..results.result import Period, PeriodResult, Regime
from .hybrid_search import Hybrid, analyse_hybrid
from .window import analysed_window, window_result

FINER: Final = 8
"""How much finer than for the spectrum alone the signal is sampled: some 24 bins for a period."""
MOST_BINS: Final = 2**17
WAVELET: Final = MethodOption("wavelet", "Discrete wavelet of PyWavelets.", "its name")
LEVEL: Final = MethodOption(
    "level", "Level of the decomposition; without it, it follows from period and sampling frequency.", "a whole number"
)


class HybridMethod(PeriodMethod):
    """The period of a smoothed signal, and when it holds (Tarraf et al., Frontiers'25, §5.2 and §5.3)."""

    name = "hybrid"
    description = "The dominant frequency of the signal's wavelet approximation, and the intervals in which it holds."
    limits = "It needs PyWavelets, and three bursts in step; a burst that comes in step by chance counts."
    options = (WAVELET, LEVEL, TOLERANCE, THRESHOLD, FALSE_ALARM_RATE)

    def detect(
        self,
        signal: StepSignal,
        fs: SamplingFrequency = "auto",
        *,
        wavelet: str = "db1",
        level: int | None = None,
        tolerance: float = 0.8,
        threshold: float = 3.0,
        false_alarm_rate: float = 0.01,
    ) -> PeriodResult:
        """Find the period of a signal, and when it holds, by DFT and DWT.

        Raises SelectionError if wavelet, level or threshold is out of range, or PyWavelets is not installed.

        Parameters
        ----------
        signal : StepSignal
            The exact signal; its window is the window of the analysis.
        fs : float or "auto"
            Sampling frequency in Hz, or "auto" for about 24 bins for each of the signal's phases.
        wavelet, level, tolerance, threshold
            As of `analyse_hybrid`.
        false_alarm_rate : float
            Share of noise that may be called periodic, in (0, 0.5].

        Returns
        -------
        PeriodResult
            ``periodic`` where the spectrum has a dominant frequency that holds for at least three bursts, which are
            more in step than noise would have them at the false-alarm rate. ``regimes`` are the intervals in which it
            holds, each with its own period. ``phases``, ``recurrence`` and ``jitter`` are those of the method ``auto``.
            ``period`` is the mean of the intervals, ``confidence`` that of the dominant frequency. ``evidence`` holds
            the wavelet, the level, the share of the run in which the period holds, and the mean correlation there.
        """
        window = analysed_window(signal, fs, finer=FINER, most_bins=MOST_BINS, false_alarm_rate=false_alarm_rate)
        samples = window.samples
        found = analyse_hybrid(
            samples.values,
            samples.fs,
            start=samples.start,
            wavelet=wavelet,
            level=level,
            tolerance=tolerance,
            threshold=threshold,
        )
        period, reason = found.period, found.reason
        if period is not None and found.p_value > false_alarm_rate:
            reason += f" But its bursts are no more in step than noise, p = {found.p_value:.2g}."
            period = None
        periods: tuple[Period, ...] = ()
        regimes: tuple[Regime, ...] = ()
        if period is not None:
            sure = found.dominant.confidence if found.dominant is not None else 0.0
            interval = _interval(period, 1.0 / (len(samples) / samples.fs))
            periods = (Period(period, interval, sure, signal.volume),)
            regimes = _regimes(found, window.phases.bursts.start, signal.window[1], sure)
        return window_result(self.name, window, periods, regimes, reason, _evidence(found))


def _regimes(found: Hybrid, starts: Floats, end: float, sure: float) -> tuple[Regime, ...]:
    """Return the intervals up to the window's end, with the number of phases that begin in each or shortly before."""
    assert found.validity is not None
    slack = 0.25 * found.validity.period
    lows, highs = np.array(found.intervals).T
    highs = np.minimum(highs, end)
    place = np.searchsorted(lows - slack, starts, side="right") - 1
    inside = (place >= 0) & (starts <= highs[np.maximum(place, 0)])
    counts = np.bincount(place[inside], minlength=lows.size)
    rows = zip(lows.tolist(), highs.tolist(), found.validity.periods, counts.tolist(), strict=True)
    return tuple(Regime(low, high, period, sure, count, 1.0) for low, high, period, count in rows)


def _interval(period: float, resolution: float) -> tuple[float, float]:
    """Give the period half a line of the spectrum to each side."""
    frequency = 1.0 / period
    return 1.0 / (frequency + 0.5 * resolution), 1.0 / (frequency - 0.5 * resolution)


def _evidence(found: Hybrid) -> HybridEvidence:
    if found.validity is None:
        return HybridEvidence(wavelet=found.wavelet, level=found.level)
    inside = np.zeros(found.validity.times.size, dtype=np.bool_)
    for low, high in found.intervals:
        inside |= (found.validity.times >= low) & (found.validity.times <= high)
    mean = float(found.validity.correlation[inside].mean()) if inside.any() else None
    return HybridEvidence(
        wavelet=found.wavelet,
        level=found.level,
        valid_share=found.validity.share,
        correlation=mean,
        p_value=found.p_value,
    )
