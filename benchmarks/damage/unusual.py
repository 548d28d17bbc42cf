"""Archives that no recorder of I/O writes: ``unusual_archive(number, folder)`` makes the one of a number.

`structures` breaks records and `contradictions` lets them disagree; here whole situations are strange. Ids are as large
as they may be, maps lead from one id of a map to another, handles pass from process to process, records come that a
later version of the format may have, two archives are mixed, folders and links stand where files should, and an archive
claims to have been made of another recorder's log.
"""

import json
import os
import random
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

from contradictions import CONTRADICTIONS
from every_record import SECOND, START, every_record
from records import (
    ATTRIBUTE,
    ATTRIBUTES,
    COMMUNICATOR,
    DIRECTORY,
    END_OF_BUFFER,
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
    decode,
    encode_record,
)
from structures import FIXTURES, HOSTILE_TEXTS, RECORDED, copy_of, write_counted

_BEGIN, _END = 75, 78
_INTERCOMMUNICATOR: Final = 43
_NODE_PROPERTY: Final = 26
_OF_HANDLES: Final = frozenset(range(69, 83)) - {74}
_LAST_ID: Final = 2**32 - 2
_AMOUNTS: Final = (0, 1, 2**32, 2**40, 2**48 - 1, 2**48, 2**48 + 1, 2**62, 2**63 - 1, 2**63, NONE)
_KEPT: Final = b"IOSTRATA::RECORDING::"

_After = Callable[[Path], None]
"""What is done to the files once they are there."""
_Change = Callable[[Contents, random.Random], tuple[str, _After | None]]


def _new_texts(contents: Contents, *texts: bytes) -> range:
    """Define further texts; return their ids."""
    first = 1 + max((int(one.values[0]) for one in contents.definitions if one.kind == STRING), default=-1)
    contents.definitions += [Record(STRING, "cs", (first + row, text)) for row, text in enumerate(texts)]
    return range(first, first + len(texts))


def _change_chunks(contents: Contents, location: int, change: Callable[[Record], list[Record]]) -> None:
    """Put what `change` returns in place of each event."""
    contents.events[location] = [
        replace(chunk, records=[new for record in chunk.records for new in change(record)])
        for chunk in contents.events[location]
    ]


_REFERENCES: Final[dict[int, dict[int, tuple[int, ...]]]] = {
    STRING: {
        **dict.fromkeys((NODE, LOCATION, GROUP, SET, COMMUNICATOR, ATTRIBUTE, FILE, DIRECTORY, HANDLE), (1,)),
        NODE: (1, 2),
        REGION: (1, 2),
        PARADIGM: (1, 2),
        PROPERTY: (1,),
    },
    NODE: {NODE: (3,), GROUP: (3,), FILE: (2,), DIRECTORY: (2,)},
    GROUP: {LOCATION: (4,)},
    FILE: {HANDLE: (2,), PROPERTY: (0,)},
    HANDLE: {HANDLE: (6,), STATE: (0,)},
}
"""By the type of a definition the fields of others that name one."""


def _large_ids(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Ids from the upper end of their type, so that whatever is as long as the largest id has no room."""
    kind = chance.choice(sorted(_REFERENCES))
    step = chance.choice((1, 1000, 2**20))
    former = [int(one.values[0]) for one in contents.definitions if one.kind == kind]
    new = {identity: _LAST_ID - step * row for row, identity in enumerate(dict.fromkeys(former))}
    for row, record in enumerate(contents.definitions):
        places = _REFERENCES[kind].get(record.kind, ()) + ((0,) if record.kind == kind else ())
        for place in places:
            if len(record.values) > place and isinstance(record.values[place], int):
                record = record.with_value(place, new.get(int(record.values[place]), record.values[place]))
        contents.definitions[row] = record
    if kind == HANDLE:
        entries = [value for pair in new.items() for value in pair]
        sparse = Record(MAPPING, "bcb" + "c" * len(entries), (13, len(new), 1, *entries))
        for location, local in contents.local.items():
            contents.local[location] = [one for one in local if one.kind != MAPPING or one.values[0] != 13] + [sparse]
    return f"ids of definitions {kind} end at {_LAST_ID} in steps of {step}", None


def _large_locations(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Locations at the end of 64 bits, one of them perhaps with the id that means none."""
    last = chance.choice((NONE, NONE - 1, 2**63, 2**63 - 1, 2**32 - 1))
    new = {identity: last - row for row, identity in enumerate(sorted(contents.events))}
    contents.events = {new[one]: chunks for one, chunks in contents.events.items()}
    contents.local = {new.get(one, one): records for one, records in contents.local.items()}
    for row, record in enumerate(contents.definitions):
        if record.kind == LOCATION:
            contents.definitions[row] = record.with_value(0, new.get(int(record.values[0]), record.values[0]))
    return f"locations up to {last}", None


def _chained_maps(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Maps whose targets are sources of the same map or of the next one, for each kind of id."""
    count = chance.choice((3, 6, 300))
    for location in contents.local:
        local = [one for one in contents.local[location] if one.kind != MAPPING or chance.random() < 0.5]
        for thing in chance.sample(range(16), 4) + [13] * chance.choice((1, 2)) + [1]:
            sparse = chance.random() < 0.5
            targets = [(row + 1) % count for row in range(count)]
            if chance.random() < 0.3:
                targets[chance.randrange(count)] = chance.choice((NONE, 2**32 - 1, _LAST_ID, 2**32))
            entries = [
                value for row, target in enumerate(targets) for value in ((row, target) if sparse else (target,))
            ]
            local.append(Record(MAPPING, "bcb" + "c" * len(entries), (thing, count, sparse, *entries)))
        chance.shuffle(local)
        contents.local[location] = local
    return f"chained maps of {count}", None


def _passed_on(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Handles opened in one process, used in another and closed in a third; operations begun here and ended there."""
    locations = sorted(contents.events)
    kind = chance.choice(("begun here, ended there", "duplicated", "opened elsewhere"))
    if kind == "begun here, ended there":
        taken = {location: [one.kind for one in _all(contents, location)] for location in locations}
        for number, location in enumerate(locations):
            away = (_BEGIN, _END)[number % 2]
            if away in taken[location]:
                _change_chunks(contents, location, lambda one, away=away: [] if one.kind == away else [one])
    elif kind == "duplicated":
        for location in locations:
            new = chance.randrange(6)

            def change(record: Record, new: int = new) -> list[Record]:
                if record.kind != _BEGIN:
                    return [record]
                copies = chance.choice((1, 1, 50))
                return [Record(71, "ccc", (record.values[0], new, 0))] * copies + [record.with_value(0, new)]

            _change_chunks(contents, location, change)
    else:
        kept = {69: locations[0], 70: locations[-1]}
        for location in locations:
            _change_chunks(contents, location, lambda one, at=location: [one] if kept.get(one.kind, at) == at else [])
    return f"handles: {kind}", None


def _all(contents: Contents, location: int) -> list[Record]:
    return [record for chunk in contents.events[location] for record in chunk.records]


def _later_version(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Records and fields that a later version of the format may add, which are to be passed over by their length."""
    kind = chance.choice(("unknown events", "unknown definitions", "further fields", "long lengths", "empty records"))

    def unknown(least: int) -> Record:
        size = chance.choice((0, 1, 9, 254, 255, 256, 60_000))
        return Record(chance.randrange(least, 256), "x", (chance.randbytes(size),))

    if kind == "unknown events":
        for location in contents.events:
            _change_chunks(contents, location, lambda one: [unknown(90), one] if chance.random() < 0.1 else [one])
    elif kind == "unknown definitions":
        for records in (contents.definitions, *contents.local.values()):
            for _ in range(chance.choice((1, 20))):
                records.insert(chance.randrange(len(records) + 1), unknown(60))
    elif kind == "empty records":
        for location in contents.events:
            _change_chunks(
                contents, location, lambda one: [Record(one.kind, "", ()), one] if chance.random() < 0.05 else [one]
            )
    else:
        more = chance.choice((1, 3, 260))

        def longer(record: Record) -> Record:
            if record.kind in WITHOUT_LENGTH or (record.kind == TIMESTAMP and record.layout == "w"):
                return record
            if kind == "further fields":
                return replace(record, layout=record.layout + "c" * more, values=record.values + (7,) * more)
            return (
                record if len(record.layout) < 2 else replace(record, length=None, raw={**record.raw, **_wide(record)})
            )

        for location in contents.events:
            _change_chunks(contents, location, lambda one: [longer(one)])
        if chance.random() < 0.5:
            contents.definitions[:] = map(longer, contents.definitions)
    return kind, None


def _wide(record: Record) -> dict[int, bytes]:
    """Write each integer in eight bytes, whatever it is."""
    return {
        place: b"\x08" + int(value).to_bytes(8, "little")
        for place, (letter, value) in enumerate(zip(record.layout, record.values, strict=True))
        if letter == "c" and value != NONE
    }


def _mixed(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """The definitions of one archive with the events of another."""
    other = decode(FIXTURES / chance.choice(RECORDED))
    kind = chance.choice(("events", "definitions of locations", "some events", "global definitions"))
    if kind == "events":
        contents.events = {**contents.events, **other.events}
    elif kind == "definitions of locations":
        contents.local = {**contents.local, **other.local}
    elif kind == "some events":
        theirs = sorted(other.events)
        for location in contents.events:
            contents.events[location] = other.events[chance.choice(theirs)]
    else:
        contents.definitions = list(other.definitions)
        contents.events = {**other.events, **contents.events}
    return f"{kind} of another archive", None


def _accelerators(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Processes that are accelerators, that made each other, or that are on no node, with locations of any type."""
    definitions = contents.definitions
    groups = [one.values[0] for one in definitions if one.kind == GROUP]
    all_of_them = chance.random() < 0.4
    for row, record in enumerate(definitions):
        if record.kind == GROUP and (all_of_them or chance.random() < 0.6):
            record = record.with_value(2, chance.choice((0, 2, 2, 3, 255)))
            definitions[row] = record.with_value(4, chance.choice((*groups, NONE, 99)))
        elif record.kind == LOCATION and (all_of_them or chance.random() < 0.6):
            record = record.with_value(2, chance.choice((0, 2, 3, 255)))
            definitions[row] = record.with_value(4, chance.choice((*groups, NONE, 99)))
    return "accelerators", None


def _amounts(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Requests, results, modes, flags and offsets of all operations and metadata at their extremes."""
    amounts = chance.choices(_AMOUNTS, k=chance.choice((1, 2, 5)))
    modes = chance.choice(((0, 1, 2), range(256), (2,), (1,)))

    def change(record: Record) -> list[Record]:
        if record.kind == _BEGIN and record.layout == "cbccc":
            flags = chance.choice((0, 1, 2, 3, 2**31, 2**32 - 1))
            record = record.with_value(1, chance.choice(modes)).with_value(2, flags)
            return [record.with_value(3, chance.choice(amounts))]
        if record.kind == _END and record.layout == "ccc":
            return [record.with_value(1, chance.choice(amounts))]
        if record.kind == ATTRIBUTES and record.layout == "ccbc":
            return [record.with_value(3, chance.choice(amounts))]
        if record.kind == 72 and record.layout == "ccbc":
            whence, to, found = chance.randrange(256), chance.choice(_AMOUNTS), chance.choice(_AMOUNTS)
            return [replace(record, values=(record.values[0], to, whence, found))]
        if 80 <= record.kind <= 82 and record.layout == "cb":
            return [record.with_value(1, chance.randrange(256))]
        return [record]

    for location in contents.events:
        _change_chunks(contents, location, change)
    return f"amounts {amounts}", None


def _regions_of_any_role(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Regions of any role, recorder and line, with one name for all, and names that act on whatever shows them."""
    names = _new_texts(contents, *HOSTILE_TEXTS)
    same = chance.choice((None, None, chance.choice(names), NONE))
    for row, record in enumerate(contents.definitions):
        if record.kind == REGION and record.layout == "cccbccccbbc":
            name = chance.choice(names) if same is None else same
            lines = chance.choice((0, 1, 2**31, 2**32 - 1, NONE)), chance.choice((0, 2**32 - 1))
            named = (record.values[0], name, chance.choice(names), record.values[3], chance.choice(names))
            kinds = (chance.randrange(256), chance.randrange(256), chance.randrange(256))
            contents.definitions[row] = replace(record, values=(*named, *lines, chance.choice(names), *kinds))
    return "regions of any role", None


def _intercommunicators(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Communicators of nobody, of one process, between two groups, under one id with a usual one."""
    (name,) = _new_texts(contents, chance.choice(HOSTILE_TEXTS))
    definitions = contents.definitions
    definitions.append(Record(SET, "ccbcbbc", (50, name, 0, 0, 5, 4, 0)))
    definitions.append(Record(SET, "ccbcbbc", (51, name, 0, 0, 6, 4, 0)))
    for identity in (0, 7, 8):
        parent = chance.choice((identity, 7, 8, NONE))
        definitions.append(
            Record(_INTERCOMMUNICATOR, "cccccc", (identity, name, chance.choice((0, 1, 50, 51, 99)), 50, parent, 0))
        )
        definitions.append(Record(COMMUNICATOR, "ccccc", (identity + 10, name, 50 + identity % 2, NONE, 0)))
    if chance.random() < 0.5:
        chance.shuffle(definitions)
    for row, record in enumerate(definitions):
        if record.kind == HANDLE:
            definitions[row] = record.with_value(5, chance.choice((0, 7, 8, 17, 18, NONE)))
    collective = chance.choice((1, 3))
    for location in contents.events:
        _change_chunks(contents, location, lambda one: [one.with_value(2, collective) if one.kind == _BEGIN else one])
    return "communicators of nobody and between groups", None


def _deep_trees(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Nodes thousands deep or in a circle, all processes and files on the last; handles as deep above each other."""
    depth = chance.choice((2, 1000, 5000))
    first = 100
    for row in range(depth):
        parent = first + row - 1 if row else (NONE if chance.random() < 0.5 else first + depth - 1)
        contents.definitions.append(Record(NODE, "cccc", (first + row, row % 7, 1, parent)))
        contents.definitions.append(
            Record(HANDLE, "cccbccc", (first + row, 1, row % 3, row % 3, 0, 0, max(0, first + row - 1)))
        )
    for row, record in enumerate(contents.definitions):
        if record.kind == GROUP:
            contents.definitions[row] = record.with_value(3, first + depth - 1)
        elif record.kind == FILE:
            contents.definitions[row] = record.with_value(2, first + depth - 1)
    for location in contents.events:
        _change_chunks(
            contents,
            location,
            lambda one: [
                one.with_value(0, first + depth - 1) if one.kind in _OF_HANDLES and one.values[:1] == (2,) else one
            ],
        )
    contents.local = {
        location: [one for one in local if one.kind != MAPPING] for location, local in contents.local.items()
    }
    return f"trees {depth} deep", None


def _texts_at_the_ends(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Texts under the id that means none, twice with another content, with zeros within, or of lengths at a border."""
    kind = chance.choice(("none", "twice", "zeros", "border"))
    texts = [row for row, one in enumerate(contents.definitions) if one.kind == STRING]
    if kind == "none":
        contents.definitions.insert(0, Record(STRING, "cs", (NONE, chance.choice(HOSTILE_TEXTS))))
        for row, record in enumerate(contents.definitions):
            if record.kind in (FILE, HANDLE, LOCATION, GROUP, NODE) and chance.random() < 0.7:
                contents.definitions[row] = record.with_value(1, NONE)
    elif kind == "twice":
        contents.definitions += [
            contents.definitions[row].with_value(1, chance.choice(HOSTILE_TEXTS))
            for row in texts
            if chance.random() < 0.5
        ]
    else:
        for row in texts:
            size = chance.choice((251, 252, 253, 254, 255, 256))
            content = b"/a\0b" if kind == "zeros" else b"/" + b"x" * size
            if chance.random() < 0.4:
                contents.definitions[row] = contents.definitions[row].with_value(1, content)
    return f"texts: {kind}", None


def _claims(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """An archive that says that it was made of another recorder's log, with anything that such a log may tell."""
    count = chance.choice((0, 1, 5, 2000))
    counters = {
        "module": [chance.randrange(2) for _ in range(count)],
        "file": [chance.randrange(-1, 3) for _ in range(count)],
        "rank": [chance.choice((-1, 0, 1, 77, 2**31 - 1)) for _ in range(count)],
        **{
            name: [chance.choice((-1, 0, 3, 2**40, 2**62, 2**63 - 1, -(2**63))) for _ in range(count)]
            for name in ("reads", "writes", "bytes_read", "bytes_written")
        },
        "modules": ["POSIX", chance.choice(("H5D", "", "\x1b[2J", "</script>"))],
        "layers": [chance.choice(("POSIX", "HDF5", "")), "MPI-IO"],
    }
    switches = ("ranks", "nodes", "threads", "metadata", "offsets", "collective", "flushes", "whole_seconds")
    document = {
        "version": 1,
        **{
            name: chance.choice(("", "x", "OTF2", "\x1b[31m", "</script>")) for name in ("recorder", "format", "remedy")
        },
        "rows": chance.choice(("operations", "intervals")),
        "handles": chance.choice(("recorded", "inferred", "absent")),
        **{name: chance.random() < 0.5 for name in switches},
        "amounts": chance.choice(("", "", "page", "\x1b[2J")),
        "layers": chance.choice((None, [], ["POSIX"], ["POSIX", "no such", ""])),
        "facts": chance.choice(({}, {"a": "b", "\x1b[2J": 10**30}, {"jobid": 7, "": ""})),
        "notes": chance.choice(([], ["</script>\x1b[2J"], ["n"] * 3000)),
        "counters": chance.choice((None, counters, counters)),
        "losses": chance.choice(([], [[0, 5, 3, "\x1b[2J"]], [[-1, 2**62, 0, "lost"], [1, 7, 2**62, ""]])),
        "irregular": chance.choice(({}, {"rows\x1b[2J": 2**62}, {"": 0, "a": 1})),
    }
    text = json.dumps(document).encode()
    kind = chance.choice(("sound", "sound", "sound", "cut", "deep", "number"))
    text = {"sound": text, "cut": text[: len(text) // 2], "deep": b"[" * 100_000, "number": b"9" * 5000}[kind]
    pieces = [text[at : at + 60_000] for at in range(0, len(text), 60_000)]
    for number, piece in enumerate(pieces):
        name, value = _new_texts(contents, _KEPT + b"%d" % number, piece)
        contents.definitions.append(Record(_NODE_PROPERTY, "cccbc", (0, name, value, 11, value)))
    return f"claims to be made of a log: {kind}", None


def _odd_files(contents: Contents, chance: random.Random) -> tuple[str, _After]:
    """Folders, links and pipes where files should be, and files beside that belong to no archive of I/O."""
    location = chance.choice(sorted(contents.events))
    name = f"{location}.{chance.choice(('evt', 'def'))}"
    kind = chance.choice(
        ("folder", "link to itself", "link to none", "link to another", "pipe", "device", "beside", "holes")
    )
    content = chance.randbytes(100)

    def after(folder: Path) -> None:
        path = folder / "traces" / name
        if kind == "beside":
            for other in ("traces.marker", "traces/0.snap", "traces/0.thumb", "traces/.hidden", "traces/0.evt.old"):
                (folder / other).write_bytes(content)
            (folder / "traces" / "1.snap.evt").mkdir(exist_ok=True)
            return
        # One change may come behind another of the same file.
        if path.is_dir() and not path.is_symlink():
            return
        path.unlink(missing_ok=True)
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        elif kind == "holes":
            with path.open("wb") as file:
                file.truncate(2**32)
        else:
            targets = {"link to itself": path.name, "link to none": "none", "device": "/dev/zero"}
            path.symlink_to(targets.get(kind, "0.evt" if name != "0.evt" else f"{2**32}.evt"))

    return f"{name}: {kind}", after


def _markers_within(contents: Contents, chance: random.Random) -> tuple[str, _After]:
    """Ends of chunks, buffers and files in the middle, chunks of another byte order, and chunks without a record."""
    location = chance.choice(sorted(contents.events))
    kind = chance.choice(("marker", "byte order", "empty chunks", "exactly full", "two archives in one file"))
    if kind == "empty chunks":
        chunks = contents.events[location]
        stamp = Record(TIMESTAMP, "w", (START,))
        empty = [Chunk(1, 0, [stamp] if chance.random() < 0.5 else []) for _ in range(chance.choice((1, 3)))]
        contents.events[location] = [*empty, *chunks] if chance.random() < 0.5 else [*chunks, *empty]
    if kind == "exactly full":
        records = _all(contents, location)
        used = 18 + sum(len(encode_record(one)) for one in records)
        room = contents.chunk_size - used - chance.choice((0, 1, 2, 3))
        filler = Record(60, "x", (bytes(room - 10),))
        contents.events[location] = [Chunk(1, 0, [*records, filler]), Chunk(1, 0, [records[0], *records[-5:]])]
    marker = bytes([chance.choice((0, 1, 2))]) * chance.choice((1, 2, 9))
    at = chance.random()

    def after(folder: Path) -> None:
        path = folder / "traces" / f"{location}.evt"
        if not path.is_file():
            return
        content = bytearray(path.read_bytes())
        if kind == "marker":
            place = 18 + int(at * max(0, len(content) - 20))
            content[place:place] = marker
        elif kind == "byte order":
            content[1:2] = b"\x23"
        elif kind == "two archives in one file":
            content = content[: -len(END_OF_BUFFER)].ljust(contents.chunk_size, b"\0") + content
        path.write_bytes(content)

    return f"events of {location}: {kind}", after


def _far_apart(contents: Contents, chance: random.Random) -> tuple[str, None]:
    """Each location at another end of time, or a single operation that lasts as long as times can."""
    kind = chance.choice(("each elsewhere", "first and last", "all before", "steps"))
    for number, location in enumerate(sorted(contents.events)):
        stamps = [int(one.values[0]) for one in _all(contents, location) if one.kind == TIMESTAMP and one.values]
        if not stamps:
            continue
        last = stamps[-1]
        far = chance.choice((10**12, 2**61, 2**62))

        def change(record: Record, number: int = number, last: int = last, far: int = far) -> list[Record]:
            if record.kind != TIMESTAMP or not record.values:
                return [record]
            time = int(record.values[0])
            moved = {
                "each elsewhere": time + number * far,
                "first and last": time if time < last else time + far,
                "all before": time % START,
                "steps": time + (time // SECOND) * (far // 40),
            }[kind]
            return [record.with_value(0, moved % 2**64)]

        _change_chunks(contents, location, change)
    return f"times: {kind}", None


UNUSUAL: Final[tuple[_Change, ...]] = (
    _large_ids,
    _large_locations,
    _chained_maps,
    _passed_on,
    _later_version,
    _mixed,
    _accelerators,
    _amounts,
    _regions_of_any_role,
    _intercommunicators,
    _deep_trees,
    _texts_at_the_ends,
    _claims,
    _odd_files,
    _markers_within,
    _far_apart,
)


def unusual_archive(number: int, folder: Path) -> str:
    """Make the archive of `number` in `folder`, in place of what is there; say what was done."""
    chance = random.Random(f"unusual {number}")
    contents = copy_of(every_record(0, chance.random() < 0.2))
    changes = [UNUSUAL[number % len(UNUSUAL)], *chance.choices(UNUSUAL, k=chance.choice((0, 0, 0, 1, 2)))]
    done, afterwards = [], []
    for change in changes:
        what, after = change(contents, chance)
        done.append(what)
        afterwards += [after] if after is not None else []
    if chance.random() < 0.1:
        done.append(chance.choice(CONTRADICTIONS)(contents, chance))
    write_counted(contents, folder)
    for after in afterwards:
        after(folder)
    return "; ".join(done)
