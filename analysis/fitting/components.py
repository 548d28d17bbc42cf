"""A signal as the sum of its n strongest cosines (Frontiers'25, §4.1; IPDPS'24, eq. 1)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...model.arrays import Floats
from ...model.choices import is_whole
from ...model.display import axes_for
from ...model.document import Record
from ...model.errors import SelectionError, import_library
from ...signals.samples import Samples
from ..spectral.spectrum import power_spectrum


@dataclass(frozen=True, eq=False)
class Components(Record):
    """A mean and n cosines, the strongest first: x(t) = mean + Σ a_i cos(2π f_i (t - start) + φ_i).

    Attributes
    ----------
    frequency : float64 (n,)
        f_i in Hz.
    amplitude : float64 (n,)
        a_i >= 0, in the signal's unit.
    phase : float64 (n,)
        φ_i in rad, in [-π, π].
    mean : float
        In the signal's unit.
    start, fs, samples : float, float, int
        Time of the first sample's beginning in s, sampling frequency in Hz and number of samples that were described;
        sample i is the average of a bin and stands for its middle, start + (i + ½) / fs.
    mean_square_error : float
        Of the sum against these samples.
    """

    ENTRIES: ClassVar = ("mean", "frequency", "amplitude", "phase", "start", "mean_square_error")
    KEYS: ClassVar = {"phase": "phase_rad"}

    frequency: Floats
    amplitude: Floats
    phase: Floats
    mean: float
    start: float
    fs: float
    samples: int
    mean_square_error: float

    def __len__(self) -> int:
        return int(self.frequency.size)

    @property
    def times(self) -> Floats:
        """Middles of the samples in s, float64 (samples,)."""
        return np.asarray(self.start + (np.arange(self.samples) + 0.5) / self.fs, dtype=np.float64)

    @property
    def values(self) -> Floats:
        """The sum at the samples, float64 (samples,)."""
        return self.at(self.times)

    def at(self, times: Floats) -> Floats:
        """Evaluate the sum at times in s, float64 of the shape of ``times``; memory does not grow with n."""
        since = np.asarray(times, dtype=np.float64) - self.start
        total = np.full(since.shape, self.mean)
        for frequency, amplitude, phase in zip(self.frequency, self.amplitude, self.phase, strict=True):
            total += amplitude * np.cos(2 * np.pi * frequency * since + phase)
        return total

    def to_xarray(self) -> Any:
        """Return an ``xarray.Dataset`` on ``component``, with mean and error as attributes; needs xarray."""
        xarray = import_library("xarray")
        columns = {
            "frequency": ("component", self.frequency, {"units": "Hz"}),
            "amplitude": ("component", self.amplitude),
            "phase": ("component", self.phase, {"units": "rad"}),
        }
        attributes = {"mean": self.mean, "start_s": self.start, "mean_square_error": self.mean_square_error}
        return xarray.Dataset(columns, attrs=attributes)

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the sum, each value at the middle of its sample; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Such as that of ``samples.plot()``; a new figure without it.
        **kwargs
            For ``Axes.plot``.
        """
        ax = axes_for(ax, "time (s)")
        kwargs.setdefault("label", f"{len(self)} components")
        ax.plot(self.times, self.values, **kwargs)
        return ax


def reconstruct(samples: Samples, components: int = 10) -> Components:
    """Describe a sampled signal by its mean and its strongest lines of the Fourier transform.

    Parameters
    ----------
    samples : Samples
        As of ``signal.sample(fs)``.
    components : int
        Number of cosines, at least 1; there are at most as many as lines.

    Returns
    -------
    Components
        By amplitude, the largest first; twice the modulus of the line over N, but once at half the sampling frequency.

    Raises
    ------
    SelectionError
        If the number of components is not at least 1.

    Notes
    -----
    Of all sums of that many lines this has the least error (Parseval). All lines together give the samples back.
    """
    if not (is_whole(components) and components >= 1):
        raise SelectionError(f"{components!r} components: give a whole number of at least 1")
    values = np.asarray(samples.values, dtype=np.float64)
    spectrum = power_spectrum(values, samples.fs)
    count = spectrum.samples
    lines = spectrum.coefficients[1:]
    weights = np.full(lines.size, 2.0 / count)
    if count % 2 == 0 and lines.size:
        weights[-1] = 1.0 / count
    amplitude = np.abs(lines) * weights
    # What a line at half the sampling frequency adds to the squares is twice that of a cosine of its amplitude.
    strength = amplitude * np.sqrt(np.where(weights > 1.5 / count, 1.0, 2.0))
    order = np.argsort(-strength, kind="stable")[: int(components)]
    sum_of_lines = np.zeros(spectrum.coefficients.size, dtype=np.complex128)
    sum_of_lines[0] = spectrum.coefficients[0]
    sum_of_lines[order + 1] = lines[order]
    error = float(np.mean((values - np.fft.irfft(sum_of_lines, count)) ** 2)) if count > 1 else 0.0
    return Components(
        frequency=spectrum.frequencies[order + 1],
        amplitude=amplitude[order],
        phase=spectrum.phase_at_start[order + 1],
        mean=float(spectrum.coefficients[0].real) / count,
        start=samples.start,
        fs=samples.fs,
        samples=count,
        mean_square_error=error,
    )
