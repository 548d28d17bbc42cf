"""What `watch` prints about one layer and direction after an update."""

from typing import ClassVar

from ..model.document import Record


class Alarm(Record):
    """What is not as it was.

    Attributes
    ----------
    kind : {"overdue", "slipped", "slow"}
    value, limit : float
        How far it is off, and from where on that is an alarm.
    text : str
        A sentence.
    """

    kind: str
    value: float
    limit: float
    text: str


class Answer(Record):
    """The present of one layer and direction, a line of ``iostrata watch``; times in s on the job's clock.

    Attributes
    ----------
    time : float
        How far the clock has come.
    layer, direction : str
    operations, bytes : int
        So far.
    phases : int
        So far: those that ``periods`` would count, or by `as_of` where no pauses part them or where these are no longer
        such as they were; of what repeats in its contents, the bursts.
    in_phase : bool
        Whether a phase is under way.
    periodic : bool
    period : float or None
        Of the latest regime.
    period_interval : (float, float) or None
        Its 95 % confidence interval.
    confidence : float
        That the period lies within 10 % of the truth.
    next_start : (float, float) or None
        Earliest and latest start of the next phase; None where nothing can be said.
    probability : float or None
        That the next phase begins between them.
    regime_start : float or None
        Since when the period holds.
    reason : str
        Why, in a sentence or two.
    as_of : float or None
        Of when period and reason are, where that is not now.
    iteration : int or None
        Number of the iteration that is under way or was the last, where what moves repeats in its contents.
    next_bytes, next_operations : int or None
        What the next phase moves, by how many operations, where that is known.
    next_bytes_range, next_operations_range : (int, int) or None
        Between which they are in 95 %, by the latest phases of its kind, where these are not the same.
    alarms : tuple of Alarm or None
        What is not as it was.
    job : str or None
        Whose answer it is, where there are several.
    set : int or None
        Of several jobs: the set of Set-10, that of periods about 10^set s, by the period of what moves most.
    priority : float or None
        Of several jobs: the share of the bandwidth that Set-10 gives it beside others that do I/O, 10^-set.
    frequencies : tuple of (low, high, probability) or None
        Of the method ``ftio``: intervals in Hz of the frequencies found so far, and the share of them in each.
    """

    KEYS: ClassVar = {"as_of": "as_of_s", "frequencies": "frequency_intervals_hz"}
    OPTIONAL: ClassVar = frozenset((
        "as_of", "iteration", "next_bytes", "next_bytes_range", "next_operations", "next_operations_range", "alarms",
        "job", "set", "priority", "frequencies",
    ))  # fmt: skip

    time: float
    layer: str
    direction: str
    operations: int
    bytes: int
    phases: int
    in_phase: bool
    periodic: bool
    period: float | None
    period_interval: tuple[float, float] | None
    confidence: float
    next_start: tuple[float, float] | None
    probability: float | None
    regime_start: float | None
    reason: str
    as_of: float | None = None
    iteration: int | None = None
    next_bytes: int | None = None
    next_bytes_range: tuple[int, int] | None = None
    next_operations: int | None = None
    next_operations_range: tuple[int, int] | None = None
    alarms: tuple[Alarm, ...] | None = None
    job: str | None = None
    set: int | None = None
    priority: float | None = None
    frequencies: tuple[tuple[float, float, float], ...] | None = None
