"""What lines of a running job hold, as columns by layer and direction, and what was wrong with them."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ...model.arrays import Columns, Floats, Rows
from ...model.document import Record

MOST_BYTES = 2**48
"""Of one operation: more are damage."""


class Key(NamedTuple):
    """A layer, and ``read``, ``write`` or ``total``."""

    layer: str
    direction: str


@dataclass(frozen=True, eq=False)
class Spans(Columns):
    """Operations in the order in which they came: start and end in s, float64 (n,), and bytes, int64 (n,)."""

    start: Floats
    end: Floats
    volume: Rows


@dataclass
class Counts(Record):
    """What was wrong with the input, so far.

    Attributes
    ----------
    malformed : int
        Lines that are no record.
    out_of_order : int
        Records of operations that ended before one that came earlier.
    late : int
        Those of them that came more than `iostrata.live.records.clock.LATE` s behind.
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
    # A count here, no time.
    KEYS: ClassVar[Mapping[str, str]] = {"late": "late"}

    def sentence(self) -> str:
        """Return what was wrong, in a sentence; empty where nothing was.

        Records that end out of order are normal where several ranks write theirs.
        """
        counts = {name: count for name, count in self.to_dict().items() if count and name != "out_of_order"}
        wrong = [f"{name.replace('_', ' ')} {count:,}" for name, count in counts.items()]
        return f"Of the input: {', '.join(wrong)}." if wrong else ""


class Batch:
    """Records that are collected until they are taken; times in s on the job's clock."""

    def __init__(self) -> None:
        self._parts: list[tuple[Rows, Spans]] = []
        self.size = 0

    def add(self, numbers: Rows, spans: Spans) -> None:
        """Add operations, and the number of the key of each, int64 (n,)."""
        self._parts.append((numbers, spans))
        self.size += len(spans)

    def take(self) -> dict[int, Spans]:
        """Return what was collected by the number of its key, and forget it."""
        parts, self._parts, self.size = self._parts, [], 0
        if not parts:
            return {}
        numbers = np.concatenate([own for own, _ in parts])
        whole = Spans.concatenate([spans for _, spans in parts])
        return {number: whole.take(numbers == number) for number in np.unique(numbers).tolist()}
