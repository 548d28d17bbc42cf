"""auto: bursts of the exact signal at every scale, divided into stretches with a period and without."""

from dataclasses import replace

from ...model.arrays import Floats
from ...model.quantities import SamplingFrequency
from ...signals.construction import StepSignal
from ...signals.samples import bin_count
from ..phases.bins import bin_width
from ..phases.bursts import extent, vertices
from ..phases.confidence import confidence, decided, more_to_settle
from ..phases.decision import Decision
from ..phases.phases import Phases, phases_of
from ..phases.reasons import prospect, reason
from ..registry import FALSE_ALARM_RATE, PeriodMethod
from ..results.evidence import PhaseEvidence
from ..results.result import Period, PeriodResult, Regime, SamplingInfo, is_certain
from ..spectral.metrics import characterise, characterise_phases
from ..timefrequency.validity import holding_share


class AutoMethod(PeriodMethod):
    """The default method: a decision on bursts, which needs neither a threshold nor a sampling frequency."""

    name = "auto"
    description = "Bursts of the exact signal that come more regularly than chance makes them."
    limits = "A period needs at least four bursts, and in a signal that is made of bins at least four of these."
    options = (FALSE_ALARM_RATE,)

    def detect(
        self, signal: StepSignal, fs: SamplingFrequency = "auto", *, false_alarm_rate: float = 0.01
    ) -> PeriodResult:
        """Find the period of a signal from its bursts.

        Parameters
        ----------
        signal : StepSignal
            The exact signal; its window is the window of the analysis.
        fs : float or "auto"
            Sampling frequency in Hz where the signal is made of samples; without it bins are recognised.
        false_alarm_rate : float
            Share of signals without a period that may be called periodic, in (0, 0.5].

        Returns
        -------
        PeriodResult
            ``periodic`` where the intervals between at least four bursts are more alike than chance makes them, at the
            false-alarm rate, and their jitter is at most 0.3. ``confidence`` is that the period lies within 10 % of the
            truth; 0 without a period. The period is that of the regime, or of the train, that moved most. Each regime
            has its own ``metrics``. ``evidence`` holds the decision, the logarithm of its Bayes factor, and drift,
            pause and missing phases of the main train.

        Notes
        -----
        See `iostrata.analysis.phases`: sets of bursts with the weights of their thresholds (`bursts`), intervals
        divided into stretches (`stretches`), trains at the same time (`concurrent`), a spectral line (`line`).
        O(n log n).
        """
        if fs != "auto":
            bin_count(signal.duration, fs)
        times, cumulative = vertices(signal)
        width = bin_width(times, cumulative, fs)
        decision = decided(times, cumulative, false_alarm_rate, width)
        phases = phases_of(decision, times, cumulative)
        periods, regimes = _periods(signal, decision, width), _regimes(times, cumulative, decision, phases, width)
        period = periods[0].period if periods else None
        own = [one.metrics for one in regimes if one.metrics and one.period == period]
        evidence = PhaseEvidence(verdict=decision.kind, sets_of_phases=len(decision.sets), size_cycle=decision.cycle)
        why = reason(decision, phases)
        if decision.trains:
            main = decision.main
            evidence = replace(evidence, log_bayes_factor=main.gain, drift=main.drift)
            evidence = replace(evidence, pause=phases.pause, missing_phases=main.missing)
            more = 0 if is_certain(periods[0].confidence, main.error) else more_to_settle(decision, main, width)
            why = prospect(main.period, main.interval(), len(main.bursts), more) + why
        return PeriodResult(
            method=self.name,
            recurrence=phases.recurrence,
            jitter=phases.jitter,
            periods=periods,
            phases=phases.listed,
            regimes=regimes,
            metrics=own[0] if own else characterise(signal, period),
            sampling=SamplingInfo(1 / width if width > 0 else None, signal.values.size if width > 0 else 0, True, None),
            evidence=replace(evidence, p_value=decision.line[1]) if decision.line else evidence,
            reason=why,
        )


def _periods(signal: StepSignal, decision: Decision, width: float) -> tuple[Period, ...]:
    """Return the main period first, then those at the same time; a cycle of sizes is one of them."""
    if decision.line is not None:
        period = decision.line[0]
        interval = period - period**2 / signal.duration, period + period**2 / signal.duration
        return (Period(period, interval, confidence(decision, None, width), signal.volume),)
    trains = decision.trains if decision.kind == "concurrent" or not decision.trains else (decision.main,)
    found = [Period(one.period, one.interval(), confidence(decision, one, width), one.volume) for one in trains]
    if (cycle := decision.cycle) is not None:
        low, high = found[0].period_interval
        found.append(replace(found[0], period=cycle * found[0].period, period_interval=(cycle * low, cycle * high)))
    return tuple(found)


def _regimes(times: Floats, moved: Floats, decision: Decision, phases: Phases, width: float) -> tuple[Regime, ...]:
    if decision.line is not None:
        # It cannot be seen where nothing moves.
        (start, end), period = extent(times, moved), decision.line[0]
        share = holding_share(times, moved, start, end, period)
        return (Regime(start, end, period, confidence(decision, None, width), valid_share=share),)
    regimes = []
    # Periods that hold at the same time do not divide the run: its regime is that of the main one.
    trains = decision.trains[:1] if decision.kind == "concurrent" else decision.trains
    following = [*(one.start for one in trains[1:]), float(times[-1])]
    for train, rows, latest in zip(trains, phases.rows, following, strict=False):
        own, period = phases.bursts[rows], train.period
        # Where there is background, the first phase may seem to begin long before.
        start = max(float(own.start[0]), train.start - 0.5 * period)
        end = max(min(float(own.start[-1]) + period, latest), float(own.end[-1]))
        sure, share = confidence(decision, train, width), holding_share(times, moved, start, end, period)
        found = characterise_phases(own.start, own.end, own.volume, end, train.spans)
        regimes.append(Regime(start, end, period, sure, len(own), share, found, train.jitter, train.drift))
    return tuple(regimes)
