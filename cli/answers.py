"""Answers to an assistant's questions: what a command prints, for inputs in some folders only, and never much."""

import contextlib
import json
import os
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from ..model.errors import SelectionError

MOST_TEXT: Final = 60_000
"""Characters of an answer, about 20,000 tokens: more crowds out what else an assistant has to keep in mind."""
_MOST_PRINTED: Final = 1 << 25
"""Bytes of a document that is cut to an answer; more would take a gigabyte to read."""
_MOST_ENTRIES: Final = 100_000
"""Files and folders of an input that are looked at for links."""
_LENGTHS: Final = (1000, 300, 100, 30, 10, 3, 1, 0)
"""Entries of a list that are left, tried until the answer is short enough."""


@dataclass(frozen=True)
class AllowedFolders:
    """Folders whose content may be asked about.

    Attributes
    ----------
    folders : tuple of Path
        As they are behind all links.
    """

    folders: tuple[Path, ...]

    @classmethod
    def of(cls, paths: Iterable[Path]) -> "AllowedFolders":
        """Return those at some paths; SelectionError if there is none at one of them."""
        folders = []
        for path in paths:
            if not path.is_dir():
                raise SelectionError(f"{path} is no folder")
            folders.append(path.resolve())
        return cls(tuple(folders))

    def checked(self, path: str) -> Path:
        """Return where an input really is; SelectionError if it, or anything in it, lies outside of the folders."""
        # First, so that nothing is told of what there is elsewhere.
        real = self._real(Path(path.replace("\0", "")), path)
        if real is None:
            raise SelectionError(f"no such file or folder: {path}")
        self._check_links(real if real.is_dir() else real.parent if real.suffix == ".otf2" else None, path)
        return real

    def _real(self, given: Path, path: str) -> Path | None:
        """Return where `given` leads; None where nothing is, or its links lead in a circle: then no file is opened."""
        try:
            real = given.resolve(strict=True)
        except (OSError, RuntimeError):
            self._check(Path(os.path.realpath(given)), path)
            return None
        self._check(real, path)
        return real

    def _check(self, real: Path, path: str) -> None:
        if not any(real.is_relative_to(folder) for folder in self.folders):
            known = ", ".join(map(str, self.folders))
            raise SelectionError(f"{path} is outside of the folders that may be read: {known}")

    def _check_links(self, folder: Path | None, path: str) -> None:
        waiting, seen, entries = [folder] if folder else [], {folder}, 0
        while waiting:
            with os.scandir(waiting.pop()) as found:
                for entry in found:
                    entries += 1
                    if entries > _MOST_ENTRIES:
                        raise SelectionError(f"{path} holds more than {_MOST_ENTRIES:,} files: name one of its folders")
                    here = Path(entry.path)
                    real = self._real(here, f"{path}: {entry.name}, a link,") if entry.is_symlink() else here
                    if real is not None and entry.is_dir() and real not in seen:
                        seen.add(real)
                        waiting.append(real)


def answer(arguments: Sequence[str], keep: Iterable[str] = (), seconds: float = 300.0) -> dict[str, Any]:
    """Return what a command finds: its document, the command, warnings, and which lists of it were cut to be short.

    The command is a process of its own, so that whatever comes of an input ends there. Lists are cut where their
    document is too long, the longest first; ``cut`` gives the number of entries that each has.

    Parameters
    ----------
    arguments : sequence of str
        Those of ``iostrata``, without ``--json``.
    keep : iterable of str
        The only entries of the document that are wanted; all without them.
    seconds : float
        After which the command is ended.

    Raises
    ------
    SelectionError
        With what the command has to say, if it fails, prints too much or takes too long.
    """
    command = shlex.join(("iostrata", *arguments, "--json"))
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as error:
        program = [sys.executable, "-m", __package__ or "iostrata.cli", *arguments, "--json"]
        try:
            done = subprocess.run(
                program, stdin=subprocess.DEVNULL, stdout=out, stderr=error, timeout=seconds, check=False
            )
        except subprocess.TimeoutExpired:
            raise SelectionError(f"no answer within {seconds:.0f} s: narrow the question, or run {command}") from None
        size = out.tell()
        told = _tail(error)
        if done.returncode not in (0, 3):
            raise SelectionError("; ".join(told[-3:]) or f"{command} ended with {done.returncode}")
        if size > _MOST_PRINTED:
            raise SelectionError(
                f"the answer has {size:,} bytes, more than {_MOST_PRINTED:,}: narrow the question, or run {command}"
            )
        out.seek(0)
        document = json.load(out)
    wanted = tuple(keep)
    if wanted:
        document = {name: value for name, value in document.items() if name in wanted}
    document.pop("provenance", None)
    kept, cut = shortened(document)
    return {"command": command, "warnings": told, "cut": cut, "document": kept}


def _tail(error: Any) -> list[str]:
    """Return the last lines on stderr, without the name of the program."""
    error.seek(max(0, error.tell() - 8000))
    lines = error.read().decode(errors="replace").splitlines()[-20:]
    return [line.removeprefix("iostrata: ").removeprefix("error: ")[:1000] for line in lines if line.strip()]


def shortened(document: dict[str, Any], most: int = MOST_TEXT) -> tuple[dict[str, Any], dict[str, int]]:
    """Return a document with its lists cut so that it has at most so many characters, and how many entries they had."""
    for length in (None, *_LENGTHS):
        cut: dict[str, int] = {}
        kept = _cut(document, length, "", cut)
        if len(json.dumps(kept)) <= most:
            return kept, cut
    with contextlib.suppress(KeyError):
        return {"trace": document["trace"]}, {"": len(document)}
    return {}, {"": len(document)}


def _cut(value: Any, length: int | None, place: str, cut: dict[str, int]) -> Any:
    if isinstance(value, dict):
        many = length is not None and len(value) > max(100, length)
        items = list(value.items())[: max(100, length or 0)] if many else value.items()
        if many:
            cut[place] = len(value)
        return {name: _cut(one, length, f"{place}.{name}".lstrip("."), cut) for name, one in items}
    if isinstance(value, list):
        if length is not None and len(value) > length:
            cut[f"{place}[]"] = max(len(value), cut.get(f"{place}[]", 0))
            value = value[:length]
        return [_cut(one, length, f"{place}[]", cut) for one in value]
    return value[:2000] if isinstance(value, str) else value
