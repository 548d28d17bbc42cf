"""What a signal shows of the present: the regime that holds, as the method `auto` finds it, and its phases."""

from dataclasses import dataclass, replace

import numpy as np

from ..analysis.phases.bins import bin_width
from ..analysis.phases.bursts import Bursts, vertices
from ..analysis.phases.confidence import confidence, decided
from ..analysis.phases.decision import Decision
from ..analysis.phases.phases import phases_of
from ..analysis.phases.reasons import reason
from ..analysis.phases.stretches import MOST_SPANS, PulseTrain
from ..model.arrays import Floats
from ..signals.construction import StepSignal
from .activity import Activity

FALSE_ALARM_RATE = 0.01
QUIET_SHARE = 0.1
"""Share of a usual pause after which a phase is over."""
LATEST = 24
"""Phases that a look at the latest ones goes back to."""
STEADY_LEAD, LONGEST_LEAD = 0.1, 0.1
"""Of what belongs to a phase before its burst: half of the deviations as a share of it, and its share of a period."""
LEAST_OFF, OFF, MOST_OFF = 0.02, 3.0, 0.25
"""Share of a period by which a burst may be off and still be of the regime: so many jitters of it, within bounds."""
LONGER = 1.5
"""Times the longest burst of a regime that a burst lasts at most, or there is background in which none stands out."""
SMALL = 0.25
"""Share of the usual volume of a phase below which a burst is none."""
SPARSE = 3
"""Bursts in a row between which others are missing, from which on they are of another regime."""
LATEST_REGIME = "the latest regime"
"""Which of several regimes the stated period is that of."""
NONE = Bursts(np.zeros(0), np.zeros(0), np.zeros(0))


@dataclass(frozen=True, eq=False)
class Outlook:
    """The latest regime of a signal.

    Attributes
    ----------
    phases : int
        Number of all phases.
    latest : Bursts
        The last phases, at most `LATEST` of them.
    period, period_interval, confidence
        Of the latest regime; None, None and 0 without.
    regime_start : float or None
        In s.
    train : PulseTrain or None
        Phases of the latest regime; None where there is no regime, or a spectral line only.
    reason : str
    quiet : float
        Time in s without I/O after which a phase is over.
    lead : float
        Time in s by which phases begin before what stands out of them.
    since : int
        Bursts after the last one of the regime, as large as those of it.
    fitted : int
        Bursts that came after the look and are where the regime has them.
    blurred : bool
        Whether no pause parts what came after the look, so that nothing can be said without another one.
    """

    phases: int
    latest: Bursts = NONE
    period: float | None = None
    period_interval: tuple[float, float] | None = None
    confidence: float = 0.0
    regime_start: float | None = None
    train: PulseTrain | None = None
    reason: str = ""
    quiet: float = 0.0
    lead: float = 0.0
    since: int = 0
    fitted: int = 0
    blurred: bool = False

    def continued(self, latest: Activity) -> "Outlook":
        """Return what holds when more has come, all bursts up to now: with those that are where the regime has them."""
        train = self.train
        if train is None or self.since:
            return self
        usual = np.median(train.bursts.volume)
        longest = float((train.bursts.end - train.bursts.start).max()) + 2 * self.lead
        if float(latest.end[-1] - latest.start[-1]) > LONGER * longest + 2 * self.quiet:
            return replace(self, blurred=True)
        last = float(train.bursts.start[-1])
        within = min(max(LEAST_OFF, OFF * train.jitter), MOST_OFF)
        more: list[tuple[float, float, float, float]] = []
        later = latest.take(latest.start > max(last + 0.5 * train.period, float(train.bursts.end[-1])))
        for row, (start, end, volume) in enumerate(zip(*(later.start, later.end, later.volume), strict=True)):
            small = volume < SMALL * usual
            if small and row < len(later) - 1:
                continue
            start += self.lead
            turns = (start - last) / train.period
            span = max(round(turns), 1)
            if abs(turns - span) > within or span > MOST_SPANS:
                if small:
                    # No phase, or one that has just begun.
                    continue
                return replace(self, since=1)
            more.append((start, end, volume, span))
            last = start
        if not more:
            return self
        starts, ends, volumes, spans = np.array(more).T
        if len(more) >= SPARSE and spans[-SPARSE:].min() > 1:
            return replace(self, since=1)
        bursts = train.bursts.joined(Bursts(starts, ends, volumes))
        longer = replace(train, bursts=bursts, spans=np.append(train.spans, spans))
        return replace(self, train=longer, period=longer.period, period_interval=longer.interval(), fitted=len(more))


def outlook(signal: StepSignal) -> Outlook:
    """Return what a signal shows at its end; the decision is that of ``detect_period(signal)``."""
    times, cumulative = vertices(signal)
    width = bin_width(times, cumulative)
    decision = decided(times, cumulative, FALSE_ALARM_RATE, width)
    phases = phases_of(decision, times, cumulative)
    why = reason(decision, phases, LATEST_REGIME)
    found = Outlook(phases=len(phases.bursts), latest=phases.bursts[-LATEST:], reason=why)
    if decision.line is not None:
        period = decision.line[0]
        interval = period - period**2 / signal.duration, period + period**2 / signal.duration
        sure, start = confidence(decision, None, width), signal.window[0]
        return replace(found, period=period, period_interval=interval, confidence=sure, regime_start=start)
    train = latest_train(decision)
    if train is None:
        return found
    own = phases.bursts.start[phases.rows[decision.trains.index(train)]]
    return replace(
        found,
        period=train.period,
        period_interval=train.interval(),
        confidence=confidence(decision, train, width),
        regime_start=max(float(own[0]), train.start - 0.5 * train.period),
        train=train,
        lead=_lead(train, own),
        since=int((decision.bursts.start > train.bursts.start[-1]).sum()),
        quiet=QUIET_SHARE * max(train.period - float(np.median(train.bursts.end - train.bursts.start)), 0.0),
    )


def latest_train(decision: Decision) -> PulseTrain | None:
    """Return the regime that ends last; of periods at the same time the main one."""
    if decision.kind == "concurrent":
        return decision.main
    return max(decision.trains, key=lambda train: train.start, default=None)


def _lead(train: PulseTrain, edges: Floats) -> float:
    """Return by how long in s phases begin before their bursts: always the same, or it is background."""
    ahead = (train.bursts.start - edges)[-LATEST:]
    usual = float(np.median(ahead))
    alike = float(np.median(np.abs(ahead - usual))) <= STEADY_LEAD * usual
    return usual if alike and usual <= LONGEST_LEAD * train.period else 0.0
