"""The methods of period detection, one file each; the registry imports the one that is asked for."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .hybrid_search import Hybrid, analyse_hybrid

__all__ = ["Hybrid", "analyse_hybrid"]

if not TYPE_CHECKING:

    def __getattr__(name):
        # Not at once: other methods need nothing of it.
        if name not in __all__:
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        from . import hybrid_search

        return getattr(hybrid_search, name)
