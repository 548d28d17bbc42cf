"""Which recorder wrote a file or folder, found by its content; others can add theirs.

A recorder is a module, or any object, with ``recognises(head, path) -> bool``, where `head` are the first bytes of the
file (of a folder none), and ``open_source(path) -> Source``; with ``FOLDERS = True`` its files in a folder are one run.
Packages list theirs in the entry-point group ``iostrata.inputs``.
"""

import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import Final

from ..model.errors import IostrataError, TraceError
from ..model.stream.source import Source

GROUP: Final = "iostrata.inputs"
HEAD: Final = 1 << 16
"""First bytes of a file that recorders are shown."""


@dataclass(frozen=True)
class Recorder:
    """A recorder whose files can be read.

    Attributes
    ----------
    name : str
    recognises : callable
        ``(head, path) -> bool``; quick, and reads no more than it must.
    open_source : callable
        ``(path) -> Source``; TraceError where the file cannot be used.
    folders : bool
        Whether all its files in a folder are one run; such a recorder recognises and opens the folder.
    """

    name: str
    recognises: Callable[[bytes, Path], bool]
    open_source: Callable[[Path], Source]
    folders: bool = False


_OWN: Final = {
    "Darshan": (".darshan.reader", "open_darshan"),
    "DFTracer": (".dftracer.reader", "open_dftracer"),
    "TMIO": (".tmio", "open_tmio"),
    "Table": (".table.reader", "open_table"),
}
"""Modules of the recorders that are known here, in the order in which they are asked."""


def recorders() -> Iterator[Recorder]:
    """Yield all recorders, those of other packages after those known here."""
    for name, (module, opener) in _OWN.items():
        found = import_module(module, __package__)
        yield Recorder(name, found.recognises, getattr(found, opener), getattr(found, "FOLDERS", False))
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        try:
            loaded = entry.load()
            yield Recorder(entry.name, loaded.recognises, loaded.open_source, bool(getattr(loaded, "FOLDERS", False)))
        except (ImportError, AttributeError) as error:
            raise TraceError(
                f"the recorder {entry.name!r} of the entry points {GROUP} cannot be loaded: {error}; repair or "
                "uninstall its package"
            ) from None


def find_recorder(path: str | os.PathLike[str], known: Iterable[Recorder] | None = None) -> Recorder | None:
    """Return the recorder, one of those `known` or of all, that wrote what is at `path`; None where none recognises it.

    A path that is not there, or cannot be read, is nobody's: who opens it says so.
    """
    given = Path(path)
    try:
        if given.is_dir():
            head = b""
        elif given.is_file():
            with given.open("rb") as file:
                head = file.read(HEAD)
        else:
            return None
    except (OSError, ValueError):
        return None
    for recorder in recorders() if known is None else known:
        if recorder.recognises(head, given):
            return recorder
    return None


def open_recorded(path: str | os.PathLike[str], recorder: Recorder) -> Source:
    """Open what `recorder` wrote.

    Raises TraceError if it cannot be used.
    """
    try:
        return recorder.open_source(Path(path))
    except IostrataError:
        raise
    except OSError as error:
        raise TraceError(f"cannot read {path}: {error.strerror or error}; check its permissions") from None
