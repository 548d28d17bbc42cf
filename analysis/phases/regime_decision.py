"""The verdict that a run has regimes, where its phases in one stretch and in another follow different clocks.

A regime with long pauses after one of fast bursts loses its first phases at times: over the level that parts the fast
bursts they are one with the last of those. The sliding correlation looks at no level, sees the period hold from its
first burst on, and so tells where the regime begins.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from ..timefrequency.valid_share import holding_intervals
from .recurrence import mean_period
from .regimes import RegimePhases, find_regimes, wide_apart, without_missing
from .trains import PhaseTrain, sharpened, variation
from .verdict import Clock, Stay, Verdict

Floats = npt.NDArray[np.float64]

LONGEST_PAUSE = 1.5
"""Periods of the regime before, after its last phase, that are no sign of a lost phase."""
PERIODS_AFTER = 8.0
"""Periods from the boundary on in which the period is looked at."""
LEAST_MOVE = 0.5
"""Periods by which a boundary is moved at least; below that, the phases place it better."""


def with_lost_beginnings(
    stays: tuple[Stay, ...], core: PhaseTrain, times: Floats, cumulative: Floats
) -> tuple[Stay, ...]:
    """Let regimes begin where their period begins to hold.

    Parameters
    ----------
    stays : tuple of Stay
        Regimes in the order of time.
    core : PhaseTrain
        Their phases.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.

    Returns
    -------
    tuple of Stay
        As many, each with its period; a boundary is only moved to an earlier time, into a pause of one and a half
        periods or more after the last phase of the regime before.
    """
    found = list(stays)
    for number, (before, after) in enumerate(pairwise(stays)):
        last = float(core.start[max(int(np.searchsorted(core.start, after.start)) - 1, 0)])
        if after.start - last <= LONGEST_PAUSE * before.period:
            continue
        low = last + 0.5 * before.period
        high = min(after.end, after.start + PERIODS_AFTER * after.period)
        for start, end in holding_intervals(times, cumulative, low, high, after.period):
            if start < after.start - LEAST_MOVE * after.period and end > after.start:
                start = max(start, low)
                found[number] = replace(found[number], end=min(found[number].end, start))
                found[number + 1] = replace(found[number + 1], start=start)
    return tuple(found)


FEWEST_PHASES = 6
"""Fewest phases of a regime beside others."""
LEAST_COVERED = 0.9
"""Share of the time from the first to the last volume that regimes cover."""
SMALLEST_SIZE = 0.05
"""Bytes of a regime's phases, relative to those of the regime with the largest."""
ONE_CLOCK, WHOLE = 0.05, 0.95
"""Jitter up to which, and share of that time from which, phases are one clock and nothing more is to be found."""


def with_regimes(found: Verdict, times: Floats, cumulative: Floats, alpha: float) -> Verdict:
    """Return the verdict of regimes where there are several, else the one that was found.

    Parameters
    ----------
    found : Verdict
        Of the set of phases that describes the whole run best.
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume.
    alpha : float
        False-alarm rate for each regime.

    Returns
    -------
    Verdict
        That of regimes where at least two, of six phases or more each, cover nine tenths of the time in which there
        is I/O, and neighbouring periods differ by more than their jitter; not where the phases found are one clock from
        its beginning to its end.
    """
    moved = np.flatnonzero(np.diff(cumulative) > 0)
    if moved.size == 0:
        return found
    busy = float(times[moved[-1] + 1] - times[moved[0]])
    if found.kind in ("clock", "clock with gaps") and found.regularity <= ONE_CLOCK and found.core is not None:
        extent = float(found.core.start[-1] - found.core.start[0]) + float(np.median(found.core.intervals))
        if extent >= WHOLE * busy:
            return found
    regimes = [regime for regime in find_regimes(times, cumulative, alpha) if len(regime.train) >= FEWEST_PHASES]
    regimes = _large(regimes)
    covered = sum(float(regime.train.start[-1] - regime.train.start[0]) + regime.period for regime in regimes)
    if len(regimes) < 2 or covered < LEAST_COVERED * busy or not wide_apart([one.intervals for one in regimes]):
        return found
    return _verdict(found, regimes, times, cumulative)


def _large(regimes: list[RegimePhases]) -> list[RegimePhases]:
    """Leave out stretches of I/O that is small beside the phases of others, such as a log after the last checkpoint."""
    sizes = [float(np.median(regime.train.bytes)) for regime in regimes]
    return [one for one, size in zip(regimes, sizes, strict=True) if size >= SMALLEST_SIZE * max(sizes)]


def _verdict(found: Verdict, regimes: list[RegimePhases], times: Floats, cumulative: Floats) -> Verdict:
    core, firsts = _merged(regimes)
    sharp = sharpened(core, times, cumulative)
    stays, jitters = [], []
    longest, most, bytes_of_longest = np.zeros(0), 0.0, 0.0
    for number, regime in enumerate(regimes):
        first = firsts[number]
        last = int(np.searchsorted(core.start, regime.train.start[-1]))
        intervals = without_missing(np.diff(sharp.start[first : last + 1]))
        goes_on = number + 1 < len(regimes) and firsts[number + 1] <= last + 1
        end = float(sharp.start[firsts[number + 1]]) if goes_on else float(sharp.end[last])
        stays.append(Stay(float(sharp.start[first]), end, float(intervals.mean())))
        jitters.append(variation(intervals))
        if stays[-1].end - stays[-1].start > most:
            longest, most = intervals, stays[-1].end - stays[-1].start
            bytes_of_longest = float(sharp.bytes[first : last + 1].sum())
    period = mean_period(longest)
    p_value = max(regime.p_value for regime in regimes)
    return replace(
        found,
        kind="regimes",
        phases=sharp,
        core=sharp,
        period=period,
        recurrence=float(sharp.intervals.mean()),
        jitter=variation(sharp.intervals),
        regularity=max(jitters),
        p_value=p_value,
        missing=0,
        at_start=0,
        at_end=0,
        stays=with_lost_beginnings(tuple(stays), sharp, times, cumulative),
        clocks=(Clock(period, bytes_of_longest, variation(longest), longest.size + 1, p_value),),
        cycle=None,
    )


def _merged(regimes: list[RegimePhases]) -> tuple[PhaseTrain, list[int]]:
    """Put the phases of regimes into one train, each once, and say where each regime's begin."""
    trains = [regime.train for regime in regimes]
    start, kept = np.unique(np.concatenate([train.start for train in trains]), return_index=True)
    # A phase in which the next regime was found ends where that begins.
    end = np.concatenate([train.end for train in trains])[kept]
    end = np.minimum(end, np.append(start[1:], np.inf))
    moved = np.concatenate([train.bytes for train in trains])[kept]
    cycles = np.concatenate([train.cycle_bytes for train in trains])[kept]
    core = PhaseTrain(start, end, moved, cycles, min(train.contrast for train in trains))
    return core, [int(np.searchsorted(start, train.start[0])) for train in trains]
