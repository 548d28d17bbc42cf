"""FTIO: the period as an outlier of the spectrum by its z-score (Tarraf et al., IPDPS'24, §II-B and §II-C)."""

from ..criterion import Z_SCORE
from ..spectral_method import SpectralMethod

detect = SpectralMethod("ftio", Z_SCORE)
