"""How compiled loops are compiled, and how they hash.

Each is compiled on its first call and cached on disk where there is a place for it. The module needs numba; import it
inside the function that uses it, or in a module of kernels.
"""

import functools
import hashlib
import inspect
import os
import pickle
import re
import secrets
import stat
import sys
from collections.abc import Callable
from contextlib import suppress
from importlib.util import MAGIC_NUMBER
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import llvmlite
import numba
import numpy as np
from numba import njit
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _SourceFileBackedLocatorMixin
from numba.core.cpu import CPUTargetOptions
from numba.core.serialize import dumps

from .interrupts import kept_interrupts

_NUMPY: Final = ".".join(np.__version__.split(".")[:2])
_VERSIONS: Final = "\n".join(
    (sys.implementation.cache_tag, MAGIC_NUMBER.hex(), numba.__version__, llvmlite.__version__, _NUMPY)
)
"""What compiled code depends on beside its sources and the processor."""
SHIPPED: Final = Path(__file__).with_name("compiled")
"""The folder of loops that come compiled with the package, for any processor of a kind; a checkout has none."""
_ANY_PROCESSOR: Final = ("generic", "")
"""Name and features of a processor, as numba has them of one that is told by ``NUMBA_CPU_NAME=generic``."""
_IMPORT: Final = re.compile(r"^\s*from (\.+)([\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)


def sources_of(module: Path) -> set[Path]:
    """Return the files of the package that the file `module` imports, directly or not, itself included."""
    found: set[Path] = set()
    waiting = {module}
    while waiting:
        found |= waiting
        waiting = {path for known in waiting for path in _read(known)[1]} - found
    return found


@functools.cache
def _read(path: Path) -> tuple[bytes, list[Path]]:
    """Return the digest of a file and what it imports of the package."""
    content = path.read_bytes()
    imported = []
    for dots, name, members in _IMPORT.findall(content.decode()):
        target = path.parents[len(dots) - 1].joinpath(*name.split("."))
        files = (target / f"{member}.py" for member in re.findall(r"\w+", members))
        imported += [file for file in (target.with_suffix(".py"), target / "__init__.py", *files) if file.is_file()]
    return hashlib.sha256(content).digest(), imported


def _stamp(module: Path) -> str:
    """Return what changes with any source that goes into the kernels of `module`, and with the compiler."""
    digests = sorted(_read(path)[0] for path in sources_of(module))
    return hashlib.sha256(_VERSIONS.encode() + b"".join(digests)).hexdigest()[:16]


class _Files:
    """Where the compiled code of a function is kept: a file for each signature, of one state of all its sources."""

    def __init__(self, folder: Path, function: Callable[..., object]) -> None:
        module = Path(inspect.getfile(function))
        self._folder = folder
        self._function = f"{module.stem}.{function.__qualname__}.{sys.implementation.cache_tag}-"
        self._state = f"{self._function}{_stamp(module)}-"

    def _name(self, key: object) -> str:
        return f"{self._state}{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def _path(self, key: object) -> Path:
        return self._folder / self._name(key)

    def load(self, key: Any) -> object:
        """Return what was saved for `key`, here or where the package was built; None where there is nothing sound."""
        with suppress(OSError):
            found = self._saved(key)
            if found is not None:
                return found
        signature, (triple, *_), code = key
        # The package's own files are as trusted as its sources are.
        return _unpickled((SHIPPED / self._name((signature, (triple, *_ANY_PROCESSOR), code))).read_bytes())

    def _saved(self, key: object) -> object:
        """Return what was saved for `key`; None where it is damaged, or somebody else may have put it there."""
        # A pipe in its place would be waited for without the flag.
        with open(os.open(self._path(key), os.O_RDONLY | os.O_NONBLOCK | os.O_NOFOLLOW), "rb") as file:
            status = os.fstat(file.fileno())
            if not stat.S_ISREG(status.st_mode) or status.st_uid not in (0, os.geteuid()) or status.st_mode & 0o022:
                return None
            return _unpickled(file.read())

    def save(self, key: object, data: object) -> None:
        """Save `data` for `key`, and remove what was saved for other states of the sources."""
        content = dumps(data)
        part = self._folder / f"{self._state}{secrets.token_hex(8)}.part"
        try:
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644), "wb") as file:
                file.write(hashlib.sha256(content).digest() + content)
            part.replace(self._path(key))
        finally:
            part.unlink(missing_ok=True)
        for path in self._folder.iterdir():
            if path.name.startswith(self._function) and not path.name.startswith(self._state):
                path.unlink()


def _unpickled(saved: bytes) -> object:
    """Return what was saved behind its digest; None where it is damaged."""
    return pickle.loads(saved[32:]) if hashlib.sha256(saved[32:]).digest() == saved[:32] else None


_LISTENERS: Final[list[Callable[[], None]]] = []


def on_compiling(tell: Callable[[], None]) -> Callable[[], None]:
    """Have `tell` called before each loop that is compiled since none is kept; call what is returned to end that."""
    _LISTENERS.append(tell)
    return lambda: _LISTENERS.remove(tell)


_NOT_KEPT: Final[set[str]] = set()


def compiled_in_vain() -> bool:
    """Tell whether loops were compiled since this was last asked that the next process has to compile again."""
    found = bool(_NOT_KEPT)
    _NOT_KEPT.clear()
    return found


class _PackageFolder(_SourceFileBackedLocatorMixin):  # type: ignore[misc]
    """Numba's last choice of a place: the package's own folder, where what was kept can be read though not written."""

    def __init__(self, function: Callable[..., object], file: str) -> None:
        self._py_file, self._lineno = file, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(Path(self._py_file).parent / "__pycache__")

    def ensure_cache_path(self) -> None:
        """Make nothing: other places come first where something can be written."""


class _Places(CompileResultCacheImpl):  # type: ignore[misc]
    """Numba's places for caches, and the package's folder as the last."""

    _locator_classes: Final = [*CompileResultCacheImpl._locator_classes, _PackageFolder]


class _Cache(FunctionCache):  # type: ignore[misc]
    """Numba's cache, which looks at the source of a function only, not at what that calls, and fails on a full disk."""

    _impl_class = _Places

    def __init__(self, function: Callable[..., object]) -> None:
        super().__init__(function)
        self._cache_file = _Files(Path(self.cache_path), function)

    def load_overload(self, *arguments: Any) -> Any:
        """Return what numba kept; whatever is the matter with it, the function is compiled anew."""
        found = None
        with suppress(Exception), kept_interrupts([]):
            found = super().load_overload(*arguments)
        if found is None:
            for tell in _LISTENERS:
                tell()
        return found

    def save_overload(self, *arguments: Any) -> None:
        """Keep what numba compiled, where that is possible."""
        try:
            with kept_interrupts([]):
                super().save_overload(*arguments)
        except Exception:  # noqa: BLE001 - whatever is the matter with the place, the loop itself is there
            _NOT_KEPT.add(str(arguments[0]))


def cached_njit(**options: Any) -> Callable[[Any], Any]:
    """Return a decorator like ``numba.njit(cache=True, **options)``, whose cache is never stale and never in the way.

    Where neither the package's folder nor a home folder can be written to, as in a container, what somebody who could
    (the owner, or root) left in the package's folder serves, and the rest is compiled anew by each process.
    """

    def decorate(function: Any) -> Any:
        kernel = njit(**options)(function)
        with suppress(RuntimeError, OSError):  # no sources to tell whether it is stale
            kernel._cache = _Cache(function)
        return kernel

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
