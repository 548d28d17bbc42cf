"""How compiled loops are compiled, and how they hash.

Each is compiled on its first call and cached on disk where there is a place for it. The module needs numba; import it
inside the function that uses it, or in a module of kernels.
"""

import secrets
from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

import numpy as np
from numba import njit
from numba.core.cpu import CPUTargetOptions


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


Kernel = TypeVar("Kernel", bound=Callable[..., object])


def compiled(function: Kernel) -> Kernel:
    """Compile `function` on its first call, cached where possible; it runs without the interpreter lock."""
    return cast(Kernel, cached_njit(nogil=True)(function))


_WITHOUT_COUNTING: Final[dict[str, Any]] = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
"""The option is not documented; a numba without it compiles the same loops, only slower ones."""

_OPTIONS: Final[dict[str, Any]] = {"nogil": True, **_WITHOUT_COUNTING}
_INNER: Final[dict[str, Any]] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Half the time of a compilation goes into the entry from Python, which inner functions do not need."""


def compiled_uncounted(function: Kernel) -> Kernel:
    """Compile `function` on its first call, cached on disk; it runs without the interpreter lock, keeps its type."""
    return cast(Kernel, cached_njit(**_OPTIONS)(function))


def inner(function: Kernel) -> Kernel:
    """Compile `function` as `compiled_uncounted` does, to be called by compiled functions only."""
    return cast(Kernel, cached_njit(**_OPTIONS, **_INNER)(function))


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into each compiled function that calls it."""
    return cast(Kernel, cached_njit(forceinline=True, **_OPTIONS, **_INNER)(function))


_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def random_seed() -> np.uint64:
    """Return a number for `hashed` that nobody can foresee."""
    return np.uint64(secrets.randbits(64))


@inlined
def hashed(key: np.uint64, seed: np.uint64) -> np.uint64:
    """Return 63 bits that each depend on all bits of `key` and of `seed` (the finaliser of splitmix64)."""
    mixed = key ^ seed
    mixed = (mixed ^ (mixed >> np.uint64(30))) * _FIRST
    mixed = ((mixed + seed) ^ (mixed >> np.uint64(27))) * _SECOND
    return np.uint64((mixed ^ (mixed >> np.uint64(31))) >> np.uint64(1))
