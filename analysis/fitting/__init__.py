"""A signal as a few cosines: the strongest lines of its spectrum, and fitted ones."""

from .components import Components, reconstruct
from .fourier_fit import FourierFit, fourier_fit
from .signal_fit import SignalFit, fit_signal

__all__ = ["Components", "FourierFit", "SignalFit", "fit_signal", "fourier_fit", "reconstruct"]
