"""An archive: its anchor and definitions, and the engine that can read its events."""

import importlib.util
import os
import sys
from dataclasses import replace
from typing import Final, Literal

from ..model.arrays import Frozen
from ..model.definitions import Definitions
from ..model.errors import SelectionError
from ..model.recording import Recording
from ..model.stream.keeping import KeptOrigin, kept_of
from .calls.functions import LIBRARIES, CalledFunctions
from .definitions.read import read_definitions
from .files.anchor import COMPRESSION_NONE, SUBSTRATE_POSIX, Anchor, read_anchor

ENGINES: Final = ("auto", "direct", "library")
DIRECT_TRACE_FORMAT: Final = 2
"""The trace format whose records the direct engine knows: OTF2 1.5 to 3.x."""
_UNREADABLE: Final = (
    "the archive was converted from what another recorder wrote, but the record of what that one does not tell is "
    "damaged: handles and counts may be inferred"
)


_CALLS: Final = (
    "{names}: calls of functions, not I/O records, of which layers are made (--calls); which handle stands below which "
    "is inferred from what was called in what"
)
_BESIDE: Final = "{names}: calls that have no I/O record are operations, too (--calls all); their bytes are unknown"


def pick_engine(engine: str, anchor: Anchor) -> Literal["direct", "library"]:
    """Return the engine that reads the archive of `anchor`.

    Raises SelectionError if there is no such engine, or it cannot read this archive.
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
    obstacles = {
        "it does not keep one file for each location": anchor.substrate != SUBSTRATE_POSIX,
        "it is compressed": anchor.compression != COMPRESSION_NONE,
        "it was recorded on a big-endian machine": not anchor.little_endian,
        f"it has trace format {anchor.trace_format}, not {DIRECT_TRACE_FORMAT}": (
            anchor.trace_format != DIRECT_TRACE_FORMAT
        ),
        "this is a big-endian machine": sys.byteorder != "little",
        "its loops are not compiled for this Python, and numba is not installed": not any(
            importlib.util.find_spec(name, __package__) for name in ("..model.compiled", "numba")
        ),
    }
    return next((why for why, there in obstacles.items() if there), None)


class Archive(Frozen):
    """An archive with its anchor and definitions, read.

    Attributes
    ----------
    kept : Kept or None
        What is kept of a trace that it was written from.
    functions : CalledFunctions or None
        Functions of libraries that it has as regions only.
    """

    anchor: Anchor
    definitions: Definitions
    kept: KeptOrigin | None = None
    functions: CalledFunctions | None = None


def open_archive(path: str | os.PathLike[str], every_call: bool = False) -> Archive:
    """Open the archive at `path`, an anchor (``*.otf2``) or a folder with exactly one.

    With `every_call` its functions are also those of libraries that have I/O records.

    Raises TraceError if there is no usable archive; UnsupportedTraceError if the archive is of a kind that no engine
    here reads.
    """
    anchor = read_anchor(path)
    version = ".".join(map(str, anchor.version))
    recording = Recording(
        format=f"OTF2 {version}, trace format {anchor.trace_format}",
        facts={"otf2_version": version, "trace_format": anchor.trace_format},
    )
    definitions, text, functions = read_definitions(anchor, every_call)
    recording = replace(recording, processes=definitions.recording.processes)
    kept = None
    try:
        if text:
            files, processes = len(definitions.files.id), definitions.process_count
            kept = kept_of(text, definitions.locations.id, files, processes)
    except ValueError:
        recording = replace(recording, notes=(_UNREADABLE,))
    if kept is not None and kept.recording.recorder != recording.recorder:
        facts = {**kept.recording.facts, **recording.facts}
        recording = replace(kept.recording, kept_in=recording.format, facts=facts)
    elif kept is not None:
        recording = replace(recording, called=kept.recording.called, notes=kept.recording.notes)
    if functions is not None:
        beside = set(functions.library[functions.beside].tolist())
        for text, libraries in (_CALLS, set(functions.libraries) - beside), (_BESIDE, beside):
            if libraries:
                names = ", ".join(LIBRARIES[one].identification for one in sorted(libraries))
                recording = replace(recording, notes=(*recording.notes, text.format(names=names)))
    return Archive(anchor, replace(definitions, recording=recording), kept, functions)
