"""The anchor of an archive (``*.otf2``): where it is and what it says about the archive's files."""

import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from ...model.errors import TraceError, UnsupportedTraceError
from .regular import NotRegularError, open_regular

SUFFIX: Final = ".otf2"
SUBSTRATE_POSIX: Final = 1
SUBSTRATE_SION: Final = 2
COMPRESSION_NONE: Final = 1
COMPRESSION_ZLIB: Final = 2
KNOWN_TRACE_FORMATS: Final = (0, 1, 2)
"""Values of the anchor's trace format that the official library reads; 2 is written by OTF2 1.5 to 3.x."""

MAGIC_BYTE: Final = 3
LITTLE_ENDIAN: Final = 0x42
BIG_ENDIAN: Final = 0x23
CHUNK_HEADER: Final = 18
"""Bytes of a chunk's header: magic byte, byte order, first and last event (uint64 each, counted from 1)."""

_MAGIC: Final = b"OTF2\0"
_HEAD: Final = 46
_LARGEST: Final = 2**24
"""Bytes that are read of an anchor; a real one has some hundred."""
_TEXTS: Final = 3
_CHUNK_SIZES: Final = range(2**18, 2**24 + 1)
"""Sizes of a chunk that the official library accepts, from 256 KiB to 16 MiB."""


@dataclass(frozen=True)
class Anchor:
    """What the anchor of an archive says.

    Attributes
    ----------
    path : Path
        The anchor itself.
    base : Path
        Its path without the suffix: the global definitions are ``<base>.def``, a location's files ``<base>/<id>.evt``
        and ``<base>/<id>.def``.
    little_endian : bool
        Byte order of numbers in the anchor.
    trace_format : int
        Version of the file format; 2 for OTF2 1.5 to 3.x.
    version : tuple of int
        Version of OTF2 that wrote the archive.
    event_chunk, definition_chunk : int
        Size of a chunk of an event file and of a definition file, in bytes.
    substrate : int
        1 one file for each location, 2 SION.
    compression : int
        1 none, 2 zlib.
    locations, global_definitions : int
        How many the archive has.
    """

    path: Path
    base: Path
    little_endian: bool
    trace_format: int
    version: tuple[int, ...]
    event_chunk: int
    definition_chunk: int
    substrate: int
    compression: int
    locations: int
    global_definitions: int

    def location_file(self, location: int, suffix: str) -> Path:
        """Return the path of a location's ``evt`` or ``def`` file."""
        return self.base / f"{location}.{suffix}"


def find_anchor(path: str | os.PathLike[str]) -> Path:
    """Find the anchor that `path` means: the anchor itself, or a folder that holds exactly one ``*.otf2``.

    Raises TraceError if `path` does not exist or cannot be read, or the folder holds no anchor or several.
    """
    given = Path(path)
    try:
        if not given.is_dir():
            given.stat()
            return given
        with os.scandir(given) as entries:
            anchors = sorted(entry.name for entry in entries if entry.name.endswith(SUFFIX) and not entry.is_dir())
    except FileNotFoundError:
        raise TraceError(f"no such file or folder: {given}; give an anchor (*.otf2) or its folder") from None
    except (OSError, ValueError) as error:
        raise TraceError(f"cannot read {given}: {_cause(error)}; check the path and its permissions") from None
    if not anchors:
        raise TraceError(
            f"no anchor (*.otf2) in the folder {given}; give the archive's own folder, and if this is it, its run was "
            "killed before it wrote one: record the trace again"
        )
    if len(anchors) > 1:
        shown = ", ".join(anchors[:3]) + (", ..." if len(anchors) > 3 else "")
        raise TraceError(f"{len(anchors)} anchors in the folder {given}: {shown}; give the path of one of them")
    return given / anchors[0]


def read_anchor(path: str | os.PathLike[str]) -> Anchor:
    """Read the anchor at `path` (or the only one in the folder `path`).

    Raises TraceError if there is no anchor, it cannot be read, or it is not one; UnsupportedTraceError if the archive
    is of a kind that no engine here reads: SION files, a newer format.
    """
    anchor = find_anchor(path)
    try:
        with open_regular(anchor) as file:
            head = file.read(_LARGEST)
    except NotRegularError:
        raise TraceError(
            f"{anchor} is no file but a pipe, a device or the like; give the path of the archive's *.otf2 file"
        ) from None
    except OSError as error:
        raise TraceError(f"cannot read {anchor}: {_cause(error)}; check that it can be read") from None
    if not head:
        raise TraceError(f"the anchor {anchor} is empty: the recording did not end properly; record the trace again")
    if len(head) < 7 or head[0] != MAGIC_BYTE or head[2:7] != _MAGIC or head[1] not in (LITTLE_ENDIAN, BIG_ENDIAN):
        raise TraceError(f"{anchor} is not an OTF2 anchor; give the path of the archive's *.otf2 file")
    if anchor.suffix != SUFFIX:
        raise TraceError(f"the anchor {anchor} does not end in {SUFFIX}; rename it, its other files keep their names")
    if len(head) < _HEAD:
        raise TraceError(f"the anchor {anchor} is cut short after {len(head)} bytes; copy or record the trace again")
    found = _parse(anchor, head)
    if not _properties_fit(head, "little" if found.little_endian else "big"):
        raise TraceError(f"the texts in the anchor {anchor} are damaged; copy or record the trace again")
    return found


def _properties_fit(content: bytes, order: Literal["little", "big"]) -> bool:
    """Whether the anchor's texts and properties lie within it; the library believes their number and overruns memory.

    Behind the numbers stand three texts, each ended by a zero byte (machine, creator, description), the number of
    properties in 4 bytes, and a name and a value for each.
    """
    at = _HEAD
    for _ in range(_TEXTS):
        at = content.find(b"\0", at) + 1
        if at == 0:
            return False
    count = int.from_bytes(content[at : at + 4], order)
    at += 4
    # Each text takes a byte or more, so a wrong number shows before it costs anything.
    return at <= len(content) and content.count(b"\0", at) >= 2 * count


def _parse(path: Path, head: bytes) -> Anchor:
    little_endian = head[1] == LITTLE_ENDIAN
    trace_format, *version, event_chunk, definition_chunk, substrate, compression, locations, definitions = (
        struct.unpack_from(f"{'<' if little_endian else '>'}8x4B2Q2B2Q", head)
    )
    anchor = Anchor(
        path, path.with_suffix(""), little_endian, trace_format, tuple(version), event_chunk, definition_chunk,
        substrate, compression, locations, definitions,
    )  # fmt: skip
    if anchor.trace_format not in KNOWN_TRACE_FORMATS:
        raise UnsupportedTraceError(
            f"{path} has trace format {anchor.trace_format}, known are 0 to {KNOWN_TRACE_FORMATS[-1]}; "
            "update iostrata and otf2"
        )
    if anchor.substrate == SUBSTRATE_SION:
        raise UnsupportedTraceError(
            f"{path} keeps its events in SION files, which no engine here reads; record with SCOREP_TRACING_USE_SION=no"
        )
    if anchor.substrate != SUBSTRATE_POSIX:
        raise UnsupportedTraceError(f"{path} has the unknown file substrate {anchor.substrate}; update iostrata")
    if anchor.compression not in (COMPRESSION_NONE, COMPRESSION_ZLIB):
        raise UnsupportedTraceError(f"{path} has the unknown compression {anchor.compression}; update iostrata")
    if anchor.event_chunk not in _CHUNK_SIZES or anchor.definition_chunk not in _CHUNK_SIZES:
        raise TraceError(f"the anchor {path} gives impossible chunk sizes; copy or record the trace again")
    return anchor


def _cause(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
