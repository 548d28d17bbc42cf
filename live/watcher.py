"""One layer and direction of a running job: its signal, and what it says after every update."""

from .answer import Answer
from .outlook import Outlook, outlook
from .prediction import next_phase
from .records.columns import Columns, Key
from .signal import LiveSignal


class Watcher:
    """Follows one layer and direction."""

    def __init__(self, key: Key) -> None:
        self._key = key
        self.signal = LiveSignal()
        self._outlook: Outlook | None = None
        self._seen = -1
        self._latest = 0.0

    def add(self, columns: Columns) -> None:
        """Take records in."""
        if len(columns):
            self._latest = max(self._latest, float(columns.end.max()))
        self.signal.add(columns.start, columns.end, columns.volume)

    def answer(self, begin: float, now: float) -> Answer:
        """Say what holds at a time, of a run that began at another, in s."""
        if self._seen != self.signal.operations or self._outlook is None:
            self._outlook = outlook(self.signal.whole((begin, now)))
            self._seen = self.signal.operations
        return self._told(self._outlook, now)

    def _told(self, found: Outlook, now: float) -> Answer:
        following = None if found.train is None else next_phase(found.train, now)
        return Answer(
            time=now,
            layer=self._key.layer,
            direction=self._key.direction,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            phases=found.phases,
            in_phase=found.last_phase is not None and now <= found.last_phase[1] + found.quiet,
            periodic=found.period is not None,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            next_start=None if following is None else (following.earliest, following.latest),
            probability=None if following is None else following.probability,
            regime_start=found.regime_start,
            reason=found.reason,
        )
