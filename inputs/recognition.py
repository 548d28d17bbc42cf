"""Which recorder wrote a file or folder, found by its content; packages add theirs by entry points, as those here do.

An entry point of the group ``iostrata.inputs`` names a `Recorder`, or a module or object with the functions
``recognises(head, path)`` and ``open_source(path)``; with ``FOLDERS = True`` its files in a folder are one run.
"""

import os
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..model.errors import IostrataError, TraceError
from ..model.plugins import Plugins, warn_once
from ..model.recording import Recording
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
        ``(head, path) -> bool`` with the first bytes of a file, of a folder none; reads no more than it must.
    open_source : callable
        ``(path) -> Source``; TraceError where the file cannot be used.
    format : str
        What its files are, and which of them are read.
    description : str
        What it records, in one sentence.
    page : str
        Its page, below ``docs/guide/`` or an address.
    never_recorded : tuple of str
        Capabilities of a `Recording` that no file of it has, such as ``offsets``.
    folders : bool
        Whether all its files in a folder are one run; such a recorder recognises and opens the folder.
    """

    name: str
    recognises: Callable[[bytes, Path], bool]
    open_source: Callable[[Path], Source]
    format: str = ""
    description: str = ""
    page: str = ""
    never_recorded: tuple[str, ...] = ()
    folders: bool = False

    def recording(self, **told: Any) -> Recording:
        """Return the `Recording` of a file, with what it tells beside what the recorder never does."""
        return Recording(recorder=self.name, **{**dict.fromkeys(self.never_recorded, False), **told})


def _accepted(name: str, loaded: Any) -> Recorder:
    if isinstance(loaded, Recorder):
        return loaded
    if not all(callable(getattr(loaded, function, None)) for function in ("recognises", "open_source")):
        raise TypeError("it is neither a Recorder nor has it the functions recognises and open_source")
    return Recorder(name, loaded.recognises, loaded.open_source, folders=bool(getattr(loaded, "FOLDERS", False)))


_PLUGINS: Final = Plugins(GROUP, _accepted)


def recorders() -> tuple[Recorder, ...]:
    """Return all recorders, those of other packages after those known here."""
    return tuple(_PLUGINS.all().values())


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
    return next((one for one in (recorders() if known is None else known) if _recognised(one, head, given)), None)


def _recognised(recorder: Recorder, head: bytes, path: Path) -> bool:
    try:
        return recorder.recognises(head, path)
    except OSError:
        raise
    except Exception as error:  # noqa: BLE001 - one that fails hides none of the others
        warn_once(f"the recorder {recorder.name!r} fails to recognise files: {type(error).__name__}: {error}")
        return False


def open_recorded(path: str | os.PathLike[str], recorder: Recorder) -> Source:
    """Open what `recorder` wrote.

    Raises TraceError if it cannot be used.
    """
    try:
        return recorder.open_source(Path(path))
    except IostrataError:
        raise
    except OSError as error:
        raise TraceError(f"cannot read {path}: {error.strerror or error}; check that it can be read") from None
