"""DFT and DWT together: the period from the spectrum of a smoothed signal, and when it holds (Frontiers'25, §5.3)."""

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.display import axes_for
from ...model.document import Record
from ...model.errors import SelectionError, import_library
from ..spectral.dominant import DominantFrequency, dominant_frequency, line_confidence
from ..spectral.spectrum import Spectrum, power_spectrum
from ..timefrequency.validity import Validity, validity
from ..timefrequency.wavelets import approximation, decomposition_level, discrete_wavelet, largest_level

MOST_CANDIDATES = 5
"""Periods that are tried."""
LEAST_IN_SAMPLES = 0.5
"""Share of the power of a line of an approximation that the samples have there, too."""
ENOUGH = 0.5
"""Share of the run in which a period holds so that no other one is tried."""
LINES_TO_ONE = 3
"""Neighbouring lines of the spectrum that lead to one frequency, once refined."""


class Hybrid(Record, eq=False):
    """A period, and the intervals in which it holds.

    Attributes
    ----------
    times : float64 (n,)
        Middles of the samples in s.
    samples, approximation : float64 (n,)
        The signal, and its approximation by the wavelet transform.
    fs : float
        Sampling frequency in Hz.
    wavelet : str
        Discrete wavelet.
    level : int
        Level of the decomposition; 0 where the signal is its own approximation.
    dominant : DominantFrequency or None
        What stands out of the spectrum of the approximation; None where the period was given.
    validity : Validity or None
        When the period holds; None without a period, or with one that is too short or too long for a sliding window.
    reason : str
        Why.
    """

    ENTRIES: ClassVar = ("period", "p_value", "intervals", "periods", "wavelet", "level", "fs", "reason")
    KEYS: ClassVar = {"intervals": "intervals_s", "periods": "periods_s"}

    times: Floats
    samples: Floats
    approximation: Floats
    fs: float
    wavelet: str
    level: int
    dominant: DominantFrequency | None
    validity: Validity | None
    reason: str

    @property
    def period(self) -> float | None:
        """Period in s, where one holds at any time."""
        return self.validity.period if self.validity is not None and self.validity.intervals else None

    @property
    def intervals(self) -> tuple[tuple[float, float], ...]:
        """Start and end in s of the intervals in which the period holds."""
        return self.validity.intervals if self.validity is not None else ()

    @property
    def periods(self) -> tuple[float, ...]:
        """Period in s within each of these intervals."""
        return self.validity.periods if self.validity is not None else ()

    @property
    def share(self) -> float:
        """Share of the run in which the period holds, in [0, 1]."""
        return self.validity.share if self.validity is not None else 0.0

    @property
    def p_value(self) -> float:
        """Probability that noise shows as much, in [0, 1]; 1 where no period holds.

        The chance of an interval's phases (`Validity.chances`) is a p-value; that of k intervals is that
        their product t is as small, t Σ (-ln t)^j / j! for j < k (Fisher), times the number of frequencies searched:
        one where the period was given, else a third of the lines with four samples in a period, as refining the
        frequency leads neighbours to the same one. Of 1,400 signals of noise, 0.8 % are then below 1 %.
        """
        if self.validity is None or not self.validity.intervals:
            return 1.0
        logarithm = sum(math.log(max(chance, 1e-300)) for chance in self.validity.chances)
        terms = [j * math.log(max(-logarithm, 1e-300)) - math.lgamma(j + 1) for j in range(len(self.intervals))]
        searched = 1.0 if self.dominant is None else max(self.samples.size / (4 * LINES_TO_ONE), 1.0)
        return min(1.0, searched * math.exp(logarithm) * math.fsum(map(math.exp, terms)))

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset``: the signal on ``time``, the correlation on ``window``; needs xarray."""
        xarray = import_library("xarray")
        columns = {"samples": ("time", self.samples), "approximation": ("time", self.approximation)}
        axes: dict[str, Any] = {"time": ("time", self.times, {"units": "s"})}
        if self.validity is not None:
            columns["correlation"] = ("window", self.validity.correlation)
            columns["local_correlation"] = ("window", self.validity.local_correlation)
            axes["window"] = ("window", self.validity.times, {"units": "s", "long_name": "middle of the window"})
        attributes = {"wavelet": self.wavelet, "level": int(self.level), "sampling_frequency_hz": self.fs}
        return xarray.Dataset(columns, coords=axes, attrs=attributes)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw signal and approximation, the correlation on a second axis, and shade where the period holds.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure without it.
        **kwargs
            For ``Axes.plot`` of the approximation.

        Returns
        -------
        matplotlib.axes.Axes
        """
        ax = axes_for(ax, "time (s)")
        ax.step(self.times, self.samples, where="mid", color="0.7", label="signal")
        ax.plot(self.times, self.approximation, **{"label": f"approximation, level {self.level}", **kwargs})
        for low, high in self.intervals:
            ax.axvspan(low, high, color="tab:green", alpha=0.15)
        if self.validity is not None:
            side = ax.twinx()
            side.plot(self.validity.times, self.validity.correlation, color="tab:orange", lw=1)
            side.set_ylim(-1.05, 1.05)
            side.set_ylabel("correlation")
        if self.period is not None:
            ax.set_title(f"period {self.period:.4g} s")
        ax.legend(loc="upper left")
        return ax


def analyse_hybrid(
    samples: Floats,
    fs: float,
    *,
    start: float = 0.0,
    wavelet: str = "db1",
    level: int | None = None,
    period: float | None = None,
    tolerance: float = 0.8,
    threshold: float = 3.0,
) -> Hybrid:
    """Find a period and when it holds.

    Parameters
    ----------
    samples : float64 (n,)
        The signal at equal distances.
    fs : float
        Sampling frequency in Hz.
    start : float
        Time of the beginning of the first sample in s.
    wavelet : str
        Discrete wavelet of PyWavelets.
    level : int, optional
        Level of the decomposition; without it, that of `decomposition_level` for the period.
    period : float, optional
        A period in s that is known already; without it, that of the dominant frequency.
    tolerance, threshold : float
        As in `iostrata.analysis.spectral.dominant.dominant_frequency`.

    Raises
    ------
    SelectionError
        If the wavelet does not exist, or the level or the period is out of range.
    MissingLibraryError
        If PyWavelets is not installed.

    Notes
    -----
    The level needs the period, and the period is that of the approximation: without both, the dominant frequency of
    the samples gives the level. Where it holds for less than half of the run, the dominant frequencies of the samples
    and of other levels are tried too, and the one that holds longest is taken.
    """
    discrete_wavelet(wavelet)
    times: Floats = np.asarray(start + (np.arange(samples.size) + 0.5) / fs, dtype=np.float64)
    best: Hybrid | None = None
    for one in _Levels(samples, fs, wavelet, tolerance, threshold).candidates(level, period):
        holds, reason = one.held(samples, fs, start)
        found = Hybrid(times, samples, one.approximation, fs, wavelet, one.level, one.dominant, holds, reason)
        if best is None or found.share > best.share:
            best = found
        if best.share >= ENOUGH:
            break
    assert best is not None
    return best


def broad_peak(spectrum: Spectrum, found: DominantFrequency, tolerance: float) -> DominantFrequency:
    """Name the strongest line where many stand out only because they are neighbours: one peak, broader than a line.

    A period that holds for the share 1/n of a run has a peak of n lines, and two stretches that are out of step with
    each other part it. They are one frequency to a method that asks when it holds.
    """
    if found.line is not None or found.candidates.size == 0:
        return found
    if bool(np.any(np.diff(np.sort(found.candidates)) > 1)):
        return found
    line = int(found.candidates[np.argmax(spectrum.power[found.candidates])])
    sure = line_confidence(found.scores, found.outliers, line - 1, found.harmonics - 1, tolerance)
    reason = (
        f"{found.candidates.size} neighbouring frequencies stand out of the spectrum: one that holds for a part of it."
    )
    return replace(found, line=line, confidence=sure, reason=reason)


class _Candidate(Frozen):
    """A period to try, and the approximation that shows it; without a period, why there is none.

    ``alias`` is True where the samples themselves do not have the period: coefficients that are nearly as far apart as
    the bursts meet them now and then, like spokes of a wheel in a film.
    """

    level: int
    approximation: Floats
    dominant: DominantFrequency | None
    period: float | None
    reason: str
    alias: bool = False

    def held(self, samples: Floats, fs: float, start: float) -> tuple[Validity | None, str]:
        """Return when the period holds, None where it has no sliding window, and why."""
        if self.period is None:
            return None, self.reason
        try:
            found = validity(self.approximation, samples, fs, self.period, start)
        except SelectionError as error:
            return None, f"{self.reason} But {error}."
        few = "" if found.intervals else " But nowhere do its bursts follow each other often enough."
        return found, self.reason + few


class _Levels(Frozen):
    """The levels of the decomposition of a signal; fields as the parameters of `analyse_hybrid`."""

    samples: Floats
    fs: float
    wavelet: str
    tolerance: float
    threshold: float

    @cached_property
    def plain(self) -> Spectrum:
        """The spectrum of the samples themselves."""
        return power_spectrum(self.samples, self.fs)

    def suited(self, period: float, bands_per_period: float = 8.0) -> int:
        """Return the level that shows a period in s."""
        return decomposition_level(period, self.fs, self.samples.size, self.wavelet, bands_per_period)

    def at(self, level: int) -> _Candidate:
        """Return what a level shows."""
        smooth = approximation(self.samples, level, self.wavelet)
        spectrum = self.plain if level == 0 else power_spectrum(smooth, self.fs)
        dominant = dominant_frequency(spectrum, tolerance=self.tolerance, threshold=self.threshold)
        dominant = broad_peak(spectrum, dominant, self.tolerance)
        if dominant.line is None:
            return _Candidate(level, smooth, dominant, None, dominant.reason)
        around = slice(max(dominant.line - 1, 1), dominant.line + 2)
        alias = float(self.plain.power[around].sum()) < LEAST_IN_SAMPLES * float(spectrum.power[around].sum())
        period = 1.0 / (dominant.line * spectrum.resolution)
        return _Candidate(level, smooth, dominant, period, dominant.reason, alias)

    def candidates(self, level: int | None, period: float | None) -> Iterator[_Candidate]:
        """Try levels, one at a time as they are asked for; only the one that is given, or that of the period given."""
        if period is not None:
            level = self.suited(period) if level is None else level
            smooth = approximation(self.samples, level, self.wavelet)
            yield _Candidate(level, smooth, None, period, "The period was given.")
        elif level is not None:
            yield self.at(level)
        else:
            yield from self._all_levels()

    def _all_levels(self) -> Iterator[_Candidate]:
        plainly = self.at(0)
        known = {plainly.period}
        if plainly.period is not None:
            smoothed = self.at(self.suited(plainly.period))
            if smoothed.period is not None and not smoothed.alias:
                known.add(smoothed.period)
                yield smoothed
        # Of the same period too: bursts much shorter than a coefficient are placed better by the samples.
        yield plainly
        for level in range(largest_level(self.samples.size, self.wavelet), 0, -1):
            if len(known) >= MOST_CANDIDATES:
                return
            one = self.at(level)
            # What the level cannot show, or the run has not three of, is no finding of it.
            if one.period is None or one.alias or one.period in known:
                continue
            if 3 * one.period <= self.samples.size / self.fs and self.suited(one.period, 4.0) >= level:
                known.add(one.period)
                yield one
