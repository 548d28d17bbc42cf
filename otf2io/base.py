"""Progress of reading, told from any of the threads that read."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError
from contextlib import contextmanager

Progress = Callable[[int, int], None]
"""Called now and then with the number of events done and of all events."""


class ProgressReport:
    """Sums up what the threads have done."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total = total
        self._progress = progress
        self._done = 0
        self._cancelled = False
        self._lock = threading.Lock()

    @contextmanager
    def cancelling(self) -> Iterator[None]:
        """Make all threads stop at their next report if what runs inside fails or is interrupted."""
        try:
            yield
        except BaseException:
            self._cancelled = True
            raise

    def add(self, events: int) -> None:
        """Report `events` more events.

        Raises CancelledError if another thread failed or the user interrupted: it makes no sense to go on.
        """
        if self._cancelled:
            raise CancelledError
        if self._progress is None or not events:
            return
        with self._lock:
            self._done += events
            self._progress(min(self._done, self._total), self._total)
