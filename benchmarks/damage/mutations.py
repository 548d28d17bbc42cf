"""Damaged archives made at random from small real ones, each from a number."""

import os
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Final

FIXTURES: Final = Path(__file__).parents[2] / "fixtures"
SMALL: Final = ("serial1", "ckpt4_linktime", "threads2", "nonblocking4", "ncckpt4_plain")
LARGE: Final = "ckpt4_compiler_flush"
"""An archive with three chunks in each event file."""

LARGE_SHARE: Final = 0.1


def _flip(data: bytearray, chance: random.Random) -> None:
    for _ in range(chance.choice((1, 1, 1, 2, 8, 64))):
        at = _somewhere(data, chance)
        data[at] ^= 1 << chance.randrange(8) if chance.random() < 0.5 else chance.randrange(1, 256)


def _set(data: bytearray, chance: random.Random) -> None:
    at = _somewhere(data, chance)
    value = chance.choice((0, 1, 2, 3, 5, 6, 12, 69, 75, 78, 127, 254, 255))
    data[at : at + chance.choice((1, 1, 2, 8))] = bytes([value]) * chance.choice((1, 1, 2, 8))


def _cut(data: bytearray, chance: random.Random) -> None:
    del data[chance.choice((0, 1, 17, 18, 19, len(data) - 1, len(data) - 2, chance.randrange(len(data)))) :]


def _remove(data: bytearray, chance: random.Random) -> None:
    at = _somewhere(data, chance)
    del data[at : at + chance.choice((1, 2, 9, 100, 5000))]


def _garbage(data: bytearray, chance: random.Random) -> None:
    at = _somewhere(data, chance)
    size = chance.choice((4, 16, 256, 4096))
    data[at : at + size] = chance.randbytes(size)


def _swap(data: bytearray, chance: random.Random) -> None:
    size = chance.choice((1, 8, 64, 512))
    first, second = _somewhere(data, chance), _somewhere(data, chance)
    data[first : first + size], data[second : second + size] = data[second : second + size], data[first : first + size]


def _grow(data: bytearray, chance: random.Random) -> None:
    at = chance.choice((len(data), len(data), _somewhere(data, chance)))
    size = chance.choice((1, 2, 9, 64, 4096))
    data[at:at] = chance.choice((bytes(size), chance.randbytes(size), bytes(data[:size])))


def _somewhere(data: bytearray, chance: random.Random) -> int:
    if not data:
        return 0
    return chance.randrange(min(len(data), 64)) if chance.random() < 0.3 else chance.randrange(len(data))


MUTATIONS: Final[tuple[Callable[[bytearray, random.Random], None], ...]] = (
    _flip,
    _flip,
    _set,
    _cut,
    _remove,
    _garbage,
    _swap,
    _grow,
)


def damaged_archive(number: int, folder: Path) -> str:
    """Make the damaged archive of `number` in `folder`, its untouched files as links; say what was done."""
    chance = random.Random(number)
    name = LARGE if chance.random() < LARGE_SHARE else chance.choice(SMALL)
    base = FIXTURES / name
    shutil.rmtree(folder, ignore_errors=True)
    (folder / "traces").mkdir(parents=True)
    files = ["traces.otf2", "traces.def", *sorted(f"traces/{path.name}" for path in (base / "traces").iterdir())]
    events = [file for file in files if file.endswith(".evt")]
    definitions = [file for file in files if file.startswith("traces/") and file.endswith(".def")]
    hit = set()
    done = [name]
    for _ in range(chance.choice((1, 1, 1, 2, 4))):
        kind = chance.random()
        pool = events if kind < 0.6 else definitions if kind < 0.8 else ["traces.def"] if kind < 0.92 else files[:1]
        hit.add(chance.choice(pool))
    for file in files:
        if file not in hit:
            os.symlink(base / file, folder / file)
            continue
        if chance.random() < 0.03:
            done.append(f"{file} removed")
            continue
        data = bytearray((base / file).read_bytes())
        for _ in range(chance.choice((1, 1, 1, 2, 3))):
            mutation = chance.choice(MUTATIONS)
            if data:
                mutation(data, chance)
            done.append(f"{file} {mutation.__name__[1:]}")
        (folder / file).write_bytes(data)
    return ", ".join(done)
