"""What layers do in the iterations of the program's loops: the period of each, and one layer against another."""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING, ClassVar, Final

import numpy as np

from ...layers.selection.directions import DIRECTIONS, Direction
from ...layers.selection.window import FRACTION
from ...layers.statistics.kinds import common_folder
from ...layers.trace import Trace
from ...model.arrays import Floats, Frozen, Ints, Rows
from ...model.codes import IoMode
from ...model.document import Record
from ...model.quantities import counted, percent_text, seconds_text
from ...signals.step import StepSignal
from ..loops.find import find_loops
from ..loops.loops import BodyStep, Loop, Loops
from ..loops.members import slots_of
from ..loops.timing import Intervals
from ..loops.words import drift_text, layers_called, loop_text
from ..registry import DEFAULT_METHOD
from ..results.evidence import LoopEvidence
from ..results.result import Period, PeriodMetrics, PeriodResult, Regime
from ..spectral.metrics import characterise, characterise_phases

if TYPE_CHECKING:
    from ..phases.stretches import PulseTrain

_TAKES_PART: Final = 0.5
"""Share of the iterations in which a layer must move bytes for the loop to be one of its own."""
_MATTERS: Final = 0.01
"""Share of a layer's bytes, and of the run, below which a loop says nothing of its period."""
_MOST: Final = 0.5
"""Share of a layer's bytes that must be in loops for these to tell its period."""
_REGULAR: Final = 0.3
"""Jitter up to which all iterations have one period; looser ones that of a train that most of them make, if any."""
_EVIDENT: Final = math.log(100)
"""Logarithm of the Bayes factor from which on intervals are no chance: one in a hundred, as for signals."""
_LIKELY: Final = 0.5
"""Confidence from which on the bursts of a layer tell more than a loop whose intervals are irregular."""
_WITHIN: Final = 0.1
"""Share of itself by which a period may be off to be right: what a confidence is a probability of."""
_SAME: Final = 1.05
"""Ratio of two periods up to which they are one."""
_SEVERAL: Final = 1.5
"""Operations of one layer for one of the other from which on they are split or merged: half of them, at least."""
_HARDLY: Final = 0.01
"""Share of the bytes above up to which an iteration hardly moves anything below."""
_SLICE: Final = 0.03
"""Longest period in s that a scheduler may give a process that shares its core: a few ticks of up to 10 ms."""
_STREAM: Final = 4
"""Calls, or iterations, in a period from which on these are a stream that goes on through it."""
_SELDOM: Final = 10.0
"""Periods in an iteration, of irregular ones, from which on they are that of single calls within it."""
_CALLS: Final = 50
"""Single calls from which on a period of a few ms must be that of most of them."""
_MOSTLY: Final = 2 / 3
"""Share of the intervals that are most of them."""
_MODES: Final = {"read": (IoMode.READ,), "write": (IoMode.WRITE,), "total": (IoMode.READ, IoMode.WRITE)}
_DONE: Final = {"read": "read", "write": "written"}
VERDICTS: Final = {
    "same": "as many operations below",
    "merged": "several operations above are one below",
    "split": "one operation above is several below",
    "late": "the lower layer begins when the upper one is done",
    "cached": "most iterations move nothing below",
}
"""What becomes of an iteration in a lower layer."""


def _comes_every(loop: Loop, period: float) -> bool:
    """Tell whether the call that is all an iteration does may come once a period, of irregular ones most of them."""
    (first, *others), begin = loop.body, np.array([one.begin_s for one in loop.iterations])
    if others or first.loop is not None or loop.timing != "irregular" or len(begin) < _CALLS:
        return True
    near = np.abs(np.diff(begin) - period) <= _WITHIN * period
    return bool(near.mean() >= _MOSTLY)


class LayerLoop(Record):
    """The loop that a layer's bytes in one direction are moved in.

    Attributes
    ----------
    count : int
        Iterations of the loop.
    iterations : int
        Those in which the layer moves bytes.
    text : str
        The loop in words.
    """

    id: int
    count: int
    iterations: int
    bytes: float
    interval_s: Intervals
    timing: str
    bits: float
    text: str


class Passes(Frozen):
    """What a layer moves in one direction in those iterations of a loop in which it moves something; columns (n,).

    Attributes
    ----------
    loop : Loop
    iteration : int64
    operations : int64
    bytes : float64
    begin, end : float64
        In s.
    within : int
        How often an iteration does the same again by which the layer's bytes are moved; 1 where it does so by no single
        step or loop.
    """

    loop: Loop
    iteration: Rows
    operations: Ints
    bytes: Floats
    begin: Floats
    end: Floats
    within: int = 1

    def __len__(self) -> int:
        return len(self.iteration)

    def take(self, rows: Rows) -> "Passes":
        """Return some iterations."""
        numbers = self.iteration[rows], self.operations[rows]
        return Passes(self.loop, *numbers, self.bytes[rows], self.begin[rows], self.end[rows], self.within)


class ByIteration(Record):
    """What becomes of a loop's iterations between two layers.

    Attributes
    ----------
    verdict : str
        One of `VERDICTS`.
    loop, count : int
        Its id, and how many iterations it has.
    upper_iterations, lower_iterations : int
        Those in which the layers move bytes.
    upper_operations, lower_operations, upper_bytes, lower_bytes : float
        Of an iteration, medians.
    cached_iterations : int
        Iterations that move bytes above and hardly any below.
    late : float or None
        By how much the lower layer begins after the upper one in an iteration, in s, the median.
    reason : str
        One sentence.
    """

    KEYS: ClassVar = {"late": "late_s"}

    verdict: str
    loop: int
    count: int
    upper_iterations: int
    lower_iterations: int
    upper_operations: float
    lower_operations: float
    upper_bytes: float
    lower_bytes: float
    cached_iterations: int
    late: float | None
    reason: str


class TraceLoops(Frozen):
    """The loops of a trace by what layers do in them."""

    loops: Loops

    @cached_property
    def _first(self) -> dict[int, int]:
        """Number of the first iteration of each loop in the sums."""
        counts = [slots_of(one.count) for one in self.loops.outermost]
        return dict(zip((one.id for one in self.loops.outermost), np.cumsum([0, *counts]).tolist(), strict=False))

    @cached_property
    def _told(self) -> list[Loop]:
        """Loops whose iterations are told one by one, and that are no moment of the run."""
        start, end = self.loops.trace.window
        lasting = (one for one in self.loops.outermost if one.end_s - one.begin_s >= _MATTERS * (end - start))
        return [one for one in lasting if len(one.iterations) == one.count]

    @cached_property
    def _known(self) -> dict[tuple[str, str], tuple[Passes, ...]]:
        return {}

    def passes(self, loop: Loop, layer: str, direction: Direction, below: str | None = None) -> Passes:
        """Return what a layer moves, at all or below another, in a loop whose iterations are told one by one."""
        sums = self.loops.sums
        amounts, first = sums.amounts, self._first[loop.id]
        low, high = np.searchsorted(amounts.keys[0], (first, first + loop.count))
        rows = np.arange(low, high)
        origin, mode = (key[rows] for key in amounts.keys[1:])
        origins = self.loops.trace.layers[layer].lineages_of("all", below)
        rows = rows[np.isin(origin, origins) & np.isin(mode, _MODES[direction])]
        moved = amounts["whole"][rows] + amounts["part"][rows] / FRACTION
        rows, moved = rows[moved > 0], moved[moved > 0]
        iteration = amounts.keys[0][rows] - first
        start = np.flatnonzero(np.diff(iteration, prepend=-1))
        if not len(start):
            nothing = np.zeros(0)
            return Passes(loop, start, start, nothing, nothing, nothing)
        second = sums.scope.window.ticks_per_second
        amounts_of = np.add.reduceat(amounts["operations"][rows], start), np.add.reduceat(moved, start)
        begin = np.minimum.reduceat(amounts["begin"][rows], start) / second
        end = np.maximum.reduceat(amounts["end"][rows], start) / second
        return Passes(loop, iteration[start], *amounts_of, begin, end, self._within(loop, layer, direction))

    def _within(self, loop: Loop, layer: str, direction: Direction) -> int:
        """Return how often an iteration does the only step, or loop within it, by which the program moves bytes there.

        What a layer moves that the program does not call is caused by the layer above.
        """
        known, order = {one.id: one for one in self.loops.loops}, self.loops.trace.order
        called = layers_called(loop, self.loops.loops)
        caller = next((one for one in reversed(order[: order.index(layer) + 1]) if one in called), None)
        kinds = DIRECTIONS if direction == "total" else (direction,)

        def moves(step: BodyStep) -> bool:
            if step.loop is not None:
                return any(moves(one) for one in known[step.loop].body)
            return step.layer == caller and step.kind in kinds

        moving = [step.count for step in loop.body if moves(step)]
        return moving[0] if len(moving) == 1 else 1

    def of(self, layer: str, direction: Direction) -> tuple[Passes, ...]:
        """Return the loops that a layer takes part in, the one with most of its bytes first."""
        key = layer, direction
        if key not in self._known:
            found = [self.passes(one, layer, direction) for one in self._told]
            least = _MATTERS * self._bytes(layer, direction)
            there = [one for one in found if len(one) >= _TAKES_PART * one.loop.count and one.bytes.sum() >= least]
            self._known[key] = tuple(sorted(there, key=lambda one: -one.bytes.sum()))
        return self._known[key]

    def _bytes(self, layer: str, direction: Direction) -> float:
        return float(self.loops.trace.layers[layer].statistics(direction).bytes)

    def deciding(self, layer: str, direction: Direction, stream: str | None = None) -> tuple[Passes, ...]:
        """Return the loops that decide on the period of a layer, or of what it does to files of one kind.

        None do where most of the layer's bytes are in none. Of files those count in which a step is on them.
        """
        if stream is None:
            found = self.of(layer, direction)
            inside = sum(float(one.bytes.sum()) for one in found)
            return found if inside >= _MOST * self._bytes(layer, direction) else ()
        mine = (one for one in self._told if any(step.file == stream for step in one.body))
        there = (self.passes(one, layer, direction) for one in mine)
        return tuple(one for one in there if len(one) >= _TAKES_PART * one.loop.count)[:1]

    def without_slices(
        self, result: PeriodResult, layer: str, direction: Direction, signal: StepSignal
    ) -> PeriodResult:
        """Return the verdict on a layer without a period that is no doing of the program.

        Calls that it makes one after the other, and no loop of them that is as long, are all it does. That they come in
        bursts of some ms is the doing of a system that gives the process its core, and takes it.
        """
        period = result.period
        each = None if period is None else self._call_within(layer, direction, period)
        if period is None or each is None:
            return result
        bursts = f"bursts {seconds_text(period, 2)} apart are rather those of a system where processes share cores"
        reason = f"The program calls on and on, every {seconds_text(each)} on average: {bursts}."
        return replace(result, periods=(), regimes=(), metrics=characterise(signal), reason=reason)

    def _call_within(self, layer: str, direction: Direction, period: float) -> float | None:
        """Return how often calls come that go on through many a short period; None where that may be the program's."""
        kinds = DIRECTIONS if direction == "total" else (direction,)
        for one in self.loops.outermost if period <= _SLICE else ():
            part = one.sums.get(layer)
            moved = 0.0 if part is None else sum(getattr(part, f"bytes_{_DONE[kind]}") for kind in kinds)
            if moved < _MOST * self._bytes(layer, direction):
                continue
            between = [each.interval_s.mean for each in self._nest(one)]
            often = _STREAM * min(between) <= period and layer in layers_called(one, self.loops.loops)
            seldom = one.timing == "irregular" and _SELDOM * period < one.interval_s.mean
            if not _comes_every(one, period) or (
                (often or seldom) and not any(_near(each, period) for each in between)
            ):
                return min(between)
        return None

    def _nest(self, loop: Loop) -> Iterator[Loop]:
        """Give a loop and those within it."""
        yield loop
        for one in self.loops.loops:
            if one.parent == loop.id:
                yield from self._nest(one)

    def pair(self, upper: str, lower: str, direction: Direction) -> tuple[Passes, Passes] | None:
        """Return what two layers move in one loop: that of the upper one's in which the lower one takes part.

        Where it does in none, it is the upper layer's main loop; None where that has none either.
        """
        above = self.of(upper, direction)
        found = [(one, _beside(one, self.passes(one.loop, lower, direction, below=upper))) for one in above]
        shared = (two for two in found if len(two[1]) >= _TAKES_PART * len(two[0]))
        return next(shared, found[0] if found and self.deciding(upper, direction) else None)

    def top(self, loop: Loop, direction: Direction) -> str:
        """Return the highest layer that takes part in a loop: the one that the program called."""
        names = self.loops.trace.order
        return next(one for one in names if len(self.passes(loop, one, direction)) >= _TAKES_PART * loop.count)

    def bandwidth(self, layer: str, direction: Direction) -> StepSignal:
        """Return the bandwidth of a layer."""
        return self.loops.trace.layers[layer].bandwidth(direction)

    def entry(self, passes: Passes) -> LayerLoop:
        """Return what a document says of a layer's loop."""
        loop = passes.loop
        folder = common_folder(step.file for step in loop.body)
        text = loop_text(loop, self.loops.loops, folder)
        moved = float(passes.bytes.sum())
        return LayerLoop(loop.id, loop.count, len(passes), moved, loop.interval_s, loop.timing, loop.bits, text)


def loops_of(trace: Trace, method: str = DEFAULT_METHOD) -> TraceLoops | None:
    """Return the loops of a trace, which are looked for once, by what layers do in them.

    None without operations one by one, and where another method than the default one is asked for.
    """
    if method != DEFAULT_METHOD or trace.definitions.recording.reason("operations"):
        return None
    return trace.once(_found)


def _found(trace: Trace) -> TraceLoops:
    return TraceLoops(find_loops(trace))


def _beside(upper: Passes, lower: Passes) -> Passes:
    """Return the iterations of a lower layer without those that move hardly anything of what the upper one moves."""
    above = np.zeros(upper.loop.count)
    above[upper.iteration] = upper.bytes
    return lower.take(np.flatnonzero(lower.bytes > _HARDLY * above[lower.iteration]))


def compare_passes(upper: Passes, lower: Passes) -> ByIteration:
    """Return what becomes of a loop's iterations in a lower layer."""
    both, above, below = np.intersect1d(upper.iteration, lower.iteration, return_indices=True)
    cached = len(upper) - len(both)
    late = float(np.median(lower.begin[below] - upper.begin[above])) if len(both) else None
    done = bool(np.median(lower.begin[below] - upper.end[above]) > 0) if len(both) else False
    operations = _median(upper.operations), _median(lower.operations)
    verdict = "same"
    if cached > _TAKES_PART * len(upper):
        verdict = "cached"
    elif done:
        verdict = "late"
    elif operations[1] * _SEVERAL <= operations[0]:
        verdict = "merged"
    elif operations[1] >= operations[0] * _SEVERAL:
        verdict = "split"
    reason = f"{VERDICTS[verdict]}: {operations[0]:g} above and {operations[1]:g} below an iteration"
    if cached:
        reason += f"; {counted(cached, 'iteration')} of {len(upper)} move nothing below"
    if late is not None and verdict == "late":
        reason += f"; it begins {seconds_text(late)} after"
    moved = _median(upper.bytes), _median(lower.bytes)
    own = (verdict, upper.loop.id, upper.loop.count, len(upper), len(lower))
    return ByIteration(*own, *operations, *moved, cached, late, reason)


def _median(column: Ints | Floats) -> float:
    return float(np.median(column)) if len(column) else 0.0


def period_by_loops(
    found: Sequence[Passes], result: PeriodResult, signal: StepSignal, leader: Callable[[], tuple[str, PeriodResult]]
) -> PeriodResult:
    """Return the verdict on a layer's period by the loop that its bytes are moved in.

    Parameters
    ----------
    found : sequence of Passes
        The loop that decides, and others that go on at the same time.
    result : PeriodResult
        Of the signal; its phases stay.
    signal : StepSignal
    leader : callable
        Gives the layer that the program called, and the verdict on its signal. It decides for all layers of a loop
        whose intervals are irregular.
    """
    main = found[0]
    if goes_on_through(main, result):
        text = f"{main.within} times in each of {main.loop.count} iterations of a loop, all through them"
        return replace(result, reason=f"{text}. {result.reason}")
    if trains := _trains(main.loop):
        # What is over in a hundredth of the run is no period of it.
        lasting = [one for one in trains if one.length >= _MATTERS * signal.duration]
        return _by_trains(found, lasting, result, signal) if lasting else _irregular(main.loop, result, signal)
    name, leading = leader()
    periodic = leading.period is not None and leading.confidence >= _LIKELY and not drift_text(main.loop)
    if leading.period is None or not periodic:
        return _irregular(main.loop, result, signal)
    if not _is_of_loop(leading.period, main.loop):
        whole = None if main.loop.timing == "irregular" else _whole(main.loop)
        return _irregular(main.loop, result, signal) if whole is None else _by_trains(found, [whole], result, signal)
    if result.period is not None and _alike(result.period, leading.period):
        return result
    reason = f"As the bursts of {name}, which the program called: {leading.reason}"
    metrics = characterise(signal, leading.period)
    return replace(result, periods=leading.periods, regimes=leading.regimes, metrics=metrics, reason=reason)


def goes_on_through(passes: Passes, result: PeriodResult) -> bool:
    """Tell whether what an iteration does several times goes on through all of them, with the period of the signal.

    So does a log with a line a step, between two checkpoints and beyond. A checkpoint of many writes does not.
    """
    if passes.within == 1 or result.period is None or result.confidence < _LIKELY:
        return False
    between = passes.loop.interval_s.mean
    return abs(result.period * passes.within - between) <= _WITHIN * between


def _alike(one: float, other: float) -> bool:
    return max(one, other) <= _SAME * min(one, other)


def _near(one: float, other: float) -> bool:
    return max(one, other) <= _SEVERAL * min(one, other)


def _is_of_loop(period: float, loop: Loop) -> bool:
    """Tell whether a period of a signal may be how often iterations begin, or bursts of them do."""
    between = loop.interval_s
    near = any(abs(period - one) <= _WITHIN * one for one in (between.median, between.mean))
    return near or (loop.in_bursts and period > between.mean)


def _trains(loop: Loop) -> "list[PulseTrain]":
    """Return the stretches in which a loop has a period; none where its intervals are irregular.

    That it repeats is certain by its steps, so intervals that vary by no more than those of any period are regular. A
    loop of a single step, which has no evidence but its times, must show by these.
    """
    whole = _whole(loop)
    if whole is None:
        return []
    # Loading numba takes half a second.
    from ..phases.stretches import MOST_JITTER, divided

    trains = [one for one in divided(whole.bursts)[0] if _is_likely(one)]
    found = trains if sum(len(one.bursts) for one in trains) > _MOST * len(whole.bursts) else []
    sure = whole.jitter <= (_REGULAR if found else MOST_JITTER) and _confidence(whole) >= _LIKELY
    one_pace = len(trains) < 2 and not any(one.drift for one in trains)
    return [whole] if loop.bits > 0 and sure and one_pace else found


def _whole(loop: Loop) -> "PulseTrain | None":
    """Return all iterations of a loop as one train; None for too few, or where how often they come drifts."""
    from ..phases.bursts import FEWEST_BURSTS, Bursts
    from ..phases.stretches import PulseTrain

    begin = np.array([one.begin_s for one in loop.iterations])
    if drift_text(loop) or len(begin) < FEWEST_BURSTS or np.diff(begin).min() <= 0:
        return None
    bursts = Bursts(begin, np.array([one.end_s for one in loop.iterations]), np.ones(len(begin)))
    return PulseTrain(bursts, np.ones(len(begin) - 1), 0.0)


def _is_likely(train: "PulseTrain") -> bool:
    return train.gain >= _EVIDENT and _confidence(train) >= _LIKELY


def _by_trains(
    found: Sequence[Passes], trains: "Sequence[PulseTrain]", result: PeriodResult, signal: StepSignal
) -> PeriodResult:
    main, loop = max(trains, key=lambda one: len(one.bursts)), found[0].loop
    periods = [Period(main.period, main.interval(), _confidence(main), float(found[0].bytes.sum()))]
    for other in found[1:]:
        some = _trains(other.loop)
        if len(some) == 1 and not any(_alike(some[0].period, one.period) for one in periods):
            one = some[0]
            periods.append(Period(one.period, one.interval(), _confidence(one), float(other.bytes.sum())))
    following = [*(one.start for one in trains[1:]), signal.window[1]]
    regimes = tuple(_regime(one, latest) for one, latest in zip(trains, following, strict=True))
    return replace(
        result,
        periods=tuple(periods),
        regimes=regimes,
        recurrence=main.period,
        jitter=main.jitter,
        metrics=_metrics(found[0], main, regimes[list(trains).index(main)].end, signal),
        evidence=LoopEvidence(loop=loop.id, bits=loop.bits),
        reason=_reason(loop, trains),
    )


def _regime(one: "PulseTrain", latest: float) -> Regime:
    """Return the stretch of a train, which ends a period behind its last burst, but not behind the `latest` time."""
    last, sure = float(one.bursts.start[-1]), _confidence(one)
    end = max(min(last + one.period, latest), last)
    return Regime(one.start, end, one.period, sure, len(one.bursts), jitter=one.jitter, drift=one.drift)


def _metrics(passes: Passes, train: "PulseTrain", until: float, signal: StepSignal) -> PeriodMetrics:
    """Return how well a period describes what a layer moves in its iterations."""
    begin = np.array([one.begin_s for one in passes.loop.iterations])[passes.iteration]
    there = (begin >= train.start) & (begin <= train.bursts.start[-1])
    if np.count_nonzero(there) != len(train.bursts):
        return characterise(signal, train.period)
    return characterise_phases(passes.begin[there], passes.end[there], passes.bytes[there], until, train.spans)


def _confidence(train: "PulseTrain") -> float:
    """Return the probability that the mean interval is within a tenth of the truth, by the law of its interval."""
    from ..phases.stretches import chance_off

    return 1.0 - float(chance_off(train.steady / train.steady.mean() - 1)(np.array([_WITHIN]))[0])


def _reason(loop: Loop, trains: "Sequence[PulseTrain]") -> str:
    text = f"{loop.count} iterations of a loop"
    if len(trains) > 1:
        parts = (f"{seconds_text(one.period, 4)} apart from {one.start:.4g} s on" for one in trains)
        return f"{text}, {', '.join(parts)}."
    some = "" if len(trains[0].bursts) == loop.count else f", {len(trains[0].bursts)} of them"
    return f"{text}{some}, {seconds_text(trains[0].period, 4)} apart, jitter {percent_text(trains[0].jitter)}."


def _irregular(loop: Loop, result: PeriodResult, signal: StepSignal) -> PeriodResult:
    """Return that there is no period, as the intervals of a loop vary; of those that drift also how often they come."""
    between = loop.interval_s
    drift = f", {told}" if (told := drift_text(loop)) else ""
    reason = (
        f"{loop.count} iterations of a loop at irregular intervals{drift}, {seconds_text(between.median, 4)} in the "
        f"median, jitter {percent_text(between.jitter)}."
    )
    if drift:
        result = replace(result, recurrence=between.mean, jitter=between.jitter)
    return replace(result, periods=(), regimes=(), metrics=characterise(signal), reason=reason)
