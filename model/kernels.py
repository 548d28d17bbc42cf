"""How loops over events are compiled, and how they hash.

A wheel brings them compiled, and `make install` compiles them, into the folder ``compiled``: a C function for each
combination of types that a loop is called with, listed in ``signatures.json``. Elsewhere, as in a checkout that is used
as it is, numba compiles each loop on its first call.
"""

import functools
import importlib
import json
import secrets
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numpy as np

Kernel = TypeVar("Kernel", bound=Callable[..., object])

_PACKAGE: Final = __name__.partition(".")[0]
_FLAGS: Final = 0x0001 | 0x0400
"""What of an array's flags a loop depends on: elements one behind the other, writeable. Any alignment will do."""


def _shipped() -> dict[str, list[tuple[list[Any], Any]]]:
    """Return the C functions of each loop with the types of their arguments; empty where none are for this Python."""
    folder = Path(__file__).with_name("compiled")
    with suppress(ImportError, OSError):
        signatures = json.loads((folder / "signatures.json").read_text())
        names = sorted({path.name.partition(".")[0] for path in folder.glob("*.so")})
        modules = [importlib.import_module(f".compiled.{name}", __package__) for name in names]
        entries = {name: entry for module in modules for name, entry in vars(module).items()}
        return {
            loop: [(kinds, entries[entry_name(loop, number)]) for number, kinds in enumerate(of_loop)]
            for loop, of_loop in signatures.items()
        }
    return {}


def entry_name(loop: str, number: int) -> str:
    """Return the name of the C function for the combination of types with this number."""
    return f"{loop.replace('.', '_')}__{number}"


SHIPPED: Final = _shipped()
"""Loops that came compiled, by module and name."""


def _form(argument: object) -> Any:
    """Return what a loop depends on of an argument's type."""
    if isinstance(argument, np.ndarray):
        return argument.dtype, argument.ndim, argument.flags.num & _FLAGS
    return tuple(map(_form, argument)) if isinstance(argument, tuple) else type(argument)


def misfit(kind: Any, form: Any) -> float:
    """Return how far a form of argument is from a kind that a C function takes: 0 as it is, infinity not at all."""
    if isinstance(kind, str):
        if not isinstance(form, type):
            return np.inf
        if kind == "none" or form is type(None):
            return 0 if kind == "none" and form is type(None) else np.inf
        if form is int and kind == "uint64":
            return 1
        given, taken = np.dtype(form), np.dtype(kind)
        return 0 if given == taken else 1 if np.can_cast(given, taken) else np.inf
    if "array" in kind:
        if not isinstance(form, tuple) or len(form) != 3 or not isinstance(form[0], np.dtype):
            return np.inf
        same = form[0] == dtype_of(kind["array"]) and form[1] == kind["dimensions"]
        return np.inf if not same else float((form[2] & kind["flags"]) != kind["flags"])
    if not isinstance(form, tuple) or len(form) != len(kind["tuple"]):
        return np.inf
    return sum(map(misfit, kind["tuple"], form))


def dtype_of(described: Any) -> np.dtype[Any]:
    """Return the dtype that a kind of array has in ``signatures.json``."""
    return np.dtype([tuple(field) for field in described] if isinstance(described, list) else described)


class _Copies:
    """Copies of arrays that stand otherwise in memory than a C function takes them."""

    def __init__(self) -> None:
        self._made: dict[Any, tuple[Any, Any, Any]] = {}

    def fitted(self, kind: Any, argument: Any) -> Any:
        """Return an argument as a C function takes it; views of the same elements have one copy."""
        if isinstance(kind, str):
            return argument
        if "tuple" in kind:
            return tuple(self.fitted(one, part) for one, part in zip(kind["tuple"], argument, strict=True))
        if argument.flags.num & kind["flags"] == kind["flags"]:
            return argument
        place = argument.ctypes.data, argument.shape, argument.strides, argument.dtype
        original, copy, before = self._made.get(place) or (argument, argument.copy(), None)
        if before is None and argument.flags.writeable:
            original, before = argument, copy.copy()
        self._made[place] = original, copy, before
        return copy

    def copy_back(self) -> None:
        """Copy back what a loop has changed, and no more: what else is there may be of another array or thread."""
        for original, copy, before in self._made.values():
            if before is not None:
                elements = f"V{copy.itemsize}"
                changed = copy.view(elements) != before.view(elements)
                original[changed] = copy[changed]


class _Loop:
    """A loop that came compiled, called like the Python function that it was made from.

    Arrays of another layout than it was compiled for are copied, and what it changes in them is copied back. That
    function is its `py_func`, as of numba's.

    Raises TypeError where it was compiled for no such types.
    """

    def __init__(self, function: Callable[..., object], ways: list[tuple[list[Any], Any]]) -> None:
        functools.update_wrapper(self, function)
        self.py_func = function
        self._name = f"{function.__module__}.{function.__qualname__}"
        self._ways = ways
        self._known: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *arguments: Any) -> Any:
        form = tuple(map(_form, arguments))
        kinds, entry = self._known.get(form) or self._choose(form)
        if kinds is None:
            return entry(*arguments)
        copies = _Copies()
        result = entry(*copies.fitted({"tuple": kinds}, arguments))
        copies.copy_back()
        return result

    def _choose(self, form: Any) -> tuple[Any, Any]:
        misfits = [misfit({"tuple": kinds}, form) for kinds, _ in self._ways]
        best = int(np.argmin(misfits))
        if misfits[best] == np.inf:
            raise TypeError(f"{self._name} was not compiled for arguments of {form}")
        kinds, entry = self._ways[best]
        self._known[form] = (kinds if misfits[best] else None), entry
        return self._known[form]


_LISTENERS: Final[list[Callable[[], None]]] = []


def on_compiling(tell: Callable[[], None]) -> Callable[[], None]:
    """Have `tell` called before each loop that is compiled since none is kept; call what is returned to end that."""
    _LISTENERS.append(tell)
    return lambda: _LISTENERS.remove(tell)


def _compiling() -> None:
    for tell in _LISTENERS:
        tell()


def _by_numba(function: Kernel, decorator: str) -> Kernel:
    from .compiling import OPTIONS, cached_njit

    return cast(Kernel, cached_njit(_compiling, **OPTIONS[decorator])(function))


def _entered(function: Kernel, decorator: str) -> Kernel:
    package, _, name = f"{function.__module__}.{function.__qualname__}".partition(".")
    if not SHIPPED or package != _PACKAGE:
        return _by_numba(function, decorator)
    if decorator in ("inner", "inlined"):
        return function
    return cast(Kernel, _Loop(function, SHIPPED.get(name, [([], None)])))


def compiled(function: Kernel) -> Kernel:
    """Return `function` compiled; it runs without the interpreter lock."""
    return _entered(function, "compiled")


def compiled_uncounted(function: Kernel) -> Kernel:
    """Return `function` compiled for arrays that outlive it and are not made in it; it runs without the lock."""
    return _entered(function, "compiled_uncounted")


def inner(function: Kernel) -> Kernel:
    """Compile `function` as `compiled_uncounted` does, to be called by compiled functions only."""
    return _entered(function, "inner")


def inlined(function: Kernel) -> Kernel:
    """Compile `function` into each compiled function that calls it."""
    return _entered(function, "inlined")


def library_function(name: str, result: str, *arguments: str) -> Any:
    """Return a function of the C library as compiled loops call it; the types have numba's names."""
    if SHIPPED:
        return None
    from .compiling import library_function as declared

    return declared(name, result, arguments)


def unchecked(name: str) -> Any:
    """Return what loads or stores integers at any byte of an array without a check, in compiled loops.

    ``load_byte(array, at)`` gives an int64, ``load_word(array, at)`` the next eight bytes as a uint64;
    ``store_word(array, at, word)`` stores one. They are little-endian as the machine is.
    """
    if SHIPPED:
        return None
    from . import compiling

    return getattr(compiling, name)


_FIRST: Final = np.uint64(0xBF58476D1CE4E5B9)
_SECOND: Final = np.uint64(0x94D049BB133111EB)


def random_seed() -> np.uint64:
    """Return a number for `hashed` that nobody can foresee."""
    return np.uint64(secrets.randbits(64))


def mixed(key: Any, seed: Any) -> Any:
    """Return 64 bits that each depend on all bits of `key` and of `seed` (the finaliser of splitmix64).

    Both are ``numpy.uint64``, or arrays of them.
    """
    bits = key ^ seed
    bits = (bits ^ (bits >> np.uint64(30))) * _FIRST
    bits = ((bits + seed) ^ (bits >> np.uint64(27))) * _SECOND
    return bits ^ (bits >> np.uint64(31))


_mixed: Final = inlined(mixed)


@inlined
def hashed(key: np.uint64, seed: np.uint64) -> np.uint64:
    """Return 63 bits of `mixed`, a number that is not negative whatever holds it."""
    return np.uint64(_mixed(key, seed) >> np.uint64(1))
