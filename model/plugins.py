"""What packages add by entry points, ours as any other: recorders, exports, commands, methods, a group of names each.

Names are read without importing anything; what stands behind one is imported when it is asked for. What cannot be used
is left out with one `PluginWarning` and never hides another.
"""

import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import cache, reduce
from importlib import import_module
from importlib.util import find_spec
from typing import Any, Final, Generic, TypeVar

T = TypeVar("T")
OURS: Final = "iostrata"
"""The distribution whose entries come first, and win where others have the same name."""
_DOCSTRING: Final = re.compile(r'(?:\s|#[^\n]*\n)*[rR]?"""([^\n"]*)')
_warned: set[str] = set()


class PluginWarning(UserWarning):
    """Warns of an extension that is left out: which package has to be repaired or uninstalled."""


def warn_once(text: str) -> None:
    """Give a `PluginWarning` unless the same was given before."""
    if text not in _warned:
        _warned.add(text)
        warnings.warn(text, PluginWarning, stacklevel=2)


def docstring(of: Any) -> str:
    """Return the docstring of a module or function, also under ``python -OO``, which leaves it in the source alone."""
    import inspect

    text = inspect.getdoc(of)
    if text is None and sys.flags.optimize > 1:
        import ast

        with suppress(OSError, TypeError, SyntaxError):
            tree = ast.parse(inspect.cleandoc(inspect.getsource(of)))
            text = ast.get_docstring(tree if inspect.ismodule(of) else tree.body[0])  # type: ignore[arg-type]
    return text or ""


@dataclass(frozen=True)
class EntryPoint:
    """A line of an ``entry_points.txt``: `value` is ``module`` or ``module:attribute``."""

    group: str
    name: str
    value: str
    distribution: str

    def load(self) -> Any:
        """Import what it names; raises whatever its module raises."""
        module, _, attributes = self.value.partition("[")[0].replace(" ", "").partition(":")
        return reduce(getattr, filter(None, attributes.split(".")), import_module(module))

    @property
    def summary(self) -> str:
        """The first line of the docstring of its module, which is not imported; empty where there is none."""
        try:
            spec = find_spec(self.value.partition(":")[0].strip())
            with open(spec.origin if spec and spec.origin else "", encoding="utf-8") as file:
                found = _DOCSTRING.match(file.read(4096))
        except (ImportError, OSError, ValueError):
            return ""
        return found[1].strip() if found else ""

    def warn(self, what: str) -> None:
        """Warn, once, that it is left out."""
        warn_once(
            f"{self.name!r} ({self.value}) of {self.distribution}, group {self.group}, is left out: {what}; "
            f"repair or uninstall {self.distribution}"
        )


class Plugins(Generic[T]):
    """The extensions of a group of entry points by name, ours before those of others.

    Parameters
    ----------
    group : str
        Such as ``iostrata.inputs``.
    accept : callable
        ``(name, loaded) -> T`` makes an extension of what an entry names; TypeError says why it is none. `instance_of`
        makes one that only checks the type.
    """

    def __init__(self, group: str, accept: Callable[[str, Any], T]) -> None:
        self.group = group
        self._accept = accept
        self._loaded: dict[EntryPoint, T] = {}
        self._all: tuple[list[EntryPoint] | None, dict[str, T]] = None, {}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all, without importing any."""
        return tuple(self._entries())

    @property
    def summaries(self) -> dict[str, str]:
        """What each is, in one line: that with which the docstring of its module begins, without importing any."""
        return {name: entry.summary for name, entry in self._entries().items()}

    def find(self, name: str) -> T | None:
        """Import the extension of a name; None where there is none, or it cannot be used."""
        entry = self._entries().get(name)
        return None if entry is None else self._load(entry)

    def all(self) -> dict[str, T]:
        """Import all of them; those that cannot be used are left out."""
        entries = _installed(tuple(sys.path)).get(self.group)
        if entries is None or self._all[0] is not entries:
            loaded = {name: self._load(entry) for name, entry in self._entries().items()}
            self._all = entries, {name: one for name, one in loaded.items() if one is not None}
        return self._all[1]

    def _entries(self) -> dict[str, EntryPoint]:
        found: dict[str, EntryPoint] = {}
        for entry in _installed(tuple(sys.path)).get(self.group, ()):
            first = found.setdefault(entry.name, entry)
            if first is not entry:
                entry.warn(f"{first.distribution} has one of this name")
        return found

    def _load(self, entry: EntryPoint) -> T | None:
        if (known := self._loaded.get(entry)) is not None:
            return known
        try:
            found = self._loaded[entry] = self._accept(entry.name, entry.load())
            return found
        except Exception as error:  # noqa: BLE001 - whatever it raises is no reason to fail where nobody asked for it
            entry.warn(f"{type(error).__name__}: {' '.join(str(error).split())}")
            return None


def instance_of(kind: type[T]) -> Callable[[str, Any], T]:
    """Return what accepts extensions that are a `kind`."""

    def accept(_name: str, loaded: Any) -> T:
        if not isinstance(loaded, kind):
            raise TypeError(f"it is no {kind.__name__} but {type(loaded).__name__}")
        return loaded

    return accept


@cache
def _installed(folders: tuple[str, ...]) -> dict[str, list[EntryPoint]]:
    """Return the entries of all distributions on a path by their group, if it is one of ours, sorted.

    `importlib.metadata` has them too, but takes 60 ms to be imported, a third of what ``iostrata --help`` takes.
    """
    found: dict[str, list[EntryPoint]] = {}
    for folder in folders:
        for distribution, path in _distributions(folder):
            # As for modules, what comes first on the path is what is installed.
            if distribution not in found:
                found[distribution] = list(_entries_of(path, distribution))
    groups: dict[str, list[EntryPoint]] = {}
    entries = [entry for part in found.values() for entry in part]
    for entry in sorted(entries, key=lambda one: (one.distribution != OURS, one.distribution, one.name.casefold())):
        groups.setdefault(entry.group, []).append(entry)
    return groups


def _distributions(folder: str) -> Iterator[tuple[str, str]]:
    """Yield name and metadata folder of the distributions that are installed in a folder."""
    with suppress(OSError):
        for name in sorted(os.listdir(folder or os.curdir)):
            stem, suffix = os.path.splitext(name)
            if suffix in (".dist-info", ".egg-info"):
                yield stem.partition("-")[0].lower().replace("_", "-"), os.path.join(folder, name)


def _entries_of(path: str, distribution: str) -> Iterator[EntryPoint]:
    try:
        with open(os.path.join(path, "entry_points.txt"), encoding="utf-8", errors="replace") as file:
            lines = file.read().splitlines()
    except OSError:
        return
    group = ""
    for line in map(str.strip, lines):
        if line.startswith("["):
            group = line.strip("[] ")
        elif group.startswith(f"{OURS}.") and "=" in line and line[0] not in "#;":
            name, _, value = line.partition("=")
            yield EntryPoint(group, name.strip(), value.strip(), distribution)
