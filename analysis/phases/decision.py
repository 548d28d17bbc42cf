"""The verdict on a signal's phases: do they recur, how regularly, and in which stretches?"""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from .concurrent import several_clocks, with_further_clocks
from .recurrence import CLOCK_JITTER, TrimmedTrain, mean_period, missing_phases, set_edges_apart
from .regime_decision import with_regimes
from .regimes import FEWEST_INTERVALS, divide, wide_apart, without_missing
from .significance import CLEAR_CONTRAST, regularity_p_value, search_trials
from .trains import PhaseTrain, alikeness, candidate_trains, few_phases, sharpened, variation
from .verdict import Stay, Verdict

Floats = npt.NDArray[np.float64]

# Above this coefficient of variation phases recur, but nobody could set a clock by them.
MOST_JITTER = 0.3
# The main test has the whole false-alarm rate; regimes, tried after it failed, have a share.
REGIME_SHARE = 0.25


def judge(times: Floats, cumulative: Floats, alpha: float) -> Verdict:
    """Judge a signal by its phases.

    Parameters
    ----------
    times, cumulative : float64 (n,)
        Vertices of the cumulative volume, times in s; a time may occur twice.
    alpha : float
        False-alarm rate of the main test, after correction for the search.

    Returns
    -------
    Verdict
        Periodic where the phases are more regular than chance makes them *and* their jitter is at most 0.3, over the
        whole run, in each of its regimes, or for each of several clocks.
    """
    return with_regimes(_judge_whole(times, cumulative, alpha), times, cumulative, alpha * REGIME_SHARE)


def _judge_whole(times: Floats, cumulative: Floats, alpha: float) -> Verdict:
    """Judge the one set of phases that describes the whole signal best."""
    trains = candidate_trains(times, cumulative)
    if not trains:
        return Verdict("few", phases=few_phases(times, cumulative))
    parts = [set_edges_apart(train) for train in trains]
    best = max(range(len(trains)), key=lambda row: alikeness(parts[row].core))
    found = _judge_train(trains, _sharpened(parts[best], times, cumulative), times, alpha)
    if not found.periodic and not found.stands_out:
        # Nothing about these phases is alike: where they do not stand out either, take those that do.
        clearest = max(range(len(trains)), key=lambda row: parts[row].train.contrast)
        if parts[clearest].train.contrast >= CLEAR_CONTRAST:
            return _judge_train(trains, _sharpened(parts[clearest], times, cumulative), times, alpha)
    return found


def _sharpened(part: TrimmedTrain, times: Floats, cumulative: Floats) -> TrimmedTrain:
    return replace(part, train=sharpened(part.train, times, cumulative))


def _irregular(trains: list[PhaseTrain], part: TrimmedTrain) -> Verdict:
    intervals = part.core.intervals
    return Verdict(
        "irregular",
        phases=part.train,
        core=part.core,
        recurrence=float(intervals.mean()),
        jitter=variation(intervals),
        regularity=variation(intervals),
        p_value=regularity_p_value(intervals, _trials(trains, part)),
        at_start=part.at_start,
        at_end=part.at_end,
        sets=len(trains),
    )


def _trials(trains: list[PhaseTrain], part: TrimmedTrain) -> int:
    return search_trials(part.train.contrast, len(trains)) * (1 + part.at_start + part.at_end)


def _judge_train(trains: list[PhaseTrain], part: TrimmedTrain, times: Floats, alpha: float) -> Verdict:
    core = part.core
    base = _irregular(trains, part)
    trials = _trials(trains, part)
    found = (
        _with_gaps(base, core, trials, alpha) or _one_clock(base, core, alpha) or _regimes(base, core, trials, alpha)
    )
    window = float(times[-1] - times[0])
    if found is None:
        return several_clocks(base, trains, window, alpha) or base
    if found.kind == "clock" and found.regularity > CLOCK_JITTER:
        # The jitter may come from phases of another clock that touch these.
        several = several_clocks(base, trains, window, alpha)
        if several is not None and len(several.clocks) > 1:
            return several
    return with_further_clocks(found, trains, window, alpha)


def _one_clock(base: Verdict, core: PhaseTrain, alpha: float) -> Verdict | None:
    if base.jitter is None or base.jitter > MOST_JITTER or base.p_value > alpha:
        return None
    parts = divide(core.intervals)
    if not wide_apart([without_missing(core.intervals[first:stop]) for first, stop in parts]):
        parts = [(0, core.intervals.size)]
    stays = tuple(_stay(core, first, stop) for first, stop in parts)
    return replace(base, kind="clock", period=mean_period(core.intervals), stays=stays)


def _with_gaps(base: Verdict, core: PhaseTrain, trials: int, alpha: float) -> Verdict | None:
    spans = missing_phases(core.intervals)
    if spans is None:
        return None
    p_value = regularity_p_value(core.intervals / spans, 2 * trials)
    if p_value > alpha:
        return None
    period = mean_period(core.intervals, spans)
    stay = Stay(float(core.start[0]), float(core.end[-1]), period.period)
    return replace(
        base,
        kind="clock with gaps",
        period=period,
        regularity=variation(core.intervals / spans),
        p_value=p_value,
        missing=int(spans.sum()) - spans.size,
        stays=(stay,),
    )


def _regimes(base: Verdict, core: PhaseTrain, trials: int, alpha: float) -> Verdict | None:
    intervals = core.intervals
    if intervals.size < 2 * FEWEST_INTERVALS:
        return None
    parts = divide(intervals)
    if len(parts) < 2:
        return None
    inner = [without_missing(intervals[first:stop]) for first, stop in parts]
    # Each cut could have been anywhere.
    p_value = max(regularity_p_value(part, trials * intervals.size) for part in inner)
    jitter = max(variation(part) for part in inner)
    if jitter > MOST_JITTER or p_value > alpha * REGIME_SHARE:
        return None
    longest = max(inner, key=lambda part: float(part.sum()))
    return replace(
        base,
        kind="regimes",
        period=mean_period(longest),
        regularity=jitter,
        p_value=p_value,
        stays=tuple(_stay(core, first, stop) for first, stop in parts),
    )


def _stay(core: PhaseTrain, first: int, stop: int) -> Stay:
    end = float(core.end[-1]) if stop == len(core) - 1 else float(core.start[stop])
    return Stay(float(core.start[first]), end, float(without_missing(core.intervals[first:stop]).mean()))
