"""A running job: records in, answers for each layer and direction out."""

from .answer import Answer
from .records.columns import Columns, Key
from .records.intake import Intake
from .watcher import Watcher


class LiveJob:
    """All layers and directions of a running job.

    Attributes
    ----------
    intake : Intake
        What its sources tell.
    """

    def __init__(self, layers: frozenset[str] = frozenset(), budget: float | None = None) -> None:
        """Follow the layers of these names, or all; `budget` is of a `Watcher`."""
        self._budget = budget
        self.intake = Intake()
        self._layers = layers
        self._watchers: dict[Key, Watcher] = {}

    def take(self) -> None:
        """Take in what the sources have told."""
        if self.intake.jumped:
            self._watchers, self.intake.jumped = {}, False
        for key, columns in self.intake.batch.take().items():
            self.add(key, columns)

    def add(self, key: Key, columns: Columns) -> None:
        """Take in records of one layer and direction."""
        if self._layers and key.layer not in self._layers:
            return
        watcher = self._watchers.get(key)
        if watcher is None:
            watcher = self._watchers[key] = Watcher(key, self._budget)
        watcher.add(columns)

    def answers(self, begin: float, now: float, last: bool = False) -> list[Answer]:
        """Say what holds in each layer and direction at a time, of a run that began at another, in s."""
        return [watcher.answer(begin, now, last) for watcher in self._watchers.values() if watcher.signal.bytes]
