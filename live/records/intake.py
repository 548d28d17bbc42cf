"""What all sources of a running job hold together: records on one clock, and what was wrong with them."""

import math
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Final, NamedTuple

import numpy as np

from ...model.arrays import Columns, Floats, Rows
from ...model.document import Record

LATE: Final = 10.0
"""Seconds behind the latest record from which on one is late."""
FARTHEST, FARTHEST_RUNS = 86400.0, 100.0
"""Seconds, and lengths of the run so far on top, by which a record may be away from the latest one."""
CONFIRMED: Final = 3
"""Records in a row that agree on a time far away, from which on the clock is taken to have jumped there."""


@dataclass
class JobClock:
    """The clock of a job.

    Attributes
    ----------
    begin, now : float or None
        Start of the first record, and the latest time that was read, in s.
    low, high : float
        Times in s between which a record surely is near enough.
    """

    begin: float | None = None
    now: float | None = None
    low: float = math.inf
    high: float = -math.inf
    _away: list[tuple[float, float]] = field(default_factory=list)

    def reaches(self, end: float) -> bool:
        """Tell whether a time is near enough to the run so far to be of it."""
        if self.now is None or self.begin is None:
            return True
        far = FARTHEST + FARTHEST_RUNS * (self.now - self.begin)
        # As the run goes on the bounds only part.
        self.low, self.high = self.now - far, self.now + far
        return self.low <= end <= self.high

    def advance(self, start: float, end: float) -> None:
        """Take note of a record of this time."""
        if self.now is None or self.begin is None:
            self.begin, self.now = start, end
        else:
            self.begin, self.now = min(self.begin, start), max(self.now, end)
        self._away.clear()

    def jumps(self, start: float, end: float) -> bool:
        """Take note of a record far away; tell whether so many agree on this time that the clock has jumped there."""
        if self._away and abs(end - self._away[-1][1]) > FARTHEST:
            self._away.clear()
        self._away.append((start, end))
        if len(self._away) < CONFIRMED:
            return False
        self.begin, self.now = min(one[0] for one in self._away), max(one[1] for one in self._away)
        self._away.clear()
        self.low, self.high = math.inf, -math.inf
        return True


MOST_BYTES = 2**48
"""Of one operation: more are damage."""


class Key(NamedTuple):
    """A layer, and ``read``, ``write`` or ``total``."""

    layer: str
    direction: str


class Spans(Columns):
    """What moved, in the order in which it came: start and end in s, float64 (n,), and bytes, int64 (n,).

    And how many operations began in it, one each where that is not given: of a bin they may be any number.
    """

    start: Floats
    end: Floats
    volume: Rows
    operations: Rows = field(default_factory=lambda: np.zeros(0, np.int64))

    def __post_init__(self) -> None:
        if self.operations.size != self.start.size:
            object.__setattr__(self, "operations", np.ones(self.start.size, np.int64))


class Counts(Record, frozen=False):
    """What was wrong with the input, so far.

    Attributes
    ----------
    malformed : int
        Lines that are no record.
    out_of_order : int
        Records of operations that ended before one that came earlier.
    late : int
        Those of them that came more than `iostrata.live.records.intake.LATE` s behind.
    clock_jumps : int
        Records set aside as their times are far from all others, and times that the clock went on from there.
    restarts : int
        Writers that began anew.
    truncations : int
        Files that were cut or replaced while they were followed.
    refused : int
        Records of more layers than are kept, and events of LDMS of another job than the first in their stream.
    left_out : int
        Files of folders that cannot be read, or that are more than can be followed; and 1 for each socket at which
        writers wait until others have ended.
    """

    malformed: int = 0
    out_of_order: int = 0
    late: int = 0
    clock_jumps: int = 0
    restarts: int = 0
    truncations: int = 0
    refused: int = 0
    left_out: int = 0
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


MOST_LAYERS: Final = 64


class ReadRecords:
    """Records in the order in which they were read: key, start and end in s on the job's clock, bytes, operations."""

    def __init__(self) -> None:
        # Columns, as a thousand objects that are kept for a while make Python look for rubbish among all there are.
        self.keys: list[Key] = []
        self.start: list[float] = []
        self.end: list[float] = []
        self.volume: list[int] = []
        self.operations: list[int] = []

    def append(self, key: Key, start: float, end: float, volume: int, operations: int = 1) -> None:
        self.keys.append(key)
        self.start.append(start)
        self.end.append(end)
        self.volume.append(volume)
        self.operations.append(operations)


class Intake:
    """What all sources of one job hold together.

    Attributes
    ----------
    clock : JobClock
    counts : Counts
    keys : dict of Key to int
        Layers and directions so far, numbered in the order in which they came.
    grain : dict of Key to float
        Width in s of the bins that a layer and direction was last told in: its times are known no better.
    epoch : float or None
        The clock's zero in s since the epoch, of the first header that has it.
    program : str
    jumped : bool
        Whether the clock has jumped, so that all before it is of another time; who takes the batch sets it back.
    """

    def __init__(self) -> None:
        self.clock = JobClock()
        self.counts = Counts()
        self.keys: dict[Key, int] = {}
        self.grain: dict[Key, float] = {}
        self.epoch: float | None = None
        self.program = ""
        self.jumped = False
        self._batch = Batch()
        self._set_aside: deque[tuple[Key, float, float, int, int]] = deque(maxlen=CONFIRMED - 1)

    @property
    def waiting(self) -> int:
        """Number of records that nobody has taken yet."""
        return self._batch.size

    def take(self) -> dict[Key, Spans]:
        """Return the records that nobody has taken yet, in the order in which they came."""
        keys = list(self.keys)
        return {keys[number]: columns for number, columns in self._batch.take().items()}

    def take_in(self, records: ReadRecords) -> None:
        """Take records in, but for those whose time is far from all others, and those of too many layers."""
        if not records.keys:
            return
        clock, counts = self.clock, self.counts
        numbers, columns = self._columns(records)
        near = clock.low <= float(columns.start.min()) and float(columns.end.max()) <= clock.high
        if clock.now is None or not near or numbers.min() < 0:
            # What is known of time and layers changes within these records.
            kept = self._one_by_one(records)
            if kept.keys:
                self._batch.add(*self._columns(kept))
            return
        latest = np.maximum.accumulate(np.append(clock.now, columns.end[:-1]))
        counts.out_of_order += int((columns.end < latest).sum())
        counts.late += int((columns.end < latest - LATE).sum())
        clock.advance(float(columns.start.min()), float(columns.end.max()))
        self._batch.add(numbers, columns)

    def _columns(self, records: ReadRecords) -> tuple[Rows, Spans]:
        """Return the number of each record's key, or -1 of a new one, and what it holds."""
        numbers = np.array([self.keys.get(key, -1) for key in records.keys])
        volume, operations = np.array(records.volume, np.int64), np.array(records.operations, np.int64)
        return numbers, Spans(np.array(records.start), np.array(records.end), volume, operations)

    def _one_by_one(self, records: ReadRecords) -> ReadRecords:
        """Return the records that are taken in."""
        clock, counts, kept = self.clock, self.counts, ReadRecords()
        columns = records.keys, records.start, records.end, records.volume, records.operations
        for record in zip(*columns, strict=True):
            start, end = record[1:3]
            if clock.now is not None:
                if not (clock.reaches(start) and clock.reaches(end)):
                    counts.clock_jumps += 1
                    if not clock.jumps(start, end):
                        self._set_aside.append(record)
                        continue
                    # What was read before is of another time, and those that agree on the new one are of the run.
                    counts.clock_jumps -= len(self._set_aside)
                    self.jumped, kept = True, ReadRecords()
                    self._batch.take()
                    for early in self._set_aside:
                        self._keep(kept, *early)
                    self._set_aside.clear()
                elif end < clock.now:
                    counts.out_of_order += 1
                    counts.late += end < clock.now - LATE
            if self._keep(kept, *record):
                clock.advance(start, end)
        return kept

    def _keep(self, kept: ReadRecords, key: Key, start: float, end: float, volume: int, operations: int) -> bool:
        """Add a record to those that are taken in, unless it is of too many layers; tell whether it was added."""
        if key not in self.keys:
            if len({known.layer for known in self.keys} | {key.layer}) > MOST_LAYERS:
                self.counts.refused += 1
                return False
            self.keys[key] = len(self.keys)
        kept.append(key, start, end, volume, operations)
        return True
