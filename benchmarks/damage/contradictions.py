"""Archives of sound records that contradict each other: ``contradictory_archive(number, folder)``.

`structures` breaks one record at a time; here each record is as a writer could have written it, and what breaks the
rules is what several say together: clocks that jump, calls and operations that nest in no order, chunks that end
between what belongs together, definitions behind those that need them, handles above their own parents, files that
only some locations have.
"""

import itertools
import random
import struct
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from every_record import SECOND, START, every_record
from records import (
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
    SET,
    STRING,
    TIMESTAMP,
    WITHOUT_LENGTH,
    Chunk,
    Contents,
    Record,
)
from structures import HOSTILE_TEXTS, copy_of, write_counted

_BEGIN, _END, _TEST, _ISSUED, _CANCELLED = 75, 78, 76, 77, 79
_CREATE, _DESTROY, _DUPLICATE, _SEEK, _DELETE = 69, 70, 71, 72, 74
_ENTER, _LEAVE = 12, 13
_FAR: Final = (0, 1, 2**31, 2**32, 2**40, 2**62, 2**63, NONE)
_OF_OPERATIONS: Final = (_BEGIN, _END, _TEST, _ISSUED, _CANCELLED)


def _some_location(contents: Contents, chance: random.Random) -> int:
    return chance.choice(sorted(contents.events))


def _all_records(contents: Contents, location: int) -> list[Record]:
    return [record for chunk in contents.events[location] for record in chunk.records]


def _put(contents: Contents, location: int, records: list[Record]) -> None:
    """Let a location have one chunk."""
    contents.events[location] = [Chunk(1, 0, records)]


def _event(kind: int, layout: str, *values: int) -> Record:
    return Record(kind, layout, values, -1 if kind in WITHOUT_LENGTH else None)


def _clocks(contents: Contents, chance: random.Random) -> str:
    """Several clocks, and offsets that go back, repeat a time, jump, or are many."""
    kind = chance.choice(("another clock", "another clock", "offsets", "offsets", "many offsets", "none"))
    location = chance.choice(sorted(contents.local))
    local = [record for record in contents.local[location] if record.kind != CLOCK_OFFSET]
    if kind == "another clock":
        clock = next(record for record in contents.definitions if record.kind == CLOCK)
        other = clock.with_value(0, chance.choice((1, 1000, SECOND, 3 * SECOND, 10**15)))
        other = other.with_value(1, chance.choice((0, START, START + SECOND, 2**63)))
        contents.definitions.insert(chance.choice((0, len(contents.definitions))), other)
    elif kind == "offsets":
        times = [START + chance.randrange(20 * SECOND) for _ in range(chance.choice((2, 3, 5)))]
        times += chance.choice(([], times[:1], [0], [NONE]))
        offsets = [chance.choice((0, 5, -5, 10**6, -(10**9), 10**12, 2**62, -(2**63))) % 2**64 for _ in times]
        deviation = struct.unpack("<Q", struct.pack("<d", chance.choice((0.0, 1.5, float("nan"), float("inf")))))[0]
        local += [Record(CLOCK_OFFSET, "wcw", (*pair, deviation)) for pair in zip(times, offsets, strict=True)]
        contents.local[location] = local
    elif kind == "many offsets":
        step = chance.choice((1, 10**3, 10**7))
        moved = chance.choice((1, 10**3, 10**9))
        local += [Record(CLOCK_OFFSET, "wcw", (START + row * step, row % 7 * moved, 0)) for row in range(3000)]
        contents.local[location] = local
    else:
        contents.local[location] = local
    return f"clocks: {kind}"


def _chunk_borders(contents: Contents, chance: random.Random) -> str:
    """Let chunks end between a time and its event, between attributes and theirs, within an operation."""
    location = _some_location(contents, chance)
    records = _all_records(contents, location)
    borders = {chance.randrange(len(records) + 1) for _ in range(chance.choice((1, 2, 5, 20)))}
    if chance.random() < 0.5:
        kind = chance.choice((TIMESTAMP, ATTRIBUTES, _BEGIN))
        borders |= {row + 1 for row, record in enumerate(records) if record.kind == kind and chance.random() < 0.4}
    marks = [0, *sorted(borders), len(records)]
    parts = [records[begin:end] for begin, end in itertools.pairwise(marks)]
    stamped = chance.random() < 0.5
    now: list[Record] = []
    chunks = []
    for part in parts:
        # The library wants a time at the head of each chunk; writers repeat the last one.
        chunks.append(Chunk(1, 0, [*(now if stamped and part and part[0].kind != TIMESTAMP else ()), *part]))
        now = [record for record in part if record.kind == TIMESTAMP][-1:] or now
    contents.events[location] = chunks
    return f"{len(chunks)} chunks at {location}, {'with' if stamped else 'without'} times at their heads"


def _location_again(contents: Contents, chance: random.Random) -> str:
    """A location in two processes, a process on two nodes, locations that are none of a processor's."""
    kind = chance.choice((LOCATION, GROUP, NODE, "type"))
    definitions = contents.definitions
    if kind == "type":
        for row, record in enumerate(definitions):
            if record.kind in (LOCATION, GROUP) and chance.random() < 0.6:
                definitions[row] = record.with_value(2, chance.randrange(6))
        return "locations and processes of any type"
    rows = [row for row, record in enumerate(definitions) if record.kind == kind]
    position = {LOCATION: 4, GROUP: 3, NODE: 3}[kind]
    other = definitions[chance.choice(rows)]
    value = definitions[chance.choice(rows)].values[position]
    definitions.insert(
        chance.choice((0, rows[0], len(definitions))), other.with_value(position, chance.choice((value, 0, 1, NONE)))
    )
    return f"record {kind} with id {other.values[0]} again, elsewhere"


def _attribute_lists(contents: Contents, chance: random.Random) -> str:
    """Attribute lists cut, twice in a row, before times, at the end of the file, or before what is no event of I/O."""
    location = _some_location(contents, chance)
    records = _all_records(contents, location)
    kind = chance.choice(("cut", "twice", "before a time", "at the end", "everywhere", "of all kinds"))
    rows = [row for row, record in enumerate(records) if record.kind == ATTRIBUTES]
    one = Record(ATTRIBUTES, "ccbc", (1, 0, 4, chance.choice((7, *_FAR))))
    if kind == "cut":
        for row in rows:
            left = chance.randrange(4)
            records[row] = Record(ATTRIBUTES, "ccbc"[:left], (chance.choice((1, 2)), 0, 4, 9)[:left])
    elif kind == "twice":
        for row in reversed(rows):
            records.insert(row, one)
    elif kind == "before a time":
        for row in reversed([row for row, record in enumerate(records) if record.kind == TIMESTAMP]):
            records.insert(row, one)
    elif kind == "at the end":
        records.append(one)
    elif kind == "everywhere":
        records = [part for record in records for part in ((one, record) if record.kind > ATTRIBUTES else (record,))]
    else:
        for row in rows:
            layout, values = "c", [12]
            for type_ in range(1, 13):
                layout += "cb" + {1: "b", 5: "b", 2: "h", 6: "h", 9: "f", 10: "w"}.get(type_, "c")
                values += [type_ if type_ != 4 or chance.random() < 0.5 else 0, type_, chance.choice((0, 1, 200))]
            records[row] = Record(ATTRIBUTES, layout, tuple(values))
    _put(contents, location, records)
    return f"attributes at {location}: {kind}"


def _order_of_definitions(contents: Contents, chance: random.Random) -> str:
    """Definitions behind those that need them, in any order, or once more with another content."""
    definitions = contents.definitions
    kind = chance.choice(("reversed", "shuffled", "texts last", "handles first", "once more", "texts without users"))
    if kind == "reversed":
        definitions.reverse()
    elif kind == "shuffled":
        chance.shuffle(definitions)
    elif kind == "texts last":
        definitions.sort(key=lambda record: record.kind == STRING)
    elif kind == "handles first":
        definitions.sort(key=lambda record: -record.kind)
    elif kind == "once more":
        of = chance.choice((STRING, FILE, HANDLE, PARADIGM, LOCATION, GROUP, NODE))
        rows = [record for record in definitions if record.kind == of]
        moved = rows[1:] + rows[:1]
        definitions += [
            replace(other, values=(one.values[0], *other.values[1:])) for one, other in zip(rows, moved, strict=True)
        ]
    else:
        for row, record in enumerate(definitions):
            if record.kind == STRING and chance.random() < 0.3:
                definitions[row] = record.with_value(0, 10**6 + int(record.values[0]))
    return f"definitions {kind}"


def _tangled_handles(contents: Contents, chance: random.Random) -> str:
    """Parents of a lower layer, circles across layers, layers of one name, of no table or of the other kind."""
    definitions = contents.definitions
    handles = [row for row, record in enumerate(definitions) if record.kind == HANDLE]
    kind = chance.choice(("upside down", "circle", "any parents", "same names", "same layer", "kinds", "no layer"))
    if kind == "upside down":
        for row in handles:
            definitions[row] = definitions[row].with_value(3, 2 - int(definitions[row].values[3]))
    elif kind == "circle":
        chance.shuffle(handles)
        size = chance.choice((2, 3, len(handles)))
        for row, above in zip(handles[:size], (handles[1:size] + handles[:1]), strict=True):
            definitions[row] = definitions[row].with_value(6, int(definitions[above].values[0]))
    elif kind == "any parents":
        for row in handles:
            parent = chance.choice((*range(len(handles)), NONE))
            definitions[row] = definitions[row].with_value(6, parent).with_value(3, chance.randrange(3))
    elif kind == "same layer":
        layer = chance.randrange(3)
        for row in handles:
            definitions[row] = definitions[row].with_value(3, layer)
    elif kind == "no layer":
        row = chance.choice(handles)
        definitions[row] = definitions[row].with_value(3, chance.choice((3, 127, 254, 255)))
    else:
        layers = [row for row, record in enumerate(definitions) if record.kind == PARADIGM]
        name = definitions[chance.choice(layers)].values[1]
        for row in layers:
            if kind == "same names":
                definitions[row] = definitions[row].with_value(1, name)
            else:
                definitions[row] = (
                    definitions[row].with_value(3, chance.randrange(3)).with_value(4, chance.randrange(4))
                )
    return f"handles {kind}"


def _many_properties(contents: Contents, chance: random.Random) -> str:
    """Layers and files with long lists of properties, of one name, of any type, of values that nothing defines."""
    definitions = contents.definitions
    if chance.random() < 0.5:
        row = chance.choice([row for row, record in enumerate(definitions) if record.kind == PARADIGM])
        count = chance.choice((0, 2, 200, 255))
        claimed = chance.choice((count, count, max(0, count - 1), min(255, count + 1)))
        types = [chance.choice((11, 11, 1, 4, 10)) for _ in range(count)]
        values = [chance.choice((0, 1, 2, NONE)) for _ in range(count)]
        definitions[row] = Record(
            PARADIGM,
            "bccbcb" + "b" * 2 * count + "c" * count,
            (*definitions[row].values[:5], claimed, *(row % 6 for row in range(count)), *types, *values),
        )
        return f"layer with {count} properties, says {claimed}"
    texts = max(int(record.values[0]) for record in definitions if record.kind == STRING)
    for _ in range(chance.choice((1, 20, 3000))):
        file = chance.choice((0, 1, 2, 3, 4, NONE))
        type_ = chance.choice((11, 11, 4, 200))
        value = chance.choice((chance.randrange(texts), NONE, 2**31))
        definitions.append(Record(PROPERTY, "ccbc", (file, chance.randrange(texts), type_, value)))
    return "files with many properties"


def _communicators(contents: Contents, chance: random.Random) -> str:
    """Communicators below each other, below themselves, of groups of any type or of members that are none."""
    definitions = contents.definitions
    first = 10
    for row in range(chance.choice((1, 5, 300))):
        members = [chance.choice((0, 1, 2, 2**32, NONE, 77)) for _ in range(chance.choice((0, 1, 3, 100)))]
        claimed = len(members) if chance.random() < 0.8 else chance.choice((0, len(members) + 1, 2**32))
        type_ = chance.choice((0, 1, 4, 5, 6, 9))
        values = (first + row, 0, chance.choice((0, 4, type_)), claimed, *members, type_, chance.choice((4, 5)), 0)
        definitions.append(Record(SET, "ccbc" + "c" * len(members) + "bbc", values))
        parent = chance.choice((first + row, first + row + 1, max(first, first + row - 1), 0, NONE))
        definitions.append(Record(COMMUNICATOR, "ccccc", (first + row, 0, first + row, parent, chance.randrange(2))))
    for row, record in enumerate(definitions):
        if record.kind == HANDLE:
            definitions[row] = record.with_value(5, chance.choice((first, first + 1, 0, 99, NONE)))
    return "communicators below each other"


def _files_of_some(contents: Contents, chance: random.Random) -> str:
    """Definitions or events of one location cut, empty, missing, or of a location that nothing defines."""
    location = _some_location(contents, chance)
    kind = chance.choice(("no definitions", "cut definitions", "no events", "unknown", "other's", "no end", "empty"))
    if kind == "no definitions":
        contents.local.pop(location, None)
    elif kind == "cut definitions":
        contents.local[location] = contents.local[location][: chance.randrange(len(contents.local[location]))]
        contents.tails[f"{location}.def"] = chance.choice((b"", b"\x02", b"\x02\x01", b"\x06", b"\x05\x40"))
    elif kind == "no events":
        contents.events[location] = [Chunk(0, 0, [])]
    elif kind == "empty":
        contents.events[location] = []
    elif kind == "unknown":
        contents.events[12345] = contents.events[location]
        contents.local[12345] = contents.local[location]
    elif kind == "other's":
        other = _some_location(contents, chance)
        contents.events[location] = contents.events[other]
    else:
        contents.tails[f"{location}.evt"] = chance.choice((b"", b"\x02", b"\x00", b"\x05\x00\x00"))
    return f"files of {location}: {kind}"


def _anchor_properties(contents: Contents, chance: random.Random) -> str:
    """An anchor with properties and texts that lie about what is in the archive."""
    names = (b"OTF2::MPI_COMMUNICATION_COMPLETE", b"OTF2::PTHREAD_LOCATION_REUSED", b"", b"X", *HOSTILE_TEXTS)
    properties = [(chance.choice(names), chance.choice((b"true", b"false", b"", b"x" * 5000))) for _ in range(6)]
    texts = [chance.choice((b"", b"Score-P 8.4", *HOSTILE_TEXTS)).replace(b"\0", b"") for _ in range(3)]
    claimed = chance.choice((6, 6, 6, 0, 5, 7, 2**31, 2**32 - 1))
    identity = bytes(contents.anchor[-19:])
    content = bytes(contents.anchor[:46]) + b"".join(text + b"\0" for text in texts)
    content += claimed.to_bytes(4, "little") + b"".join(name + b"\0" + value + b"\0" for name, value in properties)
    contents.anchor[:] = content + identity
    return f"anchor with 6 properties, says {claimed}"


def _operations(contents: Contents, chance: random.Random) -> str:
    """Operations that begin or end twice, end before they begin, elsewhere or by another handle."""
    location = _some_location(contents, chance)
    records = _all_records(contents, location)
    kind = chance.choice(
        ("shuffled", "same ids", "elsewhere", "other handles", "ends twice", "begins twice", "gone before", "in flight")
    )
    rows = [row for row, record in enumerate(records) if record.kind in _OF_OPERATIONS]
    if kind == "shuffled":
        # Attributes that stood before an event that has gone stand before another then.
        shuffled = [records[row] for row in rows]
        chance.shuffle(shuffled)
        for row, record in zip(rows, shuffled, strict=True):
            records[row] = record
    elif kind == "same ids":
        for row in rows:
            records[row] = records[row].with_value(len(records[row].values) - 1, chance.choice((7, 7, 8, NONE)))
    elif kind == "elsewhere":
        other = _some_location(contents, chance)
        ends = [records[row] for row in rows if records[row].kind == _END]
        records = [record for record in records if record.kind != _END]
        moved = _all_records(contents, other) if other != location else records
        _put(contents, other, [*moved, *ends])
        if other == location:
            return f"operations of {location} end at its end"
    elif kind == "other handles":
        for row in rows:
            if chance.random() < 0.4:
                records[row] = records[row].with_value(0, chance.choice((0, 1, 2, 3, 4, 5, 99)))
    elif kind in ("ends twice", "begins twice"):
        again = _END if kind == "ends twice" else _BEGIN
        records = [one for record in records for one in [record] * (1 + (record.kind == again))]
    elif kind == "gone before":
        gone = [_event(_DESTROY, "c", handle) for handle in range(5)]
        copies = [_event(_DUPLICATE, "ccc", handle, chance.randrange(6), 0) for handle in range(5)]
        begin = [record for record in records[:1] if record.kind == TIMESTAMP]
        records = [*begin, *gone, *copies, *gone, *records]
    else:
        now = [record for record in records if record.kind == TIMESTAMP][-1:]
        count = chance.choice((10, 2000))
        records += [*now, *(_event(_BEGIN, "cbccc", row % 5, row % 3, 2, 2**40, 5000 + row) for row in range(count))]
    _put(contents, location, records)
    return f"operations of {location}: {kind}"


def _calls(contents: Contents, chance: random.Random) -> str:
    """Calls that end before they begin, in another order, never, or are thousands deep."""
    location = _some_location(contents, chance)
    records = _all_records(contents, location)
    kind = chance.choice(("swapped", "deep", "only begin", "only end", "other regions", "deep and open"))
    if kind == "swapped":
        swapped = {_ENTER: _LEAVE, _LEAVE: _ENTER}
        records = [replace(record, kind=swapped.get(record.kind, record.kind)) for record in records]
    elif kind.startswith("deep"):
        depth = chance.choice((100, 5000))
        inner = [_event(_ENTER, "c", row % 4) for row in range(depth)]
        outer = [_event(_LEAVE, "c", row % 4) for row in reversed(range(depth))]
        records = [*records[:1], *inner, *records[1:], *(outer if kind == "deep" else ())]
    elif kind.startswith("only"):
        away = _LEAVE if kind == "only begin" else _ENTER
        records = [record for record in records if record.kind != away]
    else:
        for row, record in enumerate(records):
            if record.kind in (_ENTER, _LEAVE):
                records[row] = record.with_value(0, chance.choice((0, 1, 2, 3, 4, 99, NONE)))
    _put(contents, location, records)
    return f"calls of {location}: {kind}"


def _id_maps(contents: Contents, chance: random.Random) -> str:
    """Maps twice, of other things, onto one, beyond what is defined, or with an entry twice."""
    location = chance.choice(sorted(contents.local))
    kind = chance.choice(("twice", "onto one", "beyond", "entries twice", "of all things", "reversed"))
    local = [record for record in contents.local[location] if record.kind != MAPPING]
    if kind == "entries twice":
        pairs = [value for row in range(6) for value in (row % 3, chance.choice((row, 99)))]
        local.append(Record(MAPPING, "bcb" + "c" * 12, (13, 6, 1, *pairs)))
    elif kind == "of all things":
        local += [Record(MAPPING, "bcbccc", (thing, 3, 0, 2, 1, 0)) for thing in (*range(16), 255)]
    else:
        targets = {
            "onto one": (3,) * 6,
            "beyond": (0, 1, 2, 3, 4, chance.choice((6, 99, 2**32, NONE))),
            "reversed": (5, 4, 3, 2, 1, 0),
        }.get(kind, (5, 4, 3, 2, 1, 0))
        local.append(Record(MAPPING, "bcb" + "c" * 6, (13, 6, 0, *targets)))
        if kind == "twice":
            local.append(Record(MAPPING, "bcb" + "c" * 6, (13, 6, 0, *range(6))))
    contents.local[location] = local
    return f"id maps of {location}: {kind}"


def _all_at_once(contents: Contents, chance: random.Random) -> str:
    """Times that all processes share, and operations that take none or overlap the whole run."""
    kind = chance.choice(("one time", "steps of one", "one operation over all"))
    for location in contents.events:
        records = _all_records(contents, location)
        stamps = [row for row, record in enumerate(records) if record.kind == TIMESTAMP and record.values]
        for number, row in enumerate(stamps):
            time = {"one time": START, "steps of one": START + number}.get(kind, int(records[row].values[0]))
            records[row] = records[row].with_value(0, time)
        if kind == "one operation over all" and stamps:
            first = stamps[0] + 1
            last = max(first, len(records) - 1)
            records.insert(last, _event(_END, "ccc", 2, 2**47, 4242))
            records.insert(first, _event(_BEGIN, "cbccc", 2, chance.randrange(3), 0, 2**47, 4242))
        _put(contents, location, records)
    return f"times: {kind}"


def _files_that_are_one(contents: Contents, chance: random.Random) -> str:
    """Files of one name, files that are folders too, below themselves, or of a name that rules are about."""
    definitions = contents.definitions
    kind = chance.choice(("one name", "folders too", "scopes", "set aside"))
    files = [row for row, record in enumerate(definitions) if record.kind == FILE]
    if kind == "one name":
        name = definitions[files[0]].values[1]
        for row in files:
            definitions[row] = definitions[row].with_value(1, name)
    elif kind == "folders too":
        definitions += [replace(definitions[row], kind=DIRECTORY) for row in files]
    elif kind == "scopes":
        for row in files:
            definitions[row] = definitions[row].with_value(2, chance.choice((0, 1, 2, 7, NONE)))
    else:
        names = {definitions[row].values[1] for row in files}
        for row, record in enumerate(definitions):
            if record.kind == STRING and record.values[0] in names:
                where = chance.choice((b"/proc/self/mem", b"/dev/null", b"/tmp/ompi.x/y", b"relative", b"//", b"."))
                definitions[row] = record.with_value(1, where)
    return f"files: {kind}"


CONTRADICTIONS: Final[tuple[Callable[[Contents, random.Random], str], ...]] = (
    _clocks,
    _chunk_borders,
    _location_again,
    _attribute_lists,
    _order_of_definitions,
    _tangled_handles,
    _many_properties,
    _communicators,
    _files_of_some,
    _anchor_properties,
    _operations,
    _calls,
    _id_maps,
    _all_at_once,
    _files_that_are_one,
)


def contradictory_archive(number: int, folder: Path) -> str:
    """Make the archive of `number` in `folder`, in place of what is there; say what was done."""
    chance = random.Random(f"contradictions {number}")
    base = every_record()
    contents = copy_of(base)
    # Each kind comes as often as another, alone or with others.
    changes = [CONTRADICTIONS[number % len(CONTRADICTIONS)]]
    changes += chance.choices(CONTRADICTIONS, k=chance.choice((0, 0, 0, 1, 2)))
    done = [change(contents, chance) for change in changes]
    write_counted(contents, folder)
    return "; ".join(done)
