"""FTIO: the period as an outlier of the power spectrum (Tarraf et al., IPDPS'24, §II-B and §II-C)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

from ...otf2io.errors import SelectionError
from ..autocorrelation import autocorrelation_period
from ..characterisation import characterise
from ..confidence import refined_confidence, similarity
from ..dominant import dominant_frequency
from ..judgement import judge
from ..phase_sampling import phase_frequency
from ..phases import phase_rows, vertices
from ..results import Period, PeriodResult, Regime, SamplingInfo
from ..spectrum import power_spectrum

if TYPE_CHECKING:
    from ...layers.signal import StepSignal

NAME = "ftio"
FALSE_ALARM_RATE = 0.01
"""Of the search for phases, which are told beside what the spectrum says."""
MOST_LISTED = 16
"""Candidates listed in the evidence; more than two are no period, and a noisy spectrum can have thousands."""


def detect(
    signal: StepSignal,
    fs: float | Literal["auto"] = "auto",
    *,
    tolerance: float = 0.8,
    threshold: float = 3.0,
) -> PeriodResult:
    """Find the period of a signal as FTIO does.

    Parameters
    ----------
    signal : StepSignal
        The exact signal; its window is the window of the analysis.
    fs : float or "auto"
        Sampling frequency in Hz, or "auto" for bins of about a third of the distance of the signal's phases
        (`iostrata.analysis.phase_sampling`).
    tolerance : float
        Share of the largest z-score that a candidate reaches, in (0, 1].
    threshold : float
        z-score that a candidate reaches, > 0.

    Returns
    -------
    PeriodResult
        ``confidence`` is c_d, and 0 where no period is named: the method has no number for its certainty that there
        is none. The interval of the period is half a line of the spectrum to each side. ``evidence`` holds the
        candidates, the autocorrelation's period and confidence c_a, the similarity c_s, and the refined confidence.

    Raises
    ------
    SelectionError
        If an option is out of its range.

    Notes
    -----
    Phases, recurrence and jitter are those of the method ``auto``, whether or not a period is named. Other than in the
    paper, samples are averages of bins and not values at points in time: the volume is conserved, and
    a burst shorter than a bin is not lost.
    """
    if not 0 < tolerance <= 1:
        raise SelectionError(f"tolerance {tolerance!r}: give a share above 0, up to 1")
    if not 0 < threshold < np.inf:
        raise SelectionError(f"threshold {threshold!r}: give a positive, finite z-score")
    automatic = fs == "auto"
    frequency = phase_frequency(signal) if fs == "auto" else fs
    samples = signal.sample(frequency, abstraction_error=True)
    sampling = SamplingInfo(samples.fs, len(samples), automatic, samples.abstraction_error)

    spectrum = power_spectrum(samples.values, samples.fs)
    dominant = dominant_frequency(spectrum, tolerance, threshold)
    shifted = autocorrelation_period(samples.values, samples.fs)
    evidence: dict[str, object] = {
        "candidates_hz": dominant.candidates[:MOST_LISTED] * spectrum.resolution,
        "candidates": dominant.candidates.size,
        "harmonics": dominant.harmonics.size,
        "autocorrelation_period_s": shifted.period if shifted else None,
        "autocorrelation_confidence": shifted.confidence if shifted else None,
        "similarity": None,
        "refined_confidence": None,
    }
    # The paper does not find phases; without them nobody could see what the named period is about.
    found = judge(*vertices(signal), FALSE_ALARM_RATE)
    if dominant.line is None:
        return PeriodResult(
            method=NAME,
            periodic=False,
            period=None,
            period_interval=None,
            frequency=None,
            confidence=0.0,
            recurrence=found.recurrence,
            jitter=found.jitter,
            periods=(),
            phases=phase_rows(found.phases),
            regimes=(),
            metrics=characterise(signal),
            sampling=sampling,
            reason=dominant.reason,
            evidence=evidence,
        )

    resolution = spectrum.resolution
    period = 1.0 / (dominant.line * resolution)
    interval = (1.0 / ((dominant.line + 0.5) * resolution), 1.0 / ((dominant.line - 0.5) * resolution))
    if shifted is not None:
        agreement = similarity(period, shifted.candidates)
        evidence["similarity"] = agreement
        evidence["refined_confidence"] = refined_confidence(dominant.confidence, shifted.confidence, agreement)
    return PeriodResult(
        method=NAME,
        periodic=True,
        period=period,
        period_interval=interval,
        frequency=dominant.line * resolution,
        confidence=dominant.confidence,
        recurrence=found.recurrence,
        jitter=found.jitter,
        periods=(Period(period, interval, dominant.confidence, signal.volume),),
        phases=phase_rows(found.phases),
        regimes=(Regime(*signal.window, period),),
        metrics=characterise(signal, period),
        sampling=sampling,
        reason=dominant.reason,
        evidence=evidence,
    )
