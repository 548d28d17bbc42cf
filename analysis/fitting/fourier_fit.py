"""A sum of cosines fitted to a signal by bounded least squares (Frontiers'25, §4.2)."""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ...model.arrays import Floats
from ...model.document import Record
from ...model.errors import SelectionError
from ...signals.samples import Samples
from .components import Components, reconstruct

CHUNK = 16_384
"""Samples whose derivatives are held at a time."""
MOST_STEPS = 100
SMALLEST_GAIN = 1e-6
"""Relative decrease of the error below which the fit has settled."""
CLOSEST = 0.25
"""Smallest distance of two fitted frequencies, in lines of the spectrum."""


@dataclass(frozen=True, eq=False)
class FourierFit(Record):
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
    found = Components(
        frequency=turns * samples.fs,
        amplitude=np.hypot(alpha, beta) * largest,
        phase=np.arctan2(-beta, alpha),
        mean=lines.mean,
        start=lines.start,
        fs=lines.fs,
        samples=lines.samples,
        mean_square_error=float(error),
    )
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
