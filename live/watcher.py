"""One layer and direction of a running job: its signal, and what it says after every update."""

import time
from dataclasses import replace
from typing import Final

from .answer import Answer
from .outlook import Outlook, outlook
from .prediction import next_phase
from .records.columns import Columns, Key
from .signal import LiveSignal

GROWTH: Final = 1.25
"""How many times more operations there are when the whole run is looked at again, and not its latest phases only."""
FEW: Final = 200
"""Operations up to which the whole run is looked at every time."""
PARTS: Final = 64
"""Bins to a period of the latest phases."""
SAME_PERIOD: Final = 0.1
"""Share by which periods of one regime differ at most."""
MOST_CREDIT: Final = 0.1
"""Processor time in s that updates may save up for a look."""


class Watcher:
    """Follows one layer and direction.

    The whole run is looked at when it has grown by a quarter and at the end, in between its latest phases, so that an
    update costs the same however long a job runs.
    """

    def __init__(self, key: Key, budget: float | None = None) -> None:
        """Take a key, and processor time in s that looks may take for each update; None for as much as they need."""
        self._key = key
        self.signal = LiveSignal()
        self._outlook = Outlook(0)
        self._whole: Outlook | None = None
        self._whole_operations = 0
        self._seen = 0
        self._budget = budget
        self._credit = 0.0

    def add(self, columns: Columns) -> None:
        """Take records in."""
        self.signal.add(columns.start, columns.end, columns.volume)

    def answer(self, begin: float, now: float, last: bool = False) -> Answer:
        """Say what holds at a time, of a run that began at another, in s; the `last` time it is that of the whole."""
        if last:
            self._outlook = outlook(self.signal.whole((begin, now)))
        elif self._seen != self.signal.operations:
            self._look(begin, now)
        elif self._budget is not None:
            self._credit = min(self._credit + self._budget, MOST_CREDIT)
        return self._told(self._outlook, now)

    def _look(self, begin: float, now: float) -> None:
        """Look at the signal, unless looks have taken more time than they may."""
        if self._budget is not None:
            self._credit = min(self._credit + self._budget, MOST_CREDIT)
            if self._credit < 0:
                return
        started = time.thread_time()
        operations = self.signal.operations
        before = self._outlook
        if self._whole is None or operations <= FEW or operations >= GROWTH * self._whole_operations:
            self._whole, self._whole_operations = outlook(self.signal.whole((begin, now))), operations
            self._outlook = self._whole
        else:
            self._outlook = _continued(before, self._latest(begin, now))
            if self._outlook.train is None and before.train is not None:
                self._whole, self._whole_operations = outlook(self.signal.whole((begin, now))), operations
                self._outlook = self._whole if self._whole.train is not None else self._outlook
        self._seen = operations
        self._credit -= time.thread_time() - started

    def _latest(self, begin: float, now: float) -> Outlook:
        """Look at the latest phases."""
        latest = self._outlook.latest
        if len(latest) < 2:
            return outlook(self.signal.since((begin, now), (now - begin) / PARTS**2))
        # From the middle of the pause before the second on.
        low = float(min(latest.end[0], latest.start[1]) + latest.start[1]) / 2
        usual = self._outlook.period or float(latest.start[-1] - latest.start[0]) / (len(latest) - 1)
        return outlook(self.signal.since((low, now), usual / PARTS))

    def _told(self, found: Outlook, now: float) -> Answer:
        following = None if found.train is None or found.since else next_phase(found.train, now)
        return Answer(
            time=now,
            layer=self._key.layer,
            direction=self._key.direction,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            phases=found.phases,
            in_phase=len(found.latest) > 0 and now <= float(found.latest.end[-1]) + found.quiet,
            periodic=found.period is not None,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            next_start=None if following is None else (following.earliest, following.latest),
            probability=None if following is None else following.probability,
            regime_start=found.regime_start,
            reason=found.reason,
        )


def _continued(before: Outlook, found: Outlook) -> Outlook:
    """Return what the latest phases say, as a part of the run that was looked at before."""
    known = float(before.latest.start[-1]) if len(before.latest) else float("-inf")
    near = 0.25 * (found.period or before.period or 0.0)
    new = int((found.latest.start > known + near).sum())
    start = found.regime_start
    if found.period and before.period and abs(found.period / before.period - 1) < SAME_PERIOD:
        start = before.regime_start
    return replace(found, phases=before.phases + new, regime_start=start)
