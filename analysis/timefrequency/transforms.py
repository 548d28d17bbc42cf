"""Which frequencies a signal has at which time: the continuous wavelet and the short-time Fourier transform."""

from typing import Any

import numpy as np

from ...model.arrays import Floats, Frozen
from ...model.display import axes_for
from ...model.errors import SelectionError, import_library
from ...signals.samples import Samples

CYCLES = 6.0
"""ω₀ of Morlet's wavelet: oscillations within some two standard deviations."""
MOST_VALUES = 2**26
"""Most values of a scalogram: 512 MiB."""


class TimeFrequency(Frozen):
    """Amplitude over frequency and time.

    Attributes
    ----------
    kind : str
        "CWT", "STFT" or "DWT".
    times : float64 (n,)
        In s.
    frequencies : float64 (f,)
        In Hz, ascending.
    amplitude : float64 (f, n)
        In the signal's unit: a cosine of amplitude a gives a at its frequency.
    edge : float64 (f,)
        Seconds from either end within which the ends change the amplitude.
    unit : str
        Of the amplitude.
    """

    kind: str
    times: Floats
    frequencies: Floats
    amplitude: Floats
    edge: Floats
    unit: str

    def to_xarray(self) -> Any:
        """Return an ``xarray.DataArray`` on (frequency, time); needs xarray."""
        xarray = import_library("xarray")
        axes = {
            "frequency": ("frequency", self.frequencies, {"units": "Hz"}),
            "time": ("time", self.times, {"units": "s"}),
            "edge": ("frequency", self.edge, {"units": "s", "long_name": "reach of the ends"}),
        }
        told = {"units": self.unit, "transform": self.kind}
        return xarray.DataArray(self.amplitude, axes, ("frequency", "time"), name="amplitude", attrs=told)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the amplitude in colours; the CWT over logarithmic frequency, with the cone of influence as a line.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.pcolormesh``.
        """
        ax = axes_for(ax, "time (s)", "frequency (Hz)")
        # A screen shows no more columns than this.
        stride = max(1, self.times.size // 4000)
        kwargs.setdefault("shading", "nearest")
        ax.pcolormesh(self.times[::stride], self.frequencies, self.amplitude[:, ::stride], **kwargs)
        if self.kind == "CWT":
            ax.set_yscale("log")
            inside = self.edge < 0.5 * (self.times[-1] - self.times[0])
            for end in (self.times[0] + self.edge, self.times[-1] - self.edge):
                ax.plot(end[inside], self.frequencies[inside], color="w", lw=1, ls="--")
        return ax


def scalogram(samples: Samples, *, periods: Floats | None = None, voices: int = 12) -> TimeFrequency:
    """Transform a signal by Morlet's wavelet.

    Parameters
    ----------
    samples : Samples
        As of ``signal.sample(fs)``; the mean is taken off.
    periods : float64 (p,), optional
        Periods in s to look at; without it from 4 samples to half the signal, ``voices`` for each doubling.
    voices : int
        At least 1.

    Raises
    ------
    SelectionError
        If there are fewer than 8 samples, a period is outside [2 samples, the signal], or the result would have more
        than 2^26 values.

    Notes
    -----
    Frontiers'25, eq. 5, with ψ(t) = exp(iω₀t - t²/2), ω₀ = 6, evaluated at all samples by the Fourier transform
    (Torrence and Compo 1998, eq. 4), padded with zeros so that one end does not affect the other. It is scaled by
    1/a and not 1/√|a|, which makes the value an amplitude. The wavelet is taken as analytic; what ω₀ = 6 leaves at
    negative frequencies is 1e-8. The ends affect √2 a of the signal. O(p n log n).
    """
    values, fs, n = samples.values, samples.fs, len(samples)
    if n < 8:
        raise SelectionError(f"{n} samples: a scalogram takes at least 8, use a higher sampling frequency")
    if voices < 1:
        raise SelectionError(f"{voices!r} voices: give at least 1")
    if periods is None:
        doublings = np.log2(0.5 * n / 4.0) if n > 8 else 0.0
        periods = 4.0 / fs * 2.0 ** (np.arange(int(doublings * voices) + 1) / voices)
    chosen = np.sort(np.asarray(periods, dtype=np.float64))[::-1]
    if chosen.size == 0 or not (np.isfinite(chosen).all() and chosen[-1] >= 2 / fs and chosen[0] <= n / fs):
        raise SelectionError(f"periods of a scalogram lie between {2 / fs:.6g} and {n / fs:.6g} s here")
    if chosen.size * n > MOST_VALUES:
        raise SelectionError(
            f"a scalogram of {chosen.size} periods by {n} samples is too large: "
            f"use at most {MOST_VALUES // chosen.size} samples or fewer periods"
        )
    length = 1 << (2 * n - 1).bit_length()
    transform = np.fft.fft(values - values.mean(), length)
    turns = 2 * np.pi * np.fft.fftfreq(length, 1 / fs)
    positive = turns > 0
    # The wavelet that answers most to frequency f has ω a = ω₀ where its transform exp(-(ω a - ω₀)²/2) is largest.
    scale = CYCLES * chosen / (2 * np.pi)
    amplitude = np.empty((chosen.size, n))
    for row, a in enumerate(scale):
        window = np.where(positive, 2 * np.exp(-0.5 * (a * turns - CYCLES) ** 2), 0.0)
        amplitude[row] = np.abs(np.fft.ifft(transform * window)[:n])
    return TimeFrequency("CWT", samples.times, 1 / chosen, amplitude, np.sqrt(2) * scale, samples.unit)


def short_time_fourier(samples: Samples, *, window: float | None = None, overlap: float = 0.75) -> TimeFrequency:
    """Transform a signal piece by piece, each weighed by Hann's window.

    Parameters
    ----------
    samples : Samples
        As of ``signal.sample(fs)``; the mean of each piece is taken off.
    window : float, optional
        Length of a piece in s; without it an eighth of the signal. It is to hold several periods.
    overlap : float
        Share of a piece that the next one has in common with it, in [0, 1).

    Raises
    ------
    SelectionError
        If a piece has fewer than 8 samples or does not fit, or the overlap is out of range.

    Notes
    -----
    Only pieces that lie in the signal as a whole are transformed, so no end is padded. Amplitudes are twice the
    modulus of a line over Σ w.
    """
    values, fs, n = samples.values, samples.fs, len(samples)
    m = round(window * fs) if window is not None and np.isfinite(window) else max(8, n // 8)
    if not 8 <= m <= n:
        raise SelectionError(f"pieces of {m} samples of a signal of {n}: give a window of 8 samples up to the signal")
    if not 0 <= overlap < 1:
        raise SelectionError(f"overlap {overlap!r}: give a share of at least 0, below 1")
    hop = max(1, round(m * (1 - overlap)))
    starts = np.arange(0, n - m + 1, hop)
    if starts.size * (m // 2) > MOST_VALUES:
        raise SelectionError(f"{starts.size} pieces of {m} samples are too many: use a smaller overlap")
    weights = 0.5 - 0.5 * np.cos(2 * np.pi * (np.arange(m) + 0.5) / m)
    pieces = np.lib.stride_tricks.sliding_window_view(values, m)[::hop]
    amplitude = np.empty((m // 2, starts.size))
    for column, piece in enumerate(pieces):
        mean = np.average(piece, weights=weights)
        amplitude[:, column] = np.abs(np.fft.rfft((piece - mean) * weights))[1 : m // 2 + 1] * 2 / weights.sum()
    frequencies = np.asarray(np.arange(1, m // 2 + 1) * fs / m, dtype=np.float64)
    times = np.asarray(samples.start + (starts + 0.5 * m) / fs, dtype=np.float64)
    return TimeFrequency("STFT", times, frequencies, amplitude, np.zeros(frequencies.size), samples.unit)


def discrete_scalogram(samples: Samples) -> TimeFrequency:
    """Return the details of the discrete wavelet transform with Haar's wavelet: of each level, over its band and time.

    Half the difference of the means of two neighbours of 2^(j-1) samples each, at the middle of the band from
    fs / 2^(j+1) to fs / 2^j on a logarithmic axis; the end is mirrored. O(n log n). SelectionError below 8 samples.
    """
    n, fs = samples.values.size, samples.fs
    if n < 8:
        raise SelectionError(f"{n} samples: a scalogram takes at least 8, use a higher sampling frequency")
    rows, halves = [], 2 ** np.arange(int(np.log2(n)))[::-1]
    for half in halves.tolist():
        means = np.pad(samples.values, (0, -n % (2 * half)), "symmetric").reshape(-1, half).mean(axis=1)
        rows.append(np.repeat(0.5 * np.abs(means[::2] - means[1::2]), 2 * half)[:n])
    bands = np.asarray(fs / (2**1.5 * halves), np.float64)
    return TimeFrequency("DWT", samples.times, bands, np.array(rows), np.asarray(halves / fs, np.float64), samples.unit)
