"""Loops compiled by numba on their first call, and cached on disk where there is a place for them.

A package that brings its loops compiled needs nothing of this (`kernels`).
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
from typing import Any, Final

import llvmlite
import numba
import numpy as np
from llvmlite import ir
from numba import njit, types
from numba.core.caching import CompileResultCacheImpl, FunctionCache, _SourceFileBackedLocatorMixin
from numba.core.cpu import CPUTargetOptions
from numba.core.serialize import dumps
from numba.extending import intrinsic

from .interrupts import kept_interrupts

_NUMPY: Final = ".".join(np.__version__.split(".")[:2])
_VERSIONS: Final = "\n".join(
    (sys.implementation.cache_tag, MAGIC_NUMBER.hex(), numba.__version__, llvmlite.__version__, _NUMPY)
)
"""What compiled code depends on beside its sources and the processor."""
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

    def _path(self, key: object) -> Path:
        return self._folder / f"{self._state}{hashlib.sha256(repr(key).encode()).hexdigest()[:16]}.nbc"

    def load(self, key: object) -> object:
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

    def __init__(self, function: Callable[..., object], compiling: Callable[[], None]) -> None:
        super().__init__(function)
        self._compiling = compiling
        self._cache_file = _Files(Path(self.cache_path), function)

    def load_overload(self, *arguments: Any) -> Any:
        """Return what numba kept; whatever is the matter with it, the function is compiled anew."""
        found = None
        with suppress(Exception), kept_interrupts([]):
            found = super().load_overload(*arguments)
        if found is None:
            self._compiling()
        return found

    def save_overload(self, *arguments: Any) -> None:
        """Keep what numba compiled, where that is possible."""
        try:
            with kept_interrupts([]):
                super().save_overload(*arguments)
        except Exception:  # noqa: BLE001 - whatever is the matter with the place, the loop itself is there
            _NOT_KEPT.add(str(arguments[0]))


def cached_njit(compiling: Callable[[], None], **options: Any) -> Callable[[Any], Any]:
    """Return a decorator like ``numba.njit(cache=True, **options)``, whose cache is never stale and never in the way.

    `compiling` is called before a function is compiled since none is kept.
    """

    def decorate(function: Any) -> Any:
        kernel = njit(**options)(function)
        try:
            kernel._cache = _Cache(function, compiling)
        except (RuntimeError, OSError):  # no place for a cache, or no sources to tell whether it is stale
            _NOT_KEPT.add(str(function))
        return kernel

    return decorate


_WITHOUT_COUNTING: Final[dict[str, Any]] = {"_nrt": False} if hasattr(CPUTargetOptions, "_nrt") else {}
"""The option is not documented; a numba without it compiles the same loops, only slower ones."""
_INNER: Final[dict[str, Any]] = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
"""Half the time of a compilation goes into the entry from Python, which inner functions do not need."""
OPTIONS: Final[dict[str, dict[str, Any]]] = {
    "compiled": {"nogil": True},
    "compiled_uncounted": {"nogil": True, **_WITHOUT_COUNTING},
    "inner": {"nogil": True, **_WITHOUT_COUNTING, **_INNER},
    "inlined": {"nogil": True, "forceinline": True, **_WITHOUT_COUNTING, **_INNER},
}
"""Options of each decorator of `kernels`."""


def library_function(name: str, result: str, arguments: tuple[str, ...]) -> Any:
    """Return a function of the C library as loops call it, with the names of numba's types."""
    return types.ExternalFunction(name, getattr(types, result)(*(getattr(types, one) for one in arguments)))


def _load(bits: int) -> Any:
    """Return what loads `bits` bits as an integer from any byte position of an array, unchecked."""
    result = types.int64 if bits < 64 else types.uint64

    @intrinsic  # type: ignore[untyped-decorator]
    def load_bits(_context: Any, buffer: Any, _at: Any) -> Any:
        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            array = context.make_array(signature.args[0])(context, builder, arguments[0])
            word = ir.IntType(bits)
            address = builder.gep(array.data, [arguments[1]])
            loaded = builder.load(builder.bitcast(address, word.as_pointer()), align=1)
            return loaded if bits == 64 else builder.zext(loaded, ir.IntType(64))

        return result(buffer, types.int64), generate

    return load_bits


load_byte: Final = _load(8)
load_word: Final = _load(64)


@intrinsic  # type: ignore[untyped-decorator]
def store_word(_context: Any, buffer: Any, _at: Any, _word: Any) -> Any:
    """Store a uint64 in the eight bytes from a position on, little-endian."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        target = context.make_array(signature.args[0])(context, builder, arguments[0])
        address = builder.gep(target.data, [arguments[1]])
        builder.store(arguments[2], builder.bitcast(address, ir.IntType(64).as_pointer()), align=1)
        return context.get_dummy_value()

    return types.void(buffer, types.int64, types.uint64), generate
