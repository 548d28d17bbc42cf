"""The autocorrelation alone: the period that its peaks tell (Tarraf et al., IPDPS'24, §II-C)."""

from typing import Literal

from ...signals.construction import StepSignal
from ..results.evidence import AutocorrelationEvidence
from ..results.result import PeriodResult
from ..spectral.autocorrelation import autocorrelation_period
from .window import NamedPeriod, analysed_window, window_result

NAME = "autocorrelation"
FINER = 8
"""Peaks are seen at whole bins: thirds of a period, enough for a spectrum, would leave 3 or 4 of them to a period."""
MOST_LISTED = 16
"""Distances of peaks listed in the evidence."""


def detect(signal: StepSignal, fs: float | Literal["auto"] = "auto", *, skip_first_phase: bool = False) -> PeriodResult:
    """Find the period of a signal from the peaks of its autocorrelation.

    Parameters and errors are those of `iostrata.analysis.methods.ftio.SpectralMethod`, but an automatic `fs` is eight
    times as high: bins of about a 24th of the distance of the signal's phases.

    Returns
    -------
    PeriodResult
        Periodic where the autocorrelation has a peak. ``confidence`` is c_a, and 0 without a period. The interval
        goes from the shortest to the longest distance of peaks that is no outlier, and half a bin beyond each, since
        peaks are seen at whole bins.
    """
    window = analysed_window(signal, fs, skip_first_phase=skip_first_phase, finer=FINER)
    shifted = autocorrelation_period(window.samples.values, window.samples.fs)
    if shifted is None:
        reason = "The autocorrelation has no peak: at no distance is the signal like itself."
        return window_result(NAME, window, None, reason, AutocorrelationEvidence(aliasing=window.aliasing))
    kept = shifted.candidates
    half = 0.5 / window.samples.fs
    interval = (float(kept.min()) - half, float(kept.max()) + half)
    reason = f"Peaks of the autocorrelation: {kept.size} alike distances"
    if shifted.dropped:
        reason += f"; set aside as outliers: {shifted.dropped}"
    evidence = AutocorrelationEvidence(
        candidates_s=tuple(kept[:MOST_LISTED].tolist()),
        candidates=kept.size,
        dropped=shifted.dropped,
        aliasing=window.aliasing,
    )
    return window_result(
        NAME, window, NamedPeriod(shifted.period, interval, shifted.confidence), f"{reason}.", evidence
    )
