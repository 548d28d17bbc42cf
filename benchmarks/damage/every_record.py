"""A small sound archive with each kind of record: netCDF above MPI-IO above POSIX on three threads of two processes."""

from functools import cache
from typing import Final

from records import (
    ATTRIBUTE,
    ATTRIBUTES,
    CLOCK,
    CLOCK_OFFSET,
    COMMUNICATOR,
    DIRECTORY,
    FILE,
    GROUP,
    HANDLE,
    LOCATION,
    MAPPING,
    NODE,
    NONE,
    PARADIGM,
    PROPERTY,
    REGION,
    SET,
    STATE,
    STRING,
    TIMESTAMP,
    WITHOUT_LENGTH,
    Chunk,
    Contents,
    Record,
)

START: Final = 10**6
SECOND: Final = 10**9
"""Ticks."""

LOCATIONS: Final = {0: 0, 1: 1, 2**32: 1}
"""Ids of the locations and the process of each: the second has two threads."""

HANDLES: Final = ((0, 0, NONE), (0, 1, 0), (0, 2, 1), (1, 2, NONE), (NONE, 2, NONE), (2, 2, NONE))
"""File, paradigm and parent."""

_FILLER: Final = 60
"""A type of event that nobody here looks into."""

_OTHER_DEFINITIONS: Final = (
    *((16, "ccccc"), (17, "ccc"), (19, "ccc" + "b" * 4 + "cc"), (20, "cbccbb"), (21, "cccbc"), (23, "ccb")),
    *((24, "cccc"), (25, "cc"), (28, "cccbc"), (29, "cccbc"), (30, "cccb"), (31, "cccbcc"), (32, "ccbcc"), (33, "ccc")),
    *((34, "cccc"), (35, "ccbc"), (36, "ccbbcc"), (42, "ccbc"), (43, "cccccc")),
)
"""Types of definitions that I/O does not need, with their fields; two where it says how many follow."""

_OTHER_EVENTS: Final = (
    *((10, "c"), (11, "b"), (14, "cccc"), (15, "ccccc"), (18, "cccc"), (19, "ccccc"), (23, "bcccc"), (25, "x")),
    *((26, "cc"), (27, "cc"), (31, "cbbbcc"), (32, "cc"), (33, "cc"), (34, "cc"), (35, "c"), (36, "c"), (37, "x")),
    *((38, "bccccc"), (39, "ccc"), (40, "cccb"), (41, "cccb"), (42, "cccb"), (43, "ccc"), (44, "ccb"), (45, "c")),
    *((46, "cccc"), (47, "cccc"), (48, "ccbccc"), (49, "cc"), (50, "cc"), (51, "cc"), (52, "cc"), (53, "bc")),
    *((54, "b"), (55, "c"), (56, "c"), (57, "bcc"), (58, "bcc"), (59, "ccc"), (60, "ccc"), (61, "ccc"), (62, "cc")),
    *((63, "cc"), (64, "cc"), (65, "cc"), (66, "cc"), (67, "c"), (68, "ccc"), (83, "cccc"), (84, "c"), (87, "c")),
    *((88, "c"), (16, "c"), (17, "c"), (20, "c"), (21, "c"), (24, "c"), (28, "c"), (29, "c"), (30, "c")),
)
"""The same of events."""


def _other(kind: int, layout: str, length: int | None = None) -> Record:
    """Return a record of the tables above: each field 1, and 2 where it is a number of fields behind it."""
    counts = dict.fromkeys(((20, 1), (31, 1), (31, 3), (32, 2), (83, 1)), 2)
    types = dict.fromkeys(((28, 3), (29, 3), (35, 2), (42, 2)), 11)
    known = counts | types
    values = (b"" if letter == "x" else known.get((kind, at), 1) for at, letter in enumerate(layout))
    return Record(kind, layout, tuple(values), length)


@cache
def every_record(fillers: int = 0, others: bool = False) -> Contents:
    """Return the archive.

    Parameters
    ----------
    fillers : int
        Events of 30,000 bytes among the others, so that there are several chunks.
    others : bool
        Also each kind of record that has nothing to do with I/O.
    """
    texts: list[bytes] = []

    def text(value: str) -> int:
        texts.append(value.encode())
        return len(texts) - 1

    def define(kind: int, layout: str, *values: int) -> None:
        definitions.append(Record(kind, layout, values))

    definitions: list[Record] = []
    define(CLOCK, "cccc", SECOND, START, 20 * SECOND, 1_700_000_000 * SECOND)
    for node in range(2):
        define(NODE, "cccc", node, text(f"node{node}"), text("node"), NONE if not node else 0)
    define(26, "cccbc", 0, text("rack"), text("7"), 11, 1)
    define(27, "cb", 0, 0)
    for group in range(2):
        define(GROUP, "ccbcc", group, text(f"MPI Rank {group}"), 1, group, NONE)
    for location, group in LOCATIONS.items():
        define(LOCATION, "ccbcc", location, text(f"thread {location}"), 1, 0, group)
    for region, name in enumerate(("nc_put_vara", "MPI_File_write_at_all", "write", "main")):
        names = text(name)
        define(REGION, "cccbccccbbc", region, names, names, 0, NONE, 0, 0, names, 1 if region < 3 else 2, 0, 0)
    define(SET, "ccbccccbbc", 0, text("all"), 0, 3, *LOCATIONS, 4, 4, 0)
    define(SET, "ccbccccbbc", 1, text("world"), 0, 3, 0, 1, 2, 5, 4, 0)
    define(COMMUNICATOR, "ccccc", 0, text("MPI_COMM_WORLD"), 1, NONE, 0)
    define(ATTRIBUTE, "ccbc", 0, text("Offset"), 4, text("position"))
    define(ATTRIBUTE, "ccbc", 1, text("other"), 11, text(""))
    for paradigm, (name, parallel, system) in enumerate((("netCDF", 1, 0), ("MPI-IO", 1, 0), ("POSIX", 0, 1))):
        named = (paradigm, text(name), text(f"{name} I/O"), parallel, system)
        define(PARADIGM, "bccbcbbbc", *named, 1, 0, 11, text("4.9"))
    for file in range(3):
        define(FILE, "ccc", file, text(f"/scratch/run/out{file}.nc"), 0 if file else NONE)
        define(PROPERTY, "ccbc", file, text("File system"), 11, text("lustre"))
    define(DIRECTORY, "ccc", 3, text("/scratch/run"), NONE)
    for handle, (file, paradigm, parent) in enumerate(HANDLES):
        define(HANDLE, "cccbccc", handle, text(f"handle {handle}"), file, paradigm, 0, 0, parent)
    define(STATE, "cbc", 5, 1, 0)
    if others:
        definitions += [_other(kind, layout) for kind, layout in _OTHER_DEFINITIONS]

    contents = Contents(bytearray(), [], {}, {})
    for row, location in enumerate(LOCATIONS):
        contents.local[location] = [
            Record(CLOCK_OFFSET, "wcw", (START, 5, 0)),
            Record(CLOCK_OFFSET, "wcw", (START + 20 * SECOND, 5 + 1000 * row, 0)),
            Record(MAPPING, "bcbcccccc", (13, 6, 0, *range(6))),
            Record(MAPPING, "bcbcccc", (12, 2, 1, 0, 0, 1, 1)),
            Record(MAPPING, "bcbc", (1, 1, 0, 0)),
            Record(MAPPING, "bcbccc", (3, 3, 0, 0, 1, 2)),
        ]
        contents.events[location] = _chunks(_events(row, others), fillers)
    counts = {location: chunks[-1].last for location, chunks in contents.events.items()}
    contents.definitions = [
        *(Record(STRING, "cs", (number, value)) for number, value in enumerate(texts)),
        *(one.with_value(3, counts[int(one.values[0])]) if one.kind == LOCATION else one for one in definitions),
    ]
    contents.anchor = _anchor(contents)
    return contents


def _anchor(contents: Contents) -> bytearray:
    numbers = (contents.chunk_size, contents.definition_chunk)
    counts = (len(contents.events), len(contents.definitions))
    words = [number.to_bytes(8, "little") for number in (*numbers, *counts)]
    head = b"\x03BOTF2\0\x03\x02\x03\x00\x03" + words[0] + words[1] + b"\x01\x01" + words[2] + words[3]
    identity = bytes(range(8))
    return bytearray(head + b"machine\0creator\0\0" + bytes(4) + identity + bytes(8) + b"\x02\x01\0")


def _events(row: int, others: bool) -> list[Record]:
    """Return the events of a thread: bursts of nested writes, then one of each other kind."""
    found: list[Record] = []

    def at(seconds: float) -> None:
        found.append(Record(TIMESTAMP, "w", (START + int(seconds * SECOND) + row,)))

    def event(kind: int, layout: str, *values: int | bytes) -> None:
        found.append(Record(kind, layout, values, -1 if kind in WITHOUT_LENGTH else None))

    at(0.01)
    for handle in range(5):
        event(69, "cbcc", handle, 1, 0, 0)
    for burst in range(6):
        begin = 0.5 + 3 * burst
        for depth, handle in enumerate((0, 1, 2)):
            at(begin + 0.01 * depth)
            event(12, "c", depth)
            event(ATTRIBUTES, "ccbc", 1, 0, 4, 4096 * burst)
            event(75, "cbccc", handle, 1 if burst < 5 else 0, 1 if depth == 1 else 0, 10**6, 100 * burst + depth)
        for depth, handle in enumerate((2, 1, 0)):
            at(begin + 0.5 + 0.01 * depth)
            event(78, "ccc", handle, 10**6, 100 * burst + 2 - depth)
            event(13, "c", 2 - depth)
    at(18)
    event(75, "cbccc", 3, 1, 2, 500, 900)
    event(77, "cc", 3, 900)
    at(18.1)
    event(76, "cc", 3, 900)
    event(79, "cc", 3, 900)
    event(72, "ccbc", 3, 4096, 0, 4096)
    event(73, "cc", 3, 1)
    event(71, "ccc", 3, 4, 0)
    event(80, "cb", 3, 0)
    event(81, "cb", 3, 0)
    event(82, "cb", 3, 1)
    event(22, "x", b"")
    if others:
        found += [_other(kind, layout, -1 if kind in WITHOUT_LENGTH else None) for kind, layout in _OTHER_EVENTS]
    at(19)
    event(75, "cbccc", 4, 2, 0, 0, 901)
    event(78, "ccc", 4, 0, 901)
    for handle in range(5):
        event(70, "c", handle)
    event(74, "bc", 2, 1)
    return found


def _chunks(records: list[Record], fillers: int) -> list[Chunk]:
    """Put `fillers` events of 30,000 bytes among `records`, and begin a chunk behind every eighth."""
    parts: list[list[Record]] = [[]]
    stamp = records[0]
    filled = 0
    for number, record in enumerate(records):
        parts[-1].append(record)
        stamp = record if record.kind == TIMESTAMP else stamp
        if filled < fillers and number % 4 == 3 and record.kind > ATTRIBUTES:
            parts[-1].append(Record(_FILLER, "x", (bytes(30_000),)))
            filled += 1
            if filled % 8 == 0:
                stamped = number + 1 < len(records) and records[number + 1].kind == TIMESTAMP
                parts.append([] if stamped else [stamp])
    chunks = []
    last = 0
    for part in parts:
        first, last = last + 1, last + sum(record.kind > ATTRIBUTES for record in part)
        chunks.append(Chunk(first, last, part))
    return chunks
