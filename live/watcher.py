"""One layer and direction of a running job: its signal, and the answer after every update."""

import math
import time
from dataclasses import replace
from typing import Final

import numpy as np

from ..analysis.phases.bins import FEWEST_BINS
from ..analysis.phases.bursts import Bursts
from ..analysis.registry import DEFAULT_METHOD
from .answer import Answer
from .frequencies import FtioPredictor
from .outlook import Outlook, outlook
from .prediction import StartLaw, next_phase, start_law
from .records.intake import Key, Spans
from .signal import LiveSignal

GROWTH: Final = 1.25
"""How many times more operations there are when the whole run is looked at again, and not its latest phases only."""
FEW: Final = 200
"""Operations up to which the whole run is looked at every time."""
PARTS: Final = 64
"""Bins to a period of the latest phases."""
SOON: Final = 1 / 16
"""Share of a period after a look before which there is no other."""
SAME_PERIOD: Final = 0.1
"""Share by which periods of one regime differ at most."""
LEAST_SHARE: Final = 0.15
"""Share of the processor time of an update that looks may take whatever all else took."""
MOST_CREDIT: Final = 0.05
"""Processor time in s that updates may save up for a look, or have to pay back: the first one compiles."""


class Credit:
    """Processor time in s that looks at the signals of a job may still take."""

    def __init__(self, for_update: float | None = None) -> None:
        """Grant for each update so much as all else has left of this; None for as much as looks need."""
        self._for_update = for_update
        self._left = 0.0
        self._looks = 0.0
        self._granted = time.thread_time()

    def grant(self) -> None:
        """Say that there is another update."""
        if self._for_update is None:
            return
        now = time.thread_time()
        others = now - self._granted - self._looks
        self._granted, self._looks = now, 0.0
        granted = max(self._for_update - others, LEAST_SHARE * self._for_update)
        self._left = min(self._left + granted, MOST_CREDIT)

    def allows(self) -> bool:
        """Tell whether there may be another look."""
        return self._for_update is None or self._left >= 0

    def spend(self, seconds: float) -> None:
        """Say how long a look took."""
        self._left = max(self._left - seconds, -MOST_CREDIT)
        self._looks += seconds


class Watcher:
    """Follows one layer and direction.

    The whole run is looked at when it has grown by a quarter, as long as its bins can show a period, and at the end; in
    between its latest phases, so that an update costs the same however long a job runs.
    """

    def __init__(self, key: Key, credit: Credit | None = None, method: str = DEFAULT_METHOD) -> None:
        """Take a key, and processor time for looks, which others may share; the method is ``auto`` or ``ftio``."""
        self._ftio = FtioPredictor() if method == "ftio" else None
        self._key = key
        self.signal = LiveSignal()
        self._outlook = Outlook(0)
        self._law: StartLaw | None = None
        self._whole: Outlook | None = None
        self._whole_operations = 0
        self._seen = 0
        self._credit = credit or Credit()
        self._next_look = -math.inf

    def add(self, columns: Spans) -> None:
        """Take records in."""
        self.signal.add(columns.start, columns.end, columns.volume)

    def answer(self, begin: float, now: float, last: bool = False) -> Answer:
        """Say what holds at a time, of a run that began at another, in s; the `last` time it is that of the whole."""
        before = self._outlook.train
        if self._ftio is not None:
            if self._seen != self.signal.operations:
                self._predict(self._ftio, begin, now)
        elif last:
            self._outlook = outlook(self.signal.whole((begin, now)))
        elif self._seen != self.signal.operations and self._credit.allows() and now >= self._next_look:
            self._look(begin, now)
            self._next_look = now + SOON * (self._outlook.period or 0.0)
        if self._outlook.train is not before:
            self._law = None if self._outlook.train is None else start_law(self._outlook.train)
        return self._answer(self._outlook, now)

    def _predict(self, ftio: FtioPredictor, begin: float, now: float) -> None:
        """Do as FTIO does."""
        low = ftio.begin(begin)
        signal = self.signal.whole((begin, now)) if low == begin else self.signal.since((low, now), 0.0)
        found = ftio.predict(signal)
        rows = np.array([(one.start, one.end, one.volume) for one in found.phases]).reshape(-1, 3)
        phases = Bursts(rows[:, 0], rows[:, 1], rows[:, 2])
        self._outlook = Outlook(
            phases=len(phases),
            latest=phases,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            regime_start=low if found.periodic else None,
            reason=found.reason,
        )
        self._seen = self.signal.operations

    def _look(self, begin: float, now: float) -> None:
        """Look at the whole signal or at its latest phases."""
        started = time.thread_time()
        operations = self.signal.operations
        before = self._outlook
        grown = operations <= FEW or operations >= GROWTH * self._whole_operations
        if self._whole is None or (grown and self._whole_tells()):
            self._whole, self._whole_operations = outlook(self.signal.whole((begin, now))), operations
            self._outlook = self._whole
        else:
            self._outlook = _continued(before, self._latest(begin, now))
            if self._outlook.train is None and before.train is not None and self._whole_tells(before.period):
                self._whole, self._whole_operations = outlook(self.signal.whole((begin, now))), operations
                self._outlook = self._whole if self._whole.train is not None else self._outlook
        self._seen = operations
        self._credit.spend(time.thread_time() - started)

    def _latest(self, begin: float, now: float) -> Outlook:
        """Look at the latest phases."""
        latest, usual = self._outlook.latest, self._usual()
        if usual is None:
            return outlook(self.signal.since((begin, now), (now - begin) / PARTS**2))
        # From the middle of the pause before the second on.
        low = float(min(latest.end[0], latest.start[1]) + latest.start[1]) / 2
        return outlook(self.signal.since((low, now), usual / PARTS))

    def _usual(self) -> float | None:
        """Return the usual time in s from phase to phase; None where there are fewer than two."""
        latest = self._outlook.latest
        if len(latest) < 2:
            return None
        return self._outlook.period or float(latest.start[-1] - latest.start[0]) / (len(latest) - 1)

    def _whole_tells(self, period: float | None = None) -> bool:
        """Tell whether the signal of the whole run still has so many bins to a period that one can be found."""
        usual = period or self._usual()
        return usual is None or self.signal.whole_width * FEWEST_BINS <= usual

    def _answer(self, found: Outlook, now: float) -> Answer:
        following = None if self._law is None or found.since else next_phase(self._law, now, found.lead)
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
            frequencies=None if self._ftio is None else self._ftio.intervals,
        )


def _continued(before: Outlook, found: Outlook) -> Outlook:
    """Return what the latest phases show, as a part of the run that was looked at before."""
    known = float(before.latest.start[-1]) if len(before.latest) else float("-inf")
    near = 0.25 * (found.period or before.period or 0.0)
    new = int((found.latest.start > known + near).sum())
    if new == len(found.latest):
        # All that is remembered is new, and there was more: the window began with the second of those before.
        new = max(found.phases - max(len(before.latest) - 1, 0), new)
    start = found.regime_start
    if found.period and before.period and abs(found.period / before.period - 1) < SAME_PERIOD:
        start = before.regime_start
    return replace(found, phases=before.phases + new, regime_start=start)
