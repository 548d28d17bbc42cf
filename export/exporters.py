"""Exporters: what writes a trace into a file for other tools, chosen by the file's suffix.

Each is an entry point of the group ``iostrata.exports`` whose name is the suffix without its first dot, and whose value
is an `Exporter`. The docstring of its module begins with a line that says what is in such a file, for the help.
"""

import inspect
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ..model.errors import SelectionError
from ..model.plugins import Plugins, instance_of
from .written import Written

OPTIONS: Final = ("layers", "direction", "traffic", "method", "fs", "filter", "rewrite")
"""Options of ``iostrata convert`` that not all files know."""


class OptionError(SelectionError):
    """Raised by an exporter for an option that means nothing for the trace at hand."""


@dataclass(frozen=True)
class Exporter:
    """What writes the files of one suffix.

    Attributes
    ----------
    write : callable
        ``(trace, path, **options) -> Written``. Of its parameters those in `OPTIONS` are what it takes of
        ``iostrata convert``.
    page : str
        The page of the guide that describes the format.
    relations : bool
        Whether it compares layers: that is then summed up while the trace is read.
    """

    write: Callable[..., Written]
    page: str
    relations: bool = False

    @property
    def options(self) -> tuple[str, ...]:
        """Those of `OPTIONS` that `write` takes."""
        parameters = inspect.signature(self.write).parameters
        return tuple(name for name in OPTIONS if name in parameters)


EXPORTERS: Final = Plugins("iostrata.exports", instance_of(Exporter))


def known_suffixes() -> tuple[str, ...]:
    """Return the suffixes that files can have, without importing what writes them."""
    return tuple(f".{name}" for name in EXPORTERS.names)


def suffix_of(path: Path) -> str | None:
    """Return the known suffix of a file's name, the longest that fits; None where there is none."""
    fitting = [suffix for suffix in known_suffixes() if path.name.lower().endswith(suffix)]
    return max(fitting, key=len, default=None)
