"""A run as a story: what its I/O was, segment by segment, from periods and phases of what the program called."""

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final, Literal, NamedTuple, TypeVar

import numpy as np

from ...layers.selection.directions import DIRECTIONS, Direction, LayerDirection
from ...layers.summary.counted import KINDS, counted_layer
from ...layers.trace import Trace
from ...model.arrays import Ints
from ...model.document import Record
from ...model.metrics import metric
from ...model.quantities import bytes_text, counted, seconds_text
from ...signals.construction import step_signal_from_ticks
from ...signals.step import StepSignal
from ..detect import detect_period
from ..registry import DEFAULT_METHOD
from ..results.parts import Phase, Regime
from ..results.result import PeriodResult
from .layer_periods import LayerPeriod

Part = TypeVar("Part")
_AT_ONCE: Final = 0.005
"""Share of the run: bursts without a period whose usual gap is shorter are one, if their volumes vary."""
_ALIKE: Final = 0.25
"""Coefficient of variation of their volumes up to which they count as several nevertheless."""
_IN_BURSTS: Final = 0.5
"""Share of the bytes from first to last burst that must be in bursts: with less, most of it flows steadily."""
_FLOWS: Final = 1 / 3
"""Share of the rate of a burst without a period from which on what moves after or beside it is of the same burst."""
_LEAST: Final = 0.001
"""Share of the bytes of a signal below which a segment without a period is left out."""
_PAUSE: Final = 0.02
"""Share of the run from which on a time without I/O is a segment."""
_APART: Final = 3.0
"""Times the usual gap between bursts without a period from which on a gap divides them."""
_CHECKPOINT: Final = 2**20
"""Bytes from which on what is written regularly is a checkpoint, if it comes no more often than `_SELDOM` and the
program hardly reads meanwhile."""
_SELDOM: Final = 0.1
"""Shortest period of checkpoints, in s."""
_LOG: Final = 2**16
"""Bytes of a burst below which what is written regularly may be a log, if it is `_LITTLE` of what is written."""
_LITTLE: Final = 0.05
"""Share of the bytes up to which something is little of them."""
_UNEQUAL: Final = 2.0
"""Ratio of mean and median of phases from which on one number does not describe both."""
_ROUNDING: Final = 1e-9
"""Share of what moves by which sums of it may be off."""
_MOMENT: Final = 0.001
"""Share of the run below which a regime is too short for its period to count, as the pieces of one read."""
_FOUND: Final = 0.5
"""Share of the recurrences of a period that must be found as bursts: with fewer, bursts are not what recurs."""
_VALID: Final = 0.1
"""Share of a regime in which its period must show where its single bursts are not found: the clock of a device may be
visible in the bandwidth although the program has no such period."""
_LIKELY: Final = 0.5
"""Confidence below which the text names it."""
_SAME: Final = 1.25
"""Ratio of two periods up to which a log after a break is the same log."""
_NEAR: Final = 0.5
"""Share of a period by which a burst before or after its regime may be early or late and still belong to its train."""
_FLUSHING: Final = 0.01
"""Share of a time without reads and writes from which on it is told that something is flushed meanwhile."""
_EVENTS: Final = 100
"""Opens, closes, deletions and the like from which on they are a segment, where nothing moves meanwhile."""
_VERBS: Final[dict[str, str]] = {"read": "read", "write": "written"}


class Segment(Record):
    """A stretch of the run with one kind of I/O, or with none.

    Attributes
    ----------
    kind : str
        ``start-up`` (before the first I/O), ``input`` (read before anything is written), ``checkpoints``, ``log``,
        ``writes``, ``reads`` (with a period), ``bursts`` (several without one), ``burst`` (one), ``final dump`` (a last
        one as large as those before), ``metadata`` (opens, closes, deletions while nothing moves), ``pause`` and
        ``end`` (without I/O). A ``loop`` comes in the place of what lies in it; see `story_by_loops`.
    direction : str or None
        None where nothing moves.
    layers : tuple of str
        That which the program called, and those below that it went through.
    period_interval : (float, float) or None
        As in `Period`; None without a period.
    """

    start: float = metric("Begin of the first burst, from the trace's start.", unit="s", adds="none")
    end: float = metric("End of the last burst, from the trace's start.", unit="s", adds="none")
    kind: str = metric("Kind of I/O, or of none.")
    direction: str | None = None
    layers: tuple[str, ...] = ()
    period: float | None = metric("Time between bursts; None without a period.", unit="s", adds="none", default=None)
    period_interval: tuple[float, float] | None = None
    confidence: float | None = metric(
        "That the period lies within 10 % of the truth, 0 to 1.", adds="none", default=None
    )
    phases: int = metric("Number of bursts, or of periods where no single bursts are found.", default=0)
    bytes: float = metric(
        "Bytes moved through the first of the layers: in the bursts of a period, else from start to end.",
        unit="byte",
        default=0.0,
    )
    bytes_per_phase: float | None = metric(
        "Median over the bursts, or the mean of each period where there are none.",
        unit="byte",
        adds="none",
        default=None,
    )
    ranks: int | None = metric(
        "Processes that used handles of the first layer at that time.", adds="distinct", default=None
    )
    text: str = metric("The segment in words.", default="")
    metadata_events: int = metric("Opens, closes, deletions and the like where nothing moves.", default=0)


class _Own(NamedTuple):
    """What the program itself called in a layer and direction, and its verdict."""

    layers: tuple[str, ...]
    """The layer, and those below through which its bytes go."""
    direction: Direction
    bytes: float
    signal: StepSignal | None
    """None where all that moves is in phases."""
    result: PeriodResult


def story_of(
    trace: Trace,
    results: Mapping[LayerDirection, PeriodResult],
    method: str = DEFAULT_METHOD,
    fs: float | Literal["auto"] = "auto",
) -> tuple[Segment, ...]:
    """Return the segments of a run in the order of their begins; those of different layers may overlap.

    Parameters
    ----------
    trace : Trace
    results : mapping of (layer, direction) to PeriodResult
        On the bandwidths of whole layers, all their traffic. Where a layer also carries what a higher one caused, its
        own traffic is looked at by itself.
    method, fs
        As in `detect_period`, for what is looked at here.
    """
    own = list(_own(trace, results, method, fs))
    written = sum(one.bytes for one in own if one.direction == "write")
    segments: list[Segment] = []
    for one in own:
        parts = _logs_together(_segments(trace, one, one.bytes <= _LITTLE * written))
        found = [part for part in parts if part.period is not None or part.bytes >= _LEAST * one.bytes]
        segments += _flowing_on(trace, one, [*found, *_beside(trace, one, found)])
    segments = list(_named(sorted(segments, key=_when)))
    # What is not looked at may move while nothing else does.
    looked_at = {
        (name, way) for name, layer in trace.layers.items() for way in DIRECTIONS if layer.statistics(way).bytes
    }
    if looked_at <= results.keys():
        gaps = _silence(trace, segments, own, results.values())
        segments = sorted([*segments, *(one for gap in gaps for one in _metadata(trace, gap, method, fs))], key=_when)
        if segments:
            silent = _silence(trace, segments, own, results.values())
            segments = sorted([*segments, *(_with_metadata(trace, one, own) for one in silent)], key=_when)
    return tuple(replace(one, text=_text(one, trace)) for one in segments)


def results_of(periods: Iterable[LayerPeriod]) -> dict[LayerDirection, PeriodResult]:
    """Return the verdicts on the bandwidths of whole layers, with all their traffic, as `story_of` takes them."""
    return {
        (one.layer, one.direction): one.of_signal
        for one in periods
        if one.direction in _VERBS and (one.traffic, one.quantity, one.by) == ("all", "bandwidth", None)
    }


def _own(
    trace: Trace, results: Mapping[LayerDirection, PeriodResult], method: str, fs: float | Literal["auto"]
) -> Iterator[_Own]:
    """Give what the program itself called."""
    for (layer, direction), result in results.items():
        statistics, layers = trace.layers[layer].statistics(direction), (layer, *_below(trace, layer, direction))
        if statistics.own_bytes >= statistics.bytes:
            inside = sum(phase.volume for phase in result.phases)
            beside = statistics.bytes - inside > _rounding(statistics.bytes)
            signal = trace.layers[layer].bandwidth(direction) if beside else None
            yield _Own(layers, direction, statistics.bytes, signal, result)
        elif statistics.own_bytes > 0:
            signal = trace.layers[layer].bandwidth(direction, "own")
            yield _Own(layers, direction, statistics.own_bytes, signal, detect_period(signal, method, fs))


def _segments(trace: Trace, one: _Own, little: bool) -> Iterator[Segment]:
    """Give the segments of one signal: its regimes, and between them what has no period.

    `little` is whether it is little of what the program writes.
    """
    for phases, regime in _trains(one.result, _length(trace), one.signal):
        # Of a log its first line may come an instant before its period holds; a last dump counts, however small.
        negligible = little and sum(phase.volume for phase in phases) < _LITTLE * one.bytes
        if regime is not None or not (one.result.regimes and negligible):
            yield _segment(trace, one, phases, regime, little)


def _logs_together(segments: Iterable[Segment]) -> Iterator[Segment]:
    """Give the segments of one signal, but those of a log as one where it goes on with much the same period.

    A program that writes a line a step writes none while it does anything else, such as a checkpoint.
    """
    log: Segment | None = None
    for one in sorted(segments, key=_when):
        if one.kind != "log" or one.period is None:
            yield one
        elif log is None or log.period is None or not 1 / _SAME < one.period / log.period < _SAME:
            if log is not None:
                yield log
            log = one
        else:
            longer = max(log, one, key=lambda part: part.phases)
            ranks = max(part.ranks or 0 for part in (log, one)) or None
            count, moved = log.phases + one.phases, log.bytes + one.bytes
            log = replace(longer, start=log.start, end=one.end, phases=count, bytes=moved, ranks=ranks)
    if log is not None:
        yield log


def _trains(
    result: PeriodResult, duration: float, signal: StepSignal | None = None
) -> Iterator[tuple[list[Phase], Regime | None]]:
    """Give the phases of each regime, and those before, between and after regimes in parts.

    `duration` is that of the run in s; `signal` tells which phases without a period are one, as it hardly ebbs between.
    """
    least = _MOMENT * duration
    lasting = [regime for regime in result.regimes if regime.end - regime.start >= least]
    regimes = [regime for regime in lasting if _shows(regime, result.phases)]
    start = [regime.start for regime in regimes]
    inside: list[list[Phase]] = [[] for _ in regimes]
    between: list[list[Phase]] = [[] for _ in range(len(regimes) + 1)]
    for phase in result.phases:
        middle = 0.5 * (phase.start + phase.end)
        place = bisect_right(start, middle) - 1
        within = place >= 0 and middle <= regimes[place].end
        (inside[place] if within else between[place + 1]).append(phase)
    for place, regime in enumerate(regimes):
        if inside[place]:
            _take_neighbours(inside[place], between[place], between[place + 1], regime.period)
            yield inside[place], regime
    for group in between:
        for part in _together(list(_unparted(group, signal)), duration):
            yield part, None


def _unparted(phases: Iterable[Phase], signal: StepSignal | None) -> Iterable[Phase]:
    """Give phases without a period, as one those between which the signal is below its mean but flows on."""
    if signal is None:
        return phases

    def both(last: Phase, phase: Phase) -> Phase | None:
        if phase.start <= last.end:
            return None
        meanwhile = _rate(_volume(signal, last.end, phase.start), last.end, phase.start)
        highest = max(_rate(one.volume, one.start, one.end) for one in (last, phase))
        whole = Phase(last.start, phase.end, _volume(signal, last.start, phase.end))
        return whole if meanwhile >= _FLOWS * highest else None

    return _joined(phases, both)


def _flowing_on(trace: Trace, one: _Own, segments: Iterable[Segment]) -> Iterator[Segment]:
    """Give the segments of one signal, but as one those bursts that follow at once at much the same rate."""

    def both(last: Segment, segment: Segment) -> Segment | None:
        low, high = sorted(_rate(part.bytes, part.start, part.end) for part in (last, segment))
        if not last.kind == segment.kind == "burst" or segment.start != last.end or low < _FLOWS * high:
            return None
        moved, ranks = last.bytes + segment.bytes, _ranks(trace, one, last.start, segment.end)
        return replace(last, end=segment.end, bytes=moved, bytes_per_phase=moved, ranks=ranks)

    return _joined(sorted(segments, key=_when), both)


def _joined(parts: Iterable[Part], both: Callable[[Part, Part], Part | None]) -> Iterator[Part]:
    """Give parts in their order, as one those that are `both` one with the one before."""
    last: Part | None = None
    for part in parts:
        together = None if last is None else both(last, part)
        if last is not None and together is None:
            yield last
        last = part if together is None else together
    if last is not None:
        yield last


def _rate(volume: float, start: float, end: float) -> float:
    """Return the mean rate of what moves between two times."""
    return volume / (end - start) if end > start else np.inf


def _shows(regime: Regime, phases: Sequence[Phase]) -> bool:
    """Tell whether a period is seen in single bursts, or else in much of its regime."""
    bursts = sum(regime.start <= 0.5 * (phase.start + phase.end) <= regime.end for phase in phases)
    found = bursts >= _FOUND * (regime.end - regime.start) / regime.period
    return found or regime.valid_share is None or regime.valid_share >= _VALID


def _take_neighbours(inside: list[Phase], before: list[Phase], after: list[Phase], period: float) -> None:
    """Move bursts of the same train into it that come a little early or late for the period, as the first one may."""
    usual = float(np.median([phase.volume for phase in inside]))

    def belongs(phase: Phase, distance: float) -> bool:
        alike = usual < _UNEQUAL * phase.volume and phase.volume < _UNEQUAL * usual
        return alike and abs(distance - period) < _NEAR * period

    if before and belongs(before[-1], inside[0].start - before[-1].start):
        inside.insert(0, before.pop())
    if after and belongs(after[0], after[0].start - inside[-1].start):
        inside.append(after.pop(0))


def _beside(trace: Trace, one: _Own, found: Sequence[Segment]) -> Iterator[Segment]:
    """Give what moves before, between and after the segments of a signal, where it is not little of it.

    What is slower than the mean is no phase, as the first bursts of a run may be.
    """
    if one.signal is None or not found:
        return
    edges = [trace.window[0], *(time for segment in found for time in (segment.start, segment.end)), trace.window[1]]
    for start, end in zip(sorted(edges)[::2], sorted(edges)[1::2], strict=True):
        moved = _volume(one.signal, start, end)
        if moved <= _LITTLE * one.bytes:
            continue
        times, impulses = one.signal.times, one.signal.impulse_times
        there = (one.signal.values > 0) & (times[1:] > start) & (times[:-1] < end)
        at_once = impulses[(impulses > start) & (impulses <= end)]
        first = max(start, float(np.append(times[:-1][there], at_once).min()))
        last = min(end, float(np.append(times[1:][there], at_once).max()))
        ranks = _ranks(trace, one, first, last)
        yield Segment(
            first, last, "burst", one.direction, one.layers, phases=1, bytes=moved, bytes_per_phase=moved, ranks=ranks
        )


def _together(phases: list[Phase], duration: float) -> Iterator[list[Phase]]:
    """Give phases without a period in parts, divided where a gap is long for the run and for them."""
    gaps = [after.start - before.end for before, after in pairwise(phases)]
    least = max(_PAUSE * duration, _APART * float(np.median(gaps)) if len(gaps) > 1 else 0.0)
    part: list[Phase] = []
    for phase in phases:
        if part and phase.start - part[-1].end > least:
            yield part
            part = []
        part.append(phase)
    if part:
        yield part


def _bursts(phases: Sequence[Phase], duration: float) -> int:
    """Return how many bursts phases without a period are: one where they are unlike and hardly apart for the run."""
    gaps = [after.start - before.end for before, after in pairwise(phases)]
    amounts = np.array([phase.volume for phase in phases])
    apart = not gaps or float(np.median(gaps)) >= _AT_ONCE * duration
    return len(phases) if apart or amounts.std() <= _ALIKE * amounts.mean() else 1


def _segment(trace: Trace, one: _Own, phases: Sequence[Phase], regime: Regime | None, little: bool) -> Segment:
    """Return phases of one signal as a segment, with the period of their regime if there is one."""
    start, end = phases[0].start, phases[-1].end
    amounts = np.array([phase.volume for phase in phases])
    each, moved = float(np.median(amounts)), float(amounts.sum())
    between = None if one.signal is None else _volume(one.signal, start, end)
    segment = Segment(start, end, "", one.direction, one.layers, ranks=_ranks(trace, one, start, end))
    if regime is None:
        # Most of it may flow steadily below the bursts.
        steady = between is not None and moved < _IN_BURSTS * between
        count = 1 if steady else _bursts(phases, _length(trace))
        moved = moved if between is None else between
        kind, each = "burst" if count == 1 else "bursts", each if count == len(phases) else moved
        return replace(segment, kind=kind, phases=count, bytes=moved, bytes_per_phase=each)
    count, often = len(phases), (end - start) / regime.period
    if count < _FOUND * often:
        # A line in the spectrum, whose single bursts are lost in the noise.
        moved = moved if between is None else between
        count, each = round(often), moved / often
    return replace(
        segment,
        kind=_kind(one.direction, each, regime.period, little),
        period=regime.period,
        period_interval=one.result.period_interval if one.result.period == regime.period else None,
        confidence=regime.confidence,
        phases=count,
        bytes=moved,
        bytes_per_phase=each,
    )


def _kind(direction: str, each: float, period: float, little: bool) -> str:
    """Return what regular bursts of `each` bytes are, `little` of what is written."""
    if direction == "read":
        return "reads"
    if each >= _CHECKPOINT and period >= _SELDOM:
        return "checkpoints"
    return "log" if each < _LOG and little else "writes"


def _metadata_of(trace: Trace, start: float, end: float, least: int = 1) -> tuple[str, Ints, Ints] | None:
    """Return the highest layer that opens, closes and deletes between two ticks, when and how often each time."""
    for row, layer in enumerate(trace.order):
        times, counts = trace.sums.handles.times(row)
        there = (times >= start) & (times <= end)
        if counts[there].sum() >= least:
            return layer, times[there], counts[there]
    return None


def _with_metadata(trace: Trace, silence: Segment, own: Iterable[_Own]) -> Segment:
    """Return a time next to without reads and writes with these, and what is opened, closed and deleted meanwhile."""
    second = trace.scope.window.ticks_per_second
    # What ends the stretch before or begins the next one is theirs.
    found = _metadata_of(trace, silence.start * second + 0.5, silence.end * second - 0.5)
    silence = replace(silence, bytes=sum(_moved(one, silence.start, silence.end) for one in own))
    return silence if found is None else replace(silence, layers=(found[0],), metadata_events=int(found[2].sum()))


def starting(trace: Trace, segment: Segment, until: float) -> Segment:
    """Return the start-up of a run, which ends at the latest at a time in s at which the program begins its work."""
    if segment.end <= until:
        return segment
    moved = sum(
        _volume(trace.layers[name].bandwidth(way, "own"), segment.start, until)
        for name, layer in trace.layers.items()
        for way in DIRECTIONS
        if layer.statistics(way).own_bytes
    )
    shorter = replace(segment, end=until, layers=(), metadata_events=0)
    shorter = replace(_with_metadata(trace, shorter, ()), bytes=moved if moved >= 1 else 0.0)
    return replace(shorter, text=_text(shorter, trace))


def _metadata(trace: Trace, gap: Segment, method: str, fs: float | Literal["auto"]) -> Iterator[Segment]:
    """Give what the highest layer that does so opens, closes and deletes in a time in which nothing moves."""
    second, window = trace.scope.window.ticks_per_second, (gap.start, gap.end)
    if found := _metadata_of(trace, gap.start * second, gap.end * second, _EVENTS):
        layer, times, counts = found
        signal = step_signal_from_ticks(times, times, counts, second, window=window, unit="s-1", name=layer)
        for phases, regime in _trains(detect_period(signal, method, fs), _length(trace)):
            start, end = phases[0].start, phases[-1].end
            segment = Segment(start, end, "metadata", layers=(layer,), phases=len(phases))
            if regime is None:
                events = _volume(signal, start, end)
                segment = replace(segment, phases=_bursts(phases, _length(trace)))
            else:
                events = sum(phase.volume for phase in phases)
                segment = replace(segment, period=regime.period, confidence=regime.confidence)
            yield replace(segment, metadata_events=round(events))


def _ranks(trace: Trace, one: _Own, start: float, end: float) -> int | None:
    """Return how many processes used handles of a layer between two times."""
    recording = trace.definitions.recording
    if recording.reason("operations", "ranks"):
        return None
    cells = trace.relations.cells
    second = cells.window.ticks_per_second
    there = cells.of(one.layers[0], one.direction) & cells.own & cells.moving
    # Times are seconds that were ticks.
    there &= (cells.columns.begin <= (end * second) + 1) & (cells.columns.end >= (start * second) - 1)
    return len(np.unique(cells.process[there]))


def _below(trace: Trace, layer: str, direction: Direction) -> tuple[str, ...]:
    """Return the layers below one through which its bytes go."""
    if trace.definitions.recording.reason("operations"):
        return ()
    flows = trace.relations.flows_of((direction,))
    return tuple(flow.lower for flow in flows if flow.upper == layer and flow.lower_operations)


def _named(segments: list[Segment]) -> Iterator[Segment]:
    """Name what is read before the run takes its course, and a last burst that is as large as those before.

    What a program that reads meanwhile writes need be no checkpoint.
    """
    lasting = [one for one in segments if one.kind != "log"]
    begun = min((one.start for one in lasting if one.kind == "reads" or one.direction == "write"), default=np.inf)
    dumps = [one for one in segments if one.kind == "checkpoints"]
    dump = _last_dump(lasting, dumps) if dumps else None
    reads = _reads_meanwhile(segments)
    for one in segments:
        if one.direction == "read" and one.period is None and one.end <= begun:
            yield replace(one, kind="input")
        elif one.kind == "checkpoints" and reads:
            yield replace(one, kind="writes")
        else:
            yield replace(one, kind="final dump") if one is dump else one


def _last_dump(segments: Sequence[Segment], dumps: Sequence[Segment]) -> Segment | None:
    """Return the last segment if it is a burst of writes behind the checkpoints, as large as one of them."""
    last = max(segments, key=lambda one: one.end)
    least, behind = min(one.bytes_per_phase or 0.0 for one in dumps), max(one.end for one in dumps)
    is_burst = (last.kind, last.direction) == ("burst", "write")
    return last if is_burst and last.bytes >= least and last.start >= behind else None


def _reads_meanwhile(segments: Sequence[Segment]) -> bool:
    """Tell whether what is read from the first checkpoint on is no little of what these write."""
    dumps = [one for one in segments if one.kind == "checkpoints"]
    first = min((one.start for one in dumps), default=np.inf)
    read = sum(one.bytes for one in segments if one.direction == "read" and one.end > first)
    return read > _LITTLE * sum(one.bytes for one in dumps)


def _silence(
    trace: Trace, segments: list[Segment], own: list[_Own], results: Collection[PeriodResult]
) -> Iterator[Segment]:
    """Give the times in which nothing goes on."""
    start, end = trace.window
    least = _PAUSE * (end - start)
    until = start
    for one in segments:
        if one.start - until >= least and _is_silent(own, results, until, one.start):
            yield Segment(until, one.start, "start-up" if until == start else "pause")
        # A segment with a period lasts until the next burst would come.
        until = max(until, min(end, one.end + (one.period or 0.0)))
    # What is written may still be on its way to the storage when the last of it has been taken.
    if end - until >= least and _in_calls(trace) <= until - start and _is_silent(own, results, until, end):
        yield Segment(until, end, "end")


def _in_calls(trace: Trace) -> float:
    """Return for how many s a rank is in calls of a layer, as counters tell it; 0 where single calls are recorded."""
    if not trace.definitions.recording.reason("operations"):
        return 0.0
    known = (counted_layer(trace.scope, layer, DIRECTIONS) for layer in trace.layers)
    return max((one.times.longest(one.rows, *KINDS)[0] for one in known if one is not None), default=0.0)


def _is_silent(own: list[_Own], results: Collection[PeriodResult], start: float, end: float) -> bool:
    """Tell whether next to nothing moves between two times.

    Not all that the program moves is in phases, and a library may move what the program did not ask for.
    """
    most = max((sum(phase.volume for phase in result.phases) for result in results), default=0.0)
    for result in results:
        inside = sum(phase.volume for phase in result.phases if start < 0.5 * (phase.start + phase.end) < end)
        if inside > _LEAST * most:
            return False
    return not any(one.signal and _volume(one.signal, start, end) > _LEAST * one.bytes for one in own)


def _moved(one: _Own, start: float, end: float) -> float:
    """Return the bytes that the program moves between two times, 0 where it may be rounding."""
    if one.signal is not None:
        moved = _volume(one.signal, start, end)
    else:
        moved = sum(phase.volume for phase in one.result.phases if start < 0.5 * (phase.start + phase.end) < end)
    return moved if moved > _rounding(one.bytes) else 0.0


def _rounding(moved: float) -> float:
    """Return by how many bytes sums of what moves may be off."""
    return max(0.5, _ROUNDING * moved)


def _volume(signal: StepSignal, start: float, end: float) -> float:
    """Return the volume of a signal between two times."""
    return float(np.diff(signal.volume_until(np.array([start, end])))[0])


def _length(trace: Trace) -> float:
    """Return the length of the run within the window, in s."""
    return trace.window[1] - trace.window[0]


def _when(one: Segment) -> tuple[float, float]:
    return one.start, one.end


def _text(one: Segment, trace: Trace) -> str:
    """Return a segment in words, without when it is."""
    if one.kind == "metadata":
        return _metadata_text(one)
    if one.direction is None:
        return _silence_text(one, trace)
    who = " → ".join(one.layers)
    if one.ranks is not None:
        who = f"{trace.definitions.recording.told(counted(one.ranks, 'rank'))}, {who}"
    if one.period is not None:
        name = {"log": "a log, written"}.get(one.kind, one.kind)
        often = f"every {seconds_text(one.period)}"
        if one.confidence is not None and one.confidence < _LIKELY:
            often = f"perhaps {often} (confidence {one.confidence:.2f})"
        usual = one.bytes_per_phase or 0.0
        each = f"{bytes_text(usual)} each ({one.phases:,})"
        if not 1 / _UNEQUAL < usual * one.phases / max(one.bytes, 1) < _UNEQUAL:
            each = f"{bytes_text(one.bytes)} in {one.phases:,} bursts, half of them {bytes_text(usual)} at most"
        return f"{name} {often}, {each}; {who}"
    moved = f"{bytes_text(one.bytes)} {_VERBS[one.direction]}"
    if one.phases > 1:
        moved += f" in {one.phases:,} bursts"
    name = f"{one.kind}, " if one.kind in ("input", "final dump") else ""
    return f"{name}{moved}; {who}"


def _silence_text(one: Segment, trace: Trace) -> str:
    """Return in words that next to nothing is read or written, and what is done meanwhile."""
    length = seconds_text(one.end - one.start)
    # The run may have ended a little earlier.
    most = "at most " if trace.definitions.recording.whole_seconds else ""
    flushes = {name: layer.flushing_s(one.start, one.end) for name, layer in trace.layers.items() if layer.flushes}
    layer = max(flushes, key=lambda name: flushes[name], default="")
    flushing = bool(layer) and flushes[layer] >= _FLUSHING * (one.end - one.start)
    nothing = "no reads or writes" if one.metadata_events or flushing else "no I/O"
    nothing = f"{bytes_text(one.bytes)} read or written" if one.bytes else nothing
    silence = {
        "pause": f"{nothing} {'in' if one.bytes else 'for'} {length}",
        "end": f"{nothing} until the end, {most}{length}",
    }
    text = silence.get(one.kind, f"start-up, {nothing}")
    text += f", {layer} flushes for {seconds_text(flushes[layer])}" if flushing else ""
    meanwhile = f", {counted(one.metadata_events, 'metadata operation')}; {' → '.join(one.layers)}"
    return f"{text}{meanwhile}" if one.metadata_events else text


def _metadata_text(one: Segment) -> str:
    """Return in words what is opened, closed and deleted while nothing moves."""
    what, who = "opens, closes and other metadata operations", " → ".join(one.layers)
    if one.period is not None:
        each = f"{one.metadata_events / one.phases:,.0f} each ({one.phases:,})"
        return f"{what} every {seconds_text(one.period)}, {each}; {who}"
    bursts = f" in {one.phases:,} bursts" if one.phases > 1 else ""
    return f"{one.metadata_events:,} {what}{bursts}; {who}"
