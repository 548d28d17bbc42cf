"""OTF2 archives as lists of records with their fields: read, changed as anyone likes, and written again.

Nothing here checks anything: what is written may lie about lengths and counts, name what does not exist, and hold
numbers wider than their type. Layouts were found by taking apart files that libotf2 3.x wrote; `decode` followed by
`encode` gives each of them back byte by byte.
"""

from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

NONE: Final = 2**64 - 1
"""Written as one byte, whatever the width of the field."""
END_OF_BUFFER: Final = b"\x02\x01"
HEADER: Final = 18
TIMESTAMP: Final = 5
ATTRIBUTES: Final = 6
WITHOUT_LENGTH: Final = frozenset((12, 13, 16, 17, 20, 21, 24, 28, 29, 30))

CLOCK, STRING, ATTRIBUTE, NODE, GROUP, LOCATION, REGION, SET, COMMUNICATOR = 5, 10, 11, 12, 13, 14, 15, 18, 22
PARADIGM, PROPERTY, FILE, DIRECTORY, HANDLE, STATE = 8, 37, 38, 39, 40, 41
MAPPING, CLOCK_OFFSET = 5, 6

GLOBAL_LAYOUTS: Final = {
    CLOCK: "cccc",
    6: "bcb",
    7: "bbbc",
    PARADIGM: "bccbcp",
    STRING: "cs",
    ATTRIBUTE: "ccbc",
    NODE: "cccc",
    GROUP: "ccbcc",
    LOCATION: "ccbcc",
    REGION: "cccbccccbbc",
    SET: "ccbmbbc",
    COMMUNICATOR: "ccccc",
    26: "cccbc",
    27: "cb",
    PROPERTY: "ccbc",
    FILE: "ccc",
    DIRECTORY: "ccc",
    HANDLE: "cccbccc",
    STATE: "cbc",
}
"""c a compressed integer, b a byte, w eight bytes, s a text ended by a zero byte, x bytes as they are; and with their
count before them: m integers, p properties (a byte each for name and type, an integer for each value)."""

LOCAL_LAYOUTS: Final = {MAPPING: "bi", CLOCK_OFFSET: "wcw"}
"""i an id map: count, whether it is sparse, then one or two integers an entry."""

EVENT_LAYOUTS: Final = {
    ATTRIBUTES: "a",
    69: "cbcc",
    70: "c",
    71: "ccc",
    72: "ccbc",
    73: "cc",
    74: "bc",
    75: "cbccc",
    76: "cc",
    77: "cc",
    78: "ccc",
    79: "cc",
    80: "cb",
    81: "cb",
    82: "cb",
    **dict.fromkeys(WITHOUT_LENGTH, "c"),
    TIMESTAMP: "w",
}
"""a attributes: count, then id, type and value of each."""

_DEFINITION_HEADER: Final = b"\x03\x42" + (1).to_bytes(8, "little") + bytes(8)
_VALUE_OF_TYPE: Final = {1: "b", 5: "b", 2: "h", 6: "h", 9: "f", 10: "w"}
_WIDTHS: Final = {"b": 1, "h": 2, "f": 4, "w": 8}


@dataclass(frozen=True)
class Record:
    """A record: its type, one letter for each field, and the fields.

    `length` is written instead of the true one where it is not None; `raw` replaces an integer's usual bytes, by its
    position.
    """

    kind: int
    layout: str
    values: tuple[int | bytes, ...]
    length: int | None = None
    raw: dict[int, bytes] = field(default_factory=dict)

    def with_value(self, position: int, value: int | bytes) -> "Record":
        """Return the record with another value in a field."""
        return replace(self, values=(*self.values[:position], value, *self.values[position + 1 :]))


@dataclass(frozen=True)
class Chunk:
    """A chunk of an event file; `first` and `last` are the numbers of events that its header claims."""

    first: int
    last: int
    records: list[Record]


@dataclass
class Contents:
    """An archive: its anchor as bytes, definitions, and those and the events of each location by its id."""

    anchor: bytearray
    definitions: list[Record]
    local: dict[int, list[Record]]
    events: dict[int, list[Chunk]]
    chunk_size: int = 2**18
    definition_chunk: int = 2**22
    tails: dict[str, bytes] = field(default_factory=dict)


def integer(value: int) -> bytes:
    """Return a compressed integer."""
    if value == 0 or value == NONE:
        return b"\0" if not value else b"\xff"
    size = (value.bit_length() + 7) // 8
    return bytes([size % 256]) + value.to_bytes(size, "little")


def encode_record(record: Record) -> bytes:
    """Return the bytes of a record."""
    parts = []
    for position, (letter, value) in enumerate(zip(record.layout, record.values, strict=True)):
        if position in record.raw:
            parts.append(record.raw[position])
        elif isinstance(value, bytes):
            parts.append(value + b"\0" if letter == "s" else value)
        elif letter == "c":
            parts.append(integer(value))
        else:
            width = _WIDTHS[letter]
            parts.append((value % 256**width).to_bytes(width, "little"))
    payload = b"".join(parts)
    if (record.kind == TIMESTAMP and record.layout == "w") or (record.kind in WITHOUT_LENGTH and record.length == -1):
        return bytes([record.kind]) + payload
    length = len(payload) if record.length in (None, -1) else record.length
    size = bytes([length]) if length < 255 else b"\xff" + length.to_bytes(8, "little")
    return bytes([record.kind]) + size + payload


def encode_definitions(records: list[Record], chunk: int, tail: bytes = END_OF_BUFFER) -> bytes:
    """Return a file of definitions."""
    done, current = [], bytearray(_DEFINITION_HEADER)
    for record in records:
        content = encode_record(record)
        if len(current) + len(content) + len(tail) > chunk:
            done.append(bytes(current).ljust(chunk, b"\0"))
            current = bytearray(_DEFINITION_HEADER)
        current += content
    return b"".join([*done, bytes(current), tail])


def encode_events(chunks: list[Chunk], size: int, tail: bytes = END_OF_BUFFER) -> bytes:
    """Return an event file."""
    parts = []
    for chunk in chunks:
        content = b"".join(
            [
                b"\x03\x42",
                (chunk.first % 2**64).to_bytes(8, "little"),
                (chunk.last % 2**64).to_bytes(8, "little"),
                *map(encode_record, chunk.records),
            ]
        )
        parts.append(content + tail if chunk is chunks[-1] else content.ljust(size, b"\0"))
    return b"".join(parts)


def write(contents: Contents, folder: Path) -> None:
    """Write an archive to a new folder."""
    base = folder / "traces"
    base.mkdir(parents=True)
    (folder / "traces.otf2").write_bytes(contents.anchor)
    tail = contents.tails.get("definitions", END_OF_BUFFER)
    (folder / "traces.def").write_bytes(encode_definitions(contents.definitions, contents.definition_chunk, tail))
    for location, records in contents.local.items():
        tail = contents.tails.get(f"{location}.def", END_OF_BUFFER)
        (base / f"{location}.def").write_bytes(encode_definitions(records, contents.definition_chunk, tail))
    for location, chunks in contents.events.items():
        tail = contents.tails.get(f"{location}.evt", END_OF_BUFFER)
        (base / f"{location}.evt").write_bytes(encode_events(chunks, contents.chunk_size, tail))


class _Fields:
    """Takes fields from the front of a record."""

    def __init__(self, payload: bytes) -> None:
        self._payload = payload
        self._at = 0
        self.layout = ""
        self.values: list[int | bytes] = []

    def take(self, letter: str) -> int:
        payload, at = self._payload, self._at
        value: int | bytes
        if letter == "s":
            end = payload.index(0, at)
            value, at = payload[at:end], end + 1
        elif letter == "c":
            size = payload[at]
            at += 1
            value = NONE if size == 255 else int.from_bytes(payload[at : at + size], "little")
            at += size if size != 255 else 0
        else:
            width = _WIDTHS[letter]
            value, at = int.from_bytes(payload[at : at + width], "little"), at + width
        self._at = at
        self.layout += letter
        self.values.append(value)
        return value if isinstance(value, int) else 0

    def take_all(self, layout: str) -> None:
        for letter in layout:
            if letter == "m":
                self.take_all("c" * self.take("c"))
            elif letter == "p":
                count = self.take("b")
                self.take_all("b" * 2 * count + "c" * count)
            elif letter == "i":
                count = self.take("c")
                self.take_all("c" * count * (2 if self.take("b") else 1))
            elif letter == "a":
                for _ in range(self.take("c")):
                    self.take("c")
                    self.take(_VALUE_OF_TYPE.get(self.take("b"), "c"))
            else:
                self.take(letter)

    @property
    def whole(self) -> bool:
        return self._at == len(self._payload)


def _record(kind: int, payload: bytes, layouts: dict[int, str]) -> Record:
    fields = _Fields(payload)
    if kind in layouts:
        try:
            fields.take_all(layouts[kind])
        except (IndexError, ValueError):
            return Record(kind, "x", (payload,))
        if fields.whole:
            return Record(kind, fields.layout, tuple(fields.values))
    return Record(kind, "x", (payload,))


def _records(data: bytes, at: int, layouts: dict[int, str], events: bool) -> list[Record]:
    found = []
    while data[at] > 2:
        kind = data[at]
        if events and kind == TIMESTAMP:
            found.append(Record(kind, "w", (int.from_bytes(data[at + 1 : at + 9], "little"),)))
            at += 9
        elif events and kind in WITHOUT_LENGTH:
            size = data[at + 1] if data[at + 1] != 255 else 0
            value = NONE if data[at + 1] == 255 else int.from_bytes(data[at + 2 : at + 2 + size], "little")
            found.append(Record(kind, "c", (value,), -1))
            at += 2 + size
        else:
            size, begin = data[at + 1], at + 2
            if size == 255:
                size, begin = int.from_bytes(data[begin : begin + 8], "little"), begin + 8
            found.append(_record(kind, data[begin : begin + size], layouts))
            at = begin + size
    return found


def decode(folder: Path) -> Contents:
    """Read a sound archive of the usual kind: little-endian, not compressed, anchor *traces.otf2*."""
    anchor = (folder / "traces.otf2").read_bytes()
    event_chunk, definition_chunk = (int.from_bytes(anchor[at : at + 8], "little") for at in (12, 20))

    def definitions(path: Path, layouts: dict[int, str]) -> list[Record]:
        data = path.read_bytes()
        starts = range(HEADER, len(data), definition_chunk)
        return [record for start in starts for record in _records(data, start, layouts, events=False)]

    def chunks(path: Path) -> list[Chunk]:
        data = path.read_bytes()
        return [
            Chunk(
                int.from_bytes(data[start + 2 : start + 10], "little"),
                int.from_bytes(data[start + 10 : start + 18], "little"),
                _records(data[start : start + event_chunk], HEADER, EVENT_LAYOUTS, events=True),
            )
            for start in range(0, len(data), event_chunk)
        ]

    files = sorted((folder / "traces").iterdir(), key=lambda path: int(path.stem))
    return Contents(
        bytearray(anchor),
        definitions(folder / "traces.def", GLOBAL_LAYOUTS),
        {int(path.stem): definitions(path, LOCAL_LAYOUTS) for path in files if path.suffix == ".def"},
        {int(path.stem): chunks(path) for path in files if path.suffix == ".evt"},
        event_chunk,
        definition_chunk,
    )
