"""One layer and direction of a running job: its signal, and the answer after every update."""

import math
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
from .budget import MOVED, SILENT, SOUGHT, Credit, price_of_look
from .frequencies import FtioPredictor
from .outlook import LATEST, LEAST, Outlook, outlook
from .pace import RATHER
from .prediction import NextPhase, StartLaw, TrackRecord, first_of, law_of_steps, next_phase, start_law
from .records.intake import Key, Spans
from .repetition import Repetition, any_burst, due_next, repetition
from .signal import BINS, LiveSignal, bandwidth_of

if TYPE_CHECKING:
    from ..analysis.known_signature import KnownSignature

FEW: Final = 200
"""Operations up to which all of the run is looked at, as it is."""
MANY: Final = 2 * LATEST
"""Phases up to which it is, too: a look at the latest of them would take as long."""
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
        self._former: Outlook | None = None
        """The last one with a regime, after a look that found none."""
        self._looked = -np.inf
        self._looked_operations = 0
        self._looked_phases = self._looked_bursts = 0
        self._whole = 0
        self._bursts = self._parted = Activity.empty()
        self._gap = np.inf
        self._repeats: Repetition | None = None
        self._repeated = np.inf
        """Pause in s by which bursts were parted when something last repeated in them."""
        self._over = self._joined = False
        self._reached = -np.inf
        self._silence = np.inf
        """Time in s after the last activity from which on a phase is rather over."""
        self._step: float | None = None
        """Period in s of the phases one of which was foretold last, where each is of the same kind."""
        self._seen = self._seen_phases = 0
        self._phases = 0
        self._counts_bursts = False
        """Whether phases are the bursts that pauses part now, and not those of the last look and what came since."""
        self._turned: float | None = None
        """Period in s of an iteration of several bursts when one was told last: while it holds, these are phases."""
        self._laws: dict[int, tuple[bytes, StartLaw]] = {}
        self._of_then: Answer | None = None
        """The latest answer that was all of its time, if it had a period."""
        self._record = TrackRecord()
        self._is_whole = False
        """Whether all of a run that is over has been looked at: what repeats without a period tells less than that."""

    @property
    def turn(self) -> tuple[float, float]:
        """Since when it waits for an answer, and for a look, in s: of those that share credit the first goes first."""
        return self._asked, self._looked

    def add(self, columns: Spans) -> None:
        """Take records in."""
        self.signal.add(columns.start, columns.end, columns.volume, columns.operations)
        self._record.came(columns.start)

    def answer(
        self, begin: float, now: float, last: bool = False, ended: bool = False, reached: float = -math.inf
    ) -> Answer:
        """Say what holds at a time, of a run that began at another, in s.

        The `last` time it is that of the whole. Nothing follows once all has `ended`. The job itself may have `reached`
        a later time than what is told of it, at which a phase may be over.
        """
        self._reached = reached
        told = self._told
        if told is not None and not (last or ended or self._answers.allows()):
            return self._again(told, now)
        self._asked = now
        moved = MOVED if self._found.holds else SOUGHT
        self._answers.spend(SILENT if self._seen == self.signal.records else moved)
        answer = self._of_now(begin, now, last, ended)
        if last:
            return answer
        self._told = replace(answer, alarms=self._alarms.of(answer, self._bursts, self._over) or None)
        return self._told

    def _again(self, told: Answer, now: float) -> Answer:
        """Return an answer as of its time, with what has moved up to now, and the phases of that."""
        if self._seen_phases != self.signal.records:
            self._seen_phases = self.signal.records
            if self._counts_bursts and self._repeats is not None and self._repeats.tells:
                self._phases = self._whole_number(self._by_pauses(self._gap), self._gap)
            elif self._counts.clear:
                self._phases = self._counted(self._by_pauses(self._counts.quiet))
        following = self._later(told, now)
        return replace(
            told,
            time=now,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            phases=self._phases,
            in_phase=self._in_phase(now),
            next_start=None if following is None else (max(following[0], now), following[1]),
            probability=None if following is None else told.probability,
            reason=told.reason if told.as_of is not None else f"As of {seconds_text(told.time)}: {told.reason}",
            as_of=told.time if told.as_of is None else told.as_of,
        )

    def _later(self, told: Answer, now: float) -> tuple[float, float] | None:
        """Return when the next phase begins by an earlier answer: after those that came since, by as many periods."""
        if told.next_start is None or told.next_start[1] > now:
            return told.next_start
        low, high = told.next_start
        came = self._phases - told.phases
        # As many have come as the pace has it, or it is no longer theirs.
        if self._step is None or came < 1 or abs((now - high) / self._step + 0.5 - came) > 1:
            return None
        middle, half = (low + high) / 2 + came * self._step, (high - low) / 2 * math.sqrt(1 + came)
        return (middle - half, middle + half) if middle + half > now else None

    def _of_now(self, begin: float, now: float, last: bool, ended: bool) -> Answer:
        if self._ftio is not None:
            if self._seen != self.signal.records and (last or self._credit.allows()):
                self._predict(self._ftio, begin, now)
            return self._answer(now, ended)
        self._part(now)
        if last:
            self._look_at_all(begin, now)
        elif self._is_due(now) and self._credit.allows():
            self._look(begin, now)
        return self._answer(now, ended, self._is_timed)

    def _part(self, now: float) -> None:
        """Part what moved into bursts, and find what repeats in them, and which are where the regime has them."""
        over = len(self._bursts) > 0 and now - float(self._bursts.end[-1]) > self._gap
        joined = len(self._bursts) > 1 and self._bursts.is_one(now)
        if self._seen == self.signal.records and over == self._over and joined == self._joined:
            return
        self._seen, self._joined = self.signal.records, joined
        if self._found.holds:
            self._gap = self._found.quiet
            self._bursts = self._by_pauses(self._gap)
            over = now - float(self._bursts.end[-1]) > self._gap
            self._repeats = repetition(self._bursts, over) or repetition(self._bursts, over, alike=True)
        elif not self._repeats_as_before(now):
            former = self._gap
            self._choose(former, now)
            if former < np.inf and self._gap == np.inf:
                # Short pauses are known of the latest activity only.
                self._choose(np.inf, now)
        self._over = now - float(self._bursts.end[-1]) > self._gap
        self._silence = self.signal.activity(self._gap if self._gap < np.inf else None).longest_inside(self._gap)
        self._repeated = self._repeated if self._repeats is None else self._gap
        if self._repeats is None and self._gap < np.inf:
            self._repeats = any_burst(self._bursts, self._over)
        self._repeats = self._repeats and replace(self._repeats, grain=self.signal.grain)
        self._go_on()

    def _repeats_as_before(self, now: float) -> bool:
        """Part bursts as the regime was; tell whether they are the same ones still, if at another pace."""
        if self._outlook.train is None or not self._outlook.clear:
            return False
        bursts = self._by_pauses(self._outlook.quiet)
        repeats = repetition(bursts, now - float(bursts.end[-1]) > self._outlook.quiet)
        if repeats is None or not repeats.tells:
            return False
        self._gap, self._bursts, self._repeats = self._outlook.quiet, bursts, repeats
        return True

    def _by_pauses(self, gap: float) -> Activity:
        """Return what moved, parted by pauses of more than `gap` s."""
        return self.signal.activity(gap).bursts(gap)

    def _choose(self, known: float, now: float) -> None:
        """Choose the pause that parts bursts, in what moved as far back as pauses of a length in s are known.

        Few bursts of which none repeats are what a program does before, such as a start-up, and all that it does since:
        then the last one is parted by itself while it goes on.
        """
        activity = self.signal.activity(known if known < np.inf else None).bursts(TOUCHING)
        self._gap, self._repeats = self._parting(activity, now)
        bursts = activity.bursts(self._gap)
        if self._repeats is None and 1 < len(bursts) < FEWEST_BURSTS and now - float(bursts.end[-1]) <= self._gap:
            gap, repeats = self._parting(activity.take(activity.start >= bursts.start[-1]), now)
            if repeats is not None:
                self._gap, self._repeats = gap, repeats
        self._bursts = activity.bursts(self._gap)

    def _parting(self, activity: Activity, now: float) -> tuple[float, Repetition | None]:
        """Return the pause in s that parts bursts best, infinite where none does, and what repeats in them."""
        best, repeats = np.inf, None
        for gap, sure in activity.gaps(now):
            bursts = activity.bursts(gap)
            if bursts.is_outgrown():
                continue
            if best < np.inf and repeats is None and _in_clumps(bursts):
                # These are the insides of longer ones.
                break
            found = repetition(bursts, now - float(bursts.end[-1]) > gap)
            # Parted further, more bursts of what repeats may show: those before their pace changed.
            if found is not None and (repeats is None or _has_more_of(repeats, found)):
                best, repeats = gap, found
            elif repeats is None and activity.rests(gap, now):
                best = gap
            if repeats is None and sure and best < np.inf:
                break
        return (best, repeats) if repeats is not None else self._alike(activity, now, best)

    def _alike(self, activity: Activity, now: float, best: float) -> tuple[float, Repetition | None]:
        """Return the same, parted as when something last repeated, and for bursts that are only alike."""
        repeats: Repetition | None = None
        for gap, alike in ((self._repeated, False), (best, True), (self._repeated, True)):
            if repeats is None and gap < np.inf:
                bursts = activity.bursts(gap)
                if not bursts.is_outgrown() and not (gap < best and (_in_clumps(bursts) or bursts.is_one(now))):
                    repeats = repetition(bursts, now - float(bursts.end[-1]) > gap, alike)
                best = best if repeats is None else gap
        return best, repeats

    def _go_on(self) -> None:
        """Add the bursts since the last look to what it found, and count phases."""
        before, self._parted = self._outlook, self._bursts
        if before.quiet and before.quiet != self._gap:
            self._parted = self._by_pauses(before.quiet)
        self._found = before.continued(self._parted)
        if self._former is not None:
            # Of two paces together a look may well find none.
            parted = self._by_pauses(self._former.quiet)
            found = self._former.continued(parted)
            if found.slipped:
                self._found, self._parted = found, parted
        few = len(self._bursts) < FEWEST_BURSTS and self._gap < np.inf
        same = self._repeats is not None and self._repeats.tells
        unknown = before.train is None and (few or same or not len(before.latest))
        told = self._told_by_contents(self._is_timed)
        if told is not None and told.length > 1:
            self._turned = told.period
        self._counts_bursts = unknown or told is not None or _is_near(self._turned, self._found.period)
        if self._counts_bursts:
            self._phases = self._whole_number(self._bursts, self._gap)
        elif self._counts.clear or (before.train is not None and not self._found.since):
            self._phases = self._counted(self._parted)
        else:
            # No pause parts them, so that only a look can count.
            self._phases = before.phases

    @property
    def _is_timed(self) -> bool:
        """Whether times tell the period, and all bursts are where it has them."""
        return self._found.period is not None and not self._found.since

    def _told_by_contents(self, timed: bool) -> Repetition | None:
        """Return what repeats where that tells the period, and not their times; `timed` where these do."""
        repeats = self._repeats
        if repeats is None or not repeats.is_frequent or (self._is_whole and repeats.period is None):
            return None
        # Of bursts that take turns it also tells those between the ones that stand out.
        turns = repeats.length > 1 and len(self._found.trains) == 1 and _is_near(repeats.period, self._found.period)
        if timed and turns:
            return repeats
        # That volumes are alike is no evidence of a period.
        return repeats if repeats.tells and (not timed or _has_changed(self._found, repeats)) else None

    def _counted(self, bursts: Activity) -> int:
        """Return how many phases there are, parted as by the last look; where that no longer holds, as of that look."""
        before = self._counts
        return before.counted(bursts) if before.train is not None or before.goes_on(bursts) else before.phases

    @property
    def _counts(self) -> Outlook:
        """What phases are counted by: the last look, or the latest bursts since they come at another pace."""
        return self._found if self._found.slipped else self._outlook

    def _whole_number(self, bursts: Activity, gap: float) -> int:
        """Return how many bursts there are in all of the run, of which the latest are parted by pauses of `gap` s."""
        return len(bursts) + len(self.signal.before(bursts).bursts(gap))

    def _is_due(self, now: float) -> bool:
        """Tell whether a look may tell more than the last one."""
        found = self._found
        soon = self._looked + SOON * (found.period or 0.0)
        if self._seen == self._looked_operations and not (self._over and self._phases != self._looked_phases):
            return False
        if now < soon or self.signal.records < FEWEST_BURSTS:
            return False
        if found.train is not None and not found.since:
            return found.blurred or found.is_settled or found.fitted >= (REFRESHED if found.clear else FEWEST_BURSTS)
        if self._gap == np.inf or found.since:
            return True
        if len(self._parted) == self._looked_bursts:
            return self._seen >= MORE * self._looked_operations
        return self._has_grown()

    def _has_grown(self) -> bool:
        """Tell whether there are many more bursts than at the last look, or the latest are alike."""
        latest = np.diff(self._bursts.start[-FEWEST_BURSTS:])
        few = (self._outlook.counted(self._parted) if self._outlook.clear else self._phases) <= 2 * FEWEST_BURSTS
        grown = len(self._parted) >= GROWTH * self._looked_bursts or few
        return grown or bool(latest.size and latest.max() <= ALIKE * latest.min())

    def _look(self, begin: float, now: float) -> None:
        """Look at the latest phases, or at all of a short run, and what their times show."""
        before, latest = self._outlook, self._outlook.latest
        found = None
        if FEW < self.signal.records <= WHOLE * self._whole and before.phases > MANY and not before.since:
            # From the middle of the pause before the second on.
            low = float(min(latest.end[0], latest.start[1]) + latest.start[1]) / 2
            usual = before.period or float(latest.start[-1] - latest.start[0]) / (len(latest) - 1)
            found = _joined(before, self._seen_in(low, now, usual / PARTS))
            found = found if before.train is None or _same_period(found, before) else None
        if found is None:
            self._credit.spend(price_of_look(self.signal.records))
            self._whole = self.signal.records
            found = outlook(self.signal.whole((begin, now)))
        self._former = None if found.train is not None else before if before.train is not None else self._former
        self._outlook = replace(found, grain=self.signal.grain)
        self._looked, self._looked_operations = now, self._seen
        self._go_on()
        self._looked_phases, self._looked_bursts = self._phases, len(self._parted)

    def _look_at_all(self, begin: float, now: float) -> None:
        """Look at all of a run that is over, as the command `periods` does; what repeats follows from that alone."""
        found = outlook(self.signal.whole((begin, now)))
        # What comes behind the regime has no later answer that it would be doubted in.
        self._outlook = self._found = replace(found, grain=self.signal.grain, since=0)
        self._former, self._turned, self._gap, self._repeated, self._seen = None, None, np.inf, np.inf, -1
        self._is_whole = True
        if self.signal.bytes:
            self._part(now)
        self._found, self._looked = self._outlook, now
        if self._told_by_contents(self._is_timed) is None:
            self._phases = found.phases

    def _seen_in(self, low: float, now: float, width: float) -> Outlook:
        """Look at the bins of a width in s from a time on, joined where pauses part what they are of."""
        activity = self.signal.activity(width)
        activity = activity.take(activity.start >= low)
        bursts = activity.bursts(width)
        if len(bursts) >= FEWEST_BURSTS and bursts.rests(width, now):
            activity = bursts
        self._credit.spend(price_of_look(len(activity)))
        return outlook(bandwidth_of(activity, (low, now)))

    def _predict(self, ftio: FtioPredictor, begin: float, now: float) -> None:
        """Do as FTIO does."""
        found = ftio.predict(lambda low: self._from(begin, low, now), begin)
        self._credit.spend(price_of_look(min(self.signal.records, BINS)))
        rows = np.array([(one.start, one.end, one.volume) for one in found.phases]).reshape(-1, 3)
        phases = Bursts(rows[:, 0], rows[:, 1], rows[:, 2])
        self._outlook = self._found = Outlook(
            phases=len(phases),
            latest=phases,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            regime_start=ftio.since if found.periodic else None,
            reason=found.reason,
        )
        self._seen, self._looked, self._phases = self.signal.records, now, len(phases)

    def _from(self, begin: float, low: float, now: float) -> StepSignal:
        """Return the bandwidth from a time in s on, of a run that began at another."""
        if low <= begin:
            return self.signal.whole((begin, now))
        activity = self.signal.activity(0.0)
        return bandwidth_of(activity.take(activity.start >= low), (low, now))

    def _answer(self, now: float, ended: bool, timed: bool = True) -> Answer:
        """Put an answer together; `timed` where times tell the period, and not the contents of bursts that repeat."""
        found, repeats = self._found, self._repeats
        behind = self._is_behind(found, now)
        answer = Answer(
            time=now,
            layer=self._key.layer,
            direction=self._key.direction,
            operations=self.signal.operations,
            bytes=self.signal.bytes,
            phases=self._phases,
            in_phase=not ended and self._in_phase(now),
            periodic=found.period is not None,
            period=found.period,
            period_interval=found.period_interval,
            confidence=found.confidence,
            next_start=None,
            probability=None,
            regime_start=found.regime_start,
            reason=self._reason(found, now, behind),
            as_of=self._looked if behind else None,
            iteration=None if repeats is None or repeats.loose else repeats.iterations,
            frequencies=None if self._ftio is None else self._ftio.intervals,
        )
        telling = self._told_by_contents(timed)
        if telling is not None:
            answer = _by_contents(answer, telling)
        answer = self._latest_of(answer)
        return answer if ended else self._foretold(answer, found, repeats)

    def _latest_of(self, answer: Answer) -> Answer:
        """Return an answer; where its period is of an earlier time than one that was told since, with that one."""
        since = self._of_then
        if answer.as_of is None:
            self._of_then = None if answer.period is None else answer
        elif since is not None and since.time > answer.as_of:
            return replace(
                answer,
                periodic=True,
                period=since.period,
                period_interval=since.period_interval,
                # What came since does not fit it.
                confidence=min(since.confidence, answer.confidence or RATHER),
                regime_start=since.regime_start,
                reason=f"As of {seconds_text(since.time)}: {since.reason}",
                as_of=since.time,
            )
        return answer

    def _foretold(self, answer: Answer, found: Outlook, repeats: Repetition | None) -> Answer:
        """Return an answer with the next phase, or the next burst of a known signature where none is foretold."""
        following, like = self._next(found, repeats, answer.time)
        if following is not None:
            if self._is_over(found, answer.time):
                self._record.said(following, answer.time)
            told = _with_next(answer, self._record.corrected(following))
            return _with_bytes(told, repeats) if repeats and _is_one_of(like, repeats) else _with_bytes_of(told, like)
        expected = None if self._known is None else self._expected(self._known, answer.time)
        if expected is None:
            return answer
        told = replace(answer, reason=f"{answer.reason} {expected[2]}", next_bytes=expected[1])
        return _with_next(told, expected[0])

    def _next(self, found: Outlook, repeats: Repetition | None, now: float) -> tuple[NextPhase | None, Bursts | None]:
        """Return the next phase: by its time where there is a regime, with those like it, else by what repeats."""
        timed = () if found.since or self._take_turns(found, repeats) else found.trains
        laws = [self._law(place, one) for place, one in enumerate(timed)]
        grain = self.signal.grain
        several = [next_phase(law, now, lead, grain) for law, lead in zip(laws, found.leads, strict=False)]
        known = [(one, train.bursts) for one, train in zip(several, timed, strict=True) if one is not None]
        following = first_of([one for one, _ in known])
        self._step = laws[0].period if following is not None and len(laws) == 1 else None
        if known:
            return following, min(known, key=lambda one: one[0].latest)[1]
        if repeats is not None:
            law = self._law(-1, repeats.train)
            following = next_phase(law, now, grain=grain)
            self._step = law.period if repeats.length == 1 else None
        return following, None

    def _take_turns(self, found: Outlook, repeats: Repetition | None) -> bool:
        """Tell whether bursts take turns and tell more than their times: each follows the one before more regularly."""
        if repeats is None or repeats.length == 1 or repeats.alike:
            return False
        if found.train is None or self._told_by_contents(self._is_timed) is not None:
            return True
        return repeats.train.jitter < found.train.jitter

    def _expected(self, known: "KnownSignature", now: float) -> tuple[NextPhase, int, str] | None:
        """Return the next burst by a signature, its bytes, and a sentence; None where it has no more."""
        bursts = self.signal.activity(known.pause if known.pause < np.inf else None).bursts(known.pause)
        row = len(bursts)
        if not 0 < row < len(known.start):
            return None
        following = next_phase(law_of_steps(float(bursts.start[-1]), *known.step(row)), now, grain=self.signal.grain)
        text = f"By the signature {known.name}, burst {row + 1} of {len(known.start)} is next."
        return None if following is None else (following, round(float(known.volumes[row])), text)

    def _in_phase(self, now: float) -> bool:
        if self._ftio is not None:
            latest = self._found.latest
            return len(latest) > 0 and now <= float(latest.end[-1]) + self._found.quiet
        return max(now, self._reached) <= self.signal.end + self._silence

    def _is_over(self, found: Outlook, now: float) -> bool:
        """Tell whether the last phase is surely over."""
        if found.train is None:
            return self._over or not len(self._bursts)
        return now > float(self._parted.end[-1]) + found.quiet

    def _is_behind(self, found: Outlook, now: float) -> bool:
        """Tell whether what is said of the period is of a time that has passed."""
        if self._looked == now or self._seen == self._looked_operations:
            return False
        if self._ftio is None and found.train is not None:
            return bool(found.since or found.blurred)
        counted_now = self._outlook.clear and self._looked_bursts == len(self._parted)
        return self._ftio is not None or not (counted_now or self._phases < FEWEST_BURSTS)

    def _reason(self, found: Outlook, now: float, behind: bool) -> str:
        fewer = self._phases < FEWEST_BURSTS and found.period is None and self._ftio is None
        if self._looked == now and not (fewer and found.phases != self._phases):
            return found.sentence()
        if fewer:
            return f"{counted(self._phases, 'phase')}: a period needs at least four."
        if not found.reason:
            return f"{counted(self._phases, 'phase')}; not looked at for a period yet, so that following takes little."
        if behind:
            # The numbers in why there was none are no longer true.
            none = "no period. More has come that was not looked at for one, so that following takes little."
            told = none if found.period is None and self._ftio is None else found.sentence()
            return f"As of {seconds_text(self._looked)}: {told}"
        if found.fitted and not found.slipped:
            later = f"{counted(found.fitted, 'phase')} since {seconds_text(self._looked)}"
            return f"{found.sentence()} {later} {found.as_expected()}."
        return found.sentence()

    def _law(self, place: int, train: PulseTrain) -> StartLaw:
        """Return the law of a train, which is kept as long as its starts are the same."""
        known, starts = self._laws.get(place), train.bursts.start.tobytes()
        if known is None or known[0] != starts:
            known = self._laws[place] = starts, start_law(train)
        return known[1]


def _has_more_of(known: Repetition, found: Repetition) -> bool:
    """Tell whether what was found has more bursts such as those known to repeat."""
    same = (found.length, found.volume, found.operations) == (known.length, known.volume, known.operations)
    return same and found.score > known.score and len(found.bursts) > len(known.bursts)


def _in_clumps(bursts: Activity) -> bool:
    """Tell whether intervals between bursts vary by more than those of bursts at any time."""
    intervals = np.diff(bursts.start)
    return intervals.size > 1 and bool(intervals.std() > CLUMPED * intervals.mean())


def _by_contents(answer: Answer, repeats: Repetition) -> Answer:
    """Return an answer whose period is that of what repeats in the contents of bursts."""
    period = repeats.period
    return replace(
        answer,
        periodic=period is not None,
        period=period,
        period_interval=None if period is None else repeats.pace.interval,
        confidence=0.0 if period is None else repeats.pace.confidence,
        regime_start=None if period is None else repeats.since,
        reason=repeats.sentence(),
        as_of=None,
    )


def _with_next(answer: Answer, following: NextPhase) -> Answer:
    """Return an answer with when the next phase begins."""
    return replace(answer, next_start=(following.earliest, following.latest), probability=following.probability)


def _with_bytes(answer: Answer, repeats: Repetition) -> Answer:
    """Return an answer with what the next phase moves by what repeats."""
    return replace(
        answer,
        next_bytes=repeats.volume,
        next_operations=repeats.operations,
        next_bytes_range=repeats.volume_range,
        next_operations_range=repeats.operations_range,
    )


def _with_bytes_of(answer: Answer, like: Bursts | None) -> Answer:
    """Return an answer with what the next phase moves by those `like` it."""
    if like is None:
        return answer
    latest = like.volume[-LATEST:]
    # A smaller burst may have come in place of one.
    volume, volumes = due_next(np.rint(latest[latest >= LEAST * np.median(latest)]).astype(np.int64))
    return replace(answer, next_bytes=volume, next_bytes_range=volumes)


def _is_one_of(like: Bursts | None, repeats: Repetition) -> bool:
    """Tell whether what repeats moves as much next as phases do, if they are known: smaller ones may come between."""
    usual = repeats.volume if like is None else float(np.median(like.volume[-LATEST:]))
    return LEAST * usual <= repeats.volume <= usual / LEAST


def _joined(before: Outlook, found: Outlook) -> Outlook:
    """Return what the latest phases show, as a part of the run that was looked at before."""
    # The window begins with the second of the latest phases, and parts what it has as it is seen now.
    outside = max(before.phases - len(before.latest) + 1, 0)
    start = found.regime_start
    if _same_period(found, before):
        start = before.regime_start
    return replace(found, phases=outside + found.phases, regime_start=start)


def _has_changed(found: Outlook, repeats: Repetition) -> bool:
    """Tell whether what repeats has come at another pace since a time at which the regime found held."""
    # Of several bursts in turn it is another one anyway.
    period = repeats.period if repeats.changed and repeats.length == 1 and not found.slipped else None
    return bool(period and found.period and abs(period / found.period - 1) > SAME_PERIOD)


def _same_period(one: Outlook, other: Outlook) -> bool:
    return _is_near(one.period, other.period)


def _is_near(one: float | None, other: float | None) -> bool:
    """Tell whether two periods in s are known and may be the same."""
    return bool(one and other and abs(one / other - 1) < SAME_PERIOD)
