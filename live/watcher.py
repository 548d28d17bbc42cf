"""One layer and direction of a running job: its signal, and the answer after every update."""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from ..analysis.phases.bursts import FEWEST_BURSTS, Bursts
from ..analysis.phases.stretches import PulseTrain
from ..analysis.registry import DEFAULT_METHOD
from ..model.quantities import counted, seconds_text
from ..signals.construction import StepSignal
from .activity import TOUCHING, Activity
from .alarms import LIMITS, Alarms
from .answer import Answer
from .frequencies import FtioPredictor
from .outlook import LATEST, SMALL, Outlook, outlook
from .prediction import NextPhase, StartLaw, law_of_steps, next_phase, start_law
from .records.intake import Key, Spans
from .repetition import Repetition, repetition
from .signal import BINS, LiveSignal, bandwidth_of

if TYPE_CHECKING:
    from ..analysis.known_signature import KnownSignature

SHARE: Final = 0.014
"""Of a core that following a job may take, half of it for looks and half for answers: what is left of two percent is
for starting, for reading lines and for writing those that say nothing new."""
SAVED: Final = 0.05
"""Processor time in s that may be saved up for either."""
LOOK, PER_STRETCH, PER_BIN = 0.003, 0.0001, 1e-5
"""Processor time in s of a look, and more for each stretch of activity, the first ones and all. It is counted so, and
not measured: a replay says the same each time."""
MOVED, SILENT = 0.0009, 0.0003
"""Processor time in s of an answer after something has moved, and of one after nothing has."""
FEW: Final = 200
"""Operations up to which all of the run is looked at, as it is."""
PARTS: Final = 64
"""Bins to a period of the latest phases."""
SOON: Final = 1 / 16
"""Share of a period after a look before which there is no other."""
WHOLE: Final = 1.25
"""How many times more operations there are when a look is at all of the run again, and not at its latest phases."""
GROWTH: Final = 1.25
"""How many times more phases there are when a look may find a period that there was none of."""
MORE: Final = 1.05
"""How many times more operations there are when it may, where no pause parts them."""
ALIKE: Final = 1.5
"""Largest over smallest of the latest three intervals up to which it may find one at once."""
REFRESHED: Final = 16
"""Phases that came where they were expected after which there is a new look all the same."""
SAME_PERIOD: Final = 0.1
"""Share by which periods of one regime differ at most."""
CLUMPED: Final = 1.1
"""Coefficient of variation of intervals from which on bursts come in clumps; of bursts at any time it is 1."""


class Credit:
    """Processor time in s that may still be taken for one purpose, by the time of the job's clock."""

    def __init__(self, share: float | None = SHARE / 2) -> None:
        """Grant a share of the job's time; None for as much as is needed."""
        self._share = share
        self._left = SAVED
        self._latest: float | None = None

    def grant(self, now: float) -> None:
        """Say how far the job's clock has come, in s."""
        if self._share is not None and self._latest is not None:
            self._left = min(self._left + self._share * max(now - self._latest, 0.0), SAVED)
        self._latest = now

    def allows(self) -> bool:
        """Tell whether more may be taken."""
        return self._share is None or self._left >= 0

    def spend(self, seconds: float) -> None:
        """Say what was taken."""
        self._left -= seconds


def _price(stretches: int) -> float:
    """Return the processor time in s of a look at so many stretches of activity."""
    return LOOK + PER_STRETCH * min(stretches, LATEST) + PER_BIN * stretches


class Watcher:
    """Follows one layer and direction.

    After every update what moved is parted into bursts by pauses, which is cheap: their number, what repeats in them
    and whether the latest are where a regime has them is always of now. Only where they are not, the latest phases are
    looked at for a period, as often as the job's `Credit` for looks allows. Where there is none for answers, the last
    one is told again, as of its time.
    """

    def __init__(
        self,
        key: Key,
        credit: Credit | None = None,
        method: str = DEFAULT_METHOD,
        limits: Mapping[str, float] = LIMITS,
        answers: Credit | None = None,
        known: "KnownSignature | None" = None,
    ) -> None:
        """Take a key, credits for looks and answers, which others may share, a method, and limits of alarms.

        A `known` signature foretells bursts as long as neither a period nor what repeats does.
        """
        self._known = known
        self._alarms = Alarms(limits)
        self._ftio = FtioPredictor() if method == "ftio" else None
        self._key = key
        self.signal = LiveSignal()
        self._credit, self._answers = credit or Credit(None), answers or Credit(None)
        self._told: Answer | None = None
        self._asked = -np.inf
        self._outlook = Outlook(0)
        self._found = Outlook(0)
        """What the last look found, with the bursts since then."""
        self._looked = -np.inf
        self._looked_operations = 0
        self._looked_phases = 0
        self._whole = 0
        self._activity = self._bursts = Activity.empty()
        self._gap = np.inf
        self._repeats: Repetition | None = None
        self._repeated = np.inf
        """Pause in s by which bursts were parted when something last repeated in them."""
        self._over = False
        self._seen = 0
        self._phases = 0
        self._laws: dict[int, tuple[bytes, StartLaw]] = {}

    @property
    def turn(self) -> tuple[float, float]:
        """Since when it waits for an answer, and for a look, in s: of those that share credit the first goes first."""
        return self._asked, self._looked

    def add(self, columns: Spans) -> None:
        """Take records in."""
        self.signal.add(columns.start, columns.end, columns.volume)

    def answer(self, begin: float, now: float, last: bool = False, ended: bool = False) -> Answer:
        """Say what holds at a time, of a run that began at another, in s.

        The `last` time it is that of the whole. Nothing follows once all has `ended`.
        """
        told = self._told
        if told is not None and not (last or ended or self._answers.allows()):
            return self._again(told, now)
        self._asked = now
        self._answers.spend(SILENT if self._seen == self.signal.operations else MOVED)
        answer = self._of_now(begin, now, last, ended)
        if last:
            return answer
        self._told = replace(answer, alarms=self._alarms.of(answer, self._bursts, self._over) or None)
        return self._told

    def _again(self, told: Answer, now: float) -> Answer:
        """Return an answer as of its time, with what has moved up to now."""
        following = told.next_start if told.next_start is not None and told.next_start[1] > now else None
        return replace(
            told,
            time=now,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            next_start=None if following is None else (max(following[0], now), following[1]),
            probability=None if following is None else told.probability,
            reason=told.reason if told.as_of is not None else f"As of {seconds_text(told.time)}: {told.reason}",
            as_of=told.time if told.as_of is None else told.as_of,
        )

    def _of_now(self, begin: float, now: float, last: bool, ended: bool) -> Answer:
        if self._ftio is not None:
            if self._seen != self.signal.operations and (last or self._credit.allows()):
                self._predict(self._ftio, begin, now)
            return self._answer(self._outlook, None, now, ended)
        self._part(now)
        if last:
            self._outlook = self._found = outlook(self.signal.whole((begin, now)))
            self._looked, self._phases = now, self._outlook.phases
            return self._answer(self._found, self._repeats, now, ended, last)
        if self._is_due(now) and self._credit.allows():
            self._look(begin, now)
        return self._answer(self._found, self._repeats, now, ended)

    def _part(self, now: float) -> None:
        """Part what moved into bursts, and find what repeats in them, and which are where the regime has them."""
        over = len(self._bursts) > 0 and now - float(self._bursts.end[-1]) > self._gap
        if self._seen == self.signal.operations and over == self._over:
            return
        self._seen = self.signal.operations
        former = self._gap
        self._choose(former, now)
        if former < np.inf and self._gap == np.inf:
            # Short pauses are known of the latest activity only.
            self._choose(np.inf, now)
        self._bursts = self._activity.bursts(self._gap)
        self._over = now - float(self._bursts.end[-1]) > self._gap
        self._go_on()

    def _choose(self, known: float, now: float) -> None:
        """Choose the pause that parts bursts, in what moved as far back as pauses of a length in s are known."""
        self._activity = self.signal.activity(known if known < np.inf else None).bursts(TOUCHING)
        self._repeats, chosen = None, None
        for gap, sure in self._activity.gaps(now):
            bursts = self._activity.bursts(gap)
            if bursts.is_outgrown():
                continue
            if chosen is not None and _in_clumps(bursts):
                # These are the insides of longer ones.
                break
            self._repeats = repetition(bursts, now - float(bursts.end[-1]) > gap)
            if self._repeats is not None or self._activity.rests(gap, now):
                chosen = gap
            if self._repeats is not None or (sure and chosen is not None):
                break
        self._gap = np.inf if chosen is None else chosen
        # As it was parted when something repeated, and in bursts that are only alike.
        for gap, alike in ((self._repeated, False), (self._gap, True), (self._repeated, True)):
            if self._repeats is None and gap < np.inf:
                bursts = self._activity.bursts(gap)
                if not bursts.is_outgrown() and not (gap < self._gap and _in_clumps(bursts)):
                    self._repeats = repetition(bursts, now - float(bursts.end[-1]) > gap, alike)
                self._gap = self._gap if self._repeats is None else gap
        self._repeated = self._repeated if self._repeats is None else self._gap

    def _go_on(self) -> None:
        """Add the bursts since the last look to what it found, and count phases."""
        before = self._outlook
        gap = before.quiet if before.train is not None else self._gap
        bursts = self.signal.activity(gap).bursts(gap) if before.train is not None else self._bursts
        self._found = before.continued(bursts)
        few = before.train is None and len(self._bursts) < FEWEST_BURSTS and self._gap < np.inf
        if not len(before.latest) or few or (before.train is None and self._repeats is not None):
            self._phases = len(self._bursts)
        else:
            later = bursts.start > float(before.latest.end[-1])
            large = bursts.volume >= SMALL * float(np.median(before.latest.volume))
            self._phases = before.phases + int((later & large).sum())

    def _is_due(self, now: float) -> bool:
        """Tell whether a look may tell more than the last one."""
        found = self._found
        soon = self._looked + SOON * (found.period or 0.0)
        if self._seen == self._looked_operations and not (self._over and self._phases != self._looked_phases):
            return False
        if now < soon or self.signal.operations < FEWEST_BURSTS:
            return False
        if found.train is not None and not found.since:
            return found.blurred or found.fitted >= REFRESHED
        if self._gap == np.inf or found.since:
            return True
        if self._phases == self._looked_phases:
            return self._seen >= MORE * self._looked_operations
        latest = np.diff(self._bursts.start[-FEWEST_BURSTS:])
        grown = self._phases >= GROWTH * self._looked_phases or self._phases <= 2 * FEWEST_BURSTS
        return grown or bool(latest.max() <= ALIKE * latest.min())

    def _look(self, begin: float, now: float) -> None:
        """Look at the latest phases, or at all of a short run, and what their times show."""
        before, latest = self._outlook, self._outlook.latest
        usual = None
        if len(latest) > 1:
            usual = before.period or float(latest.start[-1] - latest.start[0]) / (len(latest) - 1)
        found = None
        grown = self.signal.operations > max(FEW, WHOLE * self._whole)
        if not grown and self.signal.operations > FEW and usual is not None and not before.since:
            # From the middle of the pause before the second on.
            low = float(min(latest.end[0], latest.start[1]) + latest.start[1]) / 2
            found = _joined(before, self._seen_in(low, now, usual / PARTS))
        if found is None or (found.train is None and before.train is not None):
            self._credit.spend(_price(self.signal.operations))
            self._whole = self.signal.operations
            found = outlook(self.signal.whole((begin, now)))
        self._outlook = found
        self._looked, self._looked_operations = now, self._seen
        self._go_on()
        self._looked_phases = self._phases

    def _seen_in(self, low: float, now: float, width: float) -> Outlook:
        """Look at the bins of a width in s from a time on, joined where pauses part what they are of."""
        activity = self.signal.activity(width)
        activity = activity.take(activity.start >= low)
        bursts = activity.bursts(width)
        if len(bursts) >= FEWEST_BURSTS and bursts.rests(width, now):
            activity = bursts
        self._credit.spend(_price(len(activity)))
        return outlook(bandwidth_of(activity, (low, now)))

    def _predict(self, ftio: FtioPredictor, begin: float, now: float) -> None:
        """Do as FTIO does."""
        found = ftio.predict(lambda low: self._from(begin, low, now), begin)
        self._credit.spend(_price(min(self.signal.operations, BINS)))
        rows = np.array([(one.start, one.end, one.volume) for one in found.phases]).reshape(-1, 3)
        phases = Bursts(rows[:, 0], rows[:, 1], rows[:, 2])
        self._outlook = Outlook(
            phases=len(phases),
            latest=phases,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            regime_start=ftio.since if found.periodic else None,
            reason=found.reason,
        )
        self._seen, self._looked, self._phases = self.signal.operations, now, len(phases)

    def _from(self, begin: float, low: float, now: float) -> StepSignal:
        """Return the bandwidth from a time in s on, of a run that began at another."""
        if low <= begin:
            return self.signal.whole((begin, now))
        activity = self.signal.activity(0.0)
        return bandwidth_of(activity.take(activity.start >= low), (low, now))

    def _answer(
        self, found: Outlook, repeats: Repetition | None, now: float, ended: bool, last: bool = False
    ) -> Answer:
        # The last answer is that of the command `periods` on all of it.
        timed = last or (found.period is not None and not found.since)
        following = None if ended else self._next(found, repeats, now)
        expected = None if ended or following is not None or self._known is None else self._expected(self._known, now)
        if expected is not None:
            following = expected[0]
        answer = Answer(
            time=now,
            layer=self._key.layer,
            direction=self._key.direction,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            phases=self._phases,
            in_phase=not ended and self._in_phase(found, now),
            periodic=found.period is not None,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            next_start=None if following is None else (following.earliest, following.latest),
            probability=None if following is None else following.probability,
            regime_start=found.regime_start,
            reason=self._reason(found, now),
            as_of=self._looked if self._is_behind(found, now) else None,
            frequencies=None if self._ftio is None else self._ftio.intervals,
        )
        if expected is not None:
            answer = replace(answer, next_bytes=expected[1], reason=f"{answer.reason} {expected[2]}")
        if repeats is None:
            return answer
        answer = replace(answer, iteration=repeats.iterations)
        if following is not None and expected is None:
            answer = replace(answer, next_bytes=repeats.volume, next_operations=repeats.operations)
            answer = replace(answer, next_bytes_range=repeats.volume_range)
        if timed or repeats.volume_range is not None:
            # That volumes are alike is no evidence of a period.
            return answer
        period = repeats.period
        return replace(
            answer,
            periodic=period is not None,
            period=period,
            period_interval=None if period is None else repeats.interval,
            confidence=0.0 if period is None else repeats.confidence,
            regime_start=None if period is None else float(repeats.bursts.start[0]),
            reason=repeats.sentence(),
            as_of=None,
        )

    def _next(self, found: Outlook, repeats: Repetition | None, now: float) -> NextPhase | None:
        """Return the next phase: by its time where there is a regime, else by what repeats."""
        timed = found.train if not found.since and (repeats is None or repeats.length == 1) else None
        following = None if timed is None else next_phase(self._law(0, timed), now, found.lead)
        if following is None and repeats is not None:
            following = next_phase(self._law(1, repeats.train), now)
        return following

    def _expected(self, known: "KnownSignature", now: float) -> tuple[NextPhase, int, str] | None:
        """Return the next burst by a signature, its bytes, and a sentence; None where it has no more."""
        bursts = self.signal.activity(known.pause if known.pause < np.inf else None).bursts(known.pause)
        row = len(bursts)
        if not 0 < row < len(known.start):
            return None
        following = next_phase(law_of_steps(float(bursts.start[-1]), *known.step(row)), now)
        text = f"By the signature {known.name}, burst {row + 1} of {len(known.start)} is next."
        return None if following is None else (following, round(float(known.volumes[row])), text)

    def _in_phase(self, found: Outlook, now: float) -> bool:
        if self._ftio is None and found.train is None:
            return len(self._bursts) > 0 and not self._over
        last = found.latest if found.train is None else found.train.bursts
        return len(last) > 0 and now <= float(last.end[-1]) + found.quiet

    def _is_behind(self, found: Outlook, now: float) -> bool:
        """Tell whether what is said of the period is of a time that has passed."""
        if self._looked == now or self._seen == self._looked_operations:
            return False
        if self._ftio is None and found.train is not None:
            return bool(found.since or found.blurred)
        return self._ftio is not None or self._looked_phases != self._phases >= FEWEST_BURSTS

    def _reason(self, found: Outlook, now: float) -> str:
        if self._looked == now:
            return found.reason
        if self._phases < FEWEST_BURSTS and found.period is None and self._ftio is None:
            return f"{counted(self._phases, 'phase')}: a period needs at least four."
        if not found.reason:
            return f"{counted(self._phases, 'phase')}; not looked at for a period yet, so that following takes little."
        if self._is_behind(found, now):
            return f"As of {seconds_text(self._looked)}: {found.reason}"
        if found.fitted:
            later = f"{counted(found.fitted, 'phase')} since {seconds_text(self._looked)}"
            return f"{found.reason} {later}, where it is expected."
        return found.reason

    def _law(self, place: int, train: PulseTrain) -> StartLaw:
        """Return the law of a train, which is kept as long as its starts are the same."""
        known, starts = self._laws.get(place), train.bursts.start.tobytes()
        if known is None or known[0] != starts:
            known = self._laws[place] = starts, start_law(train)
        return known[1]


def _in_clumps(bursts: Activity) -> bool:
    """Tell whether intervals between bursts vary by more than those of bursts at any time."""
    intervals = np.diff(bursts.start)
    return intervals.size > 1 and bool(intervals.std() > CLUMPED * intervals.mean())


def _joined(before: Outlook, found: Outlook) -> Outlook:
    """Return what the latest phases show, as a part of the run that was looked at before."""
    # The window begins with the second of the latest phases, and parts what it has as it is seen now.
    outside = max(before.phases - len(before.latest) + 1, 0)
    start = found.regime_start
    if found.period and before.period and abs(found.period / before.period - 1) < SAME_PERIOD:
        start = before.regime_start
    return replace(found, phases=outside + found.phases, regime_start=start)
