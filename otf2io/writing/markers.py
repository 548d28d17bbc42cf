"""Markers: places and stretches in time with a text, which OTF2 keeps beside the events of an archive."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from ...model.errors import TraceError
from ..files.anchor import Anchor
from ..files.libotf2 import SUCCESS, c_string, describe, library, open_reader

MOST_CATEGORIES: Final = 255
"""A category has one byte in the file; one of its values means none."""
_NO_SEVERITY: Final = 0
_GLOBAL: Final = 0


@dataclass(frozen=True)
class Marker:
    """A marker of the whole trace.

    Attributes
    ----------
    category : str
        What it is one of; a viewer shows categories by themselves.
    start, length : int
        Ticks since the trace's start, and how many it lasts.
    """

    category: str
    start: int
    length: int
    text: str


def write_markers(anchor: Anchor, group: str, markers: Iterable[Marker], clock_start: int, clock_length: int) -> int:
    """Write markers into an archive that has none yet, and return their number.

    Raises TraceError if the library refuses.

    Parameters
    ----------
    group : str
        What all categories belong to, such as the name of a program.
    markers : iterable of Marker
        Cut to the trace's time, outside of which OTF2 allows none. Markers beyond `MOST_CATEGORIES` categories are left
        out.
    clock_start, clock_length : int
        ``Clock.start`` and ``Clock.length``.
    """
    lib = library()
    categories: dict[str, int] = {}
    written = 0
    with open_reader(anchor) as reader:
        writer = lib.OTF2_Reader_GetMarkerWriter(reader)
        if not writer:
            raise TraceError(f"{anchor.path}: the OTF2 library cannot write markers there")
        try:
            for marker in markers:
                number = categories.get(marker.category)
                if number is None:
                    if len(categories) == MOST_CATEGORIES:
                        continue
                    number = categories[marker.category] = len(categories)
                    names = c_string(group), c_string(marker.category)
                    _check(lib.OTF2_MarkerWriter_WriteDefMarker(writer, number, *names, _NO_SEVERITY), anchor)
                start = min(max(marker.start, 0), clock_length)
                length = min(max(marker.length, 0), clock_length - start)
                text = c_string(marker.text)
                code = lib.OTF2_MarkerWriter_WriteMarker(writer, clock_start + start, length, number, _GLOBAL, 0, text)
                _check(code, anchor)
                written += 1
        finally:
            _check(lib.OTF2_Reader_CloseMarkerWriter(reader, writer), anchor)
    return written


def _check(code: int, anchor: Anchor) -> None:
    if code != SUCCESS:
        raise TraceError(f"{anchor.path}: the OTF2 library cannot write markers there: {describe(code)}")
