"""The spectrum of a sampled signal, and its strongest cosines."""

from functools import cached_property
from typing import Any

import numpy as np

from ...model.arrays import Complexes, Floats, Frozen
from ...model.display import axes_for
from ...model.errors import SelectionError, import_library


class Spectrum(Frozen):
    """The single-sided discrete Fourier transform of N samples.

    Attributes
    ----------
    coefficients : complex128 (N // 2 + 1,)
        X_k for k = 0 … N // 2; X_0 is the sum of the samples.
    samples : int
        N.
    fs : float
        Sampling frequency in Hz.
    """

    coefficients: Complexes
    samples: int
    fs: float

    @cached_property
    def frequencies(self) -> Floats:
        """f_k = k fs / N in Hz."""
        return np.asarray(np.arange(self.coefficients.size) * self.resolution, dtype=np.float64)

    @cached_property
    def power(self) -> Floats:
        """p_k = abs(X_k)² / N."""
        return (self.coefficients.real**2 + self.coefficients.imag**2) / self.samples

    @cached_property
    def amplitude(self) -> Floats:
        """abs(X_k)."""
        return np.abs(self.coefficients)

    @cached_property
    def phase(self) -> Floats:
        """arg X_k in radians: the k-th cosine peaks where 2 pi k n / N = -phase."""
        return np.angle(self.coefficients)

    @cached_property
    def phase_at_start(self) -> Floats:
        """Phase of the k-th cosine at the start of the first bin, in radians.

        A sample is the average of a bin and stands for its middle, so it is half a bin, π k / N, before `phase`.
        """
        half = np.exp(-1j * np.pi * np.arange(self.coefficients.size) / self.samples)
        phase: Floats = np.angle(self.coefficients * half)
        return phase

    @property
    def resolution(self) -> float:
        """Distance of two lines in Hz: fs / N, the inverse of the sampled time."""
        return self.fs / self.samples

    @cached_property
    def flat(self) -> bool:
        """Whether no line stands out by more than rounding: a constant signal, or one single filled bin.

        Bins cut from a running sum of N equal volumes may each be off by a few units in the last place of that sum,
        X_0, and N times as much in a line. The limit on the spread of the lines is relative.
        """
        lines = self.power[1:]
        if lines.size == 0:
            return True
        lost = 16 * np.finfo(np.float64).eps * abs(self.coefficients[0])
        if lines.max() <= self.samples * lost**2:
            return True
        return bool(lines.max() - lines.min() <= 1e-9 * lines.max())

    def significant_share(self, false_alarm_rate: float = 0.01) -> float:
        """Return the share of the power that the strongest line of white Gaussian noise rarely reaches.

        Parameters
        ----------
        false_alarm_rate : float
            How often it does, in (0, 1).

        Returns
        -------
        float
            Share of the power of the lines k >= 1, in (0, 1]; 1 where there is one line only.

        Notes
        -----
        Of K lines of white noise the strongest has more than the share g of their power with a probability of at most
        K (1 - g)^(K - 1) (Fisher, Proc. R. Soc. A 125, 1929, first term); solved for g. A periodic signal of short
        bursts spreads over many harmonics, and noise of applications is not white: a line above this level calls for a
        look, and one below it is no proof that there is no period.

        Raises
        ------
        SelectionError
            If the rate is out of its range.
        """
        if not 0 < false_alarm_rate < 1:
            raise SelectionError(f"false-alarm rate {false_alarm_rate!r}: give a share between 0 and 1")
        lines = self.coefficients.size - 1
        if lines < 2:
            return 1.0
        return float(1 - (false_alarm_rate / lines) ** (1 / (lines - 1)))

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` of the power on ``frequency`` (Hz); needs xarray."""
        xarray = import_library("xarray")
        frequency = ("frequency", self.frequencies, {"units": "Hz"})
        attributes = {"sampling_frequency_hz": self.fs, "samples": self.samples}
        return xarray.DataArray(self.power, coords={"frequency": frequency}, name="power", attrs=attributes)

    def to_dataframe(self) -> Any:
        """Return a ``pandas.DataFrame`` of ``frequency_hz`` and ``power``, one row a line from k = 0 on."""
        pandas = import_library("pandas")
        return pandas.DataFrame({"frequency_hz": self.frequencies, "power": self.power})

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the share of the power over the frequency, and `significant_share`; needs matplotlib.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.plot``.
        """
        ax = axes_for(ax, "frequency (Hz)", "share of the power")
        power = self.power[1:]
        total = power.sum()
        ax.plot(self.frequencies[1:], power / total if total > 0 else power, **kwargs)
        ax.axhline(self.significant_share(), linestyle="--", linewidth=1, color="0.5", label="white noise, 1 %")
        return ax


def power_spectrum(samples: Floats, fs: float = 1.0) -> Spectrum:
    """Transform a sampled signal.

    Parameters
    ----------
    samples : float64 (N,)
        The signal at equal distances.
    fs : float
        Sampling frequency in Hz.

    Returns
    -------
    Spectrum
        Lines k = 0 … N // 2.

    Raises
    ------
    SelectionError
        If the samples are not one row of at least one finite number, or ``fs`` is not positive and finite.

    Notes
    -----
    The mean is taken off before the transform and put back as X_0: it changes no other line, and small lines are
    not lost in the rounding of a large one.
    """
    values = np.asarray(samples, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not np.isfinite(values).all():
        raise SelectionError(f"a spectrum needs one row of finite samples, not an array of shape {values.shape}")
    if not (np.isfinite(fs) and fs > 0):
        raise SelectionError(f"sampling frequency {fs!r} Hz: give a positive, finite number")
    total = values.sum()
    coefficients = np.fft.rfft(values - total / values.size)
    coefficients[0] = total
    return Spectrum(coefficients=coefficients, samples=values.size, fs=float(fs))


def strongest_frequencies(spectrum: Spectrum, count: int) -> list[dict[str, float]]:
    """List the strongest frequencies with what it takes to draw them (FTIO, IPDPS'24, eq. 1).

    Parameters
    ----------
    spectrum : Spectrum
        Of the sampled signal.
    count : int
        How many; fewer where the spectrum has fewer.

    Returns
    -------
    list of dict
        The strongest first (of equals the lower one), each with ``frequency_hz``; ``amplitude`` of its cosine in the
        signal's unit, 2 |X_k| / N, or |X_k| / N for the line at fs / 2, which stands alone; ``phase_rad``, its
        phase at the window's start; and ``power_share``, its share of the power of all lines k >= 1. With all lines,
        the sum of ``amplitude * cos(2 pi frequency_hz t + phase_rad)`` at t = (n + ½) / fs from the window's start,
        plus the mean, is the sampled signal.
    """
    power = spectrum.power[1:]
    total = float(power.sum())
    count = min(count, power.size)
    if count == 0 or total <= 0.0:
        return []
    # Sorting all lines would cost more than the transform; partition takes those that can be among the strongest.
    least = np.partition(power, power.size - count)[power.size - count]
    able = np.flatnonzero(power >= least)
    lines = able[np.argsort(-power[able], kind="stable")][:count] + 1
    sides = np.where(2 * lines == spectrum.samples, 1.0, 2.0)
    columns = (
        spectrum.frequencies[lines],
        sides * spectrum.amplitude[lines] / spectrum.samples,
        spectrum.phase_at_start[lines],
        power[lines - 1] / total,
    )
    names = ("frequency_hz", "amplitude", "phase_rad", "power_share")
    return [dict(zip(names, map(float, row), strict=True)) for row in zip(*columns, strict=True)]
