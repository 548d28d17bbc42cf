"""DFT and DWT together: the period from the spectrum of a smoothed signal, and when it holds (Frontiers'25, §5.3)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..otf2io.errors import SelectionError
from .dominant import DominantFrequency, dominant_frequency
from .results import Plain, plain
from .spectrum import Spectrum, power_spectrum
from .validity import Validity, validity
from .wavelets import approximation, decomposition_level, discrete_wavelet, largest_level

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Hybrid:
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
        What the spectrum of the approximation says; None where the period was given.
    validity : Validity or None
        When the period holds; None without a period, or with one that is too short or too long for a sliding window.
    reason : str
        Why.
    """

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

    def to_dict(self) -> dict[str, Plain]:
        """Give the verdict in plain types, without the samples."""
        return {
            "period_s": plain(self.period),
            "intervals_s": plain(self.intervals),
            "periods_s": plain(self.validity.periods if self.validity is not None else ()),
            "wavelet": self.wavelet,
            "level": int(self.level),
            "fs_hz": plain(self.fs),
            "reason": self.reason,
        }

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset``: signal and approximation on ``time``, correlation on ``window``; needs xarray."""
        import xarray

        columns = {"samples": ("time", self.samples), "approximation": ("time", self.approximation)}
        axes: dict[str, Any] = {"time": ("time", self.times, {"units": "s"})}
        if self.validity is not None:
            columns["correlation"] = ("window", self.validity.correlation)
            columns["local_correlation"] = ("window", self.validity.local_correlation)
            axes["window"] = ("window", self.validity.times, {"units": "s", "long_name": "middle of the window"})
        attributes = {"wavelet": self.wavelet, "level": int(self.level), "sampling_frequency_hz": self.fs}
        return xarray.Dataset(columns, coords=axes, attrs=attributes)

    def plot(self, ax: Any = None) -> Any:
        """Draw signal and approximation, the correlation on a second axis, and shade where the period holds.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            A new figure without it.

        Returns
        -------
        matplotlib.axes.Axes
        """
        import matplotlib.pyplot as plt

        if ax is None:
            ax = plt.subplots()[1]
        ax.step(self.times, self.samples, where="mid", color="0.7", label="signal")
        ax.plot(self.times, self.approximation, label=f"approximation, level {self.level}")
        for low, high in self.intervals:
            ax.axvspan(low, high, color="tab:green", alpha=0.15)
        ax.set_xlabel("time (s)")
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
    start: float = 0.0,
    *,
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
        As in `iostrata.analysis.dominant.dominant_frequency`.

    Raises
    ------
    SelectionError
        If the wavelet does not exist, the level or the period is out of range, or PyWavelets is not installed.

    Notes
    -----
    The level needs the period, and the period is that of the approximation: without both, the dominant frequency of
    the samples gives the level, or, where none stands out, each level is tried, the coarsest first.
    """
    discrete_wavelet(wavelet)
    times = start + (np.arange(samples.size) + 0.5) / fs
    dominant = None
    if period is not None:
        used = decomposition_level(period, fs, samples.size, wavelet) if level is None else level
        smooth = approximation(samples, used, wavelet)
        reason = "The period was given."
    else:
        used, smooth, dominant, spectrum = _dominant(samples, fs, wavelet, level, tolerance, threshold)
        reason = dominant.reason
        period = 1.0 / (dominant.line * spectrum.resolution) if dominant.line is not None else None
    if period is None:
        return Hybrid(times, samples, smooth, fs, wavelet, used, dominant, None, reason)
    try:
        holds = validity(smooth, samples, fs, period, start)
    except SelectionError as error:
        return Hybrid(times, samples, smooth, fs, wavelet, used, dominant, None, f"{reason} But {error}.")
    if not holds.intervals:
        reason += " But nowhere do three bursts follow each other at its distance."
    return Hybrid(times, samples, smooth, fs, wavelet, used, dominant, holds, reason)


def _dominant(
    samples: Floats, fs: float, wavelet: str, level: int | None, tolerance: float, threshold: float
) -> tuple[int, Floats, DominantFrequency, Spectrum]:
    def at(used: int) -> tuple[int, Floats, DominantFrequency, Spectrum]:
        smooth = approximation(samples, used, wavelet)
        spectrum = power_spectrum(smooth, fs)
        return used, smooth, dominant_frequency(spectrum, tolerance, threshold), spectrum

    if level is not None:
        return at(level)
    plainly = at(0)
    if plainly[2].line is not None:
        period = 1.0 / (plainly[2].line * plainly[3].resolution)
        found = at(decomposition_level(period, fs, samples.size, wavelet))
        return found if found[2].line is not None else plainly
    for used in range(largest_level(samples.size, wavelet), 0, -1):
        found = at(used)
        line = found[2].line
        # What the level cannot show is no finding of it.
        if line is not None and decomposition_level(samples.size / (line * fs), fs, samples.size, wavelet) >= used:
            return found
    return plainly
