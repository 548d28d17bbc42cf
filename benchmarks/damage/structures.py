"""Archives that break the rules of OTF2 knowingly: ``malformed_archive(number, folder)`` makes the one of a number.

A small archive that has each kind of record, or a recorded one, gets one to four changes: fields at their extremes,
ids that dangle, collide or go in circles, records twice, elsewhere, of another type or with a wrong length, counts that
lie, times that run back or far away, names made to break whatever shows them, and files that belong to others.
"""

import random
import shutil
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Final

from every_record import SECOND, every_record
from records import (
    ATTRIBUTES,
    CLOCK,
    COMMUNICATOR,
    HANDLE,
    LOCATION,
    NODE,
    NONE,
    TIMESTAMP,
    Chunk,
    Contents,
    Record,
    decode,
    integer,
    write,
)

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
RECORDED: Final = ("serial1", "threads2", "nonblocking4", "ckpt4_linktime")
_RECORDED_SHARE: Final = 0.15
_SEVERAL_CHUNKS: Final = 0.05
_OTHERS_SHARE: Final = 0.15
_LONG: Final = 10_000_000
"""Bytes."""

HOSTILE_TEXTS: Final = (
    b"",
    b"\x1b]0;owned\x07\x1b[2J\x1b[31mred",
    bytes(range(1, 32)) + b"\x7f",
    "\x80\x85\x9b31m\x9d0;x\x9c".encode(),
    "\u202ereversed\u202c \u2028\u2029\ufeff\u200b\u0007".encode(),
    b"\xff\xfe\xc3(\xed\xa0\x80\xf8",
    b"</script><script>alert(1)</script><img src=x onerror=alert(1)>",
    b"=cmd|' /C calc'!A0",
    b"[bold red]markup[/] [/nothing] [link=http://x]y[/link]",
    b'a/b\\c:d*e?f"g<h>i|j',
    b"../../../../etc/passwd",
    b"/scratch/" + b"long" * 3000,
    ("\u0301" * 500 + "é").encode(),
    "😀👨‍👩‍👧‍👦漢字".encode(),
    b"%s%n{0}{x!r}${HOME}`id`",
    b"a\nb\r\nc\td",
    b"POSIX",
    b"MPI-IO",
)
_NUMBERS: Final = (
    *(0, 1, 2, 3, 4, 5, 7, 127, 128, 254, 255, 256, 2**16 - 1, 2**16, 2**24, 2**31 - 1, 2**31, 2**32 - 2, 2**32 - 1),
    *(2**32, 2**32 + 1, 2**40, 2**48, 2**48 + 1, 2**53 + 1, 2**60, 2**61, 2**62, 2**63 - 1, 2**63, 2**63 + 1),
    *(2**64 - 3600 * SECOND, 2**64 - 2, NONE),
)
_LENGTHS: Final = (0, 1, 2, 254, 255, 256, 2**16, 2**31, 2**32, 2**63 - 1, 2**63, 2**64 - 1)

_KEPT: Final = (b"netCDF", b"MPI-IO", b"POSIX", b"Offset")
"""Names without which all else goes unseen."""


def _pick(records: list[Record], chance: random.Random) -> int:
    """Return a row; each type of record is as likely as another, however many there are of it."""
    kind = chance.choice(sorted({record.kind for record in records}))
    return chance.choice([row for row, record in enumerate(records) if record.kind == kind])


def _value(record: Record, position: int, records: list[Record], chance: random.Random) -> int | bytes:
    """Return what to put into a field: an extreme, its own id, a neighbour's value, or one beside the true one."""
    letter, old = record.layout[position], record.values[position]
    if isinstance(old, bytes):
        if letter == "s":
            return chance.choice(HOSTILE_TEXTS)
        return chance.choice((b"", old[:-1], old + b"\0", chance.randbytes(len(old) + 1), b"\xff" * 9))
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(_NUMBERS)
    if kind < 0.7 and isinstance(record.values[0], int):
        return record.values[0]
    if kind < 0.85:
        other = chance.choice(records)
        if len(other.values) > position and isinstance(other.values[position], int):
            return other.values[position]
    return max(0, old + chance.choice((-2, -1, 1, 2, 1000, 10**9)))


_Change = Callable[[Contents, random.Random], str]


def _field(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    record = records[row]
    if not record.values:
        return f"nothing of record {record.kind}"
    position = chance.randrange(len(record.values))
    value = _value(record, position, records, chance)
    records[row] = record.with_value(position, value)
    return f"field {position} of record {record.kind} at {row} is {value!r:.40}"


def _column(records: list[Record], chance: random.Random) -> str:
    """Give all records of a type the same value in a field."""
    record = records[_pick(records, chance)]
    if not record.values:
        return f"nothing of records {record.kind}"
    position = chance.randrange(len(record.values))
    value = _value(record, position, records, chance)
    for row, one in enumerate(records):
        if one.kind == record.kind and len(one.layout) > position and one.layout[position] == record.layout[position]:
            records[row] = one.with_value(position, value)
    return f"field {position} of all records {record.kind} is {value!r:.40}"


def _raw_integer(records: list[Record], chance: random.Random) -> str:
    """Write an integer as no writer does: with bytes too many, or of an impossible size."""
    row = _pick(records, chance)
    record = records[row]
    places = [place for place, letter in enumerate(record.layout) if letter == "c"]
    if not places:
        return f"nothing of record {record.kind}"
    position = chance.choice(places)
    value = int(record.values[position]) % 2**64  # type: ignore[arg-type]
    raw = chance.choice(
        (
            b"\x08" + value.to_bytes(8, "little"),
            b"\x04" + (value % 2**32).to_bytes(4, "little"),
            b"\x04\xff\xff\xff\xff",
            b"\x09" + value.to_bytes(9, "little"),
            b"\xfe" + integer(value),
            b"\x01",
            b"",
        )
    )
    records[row] = replace(record, raw={position: raw})
    return f"field {position} of record {record.kind} at {row} is written {raw.hex()}"


def _length(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    records[row] = replace(records[row], length=chance.choice(_LENGTHS))
    return f"length of record {records[row].kind} at {row} is {records[row].length}"


def _kind(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    kind = chance.choice((*range(3, 48), *range(60, 93), 127, 128, 200, 255))
    old = records[row].kind
    records[row] = replace(records[row], kind=kind)
    return f"record {old} at {row} is of type {kind}"


def _repeat(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    times = chance.choice((1, 1, 1, 2, 10, 1000))
    records[row:row] = [records[row]] * times
    return f"record {records[row].kind} at {row} is there {times} times more"


def _drop(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    gone = records[row]
    if chance.random() < 0.3:
        records[:] = [record for record in records if record.kind != gone.kind]
        return f"records {gone.kind} are missing"
    del records[row]
    return f"record {gone.kind} at {row} is missing"


def _move(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    record = records.pop(row)
    place = chance.choice((0, len(records), chance.randrange(len(records) + 1)))
    records.insert(place, record)
    return f"record {record.kind} at {row} stands at {place}"


def _fields_more_or_fewer(records: list[Record], chance: random.Random) -> str:
    row = _pick(records, chance)
    record = records[row]
    more = chance.choice((-2, -1, 1, 3))
    if more < 0:
        left = max(0, len(record.values) + more)
        records[row] = replace(record, layout=record.layout[:left], values=record.values[:left])
    else:
        added = tuple(chance.choice(_NUMBERS) for _ in range(more))
        records[row] = replace(record, layout=record.layout + "c" * more, values=record.values + added)
    return f"record {record.kind} at {row} has {more:+} fields"


def _long_text(records: list[Record], chance: random.Random) -> str:
    texts = [row for row, record in enumerate(records) if record.layout == "cs"]
    if not texts:
        return "nothing of texts"
    size = chance.choice((300, 300, 70_000, 70_000, 70_000, _LONG))
    row = chance.choice(texts)
    part = chance.choice((b"x", b"/", b"\xc3\xa4", b"\x1b[1m", b" ", b"\xff"))
    records[row] = records[row].with_value(1, part * (size // len(part)))
    return f"text at {row} has about {size} bytes"


def _hostile_texts(records: list[Record], chance: random.Random) -> str:
    same = chance.choice(HOSTILE_TEXTS) if chance.random() < 0.3 else None
    for row, record in enumerate(records):
        if record.layout == "cs" and chance.random() < 0.5 and record.values[1] not in _KEPT:
            records[row] = record.with_value(1, chance.choice(HOSTILE_TEXTS) if same is None else same)
    return "texts are hostile"


def _any_characters(records: list[Record], chance: random.Random) -> str:
    """Put characters of any kind into the texts, most of them such as control something."""
    kinds = ((0, 32), (127, 160), (0x300, 0x370), (0x2000, 0x2070), (0xFE00, 0xFE10), (0xFFF0, 0x10000))
    kinds += ((0xD800, 0xE000), (0xE000, 0xE010), (0xE0000, 0xE0080), (0x10FFF0, 0x110000), (32, 127))
    for row, record in enumerate(records):
        if record.layout == "cs" and chance.random() < 0.7 and record.values[1] not in _KEPT:
            text = bytes(record.values[1]).decode("utf-8", "replace")
            for _ in range(chance.choice((1, 1, 2, 8))):
                at = chance.randrange(len(text) + 1)
                text = text[:at] + chr(chance.randrange(*chance.choice(kinds))) + text[at:]
            records[row] = record.with_value(1, text.encode("utf-8", "surrogatepass").replace(b"\0", b"\1"))
    return "texts have any characters"


def _circle(records: list[Record], chance: random.Random) -> str:
    """Let the records of a type that have parents go round in a circle, or hang in one long chain."""
    kind = chance.choice((NODE, HANDLE, COMMUNICATOR))
    rows = [row for row, record in enumerate(records) if record.kind == kind and "x" not in record.layout]
    position = {NODE: 3, HANDLE: 6, COMMUNICATOR: 3}[kind]
    chance.shuffle(rows)
    for row, above in zip(rows, rows[1:] + rows[:1], strict=True):
        if len(records[row].values) > position and records[above].values:
            records[row] = records[row].with_value(position, records[above].values[0])
    return f"parents of records {kind} go round"


_RECORD_CHANGES: Final = (
    *(_field,) * 6,
    *(_column,) * 2,
    _raw_integer,
    _length,
    _kind,
    _repeat,
    _drop,
    _move,
    _fields_more_or_fewer,
)
_DEFINITION_CHANGES: Final = (*_RECORD_CHANGES, _hostile_texts, _any_characters, _long_text, _circle)


def _change_definitions(contents: Contents, chance: random.Random) -> str:
    return "definitions: " + chance.choice(_DEFINITION_CHANGES)(contents.definitions, chance)


def _change_local(contents: Contents, chance: random.Random) -> str:
    location = chance.choice(sorted(contents.local))
    if not contents.local[location]:
        return "nothing of local definitions"
    return f"definitions of {location}: " + chance.choice(_RECORD_CHANGES)(contents.local[location], chance)


def _change_events(contents: Contents, chance: random.Random) -> str:
    location, chunk = _some_chunk(contents, chance)
    return f"events of {location}: " + chance.choice((*_RECORD_CHANGES, _attributes))(chunk.records, chance)


def _attributes(records: list[Record], chance: random.Random) -> str:
    """Put attributes of any ids, types and widths before an event, some of them twice."""
    rows = [row for row, record in enumerate(records) if record.kind in (75, 78, 70, 12)]
    if not rows:
        return "nothing of attributes"
    row = chance.choice(rows)
    if row and records[row - 1].kind == ATTRIBUTES:
        row -= 1
        del records[row]
    count = chance.choice((0, 1, 2, 3, 300))
    layout, values = "c", [count if chance.random() < 0.8 else chance.choice(_NUMBERS)]
    for _ in range(count):
        kind = chance.choice((4, 4, *range(16), 200))
        layout += "cb" + {1: "b", 5: "b", 2: "h", 6: "h", 9: "f", 10: "w"}.get(kind, "c")
        values += [chance.choice((0, 0, 1, 2, 2**32, NONE)), kind, chance.choice(_NUMBERS)]
    records.insert(row, Record(ATTRIBUTES, layout, tuple(values)))
    return f"{count} attributes before {row}"


def _some_chunk(contents: Contents, chance: random.Random) -> tuple[int, Chunk]:
    location = chance.choice([one for one, chunks in contents.events.items() if any(c.records for c in chunks)])
    return location, chance.choice([chunk for chunk in contents.events[location] if chunk.records])


def _change_times(contents: Contents, chance: random.Random) -> str:
    """Move the time stamps behind an event: back, far away, or all onto one."""
    location, chunk = _some_chunk(contents, chance)
    stamps = [row for row, record in enumerate(chunk.records) if record.kind == TIMESTAMP]
    if not stamps:
        return "nothing of times"
    begin = chance.choice(stamps)
    step = chance.choice((-1, -SECOND, -30 * SECOND, 3599 * SECOND, 3601 * SECOND, 2**62, 2**63, -(2**40)))
    same = chance.random() < 0.2
    for row in stamps:
        if row >= begin:
            old = int(chunk.records[begin if same else row].values[0])
            chunk.records[row] = chunk.records[row].with_value(0, (old + step) % 2**64)
    return f"times of {location} from {begin} move by {step}{', onto one' if same else ''}"


def _stretch(contents: Contents, chance: random.Random) -> str:
    """Another unit of time, and perhaps another length of the trace."""
    for row, record in enumerate(contents.definitions):
        if record.kind == CLOCK and record.layout == "cccc":
            ticks, start, length, real = record.values
            ticks = chance.choice((1, 1, 2, 10**3, 10**12, 2**40, ticks))
            length = chance.choice((length, 0, 1, 4 * 10**18, 2**62, NONE))
            start = chance.choice((start, start, 0, 2**63, NONE))
            contents.definitions[row] = record = replace(record, values=(ticks, start, length, real))
            return f"clock is {record.values}"
    return "nothing of a clock"


def _change_header(contents: Contents, chance: random.Random) -> str:
    location, chunk = _some_chunk(contents, chance)
    values = {name: max(0, getattr(chunk, name) + chance.choice((-1, 1, 1000))) for name in ("first", "last")}
    name = chance.choice(("first", "last"))
    value = chance.choice((*_NUMBERS, values[name], values[name]))
    place = contents.events[location].index(chunk)
    contents.events[location][place] = replace(chunk, **{name: value})
    return f"chunk {place} of {location}: {name} event {value}"


def _change_anchor(contents: Contents, chance: random.Random) -> str:
    at, width = chance.choice(((0, 1), (1, 1), (7, 1), (8, 1), (12, 8), (20, 8), (28, 1), (29, 1), (30, 8), (38, 8)))
    old = int.from_bytes(contents.anchor[at : at + width], "little")
    value = chance.choice((*_NUMBERS, old + 1, max(old - 1, 0))) % 256**width
    contents.anchor[at : at + width] = value.to_bytes(width, "little")
    return f"anchor: {value} at {at}"


def _change_files(contents: Contents, chance: random.Random) -> str:
    """Swap, remove or cut files, or give them another end."""
    files = contents.events if chance.random() < 0.6 else contents.local
    first, second = chance.choice(sorted(files)), chance.choice(sorted(files))
    kind = chance.randrange(5)
    suffix = "evt" if files is contents.events else "def"
    if kind == 0:
        files[first], files[second] = files[second], files[first]  # type: ignore[assignment]
        return f"files {suffix} of {first} and {second} are swapped"
    if kind == 1 and len(files) > 1:
        del files[first]  # type: ignore[arg-type]
        return f"{first}.{suffix} is missing"
    if kind == 2:
        half = files[first]
        del half[len(half) // 2 :]
        return f"{first}.{suffix} lacks its second half, but has its end"
    name = chance.choice((f"{first}.{suffix}", "definitions"))
    contents.tails[name] = chance.choice((b"", b"\x02", b"\x01\x02", b"\x00", b"\x02\x01" * 2, b"\x05\x02\x01"))
    return f"{name} ends in {contents.tails[name].hex()!r}"


_CONTENT_CHANGES: Final[tuple[_Change, ...]] = (
    *(_change_definitions,) * 8,
    *(_change_events,) * 6,
    *(_change_local,) * 4,
    *(_change_times,) * 2,
    _stretch,
)
_FILE_CHANGES: Final[tuple[_Change, ...]] = (_change_header, _change_anchor, _change_files)


@cache
def _recorded(name: str) -> Contents:
    return decode(FIXTURES / name)


def change_at_random(contents: Contents, chance: random.Random) -> str:
    """Make one change to what an archive holds; say which."""
    return chance.choice(_CONTENT_CHANGES)(contents, chance)


def copy_of(base: Contents) -> Contents:
    """Return an archive that can be changed."""
    return replace(
        base,
        anchor=bytearray(base.anchor),
        definitions=list(base.definitions),
        local={location: list(records) for location, records in base.local.items()},
        events={
            location: [replace(chunk, records=list(chunk.records)) for chunk in chunks]
            for location, chunks in base.events.items()
        },
        tails={},
    )


def malformed_archive(number: int, folder: Path) -> str:
    """Make the archive of `number` in `folder`, in place of what is there; say what was done."""
    chance = random.Random(number)
    if chance.random() < _RECORDED_SHARE:
        name = chance.choice(RECORDED)
        base = _recorded(name)
    else:
        fillers = 24 if chance.random() < _SEVERAL_CHUNKS else 0
        others = chance.random() < _OTHERS_SHARE
        name, base = f"every record, {fillers} fillers, others {others}", every_record(fillers, others)
    contents = copy_of(base)
    changes = chance.choices(_CONTENT_CHANGES, k=chance.choice((1, 1, 1, 2, 4)))
    done = [name, *(change(contents, chance) for change in changes)]
    if chance.random() < 0.9:
        _count_again(contents, base)
    if chance.random() < 0.12:
        done.append(chance.choice(_FILE_CHANGES)(contents, chance))
    shutil.rmtree(folder, ignore_errors=True)
    write(contents, folder)
    return "; ".join(done)


def number_chunks(contents: Contents) -> dict[int, int]:
    """Let the chunks' headers count what is in them; return how many events each location has."""
    counts = {}
    for location, chunks in contents.events.items():
        last = 0
        for row, chunk in enumerate(chunks):
            first, last = last + 1, last + sum(record.kind > ATTRIBUTES for record in chunk.records)
            chunks[row] = replace(chunk, first=first, last=last)
        counts[location] = last
    return counts


def write_counted(contents: Contents, folder: Path) -> None:
    """Write an archive in place of what is in `folder`; headers, definitions and anchor count what is there."""
    counts = number_chunks(contents)
    for row, record in enumerate(contents.definitions):
        if record.kind == LOCATION:
            contents.definitions[row] = record.with_value(3, counts.get(int(record.values[0]), 0))
    contents.anchor[38:46] = len(contents.definitions).to_bytes(8, "little")
    shutil.rmtree(folder, ignore_errors=True)
    write(contents, folder)


def _count_again(contents: Contents, base: Contents) -> None:
    """Let headers, definitions and anchor count what is there now, so that what was changed is looked at at all."""
    counts = {base.events[location][-1].last: count for location, count in number_chunks(contents).items()}
    for row, record in enumerate(contents.definitions):
        if record.kind == LOCATION and len(record.values) > 3:
            contents.definitions[row] = record.with_value(3, counts.get(record.values[3], record.values[3]))
    contents.anchor[38:46] = len(contents.definitions).to_bytes(8, "little")
