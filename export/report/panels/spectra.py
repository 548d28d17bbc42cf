"""Spectra as the page draws them: power by frequency, candidates, and the level that noise rarely exceeds."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Final

import numpy as np

from ....analysis.comparison.layer_periods import LayerPeriod
from ....analysis.results.evidence import SpectralEvidence
from ....analysis.spectral.spectrum import power_spectrum
from ....model.quantities import counted, frequency_text, percent_text, seconds_text
from ...page.document import Axis, Beside, Chart, PageBlock, Paragraph, Series

_FALSE_ALARM_RATE: Final = 0.01
_MOST_MARKED: Final = 64
_BINS_A_PERIOD: Final = 16
_FEWEST_BINS: Final = 256


def spectra(periods: Iterable[LayerPeriod], points: int) -> list[PageBlock]:
    """Return the spectra of signals that have one."""
    charts = [chart for period in periods if (chart := spectrum(period, points)) is not None]
    text = (
        "Share of the power of each frequency, on a logarithmic axis. Dashed: what the strongest line of white noise "
        "exceeds in 1 % of cases. Filled mark: the period; open marks: the candidates of the method."
    )
    return [Paragraph(text), Beside(charts)] if charts else []


def spectrum(period: LayerPeriod, points: int) -> Chart | None:
    """Return the power spectrum of a signal, None where it has none.

    Where the method looked for lines, its sampling is taken. Elsewhere bins are as long as a 16th of the period, so
    that its first harmonics are seen and not thousands of lines that single operations fill.

    Power is relative to the sum over all frequencies above 0. Of neighbouring lines that share a point the strongest is
    kept, so no peak is lost; dashed is the level of `Spectrum.significant_share`.
    """
    fs = _frequency(period)
    if fs is None:
        return None
    found = power_spectrum(period.signal.sample(fs).values, fs)
    power = found.power[1:]
    total = float(power.sum())
    if not len(power) or total <= 0 or found.flat:
        return None
    share = power / total
    # Points are dense where the lines are on a logarithmic axis: each of the first lines has a point of its own.
    edges = np.unique(np.geomspace(1, len(share) + 1, points + 1).astype(np.int64)) - 1
    edges[-1] = len(share)
    peak = np.maximum.reduceat(share, edges[:-1])
    lines = np.array([low + int(np.argmax(share[low:high])) for low, high in pairwise(edges)]) + 1
    frequency = lines * found.resolution
    evidence, label = period.result.evidence, f"{period.layer} {period.direction}"
    candidates = evidence.candidates_hz if isinstance(evidence, SpectralEvidence) else ()
    noise = found.significant_share(_FALSE_ALARM_RATE)
    strongest = float(frequency[peak.argmax()])
    caption = (
        f"{counted(found.samples, 'bin')} at {frequency_text(fs)}; strongest line at {frequency_text(strongest)} "
        f"({seconds_text(1 / strongest)}) with {percent_text(float(peak.max()))} of the power"
    )
    held = [1 / other.period for other in period.result.periods[:_MOST_MARKED] if other.period > 0]
    series = [
        Series("stems", period.direction or "read", frequency, peak, name="share of the power"),
        Series("levels", "dashed", y=[noise], texts=[f"noise rarely exceeds {percent_text(noise)}"]),
        Series("marks", "open", list(candidates[:_MOST_MARKED])),
        Series("marks", "period", held),
    ]
    x = Axis("frequency", scale="log", ends=(0.8 * found.resolution, 1.05 * len(power) * found.resolution))
    return Chart(label, x, Axis("share"), series, caption, "sampling", height=100, read=True, heading=True)


def _frequency(period: LayerPeriod) -> float | None:
    result = period.result
    fs = result.sampling.fs
    if fs is None or isinstance(result.evidence, SpectralEvidence):
        return fs
    shown = _FEWEST_BINS / period.signal.duration
    if result.period is not None:
        shown = max(shown, _BINS_A_PERIOD / result.period)
    return min(fs, shown)
