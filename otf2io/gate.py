"""Which engine reads an archive's events."""

import importlib.util
import sys
from typing import Final, Literal

from .anchor import COMPRESSION_NONE, SUBSTRATE_POSIX, Anchor
from .errors import SelectionError

ENGINES: Final = ("auto", "direct", "library")
DIRECT_TRACE_FORMAT: Final = 2
"""The trace format whose records the direct engine knows: OTF2 1.5 to 3.x."""


def pick_engine(engine: str, anchor: Anchor) -> Literal["direct", "library"]:
    """Return the engine that reads the archive of `anchor`.

    Raises
    ------
    SelectionError
        No such engine, or it cannot read this archive.
    """
    if engine not in ENGINES:
        raise SelectionError(f"no engine {engine!r} for {anchor.path}; choose one of {', '.join(ENGINES)}")
    if engine == "library":
        return "library"
    obstacle = direct_obstacle(anchor)
    if obstacle is None:
        return "direct"
    if engine == "direct":
        raise SelectionError(f"the engine 'direct' cannot read {anchor.path}: {obstacle}; use 'auto' or 'library'")
    return "library"


def direct_obstacle(anchor: Anchor) -> str | None:
    """Return why the direct engine cannot read the archive of `anchor`, None where it can."""
    if anchor.substrate != SUBSTRATE_POSIX:
        return "it does not keep one file for each location"
    if anchor.compression != COMPRESSION_NONE:
        return "it is compressed"
    if not anchor.little_endian:
        return "it was recorded on a big-endian machine"
    if anchor.trace_format != DIRECT_TRACE_FORMAT:
        return f"it has trace format {anchor.trace_format}, not {DIRECT_TRACE_FORMAT}"
    if sys.byteorder != "little":
        return "this is a big-endian machine"
    if importlib.util.find_spec("numba") is None:
        return "numba is not installed"
    return None
