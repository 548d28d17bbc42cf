"""The clock of a job: how far it has come, and which records are out of its time."""

import math
from dataclasses import dataclass, field
from typing import Final

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
