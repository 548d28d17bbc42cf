"""Spectra and what FTIO (IPDPS'24) makes of them."""

from .spectrum import Spectrum, power_spectrum

__all__ = ["Spectrum", "power_spectrum"]
