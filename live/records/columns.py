"""What lines of a running job say, as columns by layer and direction, and what was wrong with them."""

from dataclasses import dataclass, fields
from typing import NamedTuple

import numpy as np

from ...model.arrays import Floats, Rows

MOST_BYTES = 2**48
"""Of one operation: more are damage."""


class Key(NamedTuple):
    """A layer, and ``read``, ``write`` or ``total``."""

    layer: str
    direction: str


@dataclass(frozen=True, eq=False)
class Columns:
    """Operations in the order in which they came: start and end in s, float64 (n,), and bytes, int64 (n,)."""

    start: Floats
    end: Floats
    volume: Rows

    def __len__(self) -> int:
        return int(self.start.size)


@dataclass
class Counts:
    """What was wrong with the input, so far.

    Attributes
    ----------
    malformed : int
        Lines that are no record.
    out_of_order : int
        Records of operations that ended before one that was told earlier.
    late : int
        Those of them that came more than `iostrata.live.clock.LATE` s behind.
    clock_jumps : int
        Records set aside as their times are far from all others, and times that the clock went on from there.
    restarts : int
        Writers that began anew.
    truncations : int
        Files that were cut or replaced while they were followed.
    refused : int
        Records of more layers than are kept.
    """

    malformed: int = 0
    out_of_order: int = 0
    late: int = 0
    clock_jumps: int = 0
    restarts: int = 0
    truncations: int = 0
    refused: int = 0

    def to_dict(self) -> dict[str, int]:
        """Return all counts by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


class Batch:
    """Records that are collected until they are taken, as lists by key; times in s on the job's clock."""

    def __init__(self) -> None:
        self._lists: dict[Key, tuple[list[float], list[float], list[int]]] = {}
        self.size = 0

    def add(self, key: Key, start: float, end: float, volume: int) -> None:
        """Add an operation."""
        lists = self._lists.get(key)
        if lists is None:
            lists = self._lists[key] = ([], [], [])
        lists[0].append(start)
        lists[1].append(end)
        lists[2].append(volume)
        self.size += 1

    def take(self) -> dict[Key, Columns]:
        """Return what was collected and forget it."""
        taken = {
            key: Columns(np.array(start), np.array(end), np.array(volume, np.int64))
            for key, (start, end, volume) in self._lists.items()
        }
        self._lists, self.size = {}, 0
        return taken
