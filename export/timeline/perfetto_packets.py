"""A timeline as packets of Perfetto's own format, less than half as large as JSON: for its UI and its trace processor.

Source: Perfetto, protos/perfetto/trace (`TracePacket`, `TrackEvent`, `TrackDescriptor`, `InternedData`), and the wire
format of protocol buffers. What is shown is what `iostrata.export.timeline.perfetto` shows.
"""

import struct
from collections.abc import Iterable, Iterator
from functools import partial
from typing import Any, Final

from ...model.text import printable
from ..exporters import Exporter
from .perfetto import Event, write_perfetto

_TIMESTAMP, _SEQUENCE, _TRACK_EVENT, _INTERNED, _FLAGS, _DESCRIPTOR = 8, 10, 11, 12, 13, 60
"""Fields of a packet."""
_CLEARED, _NEEDED = 1, 2
"""Flags: numbers of texts begin anew, or are meant."""
_UUID, _NAME, _PROCESS, _PARENT, _COUNTER, _RANK = 1, 2, 3, 5, 8, 12
"""Fields of the descriptor of a track."""
_CATEGORY, _ANNOTATION, _TYPE, _NAME_NUMBER, _TRACK, _VALUE, _FLOW, _LAST_OF_FLOW = 3, 4, 9, 10, 11, 44, 47, 48
"""Fields of an event."""
_BEGIN, _END, _COUNT = 1, 2, 4
_CATEGORIES, _NAMES, _KEYS, _TEXTS = 1, 2, 3, 29
"""Fields of texts that are told once."""


def _varint(value: int) -> bytes:
    value &= (1 << 64) - 1
    found = bytearray()
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    found.append(value)
    return bytes(found)


def _number(field: int, value: int) -> bytes:
    return _varint(field << 3) + _varint(value)


def _double(field: int, value: float) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<d", value)


def _fixed(field: int, value: int) -> bytes:
    return _varint(field << 3 | 1) + struct.pack("<Q", value)


def _part(field: int, content: bytes | str) -> bytes:
    content = content.encode(errors="replace") if isinstance(content, str) else content
    return _varint(field << 3 | 2) + _varint(len(content)) + content


class _Texts:
    """Numbers of texts, each told in the packet that first needs it."""

    def __init__(self) -> None:
        self._known: dict[tuple[int, str], int] = {}
        self.fresh = b""

    def number(self, kind: int, text: str) -> int:
        """Return the number of a text of a kind."""
        found = self._known.get((kind, text))
        if found is None:
            found = self._known[kind, text] = len(self._known) + 1
            self.fresh += _part(kind, _number(1, found) + _part(2, text))
        return found

    def taken(self) -> bytes:
        """Return the part of a packet that tells what is new."""
        fresh, self.fresh = self.fresh, b""
        return _part(_INTERNED, fresh) if fresh else b""


def _packets(about: dict[str, Any], events: Iterable[Event]) -> Iterator[bytes]:
    """Give the packets of events; times are ns."""
    title = f"{about['source']}: {about['trace']}"
    texts, tracks, names = _Texts(), dict[tuple[int, int | str], int](), dict[tuple[str, int, int], str]()

    def packet(content: bytes, flags: int = _NEEDED) -> bytes:
        return _part(1, _number(_SEQUENCE, 1) + _number(_FLAGS, flags) + content)

    def track(key: tuple[int, int | str]) -> int:
        return tracks.setdefault(key, len(tracks) + 1)

    yield packet(_part(_DESCRIPTOR, _number(_UUID, track((0, title))) + _part(_NAME, printable(title))), _CLEARED)
    for event in events:
        process, thread, kind = event["pid"], event["tid"], event["ph"]
        if kind == "M":
            what, _, of = event["name"].partition("_")
            if of == "name":
                names[what, process, thread] = event["args"]["name"]
                continue
            name = names.pop((what, process, thread))
            told = _number(_RANK, event["args"]["sort_index"])
            if what == "process":
                told += _number(_UUID, track((process, "")))
                told += _part(_PROCESS, _number(1, process) + _part(6, name))
            else:
                told += _number(_UUID, track((process, thread))) + _part(_NAME, name)
                told += _number(_PARENT, track((process, "")))
            yield packet(_part(_DESCRIPTOR, told))
        elif kind == "C":
            ((unit, value),) = event["args"].items()
            fresh = (process, event["name"]) not in tracks
            number = track((process, event["name"]))
            if fresh:
                told = _number(_UUID, number) + _part(_NAME, event["name"]) + _number(_PARENT, track((process, "")))
                yield packet(_part(_DESCRIPTOR, told + _part(_COUNTER, _part(6, unit))))
            told = _number(_TYPE, _COUNT) + _number(_TRACK, number) + _double(_VALUE, value)
            yield packet(_number(_TIMESTAMP, event["ts"]) + _part(_TRACK_EVENT, told))
        else:
            number = track((process, thread))
            told = _number(_TYPE, _BEGIN) + _number(_TRACK, number)
            told += _number(_CATEGORY, texts.number(_CATEGORIES, event["cat"]))
            told += _number(_NAME_NUMBER, texts.number(_NAMES, event["name"]))
            for key, value in event["args"].items():
                told += _part(_ANNOTATION, _number(1, texts.number(_KEYS, key)) + _annotation(value, texts))
            for effect, _ in event.get("effects", ()):
                told += _fixed(_FLOW, effect)
            if "effect" in event:
                told += _fixed(_LAST_OF_FLOW, event["effect"])
            begin = _number(_TIMESTAMP, event["ts"]) + texts.taken()
            yield packet(begin + _part(_TRACK_EVENT, told))
            told = _number(_TYPE, _END) + _number(_TRACK, number)
            yield packet(_number(_TIMESTAMP, event["ts"] + event["dur"]) + _part(_TRACK_EVENT, told))


def _annotation(value: Any, texts: _Texts) -> bytes:
    if isinstance(value, str):
        return _number(17, texts.number(_TEXTS, value))
    if value is None:
        return _part(6, "")
    return _number(4, value) if isinstance(value, int) else _double(5, float(value))


write_perfetto_packets: Final = partial(write_perfetto, pieces=_packets)
"""Writes what `write_perfetto` writes, with the same parameters and errors, as packets."""
EXPORTER: Final = Exporter(write_perfetto_packets, "formats")
