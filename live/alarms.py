"""What is not as it was while a job runs: a phase that does not come, a period that slipped, bandwidth that fell."""

import re
from collections.abc import Mapping
from typing import Final

import numpy as np

from ..analysis.phases.bursts import FEWEST_BURSTS
from ..model.arrays import Floats, Rows
from ..model.errors import SelectionError
from ..model.quantities import bytes_text, counted, percent_text, seconds_text
from .activity import Activity
from .answer import Alarm, Answer

LIMITS: Final[Mapping[str, float]] = {"overdue": 0.5, "slipped": 0.25, "slow": 0.7}
"""From where on there is an alarm: periods by which a phase is later than its latest expected start, by which share of
the period it differs from the one that held longest, and which share of the usual bandwidth of phases is missing."""
_SURE, _LIKELY = 0.9, 0.5
"""Confidence in a period, and probability of the next phase, from which on they are what others are compared with."""
_KEPT: Final = 4
"""Intervals by which a pace is told to go on."""
_IN_A_ROW: Final = 2
"""Phases that are all slow before that is an alarm: a single one may be anything."""
_RULE: Final = re.compile(rf"({'|'.join(LIMITS)})(?:>(\d+(?:\.\d*)?|\.\d+))?")


def parse_rule(text: str) -> tuple[str, float]:
    """Return kind and limit of a rule such as ``overdue`` or ``slow>0.3``; SelectionError where it is none."""
    found = _RULE.fullmatch(text.replace(" ", ""))
    if found is None:
        raise SelectionError(f"{text!r} is no rule; give {', '.join(LIMITS)}, or one with a limit, such as overdue>1")
    kind, limit = found.groups()
    return kind, LIMITS[kind] if limit is None else float(limit)


class Alarms:
    """Looks at the answers about one layer and direction, one after the other."""

    def __init__(self, limits: Mapping[str, float] = LIMITS) -> None:
        """Take the limits by kind."""
        self._limits = {**LIMITS, **limits}
        self._expected: tuple[int, float, float] | None = None
        """Phases before the one that is expected, its latest start, and the period."""
        self._held = (0.0, 0.0, -1.0)
        """For how long the regime held that held longest, the period of its first intervals, and its start."""
        self._compared: tuple[Activity, bool, tuple[float, str] | None] | None = None
        """Bursts, whether the last is over, and what their bandwidth tells: the same until something moves."""

    def of(self, answer: Answer, bursts: Activity, over: bool) -> tuple[Alarm, ...]:
        """Return what is not as it was.

        Parameters
        ----------
        bursts : Activity
            Those of the answer.
        over : bool
            Whether the last of them is.
        """
        slipped = self._slipped(answer, bursts)
        found = {"overdue": self._overdue(answer), "slipped": slipped, "slow": self._slowed(bursts, over)}
        beyond = [(kind, one) for kind, one in found.items() if one is not None and one[0] > self._limits[kind]]
        return tuple(Alarm(kind, value, self._limits[kind], text) for kind, (value, text) in beyond)

    def _slowed(self, bursts: Activity, over: bool) -> tuple[float, str] | None:
        if self._compared is None or self._compared[0] is not bursts or self._compared[1] != over:
            ended = bursts if over else bursts.take(np.arange(len(bursts) - 1))
            self._compared = bursts, over, _slow(ended)
        return self._compared[2]

    def _overdue(self, answer: Answer) -> tuple[float, str] | None:
        known = self._expected
        if answer.in_phase or known is None or known[0] != answer.phases:
            known = None
        told = answer.next_start is not None and answer.period is not None and (answer.probability or 0.0) >= _LIKELY
        if answer.next_start is not None and answer.period is not None and told:
            low, high = answer.next_start
            # What is said once the phase could have come takes into account that it did not.
            if known is None or answer.time < low:
                known = answer.phases, high, answer.period
        self._expected = known
        if known is None:
            return None
        late = answer.time - known[1]
        text = f"The next phase was expected by {seconds_text(known[1])} and has not begun {seconds_text(late)} later."
        return late / known[2], text

    def _slipped(self, answer: Answer, bursts: Activity) -> tuple[float, str] | None:
        if answer.period is None or answer.regime_start is None or answer.confidence < _SURE:
            return None
        # Not the first one: while a run begins, that may be of the inside of its first burst.
        length, usual, start = self._held
        # Nor that of its first few intervals; what drifts would be no change if it were always the latest.
        known = answer.regime_start == start and answer.time - answer.regime_start > 2 * _KEPT * usual
        period = usual if known else answer.period
        self._held = max((length, usual, start), (answer.time - answer.regime_start, period, answer.regime_start))
        usual = self._held[1]
        change = answer.period / usual - 1
        if abs(change) > self._limits["slipped"] and _goes_on(bursts, usual, self._limits["slipped"]):
            # Another level of the same program is told, such as its dumps in place of its log.
            return None
        now = f"The period is {seconds_text(answer.period)}, {percent_text(abs(change))}"
        # Of the period before the reason may tell more, and by other intervals.
        return abs(change), f"{now} {'longer' if change > 0 else 'shorter'} than before."


def _goes_on(bursts: Activity, period: float, within: float) -> bool:
    """Tell whether the latest bursts, or the large ones among them, still come at a period in s."""
    latest = bursts.take(bursts.start > bursts.start[-1] - _KEPT * period - 0.5 * period)
    large = latest.take(2 * latest.volume >= latest.volume.max())
    every = bursts.take(np.arange(max(len(bursts) - 2 * _KEPT, 0), len(bursts)))
    intervals = [np.diff(one.start) for one in (every, large)]
    return any(one.size >= _KEPT and abs(_middle(one) / period - 1) <= within for one in intervals)


def _middle(values: Floats | Rows) -> float:
    """Return the upper median of at least one value: NumPy's takes longer than all else about bandwidth."""
    return float(np.sort(values)[values.size // 2])


def _slow(bursts: Activity) -> tuple[float, str] | None:
    """Compare the bandwidth of the latest phases with that of those before, of such as moved about as much."""
    length = bursts.end - bursts.start
    usual = _middle(bursts.volume) if len(bursts) else 0.0
    alike = (length > 0) & (bursts.volume >= usual / 2) & (bursts.volume <= 2 * usual)
    rates = bursts.volume[alike] / length[alike]
    if len(rates) < FEWEST_BURSTS + _IN_A_ROW or not alike[-_IN_A_ROW:].all():
        return None
    before, latest = _middle(rates[:-_IN_A_ROW]), float(rates[-_IN_A_ROW:].max())
    missing = 1 - latest / before
    phases = f"The latest {counted(_IN_A_ROW, 'phase')} moved at most {bytes_text(latest)}/s"
    return missing, f"{phases}, {percent_text(missing)} less than the {bytes_text(before)}/s before."
