"""What is said about a signal's phases: one clock, one with gaps, regimes, several clocks, irregular, or too few."""

from dataclasses import dataclass

from .recurrence import PeriodEstimate
from .significance import CLEAR_CONTRAST
from .trains import PhaseTrain, least_variation

# Bytes that vary less are alike.
ALIKE = 0.25
# Noise has no set of phases of this contrast, and hardly this many phases that are alike.
STARK_CONTRAST = 5.0
MANY_PHASES = 8


@dataclass(frozen=True)
class Clock:
    """A further period that holds at the same time: its estimate, its bytes, and the jitter and p-value behind it."""

    estimate: PeriodEstimate
    bytes: float
    jitter: float
    phases: int
    p_value: float


@dataclass(frozen=True)
class Stay:
    """A stretch of the run with one period: `start` and `end` in s, and its mean period in s."""

    start: float
    end: float
    period: float


@dataclass(frozen=True, eq=False)
class Verdict:
    """What the phases of a signal say.

    Attributes
    ----------
    kind : str
        "clock", "clock with gaps", "regimes", "several clocks", "irregular", or "few".
    phases : PhaseTrain or None
        All phases, in the order of time; None where there are none.
    core : PhaseTrain or None
        The phases without start-up and shut-down I/O, in the order of time; None for "few".
    period : PeriodEstimate or None
        None where the verdict is not periodic.
    recurrence, jitter : float or None
        Mean time between starts in s, and its coefficient of variation.
    regularity : float
        Jitter of what the period stands on: without the gaps, within a regime, or of the strongest clock.
    p_value : float
        Of the test that decided, corrected for the search.
    missing : int
        Phases that a clock would have had between others.
    at_start, at_end : int
        Phases set apart as start-up and shut-down I/O.
    stays : tuple of Stay
        Stretches with one period.
    clocks : tuple of Clock
        All periods, the one with the most bytes first.
    cycle : int or None
        After how many phases their sizes repeat.
    sets : int
        Number of sets of phases searched.
    """

    kind: str
    phases: PhaseTrain | None = None
    core: PhaseTrain | None = None
    period: PeriodEstimate | None = None
    recurrence: float | None = None
    jitter: float | None = None
    regularity: float = 0.0
    p_value: float = 1.0
    missing: int = 0
    at_start: int = 0
    at_end: int = 0
    stays: tuple[Stay, ...] = ()
    clocks: tuple[Clock, ...] = ()
    cycle: int | None = None
    sets: int = 0

    @property
    def stands_out(self) -> bool:
        """Whether there are phases that stand out, or are alike at least."""
        if self.core is None:
            return False
        return self.core.contrast >= CLEAR_CONTRAST or least_variation(self.core) <= ALIKE

    @property
    def beyond_doubt(self) -> bool:
        """Whether there are phases, periodic or not, beyond what noise shows: an oscillation need not be looked for."""
        if self.core is None:
            return False
        if self.core.contrast >= STARK_CONTRAST:
            return True
        alike = least_variation(self.core) <= ALIKE
        return alike and (self.core.contrast >= CLEAR_CONTRAST or len(self.core) >= MANY_PHASES)

    @property
    def periodic(self) -> bool:
        """Whether the verdict names a period."""
        return self.period is not None
