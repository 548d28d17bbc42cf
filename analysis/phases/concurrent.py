"""Further clocks in a signal: of phases that follow several, and of small phases beside the main ones."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .combs import FEWEST_TEETH, Comb, find_combs, size_cycle
from .recurrence import PeriodEstimate, mean_period
from .significance import CLEAR_CONTRAST
from .trains import PhaseTrain, variation
from .verdict import Clock, Verdict

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

# Several clocks are the verdict on a train when they account for this share of its phases.
COMBS_COVER = 0.6
# Events of a further clock that lie outside the main phases; otherwise they are parts of these.
MOSTLY = 0.5
# Periods this close are one.
SAME_PERIOD = 0.03
# Combs are searched after the main test; they have this share of its false-alarm rate.
COMB_SHARE = 0.1


def _clock(train: PhaseTrain, comb: Comb) -> Clock:
    spans = np.diff(comb.teeth)
    intervals = np.diff(train.start[comb.rows])
    estimate = mean_period(intervals, spans)
    return Clock(
        estimate, float(train.bytes[comb.rows].sum()), variation(intervals / spans), comb.rows.size, comb.p_value
    )


def _finest(trains: list[PhaseTrain]) -> PhaseTrain | None:
    clear = [train for train in trains if train.contrast >= CLEAR_CONTRAST]
    return max(clear, key=len) if clear else None


def several_clocks(base: Verdict, trains: list[PhaseTrain], window: float, alpha: float) -> Verdict | None:
    """Return the verdict that several clocks tick at the same time, or None.

    Parameters
    ----------
    base : Verdict
        On the main phases, which follow no clock.
    trains : list of PhaseTrain
        All sets of phases.
    window : float
        Length of the signal in s.
    alpha : float
        False-alarm rate of the main test.
    """
    core = base.core if base.stands_out else None
    tried = [train for train in (core, _finest(trains)) if train is not None]
    best: tuple[Clock, ...] = ()
    chosen: PhaseTrain | None = None
    for train in tried:
        combs = find_combs(train.start, train.end, window, alpha * COMB_SHARE)
        if sum(comb.rows.size for comb in combs) < COMBS_COVER * len(train):
            continue
        clocks = _distinct([], [_clock(train, comb) for comb in combs])
        if len(clocks) > len(best):
            best, chosen = clocks, train
    if chosen is None:
        return None
    return replace(
        base,
        kind="several clocks",
        phases=base.phases if chosen is core else chosen,
        core=chosen,
        at_start=base.at_start if chosen is core else 0,
        at_end=base.at_end if chosen is core else 0,
        period=best[0].estimate,
        recurrence=float(chosen.intervals.mean()),
        jitter=variation(chosen.intervals),
        regularity=best[0].jitter,
        p_value=max(clock.p_value for clock in best),
        clocks=best,
    )


def with_further_clocks(found: Verdict, trains: list[PhaseTrain], window: float, alpha: float) -> Verdict:
    """Add to the verdict what recurs beside the main phases: smaller ones between them, and the cycle of sizes."""
    core = found.core
    if core is None or found.period is None:
        return found
    others: list[Clock] = []
    finest = _finest(trains)
    if finest is not None and len(finest) >= len(core) + FEWEST_TEETH and found.kind != "regimes":
        main, rest = _split(finest, core)
        combs = find_combs(finest.start[rest], finest.end[rest], window, alpha * COMB_SHARE, (core.start, core.end))
        others = [_clock(finest, Comb(c.period, rest[c.rows], c.teeth, c.residual, c.p_value)) for c in combs]
        outside = [float(np.mean(~_within(finest.start[rest[comb.rows]], core))) for comb in combs]
        others = [
            other
            for other, share in zip(others, outside, strict=True)
            if share >= MOSTLY and not _same(other.estimate, found.period)
        ]
        if others and found.kind == "clock" and main.size == len(core):
            found = _without_small_phases(found, finest, main)
    period = found.period or mean_period(core.intervals)
    own = Clock(period, float(core.bytes.sum()), found.regularity, len(core), found.p_value)
    cycle = size_cycle(core.bytes, alpha) if found.kind == "clock" else None
    if cycle is not None:
        low, high = period.interval
        longer = PeriodEstimate(cycle * period.period, (cycle * low, cycle * high))
        others.append(Clock(longer, own.bytes, own.jitter, len(core) // cycle, own.p_value))
    return replace(found, clocks=_distinct([own], others), cycle=cycle)


def _without_small_phases(found: Verdict, finest: PhaseTrain, main: Rows) -> Verdict:
    """Take the boundaries of the main phases from the finest set: small phases that touched them had moved them."""
    core, phases = found.core, found.phases
    intervals = np.diff(finest.start[main])
    if core is None or phases is None or variation(intervals) >= found.regularity:
        return found
    inner = slice(found.at_start, found.at_start + len(core))
    start, end, moved = phases.start.copy(), phases.end.copy(), phases.bytes.copy()
    start[inner], end[inner], moved[inner] = finest.start[main], finest.end[main], finest.bytes[main]
    phases = replace(phases, start=start, end=end, bytes=moved)
    return replace(
        found,
        phases=phases,
        core=phases[inner],
        period=mean_period(intervals),
        recurrence=float(intervals.mean()),
        jitter=variation(intervals),
        regularity=variation(intervals),
    )


def _same(one: PeriodEstimate, other: PeriodEstimate) -> bool:
    return abs(one.period / other.period - 1) <= SAME_PERIOD


def _distinct(first: list[Clock], others: list[Clock]) -> tuple[Clock, ...]:
    """Return the clocks without repetition, the others in the order of their bytes."""
    kept = list(first)
    for clock in sorted(others, key=lambda clock: -clock.bytes):
        if not any(_same(clock.estimate, other.estimate) for other in kept):
            kept.append(clock)
    return tuple(kept)


def _within(times: Floats, core: PhaseTrain) -> npt.NDArray[np.bool_]:
    at = np.searchsorted(core.start, times, side="right") - 1
    return np.asarray((at >= 0) & (times <= core.end[np.maximum(at, 0)]))


def _split(finest: PhaseTrain, core: PhaseTrain) -> tuple[Rows, Rows]:
    """Split small phases into the largest one within each main phase, and all others."""
    inside = np.flatnonzero(_within(finest.start, core))
    at = np.searchsorted(core.start, finest.start[inside], side="right")
    order = np.lexsort((-finest.bytes[inside], at))
    main = inside[order[np.concatenate(([True], np.diff(at[order]) > 0))]] if order.size else inside
    return main, np.setdiff1d(np.arange(len(finest)), main)
