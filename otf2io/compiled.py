"""How the compiled loops of this floor are compiled.

Numba counts references to each array that it hands from function to function, atomically and at every I/O record: a
walk then spends fifty times longer on counting than on decoding. The loops here allocate nothing and keep no array
beyond a call, so they are compiled without the counting.
"""

from collections.abc import Callable
from typing import Any, Final, TypeVar, cast

from numba.core.cpu import CPUTargetOptions

from .kernel_cache import cached_njit

Kernel = TypeVar("Kernel", bound=Callable[..., object])

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
