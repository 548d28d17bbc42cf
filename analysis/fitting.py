"""A signal as a few cosines: the strongest lines of its spectrum, and fitted ones (Frontiers'25, §4)."""

from dataclasses import replace
from typing import Annotated, Any, ClassVar, Final

import numpy as np

from ..model.arrays import Floats, Frozen
from ..model.display import axes_for
from ..model.document import Document, Record, keys_of, plain
from ..model.errors import SelectionError, import_library
from ..model.quantities import SamplingFrequency, is_whole
from ..signals.construction import StepSignal
from ..signals.samples import Samples
from .spectral.sampling_rate import phase_frequency
from .spectral.spectrum import power_spectrum

__all__ = ["Components", "FourierFit", "SignalFit", "fit_signal", "fourier_fit", "reconstruct"]


class Components(Record, eq=False):
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


CHUNK = 16_384
"""Samples whose derivatives are held at a time."""
MOST_STEPS = 100
SMALLEST_GAIN = 1e-6
"""Relative decrease of the error below which the fit has settled."""
CLOSEST = 0.25
"""Smallest distance of two fitted frequencies, in lines of the spectrum."""


class FourierFit(Record, eq=False):
    """Fitted cosines beside the lines of the Fourier transform that they started from.

    Attributes
    ----------
    components : Components
        The fit, by its amplitudes, the largest first.
    lines : Components
        The plain sum of the strongest lines.
    fell_back : bool
        Whether nothing was better than the plain sum, so that ``components`` is that.
    """

    ENTRIES: ClassVar = ("components", "lines", "reduction", "fell_back")
    KEYS: ClassVar = {"components": "fit"}

    components: Components
    lines: Components
    fell_back: bool

    @property
    def reduction(self) -> float:
        """Share of the mean square error of the plain sum that the fit takes away, in [0, 1]."""
        before = self.lines.mean_square_error
        return 1.0 - self.components.mean_square_error / before if before > 0 else 0.0

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the plain sum dashed and the fit over it; needs matplotlib.

        Parameters
        ----------
        ax : matplotlib.axes.Axes, optional
            Such as that of ``samples.plot()``; a new figure without it.
        **kwargs
            For ``Axes.plot`` of the fit.
        """
        ax = self.lines.plot(ax, label="plain sum of as many lines", color="tab:gray", linestyle="--", linewidth=1)
        noun = "cosine" if len(self.components) == 1 else "cosines"
        less = "<1" if 0 < self.reduction < 0.005 else f"{100 * self.reduction:.0f}"
        label = f"fit of {len(self.components)} {noun}, error {less} % less"
        return self.components.plot(ax, **{"color": "tab:orange", "linewidth": 1.5, "label": label, **kwargs})


def fourier_fit(samples: Samples, components: int = 10, *, bound: float = 0.5) -> FourierFit:
    """Fit a sum of cosines to a sampled signal.

    Parameters
    ----------
    samples : Samples
        As of ``signal.sample(fs)``.
    components : int
        Number of cosines, at least 1.
    bound : float
        How far a frequency may move from its line of the spectrum, in lines, up to 1. Half a line is as far as the
        frequency of a cosine can lie from the line that is strongest for it.

    Returns
    -------
    FourierFit
        Its error is never above that of the plain sum. Raises SelectionError if a parameter is out of its range.

    Notes
    -----
    The model is mean + Σ α_i cos(2π f_i t) + β_i sin(2π f_i t), which is linear in all but the frequencies. The mean
    stays that of the samples: a free one trades places with a slow wave that is not there. Levenberg's and Marquardt's
    method with steps cut at the bounds (f_i within ``bound`` lines, never below half a line; two frequencies never
    closer than a quarter of a line, where large cosines of opposite sign would cancel); a step that does not lower
    the error is not taken. Derivatives are summed over parts of the samples: memory does not grow with their number.
    """
    if not 0 < bound <= 1:
        raise SelectionError(f"bound {bound!r}: give a share of a line above 0, up to 1")
    lines = reconstruct(samples, components)
    values = np.asarray(samples.values, dtype=np.float64) - lines.mean
    largest = float(np.abs(values).max()) if values.size else 0.0
    if len(lines) == 0 or values.size < 4 or not largest > 0:
        return FourierFit(lines, lines, True)
    values = values / largest
    # Turns for each sample, not Hz, so that numbers are of one size.
    start = lines.frequency / samples.fs
    width = 1.0 / values.size
    low, high = np.maximum(start - bound * width, 0.5 * width), np.minimum(start + bound * width, 0.5)
    alpha = lines.amplitude / largest * np.cos(lines.phase)
    beta = -lines.amplitude / largest * np.sin(lines.phase)
    fitted, error = _settled(values, np.stack([alpha, beta, start]), (low, high), CLOSEST * width)
    error *= largest**2 / values.size
    if not error < lines.mean_square_error:
        return FourierFit(lines, lines, True)
    alpha, beta, turns = fitted[:, np.argsort(-np.hypot(fitted[0], fitted[1]), kind="stable")]
    amplitude, phase = np.hypot(alpha, beta) * largest, np.arctan2(-beta, alpha)
    own = {"frequency": turns * samples.fs, "amplitude": amplitude, "phase": phase}
    found = replace(lines, **own, mean_square_error=float(error))
    return FourierFit(found, lines, False)


def _settled(values: Floats, parameters: Floats, bounds: tuple[Floats, Floats], closest: float) -> tuple[Floats, float]:
    """Lower Σ (x - model)² until it no longer falls; parameters (3, n) are α, β and f in turns a sample."""
    low, high = bounds
    damping = 1e-3
    error, gradient, curvature = _normal_equations(values, parameters)
    for _ in range(MOST_STEPS):
        diagonal = np.diag(curvature)
        scale = np.where(diagonal > 0, diagonal, 1.0)
        step = np.linalg.lstsq(curvature + np.diag(damping * scale), gradient, rcond=None)[0]
        tried = parameters + step.reshape(parameters.shape)
        tried[2] = np.clip(tried[2], low, high)
        if not _apart(tried[2], closest):
            tried[2] = parameters[2]
        new_error, new_gradient, new_curvature = _normal_equations(values, tried)
        if new_error < error:
            gain = error - new_error
            parameters, error, gradient, curvature = tried, new_error, new_gradient, new_curvature
            damping = max(damping / 5, 1e-12)
            if gain <= SMALLEST_GAIN * error:
                break
        else:
            damping *= 4
            if damping > 1e8:
                break
    return parameters, error


def _apart(turns: Floats, closest: float) -> bool:
    return turns.size < 2 or bool(np.diff(np.sort(turns)).min() >= closest)


def _normal_equations(values: Floats, parameters: Floats) -> tuple[float, Floats, Floats]:
    """Return Σ r², Jᵀ r and Jᵀ J of the residuals r = x - model, J the model's derivatives by all parameters."""
    alpha, beta, turns = parameters
    size = parameters.size
    error, gradient, curvature = 0.0, np.zeros(size), np.zeros((size, size))
    for first in range(0, values.size, CHUNK):
        middle = np.arange(first, min(first + CHUNK, values.size)) + 0.5
        angle = 2 * np.pi * turns[:, None] * middle
        cosine, sine = np.cos(angle), np.sin(angle)
        residual = values[first : first + CHUNK] - (alpha @ cosine + beta @ sine)
        by_turns = 2 * np.pi * middle * (beta[:, None] * cosine - alpha[:, None] * sine)
        derivative = np.concatenate((cosine, sine, by_turns))
        error += float(residual @ residual)
        gradient += derivative @ residual
        curvature += derivative @ derivative.T
    return error, gradient, curvature


MOST_COMPONENTS = 100
"""Most cosines that a signal of a layer is described by."""
FINER = 8.0
"""How much finer than for its spectrum a signal is sampled: some 24 bins for a period."""
MOST_SAMPLES = 2**14
"""Most samples of a signal that cosines are fitted to."""


_SUM: Final = Annotated[Document, Components, {"error_share": float}]
_FIT: Final = {
    **keys_of(int, "components samples"),
    **keys_of(float, "fs_hz variance reduction"),
    "unit": str,
    **keys_of(_SUM, "fitted lines"),
    "fell_back": bool,
}


class SignalFit(Frozen):
    """Cosines fitted to a signal, and the samples they were fitted to.

    Attributes
    ----------
    samples : Samples
        Averages of bins.
    fit : FourierFit
        The fit, and the plain sum of lines of the Fourier transform beside it.
    """

    samples: Samples
    fit: FourierFit

    @property
    def variance(self) -> float:
        """Mean square deviation of the samples from their mean: the error of no cosine at all."""
        return float(self.samples.values.var())

    @property
    def error_shares(self) -> tuple[float, float]:
        """Mean square error of the fit and of the plain sum, over the variance; 0 for a constant signal."""
        variance = self.variance
        if not variance > 0:
            return 0.0, 0.0
        return (self.fit.components.mean_square_error / variance, self.fit.lines.mean_square_error / variance)

    def to_dict(self) -> Annotated[Document, _FIT]:
        """Give the entry ``fit`` of the document of ``iostrata periods --json``."""
        fitted, of_lines = self.error_shares
        return {
            "components": len(self.fit.components),
            "fs_hz": plain(self.samples.fs),
            "samples": len(self.samples),
            "unit": self.samples.unit,
            "variance": plain(self.variance),
            "fitted": {**self.fit.components.to_dict(), "error_share": plain(fitted)},
            "lines": {**self.fit.lines.to_dict(), "error_share": plain(of_lines)},
            "reduction": plain(self.fit.reduction),
            "fell_back": bool(self.fit.fell_back),
        }

    def plot(self, ax: Any = None, **kwargs: Any) -> Any:
        """Draw the samples in grey, the plain sum and the fit over them; needs matplotlib.

        Returns `ax`, without it the axes of a new figure; further arguments are for ``Axes.plot`` of the fit.
        """
        ax = self.fit.plot(self.samples.plot(ax, color="0.6", label="signal"), **kwargs)
        ax.legend(fontsize="small")
        return ax


def fit_signal(
    signal: StepSignal,
    components: int,
    *,
    fs: SamplingFrequency = "auto",
    baseline: float = 0.0,
    most_samples: int = MOST_SAMPLES,
) -> SignalFit:
    """Fit cosines to a signal.

    Parameters
    ----------
    signal : StepSignal
        The exact signal.
    components : int
        Number of cosines, at least 1.
    fs : float or "auto"
        Sampling frequency in Hz, or "auto" for about 24 samples for each of the signal's phases.
    baseline : float
        What is to be added to the samples: of a filtered signal, which is measured from its smallest sample.
    most_samples : int
        A frequency that would take more is lowered.

    Raises
    ------
    SelectionError
        If the number of components is not at least 1.
    """
    frequency = FINER * phase_frequency(signal) if fs == "auto" else float(fs)
    samples = signal.sample(min(frequency, most_samples / signal.duration))
    shifted = Samples(samples.values + baseline, samples.fs, samples.start, samples.unit, samples.name)
    return SignalFit(shifted, fourier_fit(shifted, components))
