"""What a verdict rests on beside the period, one record a kind of method."""

from typing import ClassVar

from ...model.document import Plain, Record


class Evidence(Record, kw_only=True):
    """What a verdict rests on; each method has its own record with more fields.

    Attributes
    ----------
    filter : str or None
        The Butterworth filter that was put before the method.
    baseline : float or None
        The smallest sample, where it is negative: volumes count from there.
    """

    OPTIONAL: ClassVar = frozenset({"filter", "baseline"})

    filter: str | None = None
    baseline: float | None = None

    def to_dict(self) -> dict[str, Plain]:
        """Give the entry ``evidence`` of the document of ``iostrata periods --json``."""
        own = super().to_dict()
        filter, baseline = own.pop("filter", None), own.pop("baseline", None)
        if filter is not None:
            return {**own, "filter": filter, "baseline": baseline}
        return own if baseline is None else {"baseline": baseline, **own}


class PhaseEvidence(Evidence, kw_only=True):
    """Of ``auto``.

    Attributes
    ----------
    verdict : str
        What decided: "one period", "drift", "regimes", "concurrent", "line", "irregular" or "few" (bursts).
    log_bayes_factor : float or None
        Natural logarithm of how much more probable the intervals are with the main period than without any, the weight
        of its set of bursts included.
    p_value : float or None
        Of the line of the spectrum where that decided, corrected for the number of lines.
    drift : float
        Logarithm of the last time between phases over the first; 0 where the period does not drift.
    pause : float or None
        Constant time in s from the end of a phase to the start of the next, where that is what recurs.
    missing_phases : int
        Phases that the period predicts and the signal does not have.
    sets_of_phases : int
        How many sets of bursts were looked at.
    size_cycle : int or None
        Number of phases after which their sizes repeat.
    """

    verdict: str
    log_bayes_factor: float | None = None
    p_value: float | None = None
    drift: float = 0.0
    pause: float | None = None
    missing_phases: int = 0
    sets_of_phases: int = 0
    size_cycle: int | None = None


class LoopEvidence(Evidence, kw_only=True):
    """Of a loop: the program's own steps in place of the bandwidth.

    Attributes
    ----------
    verdict : str
    loop : int
        Its id.
    bits : float
        What telling the run by the loop saves.
    """

    verdict: str = "loop"
    loop: int
    bits: float


class SpectralEvidence(Evidence, kw_only=True):
    """Of ``ftio`` and its variants.

    Attributes
    ----------
    candidates_hz : tuple of float
        The first candidates for the dominant frequency.
    candidates, harmonics : int
        How many candidates there are, and how many were set aside as harmonics of lower ones.
    frequencies : list of dict
        The strongest cosines, each with its frequency, amplitude and phase.
    frequencies_searched : int
        Lines of the spectrum that were looked at.
    spectral_confidence : float or None
        c_d of the paper.
    autocorrelation_period_s, autocorrelation_confidence : float or None
        The period that the autocorrelation shows, and c_a of the paper.
    similarity, refined_confidence : float or None
        c_s of the paper, and the mean of the three.
    aliasing : str or None
        A warning, where the sampling frequency that was asked for is too low.
    """

    candidates_hz: tuple[float, ...]
    candidates: int
    harmonics: int
    frequencies: list[dict[str, float]]
    frequencies_searched: int
    spectral_confidence: float | None
    autocorrelation_period_s: float | None
    autocorrelation_confidence: float | None
    similarity: float | None
    refined_confidence: float | None
    aliasing: str | None


class AutocorrelationEvidence(Evidence, kw_only=True):
    """Of ``autocorrelation``.

    Attributes
    ----------
    candidates_s : tuple of float
        The first distances between neighbouring peaks that are alike.
    candidates, dropped : int
        How many distances are alike, and how many were left out as outliers.
    aliasing : str or None
        As in `SpectralEvidence`.
    """

    candidates_s: tuple[float, ...] = ()
    candidates: int = 0
    dropped: int = 0
    aliasing: str | None


class HybridEvidence(Evidence, kw_only=True):
    """Of ``hybrid``.

    Attributes
    ----------
    wavelet : str
        Name of the wavelet.
    level : int
        Level of the decomposition.
    valid_share : float
        Share of the run in which the period holds.
    correlation : float or None
        Mean of the sliding correlation in that share.
    p_value : float
        Probability that noise shows as much.
    """

    wavelet: str
    level: int
    valid_share: float = 0.0
    correlation: float | None = None
    p_value: float = 1.0
