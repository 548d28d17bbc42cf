"""The methods of period detection, one file each; the registry imports the one that is asked for."""

from .hybrid_search import Hybrid, analyse_hybrid

__all__ = ["Hybrid", "analyse_hybrid"]
