"""What following may take of a core: processor time that is granted by the job's clock, and what is paid from it.

It is counted, and not measured, so that a replay says the same each time; beside a job that runs, what was measured
above that is paid, too.
"""

from typing import Final

SHARE: Final = 0.014
"""Of a core that following a job may take, half of it for looks and half for answers: what is left of two percent is
for starting, for reading lines and for writing those that say nothing new."""
SAVED: Final = 0.03
"""Processor time in s that may be saved up for either, and that is lent at the start."""
REPAID: Final = 60.0
"""Time in s in which what is lent is paid back."""
LOOK, PER_PHASE, PER_STRETCH = 0.001, 0.00015, 3e-5
"""Processor time in s of a look, and more for each phase and each stretch of activity, up to so many."""
LINES: Final = 0.005
"""Of a core that reading lines and writing them may take before less is left for looks and answers."""
DEARER: Final = 4
"""Times what was counted that is paid on top of it at once: compiled code that is loaded once is lent, too."""
MOST_LENT: Final = 0.5
"""Share of what is granted that goes into paying back, at most: more is not owed."""
MOST_PHASES, MOST_STRETCHES = 24, 1000
MOVED, SOUGHT, SILENT = 0.0006, 0.0012, 0.0001
"""Processor time in s of an answer after something has moved, where a regime holds and where pauses that part bursts
are sought, and of one after nothing has."""


class Credit:
    """Processor time in s that may still be taken for one purpose, by the time of the job's clock."""

    def __init__(self, share: float | None = SHARE / 2) -> None:
        """Grant a share of the job's time; None for as much as is needed."""
        self._share = share
        self._left = SAVED
        self._lent = self._back = 0.0
        self._lend(SAVED)
        self._latest: float | None = None
        self.spent = 0.0

    def grant(self, now: float, more: float = 0.0) -> float:
        """Say how far the job's clock has come, in s, and what others leave; return what is left for others."""
        if self._share is None:
            return 0.0
        passed = 0.0 if self._latest is None else max(now - self._latest, 0.0)
        self._latest = now
        paid = min(self._lent, self._back * passed)
        self._lent -= paid
        granted = self._left + self._share * passed - paid + more
        self._left = min(granted, SAVED)
        return granted - self._left

    def allows(self) -> bool:
        """Tell whether more may be taken."""
        return self._share is None or self._left >= 0

    def spend(self, seconds: float) -> None:
        """Say what was taken."""
        self._left -= seconds
        self.spent += seconds

    def settle(self, factor: float) -> None:
        """Pay so many times again what was said to be taken since the last time."""
        self._left -= min(factor, DEARER) * self.spent
        self._lend(max(factor - DEARER, 0.0) * self.spent)
        self.spent = 0.0

    def _lend(self, seconds: float) -> None:
        """Say what has been taken that is paid back little by little."""
        self._lent = min(self._lent + seconds, MOST_LENT * (self._share or 0.0) * REPAID)
        self._back = max(self._back, self._lent / REPAID)


def dearer(measured: float, passed: float, counted: float) -> float:
    """Return how many times what was counted is owed on top of it, as what was measured in some s of time is more.

    All in s of processor time; `measured` has reading and writing in it.
    """
    owed = measured - LINES * passed - counted
    return max(owed / counted, 0.0) if counted else 0.0


def price_of_look(stretches: int) -> float:
    """Return the processor time in s of a look at so many stretches of activity."""
    return LOOK + PER_PHASE * min(stretches, MOST_PHASES) + PER_STRETCH * min(stretches, MOST_STRETCHES)
