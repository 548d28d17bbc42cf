"""What a document was made by and of."""

import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from ...model.document import Document, Record, plain
from ...model.version import __version__
from ...runs.collection.content import content_hash

_ENDS: Final = 1 << 16
_MOST_FILES: Final = 1000
HASHED: Final = (
    f"BLAKE2b, 128 bits, of the names and sizes of the files and the first and last {_ENDS // 1024} KiB of each, of "
    f"{_MOST_FILES:,} files at most"
)


class DocumentInput(Record):
    """What was read.

    Attributes
    ----------
    path : str
        As it was given.
    bytes : int or None
        Of all its files that are hashed; None where the path is a pattern, or no file that can be read.
    hash : str or None
        Changes with the content, as far as `Provenance.hashed` says.
    """

    path: str
    bytes: int | None
    hash: str | None


class Provenance(Record):
    """What a document was made by and of.

    Attributes
    ----------
    version : str
        Of the program.
    command : str
        What was called, for a shell.
    options : dict
        Arguments and options of the command as they were in force, by the names of the program.
    inputs : tuple of DocumentInput
    hashed : str
        What the hashes of inputs are made of.
    """

    program: str
    version: str
    command: str
    options: Mapping[str, Any]
    inputs: tuple[DocumentInput, ...]
    hashed: str = HASHED


def with_provenance(
    document: Document, arguments: Iterable[str], options: Mapping[str, Any], inputs: Iterable[Path]
) -> Document:
    """Return a document with its provenance as the second entry."""
    told = {name: _told(value) for name, value in options.items()}
    command = shlex.join(("iostrata", *arguments))
    made = Provenance("iostrata", __version__, command, told, tuple(map(_input, inputs)))
    version, *rest = document.items()
    return dict([version, ("provenance", made.to_dict()), *rest])


def _told(value: Any) -> Any:
    if isinstance(value, tuple):
        return [_told(one) for one in value]
    return str(value) if isinstance(value, Path) else plain(value)


def _input(path: Path) -> DocumentInput:
    try:
        digest, size = content_hash(path, _ENDS, _MOST_FILES)
    except OSError:
        return DocumentInput(str(path), None, None)
    return DocumentInput(str(path), size, digest)
