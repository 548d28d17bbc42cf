"""DFT × DWT: the dominant frequency of the wavelet approximation, and the intervals in which it holds."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ...model.errors import SelectionError
from ...signals.construction import StepSignal
from ..phases.phases import signal_phases
from ..results.evidence import HybridEvidence
from ..results.result import Period, PeriodResult, Phase, Regime, SamplingInfo, main_period
from ..spectral.metrics import characterise
from ..spectral.sampling_rate import phase_frequency
from .hybrid_search import Hybrid, analyse_hybrid

NAME = "hybrid"
FINER = 8.0
"""How much finer than for the spectrum alone the signal is sampled: some 24 bins for a period."""
MOST_BINS = 2**17


def detect(
    signal: StepSignal,
    fs: float | Literal["auto"] = "auto",
    *,
    wavelet: str = "db1",
    level: int | None = None,
    tolerance: float = 0.8,
    threshold: float = 3.0,
    false_alarm_rate: float = 0.01,
) -> PeriodResult:
    """Find the period of a signal, and when it holds, by DFT and DWT (Tarraf et al., Frontiers'25, §5.2 and §5.3).

    Parameters
    ----------
    signal : StepSignal
        The exact signal; its window is the window of the analysis.
    fs : float or "auto"
        Sampling frequency in Hz, or "auto" for about 24 bins for each of the signal's phases.
    wavelet : str
        Discrete wavelet of PyWavelets.
    level : int, optional
        Level of the decomposition; without it, it follows from period and sampling frequency.
    tolerance : float
        Share of the largest z-score that a candidate reaches, in (0, 1].
    threshold : float
        z-score that a candidate reaches, > 0.
    false_alarm_rate : float
        Share of noise that may be called periodic, in (0, 0.5].

    Returns
    -------
    PeriodResult
        ``periodic`` where the spectrum has a dominant frequency that holds for at least three bursts, which are more
        in step than noise would have them at the false-alarm rate. ``regimes`` are
        the intervals in which it holds, each with its own period. ``phases``, ``recurrence`` and ``jitter`` are those
        of the method ``auto``. ``period`` is the mean of the intervals, ``confidence`` that of the dominant frequency.
        ``evidence`` holds the wavelet, the level, the share of the run in which the period holds, and the mean
        correlation there.

    Raises
    ------
    SelectionError
        If an option is out of its range.
    MissingLibraryError
        If PyWavelets is not installed.
    """
    if not 0 < tolerance <= 1:
        raise SelectionError(f"tolerance {tolerance!r}: give a share above 0, up to 1")
    if not 0 < threshold < np.inf:
        raise SelectionError(f"threshold {threshold!r}: give a positive, finite z-score")
    if not 0 < false_alarm_rate <= 0.5:
        raise SelectionError(f"false-alarm rate {false_alarm_rate!r}: give a share above 0, up to 0.5")
    automatic = fs == "auto"
    frequency = min(FINER * phase_frequency(signal), MOST_BINS / signal.duration) if fs == "auto" else fs
    samples = signal.sample(frequency, abstraction_error=True)
    sampling = SamplingInfo(samples.fs, len(samples), automatic, samples.abstraction_error)
    found = analyse_hybrid(
        samples.values,
        samples.fs,
        start=samples.start,
        wavelet=wavelet,
        level=level,
        tolerance=tolerance,
        threshold=threshold,
    )
    evidence, reason = _evidence(found), found.reason
    if found.period is not None and found.p_value > false_alarm_rate:
        reason += f" But its bursts are no more in step than noise, p = {found.p_value:.2g}."
        found = replace(found, validity=None)
    period = found.period
    sure = found.dominant.confidence if period is not None and found.dominant is not None else 0.0
    regimes = _regimes(found, signal.window, sure)
    periods: tuple[Period, ...] = ()
    bursts = signal_phases(signal, false_alarm_rate)
    phases = bursts.listed
    if period is not None:
        regimes = _counted(phases, regimes, 0.25 * period)
        periods = (Period(period, _interval(period, 1.0 / (len(samples) / samples.fs)), sure, signal.volume),)
    return PeriodResult(
        method=NAME,
        **main_period(periods),
        recurrence=bursts.recurrence,
        jitter=bursts.jitter,
        phases=phases,
        regimes=regimes,
        metrics=characterise(signal, period),
        sampling=sampling,
        reason=reason,
        evidence=evidence,
    )


def _counted(phases: tuple[Phase, ...], regimes: tuple[Regime, ...], slack: float) -> tuple[Regime, ...]:
    """Count the phases that begin in each regime, or shortly before it."""
    if not phases:
        return tuple(replace(one, phases=0) for one in regimes)
    at = np.array([phase.start for phase in phases])
    lows, highs = np.array([(one.start, one.end) for one in regimes]).T
    regime = np.searchsorted(lows - slack, at, side="right") - 1
    inside = (regime >= 0) & (at <= highs[np.maximum(regime, 0)])
    counts = np.bincount(regime[inside], minlength=len(regimes)).tolist()
    return tuple(replace(one, phases=count) for one, count in zip(regimes, counts, strict=True))


def _regimes(found: Hybrid, window: tuple[float, float], sure: float) -> tuple[Regime, ...]:
    if found.validity is None:
        return ()
    rows = zip(found.intervals, found.validity.periods, strict=True)
    return tuple(
        Regime(float(low), min(float(high), window[1]), own, sure, valid_share=1.0) for (low, high), own in rows
    )


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
