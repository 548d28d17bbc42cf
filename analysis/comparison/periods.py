"""The period of one layer beside that of a layer below it: the same, changed, or gone."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import blake2b
from itertools import pairwise
from typing import Any, Final

import numpy as np

from ...layers.attribution.traffic import Traffic
from ...layers.flow.flow import Flow
from ...layers.selection.window import completed_bytes
from ...model.operations import view
from ...signals.construction import StepSignal, step_signal_from_ticks
from ..detect import detect_period
from ..results.result import PeriodResult, Plain, plain
from .coherence import Coherence, coherence_at

VERDICTS: Final = ("same", "harmonic", "smeared", "split", "absent-below", "absent-above", "none")

SAME_WITHIN: Final = 0.05
"""Periods are the same where their intervals overlap or they differ by at most this share."""
HIGHEST_HARMONIC: Final = 16
HARMONIC_WITHIN: Final = 0.03
FOLLOWS_FROM: Final = 0.9
"""Coherence from which on a lower layer follows, if its modulation is at least half of that above."""
NOTHING_BELOW: Final = 0.01
"""Share of the bytes above up to which the lower layer has hardly moved anything."""


@dataclass(frozen=True)
class Stretch:
    """A part of the run, in s, with one period above and one below (None: no period there), and their relation."""

    start: float
    end: float
    upper_period: float | None
    lower_period: float | None
    relation: str

    def to_dict(self) -> dict[str, Plain]:
        """Return the entry of ``stretches``."""
        return {
            "start_s": plain(self.start),
            "end_s": plain(self.end),
            "upper_period_s": plain(self.upper_period),
            "lower_period_s": plain(self.lower_period),
            "relation": self.relation,
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
    stretches : tuple of Stretch
        Where a layer has several regimes, their relation stretch by stretch.
    reason : str
        One sentence.
    """

    upper: PeriodResult | None
    lower: PeriodResult | None
    verdict: str
    coherence: Coherence | None
    stretches: tuple[Stretch, ...]
    reason: str

    def to_dict(self) -> dict[str, Plain]:
        """Return what the entries of ``pairs`` in ``compare --json`` say of periods."""
        found = self.coherence
        # Phase lag and coherence are of the period above; without one they are not defined.
        above = self.upper is not None and self.upper.periodic
        return {
            "upper_period_s": plain(self.upper.period if self.upper else None),
            "upper_period_interval_s": plain(self.upper.period_interval if self.upper else None),
            "upper_confidence": plain(self.upper.confidence if self.upper else None),
            "lower_period_s": plain(self.lower.period if self.lower else None),
            "lower_period_interval_s": plain(self.lower.period_interval if self.lower else None),
            "lower_confidence": plain(self.lower.confidence if self.lower else None),
            "lag_s": plain(found.lag if found and above else None),
            "coherence": plain(found.coherence if found and above else None),
            "coherence_segments": plain(found.segments if found and above else None),
            "upper_modulation": plain(found.first_modulation if found else None),
            "lower_modulation": plain(found.second_modulation if found else None),
            "verdict": self.verdict,
            "verdict_reason": self.reason,
            "stretches": [stretch.to_dict() for stretch in self.stretches],
        }


def compare_flows(
    flows: tuple[Flow, ...],
    detect: Callable[[StepSignal], PeriodResult] = detect_period,
    seen: Mapping[bytes, tuple[StepSignal, PeriodResult]] | None = None,
) -> Mapping[int, PeriodComparison]:
    """Compare the periods of each flow.

    Parameters
    ----------
    flows : tuple of Flow
    detect : callable
        Detects the period of a signal; signals that several flows share are looked at once.
    seen : mapping, optional
        Signals and verdicts that are there already, by `rows_key` of their operations.

    Returns
    -------
    mapping
        From the place of a flow in `flows` to the comparison.
    """
    known = dict(seen or {})

    def looked_at(traffic: Traffic, rows: np.ndarray[Any, np.dtype[np.intp]]) -> tuple[StepSignal, PeriodResult] | None:
        key = rows_key(rows)
        if key not in known:
            signal = signal_of(traffic, rows)
            if signal.volume <= 0:
                return None
            known[key] = signal, detect(signal)
        return known[key]

    return {
        place: compare_periods(looked_at(flow.traffic, flow.upper_rows), looked_at(flow.traffic, flow.lower_rows))
        for place, flow in enumerate(flows)
    }


def rows_key(rows: np.ndarray[Any, np.dtype[np.intp]]) -> bytes:
    """Return a digest of some rows, in place of a copy of them."""
    return blake2b(np.ascontiguousarray(rows, np.int64).data).digest()


def signal_of(traffic: Traffic, rows: np.ndarray[Any, np.dtype[np.intp]]) -> StepSignal:
    """Return the aggregate bandwidth of some operations over the window."""
    operations, window = view(traffic.operations, rows), traffic.window
    moved = completed_bytes(operations)
    kept = view(operations, moved > 0)
    return step_signal_from_ticks(
        kept.begin, window.ends(kept), moved[moved > 0], window.ticks_per_second, window=window.seconds
    )


def compare_periods(
    upper: tuple[StepSignal, PeriodResult] | None, lower: tuple[StepSignal, PeriodResult] | None
) -> PeriodComparison:
    """Compare the periods of two signals over one window, the second being what became of the first.

    Parameters
    ----------
    upper, lower : (StepSignal, PeriodResult) or None
        None where nothing moved.
    """
    above = upper[1] if upper else None
    below = lower[1] if lower else None
    period = _period(above) or _period(below)
    coherence = _coherence(upper, lower, period) if upper and lower and period else None
    stretches = _stretches(above, below, upper[0].window) if above and below and upper else ()
    volumes = (upper[0].volume if upper else 0.0, lower[0].volume if lower else 0.0)
    verdict, reason = _verdict(above, below, coherence, stretches, volumes)
    return PeriodComparison(above, below, verdict, coherence, stretches, reason)


def _coherence(
    upper: tuple[StepSignal, PeriodResult], lower: tuple[StepSignal, PeriodResult], period: float
) -> Coherence:
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
    above: PeriodResult | None,
    below: PeriodResult | None,
    coherence: Coherence | None,
    stretches: tuple[Stretch, ...],
    volumes: tuple[float, float],
) -> tuple[str, str]:
    high, low = _period(above), _period(below)
    if high is None and low is None:
        return "none", "neither layer has a period"
    if high is None:
        return "absent-above", f"only the lower layer has a period, {low:.4g} s"
    if volumes[1] <= NOTHING_BELOW * volumes[0]:
        share = volumes[1] / volumes[0] if volumes[0] else 0.0
        return "absent-below", f"the lower layer moved only {100 * share:.2g} % of the bytes above"
    if low is None or above is None or below is None:
        return _without_period_below(high, coherence)
    if _same(above, below):
        relations = {stretch.relation for stretch in stretches}
        if len(stretches) > 1 and relations != {"same"}:
            return "split", "the layers share a period, but not in all stretches of the run"
        return "same", f"both layers have the period {high:.4g} s ({low:.4g} s below)"
    if relation_of(high, low) == "harmonic":
        longer = "above" if high > low else "below"
        multiple = round(max(high, low) / min(high, low))
        return "harmonic", f"the period {longer} is {multiple} times the other: {high:.4g} s above, {low:.4g} s below"
    others = [other.period for other in below.periods[1:]] + [regime.period for regime in below.regimes]
    if any(relation_of(high, other) != "different" for other in others):
        return "split", f"the period {high:.4g} s is one of several below, of which {low:.4g} s is the strongest"
    return "split", f"the period {high:.4g} s above became {low:.4g} s below, which is no multiple of it"


def _without_period_below(high: float, coherence: Coherence | None) -> tuple[str, str]:
    strength = coherence.coherence if coherence else None
    if coherence and strength is not None and strength >= FOLLOWS_FROM:
        steady = coherence.second_modulation >= 0.5 * coherence.first_modulation
        text = f"the lower layer follows the period {high:.4g} s with a coherence of {strength:.2f}"
        if steady:
            return "same", f"{text}, although its bandwidth by itself shows none"
    return "smeared", f"the period {high:.4g} s above is gone below, where the bytes arrive without a period"


def _same(above: PeriodResult, below: PeriodResult) -> bool:
    if above.period is None or below.period is None:
        return False
    if relation_of(above.period, below.period) == "same":
        return True
    first, second = above.period_interval, below.period_interval
    overlap = first is not None and second is not None and first[0] <= second[1] and second[0] <= first[1]
    # Wide intervals overlap with everything, a harmonic too, which the ratio tells better.
    return overlap and max(above.period, below.period) / min(above.period, below.period) < 1.5


def _stretches(above: PeriodResult, below: PeriodResult, window: tuple[float, float]) -> tuple[Stretch, ...]:
    """Return the stretches of the run between the edges of the regimes of either layer; none where neither has two."""
    if len(above.regimes) < 2 and len(below.regimes) < 2:
        return ()
    edges = {*window}
    for result in (above, below):
        for regime in result.regimes:
            edges |= {min(max(regime.start, window[0]), window[1]), min(max(regime.end, window[0]), window[1])}
    ordered = sorted(edges)
    stretches = []
    for start, end in pairwise(ordered):
        high, low = (_period_at(result, (start + end) / 2) for result in (above, below))
        if high is None and low is None:
            continue
        if high is None or low is None:
            relation = "absent-above" if high is None else "absent-below"
        else:
            relation = relation_of(high, low)
        stretches.append(Stretch(start, end, high, low, relation))
    return tuple(stretches)


def _period_at(result: PeriodResult, time: float) -> float | None:
    if not result.regimes:
        return _period(result)
    return next((regime.period for regime in result.regimes if regime.start <= time <= regime.end), None)
