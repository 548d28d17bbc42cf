"""What `watch` says of one layer and direction after an update."""

from dataclasses import dataclass

from ..model.document import Plain


@dataclass(frozen=True)
class Answer:
    """The present of one layer and direction; times in s on the job's clock.

    Attributes
    ----------
    time : float
        How far the clock has come.
    layer, direction : str
    operations, bytes : int
        So far.
    phases : int
        So far.
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
    frequencies : tuple of (low, high, probability) or None
        Of the method ``ftio``: intervals in Hz of the frequencies found so far, and the share of them in each.
    """

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
    frequencies: tuple[tuple[float, float, float], ...] | None = None

    def to_dict(self) -> dict[str, Plain]:
        """Return the answer as one of the lines that ``iostrata watch`` prints."""
        found: dict[str, Plain] = {
            "time_s": self.time,
            "layer": self.layer,
            "direction": self.direction,
            "operations": self.operations,
            "bytes": self.bytes,
            "phases": self.phases,
            "in_phase": self.in_phase,
            "periodic": self.periodic,
            "period_s": self.period,
            "period_interval_s": None if self.period_interval is None else list(self.period_interval),
            "confidence": self.confidence,
            "next_start_s": None if self.next_start is None else list(self.next_start),
            "probability": self.probability,
            "regime_start_s": self.regime_start,
            "reason": self.reason,
        }
        if self.frequencies is not None:
            found["frequency_intervals_hz"] = [list(one) for one in self.frequencies]
        return found
