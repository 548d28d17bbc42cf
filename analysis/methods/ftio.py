"""FTIO: the period as an outlier of the spectrum (Tarraf et al., IPDPS'24, §II-B and §II-C).

The method with the outlier criterion left open, and the three that need no other library: ``ftio`` with z-scores,
``ftio-merged`` with the refined confidence of §II-C, ``ftio-peaks`` with peaks of the spectrum (§II-B2).
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from ...model.errors import SelectionError
from ...signals.construction import StepSignal
from ..results.evidence import SpectralEvidence
from ..results.result import PeriodResult
from ..spectral.autocorrelation import AutocorrelationPeriod, autocorrelation_period, find_peaks
from ..spectral.confidence import refined_confidence, similarity
from ..spectral.dominant import SpectrumKind, dominant_frequency
from ..spectral.outliers import Z_SCORE, OutlierCriterion, fewest_samples
from ..spectral.spectrum import power_spectrum, strongest_frequencies
from .window import NamedPeriod, analysed_window, window_result

MOST_LISTED = 16
"""Candidates listed in the evidence; more than two are no period, and a noisy spectrum can have thousands."""


@dataclass(frozen=True)
class SpectralMethod:
    """A named method that finds the period of a signal as an outlier of its spectrum.

    Attributes
    ----------
    name : str
        Name of the method.
    criterion : OutlierCriterion
        What makes a line of the spectrum an outlier.
    merged : bool
        Whether the confidence is the refined one, for which the autocorrelation is asked too.
    """

    name: str
    criterion: OutlierCriterion
    merged: bool = False

    def __call__(
        self,
        signal: StepSignal,
        fs: float | Literal["auto"] = "auto",
        *,
        spectrum: SpectrumKind = "power",
        tolerance: float = 0.8,
        threshold: float | None = None,
        frequencies: int = 3,
        skip_first_phase: bool = False,
    ) -> PeriodResult:
        """Find the period of a signal as FTIO does.

        Raises SelectionError if an option is out of its range, or scikit-learn is needed and not installed.

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
            ``confidence`` is c_d, or the refined confidence if `merged`, and 0 where no period is named: the method
            has no number for its certainty that there is none. The interval of the period is half a line of the
            spectrum to each side. ``evidence`` holds the candidates, c_d, the autocorrelation's period and confidence
            c_a, the similarity c_s, and the refined confidence.

        Notes
        -----
        Other than in the paper, samples are averages of bins and not values at points in time: the volume is
        conserved, and a burst shorter than a bin is not lost. Where the autocorrelation shows no period, the paper
        leaves the refined confidence open; `merged` counts c_a and c_s as 0 then, since nothing confirms the period.
        """
        self._check(spectrum, tolerance, threshold, frequencies)
        window = analysed_window(signal, fs, skip_first_phase=skip_first_phase)
        transform = power_spectrum(window.samples.values, window.samples.fs)
        dominant = dominant_frequency(
            transform, self.criterion, kind=spectrum, tolerance=tolerance, threshold=threshold
        )
        shifted = autocorrelation_period(window.samples.values, window.samples.fs)
        named, agreement, refined = None, None, None
        reason = dominant.reason
        if dominant.line is not None:
            period, interval = _on_line(dominant.line, transform.resolution)
            agreement, refined = _refined(period, dominant.confidence, shifted)
            confidence = dominant.confidence
            if self.merged:
                confidence = refined if refined is not None else refined_confidence(confidence, 0.0, 0.0)
                reason += (
                    f" The autocorrelation shows {shifted.period:.4g} s."
                    if shifted is not None
                    else " The autocorrelation shows no period, which counts against it."
                )
            named = NamedPeriod(period, interval, confidence)
        evidence = SpectralEvidence(
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
        return window_result(self.name, window, named, reason, evidence)

    def _check(self, spectrum: str, tolerance: float, threshold: float | None, frequencies: int) -> None:
        if spectrum not in ("power", "amplitude"):
            raise SelectionError(f"spectrum {spectrum!r}: choose one of power, amplitude")
        if not _is_number(tolerance) or not 0 < tolerance <= 1:
            raise SelectionError(f"tolerance {tolerance!r}: give a share above 0, up to 1")
        low, high = self.criterion.limits
        if threshold is not None and not (_is_number(threshold) and low < threshold < high):
            upper = f" and below {high:g}" if high < float("inf") else ""
            raise SelectionError(f"threshold {threshold!r}: give a {self.criterion.words} above {low:g}{upper}")
        if isinstance(frequencies, bool) or not isinstance(frequencies, int) or frequencies < 0:
            raise SelectionError(f"frequencies {frequencies!r}: give a whole number of at least 0")


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _on_line(line: int, resolution: float) -> tuple[float, tuple[float, float]]:
    return 1.0 / (line * resolution), (1.0 / ((line + 0.5) * resolution), 1.0 / ((line - 0.5) * resolution))


def _refined(
    period: float, confidence: float, shifted: AutocorrelationPeriod | None
) -> tuple[float | None, float | None]:
    if shifted is None:
        return None, None
    agreement = similarity(period, shifted.candidates)
    return agreement, refined_confidence(confidence, shifted.confidence, agreement)


detect_merged = SpectralMethod("ftio-merged", Z_SCORE, merged=True)


def is_peak(scores: NDArray[np.float64], threshold: float) -> NDArray[np.bool_]:
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


detect_peaks = SpectralMethod("ftio-peaks", OutlierCriterion("peak z-score", is_peak, fewest_samples, threshold=3.0))

detect = SpectralMethod("ftio", Z_SCORE)
