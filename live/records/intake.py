"""What all sources of a running job tell together: records on one clock, and what was wrong with them."""

from typing import Final

from .clock import LATE, JobClock
from .columns import Batch, Counts, Key

MOST_LAYERS: Final = 64


class Intake:
    """What all sources of one job tell together.

    Attributes
    ----------
    clock : JobClock
    batch : Batch
        Records that nobody has taken yet.
    counts : Counts
    keys : dict of Key
        Layers and directions so far, in the order in which they came.
    epoch : float or None
        The clock's zero in s since the epoch, of the first header that says it.
    program : str
    jumped : bool
        Whether the clock has jumped, so that all before it is of another time; who takes the batch sets it back.
    """

    def __init__(self) -> None:
        self.clock = JobClock()
        self.batch = Batch()
        self.counts = Counts()
        self.keys: dict[Key, None] = {}
        self.epoch: float | None = None
        self.program = ""
        self.jumped = False

    def tell(self, key: Key, start: float, end: float, volume: int) -> None:
        """Take a record in, unless its time is far from all others, or there are too many layers."""
        clock, counts = self.clock, self.counts
        if clock.now is not None:
            if not clock.reaches(end) or not clock.reaches(start):
                counts.clock_jumps += 1
                if not clock.jumps(start, end):
                    return
                # What was told before is of another time.
                self.jumped = True
                self.batch.take()
            elif end < clock.now:
                counts.out_of_order += 1
                counts.late += end < clock.now - LATE
        if key not in self.keys:
            if len({known.layer for known in self.keys} | {key.layer}) > MOST_LAYERS:
                counts.refused += 1
                return
            self.keys[key] = None
        clock.advance(start, end)
        self.batch.add(key, start, end, volume)
