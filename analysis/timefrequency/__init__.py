"""When a period holds: wavelets, filters, sliding correlation (FTIO, Frontiers'25)."""

from .filters import Butterworth, filter_samples
from .transforms import TimeFrequency, discrete_scalogram, scalogram, short_time_fourier

__all__ = ["Butterworth", "TimeFrequency", "discrete_scalogram", "filter_samples", "scalogram", "short_time_fourier"]
