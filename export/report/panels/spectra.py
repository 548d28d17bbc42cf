"""Spectra as the page draws them: power by frequency, candidates, and the level that noise rarely exceeds."""

from itertools import pairwise
from typing import Any

import numpy as np

from ....analysis.comparison.layer_periods import LayerPeriod
from ....analysis.results.evidence import SpectralEvidence
from ....analysis.spectral.spectrum import power_spectrum
from ...encoding import packed

FALSE_ALARM_RATE = 0.01
_MOST_MARKED = 64
_BINS_A_PERIOD = 16
_FEWEST_BINS = 256


def spectrum_curve(period: LayerPeriod, points: int) -> dict[str, Any] | None:
    """Return the power spectrum of a signal, None where it has none.

    Where the method looked for lines, its sampling is taken. Elsewhere bins are as long as a 16th of the period, so
    that its first harmonics are seen and not thousands of lines that single operations fill.

    Power is relative to the sum over all frequencies above 0. Of neighbouring lines that share a point the strongest is
    kept, so no peak is lost; `significant` is the level of `Spectrum.significant_share`.
    """
    fs = _frequency(period)
    if fs is None:
        return None
    spectrum = power_spectrum(period.signal.sample(fs).values, fs)
    power = spectrum.power[1:]
    total = float(power.sum())
    if not len(power) or total <= 0 or spectrum.flat:
        return None
    share = power / total
    # Points are dense where the lines are on a logarithmic axis: each of the first lines has a point of its own.
    edges = np.unique(np.geomspace(1, len(share) + 1, points + 1).astype(np.int64)) - 1
    edges[-1] = len(share)
    peak = np.maximum.reduceat(share, edges[:-1])
    line = np.array([low + int(np.argmax(share[low:high])) for low, high in pairwise(edges)]) + 1
    evidence = period.result.evidence
    candidates = evidence.candidates_hz if isinstance(evidence, SpectralEvidence) else ()
    return {
        "layer": period.layer,
        "direction": period.direction,
        "lines": len(power),
        "resolution_hz": spectrum.resolution,
        "fs_hz": fs,
        "samples": spectrum.samples,
        "line": packed(line, "u4"),
        "share": packed(peak, "f4"),
        "significant": spectrum.significant_share(FALSE_ALARM_RATE),
        "false_alarm_rate": FALSE_ALARM_RATE,
        "candidates_hz": list(candidates[:_MOST_MARKED]),
        "period_hz": [1 / other.period for other in period.result.periods[:_MOST_MARKED] if other.period > 0],
    }


def _frequency(period: LayerPeriod) -> float | None:
    result = period.result
    fs = result.sampling.fs
    if fs is None or isinstance(result.evidence, SpectralEvidence):
        return fs
    shown = _FEWEST_BINS / period.signal.duration
    if result.period is not None:
        shown = max(shown, _BINS_A_PERIOD / result.period)
    return min(fs, shown)
