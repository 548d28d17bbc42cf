"""The dominant frequency of a spectrum, without the lines that only repeat a lower one."""

from dataclasses import replace
from typing import Literal

import numpy as np

from ...model.arrays import Floats, Frozen, Ints, Mask
from ...model.errors import SelectionError
from .outliers import Z_SCORE, OutlierCriterion, is_near_largest, z_scores
from .spectrum import Spectrum


def line_confidence(scores: Floats, outlier: Mask, position: int, harmonics: Ints, tolerance: float) -> float:
    """Give c_k, the confidence that a line is the dominant frequency.

    c_k is the mean of two shares of z_k: in the z-scores of all outliers (I1), and in those of all lines near the
    largest (I2). Candidates dropped as harmonics count in neither sum, which is how the example of the paper rises
    from 60.5 % to 62.5 % when the second line is recognised as a harmonic.

    Parameters
    ----------
    scores : float64 (n,)
        z-scores of the lines.
    outlier : bool (n,)
        I1: the lines that are outliers, all of a z-score above 0.
    position : int
        Position in ``scores`` of the line asked for; it must belong to I1 and I2.
    harmonics : int64 (h,)
        Positions in ``scores`` of the candidates dropped as harmonics.
    tolerance : float
        Bound of I2.

    Returns
    -------
    float
        In (0, 1].
    """
    counted = np.ones(scores.size, dtype=np.bool_)
    counted[harmonics] = False
    score = float(scores[position])
    outliers = float(scores[counted & outlier].sum())
    near = float(scores[counted & is_near_largest(scores, tolerance)].sum())
    return 0.5 * (score / outliers + score / near)


def coefficient_of_variation(values: Floats) -> float:
    """Give the population's standard deviation over its mean (values > 0)."""
    return float(values.std() / values.mean())


def similarity(period: float, candidates: Floats) -> float:
    """Give c_s: how far a period from the spectrum agrees with those from the autocorrelation.

    Parameters
    ----------
    period : float
        Period from the spectrum, in s.
    candidates : float64 (n,)
        Periods from the autocorrelation, in s; n >= 1.

    Returns
    -------
    float
        1 minus the coefficient of variation of all n + 1 periods together, clipped to [0, 1]. This reading gives
        the numbers of the paper's examples: 97.6 % for IOR (111.67 s against five candidates around 104.8 s) and
        the refined 84.9 % for LAMMPS (25.73 s against one of 25.6 s).
    """
    return float(np.clip(1.0 - coefficient_of_variation(np.append(candidates, period)), 0.0, 1.0))


def refined_confidence(spectral: float, autocorrelation: float, agreement: float) -> float:
    """Average c_d, c_a and c_s."""
    return (spectral + autocorrelation + agreement) / 3.0


SpectrumKind = Literal["power", "amplitude"]


class DominantFrequency(Frozen):
    """What stands out of a spectrum.

    Attributes
    ----------
    line : int or None
        Index k of the dominant frequency; None without one.
    candidates, harmonics : int64 arrays
        Indices of the candidates (eq. 3) that were kept, and of those dropped as harmonics.
    scores : float64 (n,)
        z-scores of the lines that were searched, 1 … n (eq. 2).
    outliers : bool (n,)
        Those of them that the criterion marks.
    confidence : float
        c_d; 0 without a dominant frequency.
    reason : str
        Why.
    """

    line: int | None
    candidates: Ints
    harmonics: Ints
    scores: Floats
    outliers: Mask
    confidence: float
    reason: str


def dominant_frequency(
    spectrum: Spectrum,
    criterion: OutlierCriterion = Z_SCORE,
    *,
    kind: SpectrumKind = "power",
    tolerance: float = 0.8,
    threshold: float | None = None,
) -> DominantFrequency:
    """Find the dominant frequency of a spectrum.

    Parameters
    ----------
    spectrum : Spectrum
        Of the sampled signal.
    criterion : OutlierCriterion
        What makes a line an outlier.
    kind : "power" or "amplitude"
        Whether z-scores are those of the powers, as in the paper, or of the amplitudes.
    tolerance : float
        Share of the largest z-score that a candidate reaches, in (0, 1].
    threshold : float, optional
        Of the criterion; its default without one.

    Returns
    -------
    DominantFrequency
        With a line where one or two candidates are left after harmonics are dropped; of two, the one with the
        higher power (the lower one, if both are equal).
    """
    limit = criterion.limit(threshold)
    lines = spectrum.samples // 2
    searched = lines if criterion.most_lines is None else min(lines, criterion.most_lines)
    none = np.zeros(0, dtype=np.int64)
    found = DominantFrequency(None, none, none, np.zeros(searched), np.zeros(searched, dtype=np.bool_), 0.0, "")
    if spectrum.samples < (fewest := criterion.fewest_samples(limit)):
        few = f"Too few samples ({spectrum.samples}): a frequency can reach a {criterion.words} of {limit:g} only from"
        return replace(found, reason=f"{few} {fewest} samples on.")
    if spectrum.flat:
        return replace(found, reason="The sampled signal is constant or a single burst: no frequency stands out.")
    strengths = (spectrum.power if kind == "power" else spectrum.amplitude)[1 : 1 + searched]
    scores = z_scores(strengths)
    outliers = criterion.marks(scores, limit)
    kept, harmonics = separate_harmonics(np.flatnonzero(outliers & is_near_largest(scores, tolerance)) + 1)
    found = replace(found, candidates=kept, harmonics=harmonics, scores=scores, outliers=outliers)
    bound = ""
    if searched < lines:
        highest = spectrum.frequencies[searched]
        bound = f" Only the lowest {searched} of {lines} frequencies were searched, up to {highest:.4g} Hz."
    if kept.size == 0:
        return replace(found, reason=_nothing_found(scores, outliers, criterion, limit, tolerance) + bound)
    if kept.size > 2:
        alike = f"{kept.size} frequencies that are no harmonics of each other stand out alike: none is dominant."
        return replace(found, reason=alike + bound)
    line = int(kept[np.argmax(strengths[kept - 1])])
    confidence = line_confidence(scores, outliers, line - 1, harmonics - 1, tolerance)
    reason = _what_stands_out(line, kept, harmonics, spectrum.resolution)
    return replace(found, line=line, confidence=confidence, reason=reason + bound)


def _what_stands_out(line: int, kept: Ints, harmonics: Ints, resolution: float) -> str:
    reason = "One frequency stands out of the spectrum"
    for other in kept[kept != line].tolist():
        reason = f"Two frequencies stand out of the spectrum, this one more than {other * resolution:.4g} Hz"
    if harmonics.size:
        reason += f"; set aside as harmonics: {harmonics.size}"
    if line == 1:
        reason += "; its period is the window itself, in which it is seen once"
    return f"{reason}."


def _nothing_found(
    scores: Floats, outliers: Mask, criterion: OutlierCriterion, threshold: float, tolerance: float
) -> str:
    if outliers.any():
        return (
            f"No frequency with a z-score within {tolerance:.0%} of the largest is an outlier by its {criterion.words}."
        )
    if criterion is Z_SCORE:
        return f"No frequency is an outlier: the largest z-score is {scores.max():.3g}, below {threshold:g}."
    return f"No frequency is an outlier: none reaches a {criterion.words} of {threshold:g}."


HARMONIC_WITHIN = 0.05
"""Share of a frequency by which a line may miss its multiple: at low indices one line more is another frequency."""


def separate_harmonics(lines: Ints) -> tuple[Ints, Ints]:
    """Part candidate lines into fundamentals and the harmonics of these, which FTIO ignores (IPDPS'24, §II-B2).

    Lines are walked upwards. Line k is a harmonic if it lies within one line, and within 5 %, of m k0 for a lower line
    k0 that was kept and a whole m >= 2. One line, not a distance in Hz: the multiples of a period that falls between
    two lines lie one off (45, 89, 134), whatever the length of the trace. And 5 %, since at low indices one line more
    is another frequency: 3 is no multiple of 2. The paper names multiples of two; its example is a second harmonic.
    Here the odd ones count too, as in its authors' program: a train of short bursts has both, equally strong.

    Parameters
    ----------
    lines : int64 (n,)
        Indices k >= 1, ascending.

    Returns
    -------
    kept, dropped : int64 arrays
        The fundamentals and the harmonics, ascending; together they are ``lines``.

    Notes
    -----
    A sieve: each kept line strikes out its multiples, so that the work is O(K log K) for lines up to K.
    """
    lines = np.asarray(lines, dtype=np.int64)
    if lines.size == 0:
        return lines, lines
    if lines[0] < 1 or (np.diff(lines) <= 0).any():
        raise SelectionError("lines of a spectrum must be indices from 1 on, in ascending order")
    struck = np.zeros(int(lines[-1]) + 2, dtype=np.bool_)
    kept = np.zeros(lines.size, dtype=np.bool_)
    for position, line in enumerate(lines.tolist()):
        if struck[line]:
            continue
        kept[position] = True
        multiples = np.arange(2 * line, struck.size + 1, line)
        beside = multiples[multiples * HARMONIC_WITHIN >= 1]
        struck[beside - 1] = True
        struck[multiples[multiples < struck.size]] = True
        struck[(beside + 1)[beside + 1 < struck.size]] = True
    return lines[kept], lines[~kept]
