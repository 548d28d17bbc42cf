"""What all sources of a running job hold together: records on one clock, and what was wrong with them."""

from collections import deque
from typing import Final

import numpy as np

from ...model.arrays import Rows
from .clock import CONFIRMED, LATE, JobClock
from .columns import Batch, Counts, Key, Spans

MOST_LAYERS: Final = 64


class ReadRecords:
    """Records in the order in which they were read: key, start and end in s on the job's clock, and bytes of each."""

    def __init__(self) -> None:
        # Columns, as a thousand objects that are kept for a while make Python look for rubbish among all there are.
        self.keys: list[Key] = []
        self.start: list[float] = []
        self.end: list[float] = []
        self.volume: list[int] = []

    def append(self, key: Key, start: float, end: float, volume: int) -> None:
        self.keys.append(key)
        self.start.append(start)
        self.end.append(end)
        self.volume.append(volume)


class Intake:
    """What all sources of one job hold together.

    Attributes
    ----------
    clock : JobClock
    counts : Counts
    keys : dict of Key to int
        Layers and directions so far, numbered in the order in which they came.
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
        self.epoch: float | None = None
        self.program = ""
        self.jumped = False
        self._batch = Batch()
        self._set_aside: deque[tuple[Key, float, float, int]] = deque(maxlen=CONFIRMED - 1)

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
        return numbers, Spans(np.array(records.start), np.array(records.end), np.array(records.volume, np.int64))

    def _one_by_one(self, records: ReadRecords) -> ReadRecords:
        """Return the records that are taken in."""
        clock, counts, kept = self.clock, self.counts, ReadRecords()
        for record in zip(records.keys, records.start, records.end, records.volume, strict=True):
            key, start, end, volume = record
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
            if self._keep(kept, key, start, end, volume):
                clock.advance(start, end)
        return kept

    def _keep(self, kept: ReadRecords, key: Key, start: float, end: float, volume: int) -> bool:
        """Add a record to those that are taken in, unless it is of too many layers; tell whether it was added."""
        if key not in self.keys:
            if len({known.layer for known in self.keys} | {key.layer}) > MOST_LAYERS:
                self.counts.refused += 1
                return False
            self.keys[key] = len(self.keys)
        kept.append(key, start, end, volume)
        return True
