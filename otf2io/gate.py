"""Which engine reads an archive's events."""

from typing import Final, Literal

from .anchor import Anchor
from .errors import SelectionError

ENGINES: Final = ("auto", "direct", "library")


def pick_engine(engine: str, anchor: Anchor) -> Literal["library"]:
    """Return the engine that reads the archive of `anchor`.

    Raises
    ------
    SelectionError
        No such engine, or it is not available in this version.
    """
    if engine not in ENGINES:
        raise SelectionError(f"no engine {engine!r} for {anchor.path}; choose one of {', '.join(ENGINES)}")
    if engine == "direct":
        raise SelectionError("the engine 'direct' is not available in this version; use 'auto' or 'library'")
    return "library"
