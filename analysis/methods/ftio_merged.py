"""FTIO with the autocorrelation asked too: the confidence is the refined one (Tarraf et al., IPDPS'24, §II-C)."""

from ..criterion import Z_SCORE
from ..spectral_method import SpectralMethod

detect_merged = SpectralMethod("ftio-merged", Z_SCORE, merged=True)
