"""Archives that are larger than any recorded one in one respect: ``large_archive(number, folder)``.

A million handles, 20,000 locations, 100,000 files, nodes or regions, names of 10 MB: what a program does with them has
to grow with their number, and no faster. Most also get one of the changes of `structures`.

``python benchmarks/damage/large.py`` makes each of them once and runs each command and export on it in a process of its
own, and prints what the costliest of them took: seconds of processor time and the peak of memory.
"""

import os
import random
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

from commands import ALL, SOUND
from every_record import every_record
from records import (
    COMMUNICATOR,
    FILE,
    HANDLE,
    LOCATION,
    NODE,
    NONE,
    PROPERTY,
    REGION,
    SET,
    STATE,
    STRING,
    Contents,
    Record,
    write,
)
from structures import change_at_random, copy_of

_FIRST: Final = 1000
"""Id of the first of many records."""
_LONG: Final = 10_000_000
"""Bytes of a text."""
_SECONDS: Final = 300
"""Of processor time that a command may take."""
_LARGEST_CHUNK: Final = 2**24
"""Bytes of definitions, which each text has to fit in."""


def _handles(count: int, parent: Callable[[int], int], file: Callable[[int], int]) -> Iterator[Record]:
    for row in range(count):
        yield Record(HANDLE, "cccbccc", (_FIRST + row, 41, file(row), 2, 0, 0, parent(row)))


def _flat(contents: Contents) -> str:
    contents.definitions += _handles(10**6, lambda _: NONE, lambda row: row % 3)
    return "10^6 handles"


def _deep(contents: Contents) -> str:
    contents.definitions += _handles(10**5, lambda row: _FIRST + row - 1 if row else 0, lambda _: 0)
    return "10^5 handles, each below the one before"


def _circle(contents: Contents) -> str:
    contents.definitions += _handles(10**5, lambda row: _FIRST + (row + 1) % 10**5, lambda _: 1)
    return "10^5 handles in a circle"


def _files(contents: Contents) -> str:
    texts = (Record(STRING, "cs", (_FIRST + row, b"/scratch/run/part.%d" % row)) for row in range(10**5))
    files = (Record(FILE, "ccc", (_FIRST + row, _FIRST + row, 0)) for row in range(10**5))
    of_files = (Record(PROPERTY, "ccbc", (_FIRST + row, 0, 11, 1)) for row in range(10**5))
    handles = _handles(10**5, lambda row: row % 3, lambda row: _FIRST + row)
    states = (Record(STATE, "cbc", (_FIRST + row, 1, 0)) for row in range(10**5))
    contents.definitions[:0] = list(texts)
    contents.definitions += [*files, *of_files, *handles, *states]
    return "10^5 files with a handle each"


def _locations(contents: Contents) -> str:
    count = 20_000
    contents.definitions += [
        *(Record(13, "ccbcc", (_FIRST + row, 3, 1, row % 2, NONE)) for row in range(count)),
        *(Record(LOCATION, "ccbcc", (_FIRST + row, 3, 1, 0, _FIRST + row)) for row in range(count)),
    ]
    for row in range(0, count, 97):
        contents.local[_FIRST + row] = contents.local[0]
        contents.events[_FIRST + row] = contents.events[0]
    return f"{count} locations, a hundredth of them with files"


def _nodes(contents: Contents) -> str:
    nodes = (Record(NODE, "cccc", (_FIRST + row, row % 20, 1, _FIRST + row - 1 if row else 0)) for row in range(10**5))
    contents.definitions += nodes
    return "10^5 nodes, each below the one before"


def _regions(contents: Contents) -> str:
    for row in range(10**5):
        contents.definitions.append(Record(REGION, "cccbccccbbc", (_FIRST + row, 1, 1, 0, NONE, 0, 0, 1, 1, 0, 0)))
    return "10^5 regions"


def _communicators(contents: Contents) -> str:
    members = 10**6
    contents.definitions += [
        Record(
            SET, "ccbc" + "c" * members + "bbc", (_FIRST, 0, 0, members, *(row % 3 for row in range(members)), 5, 4, 0)
        ),
        *(Record(COMMUNICATOR, "ccccc", (_FIRST + row, 1, _FIRST, row, 0)) for row in range(10**5)),
    ]
    return "10^5 communicators of a group of 10^6"


def _texts(contents: Contents) -> str:
    for row, record in enumerate(contents.definitions):
        if (
            record.kind == STRING
            and record.values[1] not in (b"netCDF", b"MPI-IO", b"POSIX", b"Offset")
            and row % 8 == 0
        ):
            contents.definitions[row] = record.with_value(1, b"/\x1b[1m\xff long" * (_LONG // 11))
    contents.definition_chunk = _LARGEST_CHUNK
    contents.anchor[20:28] = _LARGEST_CHUNK.to_bytes(8, "little")
    return "each eighth text has 10 MB"


SHAPES: Final = (_flat, _locations, _files, _deep, _circle, _nodes, _regions, _communicators, _texts)


def large_archive(number: int, folder: Path) -> str:
    """Make the archive of `number` in `folder`, in place of what is there; say what it has."""
    chance = random.Random(number)
    contents = copy_of(every_record())
    done = [SHAPES[number % len(SHAPES)](contents)]
    if number >= len(SHAPES):
        done.append(change_at_random(contents, chance))
    contents.anchor[30:38] = sum(one.kind == LOCATION for one in contents.definitions).to_bytes(8, "little")
    contents.anchor[38:46] = len(contents.definitions).to_bytes(8, "little")
    shutil.rmtree(folder, ignore_errors=True)
    write(contents, folder)
    return "; ".join(done)


def costs(folder: Path, command: tuple[str, ...], room: Path) -> tuple[float, float, str]:
    """Run a command on the archive in `folder`; give its seconds of processor time, its peak in MiB and its last line.

    The line is empty where the command has succeeded. What is written to `room` is removed.
    """

    def restrict() -> None:
        resource.setrlimit(resource.RLIMIT_CPU, (_SECONDS, _SECONDS))

    arguments = [command[0], str(folder), *(part.format(out=room / "out", sound=SOUND) for part in command[1:])]
    with (room / "printed").open("wb") as printed, (room / "said").open("wb") as said:
        process = subprocess.Popen(
            [sys.executable, "-m", "iostrata.cli", *arguments], stdout=printed, stderr=said, preexec_fn=restrict
        )
        _, status, used = os.wait4(process.pid, 0)
    line = (room / "said").read_text().strip().splitlines()[-1:] or [f"status {status}"]
    for path in room.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()
    return used.ru_utime + used.ru_stime, used.ru_maxrss / 1024, line[0] if status else ""


def main() -> None:
    """Print a row of Markdown for each archive."""
    print("| archive | costliest command | s of processors | largest | MiB | refused |")
    print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as name:
        folder, room = Path(name) / "archive", Path(name) / "room"
        room.mkdir()
        for number in range(len(SHAPES)):
            what = large_archive(number, folder)
            found = {" ".join(command): costs(folder, command, room) for command in ALL}
            slowest = max(found, key=lambda command: found[command][0])
            largest = max(found, key=lambda command: found[command][1])
            refused = sorted({line for _, _, line in found.values() if line})
            row = (f"`{slowest}`", f"{found[slowest][0]:.1f}", f"`{largest}`", f"{found[largest][1]:.0f}")
            print(f"| {what} | {' | '.join(row)} | {len([one for one in found.values() if one[2]])} |", flush=True)
            for line in refused:
                print(line.replace(str(folder), ""), file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
