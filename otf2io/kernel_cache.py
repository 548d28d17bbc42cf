"""Compiling kernels with a cache on disk where there is a place for one.

The module needs numba; import it inside the function that uses it, or in a module of kernels.
"""

from collections.abc import Callable
from typing import Any

from numba import njit


def cached_njit(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator like ``numba.njit(cache=True, **options)`` that does without the cache where it must.

    Numba refuses to cache, as soon as it decorates, where neither the package's folder nor a home folder can be written
    to, as in a container; the kernels are then compiled anew by each process.
    """

    def decorate(function: Any) -> Any:
        try:
            return njit(cache=True, **options)(function)
        except RuntimeError as error:
            if "no locator available" not in str(error):
                raise
            return njit(**options)(function)

    return decorate
