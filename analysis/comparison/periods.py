"""The period of one layer beside that of a layer below it: the same, changed, or gone."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Annotated, ClassVar, Final

import numpy as np

from ...layers.flow.flow import Flow
from ...layers.selection.directions import Direction
from ...layers.trace import Trace
from ...model.arrays import Frozen
from ...model.document import Document, Record, keys_of, plain
from ...signals.construction import StepSignal
from ..detect import detect_period
from ..results.result import PeriodResult
from .coherence import Coherence, coherence_at
from .following import FEWEST_CYCLES, follows
from .iterations import ByIteration, Passes, TraceLoops, compare_passes, goes_on_through, period_by_loops
from .side_by_side import SideBySide

Analysed = tuple[StepSignal, PeriodResult]
"""A signal and the verdict on its period."""
VERDICTS: Final = ("same", "harmonic", "smeared", "split", "absent-below", "absent-above", "none")
_OF_EACH: Final = {"period_s": "period", "period_interval_s": "period_interval", "confidence": "confidence"}
"""Entries of a pair of layers about each of the two, and the attributes of `PeriodResult` that they are."""

SAME_WITHIN: Final = 0.05
"""Periods are the same where their intervals overlap or they differ by at most this share."""
HIGHEST_HARMONIC: Final = 16
HARMONIC_WITHIN: Final = 0.03
MOST_OF_THE_TIME: Final = 0.75
"""Share of the time with a period for which a relation holds that is the verdict."""
NOTHING_BELOW: Final = 0.01
"""Share of the bytes above up to which the lower layer has hardly moved anything."""


class PairStretch(Record):
    """A part of the run, in s, with one period above and one below (None: no period there), and their relation."""

    KEYS: ClassVar = {"upper_period": "upper_period_s", "lower_period": "lower_period_s"}

    start: float
    end: float
    upper_period: float | None
    lower_period: float | None
    relation: str


_KEYS: Final = {
    **keys_of(float | None, "upper_period_s lower_period_s upper_confidence lower_confidence"),
    **keys_of(tuple[float, float] | None, "upper_period_interval_s lower_period_interval_s"),
    **keys_of(float | None, "lag_s coherence upper_modulation lower_modulation"),
    "coherence_segments": int | None,
    **keys_of(str, "verdict verdict_reason"),
    "stretches": tuple[PairStretch, ...],
    "by_iteration": ByIteration | None,
}


@dataclass(frozen=True)
class PeriodComparison:
    """What became of a period on its way down.

    Attributes
    ----------
    upper, lower : PeriodResult or None
        Verdicts on the bandwidth of the upper layer, and of what the lower layer moved for it (by descent); None where
        nothing moved.
    verdict : str
        ``same``; ``harmonic``: one period is a whole multiple of the other; ``split``: one period above becomes several
        below; ``smeared``: the bytes arrive below without a period; ``absent-below``: hardly any arrive;
        ``absent-above``: only the lower layer has a period; ``none``: neither has.
    coherence : Coherence or None
        At the period of the upper layer, or where it has none at that of the lower; None where neither has one.
    stretches : tuple of PairStretch
        Where a layer has several regimes, or what holds differs in time, the relation stretch by stretch.
    reason : str
        One sentence.
    by_iteration : ByIteration or None
        What becomes of the iterations of the upper layer's loop; None where it has none.
    """

    upper: PeriodResult | None
    lower: PeriodResult | None
    verdict: str
    coherence: Coherence | None
    stretches: tuple[PairStretch, ...]
    reason: str
    by_iteration: ByIteration | None = None

    def to_dict(self) -> Annotated[Document, _KEYS]:
        """Return what the entries of ``pairs`` in ``compare --json`` say of periods."""
        sides = {"upper": self.upper, "lower": self.lower}
        periods = {
            f"{side}_{key}": plain(getattr(result, name, None))
            for side, result in sides.items()
            for key, name in _OF_EACH.items()
        }
        # Phase lag and coherence are of the period above; without one they are not defined.
        above = self.coherence if _period(self.upper) is not None else None
        return {
            **periods,
            "lag_s": plain(getattr(above, "lag", None)),
            "coherence": plain(getattr(above, "coherence", None)),
            "coherence_segments": plain(getattr(above, "segments", None)),
            "upper_modulation": plain(getattr(self.coherence, "first_modulation", None)),
            "lower_modulation": plain(getattr(self.coherence, "second_modulation", None)),
            "verdict": self.verdict,
            "verdict_reason": self.reason,
            "stretches": plain(self.stretches),
            "by_iteration": plain(self.by_iteration),
        }


Pair = Flow | SideBySide
SignalKey = tuple[str, str, str | None]
"""Layer, direction, and the layer that its handles descend from, None for all of them."""


def compare_flows(
    trace: Trace,
    flows: Iterable[Pair],
    detect: Callable[[StepSignal], PeriodResult] = detect_period,
    seen: dict[SignalKey, Analysed] | None = None,
    loops: TraceLoops | None = None,
) -> Mapping[int, PeriodComparison]:
    """Compare the periods of each flow, or of layers side by side.

    Parameters
    ----------
    trace : Trace
    flows : iterable of Flow or SideBySide
        Of the trace. What the lower layer moved is by descent where it is a flow, else all of it.
    detect : callable
        Detects the period of a signal; signals that several flows share are looked at once.
    seen : dict, optional
        Signals and verdicts on them that are there already; those that are looked at here are put among them.
    loops : TraceLoops, optional
        Of the trace: layers are compared by the iterations of those that they take part in.

    Returns
    -------
    mapping
        From the place of a flow in `flows` to the comparison.
    """
    signals = _Signals(trace, detect, {} if seen is None else seen)
    with_signals = {place: one for place, one in enumerate(flows) if isinstance(one, Flow) or not one.counted}
    return {place: _compared(one, signals, loops) for place, one in with_signals.items()}


class _Signals(Frozen):
    """The signals of a trace with the verdicts on them, each looked at once."""

    trace: Trace
    detect: Callable[[StepSignal], PeriodResult]
    known: dict[SignalKey, Analysed]

    def of(self, layer: str, direction: Direction, below: str | None = None) -> Analysed | None:
        """Return what a layer moves, below another or at all; None where that is nothing."""
        if below is not None:
            below = _narrowest(self.trace, layer, direction, below)
        key = layer, direction, below
        if key not in self.known:
            signal = self.trace.layers[layer].bandwidth(direction, below=below)
            if signal.volume <= 0:
                return None
            self.known[key] = signal, self.detect(signal)
        return self.known[key]

    def in_loop(self, passes: Passes, found: Analysed, top: str, direction: Direction) -> Analysed:
        """Return a signal with the period of the loop that it is moved in, `top` being the loop's highest layer."""

        def leader() -> tuple[str, PeriodResult]:
            return top, (self.of(top, direction) or found)[1]

        return found[0], period_by_loops((passes,), found[1], found[0], leader)


def _compared(one: Pair, signals: _Signals, loops: TraceLoops | None) -> PeriodComparison:
    """Compare the periods of two layers, by iterations where both take part in a loop."""
    way, is_flow = one.direction, isinstance(one, Flow)
    upper, lower = signals.of(one.upper, way), signals.of(one.lower, way, one.upper if is_flow else None)
    two = loops.pair(one.upper, one.lower, way) if loops is not None and is_flow else None
    if loops is None or two is None or upper is None:
        return compare_periods(upper, lower)
    top = loops.top(two[0].loop, way)
    through = goes_on_through(two[0], upper[1])
    upper = signals.in_loop(two[0], upper, top, way)
    if lower is None or lower[0].volume <= NOTHING_BELOW * upper[0].volume:
        return compare_periods(upper, lower)
    by_iteration = compare_passes(*two)
    # Of what goes on through them the period is not that of the iterations.
    if by_iteration.verdict == "cached" or through:
        return replace(compare_periods(upper, lower), by_iteration=by_iteration)
    return _compare_iterations(upper, signals.in_loop(two[1], lower, top, way), by_iteration)


def _compare_iterations(upper: Analysed, lower: Analysed, by_iteration: ByIteration) -> PeriodComparison:
    """Return the comparison of two layers that take part in the same iterations of a loop."""
    period = _period(upper[1])
    often = f"the same {by_iteration.count} iterations in both layers"
    if period is None:
        reason = f"neither layer has a period: {often}, at irregular intervals"
        return PeriodComparison(upper[1], lower[1], "none", None, (), reason, by_iteration)
    coherence, reason = _coherence(upper, lower, period), f"{often}, {period:.4g} s apart"
    return PeriodComparison(upper[1], lower[1], "same", coherence, (), reason, by_iteration)


def _narrowest(trace: Trace, layer: str, direction: Direction, below: str | None) -> str | None:
    """Return the first of the layers, None before them all, below which a layer moved the same as below `below`."""
    cells, one = trace.relations.cells, trace.layers[layer]
    moving = cells.of(layer, direction) & cells.moving
    there = set(np.unique(one.scope.lineages.of_handle[cells.handle[moving]]).tolist())
    wanted = there & set(one.lineages_of("all", below))
    candidates = (None, *trace.order)
    return next(name for name in candidates if there & set(one.lineages_of("all", name)) == wanted)


def compare_periods(upper: Analysed | None, lower: Analysed | None) -> PeriodComparison:
    """Compare the periods of two signals over one window, the second being what became of the first.

    Parameters
    ----------
    upper, lower : (StepSignal, PeriodResult) or None
        None where nothing moved.

    Notes
    -----
    The run is divided at the edges of the regimes of either layer. In a stretch in which both have the same period, or
    where the one without a period, or with another one, follows the bursts of the other
    (`iostrata.analysis.comparison.following`), they are the same. What holds for three quarters of the time in which
    either has a period is the verdict; where nothing does, the period is split. Stretches shorter than a period decide
    nothing.
    """
    results = tuple(one[1] if one else None for one in (upper, lower))
    above, below = (_period(result) for result in results)
    coherence, period = None, above or below
    stretches: tuple[PairStretch, ...] = ()
    if upper and lower:
        coherence = _coherence(upper, lower, period) if period else None
        stretches = _stretches(upper, lower)
    volumes = tuple(one[0].volume if one else 0.0 for one in (upper, lower))
    verdict, reason = _verdict(above, below, stretches, volumes)
    several = any(result is not None and len(result.regimes) > 1 for result in results)
    several |= len({stretch.relation for stretch in stretches}) > 1
    return PeriodComparison(results[0], results[1], verdict, coherence, stretches if several else (), reason)


def _coherence(upper: Analysed, lower: Analysed, period: float) -> Coherence:
    """Return the coherence at a period over the stretch that has the phases of the layer with that period.

    What lies before and behind, such as fill values in front of the first checkpoint, is no part of the period, but can
    be larger than all of it.
    """
    phases = (upper if upper[1].periodic else lower)[1].phases
    start, end = upper[0].window
    if len(phases) > 1:
        start = max(start, phases[0].start - period / 4)
        end = min(end, phases[-1].end + period / 4)
    return coherence_at(upper[0].clip(start, end), lower[0].clip(start, end), period)


def relation_of(first: float, second: float, within: float = SAME_WITHIN) -> str:
    """Return ``same``, ``harmonic`` or ``different`` for two periods in s.

    >>> relation_of(0.4, 0.41), relation_of(0.4, 0.1), relation_of(0.4, 0.27)
    ('same', 'harmonic', 'different')
    """
    ratio = max(first, second) / min(first, second)
    if ratio <= 1 + within:
        return "same"
    multiple = round(ratio)
    near = abs(ratio / multiple - 1) <= min(HARMONIC_WITHIN, 0.25 / multiple)
    return "harmonic" if 2 <= multiple <= HIGHEST_HARMONIC and near else "different"


def _period(result: PeriodResult | None) -> float | None:
    return result.period if result and result.periodic else None


def _verdict(
    high: float | None, low: float | None, stretches: tuple[PairStretch, ...], volumes: tuple[float, ...]
) -> tuple[str, str]:
    """Return the verdict on two periods, and the sentence that says why."""
    if high is None and low is None:
        return "none", "neither layer has a period"
    if high is not None and volumes[1] <= NOTHING_BELOW * volumes[0]:
        share = volumes[1] / volumes[0] if volumes[0] else 0.0
        return "absent-below", f"the lower layer moved only {100 * share:.2g} % of the bytes above"
    if not stretches and volumes[0] > 0:
        return "none", "neither layer has a period that shows cycle by cycle"
    relation = _of_stretches(stretches) if stretches else "absent-above"
    if relation == "absent-above":
        return relation, f"only the lower layer has a period, {low:.4g} s"
    if relation == "absent-below":
        return "smeared", f"the period {high:.4g} s above is gone below, where the bytes arrive without a period"
    if relation == "same":
        return relation, _same_reason(high, low)
    if relation == "harmonic":
        return relation, _harmonic_reason(stretches)
    return "split", _split_reason(high, low, stretches)


def _same_reason(high: float | None, low: float | None) -> str:
    if high is not None and low is not None:
        return f"both layers have the period {high:.4g} s ({low:.4g} s below)"
    where, other = ("upper", low) if high is None else ("lower", high)
    return f"the {where} layer follows the period {other:.4g} s, which by itself it does not show"


def _split_reason(high: float | None, low: float | None, stretches: tuple[PairStretch, ...]) -> str:
    shared = any(stretch.relation in ("same", "harmonic") for stretch in stretches)
    if shared or high is None or low is None:
        return "the layers share a period, but not in all stretches of the run"
    return f"the period {high:.4g} s above became {low:.4g} s below, which is no multiple of it"


def _of_stretches(stretches: tuple[PairStretch, ...]) -> str:
    """Return the relation that holds for most of the time, or ``different`` where none does."""
    times: dict[str, float] = {}
    for stretch in stretches:
        times[stretch.relation] = times.get(stretch.relation, 0.0) + stretch.end - stretch.start
    relation = max(times, key=lambda name: times[name])
    if times[relation] >= MOST_OF_THE_TIME * sum(times.values()):
        return relation
    if {"same", "harmonic", "different"} & times.keys():
        return "different"
    return "absent-below"


def _harmonic_reason(stretches: tuple[PairStretch, ...]) -> str:
    longest = max((one for one in stretches if one.relation == "harmonic"), key=lambda one: one.end - one.start)
    high, low = longest.upper_period or 1.0, longest.lower_period or 1.0
    multiple = round(max(high, low) / min(high, low))
    side = "above" if high > low else "below"
    return f"the period {side} is {multiple} times the other: {high:.4g} s above, {low:.4g} s below"


def _same(above: PeriodResult, below: PeriodResult) -> bool:
    if above.period is None or below.period is None:
        return False
    first, second = above.period_interval, below.period_interval
    overlap = first is not None and second is not None and first[0] <= second[1] and second[0] <= first[1]
    # Wide intervals overlap with everything, a harmonic too, which the ratio distinguishes better.
    return overlap and max(above.period, below.period) / min(above.period, below.period) < 1.5


def _stretches(upper: Analysed, lower: Analysed) -> tuple[PairStretch, ...]:
    """Return the stretches of the run between the edges of the regimes of either layer."""
    window = upper[0].window
    edges = {*window}
    regimes = [_regimes(*one) for one in (upper, lower)]
    for found in regimes:
        for start, end, _ in found:
            edges |= {min(max(start, window[0]), window[1]), min(max(end, window[0]), window[1])}
    parts = []
    for start, end in pairwise(sorted(edges)):
        high, low = (_period_at(found, (start + end) / 2) for found in regimes)
        if high is not None or low is not None:
            parts.append((start, end, high, low))
    # Edges may lie anywhere within a cycle, and whether a layer follows shows in three cycles only.
    long = [part for part in parts if part[1] - part[0] >= _shortest(part[2], part[3])]
    return tuple(
        PairStretch(start, end, high, low, _relation(upper, lower, high, low, start, end))
        for start, end, high, low in long or parts
    )


def _shortest(high: float | None, low: float | None) -> float:
    """Return the length in s from which on a stretch decides something."""
    return max(high, low) if high is not None and low is not None else FEWEST_CYCLES * (high or low or 0.0)


def _relation(upper: Analysed, lower: Analysed, high: float | None, low: float | None, start: float, end: float) -> str:
    """Return the relation of the layers in a stretch, by their periods or, failing that, burst by burst."""
    both = high is not None and low is not None
    if high is not None and low is not None:
        relation = relation_of(high, low)
        if (high, low) == (upper[1].period, lower[1].period) and _same(upper[1], lower[1]):
            relation = "same"
        if relation != "different":
            return relation
    shared = [
        period is None
        or (both and any(relation_of(period, other.period) == "same" for other in two[1].periods))
        or follows(*one, two[0], period, start, end)
        for one, two, period in ((upper, lower, high), (lower, upper, low))
    ]
    if all(shared):
        return "same"
    return "different" if both else "absent-above" if high is None else "absent-below"


def _regimes(signal: StepSignal, result: PeriodResult) -> list[tuple[float, float, float]]:
    """Return start, end and period of each regime, all in s, that shows in the signal cycle by cycle.

    Without regimes the period holds from the first phase to the last. One that does not show, such as that of the side
    lobes of a burst's own shape, says nothing of the other layer.
    """
    period = _period(result)
    regimes = [(regime.start, regime.end, regime.period) for regime in result.regimes]
    if not regimes and period is not None:
        extent = (result.phases[0].start, result.phases[-1].end) if result.phases else signal.window
        regimes = [(*extent, period)]
    return [
        (start, end, period) for start, end, period in regimes if follows(signal, result, signal, period, start, end)
    ]


def _period_at(regimes: list[tuple[float, float, float]], time: float) -> float | None:
    return next((period for start, end, period in regimes if start <= time <= end), None)
