"""Spectra and what FTIO (IPDPS'24) makes of them."""
