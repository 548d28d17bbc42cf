"""auto: phases of the exact signal, a significance test, an uncertainty interval, and a calibrated confidence."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Literal

import numpy as np
import numpy.typing as npt

from ...model.errors import SelectionError
from ...model.quantities import seconds_text
from ..phases.bin_starts import starts_within_bins
from ..phases.calibration import confidence, regime_confidence
from ..phases.decision import judge
from ..phases.reasons import reason
from ..phases.recurrence import PeriodEstimate, TrimmedTrain, clock_period
from ..phases.regime_decision import LONGEST_PAUSE
from ..phases.regimes import without_missing
from ..phases.trains import PhaseTrain, phase_rows, variation, vertices
from ..phases.verdict import Clock, Verdict
from ..results.evidence import LineEvidence, PhaseEvidence
from ..results.result import Period, PeriodResult, Regime, SamplingInfo
from ..spectral.metrics import characterise
from ..spectral.noise_line import MOST_SAMPLES, Line, strongest_line
from ..timefrequency.valid_share import holding_share

if TYPE_CHECKING:
    from ...signals.construction import StepSignal

Floats = npt.NDArray[np.float64]

NAME = "auto"
# The search for a spectral line comes after the phases said nothing; it has this share of the false-alarm rate.
LINE_SHARE = 0.25
# Oscillations are seldom in I/O, and this one was not seen in its phases: no p-value makes up for that.
LINE_CONFIDENCE = 0.95


def detect(signal: StepSignal, fs: float | Literal["auto"] = "auto", *, false_alarm_rate: float = 0.01) -> PeriodResult:
    """Find the period of a signal from its phases.

    Parameters
    ----------
    signal : StepSignal
        The exact signal; its window is the window of the analysis.
    fs : float or "auto"
        Sampling frequency in Hz of the spectrum that is looked at where phases say nothing. Phases are found in the
        signal itself, whatever `fs` is: in exact steps, or in samples where it is made of samples.
    false_alarm_rate : float
        Share of signals without a period that may be called periodic, in (0, 0.5].

    Returns
    -------
    PeriodResult
        ``periodic`` where the intervals between at least four phases are more alike than chance makes them, at the
        false-alarm rate, and their jitter is at most 0.3. ``recurrence`` and ``jitter`` are given from four phases on,
        start-up and shut-down I/O set apart. ``confidence`` is that the period, or without one the recurrence, lies
        within 10 % of the truth. ``evidence`` holds the p-value, the contrast of the phases and what was set apart.

    Raises
    ------
    SelectionError
        If the false-alarm rate is out of its range.

    Notes
    -----
    Phases are the rises of the excess Z(t) = V(t) - θ t of the cumulative volume over a level; see
    `iostrata.analysis.phases.trains`. The test is Moran's, against a renewal process with gamma intervals; see
    `iostrata.analysis.phases.significance`. O(n log n) for n steps.

    A jitter of 0.3 is where the line is drawn: at 20 phases the next one can then be told to a third of the period,
    and phases cut out of noise have a jitter of 0.4 and more.
    """
    if not 0 < false_alarm_rate <= 0.5:
        raise SelectionError(f"false-alarm rate {false_alarm_rate!r}: give a share above 0, up to 0.5")
    times, cumulative = vertices(signal)
    verdict = judge(times, cumulative, false_alarm_rate)
    width = _bin_width(signal, fs)
    if verdict.core is not None and width is not None:
        verdict = _refined(verdict, signal, width)
    sampling = _sampling(signal, fs)
    # Fewer than four bursts are no period, whatever their spectrum is.
    if verdict.core is not None and not verdict.periodic and not verdict.beyond_doubt:
        line = _line(signal, sampling, width, false_alarm_rate * LINE_SHARE)
        if line is not None:
            return _of_line(signal, verdict, line, sampling)
    return _of_phases(signal, verdict, sampling)


def _bin_width(signal: StepSignal, fs: float | Literal["auto"]) -> float | None:
    """Return the width of the bins of a signal that is made of samples at `fs`; None for any other."""
    if fs == "auto" or signal.values.size < 2 or signal.impulse_times.size:
        return None
    width = 1.0 / fs
    steps = np.diff(signal.times)
    return width if bool(np.all(np.abs(steps - width) <= 1e-6 * width)) else None


def _sampling(signal: StepSignal, fs: float | Literal["auto"]) -> SamplingInfo:
    from ...signals.samples import bin_count
    from ...signals.sampling import abstraction_error, automatic_frequency

    frequency = automatic_frequency(signal) if fs == "auto" else float(fs)
    return SamplingInfo(
        frequency, bin_count(signal.duration, frequency), fs == "auto", abstraction_error(signal, frequency)
    )


def _refined(verdict: Verdict, signal: StepSignal, width: float) -> Verdict:
    """Move the starts of phases within their bins, and take the period that all of them allow."""
    train = verdict.phases
    if train is None:
        return verdict
    origin = float(signal.times[0])
    first = np.rint((train.start - origin) / width).astype(np.int64)
    stop = np.rint((train.end - origin) / width).astype(np.int64)
    start, earliest, latest = starts_within_bins(signal.values, width, origin, first, stop)
    if bool(np.any(np.diff(start) <= 0)):
        return verdict
    trimmed = TrimmedTrain(replace(train, start=start), verdict.at_start, verdict.at_end)
    inner = slice(verdict.at_start, len(train) - verdict.at_end)
    earliest, latest = earliest[inner], latest[inner]
    intervals = trimmed.core.intervals
    verdict = replace(verdict, phases=trimmed.train, core=trimmed.core, recurrence=float(intervals.mean()))
    if verdict.kind != "clock" or verdict.period is None:
        return verdict
    exact = clock_period(earliest, latest)
    low, high = verdict.period.interval
    middle = float(intervals.mean())
    half = (high - low) / 2
    period = exact or PeriodEstimate(middle, (middle - half, middle + half))
    own = tuple(
        replace(clock, estimate=period) if clock.estimate == verdict.period else clock for clock in verdict.clocks
    )
    return replace(verdict, period=period, recurrence=period.period if exact else middle, clocks=own)


def _line(signal: StepSignal, sampling: SamplingInfo, width: float | None, alpha: float) -> Line | None:
    if sampling.fs is None or sampling.samples > MOST_SAMPLES:
        return None
    values = signal.values if width is not None else signal.sample(sampling.fs).values
    line = strongest_line(values, sampling.fs)
    return line if line is not None and line.p_value <= alpha else None


def _regimes(verdict: Verdict, times: Floats, cumulative: Floats) -> tuple[Regime, ...]:
    """Give each stretch with one period its confidence, and when the period holds as evidence for it."""
    core = verdict.core
    if core is None:
        return ()
    if len(verdict.stays) == 1 and verdict.period is not None:
        stay = verdict.stays[0]
        period, sure = verdict.period.period, confidence(core, verdict.regularity)
        share = holding_share(times, cumulative, stay.start, stay.end, period)
        return (Regime(stay.start, stay.end, period, sure, len(core), share),)
    regimes = []
    for stay in verdict.stays:
        first, stop = np.searchsorted(core.start, (stay.start, stay.end)).tolist()
        # The interval from the last phase to the next regime is the regime's own, unless phases were lost in it.
        intervals = core[first : min(stop + 1, len(core))].intervals
        if intervals.size > stop - first - 1 and intervals[-1] > LONGEST_PAUSE * stay.period:
            intervals = intervals[:-1]
        share = holding_share(times, cumulative, stay.start, stay.end, stay.period)
        sure = regime_confidence(share or 0.0, variation(without_missing(intervals)))
        regimes.append(Regime(stay.start, stay.end, stay.period, sure, stop - first, share))
    return tuple(regimes)


def _period(clock: Clock, core: PhaseTrain) -> Period:
    sure = confidence(core[: clock.phases], clock.jitter)
    return Period(clock.estimate.period, clock.estimate.interval, sure, clock.bytes)


def _of_phases(signal: StepSignal, verdict: Verdict, sampling: SamplingInfo) -> PeriodResult:
    core, estimate = verdict.core, verdict.period
    sure = 0.0 if core is None else confidence(core, verdict.regularity)
    regimes = _regimes(verdict, *vertices(signal))
    periods: tuple[Period, ...] = ()
    if core is not None and estimate is not None:
        periods = tuple(_period(clock, core) for clock in verdict.clocks)
    if len(regimes) > 1 and verdict.kind == "regimes":
        # What is told of the whole run is told of its longest regime.
        sure = max(regimes, key=lambda stay: stay.end - stay.start).confidence or 0.0
        periods = (replace(periods[0], confidence=sure), *periods[1:]) if periods else ()
    return PeriodResult(
        method=NAME,
        periodic=verdict.periodic,
        period=estimate.period if estimate else None,
        period_interval=estimate.interval if estimate else None,
        frequency=1 / estimate.period if estimate else None,
        confidence=sure,
        recurrence=verdict.recurrence,
        jitter=verdict.jitter,
        periods=periods,
        phases=phase_rows(verdict.phases),
        regimes=regimes,
        metrics=characterise(signal, estimate.period if estimate else None),
        sampling=sampling,
        reason=reason(verdict, signal.window),
        evidence=PhaseEvidence(
            verdict=verdict.kind,
            p_value=verdict.p_value,
            contrast=core.contrast if core is not None else None,
            sets_of_phases=verdict.sets,
            missing_phases=verdict.missing,
            start_up_phases=verdict.at_start,
            shut_down_phases=verdict.at_end,
            size_cycle=verdict.cycle,
        ),
    )


def _of_line(signal: StepSignal, verdict: Verdict, line: Line, sampling: SamplingInfo) -> PeriodResult:
    sure, share = LINE_CONFIDENCE, holding_share(*vertices(signal), *signal.window, line.period)
    return PeriodResult(
        method=NAME,
        periodic=True,
        period=line.period,
        period_interval=line.interval,
        frequency=1 / line.period,
        confidence=sure,
        recurrence=None,
        jitter=None,
        periods=(Period(line.period, line.interval, sure, signal.volume),),
        phases=(),
        regimes=(Regime(*signal.window, line.period, sure, valid_share=share),),
        metrics=characterise(signal, line.period),
        sampling=sampling,
        reason=(
            f"An oscillation of {seconds_text(line.period, 4)} stands out of the noise in the spectrum, "
            f"p = {line.p_value:.1g}; its single phases are lost in the noise."
        ),
        evidence=LineEvidence(p_value=line.p_value, sets_of_phases=verdict.sets),
    )
