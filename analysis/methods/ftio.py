"""FTIO: the period as an outlier of the spectrum (Tarraf et al., IPDPS'24, §II-B and §II-C).

The method with the outlier criterion left open, and the three variants that need no other library: ``ftio`` with
z-scores, ``ftio-merged`` with the refined confidence of §II-C, ``ftio-peaks`` with peaks of the spectrum (§II-B2).
"""

from typing import ClassVar, Final, get_args

import numpy as np

from ...model.arrays import Floats, Mask
from ...model.quantities import SamplingFrequency, is_whole
from ...signals.construction import StepSignal
from ..registry import SKIP_FIRST_PHASE, THRESHOLD, TOLERANCE, MethodOption, PeriodMethod
from ..results.evidence import SpectralEvidence
from ..results.result import Period, PeriodResult
from ..spectral.autocorrelation import AutocorrelationPeriod, autocorrelation_period, find_peaks
from ..spectral.dominant import DominantFrequency, SpectrumKind, dominant_frequency, refined_confidence, similarity
from ..spectral.outliers import Z_SCORE, OutlierCriterion, fewest_samples
from ..spectral.spectrum import Spectrum, power_spectrum, strongest_frequencies
from .window import AnalysedWindow, analysed_window, whole_window_result

MOST_LISTED: Final = 16
"""Candidates listed in the evidence; more than two are no period, and a noisy spectrum can have thousands."""
SPECTRUM: Final = MethodOption(
    "spectrum",
    "The spectrum in which outliers are looked for, of powers or of amplitudes.",
    "one of power, amplitude",
    lambda value: value in get_args(SpectrumKind),
)
FREQUENCIES: Final = MethodOption(
    "frequencies",
    "How many of the strongest cosines the evidence lists.",
    "a whole number of at least 0",
    lambda value: is_whole(value) and value >= 0,
)


class FtioMethod(PeriodMethod):
    """The method with z-scores, and what its variants share.

    Attributes
    ----------
    criterion : OutlierCriterion
        What makes a line of the spectrum an outlier.

    Notes
    -----
    Other than in the paper, samples are averages of bins and not values at points in time: the volume is conserved, and
    a burst shorter than a bin is not lost.
    """

    name = "ftio"
    description = "A frequency whose power is an outlier of the spectrum by its z-score."
    limits = (
        "It is no test against noise, misses many short bursts, and its periods are those of lines of the spectrum."
    )
    options = (SPECTRUM, TOLERANCE, THRESHOLD, FREQUENCIES, SKIP_FIRST_PHASE)
    criterion: ClassVar[OutlierCriterion] = Z_SCORE

    def detect(
        self,
        signal: StepSignal,
        fs: SamplingFrequency = "auto",
        *,
        spectrum: SpectrumKind = "power",
        tolerance: float = 0.8,
        threshold: float | None = None,
        frequencies: int = 3,
        skip_first_phase: bool = False,
    ) -> PeriodResult:
        """Find the period of a signal as FTIO does.

        Raises SelectionError if the threshold is out of range, or scikit-learn is needed and not installed.

        Parameters
        ----------
        signal : StepSignal
            The exact signal; its window is the window of the analysis. ``signal.clip`` makes it shorter.
        fs : float or "auto"
            Sampling frequency in Hz, or "auto" for bins of about a third of the distance of the signal's phases
            (`iostrata.analysis.spectral.sampling_rate`). With one that is too low for the signal, ``reason`` and
            ``evidence.aliasing`` warn.
        spectrum : "power" or "amplitude"
            The spectrum in which outliers are looked for.
        tolerance : float
            Share of the largest z-score that a candidate reaches, in (0, 1].
        threshold : float, optional
            What an outlier reaches; what that is depends on the criterion, and so does the default.
        frequencies : int
            Number of the strongest frequencies listed in ``evidence.frequencies`` with amplitude and phase.
        skip_first_phase : bool
            Whether the window starts at the signal's second phase.

        Returns
        -------
        PeriodResult
            ``confidence`` is c_d, and 0 where no period is named: the method has no number for its certainty that there
            is none. The interval of the period is half a line of the
            spectrum to each side. ``evidence`` holds the candidates, c_d, the autocorrelation's period and confidence
            c_a, the similarity c_s, and the refined confidence.
        """
        window = analysed_window(signal, fs, skip_first_phase=skip_first_phase)
        lines = power_spectrum(window.samples.values, window.samples.fs)
        dominant = dominant_frequency(lines, self.criterion, kind=spectrum, tolerance=tolerance, threshold=threshold)
        shifted = autocorrelation_period(window.samples.values, window.samples.fs)
        evidence = _evidence(window, lines, dominant, shifted, frequencies)
        if dominant.line is None:
            return whole_window_result(self.name, window, None, dominant.reason, evidence)
        period, low, high = (1.0 / ((dominant.line + side) * lines.resolution) for side in (0.0, 0.5, -0.5))
        confidence, further = self.confidence(dominant.confidence, evidence)
        named = Period(period, (low, high), confidence, window.signal.volume)
        return whole_window_result(self.name, window, named, dominant.reason + further, evidence)

    def confidence(self, spectral: float, evidence: SpectralEvidence) -> tuple[float, str]:
        """Return the confidence in a period, given c_d, and what there is to add to the reason."""
        del evidence
        return spectral, ""


def _evidence(
    window: AnalysedWindow,
    transform: Spectrum,
    dominant: DominantFrequency,
    shifted: AutocorrelationPeriod | None,
    frequencies: int,
) -> SpectralEvidence:
    agreement = refined = None
    if dominant.line is not None and shifted is not None:
        agreement = similarity(1.0 / (dominant.line * transform.resolution), shifted.candidates)
        refined = refined_confidence(dominant.confidence, shifted.confidence, agreement)
    return SpectralEvidence(
        candidates_hz=tuple((dominant.candidates[:MOST_LISTED] * transform.resolution).tolist()),
        candidates=dominant.candidates.size,
        harmonics=dominant.harmonics.size,
        frequencies=strongest_frequencies(transform, frequencies),
        frequencies_searched=dominant.scores.size,
        spectral_confidence=dominant.confidence,
        autocorrelation_period_s=shifted.period if shifted else None,
        autocorrelation_confidence=shifted.confidence if shifted else None,
        similarity=agreement,
        refined_confidence=refined,
        aliasing=window.aliasing,
    )


class FtioMergedMethod(FtioMethod):
    """FTIO with the refined confidence of §II-C.

    Where the autocorrelation shows no period the paper leaves that open; here c_a and c_s then count as 0, since
    nothing confirms the period.
    """

    name = "ftio-merged"
    description = "ftio with the mean of its own confidence, that of the autocorrelation, and the agreement of both."
    limits = "As ftio: the autocorrelation changes the confidence and not the period."

    def confidence(self, spectral: float, evidence: SpectralEvidence) -> tuple[float, str]:
        """Return the refined confidence, and what the autocorrelation shows."""
        if evidence.refined_confidence is None:
            against = " The autocorrelation shows no period, which counts against it."
            return refined_confidence(spectral, 0.0, 0.0), against
        return evidence.refined_confidence, f" The autocorrelation shows {evidence.autocorrelation_period_s:.4g} s."


def is_peak(scores: Floats, threshold: float) -> Mask:
    """Mark lines stronger than both beside them, and of a z-score of at least ``threshold``.

    Notes
    -----
    The paper names the algorithm, not the height. With the height of the z-score's own method this one differs from
    it by what a peak is: a frequency between two lines lifts both, and only one of them counts. The first line is no
    peak, so the window itself is never a period. Beyond the last line the spectrum is its own mirror image, so that
    line is one where it is stronger than the line before.
    """
    marked = np.zeros(scores.size, dtype=np.bool_)
    marked[find_peaks(np.append(scores, -np.inf), threshold)] = True
    return marked


class FtioPeaksMethod(FtioMethod):
    """FTIO with peaks of the spectrum (§II-B2)."""

    name = "ftio-peaks"
    description = "ftio where an outlier is also a local maximum of the spectrum."
    limits = "As ftio, but the window itself is never a period."
    criterion = OutlierCriterion("peak z-score", is_peak, fewest_samples, threshold=3.0)
