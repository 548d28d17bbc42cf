"""Events of DFTracer files as columns: files inflated and scanned a piece at a time."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import numpy as np

from ...model.arrays import Frozen, Ints, Octets
from ..inflating import filling
from .fields import BEHIND, METADATA, NUMBERED, UNITS, UNKNOWN

_PIECE: Final = 1 << 20
"""Bytes of text that are scanned at once; they stay in the processor's cache."""
_LONGEST_LINE: Final = 1 << 24
_MOST_NS: Final = 2**62 - 2
"""What a time is cut to: far beyond any that is taken, and not `UNKNOWN`."""


class Lines(Frozen):
    """Events of one file, columns of shape (n,).

    Attributes
    ----------
    columns : dict of int64
        Numbers by the names of `NUMBERS`, `UNKNOWN` where absent, times in ns; by those of `TEXTS` places in `names`,
        −1 where absent.
    names : tuple of str
    unit : int
        ns of the unit that times were written in.
    unreadable : int
        Lines that cannot be read.
    fault : str or None
        Why the file ends early.
    """

    columns: dict[str, Ints]
    names: tuple[str, ...]
    unit: int
    unreadable: int
    fault: str | None


def read_lines(path: Path) -> Lines:
    """Read all events of a file; what lies behind damage is lost."""
    from .scan import Scanner

    scanner, faults = Scanner(), list[str]()
    for piece, size in _pieces(path, faults):
        scanner.add(piece, size)
    names = tuple(_decoded(name) if "\\" in name else name for name in scanner.texts())
    columns = scanner.columns()
    columns["ph"] = columns["ph"].copy()
    for digit, letter in NUMBERED.items():
        columns["ph"][columns["ph"] == digit] = letter
    unit = _unit(columns, names)
    for name in ("ts", "dur"):
        times, most = columns[name].copy(), _MOST_NS // unit
        columns[name] = np.where(times == UNKNOWN, UNKNOWN, times.clip(-most, most) * unit)
    return Lines(columns, names, unit, scanner.unreadable, faults[0] if faults else None)


def _unit(columns: dict[str, Ints], names: tuple[str, ...]) -> int:
    """Return how many ns the unit of all times has, as a line of metadata tells; µs where none does."""
    if "time_metric" not in names:
        return UNITS["US"]
    told = columns["arg_value"][(columns["arg_name"] == names.index("time_metric")) & (columns["ph"] == METADATA)]
    return UNITS.get(names[told[0]] if len(told) and told[0] >= 0 else "", UNITS["US"])


def _decoded(written: str) -> str:
    """Return a text that has escapes."""
    try:
        return str(json.loads(f'"{written}"')).encode("utf-8", "backslashreplace").decode()
    except ValueError:
        return written


def _pieces(path: Path, faults: list[str]) -> Iterator[tuple[Octets, int]]:
    """Yield the text of a file in pieces of whole lines, each until the next, as `Scanner.add` takes them.

    Why it ends early goes to `faults`.
    """
    # One room for all of them, which stays in the cache.
    room, filled = np.zeros(_PIECE + BEHIND, np.uint8), 0
    with path.open("rb", buffering=0) as file:
        fill = filling(file, faults)
        while got := fill(room.data[filled:-BEHIND]):
            filled += got
            if filled < len(room) - BEHIND:
                continue
            end = _behind_the_last_line(room[:filled])
            if end:
                yield room, end
                filled -= end
                room[:filled] = room[end : end + filled].copy()
            elif filled > _LONGEST_LINE:
                faults.append("a line is too long")
                return
            else:
                room = np.concatenate([room, np.zeros_like(room)])
    if filled:
        room[filled] = ord("\n")
        yield room, filled + 1


def _behind_the_last_line(room: Octets) -> int:
    """Return how much of a text are whole lines."""
    end, step = len(room), 1 << 12
    while end:
        start = max(end - step, 0)
        last = room[start:end].tobytes().rfind(b"\n")
        if last >= 0:
            return start + last + 1
        end, step = start, 16 * step
    return 0
