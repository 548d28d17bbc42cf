"""A signal of a layer as a few cosines: sampled so that its phases show, then fitted (Frontiers'25, §4)."""

from dataclasses import dataclass
from typing import Any

from ...model.choices import SamplingFrequency
from ...model.document import Plain, plain
from ...signals.construction import StepSignal
from ...signals.samples import Samples
from ..spectral.sampling_rate import phase_frequency
from .fourier_fit import FourierFit, fourier_fit

MOST_COMPONENTS = 100
"""Most cosines that a signal of a layer is described by."""
FINER = 8.0
"""How much finer than for its spectrum a signal is sampled: some 24 bins for a period."""
MOST_SAMPLES = 2**14
"""Most samples of a signal that cosines are fitted to."""


@dataclass(frozen=True, eq=False)
class SignalFit:
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
        return (
            self.fit.components.mean_square_error / variance,
            self.fit.lines.mean_square_error / variance,
        )

    def to_dict(self) -> dict[str, Plain]:
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
