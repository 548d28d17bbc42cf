"""What a signal shows of the present: the regime that holds, as the method `auto` finds it, and its phases."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from ..analysis.phases.bins import bin_width
from ..analysis.phases.bursts import FEWEST_BURSTS, Bursts, vertices
from ..analysis.phases.confidence import confidence, decided, more_to_settle
from ..analysis.phases.decision import Decision
from ..analysis.phases.phases import phases_of
from ..analysis.phases.reasons import prospect, reason
from ..analysis.phases.stretches import MOST_SPANS, PulseTrain
from ..analysis.results.result import is_certain
from ..model.arrays import Floats, Frozen
from ..model.quantities import counted, seconds_text
from ..signals.construction import StepSignal
from .activity import LEAST_INNER, Activity
from .pace import RATHER, jitter_text, latest_pace, of_grain

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
"""Share of the usual volume of a regime's phases below which a burst is none of them."""
LEAST = 0.5
"""Share of the smallest of the latest phases from which on a burst is a phase."""
SPARSE = 3
"""Bursts in a row between which others are missing, from which on they are of another regime."""
TWO_SIGMA = 1.96
"""Standard deviations about a mean that have 95 %."""
LATEST_REGIME = "the latest regime"
"""Which of several regimes the stated period is that of."""
NONE = Bursts(np.zeros(0), np.zeros(0), np.zeros(0))


class Outlook(Frozen):
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
    trains : tuple of PulseTrain
        Phases of the latest regime, or of each of several periods at the same time, the main one first; none of a
        spectral line.
    leads : tuple of float
        Of each train the time in s by which phases begin before what stands out of them.
    reason : str
    settling : int
        Bursts of the main train that would make the period certain; 0 where it is.
    quiet : float
        Time in s without I/O after which a phase is over; 0 where no pauses part phases.
    clear : bool
        Whether it is surely longer than those within phases.
    since : int
        Bursts after the last one of the regime, as large as those of it.
    fitted : int
        Bursts that came after the look and are where the regime has them.
    blurred : bool
        Whether no pause parts what came after the look, so that nothing can be said without another one.
    slipped : bool
        Whether the period is that of the latest bursts, which come at another pace than the regime that was found.
    grain : float
        Width in s of the bins by which times are known.
    """

    phases: int
    latest: Bursts = NONE
    period: float | None = None
    period_interval: tuple[float, float] | None = None
    confidence: float = 0.0
    regime_start: float | None = None
    trains: tuple[PulseTrain, ...] = ()
    leads: tuple[float, ...] = ()
    reason: str = ""
    settling: int = 0
    quiet: float = 0.0
    clear: bool = False
    since: int = 0
    fitted: int = 0
    blurred: bool = False
    slipped: bool = False
    grain: float = 0.0

    @property
    def train(self) -> PulseTrain | None:
        """The main train."""
        return self.trains[0] if self.trains else None

    @property
    def is_settled(self) -> bool:
        """Whether as many bursts have come as would make certain what was not."""
        return self.train is not None and 0 < self.settling <= len(self.train.bursts)

    def sentence(self) -> str:
        """Say why there is a period or none, and what would settle one that is probable only, with what came since."""
        train = self.train
        if train is None:
            return self.reason
        more = self.settling - len(train.bursts)
        # By those that came since the look the interval may be narrow enough, or too wide again.
        more = (
            0 if is_certain(self.confidence, train.error) else more if more > 0 else FEWEST_BURSTS * len(train.bursts)
        )
        return prospect(train.period, train.interval(), len(train.bursts), more) + self.reason

    def as_expected(self) -> str:
        """Say how those that came after the look began."""
        missing = int(self.trains[0].spans[-self.fitted :].sum()) - self.fitted if len(self.trains) == 1 else 0
        if missing > 0:
            return f"began at multiples of the period, {missing:,} missing"
        return f"began where {'they were' if self.fitted > 1 else 'it was'} expected"

    @property
    def holds(self) -> bool:
        """Whether all that came is where the regime has it."""
        return bool(self.trains) and self.clear and not self.since and not self.blurred

    @cached_property
    def _longer(self) -> dict[tuple[bool, tuple[float, ...], tuple[float, ...]], "Outlook"]:
        """What holds with bursts of the last starts that were asked for: while one grows, it stays the same."""
        return {}

    @cached_property
    def _limits(self) -> tuple[float, float, list[float]]:
        """How long in s a burst lasts at most, the bytes of the smallest, and how far it is off each train at most."""
        longest = max(float((one.bursts.end - one.bursts.start).max()) for one in self.trains)
        smallest = SMALL * min(float(np.median(one.bursts.volume)) for one in self.trains)
        within = [min(max(LEAST_OFF, OFF * one.jitter), MOST_OFF) for one in self.trains]
        return LONGER * (longest + 2 * max(self.leads)) + 2 * self.quiet, smallest, within

    def counted(self, bursts: Activity) -> int:
        """Return how many phases there are when more has come, all bursts up to now, parted by pauses of `quiet`."""
        later, smallest = bursts.start > float(self.latest.end[-1]), float(self.latest.volume.min())
        if self.slipped:
            # What comes at another pace may also be smaller.
            smallest = min(smallest, *(float(one.bursts.volume.min()) for one in self.trains))
        return self.phases + int((later & (bursts.volume >= LEAST * smallest)).sum())

    def goes_on(self, bursts: Activity) -> bool:
        """Tell whether bursts since the look are such as were phases in it: beside others what parts them may not.

        They are parted by pauses of `quiet`, and all that there were up to now.
        """
        starts = np.append(self.latest.start[-1], bursts.start[bursts.start > float(self.latest.end[-1])])
        return starts.size < 2 or bool(np.diff(starts).max() <= LONGER * np.diff(self.latest.start).max())

    def continued(self, bursts: Activity) -> "Outlook":
        """Return what holds when more has come, all bursts up to now: with those that are where the regime has them.

        Where the latest ones come at another pace, it is that one which holds.
        """
        if not self.trains:
            return self
        longest, smallest, within = self._limits
        if float(bursts.end[-1] - bursts.start[-1]) > longest:
            return replace(self, blurred=True)
        grown = [_Grown(*each) for each in zip(self.trains, self.leads, within, strict=True)]
        known = max(float(one.bursts.end[-1]) for one in self.trains)
        later = bursts.take(bursts.start > known)
        fit = not self.since and _all_fit(later, grown, smallest)
        left = all(one.has_stopped(float(bursts.start[-1])) for one in grown)
        goes_on = fit and not left and not _without_sparse(grown)
        fitted = tuple(start for one in grown for start, _, _ in one.bursts)
        beyond = (later.start > max(known, *fitted, -np.inf)) & (later.volume >= smallest) & (not goes_on)
        others = later.take(beyond)
        key = goes_on, fitted, tuple(others.start.tolist())
        if key not in self._longer:
            self._longer.clear()
            self._longer[key] = self._with([one.train() for one in grown], others, goes_on, len(fitted))
        return self._longer[key]

    def _with(self, trains: list[PulseTrain], others: Activity, goes_on: bool, fitted: int) -> "Outlook":
        """Return what holds with longer trains, and other bursts after them."""
        first, sure = trains[0], self.confidence
        train, confidence = _at_latest_pace(first, others, self.leads[0]) if len(trains) == 1 else (first, sure)
        # What came last may have another pace, or be delayed once.
        doubted = min(sure, max(confidence, RATHER))
        if train is not first:
            return replace(
                self,
                trains=(train,),
                period=train.period,
                period_interval=_interval(train, self.grain),
                confidence=confidence,
                regime_start=train.start - self.leads[0],
                reason=_slip(train, first.period, self.grain),
                settling=0,
                since=0,
                fitted=fitted + len(others),
                slipped=True,
            )
        if not goes_on:
            return replace(self, since=max(self.since, 1), confidence=doubted)
        if not fitted:
            return self
        known = replace(self, period=first.period, period_interval=_interval(first, self.grain))
        return replace(known, trains=tuple(trains), confidence=doubted, fitted=fitted)


def _without_sparse(grown: list["_Grown"]) -> bool:
    """Leave the latest bursts out again where others are missing between them; tell whether they are."""
    sparse = any(one.sparse for one in grown)
    for one in grown if sparse else ():
        one.forget(SPARSE)
    return sparse


def _at_latest_pace(train: PulseTrain, others: Activity, lead: float) -> tuple[PulseTrain, float]:
    """Return the latest bursts of a train and of others after it, where these come at another pace, else the train.

    And how likely its period is that of now. A pace that drifts has its own line.
    """
    if train.drift:
        return train, 1.0
    later = Bursts(others.start + lead, others.end, others.volume.astype(np.float64))
    bursts = train.bursts.joined(later) if len(later) else train.bursts
    spans = np.append(train.spans, np.ones(len(later)))
    rows = np.flatnonzero(spans == np.rint(spans))
    intervals = np.diff(bursts.start)[rows] / spans[rows]
    count, confidence = latest_pace(intervals, FEWEST_BURSTS - 1)
    if count == intervals.size:
        return train, confidence
    first = int(rows[-count])
    return replace(train, bursts=bursts[first:], spans=spans[first:]), confidence


def _interval(train: PulseTrain, grain: float) -> tuple[float, float]:
    """Return the 95 % confidence interval of a period in s, of a train whose starts are known to `grain` s."""
    (low, high), off = train.interval(), TWO_SIGMA * of_grain(grain) / float(train.spans.sum())
    return max(min(low, train.period - off), 0.0), max(high, train.period + off)


def _slip(train: PulseTrain, before: float, grain: float) -> str:
    """Say at which pace phases come since it changed."""
    phases = f"{counted(len(train.bursts), 'phase')} since {seconds_text(train.start)}"
    apart = f"{seconds_text(train.period, 4)} apart, {jitter_text(train.jitter, train.period, grain)}"
    return f"{phases}, {apart}; before that they were {seconds_text(before, 4)} apart."


class _Grown:
    """A train, and the bursts after it that are where it has them."""

    def __init__(self, train: PulseTrain, lead: float, within: float) -> None:
        """Take a train, by how long in s phases begin before their bursts, and by which share they may be off."""
        self._train, self._lead, self._within = train, lead, within
        self._last, self._period = float(train.bursts.start[-1]), train.period
        self.begins = self._last + 0.5 * self._period - lead
        self.bursts: list[tuple[float, float, float]] = []
        self._spans: list[float] = []

    def take(self, start: float, end: float, volume: float) -> bool:
        """Take a burst in if it begins where the train has one; tell whether it does."""
        turns = (start + self._lead - self._last) / self._period
        span = max(round(turns), 1)
        fits = abs(turns - span) <= self._within and span <= MOST_SPANS
        if fits:
            self._last = start + self._lead
            self.bursts.append((self._last, end, volume))
            self._spans.append(span)
        return fits

    def has_stopped(self, start: float) -> bool:
        """Tell whether something else begins so late that no missing bursts of the train explain it."""
        return start + self._lead > self._last + (MOST_SPANS + 0.5) * self._period

    def forget(self, count: int) -> None:
        """Leave the latest bursts out again."""
        del self.bursts[-count:], self._spans[-count:]

    @property
    def sparse(self) -> bool:
        """Whether others are missing between all of the latest bursts."""
        return len(self._spans) >= SPARSE and min(self._spans[-SPARSE:]) > 1

    def train(self) -> PulseTrain:
        """Return the train with them."""
        if not self.bursts:
            return self._train
        bursts = self._train.bursts.joined(Bursts(*np.array(self.bursts).T))
        return replace(self._train, bursts=bursts, spans=np.append(self._train.spans, self._spans))


def _all_fit(later: Activity, grown: list[_Grown], smallest: float) -> bool:
    """Tell whether all bursts of at least so many bytes are where trains have them, and add them to these."""
    for row, (start, end, volume) in enumerate(zip(*(later.start, later.end, later.volume), strict=True)):
        due, small = [one for one in grown if one.begins < start], volume < smallest
        # A small one at the end is no phase, or one that has just begun.
        if due and not (small and row < len(later) - 1):
            fitting = [one.take(start, end, volume) for one in due]
            if not any(fitting) and not small:
                return False
    return True


def outlook(signal: StepSignal) -> Outlook:
    """Return what a signal shows at its end; the decision is that of ``detect_period(signal)``."""
    times, cumulative = vertices(signal)
    width = bin_width(times, cumulative)
    decision = decided(times, cumulative, FALSE_ALARM_RATE, width)
    phases = phases_of(decision, times, cumulative)
    why = reason(decision, phases, LATEST_REGIME)
    latest = phases.bursts[-LATEST:]
    quiet, clear = _parting(latest, times, cumulative)
    found = Outlook(phases=len(phases.bursts), latest=latest, reason=why, quiet=quiet, clear=clear)
    if decision.line is not None:
        period = decision.line[0]
        interval = period - period**2 / signal.duration, period + period**2 / signal.duration
        sure, start = confidence(decision, None, width), signal.window[0]
        return replace(found, period=period, period_interval=interval, confidence=sure, regime_start=start)
    train = latest_train(decision)
    if train is None:
        return found
    trains = (train, *(one for one in decision.trains if decision.kind == "concurrent" and one is not train))
    own = [phases.bursts.start[phases.rows[decision.trains.index(one)]] for one in trains]
    more = more_to_settle(decision, train, width)
    apart = QUIET_SHARE * max(train.period - float(np.median(train.bursts.end - train.bursts.start)), 0.0)
    return replace(
        found,
        quiet=quiet or apart,
        period=train.period,
        period_interval=train.interval(),
        confidence=confidence(decision, train, width),
        regime_start=max(float(own[0][0]), train.start - 0.5 * train.period),
        trains=trains,
        leads=tuple(map(_lead, trains, own)),
        settling=len(train.bursts) + more if 0 < more < FEWEST_BURSTS * len(train.bursts) else 0,
        since=int((decision.bursts.start > max(one.bursts.start[-1] for one in trains)).sum()),
    )


def _parting(latest: Bursts, times: Floats, cumulative: Floats) -> tuple[float, bool]:
    """Return the pause in s that parts phases, longer than those within and shorter than those between them.

    And whether it is clear that there is one.
    """
    if len(latest) < 2:
        return 0.0, False
    rows = np.arange(*np.searchsorted(times, (latest.start[0], latest.end[-1])))
    rows = rows[(cumulative[rows + 1] <= cumulative[rows]) & (times[rows + 1] > times[rows])]
    phase = np.searchsorted(latest.start, times[rows], side="right") - 1
    pauses, inside = times[rows + 1] - times[rows], times[rows] < latest.end[phase]
    between = np.zeros(len(latest))
    np.maximum.at(between, phase[~inside], pauses[~inside])
    shortest, within = float(between[:-1].min()), float(pauses[inside].max(initial=0.0))
    usual = QUIET_SHARE * float(np.median(between[:-1]))
    if usual < shortest or within >= shortest:
        return usual, within < usual < shortest
    return float(np.sqrt(max(within, LEAST_INNER * shortest) * shortest)), True


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
