"""The autocorrelation alone: the period that its peaks show (Tarraf et al., IPDPS'24, §II-C)."""

from typing import Final

from ...model.quantities import SamplingFrequency
from ...signals.construction import StepSignal
from ..registry import SKIP_FIRST_PHASE, PeriodMethod
from ..results.evidence import AutocorrelationEvidence
from ..results.result import Period, PeriodResult
from ..spectral.autocorrelation import autocorrelation_period
from .window import analysed_window, whole_window_result

FINER: Final = 8
"""Peaks are seen at whole bins: thirds of a period, enough for a spectrum, would leave 3 or 4 of them to a period."""
MOST_LISTED: Final = 16
"""Distances of peaks listed in the evidence."""


class AutocorrelationMethod(PeriodMethod):
    """The mean distance of peaks of the autocorrelation."""

    name = "autocorrelation"
    description = "The mean distance of neighbouring peaks of the autocorrelation."
    limits = "It needs at least two peaks, distances are whole bins, and like ftio it is no test against noise."
    options = (SKIP_FIRST_PHASE,)

    def detect(
        self, signal: StepSignal, fs: SamplingFrequency = "auto", *, skip_first_phase: bool = False
    ) -> PeriodResult:
        """Find the period of a signal from the peaks of its autocorrelation.

        Parameters are those of `iostrata.analysis.methods.ftio.FtioMethod`, but an automatic `fs` is eight times as
        high: bins of about a 24th of the distance of the signal's phases.

        Returns
        -------
        PeriodResult
            Periodic where the autocorrelation has a peak. ``confidence`` is c_a, and 0 without a period. The interval
            goes from the shortest to the longest distance of peaks that is no outlier, and half a bin beyond each,
            since peaks are seen at whole bins.
        """
        window = analysed_window(signal, fs, skip_first_phase=skip_first_phase, finer=FINER)
        aliasing = window.aliasing
        shifted = autocorrelation_period(window.samples.values, window.samples.fs)
        if shifted is None:
            reason = "The autocorrelation has no peak: at no distance is the signal like itself."
            return whole_window_result(self.name, window, None, reason, AutocorrelationEvidence(aliasing=aliasing))
        kept, half = shifted.candidates, 0.5 / window.samples.fs
        interval = float(kept.min()) - half, float(kept.max()) + half
        reason = f"Peaks of the autocorrelation: {kept.size} alike distances"
        if shifted.dropped:
            reason += f"; set aside as outliers: {shifted.dropped}"
        listed = tuple(kept[:MOST_LISTED].tolist())
        evidence = AutocorrelationEvidence(
            candidates_s=listed, candidates=kept.size, dropped=shifted.dropped, aliasing=aliasing
        )
        period = Period(shifted.period, interval, shifted.confidence, window.signal.volume)
        return whole_window_result(self.name, window, period, f"{reason}.", evidence)
