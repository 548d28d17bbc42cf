"""Archives whose files are each sound but not of one another: ``python benchmarks/damage/mixtures.py --count 400``.

Event files and definition files are swapped, copied, taken from another run, shifted in time, cut, doubled and mixed,
in `WAYS`. Each such archive must be told as damaged by both engines, or its operations must be those of the sound one,
perhaps with ranks of equally many events exchanged: nothing in an event file tells whose it is.
"""

import argparse
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from records import CLOCK, CLOCK_OFFSET, LOCATION, MAPPING, TIMESTAMP, Chunk, Contents, Record, decode, write
from structures import copy_of

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
BASES: Final = ("ckpt4", "ckpt4_linktime", "aperiodic4", "ncckpt4_plain", "nonblocking4", "ckpt8_unnested", "mixed4")
_DAY: Final = 86400.0


def _two(contents: Contents, chance: random.Random, same_process: bool = False) -> tuple[int, int]:
    """Return two locations of different processes, or of one, the first with I/O of its own."""
    masters = [one for one in contents.events if one < 2**32]
    first = chance.choice(masters)
    others = [one for one in contents.events if one != first and (one % 2**32 == first) == same_process]
    return first, chance.choice(others or [one for one in masters if one != first])


def _neighbour(contents: Contents, chance: random.Random) -> tuple[int, int]:
    masters = [one for one in contents.events if one < 2**32]
    first, second = chance.sample(masters, 2)
    return first, second


def _ticks(contents: Contents, seconds: float) -> int:
    clock = next(record for record in contents.definitions if record.kind == CLOCK)
    return round(int(clock.values[0]) * seconds)


def _swap_events(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    contents.events[one], contents.events[other] = contents.events[other], contents.events[one]


def _swap_definitions(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    contents.local[one], contents.local[other] = contents.local[other], contents.local[one]


def _swap_both(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    for files in (contents.events, contents.local):
        files[one], files[other] = files[other], files[one]  # type: ignore[index]


def _swap_with_thread(contents: Contents, chance: random.Random) -> None:
    one, other = _two(contents, chance, same_process=True)
    contents.events[one], contents.events[other] = contents.events[other], contents.events[one]


def _rotate_events(contents: Contents, _chance: random.Random) -> None:
    names = sorted(contents.events)
    contents.events = dict(zip(names, [contents.events[name] for name in (*names[1:], names[0])], strict=True))


def _rotate_definitions(contents: Contents, _chance: random.Random) -> None:
    names = sorted(contents.local)
    contents.local = dict(zip(names, [contents.local[name] for name in (*names[1:], names[0])], strict=True))


def _copy_events(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    contents.events[other] = contents.events[one]


def _copy_definitions(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    contents.local[other] = contents.local[one]


def _copy_both(contents: Contents, chance: random.Random) -> None:
    one, other = _neighbour(contents, chance)
    contents.events[other], contents.local[other] = contents.events[one], contents.local[one]


def _copy_counted(contents: Contents, chance: random.Random) -> None:
    """Copy events, and let the definitions promise as many."""
    one, other = _neighbour(contents, chance)
    contents.events[other] = contents.events[one]
    _promise(contents, other, contents.events[one][-1].last)


def _copy_first_definitions(contents: Contents, chance: random.Random) -> None:
    """Copy the definitions of the first process, which need no map of locations."""
    other = chance.choice([one for one in contents.local if one and one < 2**32])
    contents.local[other] = contents.local[0]


def _promise(contents: Contents, location: int, events: int) -> None:
    for row, record in enumerate(contents.definitions):
        if record.kind == LOCATION and record.values[0] == location:
            contents.definitions[row] = record.with_value(3, events)


def _other_promise(by: int) -> Callable[[Contents, random.Random], None]:
    def change(contents: Contents, chance: random.Random) -> None:
        location = chance.choice([one for one in contents.events if one < 2**32])
        _promise(contents, location, max(1, contents.events[location][-1].last + by))

    return change


@cache
def _recorded(name: str) -> Contents:
    return decode(FIXTURES / name)


def _foreign(contents: Contents, chance: random.Random) -> tuple[Contents, int]:
    location = chance.choice([one for one in contents.events if one < 2**32])
    others = [_recorded(name) for name in BASES]
    return chance.choice([one for one in others if one.anchor != contents.anchor and location in one.events]), location


def _foreign_events(contents: Contents, chance: random.Random) -> None:
    other, location = _foreign(contents, chance)
    contents.events[location] = other.events[location]


def _foreign_definitions(contents: Contents, chance: random.Random) -> None:
    other, location = _foreign(contents, chance)
    contents.local[location] = other.local[location]


def _foreign_both(contents: Contents, chance: random.Random) -> None:
    other, location = _foreign(contents, chance)
    contents.events[location], contents.local[location] = other.events[location], other.local[location]


def _foreign_counted(contents: Contents, chance: random.Random) -> None:
    """Take the files of another run, and promise as many events."""
    other, location = _foreign(contents, chance)
    contents.events[location], contents.local[location] = other.events[location], other.local[location]
    _promise(contents, location, other.events[location][-1].last)


def _foreign_archive(contents: Contents, chance: random.Random) -> None:
    """Take the global definitions of another run."""
    contents.definitions = list(_foreign(contents, chance)[0].definitions)


def _part(begin: float, end: float, counted: bool) -> Callable[[Contents, random.Random], None]:
    """Keep part of an event file, with headers that fit; perhaps with definitions that do."""

    def change(contents: Contents, chance: random.Random) -> None:
        location = chance.choice([one for one in contents.events if one < 2**32])
        records = [record for chunk in contents.events[location] for record in chunk.records]
        kept = records[int(len(records) * begin) : int(len(records) * end)]
        while kept and kept[0].kind != TIMESTAMP:
            del kept[0]
        events = sum(record.kind > 9 for record in kept)
        contents.events[location] = [Chunk(1, events, kept)]
        if counted:
            _promise(contents, location, events)

    return change


def _doubled(contents: Contents, chance: random.Random) -> None:
    location = chance.choice([one for one in contents.events if one < 2**32])
    records = [record for chunk in contents.events[location] for record in chunk.records]
    contents.events[location] = [Chunk(1, 2 * sum(record.kind > 9 for record in records), records * 2)]


def _joined(contents: Contents, chance: random.Random) -> None:
    """Put the events of one process behind those of another."""
    one, other = _neighbour(contents, chance)
    records = [record for name in (one, other) for chunk in contents.events[name] for record in chunk.records]
    contents.events[one] = [Chunk(1, sum(record.kind > 9 for record in records), records)]


def _shifted(records: list[Record], ticks: int, start: int = 0) -> list[Record]:
    return [
        record.with_value(0, max(0, int(record.values[0]) + ticks))
        if record.kind == TIMESTAMP and int(record.values[0]) >= start
        else record
        for record in records
    ]


def _shift_events(seconds: float, earliest: float = 0) -> Callable[[Contents, random.Random], None]:
    """Move a process in time, all of it or from somewhere behind a share of its time stamps: a clock that jumps."""

    def change(contents: Contents, chance: random.Random) -> None:
        process = chance.choice([one for one in contents.events if one < 2**32])
        ticks = _ticks(contents, seconds)
        stamps = [int(x.values[0]) for c in contents.events[process] for x in c.records if x.kind == TIMESTAMP]
        start = chance.choice(stamps[int(earliest * len(stamps)) : -1]) if earliest else 0
        for location in [one for one in contents.events if one % 2**32 == process]:
            chunks = contents.events[location]
            contents.events[location] = [replace(one, records=_shifted(one.records, ticks, start)) for one in chunks]

    return change


def _shift_clock(seconds: float, last_only: bool = False) -> Callable[[Contents, random.Random], None]:
    """Change the clock offsets of a process, or the last of them: a clock that drifts."""

    def change(contents: Contents, chance: random.Random) -> None:
        process = chance.choice([one for one in contents.local if one < 2**32])
        ticks = _ticks(contents, seconds)
        for location in [one for one in contents.local if one % 2**32 == process]:
            rows = [row for row, one in enumerate(contents.local[location]) if one.kind == CLOCK_OFFSET]
            for row in rows[-1:] if last_only else rows:
                record = contents.local[location][row]
                contents.local[location][row] = record.with_value(1, (int(record.values[1]) + ticks) % 2**64)

    return change


def _stamp(seconds: float, which: str) -> Callable[[Contents, random.Random], None]:
    """Move one time stamp: the first, the last, or any."""

    def change(contents: Contents, chance: random.Random) -> None:
        location = chance.choice([one for one in contents.events if one < 2**32])
        chunks = [replace(one, records=list(one.records)) for one in contents.events[location]]
        places = [(c, r) for c, one in enumerate(chunks) for r, x in enumerate(one.records) if x.kind == TIMESTAMP]
        chunk, row = {"first": places[0], "last": places[-1], "any": chance.choice(places)}[which]
        record = chunks[chunk].records[row]
        chunks[chunk].records[row] = record.with_value(0, max(0, int(record.values[0]) + _ticks(contents, seconds)))
        contents.events[location] = chunks

    return change


def _clock(field: int, value: Callable[[int, int], int]) -> Callable[[Contents, random.Random], None]:
    """Change the trace's clock: where it starts (1) or how long it lasts (2)."""

    def change(contents: Contents, _chance: random.Random) -> None:
        for row, record in enumerate(contents.definitions):
            if record.kind == CLOCK:
                old, ticks = int(record.values[field]), int(record.values[0])
                contents.definitions[row] = record.with_value(field, max(0, value(old, ticks)))

    return change


def _no_events(contents: Contents, chance: random.Random) -> None:
    del contents.events[chance.choice([one for one in contents.events if one < 2**32])]


def _no_definitions(contents: Contents, chance: random.Random) -> None:
    del contents.local[chance.choice([one for one in contents.local if one < 2**32])]


def _no_chunk_end(contents: Contents, chance: random.Random) -> None:
    contents.tails[f"{chance.choice([one for one in contents.events if one < 2**32])}.evt"] = b""


def _no_maps(contents: Contents, chance: random.Random) -> None:
    """Let the definitions of a process map nothing."""
    location = chance.choice([one for one in contents.local if one and one < 2**32])
    contents.local[location] = [one for one in contents.local[location] if one.kind != MAPPING]


WAYS: Final[dict[str, Callable[[Contents, random.Random], None]]] = {
    "two event files swapped": _swap_events,
    "two definition files swapped": _swap_definitions,
    "all files of two processes swapped": _swap_both,
    "an event file swapped with that of a thread": _swap_with_thread,
    "event files rotated": _rotate_events,
    "definition files rotated": _rotate_definitions,
    "an event file copied": _copy_events,
    "a definition file copied": _copy_definitions,
    "both files copied": _copy_both,
    "an event file copied, and promised": _copy_counted,
    "the first definition file copied": _copy_first_definitions,
    "one event less promised": _other_promise(-1),
    "one event more promised": _other_promise(1),
    "a thousand events less promised": _other_promise(-1000),
    "an event file of another run": _foreign_events,
    "a definition file of another run": _foreign_definitions,
    "both files of another run": _foreign_both,
    "both files of another run, promised": _foreign_counted,
    "the definitions of another run": _foreign_archive,
    "the first half": _part(0, 0.5, False),
    "the second half": _part(0.5, 1, False),
    "the middle": _part(0.25, 0.75, False),
    "all but the last tenth": _part(0, 0.9, False),
    "an event file twice": _doubled,
    "two event files in one": _joined,
    "events .5 s later": _shift_events(0.5),
    "events .5 s earlier": _shift_events(-0.5),
    "events 30 s later": _shift_events(30),
    "events 30 s earlier": _shift_events(-30),
    "events 1,000 s later": _shift_events(1000),
    "events days earlier": _shift_events(-3 * _DAY),
    "a clock that jumps by 1 s": _shift_events(1, 0.3),
    "a clock that jumps by 1,000 s": _shift_events(1000, 0.3),
    "a clock that jumps back by .1 s": _shift_events(-0.1, 0.3),
    "a clock that jumps back by 1 s": _shift_events(-1, 0.3),
    "a clock that jumps back by a day": _shift_events(-_DAY, 0.3),
    "a clock .5 s ahead": _shift_clock(0.5),
    "a clock .5 s behind": _shift_clock(-0.5),
    "a clock 1,000 s ahead": _shift_clock(1000),
    "a clock that drifts by 1 s": _shift_clock(1, last_only=True),
    "the first time stamp 100 s earlier": _stamp(-100, "first"),
    "the last time stamp 100 s later": _stamp(100, "last"),
    "a time stamp days later": _stamp(2 * _DAY, "any"),
    "a time stamp days earlier": _stamp(-2 * _DAY, "any"),
    "a time stamp 100 s later": _stamp(100, "any"),
    "a time stamp 100 s earlier": _stamp(-100, "any"),
    "half the length": _clock(2, lambda length, _ticks: length // 2),
    "a start 5 s later": _clock(1, lambda start, ticks: start + 5 * ticks),
    "no event file": _no_events,
    "no definition file": _no_definitions,
    "no end of a file": _no_chunk_end,
    "no id maps": _no_maps,
}
"""What is done to an archive, by what it is called."""


def mixed_archive(number: int, folder: Path) -> str:
    """Make the archive of `number` in `folder`, in place of what is there; say what was done."""
    chance = random.Random(number)
    way = list(WAYS)[number % len(WAYS)]
    name = chance.choice(BASES)
    contents = copy_of(_recorded(name))
    WAYS[way](contents, chance)
    shutil.rmtree(folder, ignore_errors=True)
    write(contents, folder)
    return f"{name}: {way}"


def how_alike(one: Any, other: Any) -> str:
    """Say how alike the operations of two archives are."""
    import numpy as np

    if len(one) != len(other):
        return "SILENT"
    names = ("begin", "end", "handle", "mode", "moved", "location")
    if all(np.array_equal(getattr(one, name), getattr(other, name)) for name in names):
        return "the same"
    sizes, took = (
        [sorted(zip(part.mode.tolist(), part.moved.tolist(), strict=True)) for part in (one, other)],
        [sorted((part.end - part.begin).tolist()) for part in (one, other)],
    )
    close = np.allclose(*took, rtol=0, atol=1000)
    return "ranks exchanged" if sizes[0] == sizes[1] and close else "SILENT"


def told(folder: Path, engine: str) -> tuple[bool, Any]:
    """Return whether an engine tells that an archive is damaged, or refuses it, and what all operations are."""
    from iostrata.model.errors import TraceError
    from iostrata.model.stream.columns import CollectedOperations
    from iostrata.model.stream.source import Tally
    from iostrata.otf2io.source import open_source

    tally = Tally()
    try:
        source = open_source(folder, engine)
        collected = CollectedOperations(source.definitions)
        for partition in source.partitions(None, 1):
            for block in source.read(partition):
                tally.add(block)
                collected.add(block)
    except TraceError:
        return True, None
    found = collected.operations()
    return tally.damage.damaged, found


def main() -> None:
    """Make archives, read them, and fail if one passes for sound that is not."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--first", type=int, default=0, help="number of the first archive")
    options = parser.parse_args()
    outcomes: dict[str, Counter[str]] = {way: Counter() for way in WAYS}
    sound = {name: told(FIXTURES / name, "direct")[1] for name in BASES}
    failed = 0
    with tempfile.TemporaryDirectory(dir="/dev/shm" if Path("/dev/shm").is_dir() else None) as room:
        folder = Path(room) / "mixed"
        for number in range(options.first, options.first + options.count):
            name, way = mixed_archive(number, folder).split(": ")
            results = [told(folder, engine) for engine in ("direct", "library")]
            warned = [damaged for damaged, _ in results]
            outcome = "told" if all(warned) else "BY ONE ENGINE"
            if not any(warned):
                outcome = min(how_alike(result, sound[name]) for _, result in results)
            outcomes[way][outcome] += 1
            if outcome.isupper():
                failed += 1
                print(f"{number}: {name}, {way}: {outcome} {warned}", flush=True)
    for way, counts in outcomes.items():
        print(f"{way:45s} " + ", ".join(f"{times} {outcome}" for outcome, times in sorted(counts.items())))
    print(f"{failed} of {options.count} pass for sound")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
